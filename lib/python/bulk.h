/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Loops of the Python module over many deals, so that there is no object of Python for each; and
 * the numbers of deals in 16 bytes, from and to which Python converts its integers.
 *
 * Arrays of the caller are bytes without an alignment, and may change while they are read.
 */
#ifndef DEALBOX_BULK_H
#define DEALBOX_BULK_H

#include <dealbox/number.h>
#include <dealbox/set.h>

#define BULK_NUMBER	16	/* bytes of a number, little-endian */
#define BULK_SEATS	52	/* bytes of a deal: the seat of each card */
#define BULK_PACKED	13	/* bytes of a deal: the same in two bits, lowest bits first */

/*
 * Each of these converts count deals, and returns the number of those that could be converted: less
 * than count if the next one is no deal of bridge, or no number of one.
 */
size_t bulk_rank(const struct dealbox_deal *deals, size_t count, int numbering, uint8_t *numbers);
size_t bulk_unrank(const uint8_t *numbers, size_t count, int numbering, struct dealbox_deal *deals);
size_t bulk_to_seats(const struct dealbox_deal *deals, size_t count, uint8_t *seats);
size_t bulk_from_seats(const uint8_t *seats, size_t count, struct dealbox_deal *deals);
size_t bulk_pack(const struct dealbox_deal *deals, size_t count, uint8_t *packed);
size_t bulk_unpack(const uint8_t *packed, size_t count, struct dealbox_deal *deals);

/* Writes 1 for each complete deal and 0 for each other one. Returns the number of complete ones. */
size_t bulk_complete(const struct dealbox_deal *deals, size_t count,
		     const struct dealbox_pack *pack, uint8_t *complete);

/* Copies the deals of the set, at most count of them. Returns their number. */
size_t bulk_get(const struct dealbox_set *set, struct dealbox_deal *deals, size_t count);

/*
 * Adds deals as boards first, first + 1 ..; all, or none. Returns 0, or the error of
 * dealbox_set_add().
 */
int bulk_add(struct dealbox_set *set, const struct dealbox_deal *deals, size_t count,
	     uint32_t first);

/* Memory that is wiped when it is freed. NULL: out of memory. */
void *bulk_alloc(size_t size);
void bulk_free(void *memory);

/* Overwrites memory in a way that the compiler cannot optimise away. */
void bulk_wipe(void *memory, size_t size);

#endif
