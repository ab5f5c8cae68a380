// SPDX-License-Identifier: LGPL-2.1-or-later
/* Frames of the serial dialect. "R-S..." are requirements of docs/protocol-serial.md. */
#include "serial.h"

#include <string.h>

#include "bytes.h"

#define START		0xdb
#define REQUEST		0x01
#define PLAN		0x02
#define GATE		0x03
#define ANSWER		0x81
#define EVENT		0x82

/* offsets in a frame */
#define AT_KIND		1
#define AT_TAG		2
#define AT_LENGTH	3
#define AT_PAYLOAD	4

#define REQUEST_BYTES	3	/* of the payload, before the data of a command */
#define DONE		0
#define STALL		1

void serial_reset(struct serial *serial)
{
	memset(serial, 0, sizeof(*serial));
}

void serial_discard(struct serial *serial)
{
	serial->have = 0;
}

/* Put the frame around a payload that is there already. Returns its size. */
static uint8_t seal(uint8_t *frame, uint8_t kind, uint8_t tag, uint8_t length)
{
	frame[0] = START;
	frame[AT_KIND] = kind;
	frame[AT_TAG] = tag;
	frame[AT_LENGTH] = length;
	put_u32(frame + AT_PAYLOAD + length, record_crc(frame + AT_KIND, AT_PAYLOAD - 1u + length));
	return (uint8_t)(SERIAL_AROUND + length);
}

static void request(struct serial *serial, struct core *core, uint8_t tag, const uint8_t *payload,
		    uint8_t length)
{
	const uint8_t data = (uint8_t)(length - REQUEST_BYTES);
	const uint8_t setup[8] = { data ? 0x41 : 0xc1, payload[0], payload[1], payload[2],
				   core->config->interface, 0, data ? data : CORE_ANSWER_BYTES };
	uint8_t *answer = serial->answer + AT_PAYLOAD;
	int size = core_control(core, setup, payload + REQUEST_BYTES, data, answer + 1);

	answer[0] = size < 0 ? STALL : DONE;
	size = size < 0 ? 0 : size;
	serial->answer_size = seal(serial->answer, ANSWER, tag, (uint8_t)(1 + size));
}

/* Do what a whole frame says. Other kinds, and impossible lengths, are ignored: R-S2-5 */
static void obey(struct serial *serial, struct core *core)
{
	const uint8_t *payload = serial->in + AT_PAYLOAD, length = serial->in[AT_LENGTH];

	switch (serial->in[AT_KIND]) {
	case REQUEST:
		if (length >= REQUEST_BYTES)
			request(serial, core, serial->in[AT_TAG], payload, length);
		break;
	case PLAN:
		/* there is no endpoint to halt (R-S3-8) */
		core_bulk(core, payload, length);
		break;
	case GATE:
		core_gate(core, payload, length);
		break;
	default:
		break;
	}
}

static void drop(struct serial *serial, uint8_t count)
{
	serial->have = (uint8_t)(serial->have - count);
	memmove(serial->in, serial->in + count, serial->have);
}

/*
 * Look at what has come. Returns how many bytes to drop: 0 if a frame may still become complete, 1
 * if none begins here (R-S2-4), or a whole frame, which is then in place.
 */
static uint8_t look(const struct serial *serial, bool *whole)
{
	const uint8_t length = serial->in[AT_LENGTH];

	*whole = false;
	if (!serial->have)
		return 0;
	if (serial->in[0] != START || (serial->have > AT_LENGTH && length > SERIAL_PAYLOAD))
		return 1;
	if (serial->have <= AT_LENGTH || serial->have < SERIAL_AROUND + length)
		return 0;
	if (record_crc(serial->in + AT_KIND, AT_PAYLOAD - 1u + length) !=
	    get_u32(serial->in + AT_PAYLOAD + length))
		return 1;
	*whole = true;
	return (uint8_t)(SERIAL_AROUND + length);
}

void serial_take(struct serial *serial, struct core *core, const uint8_t *bytes, size_t length)
{
	while (length--) {
		uint8_t done;
		bool whole;

		serial->in[serial->have++] = *bytes++;
		while ((done = look(serial, &whole))) {
			if (whole)
				obey(serial, core);
			drop(serial, done);
		}
	}
}

bool serial_is_ready(const struct serial *serial, const struct core *core)
{
	return serial->out_sent < serial->out_size || serial->answer_size || core->event_count;
}

/* Make the next frame the one that is sent. Returns false if there is none. */
static bool next(struct serial *serial, struct core *core)
{
	serial->out_sent = serial->out_size = 0;
	if (serial->answer_size) {
		memcpy(serial->out, serial->answer, serial->answer_size);
		serial->out_size = serial->answer_size;
		serial->answer_size = 0;
	} else if (core_event(core, serial->out + AT_PAYLOAD)) {
		serial->out_size = seal(serial->out, EVENT, 0, CORE_EVENT_BYTES);
	}
	return serial->out_size;
}

size_t serial_give(struct serial *serial, struct core *core, uint8_t *bytes, size_t room)
{
	size_t given = 0;

	while (given < room) {
		size_t count = (size_t)(serial->out_size - serial->out_sent);

		if (!count) {
			if (!next(serial, core))
				break;
			continue;
		}
		if (count > room - given)
			count = room - given;
		memcpy(bytes + given, serial->out + serial->out_sent, count);
		serial->out_sent = (uint8_t)(serial->out_sent + count);
		given += count;
	}
	return given;
}
