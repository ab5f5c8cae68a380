// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Sealed files. The format is described in seal.h.
 */
#include <endian.h>
#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include <dealbox/seal.h>

#include "error-internal.h"
#include "reserved.h"

#define MAGIC		"DBSEAL1\n"
#define MAGIC_SIZE	8
#define MAGIC_FAMILY	6	/* "DBSEAL"; a version follows */
#define STREAM_KEY	crypto_secretstream_xchacha20poly1305_KEYBYTES
#define STREAM_HEADER	crypto_secretstream_xchacha20poly1305_HEADERBYTES
#define STREAM_EXTRA	crypto_secretstream_xchacha20poly1305_ABYTES
#define MESSAGE		((size_t)65536)

/*
 * 256 MiB and three passes take about 1 s. Files that demand more than this multiple were not made
 * by us, and could exhaust the computer.
 */
#define PASSES		crypto_pwhash_OPSLIMIT_MODERATE
#define MEMORY		crypto_pwhash_MEMLIMIT_MODERATE
#define COSTS_MAX	4

#define HEAD_PASSPHRASE	(MAGIC_SIZE + 1 + crypto_pwhash_SALTBYTES + 16)
#define HEAD_KEY	(MAGIC_SIZE + 1 + DEALBOX_SEAL_KEY + crypto_box_SEALBYTES + STREAM_KEY)

_Static_assert(DEALBOX_SEAL_KEY == crypto_box_PUBLICKEYBYTES &&
	       DEALBOX_SEAL_KEY == crypto_box_SECRETKEYBYTES, "keys of libsodium's box");

void dealbox_seal_keys(struct dealbox_random *random, uint8_t public_key[DEALBOX_SEAL_KEY],
		       uint8_t secret_key[DEALBOX_SEAL_KEY])
{
	dealbox_random_bytes(random, secret_key, DEALBOX_SEAL_KEY);
	crypto_scalarmult_base(public_key, secret_key);
}

enum dealbox_seal_kind dealbox_seal_recognise(const void *data, size_t size)
{
	const uint8_t *bytes = data;

	if (size <= MAGIC_SIZE || memcmp(bytes, MAGIC, MAGIC_FAMILY))
		return DEALBOX_SEAL_NONE;
	return bytes[MAGIC_SIZE] == 'K' ? DEALBOX_SEAL_FOR_KEY : DEALBOX_SEAL_PASSPHRASE;
}

static int passphrase_key(const char *passphrase, const uint8_t *salt, uint64_t passes,
			  uint64_t memory, uint8_t key[STREAM_KEY], struct dealbox_error *error)
{
	if (crypto_pwhash(key, STREAM_KEY, passphrase, strlen(passphrase), salt, passes, memory,
			  crypto_pwhash_ALG_ARGON2ID13))
		return error_set(error, -ENOMEM, 0, "free some memory",
				 "a passphrase needs %u MiB of memory",
				 (unsigned int)(memory >> 20));
	return 0;
}

/*
 * Writes the header before the stream, and gets the key of the stream; returns the header's size or
 * -errno
 */
static long head_make(const struct dealbox_seal_secret *secret, struct dealbox_random *random,
		      uint8_t *head, uint8_t key[STREAM_KEY], struct dealbox_error *error)
{
	const uint64_t passes = htole64(PASSES), memory = htole64(MEMORY);
	uint8_t *at = head + MAGIC_SIZE + 1;
	int err;

	memcpy(head, MAGIC, MAGIC_SIZE);
	head[MAGIC_SIZE] = secret->key ? 'K' : 'P';
	if (secret->key) {
		dealbox_random_bytes(random, key, STREAM_KEY);
		memcpy(at, secret->key, DEALBOX_SEAL_KEY);
		if (crypto_box_seal(at + DEALBOX_SEAL_KEY, key, STREAM_KEY, secret->key))
			return error_set(error, -EINVAL, 0, "give the .pub file",
					 "this is no public key");
		return HEAD_KEY;
	}
	dealbox_random_bytes(random, at, crypto_pwhash_SALTBYTES);
	memcpy(at + crypto_pwhash_SALTBYTES, &passes, 8);
	memcpy(at + crypto_pwhash_SALTBYTES + 8, &memory, 8);
	err = passphrase_key(secret->passphrase, at, PASSES, MEMORY, key, error);
	return err ? err : (long)HEAD_PASSPHRASE;
}

int dealbox_seal(const void *data, size_t size, const char *name,
		 const struct dealbox_seal_secret *secret, struct dealbox_random *random,
		 void **out, size_t *out_size, struct dealbox_error *error)
{
	const size_t room = HEAD_KEY + HEAD_PASSPHRASE + STREAM_HEADER + DEALBOX_SEAL_NAME +
			    size + (size / MESSAGE + 3) * STREAM_EXTRA;
	const uint8_t *from = data;
	crypto_secretstream_xchacha20poly1305_state state;
	uint8_t key[STREAM_KEY], *sealed, *at;
	char padded[DEALBOX_SEAL_NAME];
	unsigned long long written;
	long head;

	if (!secret->key == !secret->passphrase || (secret->passphrase && !*secret->passphrase) ||
	    RESERVED_USED(secret))
		return error_set(error, -EINVAL, 0, NULL, "a key or a passphrase is wanted");
	if (!*name || strlen(name) >= DEALBOX_SEAL_NAME || strchr(name, '/'))
		return error_set(error, -EINVAL, 0, NULL, "that is no name of a file");
	sealed = malloc(room);
	if (!sealed)
		return error_set(error, -ENOMEM, 0, NULL, "out of memory");
	head = head_make(secret, random, sealed, key, error);
	if (head < 0) {
		sodium_memzero(key, sizeof(key));
		free(sealed);
		return (int)head;
	}
	at = sealed + head;
	crypto_secretstream_xchacha20poly1305_init_push(&state, at, key);
	sodium_memzero(key, sizeof(key));
	at += STREAM_HEADER;
	memset(padded, 0, sizeof(padded));
	strcpy(padded, name);
	crypto_secretstream_xchacha20poly1305_push(&state, at, &written, (uint8_t *)padded,
						   sizeof(padded), sealed, (size_t)head, 0);
	at += written;
	do {
		const size_t part = size < MESSAGE ? size : MESSAGE;

		size -= part;
		crypto_secretstream_xchacha20poly1305_push(
			&state, at, &written, from, part, NULL, 0,
			size ? 0 : crypto_secretstream_xchacha20poly1305_TAG_FINAL);
		from += part;
		at += written;
	} while (size);
	sodium_memzero(&state, sizeof(state));
	*out = sealed;
	*out_size = (size_t)(at - sealed);
	return 0;
}

/* Gets the key of the stream; returns the size of the header before it, or -errno */
static long head_open(const uint8_t *data, size_t size, const struct dealbox_seal_secret *secret,
		      uint8_t key[STREAM_KEY], struct dealbox_error *error)
{
	const uint8_t *at = data + MAGIC_SIZE + 1;
	uint8_t own[DEALBOX_SEAL_KEY];
	uint64_t passes, memory;
	int err;

	if (memcmp(data, MAGIC, MAGIC_SIZE) || (data[MAGIC_SIZE] != 'P' && data[MAGIC_SIZE] != 'K'))
		return error_set(error, -EPROTONOSUPPORT, 0,
				 "use the dealbox that sealed it, or a newer one",
				 "the file was sealed by another version of dealbox");
	if (data[MAGIC_SIZE] == 'K') {
		if (!secret->key)
			return error_set(error, -EINVAL, 0, "use that key (--key FILE)",
					 "the file is sealed for a key, and not with a passphrase");
		if (size < HEAD_KEY + STREAM_HEADER)
			return error_set(error, -EBADMSG, 0, "get it again",
					 "the sealed file is cut off");
		crypto_scalarmult_base(own, secret->key);
		if (memcmp(own, at, sizeof(own)))
			return error_set(error, -EKEYREJECTED, 0,
					 "use the key of the director that it is for",
					 "the file is sealed for another key");
		if (crypto_box_seal_open(key, at + DEALBOX_SEAL_KEY,
					 crypto_box_SEALBYTES + STREAM_KEY, own, secret->key))
			return error_set(error, -EBADMSG, 0, "get it again",
					 "the sealed file was changed");
		return HEAD_KEY;
	}
	if (!secret->passphrase)
		return error_set(error, -EINVAL, 0, "call it without --key, it asks then",
				 "the file is sealed with a passphrase, and not for a key");
	if (size < HEAD_PASSPHRASE + STREAM_HEADER)
		return error_set(error, -EBADMSG, 0, "get it again", "the sealed file is cut off");
	memcpy(&passes, at + crypto_pwhash_SALTBYTES, 8);
	memcpy(&memory, at + crypto_pwhash_SALTBYTES + 8, 8);
	passes = le64toh(passes);
	memory = le64toh(memory);
	if (passes > COSTS_MAX * PASSES || memory > COSTS_MAX * MEMORY ||
	    passes < crypto_pwhash_OPSLIMIT_MIN || memory < crypto_pwhash_MEMLIMIT_MIN)
		return error_set(error, -EBADMSG, 0, "get it again",
				 "the sealed file was changed: "
				 "it wants too much work for its passphrase");
	err = passphrase_key(secret->passphrase, at, passes, memory, key, error);
	return err ? err : (long)HEAD_PASSPHRASE;
}

/* Reads the next message of the stream; returns its size, or -EBADMSG */
static long message_open(crypto_secretstream_xchacha20poly1305_state *state, const uint8_t *from,
			 size_t size, size_t most, const uint8_t *head, size_t head_size,
			 uint8_t *to, uint8_t *tag)
{
	const size_t part = size < most + STREAM_EXTRA ? size : most + STREAM_EXTRA;
	unsigned long long written;

	if (part < STREAM_EXTRA ||
	    crypto_secretstream_xchacha20poly1305_pull(state, to, &written, tag, from, part, head,
						       head_size))
		return -EBADMSG;
	return (long)written;
}

static int stream_open(const uint8_t *data, size_t size, size_t head, const uint8_t key[STREAM_KEY],
		       const struct dealbox_seal_secret *secret, uint8_t *to, size_t *out_size,
		       char name[DEALBOX_SEAL_NAME], struct dealbox_error *error)
{
	crypto_secretstream_xchacha20poly1305_state state;
	const uint8_t *at = data + head + STREAM_HEADER;
	size_t left = size - head - STREAM_HEADER;
	uint8_t tag = 0;
	long length;

	if (crypto_secretstream_xchacha20poly1305_init_pull(&state, data + head, key))
		return error_set(error, -EBADMSG, 0, "get it again", "the sealed file was changed");
	length = message_open(&state, at, left, DEALBOX_SEAL_NAME, data, head, (uint8_t *)name,
			      &tag);
	if (length != DEALBOX_SEAL_NAME) {
		sodium_memzero(&state, sizeof(state));
		return error_set(error, -EKEYREJECTED, 0, "type it again, or get the file again",
				 secret->passphrase ?
				 "the passphrase is wrong, or the file was changed" :
				 "the sealed file was changed");
	}
	at += (size_t)length + STREAM_EXTRA;
	left -= (size_t)length + STREAM_EXTRA;
	*out_size = 0;
	do {
		length = message_open(&state, at, left, MESSAGE, NULL, 0, to + *out_size, &tag);
		if (length < 0)
			break;
		*out_size += (size_t)length;
		at += (size_t)length + STREAM_EXTRA;
		left -= (size_t)length + STREAM_EXTRA;
	} while (tag != crypto_secretstream_xchacha20poly1305_TAG_FINAL);
	sodium_memzero(&state, sizeof(state));
	if (length < 0 || left || !memchr(name, 0, DEALBOX_SEAL_NAME))
		return error_set(error, -EBADMSG, 0, "get it again",
				 "the sealed file was changed or cut off");
	if (!*name || strchr(name, '/'))
		return error_set(error, -EBADMSG, 0, NULL,
				 "the name in the sealed file is no file name");
	return 0;
}

int dealbox_unseal(const void *data, size_t size, const struct dealbox_seal_secret *secret,
		   void **out, size_t *out_size, char name[DEALBOX_SEAL_NAME],
		   struct dealbox_error *error)
{
	uint8_t key[STREAM_KEY], *open;
	long head;
	int err;

	if (dealbox_seal_recognise(data, size) == DEALBOX_SEAL_NONE)
		return error_set(error, -EINVAL, 0, NULL, "this is not a sealed file");
	if (RESERVED_USED(secret))
		return error_set(error, -EINVAL, 0, NULL, "a key or a passphrase is wanted");
	head = head_open(data, size, secret, key, error);
	if (head < 0) {
		sodium_memzero(key, sizeof(key));
		return (int)head;
	}
	open = malloc(size);
	err = open ?
		stream_open(data, size, (size_t)head, key, secret, open, out_size, name, error) :
		error_set(error, -ENOMEM, 0, NULL, "out of memory");
	sodium_memzero(key, sizeof(key));
	if (err) {
		if (open)
			sodium_memzero(open, size);
		free(open);
		return err;
	}
	open[*out_size] = 0;
	*out = open;
	return 0;
}
