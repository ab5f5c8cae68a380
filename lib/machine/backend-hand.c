// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * hand: the backend for a person. Keys come from a terminal, and from an input device, which is
 * grabbed so that no other window gets what is typed or scanned. hand.c is the machine.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#ifdef DEALBOX_LIBEVDEV
#include <libevdev/libevdev.h>
#else
struct libevdev;
#endif

#include "backend.h"
#include "hand.h"

#define TERMINAL	"/dev/tty"
#define CODES_SIZE	(1 << 20)	/* limit of a file of codes */

/* Where keys come from */
struct source {
	int fd;				/* -1 = there is none */
	bool lines;			/* sends bar codes, each ended by Enter */
	char line[HAND_CODE_MAX + 2];
	size_t length;
};

struct person {
	struct hand hand;
	struct hand_codes codes;
	struct source terminal, device;
	struct termios before;		/* settings of the terminal */
	struct libevdev *evdev;		/* of the device */
	bool observe, gone, awake;
	int epoll_fd;
	int wake_fd;			/* readable while there are events */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- keys ------------------------------------------------------------------ */

/* A line that is too long is none of the codes. */
static void take_line(struct person *p, struct source *source)
{
	bool whole = source->length <= HAND_CODE_MAX;

	source->line[whole ? source->length : 0] = '\0';
	hand_code(&p->hand, whole ? hand_codes_find(&p->codes, source->line) : DEALBOX_NONE,
		  now_ns());
	explicit_bzero(source->line, sizeof(source->line));
	source->length = 0;
}

static void take_key(struct person *p, struct source *source, uint32_t key)
{
	bool control = key == HAND_ENTER || key == HAND_UNDO || key == HAND_STOP;

	if (!source->lines || (control && !source->length)) {
		hand_key(&p->hand, key, now_ns());
	} else if (key == HAND_ENTER) {
		take_line(p, source);
	} else if (control) {
		/* what was begun was a mistake */
		explicit_bzero(source->line, sizeof(source->line));
		source->length = 0;
	} else if (source->length <= HAND_CODE_MAX) {
		source->line[source->length++] = key < 0x80 ? (char)key : '?';
	}
}

/* Decode a character of UTF-8. Returns its length; a broken one is skipped as key 0. */
static size_t decode(const unsigned char *text, size_t size, uint32_t *key)
{
	size_t length = *text < 0x80 ? 1 : *text >> 5 == 6 ? 2 : *text >> 4 == 14 ? 3 :
		*text >> 3 == 30 ? 4 : 0;

	*key = 0;
	if (!length || length > size)
		return 1;
	*key = length == 1 ? *text : *text & (0x7f >> length);
	for (size_t n = 1; n < length; n++)
		*key = *key << 6 | (text[n] & 0x3f);
	return length;
}

/* Return the length of an escape sequence, such as that of an arrow key. */
static size_t sequence(const unsigned char *text, size_t size)
{
	size_t n = 2;

	if (size < 2 || text[0] != HAND_STOP || (text[1] != '[' && text[1] != 'O'))
		return 0;
	while (n < size && (text[n] < 0x40 || text[n] > 0x7e))
		n++;
	return n < size ? n + 1 : n;
}

static void pump_terminal(struct person *p)
{
	unsigned char text[64];
	size_t at, length;
	ssize_t size;
	uint32_t key;

	size = read(p->terminal.fd, text, sizeof(text));
	if (!size || (size < 0 && errno != EAGAIN && errno != EINTR))
		p->gone = true;
	for (at = 0; size > 0 && at < (size_t)size; at += length) {
		length = sequence(text + at, (size_t)size - at);
		if (length)
			continue;
		length = decode(text + at, (size_t)size - at, &key);
		take_key(p, &p->terminal, key == 0x7f ? HAND_UNDO : key == '\r' ? HAND_ENTER : key);
	}
	explicit_bzero(text, sizeof(text));
}

#ifdef DEALBOX_LIBEVDEV
static void pump_device(struct person *p)
{
	unsigned int flag = LIBEVDEV_READ_FLAG_NORMAL;
	struct input_event event;
	int ret;

	for (;;) {
		ret = libevdev_next_event(p->evdev, flag, &event);
		if (ret == LIBEVDEV_READ_STATUS_SYNC) {
			/* Keys were lost, and so is the code that they are of. */
			if (flag == LIBEVDEV_READ_FLAG_NORMAL && p->device.lines &&
			    p->device.length) {
				p->device.length = 0;
				hand_code(&p->hand, DEALBOX_NONE, now_ns());
			}
			flag = LIBEVDEV_READ_FLAG_SYNC;
			continue;
		}
		if (ret == -EAGAIN && flag == LIBEVDEV_READ_FLAG_SYNC) {
			flag = LIBEVDEV_READ_FLAG_NORMAL;
			continue;
		}
		if (ret != LIBEVDEV_READ_STATUS_SUCCESS)
			break;
		/* 1: pressed. A key that is held repeats itself as 2, and is one press. */
		if (event.type == EV_KEY && event.value == 1 && hand_key_of(event.code))
			take_key(p, &p->device, hand_key_of(event.code));
		explicit_bzero(&event, sizeof(event));
	}
	p->gone |= ret != -EAGAIN && ret != -EINTR;
}

static int grab(struct person *p, const char *device, struct dealbox_error *reason)
{
	int err = libevdev_new_from_fd(p->device.fd, &p->evdev);

	if (err)
		return error_set(reason, err, 0,
				 "`sudo libinput list-devices` names keyboards and scanners",
				 "hand:%s is no input device", device);
	err = libevdev_grab(p->evdev, LIBEVDEV_GRAB);
	if (err)
		return error_set(reason, err, 0, "end the program that uses it", "hand:%s: %s",
				 device,
				 err == -EBUSY ? "another program has grabbed it" : strerror(-err));
	return 0;
}

static void let_go(struct person *p)
{
	if (!p->evdev)
		return;
	libevdev_grab(p->evdev, LIBEVDEV_UNGRAB);
	libevdev_free(p->evdev);
}
#else
static void pump_device(struct person *p)
{
	p->gone = true;
}

static int grab(struct person *p, const char *device, struct dealbox_error *reason)
{
	(void)p;
	return error_set(reason, -EOPNOTSUPP, 0, "use hand:, the keyboard of the terminal",
			 "hand:%s: this libdealbox was built without libevdev", device);
}

static void let_go(struct person *p)
{
	(void)p;
}
#endif

/* ---- the machine ----------------------------------------------------------- */

static void wake_update(struct person *p)
{
	bool awake = p->hand.queue.count || p->gone;
	uint64_t count = 1;

	if (awake == p->awake)
		return;
	p->awake = awake;
	if (awake)
		(void)!write(p->wake_fd, &count, sizeof(count));
	else
		(void)!read(p->wake_fd, &count, sizeof(count));
}

static int person_call(void *self, unsigned long request, void *arg)
{
	struct person *p = self;
	const struct dealbox_ioctl *ioctl = dealbox_ioctl_find((unsigned int)request);
	int ret;

	if (ioctl && ioctl->owner && p->observe)
		return -EBADF;
	if (p->gone)
		return -ENODEV;
	ret = hand_call(&p->hand, request, arg, (uint32_t)getpid(), now_ns());
	wake_update(p);
	return ret;
}

static ssize_t person_read(void *self, struct dealbox_event *events, size_t max)
{
	struct person *p = self;
	size_t count = 0;

	if (p->terminal.fd >= 0 && !p->gone)
		pump_terminal(p);
	if (p->device.fd >= 0 && !p->gone)
		pump_device(p);
	while (count < max && dealbox_queue_pop(&p->hand.queue, &events[count]))
		count++;
	wake_update(p);
	if (count)
		return (ssize_t)count;
	return p->gone ? -ENODEV : -EAGAIN;
}

static void person_hand(void *self, struct dealbox_prompt *out)
{
	hand_view(&((struct person *)self)->hand, out);
}

static void person_count_from(void *self, uint32_t insertion)
{
	hand_count_from(&((struct person *)self)->hand, insertion);
}

static void person_close(void *self)
{
	struct person *p = self;

	if (p->terminal.fd >= 0) {
		tcsetattr(p->terminal.fd, TCSANOW, &p->before);
		close(p->terminal.fd);
	}
	let_go(p);
	if (p->device.fd >= 0)
		close(p->device.fd);
	if (p->wake_fd >= 0)
		close(p->wake_fd);
	if (p->epoll_fd >= 0)
		close(p->epoll_fd);
	hand_codes_free(&p->codes);
	explicit_bzero(p, sizeof(*p));
	free(p);
}

/* ---- opening --------------------------------------------------------------- */

/* The parts of an address. They point into text. */
struct place {
	char text[256];
	const char *device, *codes, *language;
};

/* Returns false if an option is unknown. */
static bool parse(const char *text, struct place *place)
{
	char *option;

	snprintf(place->text, sizeof(place->text), "%s", text);
	place->device = place->text;
	while ((option = strrchr(place->text, ','))) {
		if (!strncmp(option, ",codes=", 7))
			place->codes = option + 7;
		else if (!strncmp(option, ",lang=", 6))
			place->language = option + 6;
		else
			break;
		*option = '\0';
	}
	/* a name may have a comma, but not one like these options */
	return strlen(text) < sizeof(place->text) && !(*place->device == ',');
}

static int open_codes(struct person *p, const char *path, struct dealbox_error *reason)
{
	FILE *file = fopen(path, "re");
	char *text = file ? calloc(1, CODES_SIZE + 1) : NULL;
	const char *why = "out of memory";
	unsigned int line = 0;
	char where[32] = "";
	int err = -ENOMEM;

	if (!file)
		return error_set(reason, -errno, 0, "check its name and its permissions",
				 "cannot read %s: %m", path);
	if (text && fread(text, 1, CODES_SIZE, file) < CODES_SIZE && !ferror(file))
		err = hand_codes_read(&p->codes, text, &line, &why);
	else if (text)
		why = "this is no file of codes";
	free(text);
	fclose(file);
	if (!err)
		return 0;
	if (line)
		snprintf(where, sizeof(where), ", line %u", line);
	return error_set(reason, err == -ENOMEM ? err : -EINVAL, line,
			 "each line is a bar code, and a card such as SA; or scan a sorted pack, "
			 "spade ace first",
			 "%s%s: %s", path, where, why);
}

static int open_terminal(struct person *p, const char *path, struct dealbox_error *reason)
{
	struct termios keys;

	p->terminal.fd = open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (p->terminal.fd < 0 || tcgetattr(p->terminal.fd, &p->before)) {
		if (p->terminal.fd >= 0)
			close(p->terminal.fd);
		p->terminal.fd = -1;
		return error_set(reason, -ENOTTY, 0, "run the command in a terminal",
				 "hand: needs the keyboard of a terminal");
	}
	keys = p->before;
	/* Ctrl-C still is a signal, and Enter a line feed. */
	keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	keys.c_cc[VMIN] = 1;
	keys.c_cc[VTIME] = 0;
	tcsetattr(p->terminal.fd, TCSAFLUSH, &keys);
	return 0;
}

static int open_device(struct person *p, const char *device, struct dealbox_error *reason)
{
	p->device.fd = open(device, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (p->device.fd >= 0)
		return grab(p, device, reason);
	if (errno == EACCES)
		return reason_permission(reason, device, "join the group of the device");
	return error_set(reason, -errno, 0, "plug it in; /dev/input/by-id has the names of devices",
			 "cannot open hand:%s: %m", device);
}

static int watch(const struct person *p, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	return fd < 0 ? 0 : epoll_ctl(p->epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

static int open_sources(struct person *p, const struct place *place, struct dealbox_error *reason)
{
	bool device = *place->device;
	int ret = 0;

	if (place->codes)
		ret = open_codes(p, place->codes, reason);
	if (!ret && device)
		ret = open_device(p, place->device, reason);
	/* beside a device, the terminal is where worn cards are typed */
	if (!ret)
		ret = open_terminal(p, TERMINAL, reason);
	if (ret && device && p->evdev && ret == -ENOTTY)
		ret = 0;
	p->device.lines = device && place->codes;
	p->terminal.lines = !device && place->codes;
	return ret;
}

static int person_open(struct dealbox_machine *machine, const char *text, bool observe)
{
	struct dealbox_error *reason = &machine->reason;
	struct person *p;
	struct place place = { 0 };
	int ret;

	if (!parse(text, &place))
		return error_set(reason, -EINVAL, 0,
				 "use hand:, hand:DEVICE or hand:DEVICE,codes=FILE,lang=nb",
				 "'hand:%s' is not the address of a machine", text);
	p = calloc(1, sizeof(*p));
	if (!p)
		return error_set(reason, -ENOMEM, 0, NULL, "out of memory");
	p->observe = observe;
	p->terminal.fd = p->device.fd = p->wake_fd = p->epoll_fd = -1;
	if (hand_init(&p->hand, place.language, now_ns()))
		ret = open_sources(p, &place, reason);
	else
		ret = error_set(reason, -EINVAL, 0, "use lang=nb, el, fr, ru or en",
				"hand: knows no letters of the language '%s'", place.language);
	if (ret) {
		person_close(p);
		return ret;
	}
	p->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	p->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (p->epoll_fd < 0 || p->wake_fd < 0 || watch(p, p->wake_fd) || watch(p, p->terminal.fd) ||
	    watch(p, p->device.fd)) {
		ret = error_set(reason, -errno, 0, "close some files", "cannot wait for keys: %m");
		person_close(p);
		return ret;
	}
	wake_update(p);
	machine->self = p;
	machine->fd = p->epoll_fd;
	snprintf(machine->uri, sizeof(machine->uri), "hand:%s", text);
	return 0;
}

const struct backend backend_hand = {
	.scheme = "hand",
	.open = person_open,
	.call = person_call,
	.read = person_read,
	.close = person_close,
	.hand = person_hand,
	.count_from = person_count_from,
};
