// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The panel: buttons, switches, lamps and a buzzer on the lines of a GPIO chip. One libgpiod
 * request holds all lines. The kernel debounces them and reports edges. If the chip is removed, its
 * emergency stop is gone too, so dealing is forbidden.
 */
#include <errno.h>
#include <glob.h>
#include <string.h>
#include <time.h>

#include <gpiod.h>

#include "log.h"
#include "panel.h"
#include "service.h"
#include "stations.h"

#define BEEP_US		500000
#define APART_US	1000000	/* time for the kernel to clean up after a removed chip */
#define EMERGENCY	(1 << PANEL_EMERGENCY)
#define OUTPUTS		(1 << PANEL_RED | 1 << PANEL_AMBER | 1 << PANEL_GREEN | 1 << PANEL_BUZZER)

static void panel_lost(struct service *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void show_lamps(struct service *s);

static bool at_panel(const struct service *s, const struct station *st)
{
	return !*s->config.machine || !strcmp(s->config.machine, st->id);
}

/* Return the machine of this panel; NULL if it serves all, or the machine was never seen. */
static struct station *the_machine(const struct service *s)
{
	struct station *st;

	for (st = s->stations->first; st && strcmp(s->config.machine, st->id); st = st->next)
		;
	return st;
}

/* ---- buttons and switches ------------------------------------------------------ */

static void press_start(struct service *s)
{
	unsigned int machines = 0, asking = 0;
	enum dealbox_operator_state state;
	struct station *st;
	bool taken = false;

	for (st = s->stations->first; st; st = st->next) {
		state = engine_state(&st->dealing.engine);
		machines += at_panel(s, st);
		asking += at_panel(s, st) && dealbox_operator_ways(state) & DEALBOX_WAY_START;
	}
	for (st = s->stations->first; st; st = st->next) {
		state = engine_state(&st->dealing.engine);
		if (!at_panel(s, st) || !panel_starts(state, machines, asking))
			continue;
		st->dealing.starter = DEALBOX_UID_NONE;
		engine_push(&st->dealing.engine, PUSH_START);
		taken = true;
	}
	if (asking && !taken)
		log_message(MESSAGE_OPERATOR, NULL, NULL,
			    "start was pressed, but several machines wait "
			    "for their own answer: press start at each machine, or in a program");
}

static void press(struct service *s, enum push push)
{
	struct station *st, *only = the_machine(s);

	switch (push) {
	case PUSH_STOP:
		if (*s->config.machine && !only)
			break;
		if (stations_stop(s, only))
			stations_stopped(s, only, DEALBOX_UID_NONE);
		break;
	case PUSH_START:
		press_start(s);
		break;
	default:
		for (st = s->stations->first; st; st = st->next)
			if (at_panel(s, st))
				engine_push(&st->dealing.engine, push);
	}
}

static bool read_lines(struct panel *p)
{
	enum panel_line line;
	int value;

	p->active &= OUTPUTS;
	for (line = 0; line < PANEL_LINES; line++) {
		if (!(p->lines >> line & 1) || panel_rows[line].output)
			continue;
		value = gpiod_line_request_get_value(p->request, p->offsets[line]);
		if (value < 0)
			return false;
		p->active |= (value == GPIOD_LINE_VALUE_ACTIVE) << line;
	}
	return true;
}

/* Return the line at an offset, PANEL_LINES if there is none. */
static enum panel_line line_at(const struct panel *p, unsigned int offset)
{
	enum panel_line line;

	for (line = 0; line < PANEL_LINES; line++)
		if (p->lines >> line & 1 && p->offsets[line] == offset)
			break;
	return line;
}

/*
 * Handle an edge. stopped: it was read early, and a stop was executed then. Ignore other buttons in
 * that case; the operator must press them again.
 */
static void handle(struct service *s, const struct panel_edge *edge, bool stopped)
{
	struct panel *p = s->panel;
	enum panel_line line = line_at(p, edge->offset);
	enum push push;

	if (line == PANEL_LINES)
		return;
	p->active = (p->active & ~(1u << line)) | (unsigned int)edge->active << line;
	/* A lost edge may have been the emergency stop. */
	if (edge->seqno != p->seqno + 1 && p->lines & EMERGENCY) {
		read_lines(p);
		if (!stopped)
			press(s, PUSH_STOP);
	}
	p->seqno = edge->seqno;
	if (!stopped && edge->active && panel_pushes(line, &push))
		press(s, push);
}

/* Read up to count available edges. Returns their number, or -1. */
static int read_edges(struct panel *p, struct panel_edge *edges, unsigned int count)
{
	struct gpiod_edge_event_buffer *buffer = gpiod_edge_event_buffer_new(count);
	struct gpiod_edge_event *event;
	int got, n;

	got = buffer ? gpiod_line_request_read_edge_events(p->request, buffer, count) : -1;
	for (n = 0; n < got; n++) {
		event = gpiod_edge_event_buffer_get_event(buffer, (unsigned long)n);
		edges[n] = (struct panel_edge){
			.offset = gpiod_edge_event_get_line_offset(event),
			.active = gpiod_edge_event_get_event_type(event) ==
				  GPIOD_EDGE_EVENT_RISING_EDGE,
			.seqno = gpiod_edge_event_get_global_seqno(event),
		};
	}
	gpiod_edge_event_buffer_free(buffer);
	return got;
}

int panel_fd(const struct service *s)
{
	const struct panel *p = s->panel;

	/*
	 * Once the array is full, leave edges in the kernel: a full array counts as a stop anyway.
	 */
	return p->request && p->source && p->late_count < PANEL_EDGES ?
	       gpiod_line_request_get_fd(p->request) : -1;
}

void panel_read_early(struct service *s)
{
	struct panel *p = s->panel;
	struct station *only = the_machine(s);
	unsigned int n = p->late_count;
	bool stop;
	int got;

	got = read_edges(p, p->late + n, PANEL_EDGES - n);
	if (got > 0)
		p->late_count += (unsigned int)got;
	/* If reading fails or the array is full, assume a stop. */
	stop = p->lines & EMERGENCY && (got <= 0 || p->late_count == PANEL_EDGES);
	for (; n < p->late_count; n++)
		stop |= p->late[n].active && line_at(p, p->late[n].offset) == PANEL_EMERGENCY;
	if (stop && (only || !*s->config.machine))
		p->stop_news |= stations_stop(s, only);
	p->stopped |= stop;
	sd_event_source_set_enabled(p->later, SD_EVENT_ONESHOT);
}

static int on_later(sd_event_source *source, void *context)
{
	struct service *s = context;
	struct panel *p = s->panel;
	struct panel_edge late[PANEL_EDGES];
	unsigned int n, count = p->late_count;
	bool stopped, news;

	(void)source;
	memcpy(late, p->late, sizeof(late));
	p->late_count = 0;
	stopped = p->stopped;
	p->stopped = false;
	news = p->stop_news;
	p->stop_news = false;
	for (n = 0; n < count; n++)
		handle(s, &late[n], stopped);
	if (news)
		stations_stopped(s, the_machine(s), DEALBOX_UID_NONE);
	stations_run(s);
	return 0;
}

static int on_panel(sd_event_source *source, int fd, uint32_t revents, void *context)
{
	struct panel_edge edges[PANEL_EDGES];
	struct service *s = context;
	int count, n;

	(void)source;
	(void)fd;
	if (revents & (EPOLLHUP | EPOLLERR)) {
		panel_lost(s, "the GPIO chip is gone");
		stations_run(s);
		return 0;
	}
	count = read_edges(s->panel, edges, PANEL_EDGES);
	if (count < 0)
		panel_lost(s, "the lines cannot be read: %s", strerror(errno));
	for (n = 0; n < count; n++)
		handle(s, &edges[n], false);
	stations_run(s);
	return 0;
}

/* Return why the panel forbids this machine to deal, for engine_bar(). */
static enum dealbox_operator_state bar_of(const struct service *s, const struct station *st)
{
	if (!*s->config.chip || !at_panel(s, st))
		return DEALBOX_OPERATOR_NONE;
	return s->panel->request ?
		panel_bars(s->panel->lines, s->panel->active) : DEALBOX_OPERATOR_PANEL;
}

/* ---- lamps and buzzer ------------------------------------------------------------ */

/* Switch these outputs on and the others off. */
static bool switch_outputs(struct panel *p, unsigned int on)
{
	enum panel_line line;

	for (line = 0; line < PANEL_LINES; line++)
		if (p->lines >> line & 1 && panel_rows[line].output &&
		    (p->active ^ on) >> line & 1) {
			if (gpiod_line_request_set_value(p->request, p->offsets[line],
							 on >> line & 1 ? GPIOD_LINE_VALUE_ACTIVE :
							 GPIOD_LINE_VALUE_INACTIVE))
				return false;
			p->active ^= 1u << line;
		}
	return true;
}

static int on_silence(sd_event_source *source, uint64_t now, void *context)
{
	struct service *s = context;

	(void)source;
	(void)now;
	show_lamps(s);
	return 0;
}

static bool beeps(const struct panel *p)
{
	int enabled;

	return p->beep && sd_event_source_get_enabled(p->beep, &enabled) >= 0 && enabled;
}

/* The state of a machine has changed. */
static void beep_for(struct service *s, const struct station *st)
{
	enum dealbox_operator_state state = engine_state(&st->dealing.engine);
	struct panel *p = s->panel;

	if (p->beep && at_panel(s, st) && panel_lamps(state) >> PANEL_RED & 1) {
		sd_event_source_set_time_relative(p->beep, BEEP_US);
		sd_event_source_set_enabled(p->beep, SD_EVENT_ONESHOT);
	}
}

static void show_lamps(struct service *s)
{
	struct panel *p = s->panel;
	unsigned int on = 0;
	struct station *st;

	if (!p->request)
		return;
	for (st = s->stations->first; st; st = st->next)
		if (at_panel(s, st))
			on |= panel_lamps(engine_state(&st->dealing.engine));
	if (*s->config.machine && !the_machine(s))
		on = panel_lamps(DEALBOX_OPERATOR_ABSENT);
	on |= (unsigned int)beeps(p) << PANEL_BUZZER;
	if (!switch_outputs(p, on))
		panel_lost(s, "the lamps cannot be switched: %s", strerror(errno));
}

void panel_notice(struct service *s, const struct notice *notice)
{
	switch (notice->kind) {
	case NOTICE_MACHINE_TURN:
		engine_bar(&notice->station->dealing.engine, bar_of(s, notice->station));
		break;
	case NOTICE_MACHINE_OPERATOR:
		beep_for(s, notice->station);
		break;
	case NOTICE_MACHINES_RUN:
		show_lamps(s);
		break;
	default:
		break;
	}
}

/* ---- hotplug ---------------------------------------------------------------------- */

static void release_gone(struct panel *p)
{
	gpiod_line_request_release(p->gone);
	p->gone = NULL;
}

static int on_apart(sd_event_source *source, uint64_t now, void *context)
{
	struct service *s = context;

	(void)source;
	(void)now;
	release_gone(s->panel);
	/* A new chip, or a reload of the settings, has been waiting for this. */
	panel_open(s);
	return 0;
}

/*
 * The kernel reports the removal of a chip before it has finished. Lines released at that moment
 * have their interrupts freed twice, a use after free (seen on 7.2 with gpio-sim) that causes a
 * warning or an oops. There is no event for the end of the removal, so release the lines after a
 * delay. Request no others before, since their interrupts may have the same numbers.
 */
static void release_later(struct panel *p)
{
	if (!p->request)
		return;
	p->gone = p->request;
	p->request = NULL;
	sd_event_source_set_time_relative(p->apart, APART_US);
	sd_event_source_set_enabled(p->apart, SD_EVENT_ONESHOT);
}

/* Add a timer, disarmed. */
static int add_clock(struct service *s, sd_event_source **clock, sd_event_time_handler_t ring)
{
	int err = *clock ? 0 :
			   sd_event_add_time_relative(s->event, clock, CLOCK_MONOTONIC, 0, 1000,
						      ring, s);

	return err < 0 ? err : sd_event_source_set_enabled(*clock, SD_EVENT_OFF);
}

static void forget(struct panel *p)
{
	p->source = sd_event_source_disable_unref(p->source);
	p->beep = sd_event_source_disable_unref(p->beep);
	p->later = sd_event_source_disable_unref(p->later);
	p->late_count = 0;
	p->lines = p->active = 0;
	p->seqno = 0;
}

static void panel_lost(struct service *s, const char *format, ...)
{
	char wrong[sizeof(s->panel->wrong)];
	va_list ap;

	va_start(ap, format);
	vsnprintf(wrong, sizeof(wrong), format, ap);
	va_end(ap);
	forget(s->panel);
	release_later(s->panel);
	/* Other chips may come and go: do not log the same reason again. */
	if (strcmp(wrong, s->panel->wrong)) {
		memcpy(s->panel->wrong, wrong, sizeof(wrong));
		log_message(MESSAGE_PANEL_LOST, NULL, NULL,
			    "the panel: %s. Dealing is stopped until it works", wrong);
		service_notify(s, &(struct notice){ .kind = NOTICE_PANEL_CHANGED });
	}
	/* The caller may be iterating over the stations. */
	stations_run_later(s);
}

/* Open the chip by path or label. On failure, calls panel_lost() and returns NULL. */
static struct gpiod_chip *open_chip(struct service *s)
{
	struct gpiod_chip *found = NULL, *chip;
	const char *name = s->config.chip;
	unsigned int count = 0, closed = 0;
	struct gpiod_chip_info *info;
	glob_t paths = { 0 };
	int err = ENOENT;
	size_t n;

	glob(*name == '/' ? name : "/dev/gpiochip*", *name == '/' ? GLOB_NOCHECK : 0, NULL, &paths);
	for (n = 0; n < paths.gl_pathc; n++) {
		chip = gpiod_chip_open(paths.gl_pathv[n]);
		if (!chip) {
			err = errno;
			closed += err == EACCES || err == EPERM;
			continue;
		}
		info = gpiod_chip_get_info(chip);
		if (info && (*name == '/' || !strcmp(gpiod_chip_info_get_label(info), name)) &&
		    !count++)
			found = chip;
		else
			gpiod_chip_close(chip);
		gpiod_chip_info_free(info);
	}
	globfree(&paths);
	if (count == 1)
		return found;
	gpiod_chip_close(found);
	if (count)
		panel_lost(s, "%s: [panel] chip: %u chips are labelled '%s'; name one by its path",
			   s->config_path, count, name);
	else if (closed)
		panel_lost(s, "%s: [panel] chip: no permission to open %s'%s'; docs/install.md has "
			      "the udev rule for dealboxd", s->config_path,
			   *name == '/' ? "" : "the GPIO chips and find ", name);
	else if (*name == '/')
		panel_lost(s, "%s: [panel] chip: %s: %s", s->config_path, name, strerror(err));
	else
		panel_lost(s,
			   "%s: [panel] chip: there is no GPIO chip '%s'; `gpiodetect` lists them",
			   s->config_path, name);
	return NULL;
}

/* Find a line by name. On failure, calls panel_lost() and returns false. */
static bool find_line(struct service *s, struct gpiod_chip *chip, enum panel_line line)
{
	struct gpiod_chip_info *chip_info = gpiod_chip_get_info(chip);
	size_t count = chip_info ? gpiod_chip_info_get_num_lines(chip_info) : 0;
	const char *name = s->config.panel[line].name, *other, *key = panel_rows[line].key;
	struct gpiod_line_info *info;
	unsigned int found = 0, n;
	char user[64] = "";
	bool used = false;

	gpiod_chip_info_free(chip_info);
	for (n = 0; n < count; n++) {
		info = gpiod_chip_get_line_info(chip, n);
		other = info ? gpiod_line_info_get_name(info) : NULL;
		if (other && !strcmp(other, name)) {
			found++;
			s->panel->offsets[line] = n;
			used |= gpiod_line_info_is_used(info);
			other = gpiod_line_info_get_consumer(info);
			snprintf(user, sizeof(user), "%s", other ? other : "the kernel");
		}
		gpiod_line_info_free(info);
	}
	if (!found)
		panel_lost(s,
			   "%s: [panel] %s: the chip '%s' has no line '%s'; `gpioinfo` lists them",
			   s->config_path, key, s->config.chip, name);
	else if (found > 1)
		panel_lost(s, "%s: [panel] %s: the chip '%s' has %u lines named '%s'",
			   s->config_path, key, s->config.chip, found, name);
	else if (used)
		panel_lost(s, "%s: [panel] %s: the line '%s' is used by '%s'", s->config_path, key,
			   name, user);
	for (n = 0; found == 1 && !used && n < line; n++)
		if (s->panel->lines >> n & 1 && s->panel->offsets[n] == s->panel->offsets[line]) {
			panel_lost(s, "%s: [panel] %s: the line '%s' is already used for %s",
				   s->config_path, key, name, panel_rows[n].key);
			return false;
		}
	if (found != 1 || used)
		return false;
	s->panel->lines |= 1u << line;
	return true;
}

static int add_line(struct gpiod_line_config *config, const struct panel_setting *setting,
		    bool output, unsigned int offset)
{
	static const enum gpiod_line_bias biases[] = {
		[PANEL_AS_IS] = GPIOD_LINE_BIAS_AS_IS, [PANEL_PULL_UP] = GPIOD_LINE_BIAS_PULL_UP,
		[PANEL_PULL_DOWN] = GPIOD_LINE_BIAS_PULL_DOWN,
	};
	struct gpiod_line_settings *settings = gpiod_line_settings_new();
	int err;

	if (!settings)
		return -1;
	gpiod_line_settings_set_active_low(settings, setting->active_low);
	gpiod_line_settings_set_direction(settings, output ? GPIOD_LINE_DIRECTION_OUTPUT :
					  GPIOD_LINE_DIRECTION_INPUT);
	if (!output) {
		gpiod_line_settings_set_bias(settings, biases[setting->bias]);
		gpiod_line_settings_set_edge_detection(settings, GPIOD_LINE_EDGE_BOTH);
		gpiod_line_settings_set_debounce_period_us(settings, setting->debounce_us);
	}
	err = gpiod_line_config_add_line_settings(config, &offset, 1, settings);
	gpiod_line_settings_free(settings);
	return err;
}

/* Request all lines for exclusive use. On failure, calls panel_lost() and returns false. */
static bool request_lines(struct service *s, struct gpiod_chip *chip)
{
	struct gpiod_request_config *request = gpiod_request_config_new();
	struct gpiod_line_config *config = gpiod_line_config_new();
	enum panel_line line;
	bool good = request && config;

	for (line = 0; good && line < PANEL_LINES; line++)
		if (s->panel->lines >> line & 1)
			good = !add_line(config, &s->config.panel[line], panel_rows[line].output,
					 s->panel->offsets[line]);
	if (good) {
		gpiod_request_config_set_consumer(request, "dealboxd");
		s->panel->request = gpiod_chip_request_lines(chip, request, config);
		good = s->panel->request && read_lines(s->panel);
	}
	if (!good)
		panel_lost(s, "%s: [panel] chip: '%s' refuses its lines with these options: %s",
			   s->config_path, s->config.chip, strerror(errno));
	gpiod_line_config_free(config);
	gpiod_request_config_free(request);
	return good;
}

void panel_open(struct service *s)
{
	struct panel *p = s->panel;
	struct gpiod_chip *chip;
	enum panel_line line;
	bool good = true;
	int err;

	if (!*s->config.chip || p->gone)
		return;
	err = add_clock(s, &p->apart, on_apart);
	if (err < 0) {
		panel_lost(s, "cannot set a timer: %s", strerror(-err));
		return;
	}
	chip = open_chip(s);
	if (!chip)
		return;
	for (line = 0; good && line < PANEL_LINES; line++)
		if (*s->config.panel[line].name)
			good = find_line(s, chip, line);
	good = good && request_lines(s, chip);
	gpiod_chip_close(chip);
	if (!good)
		return;
	err = sd_event_add_io(s->event, &p->source, gpiod_line_request_get_fd(p->request), EPOLLIN,
			      on_panel, s);
	/* The emergency stop has priority over machines and clients. */
	if (err >= 0)
		err = sd_event_source_set_priority(p->source, SD_EVENT_PRIORITY_IMPORTANT);
	/* So do edges that were read early. */
	if (err >= 0)
		err = sd_event_add_defer(s->event, &p->later, on_later, s);
	if (err >= 0)
		err = sd_event_source_set_priority(p->later, SD_EVENT_PRIORITY_IMPORTANT - 1);
	if (err >= 0)
		err = sd_event_source_set_enabled(p->later, SD_EVENT_OFF);
	if (err >= 0)
		err = add_clock(s, &p->beep, on_silence);
	if (err < 0) {
		panel_lost(s, "cannot watch its lines: %s", strerror(-err));
		return;
	}
	*p->wrong = 0;
	log_message(MESSAGE_PANEL, NULL, NULL, "the panel is ready, on %s", s->config.chip);
	service_notify(s, &(struct notice){ .kind = NOTICE_PANEL_CHANGED });
	if (p->active & EMERGENCY)
		press(s, PUSH_STOP);
	else
		stations_run(s);
}

void panel_look(struct service *s)
{
	if (!s->panel->request)
		panel_open(s);
	else if (!read_lines(s->panel))
		panel_lost(s, "the GPIO chip is gone");
}

const char *panel_state(const struct service *s)
{
	return !*s->config.chip ? "" : s->panel->request ? "ready" : s->panel->wrong;
}

void panel_close(struct service *s)
{
	struct panel *p = s->panel;

	/* The chip may be gone before udev has reported it. */
	if (p->request && (!switch_outputs(p, 0) || !read_lines(p)))
		release_later(p);
	forget(p);
	gpiod_line_request_release(p->request);
	p->request = NULL;
	if (!p->gone)
		*p->wrong = 0;
	service_notify(s, &(struct notice){ .kind = NOTICE_PANEL_CHANGED });
}

void panel_end(struct service *s)
{
	struct panel *p = s->panel;
	struct timespec until;
	uint64_t apart;

	if (p->gone && sd_event_source_get_time(p->apart, &apart) >= 0) {
		until = (struct timespec){ (time_t)(apart / 1000000),
					   (long)(apart % 1000000 * 1000) };
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
			;
	}
	release_gone(p);
	p->apart = sd_event_source_disable_unref(p->apart);
}
