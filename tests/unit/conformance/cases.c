// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <linux/dealbox.h>

#include "cases.h"

/* A query that every machine must answer. The outcome does not depend on the query. */
#define QUERY(call, request, code) \
	{ request ": answered", call, BOTH, NULL, 0, 0, .sent = code }, \
	{ request ": answered late", call, BOTH, "on request " request ": delay 400", \
	  0, 0, .sent = code }, \
	{ request ": answered too late", call, BOTH, "on request " request ": delay 1300", \
	  -ETIMEDOUT, -ETIMEDOUT, .sent = code }, \
	{ request ": not answered", call, BOTH, "on request " request ": no-answer", \
	  -ETIMEDOUT, -ETIMEDOUT, .sent = code }, \
	{ request ": ignored", call, BOTH, "on request " request ": ignore", \
	  -ETIMEDOUT, -ETIMEDOUT, .sent = code }, \
	{ request ": short", call, BOTH, "on request " request ": short 15", \
	  -EPROTO, -EPROTO, .sent = code }, \
	{ request ": empty", call, BOTH, "on request " request ": bytes", \
	  -EPROTO, -EPROTO, .sent = code }, \
	{ request ": over-long", call, BOTH, "on request " request ": long 80", \
	  -EPROTO, -EPROTO, .sent = code }, \
	/* with frames, only the answer is lost */ \
	{ request ": error of the bus", call, BOTH, "on request " request ": status EPROTO", \
	  -EIO, -ETIMEDOUT, .sent = code }, \
	{ request ": the firmware restarts", call, BOTH, "on request " request ": reset", \
	  0, 0, .sent = code, .events = "01 02" }

/* A command. If its answer is lost, the host asks for the result. */
#define COMMAND(call, request, code) \
	{ request ": answered", call, BOTH, NULL, 0, 0, .sent = code }, \
	{ request ": answered late", call, BOTH, "on request " request ": delay 400", \
	  0, 0, .sent = code }, \
	{ request ": answered too late", call, BOTH, "on request " request ": delay 1300", \
	  0, 0, .sent = code " 03" }, \
	{ request ": not answered", call, BOTH, "on request " request ": no-answer", \
	  0, 0, .sent = code " 03" }, \
	{ request ": error of the bus", call, BOTH, "on request " request ": status EPROTO", \
	  0, 0, .sent = code " 03" }, \
	{ request ": lost", call, BOTH, "on request " request ": ignore", \
	  0, 0, .sent = code " 03 " code }, \
	{ request ": lost twice", call, BOTH, "on request " request " times 2: ignore", \
	  -ETIMEDOUT, -ETIMEDOUT, .sent = code " 03 " code " 03" }, \
	{ request ": lost, and not answered", call, BOTH, \
	  "on request " request " nth 1: ignore\non request " request " nth 2: no-answer", \
	  0, 0, .sent = code " 03 " code " 03" }, \
	{ request ": refused", call, BOTH, "on request " request ": refuse 18 77", \
	  -EREMOTEIO, -EREMOTEIO, 18, 77, code " 03" }, \
	{ request ": refused, and not answered", call, BOTH, \
	  "on request " request ": refuse 18 77\non request " request ": no-answer", \
	  -EREMOTEIO, -EREMOTEIO, 18, 77, code " 03" }, \
	{ request ": refused, no reason", call, BOTH, "on request " request ": stall", \
	  -EPROTO, -EPROTO, .sent = code " 03" }, \
	{ request ": refused, reason not told", call, BOTH, \
	  "on request " request ": refuse 18\non request GET_RESULT: no-answer", \
	  -ETIMEDOUT, -ETIMEDOUT, .sent = code " 03" }, \
	{ request ": refused, reason short", call, BOTH, \
	  "on request " request ": refuse 18\non request GET_RESULT: short 8", \
	  -EPROTO, -EPROTO, .sent = code " 03" }, \
	{ request ": not answered, nor what became of it", call, BOTH, \
	  "on request " request ": no-answer\non request GET_RESULT: no-answer", \
	  -ETIMEDOUT, -ETIMEDOUT, .sent = code " 03" }, \
	{ request ": not answered, and it will not say", call, BOTH, \
	  "on request " request ": no-answer\non request GET_RESULT: stall", \
	  -ETIMEDOUT, -ETIMEDOUT, .sent = code " 03" }, \
	{ request ": not answered, and the firmware restarts", call, BOTH, \
	  "on request " request ": no-answer\non request " request ": reset", \
	  0, 0, .sent = code " 03 " code, .events = "01 02" }

/*
 * Events that come while a call waits, and faults of the event pipe. In the serial dialect the
 * answer comes through the same pipe. The events are a key press and its release.
 */
#define EVENTS(name, call, kinds, request, sent_, rest) \
	{ name ": a key meanwhile", call, kinds, "on request " request ": key 3", \
	  0, 0, .sent = sent_, .events = "08 08" rest }, \
	{ name ": the key is lost", call, kinds, \
	  "on request " request ": key 3\non event KEY: drop", \
	  0, 0, .sent = sent_, .events = "08" rest }, \
	{ name ": the key comes twice", call, kinds, \
	  "on request " request ": key 3\non event KEY: duplicate", \
	  0, 0, .sent = sent_, .events = "08 08 08" rest }, \
	{ name ": an event that cannot be", call, kinds, \
	  "on request " request ": key 3\non event KEY: set 17 36", \
	  0, 0, .sent = sent_, .events = "100 08" rest }, \
	{ name ": events of no known type", call, kinds, \
	  "on request " request ": key 3\non event KEY: flood 3", \
	  0, 0, .sent = sent_, .events = "f0 f0 f0 08 08" rest }, \
	{ name ": the pipe of events fails", call, kinds, \
	  "on request " request ": key 3\non transfer: status EPROTO", \
	  0, 0, .sent = sent_, .events = "08 08" rest }, \
	{ name ": the pipe of events fails three times", call, kinds, \
	  "on request " request ": key 3\non transfer times 3: status EILSEQ", \
	  0, 0, .sent = sent_, .events = "08 08" rest }, \
	{ name ": the pipe of events halts", call, kinds, \
	  "on request " request ": key 3\non transfer: stall", \
	  0, 0, .sent = sent_, .events = "08 08" rest }, \
	{ name ": babble in the pipe of events", call, kinds, \
	  "on request " request ": key 3\non transfer: status EOVERFLOW", \
	  0, 0, .sent = sent_, .events = "08 08" rest }, \
	{ name ": a transfer that is no event", call, kinds, \
	  "on request " request ": key 3\non transfer: bytes 08", \
	  0, 0, .sent = sent_, .events = "100 08 08" rest }, \
	/* an empty transfer is an error in the native dialect, and harmless in a stream */ \
	{ name ": an empty transfer", call, kinds, \
	  "on request " request ": key 3\non transfer: bytes", \
	  0, 0, .sent = sent_, .events = "100 08 08" rest, .serial_events = "08 08" rest }

const struct conformance_case conformance_cases[] = {
	QUERY(ASK_STATUS, "GET_STATUS", "02"),
	{ "GET_STATUS: stalled", ASK_STATUS, BOTH, "on request GET_STATUS: stall",
	  -EPROTO, -EPROTO, .sent = "02" },
	{ "GET_STATUS: a state that cannot be", ASK_STATUS, BOTH,
	  "on request GET_STATUS: set 0 09", -EPROTO, -EPROTO, .sent = "02" },
	QUERY(ASK_COUNTERS, "GET_COUNTERS", "04"),
	{ "GET_COUNTERS: stalled", ASK_COUNTERS, BOTH, "on request GET_COUNTERS: stall",
	  -EPROTO, -EPROTO, .sent = "04" },
	QUERY(ASK_PARAM, "GET_PARAM", "05"),
	{ "GET_PARAM: stalled", ASK_PARAM, BOTH, "on request GET_PARAM: stall",
	  -EREMOTEIO, -EREMOTEIO, DEALBOX_ERR_BAD_VALUE, 4, "05" },
	{ "GET_PARAM: of another parameter", ASK_PARAM, BOTH,
	  "on request GET_PARAM: set 0 02", -EPROTO, -EPROTO, .sent = "05" },
	{ "GET_IDENTITY: answered", ASK_IDENTITY, BOTH, NULL, 0, 0, .sent = "06" },
	{ "GET_IDENTITY: stalled", ASK_IDENTITY, BOTH, "on request GET_IDENTITY: stall",
	  -EPROTO, -EPROTO, .sent = "06" },
	{ "GET_IDENTITY: short", ASK_IDENTITY, BOTH, "on request GET_IDENTITY: short 47",
	  -EPROTO, -EPROTO, .sent = "06" },
	{ "GET_IDENTITY: not answered", ASK_IDENTITY, BOTH, "on request GET_IDENTITY: no-answer",
	  -ETIMEDOUT, -ETIMEDOUT, .sent = "06" },
	{ "GET_STATEMENT: there is none", ASK_ATTESTATION, BOTH, NULL,
	  -ENODATA, -ENODATA, .sent = "07" },
	{ "GET_STATEMENT: not answered", ASK_ATTESTATION, BOTH,
	  "on request GET_STATEMENT: no-answer", -ETIMEDOUT, -ETIMEDOUT, .sent = "07" },
	{ "ATTEST: of no deal", ATTEST, BOTH, NULL,
	  -EREMOTEIO, -EREMOTEIO, DEALBOX_ERR_WRONG_INSERTION, 0, "1b 03" },
	{ "ATTEST: not answered", ATTEST, BOTH, "on request ATTEST: no-answer",
	  -EREMOTEIO, -EREMOTEIO, DEALBOX_ERR_WRONG_INSERTION, 0, "1b 03" },
	/* with the same nonce again */
	{ "ATTEST: lost", ATTEST, BOTH, "on request ATTEST: ignore",
	  -EREMOTEIO, -EREMOTEIO, DEALBOX_ERR_WRONG_INSERTION, 0, "1b 03 1b 03" },
	{ "ATTEST: refused", ATTEST, BOTH, "on request ATTEST: refuse 18 77",
	  -EREMOTEIO, -EREMOTEIO, 18, 77, "1b 03" },
	{ "ATTEST: the firmware restarts", ATTEST, BOTH,
	  "on request ATTEST: no-answer\non request ATTEST: reset",
	  -EREMOTEIO, -EREMOTEIO, DEALBOX_ERR_WRONG_INSERTION, 0, "1b 03 1b 03",
	  .events = "01 02" },
	COMMAND(SET_PARAM, "SET_PARAM", "10"),
	COMMAND(LOCATE, "LOCATE", "1a"),

	EVENTS("GET_STATUS", ASK_STATUS, BOTH, "GET_STATUS", "02", ""),
	EVENTS("SET_PARAM", SET_PARAM, BOTH, "SET_PARAM", "10", ""),
	EVENTS("plan", SET_PLAN, STORED, "LOAD", "11 *", " 10"),
	EVENTS("host-routed plan", SET_PLAN, ROUTED, "GET_STATUS", "02", ""),

	{ "plan: accepted", SET_PLAN, STORED, NULL, 0, 0, .sent = "11 *", .events = "10" },
	{ "plan: LOAD not answered", SET_PLAN, STORED, "on request LOAD: no-answer",
	  0, 0, .sent = "11 03 *", .events = "10" },
	{ "plan: LOAD lost", SET_PLAN, STORED, "on request LOAD: ignore",
	  0, 0, .sent = "11 03 11 *", .events = "10" },
	{ "plan: LOAD refused", SET_PLAN, STORED, "on request LOAD: refuse 5 1",
	  -EREMOTEIO, -EREMOTEIO, 5, 1, "11 03" },
	{ "plan: refused", SET_PLAN, STORED, "on plan: refuse CRC 7",
	  -EREMOTEIO, -EREMOTEIO, DEALBOX_ERR_CRC, 7, "11 *", .events = "10" },
	{ "plan: error of the bus", SET_PLAN, STORED, "on plan: status EPROTO",
	  -EIO, 0, .sent = "11 *", .serial_events = "10" },
	{ "plan: taken late", SET_PLAN, STORED, "on plan: delay 700",
	  0, 0, .sent = "11 *", .events = "10" },
	{ "plan: stalled", SET_PLAN, STORED, "on plan: stall",
	  -EREMOTEIO, -EREMOTEIO, DEALBOX_ERR_INCOMPLETE, 0, "11 *", .events = "10" },
	{ "plan: verdict late", SET_PLAN, STORED, "on event PLAN_LOADED: delay 2000",
	  0, 0, .sent = "11 *", .events = "10" },
	{ "plan: verdict too late", SET_PLAN, STORED, "on event PLAN_LOADED: delay 4000",
	  -ETIMEDOUT, -ETIMEDOUT, .sent = "11 *", .events = "10" },
	{ "plan: no verdict", SET_PLAN, STORED, "on event PLAN_LOADED: drop",
	  -ETIMEDOUT, -ETIMEDOUT, .sent = "11 *" },
	{ "plan: verdict twice", SET_PLAN, STORED, "on event PLAN_LOADED: duplicate",
	  0, 0, .sent = "11 *", .events = "10 10" },
	{ "plan: verdict on another", SET_PLAN, STORED, "on event PLAN_LOADED: set 20 06",
	  -ETIMEDOUT, -ETIMEDOUT, .sent = "11 *", .events = "10" },
	{ "plan: verdict of an unknown code", SET_PLAN, STORED,
	  "on event PLAN_LOADED: set 24 00010000",
	  -EREMOTEIO, -EREMOTEIO, UINT8_MAX, 0, "11 *", .events = "10" },
	{ "plan: verdict that cannot be", SET_PLAN, STORED, "on event PLAN_LOADED: set 17 36",
	  -ETIMEDOUT, -ETIMEDOUT, .sent = "11 *", .events = "100" },
	{ "plan: state lost", SET_PLAN, STORED,
	  "on event PLAN_LOADED: drop\non event PLAN_LOADED: reset",
	  -EIO, -EIO, .sent = "11 *", .events = "01 02" },
	/* with its state the machine has lost the verdict */
	{ "plan: state lost behind the verdict", SET_PLAN, STORED, "on event PLAN_LOADED: reset",
	  -EIO, -EIO, .sent = "11 *", .events = "01 02" },
	/*
	 * LOAD is answered late, so the block comes 2.1 s behind it. The last plan of a machine,
	 * because in the serial dialect the call ends before the block has come.
	 */
	{ "plan: taken too late", SET_PLAN, STORED,
	  "on request LOAD: delay 900\non plan: delay 1200",
	  -EREMOTEIO, -EREMOTEIO, DEALBOX_ERR_INCOMPLETE, 0, "11 *", .events = "10" },

	{ "host-routed plan: kept", SET_PLAN, ROUTED, NULL, 0, 0, .sent = "02" },
	{ "host-routed plan: state not told", SET_PLAN, ROUTED, "on request GET_STATUS: no-answer",
	  -ETIMEDOUT, -ETIMEDOUT, .sent = "02" },
	{ "host-routed plan: state stalled", SET_PLAN, ROUTED, "on request GET_STATUS: stall",
	  -EPROTO, -EPROTO, .sent = "02" },
	{ "host-routed plan: it deals", SET_PLAN, ROUTED, "on request GET_STATUS: set 0 01",
	  -EREMOTEIO, -EREMOTEIO, DEALBOX_ERR_STATE, DEALBOX_STATE_DEALING, "02" },
};

const size_t conformance_count = sizeof(conformance_cases) / sizeof(*conformance_cases);
