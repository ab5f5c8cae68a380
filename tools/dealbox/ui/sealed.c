// SPDX-License-Identifier: LGPL-2.1-or-later
/* Sealed files. */
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "sealed.h"

#define SECRET_ROOM	1024	/* a passphrase, or a key in hexadecimal */
#define PIPED_ROOM	((size_t)16 << 20)	/* a sealed set; the service takes 4 MiB of it */

static const char *key_path;
static char secret_line[SECRET_ROOM];
static bool refused;			/* the last secret did not open its file */

void sealed_use_key(const char *path)
{
	key_path = path;
}

bool sealed_secret_first(void)
{
	size_t length = 0;
	ssize_t n = 0;

	/* Byte by byte: what follows belongs to whoever reads the file. */
	while (length < sizeof(secret_line) - 1 &&
	       (n = read(STDIN_FILENO, secret_line + length, 1)) == 1 &&
	       secret_line[length] != '\n')
		length++;
	if (n == 1 && length && secret_line[length] == '\n') {
		secret_line[length] = '\0';
		return true;
	}
	sealed_secret_forget();
	complain("the first line of standard input is to be the passphrase, or the director's key",
		 "no secret was given");
	return false;
}

void sealed_secret_forget(void)
{
	explicit_bzero(secret_line, sizeof(secret_line));
}

bool sealed_secret_given(void)
{
	return *secret_line;
}

bool sealed_secret_refused(void)
{
	return refused;
}

bool sealed_is(const char *path)
{
	char head[16];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, head, sizeof(head)) : -1;

	if (fd >= 0)
		close(fd);
	return n > 0 && dealbox_seal_recognise(head, (size_t)n) != DEALBOX_SEAL_NONE;
}

void passphrase_free(char *passphrase)
{
	if (passphrase)
		explicit_bzero(passphrase, strlen(passphrase));
	free(passphrase);
}

static char *passphrase_line(const char *question)
{
	const bool terminal = isatty(STDIN_FILENO);
	struct termios before, silent;
	char *line = NULL;
	size_t room = 0;
	ssize_t length;

	if (terminal) {
		fprintf(stderr, "%s: ", question);
		tcgetattr(STDIN_FILENO, &before);
		silent = before;
		silent.c_lflag &= ~(tcflag_t)ECHO;
		tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent);
	}
	length = getline(&line, &room, stdin);
	if (terminal) {
		tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
		fputc('\n', stderr);
	}
	if (length > 0 && line[length - 1] == '\n')
		line[--length] = 0;
	if (length > 0)
		return line;
	free(line);
	complain("type it, or pass it as a line on standard input", "no passphrase was given");
	return NULL;
}

char *passphrase_ask(bool new)
{
	char *first = passphrase_line("Passphrase"), *second;

	if (!first || !new || !isatty(STDIN_FILENO))
		return first;
	second = passphrase_line("Repeat the passphrase");
	if (second && strcmp(first, second)) {
		complain("try again", "the passphrases differ");
		passphrase_free(first);
		first = NULL;
	} else if (!second) {
		passphrase_free(first);
		first = NULL;
	}
	passphrase_free(second);
	return first;
}

struct dealbox_random *random_start(void)
{
	struct dealbox_random *random = NULL;
	int err = dealbox_random_new(&random);

	if (err)
		complain("do not make keys on this computer until that is repaired",
			 "the kernel gives no random bits: %s", strerror(-err));
	return random;
}

bool public_key_read(const char *path, uint8_t key[DEALBOX_SEAL_KEY])
{
	struct blob blob;
	size_t length = 0;
	bool good = file_read(path, &blob);

	if (good &&
	    (sodium_hex2bin(key, DEALBOX_SEAL_KEY, blob.data, blob.size, " \r\n", &length, NULL) ||
	     length != DEALBOX_SEAL_KEY)) {
		complain("give the .pub file that `dealbox seal --new-key` made",
			 "%s: this is not a public key", path);
		good = false;
	}
	blob_wipe(&blob);
	return good;
}

static bool key_parse(const char *from, const char *text, size_t size,
		      uint8_t key[DEALBOX_SEAL_KEY])
{
	size_t length = 0;

	if (!sodium_hex2bin(key, DEALBOX_SEAL_KEY, text, size, " \r\n", &length, NULL) &&
	    length == DEALBOX_SEAL_KEY)
		return true;
	refused = true;
	complain("give the file that `dealbox seal --new-key` made", "%s: this is not a key", from);
	return false;
}

static bool key_read(uint8_t key[DEALBOX_SEAL_KEY])
{
	struct blob blob;
	bool good = file_read_secret(key_path, &blob) &&
		    key_parse(key_path, blob.data, blob.size, key);

	blob_wipe(&blob);
	return good;
}

static bool open_with(const char *path, const struct blob *sealed,
		      const struct dealbox_seal_secret *secret, struct blob *out,
		      char name[DEALBOX_SEAL_NAME])
{
	struct dealbox_error error;
	void *data;

	int err = dealbox_unseal(sealed->data, sealed->size, secret, &data, &out->size, name,
				 &error);

	if (err) {
		refused = err == -EKEYREJECTED;
		fault_say(path, &error);
		return false;
	}
	out->data = data;
	return true;
}

bool sealed_open(const char *path, struct blob *out, char name[DEALBOX_SEAL_NAME])
{
	struct dealbox_seal_secret secret = { 0 };
	uint8_t key[DEALBOX_SEAL_KEY];
	char *passphrase = NULL;
	struct blob sealed;
	bool good = file_read(path, &sealed);

	memset(out, 0, sizeof(*out));
	if (good && key_path) {
		good = key_read(key);
		secret.key = key;
	} else if (good &&
		   dealbox_seal_recognise(sealed.data, sealed.size) == DEALBOX_SEAL_FOR_KEY) {
		complain("name the key with --key FILE", "%s: it is sealed for a director's key",
			 path);
		good = false;
	} else if (good) {
		passphrase = passphrase_ask(false);
		good = passphrase != NULL;
		secret.passphrase = passphrase;
	}
	good = good && open_with(path, &sealed, &secret, out, name);
	explicit_bzero(key, sizeof(key));
	passphrase_free(passphrase);
	blob_wipe(&sealed);
	return good;
}

bool sealed_open_piped(struct blob *out, char name[DEALBOX_SEAL_NAME])
{
	struct dealbox_seal_secret secret = { .passphrase = secret_line };
	uint8_t key[DEALBOX_SEAL_KEY];
	struct blob sealed = { 0 };
	bool good = file_read_piped(PIPED_ROOM, &sealed);

	memset(out, 0, sizeof(*out));
	if (good && dealbox_seal_recognise(sealed.data, sealed.size) == DEALBOX_SEAL_FOR_KEY) {
		good = key_parse("the first line", secret_line, strlen(secret_line), key);
		secret.key = key;
	}
	good = good && open_with("standard input", &sealed, &secret, out, name);
	explicit_bzero(key, sizeof(key));
	blob_wipe(&sealed);
	return good;
}
