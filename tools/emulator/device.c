/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <linux/crc32.h>
#include <linux/unaligned.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "frame.h"
#include "machine_wire.h"

/* The USB ids are pid.codes' test ids. A product needs its own. */
#define DESC_DEVICE		1
#define DESC_CONFIG		2
#define DESC_STRING		3
#define DESC_INTERFACE		4
#define DESC_ENDPOINT		5

#define REQ_GET_STATUS		0
#define REQ_CLEAR_FEATURE	1
#define REQ_SET_FEATURE		3
#define REQ_SET_ADDRESS		5
#define REQ_GET_DESCRIPTOR	6
#define REQ_GET_CONFIGURATION	8
#define REQ_SET_CONFIGURATION	9
#define REQ_GET_INTERFACE	10
#define REQ_SET_INTERFACE	11

#define FEATURE_HALT		0
#define FEATURE_REMOTE_WAKEUP	1

#define BULK_SIZE	512
#define INT_OUT_SIZE	16

/* Maximum size of a frame that a scenario has corrupted */
#define FRAME_SPOILT_MAX	EFFECT_BYTES_MAX
/* It may be sent twice, followed by a frame that was held back. */
#define STREAM_ROOM		(3 * FRAME_SPOILT_MAX)
#define STREAM_MAX		(2 * STREAM_ROOM)

/* A pending transfer */
struct pending {
	uint64_t tag;
	uint8_t endpoint;
	bool in;
	uint64_t at;		/* time of completion; MACHINE_NEVER = by an event, or never */
	int32_t status;
	uint32_t length, room;
	bool framed;		/* serial dialect: received in a frame with this tag */
	uint8_t tag_in_frame;
	bool late;		/* pass OUT data to the machine when the transfer completes */
	uint8_t *data;		/* IN data, or late OUT data; owned */
};

struct device {
	struct machine *machine;
	struct device_config config;
	uint8_t configuration;
	bool remote_wakeup;
	bool halted[16];	/* index: endpoint number */
	struct pending pending[DEVICE_PENDING_MAX];
	unsigned int count;
	uint32_t submitted;	/* transfers so far */
	struct frame_reader frames;	/* serial dialect: from the host */
	uint8_t stream[STREAM_MAX];	/* serial dialect: to the host */
	size_t stream_length;
	uint8_t kept[FRAME_SPOILT_MAX];	/* a frame to be sent after the next one */
	size_t kept_length;
};

/* As MUTANT(), of a device */
#define BROKEN(d, name)	(machine_view((d)->machine).mutant.code == MUTANT_##name)

struct device *device_new(struct machine *machine, const struct device_config *config)
{
	struct device *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->machine = machine;
	d->config = *config;
	return d;
}

static void drop(struct device *d, unsigned int index)
{
	free(d->pending[index].data);
	d->count--;
	memmove(d->pending + index, d->pending + index + 1,
		(d->count - index) * sizeof(*d->pending));
}

static void restart(struct device *d)
{
	memset(d->halted, 0, sizeof(d->halted));
	memset(&d->frames, 0, sizeof(d->frames));
	d->stream_length = 0;
	d->kept_length = 0;
	if (machine_stream())
		machine_stream()->reset(d->machine, false);
}

void device_detach(struct device *d)
{
	while (d->count)
		drop(d, d->count - 1);
	restart(d);
	if (d->configuration)
		machine_disconnect(d->machine);
	d->configuration = 0;
	d->remote_wakeup = false;
}

void device_free(struct device *d)
{
	if (!d)
		return;
	while (d->count)
		drop(d, d->count - 1);
	free(d);
}

const struct device_config *device_config(const struct device *d)
{
	return &d->config;
}

static bool is_serial(const struct device *d)
{
	return d->config.protocol == FRAME_PROTOCOL;
}

/* Return true if the device has an endpoint for gate commands. */
static bool routed(const struct device *d)
{
	return !is_serial(d) &&
		machine_view(d->machine).desc->capabilities & DEALBOX_CAP_HOST_ROUTED;
}

void device_suspend(struct device *d)
{
	if (BROKEN(d, frame_suspended))
		memset(&d->frames, 0, sizeof(d->frames));
	machine_suspended(d->machine);
}

bool device_configured(const struct device *d)
{
	return d->configuration;
}

bool device_wakes(const struct device *d)
{
	if (BROKEN(d, wakeup_missing))
		return false;
	return d->remote_wakeup && machine_wakes(d->machine);
}

uint32_t device_submitted(const struct device *d)
{
	return d->submitted;
}

uint16_t device_int_out_size(const struct device *d)
{
	return routed(d) ? INT_OUT_SIZE : 0;
}

/* --- descriptors ------------------------------------------------------------------ */

static size_t put(uint8_t *buf, const void *data, size_t length)
{
	memcpy(buf, data, length);
	return length;
}

static size_t device_descriptor(uint8_t *buf)
{
	static const uint8_t descriptor[] = {
		18, DESC_DEVICE, 0x00, 0x02, 0, 0, 0, 64,
		DEVICE_VENDOR & 0xff, DEVICE_VENDOR >> 8, DEVICE_PRODUCT & 0xff,
		DEVICE_PRODUCT >> 8, 0x00, 0x01, 1, 2, 3, 1,
	};

	return put(buf, descriptor, sizeof(descriptor));
}

static size_t endpoint(uint8_t *buf, uint8_t address, uint8_t type, uint16_t size)
{
	/* bInterval 1: 125 µs for interrupt endpoints at high speed */
	const uint8_t descriptor[] = { 7, DESC_ENDPOINT, address, type, size & 0xff, size >> 8,
				       type == 3 };

	return put(buf, descriptor, sizeof(descriptor));
}

static size_t config_descriptor(const struct device *d, uint8_t *buf)
{
	/* self-powered, with remote wakeup, 2 mA from the bus */
	static const uint8_t config[] = { 9, DESC_CONFIG, 0, 0, 1, 1, 0, 0xe0, 1 };
	const bool serial = is_serial(d);
	const uint8_t interface[] = { 9, DESC_INTERFACE, 0, 0, routed(d) ? 3 : 2, WIRE_CLASS,
				      WIRE_SUBCLASS, d->config.protocol, 0 };
	size_t length = put(buf, config, sizeof(config));

	length += put(buf + length, interface, sizeof(interface));
	if (!serial && (!d->config.by_request || BROKEN(d, described_twice))) {
		wire_descriptor_put(buf + length, machine_view(d->machine).desc);
		length += WIRE_DESC_SIZE;
	}
	length += endpoint(buf + length, DEVICE_EP_BULK_OUT, 2, BULK_SIZE);
	if (serial)
		length += endpoint(buf + length, DEVICE_EP_INT_IN, 2, BULK_SIZE);
	else
		length += endpoint(buf + length, DEVICE_EP_INT_IN, 3, d->config.int_in_size);
	if (routed(d))
		length += endpoint(buf + length, DEVICE_EP_INT_OUT, 3, INT_OUT_SIZE);
	buf[2] = length & 0xff;
	buf[3] = length >> 8;
	return length;
}

static size_t string_descriptor(const struct device *d, uint8_t index, uint8_t *buf)
{
	const char *const strings[] = { NULL, "dealbox", d->config.product, d->config.serial };
	size_t length = 2, i;

	if (index == 0) {
		static const uint8_t languages[] = { 4, DESC_STRING, 0x09, 0x04 };

		return put(buf, languages, sizeof(languages));
	}
	if (index >= sizeof(strings) / sizeof(*strings))
		return 0;
	/* The strings of the emulator are ASCII. */
	for (i = 0; strings[index][i]; i++) {
		buf[length++] = strings[index][i];
		buf[length++] = 0;
	}
	buf[0] = length;
	buf[1] = DESC_STRING;
	return length;
}

static int get_descriptor(const struct device *d, uint16_t value, uint8_t *buf)
{
	size_t length = 0;

	switch (value >> 8) {
	case DESC_DEVICE:
		length = device_descriptor(buf);
		break;
	case DESC_CONFIG:
		length = (value & 0xff) == 0 ? config_descriptor(d, buf) : 0;
		break;
	case DESC_STRING:
		length = string_descriptor(d, value & 0xff, buf);
		break;
	}
	return length ? (int)length : -EPIPE;
}

/* --- endpoint 0 ----------------------------------------------------------------------- */

static bool has_endpoint(const struct device *d, uint16_t address)
{
	return address == DEVICE_EP_BULK_OUT || address == DEVICE_EP_INT_IN ||
		(address == DEVICE_EP_INT_OUT && routed(d));
}

static int set_configuration(struct device *d, uint16_t value)
{
	if (value > 1)
		return -EPIPE;
	if (BROKEN(d, configured_once) && value == d->configuration)
		return 0;
	restart(d);
	if (value)
		machine_configure(d->machine);
	else if (d->configuration)
		machine_disconnect(d->machine);
	d->configuration = value;
	return 0;
}

static int endpoint_feature(struct device *d, uint16_t feature, uint16_t address, bool set)
{
	if (feature != FEATURE_HALT || !d->configuration || !has_endpoint(d, address))
		return -EPIPE;
	d->halted[address & 15] = set;
	/* R-S1-3: an incomplete frame is discarded */
	if (!set && address == DEVICE_EP_BULK_OUT && !BROKEN(d, frame_kept))
		memset(&d->frames, 0, sizeof(d->frames));
	if (!set && address == DEVICE_EP_BULK_OUT && machine_stream())
		machine_stream()->reset(d->machine, true);
	return 0;
}

/* Returns the size of the answer, 0 for a request without one, or -EPIPE. */
static int standard_request(struct device *d, const uint8_t *setup, uint8_t *buf)
{
	uint16_t value = setup[2] | setup[3] << 8, index = setup[4] | setup[5] << 8;

	switch (setup[0] << 8 | setup[1]) {
	case 0x8000 | REQ_GET_STATUS:
		buf[0] = 1 | d->remote_wakeup << 1;
		buf[1] = 0;
		return 2;
	case 0x8100 | REQ_GET_STATUS:
		memset(buf, 0, 2);
		return index == 0 && d->configuration ? 2 : -EPIPE;
	case 0x8200 | REQ_GET_STATUS:
		if ((index & 15) && !(d->configuration && has_endpoint(d, index)))
			return -EPIPE;
		buf[0] = d->halted[index & 15];
		buf[1] = 0;
		return 2;
	case 0x0000 | REQ_CLEAR_FEATURE:
	case 0x0000 | REQ_SET_FEATURE:
		if (value != FEATURE_REMOTE_WAKEUP)
			return -EPIPE;
		d->remote_wakeup = setup[1] == REQ_SET_FEATURE;
		return 0;
	case 0x0200 | REQ_CLEAR_FEATURE:
	case 0x0200 | REQ_SET_FEATURE:
		return endpoint_feature(d, value, index, setup[1] == REQ_SET_FEATURE);
	case 0x0000 | REQ_SET_ADDRESS:
		return 0;
	case 0x8000 | REQ_GET_DESCRIPTOR:
		return get_descriptor(d, value, buf);
	case 0x8000 | REQ_GET_CONFIGURATION:
		buf[0] = d->configuration;
		return 1;
	case 0x0000 | REQ_SET_CONFIGURATION:
		return set_configuration(d, value);
	case 0x8100 | REQ_GET_INTERFACE:
		buf[0] = 0;
		return d->configuration && index == 0 ? 1 : -EPIPE;
	case 0x0100 | REQ_SET_INTERFACE:
		return d->configuration && index == 0 && value == 0 ? 0 : -EPIPE;
	default:
		return -EPIPE;
	}
}

/* How the transfer of a command ends that the machine refuses. */
static int refusal(const struct device *d)
{
	return machine_view(d->machine).desc->capabilities & DEALBOX_CAP_REFUSES_BY_RESULT &&
		!BROKEN(d, refusal_stalled) ? 0 : -EPIPE;
}

static int vendor_request(struct device *d, const struct transfer *transfer, bool framed,
			  uint8_t *buf)
{
	const uint8_t *setup = transfer->setup;
	uint16_t value = setup[2] | setup[3] << 8, index = setup[4] | setup[5] << 8;
	size_t length;

	if (BROKEN(d, index_last) && index && setup[0] == WIRE_REQ_OUT)
		machine_command(d->machine, setup[1], value, transfer->data, transfer->length);
	if (BROKEN(d, index_high))
		index &= 255;
	if (!d->configuration || (index != 0 && !BROKEN(d, index_ignored)))
		return -EPIPE;
	/* in frames, and in each dialect on endpoint 0 */
	if (setup[0] == WIRE_REQ_IN && setup[1] == WIRE_DESCRIBE) {
		wire_descriptor_put(buf, machine_view(d->machine).desc);
		return value && !BROKEN(d, frame_describe) ? -EPIPE : WIRE_DESC_SIZE;
	}
	if (framed != is_serial(d) && !BROKEN(d, frame_endpoint_0))
		return -EPIPE;
	if (setup[0] == WIRE_REQ_IN || (BROKEN(d, recipient) && setup[0] == (WIRE_REQ_IN & ~1))) {
		length = machine_query(d->machine, setup[1], value, buf);
		if (BROKEN(d, padded) && length && length < setup[6])
			memset(buf + length, 0, setup[6] - length), length = setup[6];
		return length ? (int)length : -EPIPE;
	}
	if (setup[0] != WIRE_REQ_OUT)
		return -EPIPE;
	return machine_command(d->machine, setup[1], value, transfer->data, transfer->length) ?
		0 : refusal(d);
}

/* --- transfers ---------------------------------------------------------------------------- */

/* Effects of a scenario on a transfer */
struct spoil {
	uint64_t delay;		/* µs */
	bool stall;		/* not executed, stalled */
	bool ignore;		/* not executed, not answered */
	bool no_answer;		/* executed, not answered */
	bool drop, duplicate, bad_sum, swap;	/* for frames */
	int32_t status;		/* 0 = unchanged */
	uint32_t short_to, long_to;	/* EFFECT_NONE = unchanged */
	const struct effect *bytes, *set, *refuse;
	struct { enum action action; uint32_t value[2]; } world[4];	/* afterwards */
	unsigned int world_count;
};

static struct spoil spoil_of(struct device *d, enum hook hook, uint8_t name)
{
	struct happening happening = machine_happening(d->machine, hook, name);
	struct spoil spoil = { .short_to = EFFECT_NONE, .long_to = EFFECT_NONE };
	const struct effect *effect;
	unsigned int cursor = 0;

	while ((effect = scenario_next(machine_scenario(d->machine), &happening, &cursor))) {
		switch (effect->action) {
		case ACTION_DELAY:
			spoil.delay = effect->value[0] * 1000ULL;
			break;
		case ACTION_STALL:
			spoil.stall = true;
			break;
		case ACTION_IGNORE:
			spoil.ignore = true;
			break;
		case ACTION_NO_ANSWER:
			spoil.no_answer = true;
			break;
		case ACTION_DROP:
			spoil.drop = true;
			break;
		case ACTION_DUPLICATE:
			spoil.duplicate = true;
			break;
		case ACTION_BAD_SUM:
			spoil.bad_sum = true;
			break;
		case ACTION_SWAP:
			spoil.swap = true;
			break;
		case ACTION_STATUS:
			spoil.status = -(int32_t)effect->value[0];
			break;
		case ACTION_SHORT:
			spoil.short_to = effect->value[0];
			break;
		case ACTION_LONG:
			spoil.long_to = effect->value[0];
			break;
		case ACTION_BYTES:
			spoil.bytes = effect;
			break;
		case ACTION_SET:
			spoil.set = effect;
			break;
		case ACTION_REFUSE:
			spoil.refuse = effect;
			break;
		default:
			if (effect->action < ACTION_PULL || spoil.world_count == 4)
				break;
			spoil.world[spoil.world_count].action = effect->action;
			memcpy(spoil.world[spoil.world_count++].value, effect->value,
			       sizeof(effect->value));
			break;
		}
	}
	return spoil;
}

static void spoil_world(struct device *d, const struct spoil *spoil)
{
	unsigned int i;

	for (i = 0; i < spoil->world_count; i++)
		machine_act(d->machine, spoil->world[i].action, spoil->world[i].value);
}

/* Complete a transfer with data, whose length a scenario may change. */
static void answer(struct pending *p, uint64_t now, const struct spoil *spoil, int32_t status,
		   const uint8_t *data, uint32_t length)
{
	uint8_t buf[DEVICE_DATA_MAX] = { 0 };

	if (data)
		memcpy(buf, data, length);
	if (spoil->bytes) {
		length = spoil->bytes->length;
		memcpy(buf, spoil->bytes->bytes, length);
	}
	if (spoil->set)
		memcpy(buf + spoil->set->value[0], spoil->set->bytes, spoil->set->length);
	if (spoil->short_to < length)
		length = spoil->short_to;
	if (spoil->long_to != EFFECT_NONE && spoil->long_to > length)
		length = spoil->long_to;
	if (length > p->room) {
		/* A host controller stores what fits, and reports babble. */
		length = p->room;
		if (spoil->bytes || spoil->long_to != EFFECT_NONE)
			status = -EOVERFLOW;
	}
	if (spoil->status)
		status = spoil->status;
	if (p->in && length) {
		p->data = malloc(length);
		if (!p->data)
			length = 0;
		else
			memcpy(p->data, buf, length);
	}
	p->status = status;
	p->length = length;
	p->at = spoil->no_answer ? MACHINE_NEVER : now + spoil->delay;
}

static void stall(struct device *d, struct pending *p, uint64_t now, uint64_t delay)
{
	/* In the serial dialect, only the frame is refused: the endpoint is not halted. */
	if ((p->endpoint & 15) && !p->framed)
		d->halted[p->endpoint & 15] = true;
	p->status = -EPIPE;
	p->at = now + delay;
}

/* Return true if a transfer is ignored or stalled, so that the machine does not see it. */
static bool unanswered(struct device *d, struct pending *p, uint64_t now, const struct spoil *spoil)
{
	if (!spoil->stall && !spoil->ignore)
		return false;
	if (!spoil->ignore)
		stall(d, p, now, spoil->delay);
	spoil_world(d, spoil);
	return true;
}

static void control(struct device *d, uint64_t now, const struct transfer *transfer,
		    struct pending *p)
{
	const uint8_t *setup = transfer->setup;
	uint32_t wanted = setup[6] | setup[7] << 8;
	struct spoil spoil = { .short_to = EFFECT_NONE, .long_to = EFFECT_NONE };
	uint8_t buf[512];
	int length;

	p->in = setup[0] & 0x80;
	if (p->in && p->room > wanted)
		p->room = wanted;
	if ((setup[0] & 0x60) == 0x40)
		spoil = spoil_of(d, HOOK_REQUEST, setup[1]);
	else if (setup[0] == 0x80 && setup[1] == REQ_GET_DESCRIPTOR)
		spoil = spoil_of(d, HOOK_DESCRIPTOR, setup[3]);
	else if (!(setup[0] & 0x60))
		spoil = spoil_of(d, HOOK_STANDARD, setup[1]);
	if (unanswered(d, p, now, &spoil))
		return;
	if (spoil.refuse && !p->in) {
		machine_refuse(d->machine, setup[1], transfer->data, transfer->length,
			       spoil.refuse->value[0],
			       spoil.refuse->value[1] == EFFECT_NONE ? 0 : spoil.refuse->value[1]);
		length = refusal(d);
	} else if ((setup[0] & 0x60) == 0x40) {
		length = vendor_request(d, transfer, p->framed, buf);
	} else {
		length = standard_request(d, setup, buf);
	}
	if (length < 0)
		answer(p, now, &spoil, length, NULL, 0);
	else
		answer(p, now, &spoil, 0, p->in ? buf : NULL,
		       p->in ? (uint32_t)length : transfer->length);
	spoil_world(d, &spoil);
}

/* Passes data of a bulk or interrupt OUT endpoint to the machine. Returns false for a stall. */
static bool take(struct device *d, const struct pending *p, const uint8_t *data)
{
	if (p->endpoint == DEVICE_EP_BULK_OUT)
		return machine_bulk(d->machine, data, p->room);
	/* The data of a failed transfer never arrived. */
	if (!p->status)
		machine_gate(d->machine, data, p->room);
	return true;
}

static void out(struct device *d, uint64_t now, const struct transfer *transfer,
		struct pending *p)
{
	bool bulk = transfer->endpoint == DEVICE_EP_BULK_OUT;
	struct spoil spoil;

	if (d->halted[transfer->endpoint & 15]) {
		stall(d, p, now, 0);
		return;
	}
	spoil = spoil_of(d, bulk ? HOOK_PLAN : HOOK_ROUTE, 0);
	if (unanswered(d, p, now, &spoil))
		return;
	if (spoil.refuse)
		machine_refuse_plan(d->machine, spoil.refuse->value[0],
				    spoil.refuse->value[1] == EFFECT_NONE ? 0 :
				    spoil.refuse->value[1]);
	answer(p, now, &spoil, 0, NULL, p->room);
	if (spoil.delay && !spoil.no_answer) {
		/* The endpoint is busy until then. */
		p->data = malloc(p->room ? p->room : 1);
		p->late = p->data;
		if (p->late)
			memcpy(p->data, transfer->data, p->room);
	} else if (!take(d, p, transfer->data)) {
		stall(d, p, now, 0);
	}
	spoil_world(d, &spoil);
}

static struct pending *begin(struct device *d, const struct transfer *transfer)
{
	struct pending *p;

	if (d->count == DEVICE_PENDING_MAX)
		drop(d, 0);
	p = &d->pending[d->count++];
	*p = (struct pending){
		.tag = transfer->tag, .endpoint = transfer->endpoint,
		.in = transfer->endpoint & 0x80, .at = MACHINE_NEVER,
		.room = transfer->length < DEVICE_DATA_MAX ? transfer->length : DEVICE_DATA_MAX,
	};
	return p;
}

/* --- serial dialect: frames are handled as transfers of the native one -------------------- */

static void framed_request(struct device *d, uint64_t now, const struct frame *frame)
{
	const uint8_t *payload = frame->payload;
	struct transfer transfer = { .length = frame->length - FRAME_REQUEST_HEADER };
	bool in = frame->length == FRAME_REQUEST_HEADER;
	struct pending *p;

	transfer.setup[0] = in ? WIRE_REQ_IN : WIRE_REQ_OUT;
	memcpy(transfer.setup + 1, payload, FRAME_REQUEST_HEADER);
	memcpy(transfer.data, payload + FRAME_REQUEST_HEADER, transfer.length);
	if (in)
		transfer.length = FRAME_PAYLOAD_MAX - FRAME_ANSWER_HEADER;
	transfer.setup[6] = transfer.length;
	p = begin(d, &transfer);
	p->framed = true;
	p->tag_in_frame = frame->tag;
	control(d, now, &transfer, p);
}

static void framed_out(struct device *d, uint64_t now, const struct frame *frame,
		       uint8_t address)
{
	struct transfer transfer = { .endpoint = address, .length = frame->length };
	struct pending *p;

	memcpy(transfer.data, frame->payload, frame->length);
	p = begin(d, &transfer);
	p->framed = true;
	out(d, now, &transfer, p);
}

/* Ignores damaged frames, and those of other kinds. */
static void receive_frames(struct device *d, uint64_t now, const uint8_t *data, size_t length)
{
	struct frame frame;

	if (machine_stream()) {
		machine_stream()->take(d->machine, data, length);
		return;
	}
	if (BROKEN(d, frame_whole))
		memset(&d->frames, 0, sizeof(d->frames));
	while (BROKEN(d, frame_skipped) && length >= FRAME_BYTES(0) && data[0] == 0xdb &&
	       length >= (size_t)FRAME_BYTES(data[3]) &&
	       get_unaligned_le32(data + FRAME_HEADER + data[3]) !=
		       ~crc32c(~0, data + 1, 3u + data[3])) {
		length -= FRAME_BYTES(data[3]);
		data += FRAME_BYTES(data[3]);
	}
	while (dealbox_frame_read(&d->frames, &data, &length, &frame)) {
		if (BROKEN(d, frame_behind_noise) && d->frames.dropped) {
			d->frames.dropped = 0;
			continue;
		}
		if ((frame.kind == FRAME_REQUEST || (frame.kind == 4 && BROKEN(d, frame_kind))) &&
		    frame.length >= FRAME_REQUEST_HEADER)
			framed_request(d, now, &frame);
		else if (frame.kind == FRAME_PLAN)
			framed_out(d, now, &frame, DEVICE_EP_BULK_OUT);
		else if (frame.kind == FRAME_GATE && !BROKEN(d, frame_gate))
			framed_out(d, now, &frame, DEVICE_EP_INT_OUT);
	}
}

/* Apply a scenario to a frame and its checksum. Returns the new size. */
static size_t spoil_frame(const struct spoil *spoil, uint8_t *frame, size_t size)
{
	size_t payload = size - FRAME_BYTES(0), i;

	for (i = 0; spoil->set && i < spoil->set->length; i++)
		if (spoil->set->value[0] + i < FRAME_HEADER + payload)
			frame[spoil->set->value[0] + i] = spoil->set->bytes[i];
	if (spoil->set) {
		uint32_t sum = ~crc32c(~0, frame + 1, FRAME_HEADER - 1 + payload);

		put_unaligned_le32(sum, frame + FRAME_HEADER + payload);
	}
	if (spoil->bad_sum)
		frame[size - 1] ^= 1;
	if (spoil->bytes) {
		size = spoil->bytes->length;
		memcpy(frame, spoil->bytes->bytes, size);
	}
	if (spoil->short_to < size)
		size = spoil->short_to;
	if (spoil->long_to != EFFECT_NONE)
		for (; size < spoil->long_to && size < FRAME_SPOILT_MAX; size++)
			frame[size] = 0;
	return size;
}

static void put_frame(struct device *d, const uint8_t *frame, size_t size)
{
	memcpy(d->stream + d->stream_length, frame, size);
	d->stream_length += size;
}

/* The payload is at frame + FRAME_HEADER; frame has room for FRAME_SPOILT_MAX bytes. */
static void send_frame(struct device *d, uint8_t kind, uint8_t tag, uint8_t *frame, size_t length)
{
	struct spoil spoil = spoil_of(d, HOOK_FRAME, kind);
	size_t size = spoil_frame(&spoil, frame, dealbox_frame_seal(frame, kind, tag, length));

	if (spoil.swap && !d->kept_length) {
		memcpy(d->kept, frame, size);
		d->kept_length = size;
	} else if (!spoil.drop) {
		put_frame(d, frame, size);
		if (spoil.duplicate)
			put_frame(d, frame, size);
		put_frame(d, d->kept, d->kept_length);
		d->kept_length = 0;
	}
	spoil_world(d, &spoil);
}

static bool stream_has_room(const struct device *d)
{
	return d->stream_length + STREAM_ROOM <= sizeof(d->stream);
}

/* The frames of a transfer are processed even if it ends with an error. */
static void stream_out(struct device *d, uint64_t now, const struct transfer *transfer,
		       struct pending *p)
{
	struct spoil spoil;

	if (d->halted[transfer->endpoint & 15]) {
		stall(d, p, now, 0);
		return;
	}
	spoil = spoil_of(d, HOOK_STREAM, 0);
	if (spoil.stall) {
		stall(d, p, now, spoil.delay);
	} else if (!spoil.ignore) {
		answer(p, now, &spoil, 0, NULL, p->room);
		receive_frames(d, now, transfer->data, transfer->length);
	}
	spoil_world(d, &spoil);
}

static void send_answer(struct device *d, const struct pending *p)
{
	uint8_t frame[FRAME_SPOILT_MAX], *payload = frame + FRAME_HEADER;
	size_t length = p->in && !p->status ? p->length : 0;

	payload[0] = p->status ? FRAME_STALL : FRAME_DONE;
	if (length)
		memcpy(payload + FRAME_ANSWER_HEADER, p->data, length);
	send_frame(d, FRAME_ANSWER, p->tag_in_frame, frame, FRAME_ANSWER_HEADER + length);
}

/* Complete requests from frames that are due. Their answers go into the stream. */
static void reap_framed(struct device *d, uint64_t now)
{
	unsigned int i = 0;

	while (i < d->count) {
		struct pending *p = &d->pending[i];

		if (!p->framed || p->at > now || !stream_has_room(d)) {
			i++;
			continue;
		}
		if (p->late)
			take(d, p, p->data);
		/* Instead of failing like a transfer, the answer is lost. */
		if (!p->endpoint && (!p->status || p->status == -EPIPE))
			send_answer(d, p);
		drop(d, i);
	}
}

/* Fetch at most size bytes of waiting answers and events. */
static size_t fetch_stream(struct device *d, uint8_t *buf, size_t size)
{
	uint8_t frame[FRAME_SPOILT_MAX];

	if (machine_stream())
		return machine_stream()->give(d->machine, buf, size);
	/* Take only what fits: the machine must not run ahead of the host. */
	while (d->stream_length < size && stream_has_room(d) &&
	       !(BROKEN(d, frame_waits) && !d->stream_length) &&
	       machine_fetch(d->machine, frame + FRAME_HEADER, WIRE_EVENT_SIZE))
		send_frame(d, FRAME_EVENT, 0, frame, WIRE_EVENT_SIZE);
	if (size > d->stream_length)
		size = d->stream_length;
	memcpy(buf, d->stream, size);
	d->stream_length -= size;
	memmove(d->stream, d->stream + size, d->stream_length);
	return size;
}

static uint64_t stream_at(const struct device *d)
{
	uint64_t at = machine_stream() ? machine_stream()->ready(d->machine) ? 0 : MACHINE_NEVER :
		d->stream_length ? 0 : BROKEN(d, frame_waits) ? MACHINE_NEVER :
		machine_fetch_at(d->machine);
	unsigned int i;

	for (i = 0; i < d->count; i++)
		if (d->pending[i].framed && d->pending[i].at < at)
			at = d->pending[i].at;
	return at;
}

/* Return when a transfer of events can complete. */
static uint64_t fetch_at(const struct device *d)
{
	return is_serial(d) ? stream_at(d) : machine_fetch_at(d->machine);
}

/* --- queueing ----------------------------------------------------------------------------- */

/*
 * An endpoint completes transfers in order, so this one must not complete before earlier ones. QEMU
 * gives up if they complete in a different order.
 */
static void keep_order(struct device *d, struct pending *p)
{
	struct pending *other;

	for (other = d->pending; other < p; other++)
		if (!other->framed && other->endpoint == p->endpoint &&
		    other->at != MACHINE_NEVER && other->at > p->at)
			p->at = other->at;
}

void device_submit(struct device *d, uint64_t now, const struct transfer *transfer)
{
	struct spoil spoil = spoil_of(d, HOOK_SUBMIT, transfer->endpoint);
	struct pending *p = begin(d, transfer);

	d->submitted++;
	if (transfer->endpoint == 0) {
		control(d, now, transfer, p);
	} else if (!d->configuration || !has_endpoint(d, transfer->endpoint)) {
		stall(d, p, now, 0);
	} else if (!p->in && is_serial(d)) {
		stream_out(d, now, transfer, p);
	} else if (!p->in) {
		out(d, now, transfer, p);
	}
	if (transfer->endpoint && !p->in)
		keep_order(d, p);
	/* A transfer of events stays pending until there is one, see device_reap(). */
	spoil_world(d, &spoil);
}

void device_before_cancel(struct device *d, uint64_t tag)
{
	struct spoil spoil;
	unsigned int i;

	for (i = 0; i < d->count; i++) {
		if (d->pending[i].tag == tag && d->pending[i].endpoint == DEVICE_EP_INT_IN) {
			spoil = spoil_of(d, HOOK_CANCEL, 0);
			spoil_world(d, &spoil);
			return;
		}
	}
}

bool device_cancel(struct device *d, uint64_t tag)
{
	unsigned int i;

	for (i = 0; i < d->count; i++) {
		if (d->pending[i].tag == tag) {
			drop(d, i);
			return true;
		}
	}
	return false;
}

static bool waits_for_event(const struct pending *p)
{
	return p->endpoint == DEVICE_EP_INT_IN && p->at == MACHINE_NEVER && !p->length &&
		!p->status;
}

/* Complete pending transfers of events. */
static void pump(struct device *d, uint64_t now)
{
	unsigned int i;

	reap_framed(d, now);
	for (i = 0; i < d->count; i++) {
		struct pending *p = &d->pending[i];
		uint8_t buf[1024];
		struct spoil spoil;
		size_t length;

		if (!waits_for_event(p))
			continue;
		if (d->halted[DEVICE_EP_INT_IN & 15]) {
			stall(d, p, now, 0);
			continue;
		}
		if (fetch_at(d) > now)
			return;
		spoil = spoil_of(d, HOOK_TRANSFER, 0);
		if (spoil.ignore) {
			p->status = -ETIMEDOUT;	/* never answered, can only be unlinked */
		} else if (spoil.stall) {
			stall(d, p, now, spoil.delay);
		} else if (spoil.status || spoil.bytes) {
			/* The events stay queued, as after a failed transfer. */
			answer(p, now, &spoil, 0, NULL, 0);
		} else {
			length = d->config.int_in_size < p->room ? d->config.int_in_size : p->room;
			if (is_serial(d)) {
				/* In a stream, the rest stays for the next transfer. */
				if (spoil.short_to < length)
					length = spoil.short_to;
				length = fetch_stream(d, buf, length);
				/* A frame that was dropped or held back completes no transfer. */
				if (!length && spoil.short_to)
					continue;
			} else {
				length = machine_fetch(d->machine, buf, length);
			}
			answer(p, now, &spoil, 0, buf, length);
		}
		spoil_world(d, &spoil);
	}
}

bool device_reap(struct device *d, uint64_t now, struct completion *completion)
{
	unsigned int i;

	pump(d, now);
	for (i = 0; i < d->count; i++) {
		struct pending *p = &d->pending[i];

		if (p->framed || p->at > now)
			continue;
		if (p->late && !take(d, p, p->data))
			stall(d, p, now, 0);
		completion->tag = p->tag;
		completion->endpoint = p->endpoint;
		completion->in = p->in;
		completion->status = p->status;
		completion->length = p->length;
		if (p->in && p->data)
			memcpy(completion->data, p->data, p->length);
		drop(d, i);
		return true;
	}
	return false;
}

uint64_t device_next(const struct device *d)
{
	uint64_t next = MACHINE_NEVER;
	unsigned int i;

	for (i = 0; i < d->count; i++) {
		const struct pending *p = &d->pending[i];
		uint64_t at = p->framed ? MACHINE_NEVER : p->at;

		if (waits_for_event(p))
			at = d->halted[DEVICE_EP_INT_IN & 15] ? 0 : fetch_at(d);
		if (at < next)
			next = at;
	}
	return next;
}
