// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The queue of method calls. Stop is executed when it is read; every other call is queued. All
 * messages on the bus are read before the next call is executed, so that Stop never waits for an
 * earlier call. A queued call waits for the credentials of its sender, for the turn of its user,
 * and for polkit. Limits are per user, over all of the user's connections.
 */
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bus-reply.h"
#include "call-queue.h"
#include "panel.h"
#include "person.h"
#include "polkit.h"
#include "stations.h"

#define CALLS_MAX	1024		/* queued; twice as many if a client has none */
#define CALLS_USER	128		/* queued per user; per client until its user is known */
#define ASKED_MAX	96		/* waiting for polkit; dbus-daemon allows 128 replies */
#define ASKED_USER	16		/* waiting for polkit, per user */
#define CALL_BYTES	(128 << 10)	/* size of one call */
#define VALUE_BYTES	32		/* added to CALL_BYTES for each value */
/* If our queue on the bus is full, the bus drops its answers to us, so requests need timeouts. */
#define PING_US		1000000
#define CREDENTIALS_US	5000000
#define PING_WAIT_US	2000		/* wait in place for the answer to a ping */
#define LOCK_MS		10		/* poll interval while the ledger is locked */
#define CLIENTS_KEPT	256		/* idle clients whose credentials are cached */
#define READ_MAX	256		/* messages read before other event sources run */

/* A user with queued calls, over all of the user's connections */
struct user {
	struct user *next;
	uint32_t uid;
	unsigned int calls;
	unsigned int asked;		/* calls that wait for polkit */
	uint64_t turn;			/* number of the user's last turn */
};

/* A connection to the bus. The bus never reuses its name. */
struct client {
	struct client *next;
	struct service *service;
	sd_bus_slot *slot;		/* request for its credentials */
	char name[256];			/* D-Bus allows 255 bytes */
	uint32_t uid;
	uint32_t pid;			/* 0 = unknown */
	uint32_t person;		/* who logged in; uid if that is not root */
	struct person search;		/* for the person */
	bool known;			/* uid, person and member are valid */
	bool gone;			/* the bus has no credentials of it */
	bool member;			/* in the group that the service runs as */
	unsigned int calls;
};

struct call {
	struct call *next;
	struct service *service;
	struct client *client;
	struct user *user;		/* NULL = not known yet */
	sd_bus_slot *slot;		/* CALL_ASKED */
	sd_bus_message *message;
	enum {
		CALL_WAITS,		/* for credentials, or for a turn */
		CALL_DONE,		/* dispatched */
		CALL_ASKED,		/* waits for polkit */
		CALL_GRANTED,		/* allowed by polkit, waits for a turn */
		CALL_STOPPED,		/* a Stop that was answered but not recorded */
	} stage;
	uint64_t arrived;		/* us */
	const char *action;		/* CALL_ASKED */
	char reason[160];		/* CALL_ASKED: by call_explain(), or empty */
	method_fn method;		/* CALL_ASKED, CALL_GRANTED */
	record_fn record;		/* CALL_STOPPED */
};

static struct {
	struct client *clients;		/* newest first */
	struct user *users;
	struct call *first;		/* oldest first */
	struct call *current;		/* being executed */
	uint64_t turns;
	sd_bus_slot *ping;		/* a pending ping */
	bool held;			/* a call was queued since the last on_turn() */
	bool read;			/* all messages older than the last call were read */
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
	person_forget(&client->search);
	free(client);
}

/* Drop clients that are gone, and the oldest idle ones beyond CLIENTS_KEPT. */
static void clients_forget(void)
{
	struct client *client, *next;
	unsigned int kept = 0;

	for (client = queue.clients; client; client = next) {
		next = client->next;
		if (!client->calls && (client->gone || (client->known && ++kept > CLIENTS_KEPT)))
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
	if (call->stage == CALL_ASKED)
		call->user->asked--;
	if (call->user)
		user_put(call->user);
	call->client->calls--;
	sd_bus_slot_unref(call->slot);
	sd_bus_message_unref(call->message);
	free(call);
}

/* Returns NULL without memory. */
static struct call *call_add(struct client *client, sd_bus_message *m)
{
	struct call *call = calloc(1, sizeof(*call)), **at = &queue.first;

	if (!call)
		return NULL;
	call->service = client->service;
	call->client = client;
	call->message = sd_bus_message_ref(m);
	call->arrived = monotonic_us();
	client->calls++;
	while (*at)
		at = &(*at)->next;
	*at = call;
	return call;
}

/* Count the call for its user, who is known now. Returns false if there are too many. */
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

uint32_t sender_person(sd_bus_message *m)
{
	const struct client *client = client_find(sd_bus_message_get_sender(m));

	return client && client->known ? client->person : DEALBOX_UID_UNKNOWN;
}

int record_act(struct service *s, sd_bus_message *m, struct dealbox_ledger_act *act,
	       sd_bus_error *error)
{
	int err;

	act->uid = sender_person(m);
	err = dealbox_ledger_add_act(s->ledger, act);
	return err ? ledger_error(s, err, error) : 0;
}

uint64_t call_arrived(void)
{
	return queue.current->arrived;
}

/* ---- senders ----------------------------------------------------------------- */

/* Return an unrecorded Stop whose sender is known. */
static struct call *next_stop(void)
{
	struct call *call;

	for (call = queue.first; call; call = call->next)
		if (call->stage == CALL_STOPPED && (call->client->known || call->client->gone))
			break;
	return call;
}

static void record_stops(struct service *s)
{
	struct call *call;

	while ((call = next_stop())) {
		call->record(s, call->message,
			     call->client->known ? call->client->person : DEALBOX_UID_UNKNOWN);
		call_free(call);
	}
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

/* Returns true if the bus knows the user. */
static bool read_credentials(sd_bus_message *reply, struct client *client)
{
	const char *name, *type;
	bool known = false;

	if (sd_bus_message_enter_container(reply, 'a', "{sv}") < 0)
		return false;
	while (sd_bus_message_enter_container(reply, 'e', "sv") > 0) {
		if (sd_bus_message_read(reply, "s", &name) < 0 ||
		    sd_bus_message_peek_type(reply, NULL, &type) < 0)
			break;
		if (!strcmp(name, "UnixUserID") && !strcmp(type, "u"))
			known = sd_bus_message_read(reply, "v", "u", &client->uid) >= 0;
		else if (!strcmp(name, "ProcessID") && !strcmp(type, "u"))
			sd_bus_message_read(reply, "v", "u", &client->pid);
		else if (!strcmp(name, "UnixGroupIDs") && !strcmp(type, "au"))
			read_groups(reply, client);
		else if (sd_bus_message_skip(reply, "v") < 0)
			break;
		if (sd_bus_message_exit_container(reply) < 0)
			break;
	}
	return known;
}

/* The queued calls of a client, whose user is known now or will never be. */
static void client_settle(struct client *client, bool hung_up)
{
	struct call *call, *next;

	for (call = queue.first; call; call = next) {
		next = call->next;
		if (call->client != client || call->stage == CALL_STOPPED ||
		    (client->known && call_count(call)))
			continue;
		if (!hung_up)
			too_many(call->message, "too many calls are queued");
		call_free(call);
	}
	client->gone = !client->known;
}

static void on_person(void *context, uint32_t uid)
{
	struct client *client = context;

	client->person = uid;
	client->known = true;
	client_settle(client, false);
}

static int on_credentials(sd_bus_message *reply, void *context, sd_bus_error *unused)
{
	struct client *client = context;
	bool known = false;

	(void)unused;
	if (!sd_bus_message_is_method_error(reply, NULL))
		known = read_credentials(reply, client);
	client->person = client->uid;
	if (known && client->uid == 0 && client->pid &&
	    !person_find(&client->search, client->service->bus, client->name, client->pid,
			 on_person, client))
		return 0;
	client->known = known;
	/* A client that has disconnected needs no answer. */
	client_settle(client,
		      sd_bus_message_is_method_error(reply, SD_BUS_ERROR_NAME_HAS_NO_OWNER));
	return 0;
}

/* Send a request to the bus daemon. Returns 0 or -errno. */
static int ask_bus(struct service *s, sd_bus_slot **slot, uint64_t timeout, const char *interface,
		   const char *member, const char *argument, sd_bus_message_handler_t callback,
		   void *context)
{
	sd_bus_message *m = NULL;
	int err = sd_bus_message_new_method_call(s->bus, &m, "org.freedesktop.DBus",
						 "/org/freedesktop/DBus", interface, member);

	if (err >= 0 && argument)
		err = sd_bus_message_append(m, "s", argument);
	if (err >= 0)
		err = sd_bus_call_async(s->bus, slot, m, callback, context, timeout);
	sd_bus_message_unref(m);
	return err < 0 ? err : 0;
}

/* Return the sender of a message. Requests the credentials of a new one. NULL without memory. */
static struct client *client_of(struct service *s, sd_bus_message *m)
{
	const char *name = sd_bus_message_get_sender(m);
	struct client *client = client_find(name);

	if (client && (!client->gone || client->calls))
		return client;
	clients_forget();
	client = calloc(1, sizeof(*client));
	if (!client)
		return NULL;
	client->service = s;
	snprintf(client->name, sizeof(client->name), "%s", name);
	if (ask_bus(s, &client->slot, CREDENTIALS_US, "org.freedesktop.DBus",
		    "GetConnectionCredentials", name, on_credentials, client) < 0) {
		free(client);
		return NULL;
	}
	client->next = queue.clients;
	queue.clients = client;
	return client;
}

void calls_record(struct service *s, sd_bus_message *m, record_fn record)
{
	struct client *client = client_of(s, m);
	struct call *call = client ? call_add(client, m) : NULL;

	if (!call) {
		record(s, m, DEALBOX_UID_UNKNOWN);
		return;
	}
	call->stage = CALL_STOPPED;
	call->record = record;
}

/* ---- turns ------------------------------------------------------------------- */

/* Add the size of a call to *bytes, up to CALL_BYTES. Returns -errno for a malformed message. */
static int add_size(sd_bus_message *m, size_t *bytes)
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
				err = add_size(m, bytes);
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

/* Queue a call or refuse it. */
static int enqueue(struct service *s, sd_bus_message *m)
{
	unsigned int all = 0;
	struct client *client;
	struct call *call;
	size_t bytes = 0;

	if (add_size(m, &bytes) < 0) {
		sd_bus_reply_method_errorf(m, SD_BUS_ERROR_INVALID_ARGS,
					   "the contents of the call do not "
					   "match its signature");
		return 1;
	}
	if (bytes > CALL_BYTES)
		return too_many(m, "the call is too large");
	for (call = queue.first; call; call = call->next)
		all++;
	client = client_of(s, m);
	if (!client)
		return too_many(m, "no memory");
	/* A client that has disconnected is kept until its Stop has been recorded. */
	if (client->gone || all >= (client->calls ? CALLS_MAX : 2 * CALLS_MAX) ||
	    (!client->known && client->calls >= CALLS_USER))
		return too_many(m, "too many calls are queued");
	call = call_add(client, m);
	if (!call)
		return too_many(m, "no memory");
	if (client->known && !call_count(call)) {
		too_many(m, "this user has too many queued calls");
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
	return enqueue(context, m);
}

/* Return the oldest call of the user who has waited longest for a turn. */
static struct call *next_call(void)
{
	struct call *call, *next = NULL;

	for (call = queue.first; call; call = call->next)
		if ((call->stage == CALL_WAITS || call->stage == CALL_GRANTED) && call->user &&
		    (!next || call->user->turn < next->user->turn))
			next = call;
	return next;
}

/*
 * Return true if the bus has taken all replies. Otherwise execute no call: replies would pile up.
 */
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

static void run_method(struct service *s, sd_bus_message *m, method_fn method)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;
	int err = method(m, s, &error);

	/* A reply that cannot be sent must still be answered. This should never happen. */
	if (sd_bus_error_is_set(&error))
		err = sd_bus_reply_method_error(m, &error) < 0 ? -EIO : 0;
	if (err == -EBADMSG || err == -ENXIO)
		sd_bus_reply_method_errorf(m, SD_BUS_ERROR_INVALID_ARGS,
					   "the contents of the call do not "
					   "match its signature");
	else if (err < 0)
		sd_bus_reply_method_errno(m, err, NULL);
	sd_bus_error_free(&error);
	stations_run(s);
}

/* Execute the current call. */
static void do_call(struct service *s)
{
	queue.current->user->turn = ++queue.turns;
	if (queue.current->stage == CALL_GRANTED)
		run_method(s, queue.current->message, queue.current->method);
	else if (sd_bus_enqueue_for_read(s->bus, queue.current->message) < 0)
		queue.current->stage = CALL_DONE;
	while (queue.current->stage == CALL_WAITS && sd_bus_process(s->bus, NULL) > 0)
		;
	if (queue.current->stage != CALL_ASKED)
		call_free(queue.current);
	queue.current = NULL;
	queue.read = false;
}

/* Read messages. Returns true if none is left. */
static bool read_calls(struct service *s)
{
	unsigned int n;

	for (n = 0; n < READ_MAX && sd_bus_process(s->bus, NULL) > 0; n++)
		;
	return n < READ_MAX;
}

/*
 * Execute one call. First read all messages on the bus, since a Stop may be among them. The bus
 * keeps messages in order, so its answer to a question follows them: to one that system buses let
 * everybody ask, as they do not Ping.
 */
static int on_turn(sd_event_source *source, void *context)
{
	struct service *s = context;
	bool all = read_calls(s);

	(void)source;
	queue.held = false;
	record_stops(s);
	if (!next_call() || !bus_listens(s))
		return 0;
	if (!queue.read && !queue.ping)
		queue.read = ask_bus(s, &queue.ping, PING_US, "org.freedesktop.DBus", "GetId",
				     NULL, on_ping, s) < 0;
	while (all && queue.ping && sd_bus_wait(s->bus, PING_WAIT_US) > 0)
		all = read_calls(s);
	/* A client that calls Stop and then reads the state must see the stop. */
	if (s->stations->stopped)
		stations_run(s);
	queue.current = queue.read ? next_call() : NULL;
	if (queue.current)
		do_call(s);
	queue.current = NULL;
	return 0;
}

/* Runs after every event. Schedules on_turn() if a call can be executed. */
static int on_post(sd_event_source *source, void *context)
{
	struct service *s = context;

	(void)source;
	if (queue.held || next_stop() ||
	    (next_call() && bus_listens(s) && (queue.read || !queue.ping)))
		sd_event_source_set_enabled(queue.turn, SD_EVENT_ONESHOT);
	return 0;
}

/* ---- polkit ------------------------------------------------------------------ */

static int on_authorized(sd_bus_message *reply, void *context, sd_bus_error *unused)
{
	struct call *call = context;

	(void)unused;
	if (polkit_allows(reply, call->action, call->client->uid, call->client->member)) {
		call->user->asked--;
		call->stage = CALL_GRANTED;
		return 0;
	}
	sd_bus_reply_method_errorf(call->message, SD_BUS_ERROR_ACCESS_DENIED,
				   "%s (%s)", call->reason[0] ? call->reason :
				   "this user may not do that",
				   sd_bus_message_is_method_error(reply, NULL) ?
				   "polkit does not answer, or is not installed" :
				   "polkit denied it");
	call_free(call);
	return 0;
}

int authorize(sd_bus_message *m, struct service *s, const char *action, method_fn method)
{
	struct call *call = queue.current;
	const struct user *user;
	unsigned int asked = 0;
	int err;

	for (user = queue.users; user; user = user->next)
		asked += user->asked;
	if (asked >= ASKED_MAX || call->user->asked >= ASKED_USER)
		return too_many(m, "this user has too many calls that wait for polkit");
	err = polkit_ask(s->bus, &call->slot, m, call->client->name, action, on_authorized, call);
	if (err < 0)
		return err;
	call->stage = CALL_ASKED;
	call->action = action;
	call->method = method;
	call->user->asked++;
	return 1;
}

void call_explain(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(queue.current->reason, sizeof(queue.current->reason), format, ap);
	va_end(ap);
}

const char *call_action(void)
{
	return queue.current->action;
}

/* ---- the queue --------------------------------------------------------------- */

/*
 * Called while the ledger waits for the disk; returns when fd is readable. Meanwhile queues calls
 * from the bus, and executes Stop and the emergency stop of the panel.
 */
static void wait_for_disk(int fd, void *context)
{
	struct service *s = context;
	struct pollfd polls[] = { { .fd = fd, .events = POLLIN }, { .fd = -1 },
				  { .fd = -1, .events = POLLIN } };
	bool gone = false;
	int err = 0;

	do {
		/* Do not read the bus if it is gone, or if sd_bus_process() called us. */
		polls[1].fd = err < 0 ? -1 : sd_bus_get_fd(s->bus);
		polls[1].events = sd_bus_get_events(s->bus);
		polls[2].fd = gone ? -1 : panel_fd(s);
		if (poll(polls, 3, fd < 0 ? LOCK_MS : -1) <= 0)
			return;
		/* panel.c handles the loss of the chip when the event loop runs again. */
		gone |= polls[2].revents & ~POLLIN;
		if (polls[2].revents == POLLIN)
			panel_read_early(s);
		if (polls[1].revents)
			err = sd_bus_process(s->bus, NULL);
	} while (fd >= 0 && !polls[0].revents);
}

/* The bus' callbacks, such as that of Stop, use no ledger, so one may be read meanwhile. */
void calls_look(struct service *s)
{
	struct pollfd panel = { .fd = panel_fd(s), .events = POLLIN };

	read_calls(s);
	if (poll(&panel, 1, 0) > 0 && panel.revents == POLLIN)
		panel_read_early(s);
}

int calls_open(struct service *s)
{
	int err;

	err = sd_bus_add_filter(s->bus, NULL, on_message, s);
	if (err >= 0)
		err = sd_event_add_defer(s->event, &queue.turn, on_turn, s);
	if (err >= 0)
		err = sd_event_source_set_enabled(queue.turn, SD_EVENT_OFF);
	if (err >= 0)
		err = sd_event_add_post(s->event, &queue.post, on_post, s);
	if (err >= 0)
		dealbox_ledger_wait(s->ledger, wait_for_disk, s);
	return err;
}

void calls_close(struct service *s)
{
	/* No ledger is open if the service failed to start. */
	if (s->ledger)
		dealbox_ledger_wait(s->ledger, NULL, NULL);
	sd_event_source_disable_unref(queue.turn);
	sd_event_source_disable_unref(queue.post);
	sd_bus_slot_unref(queue.ping);
	while (queue.first)
		call_free(queue.first);
	while (queue.clients)
		client_remove(queue.clients);
}
