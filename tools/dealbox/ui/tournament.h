/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A Square Deal tournament as commands meet it: two files, and sessions by the names of
 * theirs.
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

/* The two files of NAME, NAME.sqd or NAME.sqk. tournament_free() it in any case. */
bool tournament_name(struct tournament *t, const char *name);
void tournament_free(struct tournament *t);

/* Reads the description. */
bool tournament_read(struct tournament *t);

/*
 * Reads the keys; with checked, they must have the hash of the description. Once they are
 * published anybody may read them: who only verifies says so.
 */
bool tournament_keys_read(struct tournament *t, bool checked, bool published);

/* Makes the deals of a session. NULL, and said, if that cannot be. */
struct dealbox_set *tournament_deal(struct tournament *t, const struct dealbox_square_session *session);

/*
 * Which session has files of that name (folder and suffix do not count)? boards for a phase
 * that left them open, else NULL. False, and said, if none has.
 */
bool session_find(const struct dealbox_square *square, const char *path, const char *boards,
		  struct dealbox_square_session *out);

#endif
