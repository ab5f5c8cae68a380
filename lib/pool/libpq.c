// SPDX-License-Identifier: LGPL-2.1-or-later
/* The connection to the database of an event, by libpq. */
#include <errno.h>
#include <libpq-fe.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dealbox/report.h>

#include "error-internal.h"
#include "pool/database.h"

#define COLUMNS_MAX	16

/* Errors by SQLSTATE (DBnnn are schema.sql's own) or, with two characters, by class of SQLSTATE. */
static const struct {
	const char *state;
	int err;
	const char *next;	/* if the server has no hint */
	const char *what;	/* before the server's words */
} errors[] = {
	{ "DB001", -EPERM },		/* the PC has not joined */
	{ "DB003", -ESTALE },		/* the server knows less than the PC */
	{ "DB004", -ENOTUNIQ },		/* an identity is used twice */
	{ "DB005", -EEXIST },		/* the deal is of another session */
	{ "DB006", -EBUSY },		/* the lease has not ended */
	{ "DB007", -ENOENT },		/* there is no such thing in the event */
	{ "DB008", -EBADMSG },		/* the board is another deal than the event's */
	{ "42501", -EACCES, "ask the event's director which role this user needs" },
	{ "42P06", -EEXIST, "this database has an event; each event needs a database of its own" },
	{ "3F000", -ENODATA, "`dealbox event init` makes an event in a new database" },
	{ "42P01", -ENODATA, "`dealbox event init` makes an event in a new database" },
	{ "55P03", -EAGAIN, "run it again; if that fails, the owner of the database has to find "
	  "the other session in pg_stat_activity, and end it",
	  "something else has locked the event's database: " },
	{ "25006", -EROFS, "give the address of the server that the replica copies",
	  "this server is only a replica: " },
	{ "23", -EINVAL },
	{ "22", -EINVAL },
	{ "08", -ETIMEDOUT },
	{ "57P", -ETIMEDOUT },
};

struct connection {
	PGconn *pg;
};

/* ---- connecting --------------------------------------------------------- */

/* Copies the first line of a message of libpq or the server, which may be in any language. */
static void line_copy(char line[256], const char *message)
{
	dealbox_text_safe(message, strcspn(message, "\n"), line, 256);
}

/* Connection parameters that the connection string cannot change. */
static const struct {
	const char *keyword, *value;
} fixed[] = {
	/* of no meaning on a socket of this computer; libpq's default accepts every server */
	{ "sslmode", "verify-full" },
	/* would be preferred to TLS */
	{ "gssencmode", "disable" },
	{ "client_encoding", "UTF8" },
	{ "fallback_application_name", "dealbox" },
	/* a cable that is out is noticed within half a minute, also while an answer is awaited */
	{ "connect_timeout", "10" },
	{ "keepalives_idle", "10" },
	{ "keepalives_interval", "5" },
	{ "keepalives_count", "3" },
	{ "tcp_user_timeout", "25000" },
	/* a replica knows less, and takes no report */
	{ "target_session_attrs", "read-write" },
	/*
	 * The server, too, ends what hangs. Else a program that was stopped in a transaction would
	 * block all PCs, and one whose cable is out would go on doing so.
	 */
	{ "options", "-c lock_timeout=10s -c idle_in_transaction_session_timeout=1min "
		     "-c client_connection_check_interval=5s -c tcp_keepalives_idle=10 "
		     "-c tcp_keepalives_interval=5 -c tcp_keepalives_count=3 "
		     "-c tcp_user_timeout=25s" },
};

#define FIXED	(sizeof(fixed) / sizeof(fixed[0]))

static int option_check(const PQconninfoOption *option, struct dealbox_error *error)
{
	if (!strcmp(option->keyword, "password"))
		return error_set(error, -EINVAL, 0,
				 "use a password file (~/.pgpass) or a client certificate",
				 "the address of a database must not contain the password: "
				 "others could read it");
	if (!strcmp(option->keyword, "sslmode") && strcmp(option->val, "verify-full"))
		return error_set(error, -EINVAL, 0, "leave sslmode out",
				 "sslmode must be verify-full: with less, another computer could "
				 "pose as the server");
	return 0;
}

static PGconn *connect_with(const PQconninfoOption *options, struct dealbox_error *error)
{
	const PQconninfoOption *option;
	const char **keywords, **values;
	size_t count = 0, n;
	PGconn *pg = NULL;

	for (option = options; option && option->keyword; option++)
		count++;
	keywords = calloc(2 * (count + FIXED + 1), sizeof(*keywords));
	if (!keywords) {
		error_fill(error, -ENOMEM, 0, NULL, "out of memory");
		return NULL;
	}
	values = keywords + count + FIXED + 1;
	count = 0;
	for (option = options; option && option->keyword; option++) {
		if (!option->val)
			continue;
		if (option_check(option, error))
			goto out;
		keywords[count] = option->keyword;
		values[count++] = option->val;
	}
	/* of two values of a keyword libpq takes the last */
	for (n = 0; n < FIXED; n++) {
		keywords[count] = fixed[n].keyword;
		values[count++] = fixed[n].value;
	}
	pg = PQconnectdbParams(keywords, values, 0);
	if (!pg)
		error_fill(error, -ENOMEM, 0, NULL, "out of memory");
out:
	free(keywords);
	return pg;
}

/*
 * The next step for a person, by words of PostgreSQL's, libpq's or OpenSSL's English message. The
 * first row that matches counts.
 */
static const struct {
	const char *what, *next;
} advice[] = {
	{ "root certificate file", "put the certificate of the server's authority into "
				   "~/.postgresql/root.crt" },
	{ "does not match host name", "give the server's name as it is in its certificate" },
	{ "certificate verify failed", "the server's certificate has expired, or is not signed by "
				       "the authority in ~/.postgresql/root.crt" },
	{ "certificate expired", "this PC needs a new certificate: `openssl x509 -enddate -noout "
				 "-in ~/.postgresql/postgresql.crt`" },
	{ "unknown ca", "the server does not know the authority that has signed "
			"~/.postgresql/postgresql.crt" },
	{ "valid client certificate", "put the client certificate and key of this user into "
				      "~/.postgresql/postgresql.crt and postgresql.key" },
	{ "certificate authentication failed",
	  "the common name of ~/.postgresql/postgresql.crt must be the name of the user" },
	{ "password authentication failed", "check the line of this server in ~/.pgpass" },
	{ "no password supplied", "put the password into ~/.pgpass, "
				  "which only its owner may read" },
	{ "does not support SSL", "the server needs `ssl = on`, and a certificate" },
	{ "pg_hba.conf", "add a line hostssl for this user to pg_hba.conf on the server" },
	{ "Connection refused", "is PostgreSQL running there, and listening on this address?" },
	{ "translate host name", "check the server's name, and whether this PC can resolve it" },
	{ "session is read-only", "the server that this replica copies is not in the address, or "
				  "does not answer" },
	{ "timeout expired", "no answer: check cable, address and firewall" },
	{ "", "docs/event.md says what to check" },
};

static const char *advice_for(const char *message)
{
	size_t n = 0;

	while (!strstr(message, advice[n].what))
		n++;
	return advice[n].next;
}

/*
 * Returns what libpq says of the last address that it tried. It has a line for each, and goes on to
 * the next one unless a server has answered: "localhost" may be ::1, where nobody listens, too.
 */
static const char *last_attempt(const PGconn *pg)
{
	const char *message = PQerrorMessage(pg), *address = PQhostaddr(pg), *found = message;

	/* a socket, or no name was resolved */
	if (!*address)
		address = PQhost(pg);
	if (!*address)
		return message;
	for (const char *at = message; (at = strstr(at, address)); at++)
		found = at;
	while (found > message && found[-1] != '\n')
		found--;
	return found;
}

static void no_notice(void *context, const PGresult *result)
{
	(void)context;
	(void)result;
}

static struct connection *database_open(const char *conninfo, struct dealbox_error *error)
{
	/* the name of a database alone is a connection string without "=" */
	bool name = *conninfo && !strchr(conninfo, '=') && !strstr(conninfo, "://");
	PQconninfoOption dbname[] = { { .keyword = "dbname", .val = (char *)conninfo }, { 0 } };
	PQconninfoOption *options = NULL;
	struct connection *connection;
	char *problem = NULL, line[256];
	const char *message;

	if (!name) {
		options = PQconninfoParse(conninfo, &problem);
		if (!options) {
			line_copy(line, problem ? problem : "out of memory");
			error_fill(error, -EINVAL, 0,
				   "give a connection string or URI of libpq, or a name",
				   "not the address of a database: %s", line);
			PQfreemem(problem);
			return NULL;
		}
	}
	connection = calloc(1, sizeof(*connection));
	if (connection)
		connection->pg = connect_with(name ? dbname : options, error);
	else
		error_fill(error, -ENOMEM, 0, NULL, "out of memory");
	PQconninfoFree(options);
	if (!connection || !connection->pg) {
		free(connection);
		return NULL;
	}
	if (PQstatus(connection->pg) != CONNECTION_OK) {
		message = last_attempt(connection->pg);
		line_copy(line, message);
		error_fill(error, -ENOTCONN, 0, advice_for(message),
			   "no connection to the event's database: %s", line);
		PQfinish(connection->pg);
		free(connection);
		return NULL;
	}
	PQsetNoticeReceiver(connection->pg, no_notice, NULL);
	return connection;
}

static void database_close(struct connection *connection)
{
	if (!connection)
		return;
	PQfinish(connection->pg);
	free(connection);
}

/* ---- statements --------------------------------------------------------- */

static int refused(struct connection *connection, const PGresult *result,
		   struct dealbox_error *error)
{
	const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
	const char *what = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
	const char *next = PQresultErrorField(result, PG_DIAG_MESSAGE_HINT);
	char line[256], hint[256];
	size_t n;

	line_copy(line, what ? what : PQerrorMessage(connection->pg));
	if (next) {
		line_copy(hint, next);
		next = hint;
	}
	/* without a state, it is libpq that gave up, and not the server that refused */
	if (!state || PQstatus(connection->pg) != CONNECTION_OK)
		return error_set(error, -ETIMEDOUT, 0,
				 "run it again; nothing is done twice",
				 "the connection to the event's database was lost: %s", line);
	for (n = 0; state && n < sizeof(errors) / sizeof(errors[0]); n++)
		if (!strncmp(state, errors[n].state, strlen(errors[n].state)))
			return error_set(error, errors[n].err, 0, next ? next : errors[n].next,
					 "%s%s", errors[n].what ? errors[n].what : "", line);
	return error_set(error, -EIO, 0, next, "the event's database refuses: %s", line);
}

static int rows_give(const PGresult *result,
		     int (*row)(const char *const *columns, size_t count, void *context),
		     void *context)
{
	int fields = PQnfields(result), rows = PQntuples(result), err = 0;
	const char *columns[COLUMNS_MAX];

	if (fields > COLUMNS_MAX)
		return -EIO;
	for (int n = 0; n < rows && !err; n++) {
		for (int field = 0; field < fields; field++)
			columns[field] =
				PQgetisnull(result, n, field) ? NULL : PQgetvalue(result, n, field);
		err = row(columns, (size_t)fields, context);
	}
	return err;
}

static int database_run(struct connection *connection, const char *sql, size_t count,
			const char *const *values,
			int (*row)(const char *const *columns, size_t count, void *context),
			void *context, struct dealbox_error *error)
{
	PGresult *result;
	int err = 0;

	if (PQstatus(connection->pg) != CONNECTION_OK)
		PQreset(connection->pg);
	if (count)
		result = PQexecParams(connection->pg, sql, (int)count, NULL, values, NULL, NULL, 0);
	else
		result = PQexec(connection->pg, sql);
	switch (PQresultStatus(result)) {
	case PGRES_TUPLES_OK:
		if (row)
			err = rows_give(result, row, context);
		break;
	case PGRES_COMMAND_OK:
		break;
	default:
		err = refused(connection, result, error);
	}
	PQclear(result);
	return err;
}

/* Takes the notifications that have come. Returns true if there was one. */
static bool notified(PGconn *pg)
{
	PGnotify *notify;
	bool any = false;

	while ((notify = PQnotifies(pg))) {
		PQfreemem(notify);
		any = true;
	}
	return any;
}

static int database_wait(struct connection *connection, int fd, struct dealbox_error *error)
{
	struct pollfd fds[] = { { PQsocket(connection->pg), POLLIN, 0 }, { fd, POLLIN, 0 } };

	for (;;) {
		/* one may have come with the answer to a statement */
		if (notified(connection->pg))
			return 1;
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return error_set(error, -errno, 0, NULL, "waiting for the server: %s",
					 strerror(errno));
		if (fds[1].revents)
			return 0;
		if (fds[0].revents && !PQconsumeInput(connection->pg))
			return refused(connection, NULL, error);
	}
}

extern const struct database dealbox_event_database;
__attribute__((visibility("default")))
const struct database dealbox_event_database = {
	.version = DATABASE_VERSION,
	.open = database_open,
	.run = database_run,
	.wait = database_wait,
	.close = database_close,
};
