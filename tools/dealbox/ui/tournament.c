// SPDX-License-Identifier: LGPL-2.1-or-later
/* Files and sessions of a Square Deal tournament. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tournament.h"

bool tournament_name(struct tournament *t, const char *name)
{
	size_t length = strlen(name);

	if (length > 4 &&
	    (!strcmp(name + length - 4, ".sqd") || !strcmp(name + length - 4, ".sqk")))
		length -= 4;
	if (asprintf(&t->sqd, "%.*s.sqd", (int)length, name) < 0)
		t->sqd = NULL;
	if (asprintf(&t->sqk, "%.*s.sqk", (int)length, name) < 0)
		t->sqk = NULL;
	if (!t->sqd || !t->sqk)
		complain(NULL, "out of memory");
	return t->sqd && t->sqk;
}

void tournament_free(struct tournament *t)
{
	dealbox_square_free(t->square);
	dealbox_square_keys_free(t->keys);
	free(t->sqd);
	free(t->sqk);
	memset(t, 0, sizeof(*t));
}

bool tournament_read(struct tournament *t)
{
	struct dealbox_error error;
	struct blob blob;
	bool good = file_read(t->sqd, &blob);

	if (good && dealbox_square_parse(blob.data, blob.size, &t->square, &error)) {
		fault_say(t->sqd, &error);
		good = false;
	}
	blob_wipe(&blob);
	return good;
}

bool tournament_keys_read(struct tournament *t, bool checked, bool published)
{
	struct dealbox_error error;
	struct blob blob;
	bool mended = false;
	bool good = published ? file_read(t->sqk, &blob) : file_read_secret(t->sqk, &blob);

	if (good && dealbox_square_keys_parse(blob.data, blob.size, checked ? t->square : NULL,
					      &t->keys, &mended, &error)) {
		fault_say(t->sqk, &error);
		good = false;
	}
	if (good && mended)
		complain(NULL, "%s: line ends or spaces were changed on the way (by mail?); they "
			       "were restored, and the hash is correct", t->sqk);
	if (good && dealbox_square_keys_short(t->keys))
		complain("Square Deal makes keys of 60",
			 "%s: %u keys have fewer than 40 characters and may be guessed", t->sqk,
			 dealbox_square_keys_short(t->keys));
	blob_wipe(&blob);
	return good;
}

struct dealbox_set *tournament_deal(struct tournament *t,
				    const struct dealbox_square_session *session)
{
	struct dealbox_set *set = dealbox_set_new(NULL);
	struct dealbox_error error;

	if (!set) {
		complain(NULL, "out of memory");
		return NULL;
	}
	if (dealbox_square_deal(t->square, t->keys, session, set, &error)) {
		fault_say(t->sqd, &error);
		dealbox_set_free(set);
		return NULL;
	}
	return set;
}

bool session_find(const struct dealbox_square *square, const char *path, const char *boards,
		  struct dealbox_square_session *out)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const size_t length = strcspn(name, ".");
	struct dealbox_square_phase phase;

	for (unsigned int p = 1; !dealbox_square_get_phase(square, p, &phase); p++) {
		/* A phase may have an unlimited number of sessions. */
		const unsigned int last = phase.sessions ? phase.sessions : DEALBOX_SQUARE_SESSIONS;
		const bool open = !strcmp(phase.boards, "?");

		for (unsigned int s = 1; s <= 2 * last; s++) {
			if (dealbox_square_get_session(square, p, (s + 1) / 2, s % 2 == 0,
						       open ? boards ? boards : "1" : NULL, out,
						       NULL))
				continue;
			if (strlen(out->file) != length || strncmp(out->file, name, length))
				continue;
			if (open && !boards)
				complain("name them: --boards 1-16",
					 "%s: the boards of phase %u were left open", path, p);
			return !open || boards;
		}
	}
	complain("name the files as they were published: `dealbox square show` has the prefixes",
		 "%s: no session of the tournament has this name", path);
	return false;
}
