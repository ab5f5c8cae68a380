/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Square Deal: deals that were fixed before anybody could know them, and that anybody can
 * check afterwards (H. van Staveren; used by the WBF since 2018). Organisers publish the
 * hash of secret keys, one a session, and which value, known only later, will be mixed in;
 * the deals are Big Deal's from key and value.
 *
 * Two files, interchangeable with the original program: NAME.sqd, the description, which is
 * published, and NAME.sqk, the keys, which are secret until the last session is over.
 * Here they are text in memory; where it is kept is the caller's affair.
 */
#ifndef DEALBOX_SQUARE_H
#define DEALBOX_SQUARE_H

#include <dealbox/fault.h>
#include <dealbox/random.h>
#include <dealbox/set.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The description of a tournament. */
struct dealbox_square;

/* The keys of a tournament. Wiped when freed. */
struct dealbox_square_keys;

#define DEALBOX_SQUARE_KEY	60	/* characters of a key, each one of 62 */
#define DEALBOX_SQUARE_HASH	64	/* hexadecimal digits of the hash of the keys */
#define DEALBOX_SQUARE_SESSIONS	9999	/* most sessions of a phase */

/* One phase, as it stands in the description. The strings live as the description. */
struct dealbox_square_phase {
	unsigned int sessions;		/* 0 = as many as it takes */
	const char *boards;		/* "16", "17-32", "1-8,9-16" in turn, "3x7", "?" */
	const char *prefix;		/* of file names; #s become the session */
	const char *description;	/* likewise */
};

/* An empty description, not yet published. NULL = out of memory. */
DEALBOX_API struct dealbox_square *dealbox_square_new(void);

/* Frees it. NULL is allowed. */
DEALBOX_API void dealbox_square_free(struct dealbox_square *square);

/*
 * Reads a description. Line ends may be LF or CRLF. -EINVAL: a line is wrong, the fault says
 * which and why; -ENOMEM. fault may be NULL, here and below.
 */
DEALBOX_API int dealbox_square_parse(const void *data, size_t size,
				     struct dealbox_square **square,
				     struct dealbox_fault *fault);

/* The text of a description, terminated; free(3) it. NULL = out of memory. */
DEALBOX_API char *dealbox_square_print(const struct dealbox_square *square);

/* "" until set. Each lives until it is set again. */
DEALBOX_API const char *dealbox_square_name(const struct dealbox_square *square);
/* Which value will be mixed in ("closing value of .. on .."), "" until set. */
DEALBOX_API const char *dealbox_square_info(const struct dealbox_square *square);
/* That value exactly as it stands in the description, "" until it is known. */
DEALBOX_API const char *dealbox_square_value(const struct dealbox_square *square);
/* The hash of the keys, "" until published. */
DEALBOX_API const char *dealbox_square_hash(const struct dealbox_square *square);

/* How many phases the tournament has. */
DEALBOX_API unsigned int dealbox_square_phases(const struct dealbox_square *square);

/* Phase number 1... -ENOENT: there is none. */
DEALBOX_API int dealbox_square_phase(const struct dealbox_square *square,
				     unsigned int number,
				     struct dealbox_square_phase *phase);

/*
 * Sets the name, and which value will be mixed in. Spaces at the ends are left out, and
 * several become one. -EINVAL: empty, or more than one line; -EPERM: it is published and
 * must not change; -ENOMEM.
 */
DEALBOX_API int dealbox_square_set_name(struct dealbox_square *square, const char *name,
					struct dealbox_fault *fault);
DEALBOX_API int dealbox_square_set_info(struct dealbox_square *square, const char *info,
					struct dealbox_fault *fault);

/*
 * Sets the value, once it is known. As the original (2.7) does it, spaces are squeezed, and
 * points and commas between digits left out: show the user what came of it, for
 * every character counts. -EPERM: not yet published, or the value is already set to another
 * one; -EINVAL, -ENOMEM.
 */
DEALBOX_API int dealbox_square_set_value(struct dealbox_square *square, const char *value,
					 struct dealbox_fault *fault);

/*
 * Adds a phase. Where it has more than one session and prefix or description have no
 * #, they get them, as from the original. -EINVAL, -EPERM, -ENOMEM.
 */
DEALBOX_API int dealbox_square_add_phase(struct dealbox_square *square,
					 const struct dealbox_square_phase *phase,
					 struct dealbox_fault *fault);

/*
 * Makes the keys and puts their hash into the description, which cannot change any more
 * but for the value. -EINVAL: name, delayed information or phases are missing; -EPERM: it is
 * published; -ENOMEM. Free the keys with dealbox_square_keys_free().
 */
DEALBOX_API int dealbox_square_publish(struct dealbox_square *square,
				       struct dealbox_random *random,
				       struct dealbox_square_keys **keys,
				       struct dealbox_fault *fault);

/*
 * The same with keys that were made earlier for this very description, but whose hash did
 * not come into it any more. -EINVAL: they are for other phases.
 */
DEALBOX_API int dealbox_square_adopt(struct dealbox_square *square,
				     const struct dealbox_square_keys *keys,
				     struct dealbox_fault *fault);

/*
 * Reads keys. Without square, only their syntax is checked. With it: -EBADMSG: they have
 * not the hash that was published; -EINVAL: syntax, or a session has no key; -EPERM: the
 * description is not published. *mended (may be NULL) tells whether line ends or spaces had
 * to be set right first, as after a trip by mail; the hash has then proved that right.
 */
DEALBOX_API int dealbox_square_keys_parse(const void *data, size_t size,
					  const struct dealbox_square *square,
					  struct dealbox_square_keys **keys,
					  bool *mended, struct dealbox_fault *fault);

/*
 * The text of the keys, with CRLF as its hash wants it: *size bytes, terminated. Wipe it
 * and free(3) it. NULL = out of memory.
 */
DEALBOX_API char *dealbox_square_keys_print(const struct dealbox_square_keys *keys,
					    size_t *size);

/* How many keys have less than 40 characters, which is less than 238 bits. */
DEALBOX_API unsigned int dealbox_square_keys_short(const struct dealbox_square_keys *keys);

/* Wipes and frees them. NULL is allowed. */
DEALBOX_API void dealbox_square_keys_free(struct dealbox_square_keys *keys);

/* One session of a tournament. */
struct dealbox_square_session {
	unsigned int phase, session;	/* from 1 */
	bool reserve;			/* the set that replaces one that leaked */
	uint32_t low, high;		/* boards */
	char file[128];			/* name without suffix; no folder, no dots */
	char title[256];
};

/*
 * Says what a session is: its boards and names. boards = NULL, or for a phase whose boards
 * are "?" the answer to that. -ENOENT: there is no such session; -EINVAL: boards.
 */
DEALBOX_API int dealbox_square_session(const struct dealbox_square *square,
				       unsigned int phase, unsigned int session,
				       bool reserve, const char *boards,
				       struct dealbox_square_session *out,
				       struct dealbox_fault *fault);

/*
 * Makes the deals of a session and adds them to the set. -ENODATA: the value is not known
 * yet; -ENOENT: no key; -ENOMEM.
 */
DEALBOX_API int dealbox_square_deal(const struct dealbox_square *square,
				    const struct dealbox_square_keys *keys,
				    const struct dealbox_square_session *session,
				    struct dealbox_set *set, struct dealbox_fault *fault);

#ifdef __cplusplus
}
#endif
#endif
