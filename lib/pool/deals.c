// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cards/deal-internal.h"
#include "pool/deals.h"

_Static_assert(POOL_SEALED_KEY == POOL_KEY + crypto_box_SEALBYTES, "libsodium's sealed box");

/* Keys made of the event's; each has one use. */
enum use { USE_HASH = 1, USE_SET, USE_ADMISSION, USE_CHECK };

static void derive(const uint8_t key[POOL_KEY], enum use use, uint8_t derived[POOL_KEY])
{
	crypto_kdf_derive_from_key(derived, POOL_KEY, use, "dealboxE", key);
}

void pool_key_check(const uint8_t key[POOL_KEY], uint8_t check[POOL_KEY])
{
	derive(key, USE_CHECK, check);
}

void pool_print(const uint8_t value[POOL_KEY], char print[POOL_PRINT])
{
	uint8_t hash[16];
	char hex[21];

	/* of 80 bits: nobody finds another value for it, and people can compare it */
	crypto_generichash(hash, sizeof(hash), value, POOL_KEY, NULL, 0);
	sodium_bin2hex(hex, sizeof(hex), hash, 10);
	snprintf(print, POOL_PRINT, "%.4s-%.4s-%.4s-%.4s-%.4s", hex, hex + 4, hex + 8, hex + 12,
		 hex + 16);
}

static void put_number(uint8_t *bytes, uint64_t value, size_t size)
{
	for (size_t n = 0; n < size; n++)
		bytes[n] = value >> (8 * n);
}

static uint64_t get_number(const uint8_t *bytes, size_t size)
{
	uint64_t value = 0;

	while (size--)
		value = value << 8 | bytes[size];
	return value;
}

void pool_hash(const uint8_t key[POOL_KEY], const struct dealbox_deal *deal, char hash[LEASE_ID])
{
	uint8_t derived[POOL_KEY], cards[8 * DEALBOX_HANDS], out[16];
	struct dealbox_deal turned;
	char hex[33];

	deal_turn(deal, &turned);
	for (size_t n = 0; n < DEALBOX_HANDS; n++)
		put_number(cards + 8 * n, turned.hand[n], 8);
	derive(key, USE_HASH, derived);
	crypto_generichash(out, sizeof(out), cards, sizeof(cards), derived, sizeof(derived));
	sodium_bin2hex(hex, sizeof(hex), out, sizeof(out));
	snprintf(hash, LEASE_ID, "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12, hex + 16,
		 hex + 20);
	sodium_memzero(&turned, sizeof(turned));
	sodium_memzero(cards, sizeof(cards));
	sodium_memzero(derived, sizeof(derived));
}

void pool_keys(uint8_t public_key[POOL_KEY], uint8_t secret_key[POOL_KEY])
{
	crypto_box_keypair(public_key, secret_key);
}

/* Authenticates a number, a text, with its length, and bytes. */
static void authenticate(const uint8_t key[POOL_KEY], enum use use, uint32_t number,
			 const char *text, const uint8_t *bytes, size_t size, uint8_t mac[POOL_KEY])
{
	crypto_generichash_state state;
	uint8_t derived[POOL_KEY], head[16];

	derive(key, use, derived);
	put_number(head, number, 8);
	put_number(head + 8, strlen(text), 8);
	crypto_generichash_init(&state, derived, sizeof(derived), POOL_KEY);
	crypto_generichash_update(&state, head, sizeof(head));
	crypto_generichash_update(&state, (const uint8_t *)text, strlen(text));
	crypto_generichash_update(&state, bytes, size);
	crypto_generichash_final(&state, mac, POOL_KEY);
	sodium_memzero(&state, sizeof(state));
	sodium_memzero(derived, sizeof(derived));
}

void pool_admission(const uint8_t key[POOL_KEY], const char *name,
		    const uint8_t public_key[POOL_KEY], uint8_t admission[POOL_KEY])
{
	authenticate(key, USE_ADMISSION, 0, name, public_key, POOL_KEY, admission);
}

int pool_seal_key(const uint8_t public_key[POOL_KEY], const uint8_t key[POOL_KEY],
		  uint8_t sealed[POOL_SEALED_KEY])
{
	/* a point of low order: everybody could open what is sealed for it */
	return crypto_box_seal(sealed, key, POOL_KEY, public_key) ? -EINVAL : 0;
}

int pool_open_key(const uint8_t public_key[POOL_KEY], const uint8_t secret_key[POOL_KEY],
		  const uint8_t sealed[POOL_SEALED_KEY], uint8_t key[POOL_KEY])
{
	return crypto_box_seal_open(key, sealed, POOL_SEALED_KEY, public_key, secret_key) ?
		-EBADMSG : 0;
}

/* ---- sets ----------------------------------------------------------------- */

/*
 * A set in the clear: what authenticates the rest for job and session; the name of its pack; and
 * for each board its number and hands. Numbers are little-endian.
 */
#define PACK	16
#define BOARD	(4 + 8 * DEALBOX_HANDS)
#define HEAD	(POOL_KEY + PACK)

int pool_seal_set(const uint8_t key[POOL_KEY], const uint8_t public_key[POOL_KEY],
		  uint32_t job, const char *session, const struct dealbox_set *set,
		  uint8_t **sealed, size_t *size)
{
	size_t count = dealbox_set_count(set), length = HEAD + count * BOARD;
	uint8_t *clear = calloc(1, length), *at;
	struct dealbox_board board;
	int err = 0;

	*size = length + crypto_box_SEALBYTES;
	*sealed = malloc(*size);
	if (!clear || !*sealed)
		err = -ENOMEM;
	if (!err)
		snprintf((char *)clear + POOL_KEY, PACK, "%s", dealbox_set_pack(set)->name);
	for (size_t n = 0; n < count && !err; n++) {
		at = clear + HEAD + n * BOARD;
		err = dealbox_set_get(set, n, &board);
		if (!err && !board.number)
			err = -EINVAL;
		if (err)
			break;
		put_number(at, board.number, 4);
		for (size_t hand = 0; hand < DEALBOX_HANDS; hand++)
			put_number(at + 4 + 8 * hand, board.deal.hand[hand], 8);
	}
	sodium_memzero(&board, sizeof(board));
	if (!err) {
		authenticate(key, USE_SET, job, session, clear + POOL_KEY, length - POOL_KEY,
			     clear);
		if (crypto_box_seal(*sealed, clear, length, public_key))
			err = -EINVAL;
	}
	if (clear)
		sodium_memzero(clear, length);
	free(clear);
	if (err) {
		free(*sealed);
		*sealed = NULL;
	}
	return err;
}

static int boards_add(const uint8_t *at, size_t count, struct dealbox_set *set)
{
	struct dealbox_board board = DEALBOX_BOARD_INIT;
	int err = 0;

	for (size_t n = 0; n < count && !err; n++, at += BOARD) {
		board = (struct dealbox_board)DEALBOX_BOARD_INIT;
		board.number = (uint32_t)get_number(at, 4);
		for (size_t hand = 0; hand < DEALBOX_HANDS; hand++)
			board.deal.hand[hand] = get_number(at + 4 + 8 * hand, 8);
		err = dealbox_set_add(set, &board);
	}
	sodium_memzero(&board, sizeof(board));
	return err;
}

int pool_open_set(const uint8_t key[POOL_KEY], const uint8_t public_key[POOL_KEY],
		  const uint8_t secret_key[POOL_KEY], uint32_t job, const char *session,
		  const uint8_t *sealed, size_t size, struct dealbox_set **set)
{
	const struct dealbox_pack *pack = NULL;
	uint8_t *clear, mac[POOL_KEY];
	size_t length;
	int err = -EBADMSG;

	*set = NULL;
	if (size < HEAD + crypto_box_SEALBYTES || (size - HEAD - crypto_box_SEALBYTES) % BOARD)
		return -EBADMSG;
	length = size - crypto_box_SEALBYTES;
	clear = malloc(length);
	if (!clear)
		return -ENOMEM;
	if (!crypto_box_seal_open(clear, sealed, size, public_key, secret_key)) {
		authenticate(key, USE_SET, job, session, clear + POOL_KEY, length - POOL_KEY, mac);
		if (!sodium_memcmp(mac, clear, POOL_KEY) && memchr(clear + POOL_KEY, 0, PACK))
			pack = dealbox_pack_find((const char *)clear + POOL_KEY);
	}
	if (pack) {
		*set = dealbox_set_new(pack);
		err = *set ? boards_add(clear + HEAD, (length - HEAD) / BOARD, *set) : -ENOMEM;
	}
	if (err) {
		dealbox_set_free(*set);
		*set = NULL;
	}
	sodium_memzero(clear, length);
	free(clear);
	return err;
}
