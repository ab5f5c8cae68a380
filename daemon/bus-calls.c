// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Calls that wait. Every call but the emergency stop is put into a queue when it is read; whatever has
 * come is read before the next one is done, so a stop never waits for what was asked before it. A call
 * waits until the bus has said whose it is, then for its user's turn, then for polkit. Limits count by
 * user: one who opens many connections takes no more than his own share.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bus.h"

#define CALLS_MAX	1024		/* that wait; a client with none waiting may add one to as many more */
#define CALLS_USER	128		/* .. of one user; of one client, while its user is not known */
#define ASKED_MAX	96		/* that polkit is asked about: dbus-daemon allows 128 */
#define ASKED_USER	16		/* .. of one user */
#define CALL_BYTES	(128 << 10)	/* of one call */
#define VALUE_BYTES	32		/* what each value of a call counts for, besides its own size */
#define PING_US		1000000		/* the bus drops answers, too, for who is too slow to read them */
#define PING_WAIT_US	2000		/* nothing else is done for so long, to have its answer */
#define CREDENTIALS_US	5000000
#define CLIENTS_KEPT	256		/* whose users are remembered */
#define READ_MAX	256		/* messages that are read before something else has its turn */

/* Who asks, over whatever connections. Kept while it has calls that wait. */
struct user {
	struct user *next;
	uint32_t uid;
	unsigned int calls;
	unsigned int asked;		/* of them, polkit is asked about */
	uint64_t turn;			/* when it had its last turn */
};

/* A connection to the bus. Its name is never given to another one. */
struct client {
	struct client *next;
	struct service *service;
	sd_bus_slot *slot;		/* the bus is asked whose it is */
	char name[256];			/* the longest that D-Bus has */
	uint32_t uid;
	bool known;			/* the bus has said whose it is */
	bool member;			/* of the group that the service runs as */
	unsigned int calls;
};

struct call {
	struct call *next;
	struct service *service;
	struct client *client;
	struct user *user;		/* NULL: not known yet */
	sd_bus_slot *slot;		/* CALL_ASKED */
	sd_bus_message *message;
	enum {
		CALL_WAITS,		/* for its user, or its turn */
		CALL_DONE,		/* has had its turn */
		CALL_ASKED,		/* waits for polkit */
		CALL_STOPPED,		/* was a stop: who it was is yet to be written down */
	} stage;
	const char *action;		/* CALL_ASKED */
	deed_fn deed;			/* CALL_ASKED */
};

static struct {
	struct client *clients;		/* the one that was heard of last is first */
	struct user *users;
	struct call *first, **last;	/* oldest first */
	struct call *current;		/* whose turn it is */
	uint64_t turns;
	sd_bus_slot *ping;		/* under way to the bus, and back */
	bool held;			/* a call has come: others may have come with it */
	bool read;			/* all that was with the bus when the last call was done */
	sd_event_source *turn;
	sd_event_source *post;
} queue;

/* ---- clients and users ------------------------------------------------------- */

static struct user *user_get(uint32_t uid)
{
	struct user *user;

	for (user = queue.users; user && user->uid != uid; user = user->next)
		;
	if (user)
		return user;
	user = calloc(1, sizeof(*user));
	if (!user)
		return NULL;
	user->uid = uid;
	user->next = queue.users;
	queue.users = user;
	return user;
}

static void user_put(struct user *user)
{
	struct user **at = &queue.users;

	if (--user->calls)
		return;
	while (*at != user)
		at = &(*at)->next;
	*at = user->next;
	free(user);
}

static struct client *client_find(const char *name)
{
	struct client *client;

	for (client = queue.clients; client && strcmp(client->name, name); client = client->next)
		;
	return client;
}

static void client_remove(struct client *client)
{
	struct client **at = &queue.clients;

	while (*at != client)
		at = &(*at)->next;
	*at = client->next;
	sd_bus_slot_unref(client->slot);
	free(client);
}

/* Forgets the users of those that were heard of longest ago, and wait for nothing. */
static void clients_forget(void)
{
	struct client *client, *next;
	unsigned int kept = 0;

	for (client = queue.clients; client; client = next) {
		next = client->next;
		if (client->known && !client->calls && ++kept > CLIENTS_KEPT)
			client_remove(client);
	}
}

/* ---- calls ------------------------------------------------------------------- */

static void call_free(struct call *call)
{
	struct call **at = &queue.first;

	while (*at != call)
		at = &(*at)->next;
	*at = call->next;
	if (!*at)
		queue.last = at;
	if (call->stage == CALL_ASKED)
		call->user->asked--;
	if (call->user)
		user_put(call->user);
	call->client->calls--;
	sd_bus_slot_unref(call->slot);
	sd_bus_message_unref(call->message);
	free(call);
}

/* NULL: no memory. */
static struct call *call_add(struct client *client, sd_bus_message *m)
{
	struct call *call = calloc(1, sizeof(*call));

	if (!call)
		return NULL;
	call->service = client->service;
	call->client = client;
	call->message = sd_bus_message_ref(m);
	client->calls++;
	*queue.last = call;
	queue.last = &call->next;
	return call;
}

/* The client's user is known, and counts the call. False: it has too many. */
static bool call_count(struct call *call)
{
	call->user = user_get(call->client->uid);
	return call->user && call->user->calls++ < CALLS_USER;
}

static int too_many(sd_bus_message *m, const char *what)
{
	sd_bus_reply_method_errorf(m, SD_BUS_ERROR_LIMITS_EXCEEDED, "%s", what);
	return 1;
}

uint32_t sender_uid(sd_bus_message *m)
{
	const struct client *client = client_find(sd_bus_message_get_sender(m));

	return client && client->known ? client->uid : DEALBOX_UID_UNKNOWN;
}

/* ---- whose it is ------------------------------------------------------------- */

/* A stop of a client that had hung up before the bus could say whose it was is nobody's. */
static void stop_record(struct call *call)
{
	struct service *s = call->service;

	stations_stopped(s, station_find(s, sd_bus_message_get_path(call->message)),
			 call->client->known ? call->client->uid : DEALBOX_UID_UNKNOWN);
}

static void read_groups(sd_bus_message *reply, struct client *client)
{
	const uint32_t *groups;
	size_t size, n;

	if (sd_bus_message_enter_container(reply, 'v', "au") < 0 ||
	    sd_bus_message_read_array(reply, 'u', (const void **)&groups, &size) < 0)
		return;
	for (n = 0; n < size / sizeof(*groups); n++)
		client->member |= groups[n] == getegid();
	sd_bus_message_exit_container(reply);
}

static void read_credentials(sd_bus_message *reply, struct client *client)
{
	const char *name, *type;

	if (sd_bus_message_enter_container(reply, 'a', "{sv}") < 0)
		return;
	while (sd_bus_message_enter_container(reply, 'e', "sv") > 0) {
		if (sd_bus_message_read(reply, "s", &name) < 0 ||
		    sd_bus_message_peek_type(reply, NULL, &type) < 0)
			return;
		if (!strcmp(name, "UnixUserID") && !strcmp(type, "u"))
			client->known = sd_bus_message_read(reply, "v", "u", &client->uid) >= 0;
		else if (!strcmp(name, "UnixGroupIDs") && !strcmp(type, "au"))
			read_groups(reply, client);
		else if (sd_bus_message_skip(reply, "v") < 0)
			return;
		if (sd_bus_message_exit_container(reply) < 0)
			return;
	}
}

static int on_credentials(sd_bus_message *reply, void *context, sd_bus_error *unused)
{
	struct client *client = context;
	struct call *call, *next;
	bool gone;

	(void)unused;
	if (!sd_bus_message_is_method_error(reply, NULL))
		read_credentials(reply, client);
	/* a client that has hung up waits for no answer */
	gone = sd_bus_message_is_method_error(reply, SD_BUS_ERROR_NAME_HAS_NO_OWNER);
	for (call = queue.first; call; call = next) {
		next = call->next;
		if (call->client != client)
			continue;
		if (call->stage == CALL_STOPPED)
			stop_record(call);
		else if (client->known && call_count(call))
			continue;
		else if (!gone)
			too_many(call->message, "too many calls wait");
		call_free(call);
	}
	if (!client->known)
		client_remove(client);
	return 0;
}

/* Asks the bus itself. 0 or -errno. */
static int ask_bus(struct service *s, sd_bus_slot **slot, uint64_t timeout, const char *interface,
		   const char *member, const char *argument, sd_bus_message_handler_t callback, void *context)
{
	sd_bus_message *m = NULL;
	int err = sd_bus_message_new_method_call(s->bus, &m, "org.freedesktop.DBus", "/org/freedesktop/DBus",
						 interface, member);

	if (err >= 0 && argument)
		err = sd_bus_message_append(m, "s", argument);
	if (err >= 0)
		err = sd_bus_call_async(s->bus, slot, m, callback, context, timeout);
	sd_bus_message_unref(m);
	return err < 0 ? err : 0;
}

/* The client that sent it; if it is new, the bus is asked whose it is. NULL: no memory. */
static struct client *client_of(struct service *s, sd_bus_message *m)
{
	const char *name = sd_bus_message_get_sender(m);
	struct client *client = client_find(name);

	if (client)
		return client;
	client = calloc(1, sizeof(*client));
	if (!client)
		return NULL;
	client->service = s;
	snprintf(client->name, sizeof(client->name), "%s", name);
	if (ask_bus(s, &client->slot, CREDENTIALS_US, "org.freedesktop.DBus", "GetConnectionCredentials",
		    name, on_credentials, client) < 0) {
		free(client);
		return NULL;
	}
	client->next = queue.clients;
	queue.clients = client;
	clients_forget();
	return client;
}

void calls_stopped(struct service *s, sd_bus_message *m)
{
	struct client *client = client_of(s, m);
	struct call *call = client ? call_add(client, m) : NULL;

	if (!call) {
		stations_stopped(s, station_find(s, sd_bus_message_get_path(m)), DEALBOX_UID_UNKNOWN);
		return;
	}
	call->stage = CALL_STOPPED;
	if (!client->known)
		return;
	stop_record(call);
	call_free(call);
}

/* ---- whose turn it is -------------------------------------------------------- */

/* Adds up what a call has in it, until that is too much. -errno: it is not what it says. */
static int weigh(sd_bus_message *m, size_t *bytes)
{
	const char *contents, *text;
	const void *array;
	uint64_t number;
	size_t size;
	char type;
	int err;

	while ((err = sd_bus_message_peek_type(m, &type, &contents)) > 0 && *bytes <= CALL_BYTES) {
		*bytes += VALUE_BYTES;
		if (type == 'a' && !contents[1] && strchr("ynqiuxtd", *contents)) {
			err = sd_bus_message_read_array(m, *contents, &array, &size);
			*bytes += err < 0 ? 0 : size;
		} else if (strchr("arve", type)) {
			err = sd_bus_message_enter_container(m, type, contents);
			if (err >= 0)
				err = weigh(m, bytes);
			if (err >= 0 && *bytes <= CALL_BYTES)
				err = sd_bus_message_exit_container(m);
		} else if (strchr("sog", type)) {
			err = sd_bus_message_read_basic(m, type, &text);
			*bytes += err < 0 ? 0 : strlen(text);
		} else {
			err = sd_bus_message_read_basic(m, type, &number);
		}
		if (err < 0)
			return err;
	}
	return err;
}

/* Puts a call into the queue, or refuses it. */
static int hold(struct service *s, sd_bus_message *m)
{
	unsigned int all = 0;
	struct client *client;
	struct call *call;
	size_t bytes = 0;

	if (weigh(m, &bytes) < 0) {
		sd_bus_reply_method_errorf(m, SD_BUS_ERROR_INVALID_ARGS, "the call does not have what it "
					   "says that it has");
		return 1;
	}
	if (bytes > CALL_BYTES)
		return too_many(m, "the call is too large");
	for (call = queue.first; call; call = call->next)
		all++;
	client = client_of(s, m);
	if (!client)
		return too_many(m, "no memory");
	if (all >= (client->calls ? CALLS_MAX : 2 * CALLS_MAX) ||
	    (!client->known && client->calls >= CALLS_USER))
		return too_many(m, "too many calls wait");
	call = call_add(client, m);
	if (!call)
		return too_many(m, "no memory");
	if (client->known && !call_count(call)) {
		too_many(m, "too many calls of this user wait");
		call_free(call);
	}
	return 1;
}

static int on_message(sd_bus_message *m, void *context, sd_bus_error *error)
{
	uint8_t type = 0;

	(void)error;
	sd_bus_message_get_type(m, &type);
	if (type != SD_BUS_MESSAGE_METHOD_CALL || sd_bus_message_is_method_call(m, NULL, "Stop"))
		return 0;
	if (queue.current && queue.current->message == m) {
		queue.current->stage = CALL_DONE;
		return 0;
	}
	queue.held = true;
	return hold(context, m);
}

/* The oldest call of the user who has waited longest for a turn. */
static struct call *next_call(void)
{
	struct call *call, *next = NULL;

	for (call = queue.first; call; call = call->next)
		if (call->stage == CALL_WAITS && call->user && (!next || call->user->turn < next->user->turn))
			next = call;
	return next;
}

/* Has the bus taken what we have said? No more is said until then: what clients ask does not pile up. */
static bool bus_listens(struct service *s)
{
	uint64_t queued = 0;

	return sd_bus_get_n_queued_write(s->bus, &queued) >= 0 && !queued;
}

static int on_ping(sd_bus_message *reply, void *context, sd_bus_error *unused)
{
	(void)reply;
	(void)context;
	(void)unused;
	queue.ping = sd_bus_slot_unref(queue.ping);
	queue.read = true;
	return 0;
}

/* Does the call whose turn it is. */
static void do_call(struct service *s)
{
	queue.current->user->turn = ++queue.turns;
	if (sd_bus_enqueue_for_read(s->bus, queue.current->message) < 0)
		queue.current->stage = CALL_DONE;
	while (queue.current->stage == CALL_WAITS && sd_bus_process(s->bus, NULL) > 0)
		;
	if (queue.current->stage != CALL_ASKED)
		call_free(queue.current);
	queue.current = NULL;
	queue.read = false;
}

/* Reads what has come; true: all of it. */
static bool read_calls(struct service *s)
{
	unsigned int n;

	for (n = 0; n < READ_MAX && sd_bus_process(s->bus, NULL) > 0; n++)
		;
	return n < READ_MAX;
}

/*
 * Before a call is done, all is read that the bus has for us: a stop may be among it. The bus keeps the
 * order, so its answer to a ping comes behind all that. It mostly comes at once.
 */
static int on_turn(sd_event_source *source, void *context)
{
	struct service *s = context;
	bool all = read_calls(s);

	(void)source;
	queue.held = false;
	if (!next_call() || !bus_listens(s))
		return 0;
	if (!queue.read && !queue.ping)
		queue.read = ask_bus(s, &queue.ping, PING_US, "org.freedesktop.DBus.Peer", "Ping", NULL, on_ping,
				     s) < 0;
	while (all && queue.ping && sd_bus_wait(s->bus, PING_WAIT_US) > 0)
		all = read_calls(s);
	/* who has stopped and then looks sees that it has stopped */
	if (s->stopped)
		stations_run(s);
	queue.current = queue.read ? next_call() : NULL;
	if (queue.current)
		do_call(s);
	queue.current = NULL;
	return 0;
}

/* After anything that has happened: is there a call, and can it be answered? */
static int on_post(sd_event_source *source, void *context)
{
	struct service *s = context;

	(void)source;
	if (queue.held || (next_call() && bus_listens(s) && (queue.read || !queue.ping)))
		sd_event_source_set_enabled(queue.turn, SD_EVENT_ONESHOT);
	return 0;
}

/* ---- who may ----------------------------------------------------------------- */

static int do_deed(struct service *s, sd_bus_message *m, deed_fn deed)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;
	int err = deed(m, s, &error);

	/* what cannot be sent as it is (it never should be so) is answered all the same */
	if (sd_bus_error_is_set(&error))
		err = sd_bus_reply_method_error(m, &error) < 0 ? -EIO : 0;
	if (err == -EBADMSG || err == -ENXIO)
		sd_bus_reply_method_errorf(m, SD_BUS_ERROR_INVALID_ARGS, "the call does not have what it "
					   "says that it has");
	else if (err < 0)
		sd_bus_reply_method_errno(m, err, NULL);
	sd_bus_error_free(&error);
	stations_run(s);
	return 1;
}

/*
 * Where polkit is not installed, members of the service's group may do what 50-dealbox.rules lets them;
 * where it fails to answer, nobody may but root.
 */
static bool may_without_polkit(const struct call *call, sd_bus_message *reply)
{
	static const struct {
		const char *action;
		bool everybody;
	} rows[] = {
		{ "status", true }, { "deal" }, { "manage" },
	};
	size_t n;

	if (call->client->uid == 0)
		return true;
	if (!sd_bus_message_is_method_error(reply, SD_BUS_ERROR_SERVICE_UNKNOWN) &&
	    !sd_bus_message_is_method_error(reply, SD_BUS_ERROR_NAME_HAS_NO_OWNER))
		return false;
	for (n = 0; n < sizeof(rows) / sizeof(rows[0]); n++)
		if (!strcmp(call->action, rows[n].action))
			return rows[n].everybody || call->client->member;
	return false;
}

static int on_authorized(sd_bus_message *reply, void *context, sd_bus_error *unused)
{
	bool error = sd_bus_message_is_method_error(reply, NULL);
	struct call *call = context;
	int authorized = 0, challenge;

	(void)unused;
	if (error)
		authorized = may_without_polkit(call, reply);
	else if (sd_bus_message_enter_container(reply, 'r', "bba{ss}") < 0 ||
		 sd_bus_message_read(reply, "bb", &authorized, &challenge) < 0)
		authorized = 0;
	if (authorized)
		do_deed(call->service, call->message, call->deed);
	else
		sd_bus_reply_method_errorf(call->message, SD_BUS_ERROR_ACCESS_DENIED,
					   error ? "this user may not do that (polkit does not answer, or is "
					   "not installed)" : "this user may not do that (polkit says no)");
	call_free(call);
	return 0;
}

int authorize(sd_bus_message *m, struct service *s, const char *action, deed_fn deed)
{
	struct call *call = queue.current;
	sd_bus_message *ask = NULL;
	const struct user *user;
	unsigned int asked = 0;
	char name[64];
	int err;

	for (user = queue.users; user; user = user->next)
		asked += user->asked;
	if (asked >= ASKED_MAX || call->user->asked >= ASKED_USER)
		return too_many(m, "too many calls of this user wait for polkit");
	snprintf(name, sizeof(name), "io.dealbox1.%s", action);
	err = sd_bus_message_new_method_call(s->bus, &ask, "org.freedesktop.PolicyKit1",
					     "/org/freedesktop/PolicyKit1/Authority",
					     "org.freedesktop.PolicyKit1.Authority",
					     "CheckAuthorization");
	if (err >= 0)
		err = sd_bus_message_append(ask, "(sa{sv})sa{ss}us", "system-bus-name", 1, "name", "s",
					    call->client->name, name, 0,
					    sd_bus_message_get_allow_interactive_authorization(m) > 0,
					    "");
	if (err >= 0)
		err = sd_bus_call_async(s->bus, &call->slot, ask, on_authorized, call, 120 * 1000000ULL);
	sd_bus_message_unref(ask);
	if (err < 0)
		return err;
	call->stage = CALL_ASKED;
	call->action = action;
	call->deed = deed;
	call->user->asked++;
	return 1;
}

/* ---- the queue --------------------------------------------------------------- */

int calls_open(struct service *s)
{
	int err;

	queue.last = &queue.first;
	err = sd_bus_add_filter(s->bus, NULL, on_message, s);
	if (err >= 0)
		err = sd_event_add_defer(s->event, &queue.turn, on_turn, s);
	if (err >= 0)
		err = sd_event_source_set_enabled(queue.turn, SD_EVENT_OFF);
	if (err >= 0)
		err = sd_event_add_post(s->event, &queue.post, on_post, s);
	return err;
}

void calls_close(void)
{
	sd_event_source_disable_unref(queue.turn);
	sd_event_source_disable_unref(queue.post);
	sd_bus_slot_unref(queue.ping);
	while (queue.first)
		call_free(queue.first);
	while (queue.clients)
		client_remove(queue.clients);
}
