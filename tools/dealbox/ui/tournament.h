/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A Square Deal tournament: its two files, and its sessions by the names of their files. Functions
 * of type bool return false after reporting an error.
 */
#ifndef TOURNAMENT_H
#define TOURNAMENT_H

#include <dealbox/square.h>

#include "files.h"

struct tournament {
	char *sqd, *sqk;	/* the names of the two files */
	struct dealbox_square *square;
	struct dealbox_square_keys *keys;
};

/* Find the two files of NAME, NAME.sqd or NAME.sqk. Call tournament_free() in any case. */
bool tournament_name(struct tournament *t, const char *name);
void tournament_free(struct tournament *t);

/* Read the description. */
bool tournament_read(struct tournament *t);

/*
 * Read the keys. With checked, they must match the hash of the description. With published, the
 * file may be readable by others.
 */
bool tournament_keys_read(struct tournament *t, bool checked, bool published);

/* Generate the deals of a session. Returns NULL after reporting an error. */
struct dealbox_set *tournament_deal(struct tournament *t,
				    const struct dealbox_square_session *session);

/*
 * Find the session whose files have the name of path, without folder and suffix. boards is for a
 * phase that left them open, otherwise NULL.
 */
bool session_find(const struct dealbox_square *square, const char *path, const char *boards,
		  struct dealbox_square_session *out);

#endif
