/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The random source with another origin of its key, for tests. Not exported. */
#ifndef RANDOM_H
#define RANDOM_H

#include <dealbox/random.h>

#define RANDOM_KEY_SIZE	32

/* Fills a key; 0 or -errno. */
typedef int (*random_origin)(uint8_t key[RANDOM_KEY_SIZE]);

int random_new_from(random_origin origin, struct dealbox_random **random);

#endif
