/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The connection to the database of an event: libpq, in a module of its own. Only who takes part in
 * an event loads it: the libraries that libpq needs would make every command start late.
 */
#ifndef POOL_DATABASE_H
#define POOL_DATABASE_H

#include <stddef.h>

#include <dealbox/error.h>

#define DATABASE_FILE		"dealbox-event.so"
#define DATABASE_SYMBOL		"dealbox_event_database"
#define DATABASE_VERSION	3

struct connection;

struct database {
	unsigned int version;		/* DATABASE_VERSION */

	/*
	 * Connects. conninfo is a connection string or URI of libpq, or the name of a database; ""
	 * means what libpq's environment says. Connections by TCP use TLS, and check the server's
	 * certificate and name. Returns NULL, and fills *error, if there is no connection; also if
	 * conninfo has a password, which others could read, or asks for less of TLS.
	 */
	struct connection *(*open)(const char *conninfo, struct dealbox_error *error);

	/*
	 * Runs one statement with count values ($1, $2 ...) as text, NULL = null; without values,
	 * it may be several statements. Calls row, which may be NULL, for each row, with the
	 * columns as text, which are valid during the call. Stops if row returns non-zero, and
	 * returns that. -ETIMEDOUT: it is unknown whether the statement was run; -EAGAIN:
	 * another has locked what it needs, and it was not run. All other errors
	 * are those of errors[] in libpq.c.
	 */
	int (*run)(struct connection *connection, const char *sql, size_t count,
		   const char *const *values,
		   int (*row)(const char *const *columns, size_t count, void *context),
		   void *context, struct dealbox_error *error);

	/*
	 * Waits until the server notifies of what LISTEN has asked for (returns 1), or fd can be
	 * read (returns 0); -1 is no fd. -ETIMEDOUT: the connection was lost.
	 */
	int (*wait)(struct connection *connection, int fd, struct dealbox_error *error);

	/* Ends the connection. NULL is allowed. */
	void (*close)(struct connection *connection);
};

#endif
