// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * dealbox seal, dealbox unseal: tomorrow's deals on a PC that others use too.
 */
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ui/sealed.h"

#define SUFFIX	".sealed"

static bool key_write(const char *path, const uint8_t key[DEALBOX_SEAL_KEY], enum file_kind kind)
{
	char hex[2 * DEALBOX_SEAL_KEY + 2];
	bool good;

	sodium_bin2hex(hex, sizeof(hex) - 1, key, DEALBOX_SEAL_KEY);
	strcpy(hex + 2 * DEALBOX_SEAL_KEY, "\n");
	good = file_write(path, hex, sizeof(hex) - 1, kind, false);
	explicit_bzero(hex, sizeof(hex));
	return good;
}

static enum status keys_make(const char *path)
{
	uint8_t public_key[DEALBOX_SEAL_KEY], secret_key[DEALBOX_SEAL_KEY];
	struct dealbox_random *random = random_start();
	char public_path[4096];
	bool good = false;

	if (random) {
		dealbox_seal_keys(random, public_key, secret_key);
		snprintf(public_path, sizeof(public_path), "%s.pub", path);
		/* the secret one first: a public key without it is a trap */
		good = key_write(path, secret_key, FILE_SECRET) &&
		       key_write(public_path, public_key, FILE_PUBLIC);
		if (good)
			say("%s opens what is sealed with %s; "
			    "keep a copy where only the director can get it",
			    path, public_path);
	}
	explicit_bzero(secret_key, sizeof(secret_key));
	dealbox_random_free(random);
	return good ? STATUS_DONE : STATUS_INPUT;
}

static bool seal_file(const char *path, const struct dealbox_seal_secret *secret,
		      struct dealbox_random *random, bool delete)
{
	const char *slash = strrchr(path, '/');
	struct dealbox_error error;
	struct blob blob;
	char to[4096];
	void *sealed = NULL;
	size_t size;
	bool good = file_read(path, &blob);

	snprintf(to, sizeof(to), "%s" SUFFIX, path);
	if (good && dealbox_seal_recognise(blob.data, blob.size) != DEALBOX_SEAL_NONE) {
		complain(NULL, "%s: it is sealed already", path);
		good = false;
	}
	if (good && dealbox_seal(blob.data, blob.size, slash ? slash + 1 : path, secret, random,
				 &sealed, &size, &error)) {
		fault_say(path, &error);
		good = false;
	}
	good = good && file_write(to, sealed, size, FILE_SECRET, false);
	if (good && delete && unlink(path)) {
		complain("remove it by hand", "%s: %s", path, strerror(errno));
		good = false;
	}
	if (good)
		say("%s%s", to, delete ? "" : "; the original file still exists");
	free(sealed);
	blob_wipe(&blob);
	return good;
}

enum { KEY_FOR = OPT_LONG, KEY_DELETE, KEY_NEW };

static enum status seal_run(struct args *args)
{
	struct dealbox_seal_secret secret = { 0 };
	uint8_t key[DEALBOX_SEAL_KEY];
	struct dealbox_random *random;
	enum status status = STATUS_DONE;
	const char *value, *for_path = NULL, *new_path = NULL;
	char *passphrase = NULL;
	bool delete = false;
	int option;

	while ((option = args_next(args, &value)) != ARGS_END) {
		switch (option) {
		case ARGS_STOP:
			return args->status;
		case KEY_FOR:
			for_path = value;
			break;
		case KEY_DELETE:
			delete = true;
			break;
		case KEY_NEW:
			new_path = value;
			break;
		}
	}
	if (new_path)
		return args->argc ? args_wrong(args, "--new-key goes alone") : keys_make(new_path);
	if (!args->argc)
		return args_wrong(args, "it needs files to seal");
	if (for_path) {
		if (!public_key_read(for_path, key))
			return STATUS_INPUT;
		secret.key = key;
	} else {
		passphrase = passphrase_ask(true);
		if (!passphrase)
			return STATUS_INPUT;
		secret.passphrase = passphrase;
	}
	random = random_start();
	if (!random)
		status = STATUS_INPUT;
	for (int i = 0; !status && i < args->argc; i++)
		if (!seal_file(args->argv[i], &secret, random, delete))
			status = STATUS_INPUT;
	dealbox_random_free(random);
	passphrase_free(passphrase);
	return status;
}

static const struct option_row seal_options[] = {
	{ KEY_FOR, "for", "FILE.pub", "seal for that director's key "
				      "(default: ask for a passphrase)" },
	{ KEY_DELETE, "delete", NULL, "remove the open file when the sealed one is on disk" },
	{ KEY_NEW, "new-key", "FILE", "make a director's key: FILE, "
				      "and FILE.pub for those who seal" },
	{ 0 }
};

const struct command cmd_seal = {
	.name = "seal",
	.operands = "FILE...",
	.summary = "Encrypt deal files for a director's key or a passphrase",
	.about = "Writes FILE" SUFFIX ", which reveals nothing without the key or passphrase.\n"
		 "`dealbox deal` reads sealed files directly, and never writes them in the clear.\n"
		 "--delete removes the original file; the disk may still contain its data.",
	.options = seal_options,
	.run = seal_run,
};

/* -- dealbox unseal ----------------------------------------------------------- */

static enum status unseal_run(struct args *args)
{
	const char *value, *to = NULL;
	char name[DEALBOX_SEAL_NAME];
	struct blob blob;
	bool good;
	int option;

	while ((option = args_next(args, &value)) != ARGS_END) {
		switch (option) {
		case ARGS_STOP:
			return args->status;
		case 'k':
			sealed_use_key(value);
			break;
		case 'o':
			to = value;
			break;
		}
	}
	if (args->argc != 1)
		return args_wrong(args, "it needs one sealed file");
	if (!to)
		return args_wrong(args, "give the name of the file to write with --output");
	good = sealed_open(args->argv[0], &blob, name) &&
	       file_write(to, blob.data, blob.size, FILE_SECRET, false);
	if (good)
		say("%s: the deals are readable here (its name was %s)", to, name);
	blob_wipe(&blob);
	return good ? STATUS_DONE : STATUS_INPUT;
}

static const struct option_row unseal_options[] = {
	OPT_KEY,
	{ 'o', "output", "FILE", "the open file to write" },
	{ 0 }
};

const struct command cmd_unseal = {
	.name = "unseal",
	.operands = "FILE" SUFFIX,
	.summary = "Open a sealed file",
	.about = "Opens a sealed file with --key, or with a passphrase that it asks for, and\n"
		 "writes its contents. This is not needed to deal a sealed file.",
	.options = unseal_options,
	.run = unseal_run,
};
