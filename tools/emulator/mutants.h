/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Broken machines, to test tests of machines (--mutant): each violates one requirement of
 * docs/protocol.md or docs/protocol-serial.md, and nothing else if possible. A mutant is a row here
 * and a line where the machine behaves otherwise: `if (MUTANT(m, name))`. One that a scenario can
 * describe, or one command in one state, is a row in mutants.c only.
 */
#ifndef EMULATOR_MUTANTS_H
#define EMULATOR_MUTANTS_H

#include <stdint.h>

/* options of the machine that can show it */
#define PLAIN		""
#define IS_ROUTED	"--kind routed"
#define IS_SERIAL	"--dialect serial"
#define IS_LOCKED	"--capabilities by-card,by-position,test-deal,exit-sensors,board-lock," \
			"board-reader,keys"
#define IS_ATTESTING	"--capabilities by-card,by-position,test-deal,exit-sensors,keys,attest"
#define IS_BLIND	"--reader none --capabilities by-position,exit-sensors,test-deal"
#define IS_SMALL	"--pocket-capacity 3"
#define IS_PLAIN	"--capabilities by-card,by-position,exit-sensors"
#define IS_REFUSING	"--descriptor request --capabilities " \
			"by-card,by-position,exit-sensors,refuses-by-result"
#define IS_ASKED	"--descriptor request"
#define IS_ROUTED_SMALL	"--kind routed --pocket-capacity 3"
#define IS_ROUTED_BLIND	"--kind routed --reader none --capabilities " \
			"by-position,exit-sensors,test-deal"
#define IS_ROUTED_SERIAL	"--kind routed --dialect serial"
#define IS_NARROW	"--pocket-capacity 13"
#define IS_FACING	"--capabilities by-card,by-position,test-deal,exit-sensors,face-sensor,keys"

/* X(name, requirement, machine, what) */
#define CODE_MUTANTS(X) \
	X(clock_back, "R-4-4", PLAIN, "the clock of every seventh event goes back by 5 ms") \
	X(clock_slow, "R-4-4", PLAIN, "the clock counts units of 2 us") \
	X(number_zero, "R-1.2-2", PLAIN, "events are numbered from 0") \
	X(queue_kept, "R-1.2-1", PLAIN, "SET_CONFIGURATION does not empty the queue") \
	X(last_kept, "R-1.2-1", PLAIN, "SET_CONFIGURATION does not forget the last command") \
	X(plan_kept, "R-1.2-1", PLAIN, "SET_CONFIGURATION does not forget the plan") \
	X(cover_untold, "R-5.2-8", PLAIN, "an open cover is not told behind STATE_LOST") \
	X(board_untold, "R-5.2-8", PLAIN, "a board is not told behind STATE_LOST") \
	X(hopper_untold, "R-5.2-8", PLAIN, "cards are not told behind STATE_LOST") \
	X(lost_order, "R-5.2-8", PLAIN, \
	  "HOPPER_LOADED comes before BOARD_INSERTED behind STATE_LOST") \
	X(spent_forgotten, "R-5.2-4", PLAIN, \
	  "a spent insertion is unspent behind SET_CONFIGURATION") \
	X(unspent_spent, "R-1.2-6", PLAIN, \
	  "an unspent insertion is spent behind SET_CONFIGURATION") \
	X(done_stays, "R-1.2-7", PLAIN, "DONE stays DONE behind SET_CONFIGURATION") \
	X(power_spent, "R-5.2-1", PLAIN, "a board has its old insertion behind a power cut") \
	X(doubt_forgotten, "R-5.2-7", PLAIN, "a board that is there at power-on is not in doubt") \
	X(restart_untold, "R-1.2-3", PLAIN, \
	  "a restart of the firmware loses the plan and tells nothing") \
	X(deal_goes_on, "R-1.2-4", PLAIN, "a deal goes on behind SET_CONFIGURATION") \
	X(cut_unspent, "R-1.2-5", PLAIN, \
	  "a deal that SET_CONFIGURATION cut off leaves the insertion unspent") \
	X(unconfigured_told, "R-1.2-10", PLAIN, \
	  "what happens while the machine is not configured is told one by one") \
	X(counters_lost, "R-2.1-7", PLAIN, "the counters begin anew at power-on") \
	X(fed_uncounted, "R-2.1-7", PLAIN, "every third card that is fed is not counted") \
	X(wakeup_missing, "R-1.2-9", PLAIN, "a suspended machine does not wake the host") \
	X(index_ignored, "R-2-2", PLAIN, "wIndex is ignored") \
	X(index_last, "R-2-2", PLAIN, "a command for another interface is the last command") \
	X(recipient, "R-2-1", PLAIN, "requests for the device are answered") \
	X(query_changes, "R-2.1-4", PLAIN, "GET_INFO clears the last error") \
	X(value_ignored, "R-2.1-2", PLAIN, "wValue of GET_STATUS is ignored") \
	X(query_dealing, "R-2.1-3", PLAIN, "GET_COUNTERS is stalled in DEALING") \
	X(unknown_query, "R-2.1-2", PLAIN, "query 0f is answered") \
	X(status_plan, "R-2.1-5", PLAIN, "GET_STATUS has no plan number in DONE") \
	X(deal_kept, "R-2.1-6", PLAIN, "the deal that ran last is kept when the board is out") \
	X(status_ahead, "R-2.1-9", PLAIN, "GET_STATUS counts cards that fall as done") \
	X(status_next, "R-2.1-9", PLAIN, "GET_STATUS numbers the next event one too low") \
	X(length_more, "R-2.2-1", PLAIN, "commands longer than 16 bytes are taken") \
	X(refused_unlast, "R-2.2-5", PLAIN, "a refused command is not the last one") \
	X(repeat_request, "R-2.2-4", PLAIN, "a repetition must have the same bRequest") \
	X(repeat_length, "R-2.2-4", PLAIN, "a repetition must have 16 bytes") \
	X(repeat_acts, "R-2.2-4", PLAIN, "a repetition is carried out again") \
	X(repeat_zero, "R-2.2-6", PLAIN, "the number 0 is taken for a repetition") \
	X(refusal_stalled, "R-2.2-9", IS_REFUSING, \
	  "a refused command is stalled in spite of REFUSES_BY_RESULT") \
	X(result_early, "R-2.2-10", IS_REFUSING, \
	  "GET_RESULT is answered before the command is decided") \
	X(described_twice, "R-2.2-11", IS_REFUSING, \
	  "the machine descriptor is among those of USB, too") \
	X(unsupported_state, "R-2.3-6", IS_PLAIN, \
	  "TEST_DEAL without the capability is refused with STATE") \
	X(state_first, "R-2.3-1", PLAIN, "the state is checked before the values") \
	X(detail_one, "R-2.3-2", PLAIN, "the detail of BAD_VALUE is always 1") \
	X(length_detail, "R-2.2-1", PLAIN, "the detail of BAD_LENGTH is 0") \
	X(short_number, "R-2.3-4", PLAIN, "three bytes of a sequence number are taken for one") \
	X(locate_short, "R-2.3-7", PLAIN, "LOCATE takes 30 s at most") \
	X(lamp_stays, "R-2.2-3", PLAIN, "LOCATE with 0 does not end the blinking") \
	X(start_c, "R-2.3-5", PLAIN, "c of START is ignored") \
	X(pause_a, "R-0-3", PLAIN, "a of PAUSE is ignored") \
	X(param_above, "R-2.3-5", PLAIN, "SET_PARAM takes one above the greatest value") \
	X(cover_last, "R-2.3-1", PLAIN, "the cover is checked behind the hopper") \
	X(board_before_plan, "R-2.3-1", PLAIN, "the board is checked before the plan") \
	X(load_keeps, "R-3-2", PLAIN, "LOAD keeps the old plan until the block has come") \
	X(load_zero_event, "R-3-9", PLAIN, "LOAD 0 causes PLAN_LOADED") \
	X(load_hasty, "R-3-6", PLAIN, "a load is given up after a second") \
	X(load_silent, "R-3-6", PLAIN, "a load that is not complete is given up in silence") \
	X(load_slow, "R-3-5", PLAIN, "PLAN_LOADED comes after 700 ms") \
	X(crc_ignored, "R-3-13", PLAIN, "the checksum of a plan is not checked") \
	X(crc_low, "R-3-13", PLAIN, "the low half of the checksum is not checked") \
	X(plan_reserved, "R-0-3", PLAIN, "reserved fields of a plan are not checked") \
	X(plan_offset, "R-3-14", PLAIN, "counts at fault are reported at offset 16") \
	X(plan_after_error, "R-3-8", PLAIN, "a plan with an error is loaded") \
	X(overrun_kept, "R-3-4", PLAIN, "of too many bytes, the first are taken for the plan") \
	X(unannounced, "R-3-3", PLAIN, "data without LOAD are not stalled") \
	X(plan_once, "R-3-10", PLAIN, "a plan is forgotten when it was dealt") \
	X(queue_short, "R-4-11", PLAIN, "40 events are kept") \
	X(queue_newest, "R-4-12", PLAIN, "the newest event is dropped from a full queue") \
	X(done_early, "R-4.2-3", PLAIN, "DEAL_DONE is sent before the last card fell") \
	X(next_insertion, "R-4.2-5", PLAIN, "cards that fall count into the next board") \
	X(blind_reads, "R-4.2-4", IS_BLIND, "a machine without reader has a quality") \
	X(repeated_position, "R-4.3-2", PLAIN, "repeated cards are dealt by position") \
	X(repeated_unfound, "R-4.3-3", PLAIN, "a repeated card is never found") \
	X(repeated_first, "R-4.3-1", PLAIN, "REPEATED_CARD has not the first position") \
	X(repeated_uncounted, "R-2.1-7", PLAIN, "repeated cards are not counted") \
	X(read_before_stop, "R-4.3-4", PLAIN, "CARD_READ comes before NOT_IN_PLAN") \
	X(again_repeated, "R-4.3-10", PLAIN, "a card is remembered when it is read") \
	X(full_pocket, "R-4.3-6", IS_SMALL, "a card too many is let into its pocket") \
	X(hopper_silent, "R-4.1-1", PLAIN, "HOPPER_EMPTY is not sent") \
	X(short_early, "R-4.3-7", PLAIN, "DECK_SHORT comes while a card is in the hopper") \
	X(late_stop, "R-4.3-8", PLAIN, "a stop behind DEAL_DONE does not lead to FAULT") \
	X(clear_reader, "R-4.3-9", PLAIN, "a card at the reader hinders every CLEAR_FAULT") \
	X(cause_ignored, "R-2.3-1", PLAIN, "CLEAR_FAULT is accepted while a card is stuck") \
	X(removed_clears, "R-5-2", PLAIN, "BOARD_REMOVED ends FAULT") \
	X(removed_done, "R-5-2", PLAIN, "DONE stays DONE behind BOARD_REMOVED") \
	X(reread_late, "R-5-3", PLAIN, "REREAD leads to DEALING only at the next event") \
	X(paused_falling, "R-5-5", PLAIN, "PAUSED comes while cards fall") \
	X(paused_at_once, "R-5-4", PLAIN, "PAUSED is entered before its event") \
	X(between, "R-5-6", PLAIN, "commands are accepted between PAUSE and PAUSED") \
	X(abort_waits, "R-5-6", PLAIN, "ABORT does not override PAUSE") \
	X(pause_holds, "R-5-7", PLAIN, "PAUSE keeps a card that was read") \
	X(pause_reads, "R-5-8", PLAIN, "a card is read after PAUSE was accepted") \
	X(abort_lets, "R-5-9", PLAIN, "ABORT lets a card that was read into its pocket") \
	X(abort_count, "R-4.2-1", PLAIN, "ABORTED does not count the card at the reader") \
	X(pause_done, "R-5-10", PLAIN, "DEAL_DONE comes behind PAUSE at the end of a deal") \
	X(abort_done, "R-5-11", PLAIN, "DEAL_DONE comes behind ABORT at the end of a deal") \
	X(stop_paused, "R-5-12", PLAIN, "PAUSED comes behind a stop") \
	X(stop_swallows, "R-5-13", PLAIN, "cards that fall are lost at a stop") \
	X(unlocked, "R-5-14", IS_LOCKED, "a board is not locked when it is put in") \
	X(unlocked_deal, "R-5-14", IS_LOCKED, "a board is not locked when a deal starts") \
	X(release_nothing, "R-5-15", IS_LOCKED, "RELEASE_BOARD does not open the lock") \
	X(reread_next, "R-5-16", PLAIN, "REREAD drops the card at the reader") \
	X(card_kept, "R-5-17", PLAIN, "a card at the reader cannot be taken out in HELD") \
	X(stop_key, "R-5-18", PLAIN, "the stop key does not pause") \
	X(start_key, "R-5-19", PLAIN, "the start key ends PAUSED") \
	X(start_slow, "R-5.1-1", PLAIN, "DEAL_STARTED comes after 1300 ms") \
	X(insertion_again, "R-5.2-1", PLAIN, "every fourth insertion has the number before") \
	X(spent_done, "R-5.2-2", PLAIN, "only DEAL_DONE spends an insertion") \
	X(test_unspent, "R-5.2-2", PLAIN, "TEST_DEAL does not spend the insertion") \
	X(capture_spends, "R-5.2-5", PLAIN, "a capture spends the insertion") \
	X(capture_then_deal, "R-5.2-6", PLAIN, "a captured insertion may be dealt") \
	X(attest_any, "R-5.3-6", IS_ATTESTING, "ATTEST takes any insertion") \
	X(attest_twice, "R-5.3-9", IS_ATTESTING, "a second ATTEST is accepted before ATTESTED") \
	X(statement_kept, "R-5.3-12", IS_ATTESTING, \
	  "the statement is there behind SET_CONFIGURATION") \
	X(attest_stopped, "R-5.3-8", IS_ATTESTING, "a deal that was stopped is attested") \
	X(attest_landed, "R-5.3-4", IS_ATTESTING, "CARD_LANDED is not in the event hash") \
	X(attest_removed, "R-5.3-5", IS_ATTESTING, \
	  "a deal cannot be attested when its board is out") \
	X(attest_counter, "R-5.3-10", IS_ATTESTING, "the counter of attestations stays at 1") \
	X(identity_bare, "R-5.3-13", PLAIN, "GET_IDENTITY is answered without ATTEST") \
	X(gate_unasked, "R-6-1", IS_ROUTED, "a card does not wait for its gate command") \
	X(gate_number, "R-6-3", IS_ROUTED, "the event number of a gate command is ignored") \
	X(gate_insertion, "R-6-3", IS_ROUTED, "the insertion of a gate command is ignored") \
	X(gate_position, "R-6-3", IS_ROUTED, "the position of a gate command is ignored") \
	X(gate_uncounted, "R-6-3", IS_ROUTED, "gate commands that are ignored are not counted") \
	X(gate_early, "R-6-6", IS_ROUTED, "GATE_LATE comes after half the deadline") \
	X(gate_guesses, "R-6-6", IS_ROUTED, "without a gate command the card goes into pocket 0") \
	X(gate_reread, "R-6-3", IS_ROUTED, \
	  "REREAD behind GATE_LATE keeps the old CARD_READ's number") \
	X(reread_silent, "R-6-7", IS_ROUTED, "REREAD behind GATE_LATE sends no CARD_READ") \
	X(routed_full, "R-6-8", IS_ROUTED_SMALL, "a card too many is let into its pocket") \
	X(routed_capture, "R-6-11", IS_ROUTED, "a capture ends behind two cards") \
	X(hold_lets, "R-6-5", IS_ROUTED, "a card that is held leaves the reader") \
	X(routed_unreadable, "R-6-9", IS_ROUTED, \
	  "a card that cannot be read is given to the host") \
	X(routed_short, "R-6-12", IS_ROUTED, "a hopper that runs empty ends the deal") \
	X(test_pockets, "R-7-1", PLAIN, "a test deal fills one pocket behind the other") \
	X(test_number, "R-7-2", PLAIN, "a test deal has the plan number 1") \
	X(test_stops, "R-7-3", PLAIN, "a repeated card stops a test deal") \
	X(frame_kept, "R-S1-3", IS_SERIAL, "an incomplete frame is kept behind CLEAR_FEATURE") \
	X(frame_suspended, "R-S1-4", IS_SERIAL, "a suspend discards an incomplete frame") \
	X(frame_behind_noise, "R-S2-4", IS_SERIAL, "the frame behind other bytes is ignored") \
	X(frame_waits, "R-S3-6", IS_SERIAL, "an event is sent only behind an ANSWER") \
	X(frame_gate, "R-S3-7", IS_ROUTED_SERIAL, "a frame GATE is ignored") \
	X(frame_endpoint_0, "R-S1-7", IS_SERIAL, "queries are answered on endpoint 0") \
	X(frame_describe, "R-S3-5", IS_SERIAL, "wValue of DESCRIBE is ignored") \
	X(frame_kind, "R-S2-5", IS_SERIAL, "the kind 04 is taken for a REQUEST") \
	X(frame_plan, "R-S3-8", IS_SERIAL, "a plan without LOAD is taken")

/*
 * Faults that a maker's firmware may have: a list that was made from the pages alone, without a
 * look at the tests
 */
#define MAKER_MUTANTS(X) \
	X(repeat_checked, "R-2.2-4", PLAIN, "a repetition of a refused command is checked again") \
	X(crc_half, "R-3-13", PLAIN, "only the low half of the checksum is compared") \
	X(plan_pockets, "R-3-14", PLAIN, "counts of pockets that there are not are not checked") \
	X(plan_full_packet, "R-3-5", PLAIN, "a plan that ends with a full packet is not complete") \
	X(refused_spends, "R-5.2-2", PLAIN, "a START that is refused spends the insertion") \
	X(spent_first, "R-5.2-2", PLAIN, "an insertion is spent when the first card is fed") \
	X(capture_room, "R-4.3-6", IS_NARROW, "the cards of an earlier capture do not count") \
	X(configured_once, "R-1.2-1", PLAIN, "SET_CONFIGURATION with the same value does nothing") \
	X(clock_fetched, "R-4-4", PLAIN, "the clock of an event is that of when it is fetched") \
	X(clock_ms, "R-4-4", PLAIN, "the clock counts milliseconds") \
	X(gate_after, "R-6-3", IS_ROUTED, "a gate command behind GATE_LATE lets the card go") \
	X(gate_long, "R-6-3", IS_ROUTED, "a gate command of more than 16 bytes is taken") \
	X(gate_reason, "R-6-3", IS_ROUTED, "a pocket with a reason is taken") \
	X(pulled_held, "R-4.3-1", PLAIN, "a board is taken out in HELD without BOARD_PULLED") \
	X(cover_paused, "R-4.3-1", PLAIN, "the cover is opened in PAUSED without COVER_OPENED") \
	X(clear_open, "R-2.3-1", PLAIN, "CLEAR_FAULT is accepted while the cover is open") \
	X(resume_open, "R-4.3-1", PLAIN, "the cover is opened in HELD without COVER_OPENED") \
	X(wakeup_keys, "R-1.2-9", PLAIN, "only a board or a key wakes the host") \
	X(counters_saved, "R-2.1-7", PLAIN, "the counters are stored at DEAL_DONE only") \
	X(insertion_kept, "R-5.2-1", PLAIN, \
	  "the number of the last insertion is forgotten behind a power cut") \
	X(locate_59, "R-2.3-7", PLAIN, "LOCATE refuses 60 s") \
	X(plan_longest, "R-2.3-5", PLAIN, "the longest plan is refused") \
	X(index_high, "R-2-2", PLAIN, "the high byte of wIndex is ignored") \
	X(test_key, "R-5-18", PLAIN, "the stop key does not pause a test deal") \
	X(short_skips, "R-5-16", PLAIN, "REREAD behind DECK_SHORT leaves a position out") \
	X(padded, "R-2.1-1", PLAIN, "answers are filled up to wLength") \
	X(flag_once, "R-5.2-8", PLAIN, \
	  "behind a second configuration, a board in doubt has no flag") \
	X(suspend_empties, "R-4-11", PLAIN, "a suspend empties the queue of events") \
	X(frame_skipped, "R-S2-4", IS_SERIAL, \
	  "behind a wrong sum, the whole frame is passed over") \
	X(frame_whole, "R-S2-1", IS_SERIAL, "a frame must come in one transfer") \
	X(stop_face, "R-4.3-4", IS_FACING, "a stop has no face-up flag") \
	X(abort_plan, "R-3-10", PLAIN, "ABORT makes the machine forget the plan") \
	X(test_plan, "R-3-10", PLAIN, "TEST_DEAL makes the machine forget the plan") \
	X(load_idle, "R-5-4", PLAIN, "LOAD turns DONE into IDLE") \
	X(param_lost, "R-2.2-3", PLAIN, "SET_PARAM is accepted and changes nothing") \
	X(hopper_each, "R-4.1-1", PLAIN, "HOPPER_LOADED comes whenever cards are put in") \
	X(done_again, "R-4.2-1", PLAIN, "DEAL_DONE comes twice") \
	X(released_again, "R-5-14", IS_LOCKED, "a lock that was opened is open for the next board")

enum mutant_code {
	MUTANT_NONE,
#define AS_ENUM(name, requirement, machine, what)	MUTANT_##name,
	CODE_MUTANTS(AS_ENUM)
	MAKER_MUTANTS(AS_ENUM)
#undef AS_ENUM
};

struct mutant {
	const char *name, *requirement, *machine, *what;
	enum mutant_code code;	/* MUTANT_NONE: one of the next two */
	const char *scenario;	/* NULL = none */
	uint8_t request;	/* this command is accepted or refused otherwise in this state */
	uint8_t state;
};

/* Copied from struct mutant for the machine; all zero is a machine without a fault. */
struct machine_mutant {
	enum mutant_code code;
	uint8_t request, state;
};

#define MUTANT(m, name)	((m)->config.mutant.code == MUTANT_##name)

/* Return a mutant by name, NULL if there is none. */
const struct mutant *mutant_find(const char *name);
/* Print a line for each: name, requirement, options and what it does, separated by tabs. */
void mutants_list(void);

#endif
