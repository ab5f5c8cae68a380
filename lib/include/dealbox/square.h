/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Square Deal: deals that were fixed before anybody could know them, and that anybody can check
 * afterwards (H. van Staveren; used by the WBF since 2018). Organisers publish the hash of secret
 * keys, one per session, and the description of a value, known only later, that will be mixed in.
 * The deals are Big Deal's from key and value.
 *
 * Two files, interchangeable with the original program: NAME.sqd, the description, which is
 * published, and NAME.sqk, the keys, which are secret until the last session is over. These
 * functions use text in memory; the caller reads and writes the files.
 */
#ifndef DEALBOX_SQUARE_H
#define DEALBOX_SQUARE_H

#include <dealbox/error.h>
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
#define DEALBOX_SQUARE_SESSIONS	9999	/* largest number of sessions of a phase */

/*
 * One phase of the description; to add one, start from zeros. The strings are valid as long as the
 * description.
 */
struct dealbox_square_phase {
	unsigned int sessions;		/* 0 = an open number */
	const char *boards;		/* "16", "17-32", "1-8,9-16" in turn, "3x7", "?" */
	const char *prefix;		/* of file names; a run of # becomes the session */
	const char *description;	/* likewise */
	uint32_t reserved[4];	/* 0 */
};

/* Returns an empty description, not yet published, or NULL if out of memory. */
DEALBOX_API struct dealbox_square *dealbox_square_new(void);

/* Frees the description. NULL is allowed. */
DEALBOX_API void dealbox_square_free(struct dealbox_square *square);

/*
 * Parses a description. Line ends may be LF or CRLF. -EINVAL: a line is wrong, *error says which
 * and why; -ENOMEM. error may be NULL, here and below.
 */
DEALBOX_API int dealbox_square_parse(const void *data, size_t size,
				     struct dealbox_square **square,
				     struct dealbox_error *error);

/* Returns the text of a description, terminated, or NULL if out of memory; free(3) it. */
DEALBOX_API char *dealbox_square_print(const struct dealbox_square *square);

/*
 * Returns the name, "" until set. This and the following strings are valid until they are set
 * again.
 */
DEALBOX_API const char *dealbox_square_name(const struct dealbox_square *square);
/*
 * Returns the description of the value that will be mixed in ("closing value of .. on .."), ""
 * until set.
 */
DEALBOX_API const char *dealbox_square_info(const struct dealbox_square *square);
/* Returns that value exactly as it stands in the description, "" until it is known. */
DEALBOX_API const char *dealbox_square_value(const struct dealbox_square *square);
/* Returns the hash of the keys, "" until published. */
DEALBOX_API const char *dealbox_square_hash(const struct dealbox_square *square);

/* Returns the number of phases. */
DEALBOX_API unsigned int dealbox_square_phases(const struct dealbox_square *square);

/* Gets phase number 1... -ENOENT: there is none. */
DEALBOX_API int dealbox_square_get_phase(const struct dealbox_square *square,
					 unsigned int number,
					 struct dealbox_square_phase *phase);

/*
 * Set the name, or the description of the value that will be mixed in. Spaces at the ends are
 * removed, and runs of spaces become one. -EINVAL: empty, or more than one line; -EPERM: already
 * published, so it must not change; -ENOMEM.
 */
DEALBOX_API int dealbox_square_set_name(struct dealbox_square *square, const char *name,
					struct dealbox_error *error);
DEALBOX_API int dealbox_square_set_info(struct dealbox_square *square, const char *info,
					struct dealbox_error *error);

/*
 * Sets the value, once it is known. As in the original (2.7), runs of spaces become one, and points
 * and commas between digits are removed. Show the result to the user, because every character
 * counts. -EPERM: not yet published, or the value is already set to another one; -EINVAL, -ENOMEM.
 */
DEALBOX_API int dealbox_square_set_value(struct dealbox_square *square, const char *value,
					 struct dealbox_error *error);

/*
 * Adds a phase. If it has more than one session and prefix or description have no #, it is added,
 * as by the original. -EINVAL, -EPERM, -ENOMEM.
 */
DEALBOX_API int dealbox_square_add_phase(struct dealbox_square *square,
					 const struct dealbox_square_phase *phase,
					 struct dealbox_error *error);

/*
 * Makes the keys and puts their hash into the description; afterwards only the value can be set.
 * -EINVAL: name, delayed information or phases are missing; -EPERM: already published; -ENOMEM.
 * Free the keys with dealbox_square_keys_free().
 */
DEALBOX_API int dealbox_square_publish(struct dealbox_square *square,
				       struct dealbox_random *random,
				       struct dealbox_square_keys **keys,
				       struct dealbox_error *error);

/*
 * The same with existing keys for this description, after an interruption before their hash was
 * written. -EINVAL: the keys are for other phases.
 */
DEALBOX_API int dealbox_square_adopt(struct dealbox_square *square,
				     const struct dealbox_square_keys *keys,
				     struct dealbox_error *error);

/*
 * Parses keys. Without square, only their syntax is checked. With it: -EBADMSG: their hash is not
 * the published one; -EINVAL: syntax, or a session has no key; -EPERM: the description is not
 * published. *mended (may be NULL) is set if line ends or spaces had to be repaired, as after
 * sending by mail; the hash has then confirmed the repair.
 */
DEALBOX_API int dealbox_square_keys_parse(const void *data, size_t size,
					  const struct dealbox_square *square,
					  struct dealbox_square_keys **keys,
					  bool *mended, struct dealbox_error *error);

/*
 * Returns the text of the keys, with CRLF as the hash requires: *size bytes, terminated, or NULL if
 * out of memory. Wipe it and free(3) it.
 */
DEALBOX_API char *dealbox_square_keys_print(const struct dealbox_square_keys *keys,
					    size_t *size);

/* Returns the number of keys with fewer than 40 characters, that is less than 238 bits. */
DEALBOX_API unsigned int dealbox_square_keys_short(const struct dealbox_square_keys *keys);

/* Wipes and frees the keys. NULL is allowed. */
DEALBOX_API void dealbox_square_keys_free(struct dealbox_square_keys *keys);

/* One session of a tournament. */
struct dealbox_square_session {
	unsigned int phase, session;	/* from 1 */
	bool reserve;			/* the set that replaces a leaked one */
	uint32_t low, high;		/* boards */
	char file[128];			/* name without suffix; no folder, no dots */
	char title[256];
	uint32_t reserved[4];	/* 0 */
};

/*
 * Gets the boards and names of a session. boards is NULL, or the boards of a phase that has "?".
 * -ENOENT: there is no such session; -EINVAL: boards.
 */
DEALBOX_API int dealbox_square_get_session(const struct dealbox_square *square,
					   unsigned int phase, unsigned int session,
					   bool reserve, const char *boards,
					   struct dealbox_square_session *out,
					   struct dealbox_error *error);

/*
 * Makes the deals of a session and adds them to the set. -ENODATA: the value is not known
 * yet; -ENOENT: no key; -ENOMEM.
 */
DEALBOX_API int dealbox_square_deal(const struct dealbox_square *square,
				    const struct dealbox_square_keys *keys,
				    const struct dealbox_square_session *session,
				    struct dealbox_set *set, struct dealbox_error *error);

#ifdef __cplusplus
}
#endif
#endif
