/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <string.h>

#include "mutants.h"
#include "wire.h"

#define CODE(name, requirement, machine, what) { #name, requirement, machine, what, MUTANT_##name },
/* a machine whose transfers or events a scenario changes */
#define RULE(name, requirement, machine, what, rule) \
	{ #name, requirement, machine, what, .scenario = rule },
/* a command that is accepted where R-5-1 says STATE, or the other way round */
#define COMMAND(name, request, machine, requirement, state) \
	{ #name "_" #state, requirement, machine, #name " in " #state " is answered otherwise", \
	  MUTANT_NONE, \
	  NULL, request, DEALBOX_STATE_##state },
/* the whole row of a command in the table of R-5-1 */
#define IN_EACH_STATE(name, request, machine, in_done) \
	COMMAND(name, request, machine, "R-5-1", IDLE) \
	COMMAND(name, request, machine, "R-5-1", DEALING) \
	COMMAND(name, request, machine, "R-5-1", PAUSED) \
	COMMAND(name, request, machine, "R-5-1", HELD) \
	COMMAND(name, request, machine, "R-5-1", FAULT) \
	COMMAND(name, request, machine, in_done, DONE)

static const struct mutant mutants[] = {
	CODE_MUTANTS(CODE)
	MAKER_MUTANTS(CODE)
	IN_EACH_STATE(load, WIRE_LOAD, PLAIN, "R-5-1")
	IN_EACH_STATE(set_param, WIRE_SET_PARAM, PLAIN, "R-5-1")
	IN_EACH_STATE(start, DEALBOX_OP_START, PLAIN, "R-5.2-3")
	IN_EACH_STATE(test_deal, DEALBOX_OP_TEST_DEAL, PLAIN, "R-5.2-3")
	IN_EACH_STATE(pause, DEALBOX_OP_PAUSE, PLAIN, "R-5-1")
	IN_EACH_STATE(resume, DEALBOX_OP_RESUME, PLAIN, "R-5-1")
	IN_EACH_STATE(reread, DEALBOX_OP_REREAD, PLAIN, "R-5-1")
	IN_EACH_STATE(abort, DEALBOX_OP_ABORT, PLAIN, "R-5-1")
	IN_EACH_STATE(clear_fault, DEALBOX_OP_CLEAR_FAULT, PLAIN, "R-5-1")
	IN_EACH_STATE(release_board, DEALBOX_OP_RELEASE_BOARD, IS_LOCKED, "R-5-1")
	IN_EACH_STATE(locate, DEALBOX_OP_LOCATE, PLAIN, "R-5-1")
	IN_EACH_STATE(attest, WIRE_ATTEST, IS_ATTESTING, "R-5-1")
	RULE(device_class, "R-1-8", PLAIN, "bDeviceClass is ff",
	     "on descriptor device always: set 4 ff")
	RULE(no_serial, "R-1-4", PLAIN, "there is no serial number",
	     "on descriptor device always: set 16 00")
	RULE(endpoint_count, "R-1-1", PLAIN, "bNumEndpoints is 4",
	     "on descriptor config always: set 13 04")
	RULE(bulk_size, "R-1-5", PLAIN, "bulk OUT has packets of 1024 bytes",
	     "on descriptor config always: set 46 0004")
	RULE(two_transactions, "R-1-6", PLAIN, "interrupt IN has two transactions in a microframe",
	     "on descriptor config always: set 53 0009")
	RULE(reader_kind, "R-1.1-1", PLAIN, "bReader is 7",
	     "on descriptor config always: set 21 07")
	RULE(both_kinds, "R-1.1-7", PLAIN, "stored plan and host-routed at once",
	     "on descriptor config always: set 30 e7")
	RULE(no_modes, "R-1.1-8", PLAIN, "neither by card nor by position",
	     "on descriptor config always: set 31 01")
	RULE(deadline, "R-1.1-4", PLAIN, "a stored-plan machine has a gate deadline",
	     "on descriptor config always: set 34 01")
	RULE(no_deadline, "R-1.1-3", IS_ROUTED, "a host-routed machine has no gate deadline",
	     "on descriptor config always: set 34 00000000")
	RULE(descriptor_reserved, "R-0-2", PLAIN, "a reserved field of the machine descriptor is 1",
	     "on descriptor config always: set 40 01")
	RULE(info_version, "R-0-1", PLAIN, "wProtocol of GET_INFO has the high byte first",
	     "on request GET_INFO always: set 0 0110")
	RULE(info_reserved, "R-0-2", PLAIN, "a reserved byte of GET_INFO is 1",
	     "on request GET_INFO always: set 63 01")
	RULE(status_reserved, "R-0-2", PLAIN, "a reserved byte of GET_STATUS is 1",
	     "on request GET_STATUS always: set 15 01")
	RULE(event_reserved, "R-0-2", PLAIN, "reserved bytes of CARD_READ are not 0",
	     "on event CARD_READ every 3: set 2 0100")
	RULE(slow_answer, "R-2-3", PLAIN, "GET_COUNTERS takes 600 ms",
	     "on request GET_COUNTERS always: delay 600")
	RULE(describe_short, "R-2.1-8", IS_ASKED, "DESCRIBE has 20 bytes",
	     "on request 0x00 always: short 20")
	RULE(short_answer, "R-2.1-1", PLAIN, "GET_INFO has 63 bytes",
	     "on request GET_INFO always: short 63")
	RULE(long_answer, "R-2.1-1", PLAIN, "GET_RESULT has 17 bytes",
	     "on request GET_RESULT always: long 17")
	RULE(accepted_stall, "R-2.2-2", PLAIN, "LOCATE is carried out and stalled",
	     "on request LOCATE always: status EPIPE")
	RULE(empty_packet, "R-4-3", PLAIN, "an empty packet comes among the events",
	     "on transfer nth 6: bytes")
	RULE(half_event, "R-4-1", PLAIN, "a transfer has half an event",
	     "on transfer every 6: short 48")
	RULE(number_skipped, "R-4-5", PLAIN, "an event is numbered and not sent",
	     "on event CARD_ROUTED nth 5: drop")
	RULE(event_twice, "R-4-5", PLAIN, "an event is sent twice",
	     "on event CARD_LANDED nth 5: duplicate")
	RULE(landed_pocket, "R-4.2-1", PLAIN, "CARD_LANDED has another pocket; "
					      "the counts are right",
	     "on event CARD_LANDED position 1 always: set 18 03")
	RULE(routed_pocket, "R-3-12", PLAIN, "CARD_ROUTED has another pocket than the plan",
	     "on event CARD_ROUTED position 1 always: set 18 00")
	RULE(read_untold, "R-4.2-2", PLAIN, "a card is let into its pocket without CARD_READ",
	     "on event CARD_READ position 2 always: set 0 f0")
	RULE(gate_pocket, "R-6-4", IS_ROUTED, "CARD_ROUTED has another pocket "
					      "than the gate command",
	     "on event CARD_ROUTED position 1 always: set 18 00")
	RULE(routed_blind, "R-6-10", IS_ROUTED_BLIND, "a machine without reader names a card",
	     "on event CARD_READ position 2 always: set 17 05")
	RULE(routed_card, "R-4.2-1", PLAIN, "CARD_ROUTED names another card",
	     "on event CARD_ROUTED position 4 always: set 17 07")
	RULE(position_high, "R-4-10", PLAIN, "CARD_READ has the position 80",
	     "on event CARD_READ position 2 always: set 16 50")
	RULE(poor_reading, "R-4-13", PLAIN, "a reading of quality 30 names its card",
	     "on event CARD_READ position 2 always: set 19 1e")
	RULE(landed_code, "R-4-6", PLAIN, "CARD_LANDED has a code",
	     "on event CARD_LANDED position 2 always: set 20 01")
	RULE(routed_flags, "R-4-4", PLAIN, "CARD_ROUTED has a flag",
	     "on event CARD_ROUTED position 3 always: set 1 01")
	RULE(event_insertion, "R-4-4", PLAIN, "CARD_LANDED has the insertion 0",
	     "on event CARD_LANDED position 3 always: set 12 00000000")
	RULE(done_counts, "R-4.2-1", PLAIN, "DEAL_DONE has a card too many in pocket 1",
	     "on event DEAL_DONE always: set 25 09")
	RULE(done_plan, "R-4.2-1", PLAIN, "DEAL_DONE has another plan number",
	     "on event DEAL_DONE always: set 20 01")
	RULE(started_cards, "R-4.2-1", PLAIN, "DEAL_STARTED has one card",
	     "on event DEAL_STARTED always: set 24 01")
	RULE(loaded_number, "R-4.2-1", PLAIN, "PLAN_LOADED has another plan number",
	     "on event PLAN_LOADED always: set 20 01")
	RULE(paused_position, "R-4-15", PLAIN, "PAUSED has the position of the card before",
	     "on event PAUSED always: set 16 01")
	RULE(jam_code, "R-4.3-1", PLAIN, "JAM does not say where", "on event JAM always: set 20 00")
	RULE(wrong_pocket_right, "R-4.3-1", PLAIN, "WRONG_POCKET has another right pocket",
	     "on event WRONG_POCKET always: set 24 07")
	RULE(pulled_insertion, "R-4.3-1", PLAIN, "BOARD_PULLED has the insertion 0",
	     "on event BOARD_PULLED always: set 12 00000000")
	RULE(let_go, "R-4.1-1", PLAIN, "a key that is let go is not told",
	     "on event KEY every 2: drop")
	RULE(lost_reason, "R-1.2-2", PLAIN, "the reason of STATE_LOST is always 1",
	     "on event STATE_LOST always: set 20 01")
	RULE(inserted_flag, "R-5.2-7", PLAIN, "each board was there at power-on",
	     "on event BOARD_INSERTED always: set 1 02")
	RULE(good_plan, "R-3-12", PLAIN, "every fifth plan is refused",
	     "on plan every 5: refuse PLAN 32")
	RULE(identity_key, "R-5.3-3", IS_ATTESTING, "the key id is not that of the key",
	     "on request GET_IDENTITY always: set 8 00")
	RULE(statement_magic, "R-5.3-14", IS_ATTESTING, "the magic of the statement is wrong",
	     "on request GET_STATEMENT always: set 0 45")
	RULE(statement_plan, "R-5.3-15", IS_ATTESTING, "the statement does not say "
						       "that there is a plan",
	     "on request GET_STATEMENT always: set 6 01")
	RULE(signature, "R-5.3-16", IS_ATTESTING, "the signature is wrong",
	     "on request GET_SIGNATURE always: set 40 0000")
	RULE(attested_insertion, "R-5.3-7", IS_ATTESTING, "ATTESTED has the insertion 0",
	     "on event ATTESTED always: set 28 00000000")
	RULE(frame_endpoints, "R-S1-1", IS_SERIAL, "bNumEndpoints is 3",
	     "on descriptor config always: set 13 03")
	RULE(frame_empty, "R-S2-3", IS_SERIAL, "an empty packet comes behind a short one",
	     "on transfer every 9: bytes")
	RULE(frame_refuses, "R-S3-10", IS_SERIAL, "REFUSES_BY_RESULT in the serial dialect",
	     "on request 0x00 always: set 13 1f")
	RULE(frame_sum, "R-S2-1", IS_SERIAL, "a frame has a wrong sum",
	     "on frame EVENT nth 12: bad-sum")
	RULE(frame_tag, "R-S3-2", IS_SERIAL, "an ANSWER has the tag 0",
	     "on frame ANSWER every 9: set 2 00")
	RULE(frame_status, "R-S3-2", IS_SERIAL, "an ANSWER has the status 07",
	     "on frame ANSWER every 9: set 4 07")
	RULE(frame_twice, "R-S3-2", IS_SERIAL, "an ANSWER comes twice",
	     "on frame ANSWER nth 7: duplicate")
	RULE(frame_describe_0, "R-S1-6", IS_SERIAL, "DESCRIBE on endpoint 0 has another answer",
	     "on request 0x00 nth 1: set 6 05")
};

#define MUTANTS	(sizeof(mutants) / sizeof(*mutants))

const struct mutant *mutant_find(const char *name)
{
	size_t i;

	for (i = 0; i < MUTANTS; i++)
		if (!strcmp(name, mutants[i].name))
			return &mutants[i];
	return NULL;
}

void mutants_list(void)
{
	size_t i;

	for (i = 0; i < MUTANTS; i++)
		printf("%s\t%s\t%s\t%s\n", mutants[i].name, mutants[i].requirement,
		       mutants[i].machine, mutants[i].what);
}
