-- SPDX-License-Identifier: LGPL-2.1-or-later
--
-- Wireshark dissector for the dealing machine protocol (docs/protocol.md) and its serial dialect
-- (docs/protocol-serial.md). It reads captures of Linux' usbmon, as pcap or pcapng. README.md in
-- this folder says how to enable it.
--
-- Every packet of a machine passes two stages. The first pass over a capture runs in the order of
-- the packets and follows the machine: look() turns a packet into a record. show() then builds the
-- tree from the record, then and whenever the packet is selected again.
--
-- No card, and no pocket of a card, is shown unless the preference "reveal" is set. A field that
-- would tell one is marked SECRET; also no item may cover its bytes, because PDML prints them.

local dealbox = Proto("dealbox", "Dealing Machine Protocol")
-- Wireshark calls it for each packet, also for one without data, such as a stall.
local transfers = Proto("dealbox_transfers", "Dealing Machine Protocol, all transfers")

local SECRET = true

local adopt, forget, known, look	-- defined below

-- -- names ----------------------------------------------------------------------------------------
-- tests/system/wireshark compares them with the headers of the driver.

local REQUEST = {
	[0x00] = "DESCRIBE", [0x01] = "GET_INFO", [0x02] = "GET_STATUS", [0x03] = "GET_RESULT",
	[0x04] = "GET_COUNTERS", [0x05] = "GET_PARAM", [0x06] = "GET_IDENTITY",
	[0x07] = "GET_STATEMENT", [0x08] = "GET_SIGNATURE",
	[0x10] = "SET_PARAM", [0x11] = "LOAD", [0x12] = "START", [0x13] = "PAUSE", [0x14] = "RESUME",
	[0x15] = "REREAD", [0x16] = "ABORT", [0x17] = "CLEAR_FAULT", [0x18] = "RELEASE_BOARD",
	[0x19] = "TEST_DEAL", [0x1a] = "LOCATE", [0x1b] = "ATTEST",
}

local EVENT = {
	[0x01] = "STATE_LOST", [0x02] = "HOPPER_LOADED", [0x03] = "HOPPER_EMPTY",
	[0x04] = "BOARD_INSERTED", [0x05] = "BOARD_REMOVED", [0x06] = "COVER_OPEN",
	[0x07] = "COVER_CLOSED", [0x08] = "KEY",
	[0x10] = "PLAN_LOADED", [0x11] = "DEAL_STARTED", [0x12] = "CARD_READ", [0x13] = "CARD_ROUTED",
	[0x14] = "CARD_LANDED", [0x15] = "DEAL_DONE", [0x16] = "PAUSED", [0x17] = "RESUMED",
	[0x18] = "ABORTED", [0x19] = "FAULT_CLEARED", [0x1a] = "ATTESTED",
	[0x20] = "CARD_UNREADABLE", [0x21] = "NOT_IN_PLAN", [0x22] = "GATE_LATE",
	[0x23] = "FEED_TIMEOUT", [0x24] = "DECK_SHORT",
	[0x28] = "REPEATED_CARD", [0x29] = "DOUBLE_FEED", [0x2a] = "JAM", [0x2b] = "WRONG_POCKET",
	[0x2c] = "BOARD_PULLED", [0x2d] = "COVER_OPENED", [0x2e] = "HARDWARE",
}

local ERROR = {
	[0] = "OK", "BAD_REQUEST", "BAD_LENGTH", "BAD_VALUE", "UNSUPPORTED", "STATE", "FAULT",
	"NO_PLAN", "WRONG_PLAN", "NO_BOARD", "WRONG_INSERTION", "SPENT", "IN_DOUBT", "COVER_OPEN",
	"HOPPER_EMPTY", "CRC", "PLAN", "INCOMPLETE", "HARDWARE",
}

local STATE = { [0] = "IDLE", "DEALING", "PAUSED", "HELD", "FAULT", "DONE" }
local READER = { [0] = "NONE", "BARCODE", "CAMERA", "OTHER" }
local PARAM = { "SPEED", "READ_RETRIES", "FEED_TIMEOUT", "VOLUME" }
local MODE = { "BY_CARD", "BY_POSITION", "CAPTURE" }
local LOST = { "POWER_ON", "RESET", "FIRMWARE" }
local KEY = { "START", "STOP", "RELEASE" }
local PAUSED_BY = { "HOST", "KEY" }
local JAM = { "FEEDER", "READER", "GATE", "POCKET" }
local KIND = {
	[0x01] = "REQUEST", [0x02] = "PLAN", [0x03] = "GATE", [0x81] = "ANSWER", [0x82] = "EVENT",
}
local ANSWER = { [0] = "DONE", "STALL" }
local CAPABILITY = {
	[0] = "STORED_PLAN", "HOST_ROUTED", "EXIT_SENSORS", "BOARD_READER", "BOARD_LOCK",
	"FACE_SENSOR", "DOUBLE_FEED_SENSOR", "TEST_DEAL", "KEYS", "BY_CARD", "BY_POSITION", "CAPTURE",
	"REFUSES_BY_RESULT", "ATTEST",
}
local STATUS_FLAG = {
	[0] = "BOARD", "COVER_OPEN", "HOPPER", "SPENT", "IN_DOUBT", "CARD_AT_READER",
}
local EVENT_FLAG = { [0] = "FACE_UP", "AT_POWER_ON" }
local COUNTER = {
	"boards_dealt", "boards_voided", "cards_fed", "cards_read", "unreadable", "repeated",
	"not_in_plan", "double_feeds", "feed_timeouts", "jams", "wrong_pockets", "gates_late",
	"gates_ignored", "power_ons", "seconds",
}

-- The card's name, as deal files have it: SA, HT, D2, joker
local CARD = { [52] = "joker", [53] = "joker", [255] = "none" }
for number = 0, 51 do
	local rank = number % 13 + 1
	local suit = (number - number % 13) / 13 + 1
	CARD[number] = ("SHDC"):sub(suit, suit) .. ("AKQJT98765432"):sub(rank, rank)
end

-- -- fields ---------------------------------------------------------------------------------------

local F = {}

local function field(kind, name, title, ...)
	F[name] = ProtoField[kind]("dealbox." .. name, title, ...)
end

local function flags(name, bits, width)
	for bit, title in pairs(bits) do
		field("bool", name .. "." .. title:lower(), title, width, nil, 2 ^ bit)
	end
end

field("string", "dialect", "Dialect")
field("framenum", "request_in", "Request in", base.NONE, frametype.REQUEST)
field("framenum", "answer_in", "Answer in", base.NONE, frametype.RESPONSE)
field("relative_time", "time", "Time from the request")
field("int32", "urb_status", "Status of the transfer")
field("bool", "stalled", "Stalled")
field("bool", "hidden", "Cards and pockets are hidden; the preference \"reveal\" shows them")
field("bytes", "undecoded", "Bytes that the protocol does not define")
field("string", "requirement", "Violated")

field("uint8", "request", "Request", base.HEX, REQUEST)
field("uint8", "request.type", "bmRequestType", base.HEX)
field("uint16", "request.value", "wValue")
field("uint16", "request.index", "wIndex")
field("uint16", "request.length", "wLength")
field("bool", "request.repeated", "Repetition of the last command")
field("uint16", "bytes", "Bytes")

field("uint32", "command.sequence", "Sequence number")
field("uint32", "command.a", "a")
field("uint32", "command.b", "b")
field("uint32", "command.c", "c")
field("bytes", "command.nonce", "Nonce")
field("uint32", "command.plan", "Plan number")
field("uint32", "command.plan_length", "Length of the plan block")
field("uint32", "command.insertion", "Insertion")
field("uint32", "command.cards", "Cards to feed")
field("bool", "command.capture", "Capture", 32, nil, 0x100)
field("uint32", "command.seconds", "Seconds to blink")

field("uint8", "descriptor.length", "bLength")
field("uint8", "descriptor.type", "bDescriptorType", base.HEX)
field("uint8", "descriptor.subtype", "bDescriptorSubtype", base.HEX)
field("uint8", "reader", "Reader", base.DEC, READER)
field("uint16", "protocol", "wProtocol", base.HEX)
field("uint8", "pockets", "Pockets")
field("uint8", "pocket_capacity", "Capacity of a pocket")
field("uint16", "hopper", "Capacity of the hopper")
field("uint16", "plan_cards", "Longest plan")
field("uint32", "capabilities", "Capabilities", base.HEX)
flags("capability", CAPABILITY, 32)
field("uint32", "gate_deadline", "Gate deadline (us)")

field("uint32", "firmware", "Firmware version", base.HEX)
field("uint32", "hardware", "Hardware revision")
field("stringz", "model", "Model")

field("uint8", "status.state", "State", base.DEC, STATE)
field("uint8", "status.fault", "Fault", base.HEX)
field("uint8", "status.flags", "Flags", base.HEX)
flags("status.flag", STATUS_FLAG, 8)
field("uint8", "status.cards_total", "Cards to deal")
field("uint32", "status.plan", "Plan number")
field("uint32", "status.insertion", "Insertion")
field("uint16", "status.board", "Board number")
field("uint8", "status.cards_done", "Cards done")
field("uint32", "status.next_event", "Number of the next event")
field("uint32", "status.clock", "Clock (us)")
field("bytes", "status.counts", "Cards in each pocket")

field("uint32", "result.sequence", "Sequence number")
field("uint8", "result.request", "Request", base.HEX, REQUEST)
field("uint8", "result.error", "Error", base.DEC, ERROR)
field("uint32", "result.detail", "Detail")

for number, name in ipairs(COUNTER) do
	field("uint32", "counter." .. name, "Counter " .. number - 1 .. ": " .. name)
end

field("uint32", "param", "Parameter", base.DEC, PARAM)
field("uint32", "param.value", "Value")
field("uint32", "param.min", "Least value")
field("uint32", "param.max", "Greatest value")

field("uint32", "identity.flags", "Flags", base.HEX)
field("bool", "identity.emulated", "EMULATED", 32, nil, 1)
field("uint32", "identity.counter", "Counter of the last attestation")
field("bytes", "identity.key_id", "Key id")
field("bytes", "identity.public_key", "Public key")
field("uint32", "statement.magic", "Magic", base.HEX)
field("uint16", "statement.version", "Version", base.HEX)
field("uint8", "statement.flags", "Flags", base.HEX)
field("bool", "statement.emulated", "EMULATED", 8, nil, 1)
field("bool", "statement.plan", "PLAN", 8, nil, 2)
field("bytes", "statement.key_id", "Key id")
field("uint32", "statement.counter", "Counter")
field("uint32", "statement.insertion", "Insertion")
field("uint32", "statement.events", "Events")
field("bytes", "statement.plan_digest", "Plan digest")
field("bytes", "statement.event_digest", "Event digest")
field("bytes", "signature", "Signature")

field("uint8", "plan", "Plan block", base.HEX)
field("uint32", "plan.magic", "Magic", base.HEX)
field("uint16", "plan.version", "Version", base.HEX)
field("uint8", "plan.mode", "Mode", base.DEC, MODE)
field("uint32", "plan.number", "Plan number")
field("uint8", "plan.entries", "Entries")
field("uint8", "plan.feed", "Cards to feed")
field("bytes", "plan.counts", "Cards for each pocket")
field("bytes", "plan.entry_bytes", "Entries, as bytes")
field("uint8", "plan.card", "Card", base.DEC, CARD)
field("uint8", "plan.position", "Position")
field("uint8", "plan.pocket", "Pocket")
field("uint32", "plan.crc", "CRC-32C", base.HEX)
field("bool", "plan.crc_good", "CRC-32C is right")

field("uint8", "event", "Event", base.HEX, EVENT)
field("uint8", "event.flags", "Flags", base.HEX)
flags("event.flag", EVENT_FLAG, 8)
field("uint32", "event.number", "Number")
field("uint32", "event.clock", "Clock (us)")
field("uint32", "event.insertion", "Insertion")
field("uint8", "event.position", "Position")
field("uint8", "event.card", "Card", base.DEC, CARD)
field("uint8", "event.pocket", "Pocket")
field("uint8", "event.quality", "Quality of the reading")
field("uint32", "event.code", "Code", base.HEX)
field("uint32", "event.arg0", "arg 0")
field("uint32", "event.arg1", "arg 1")
field("uint32", "event.lost", "Reason", base.DEC, LOST)
field("uint32", "event.board", "Board number")
field("uint32", "event.key", "Key", base.DEC, KEY)
field("uint32", "event.pressed", "Pressed")
field("uint32", "event.plan", "Plan number")
field("uint32", "event.error", "Error", base.DEC, ERROR)
field("uint32", "event.detail", "Detail")
field("uint32", "event.cards", "Cards to feed")
field("bytes", "event.counts", "Cards in each pocket")
field("uint32", "event.paused", "Reason", base.DEC, PAUSED_BY)
field("uint32", "event.fault", "Fault", base.HEX)
field("uint32", "event.counter", "Counter")
field("uint32", "event.deal", "Insertion of the deal")
field("uint32", "event.first", "Position of the first reading")
field("uint32", "event.place", "Place", base.DEC, JAM)
field("uint32", "event.planned", "Pocket where it should be")
field("uint32", "event.reading", "What the reader saw", base.HEX)

field("uint8", "gate", "Gate command, type", base.HEX)
field("uint8", "gate.pocket", "Pocket")
field("bool", "gate.hold", "Hold")
field("uint8", "gate.reason", "Reason for hold", base.HEX)
field("uint8", "gate.position", "Position")
field("uint32", "gate.event", "Number of the CARD_READ event")
field("uint32", "gate.insertion", "Insertion")
field("uint32", "gate.first", "Position of the first reading")

field("uint8", "frame", "Frame", base.HEX)
field("uint8", "frame.kind", "Kind", base.HEX, KIND)
field("uint8", "frame.tag", "Tag")
field("uint8", "frame.length", "Length")
field("uint8", "frame.status", "Status", base.DEC, ANSWER)
field("uint32", "frame.sum", "CRC-32C", base.HEX)
field("bool", "frame.sum_good", "CRC-32C is right")
field("bool", "frame.incomplete", "The rest follows in another transfer")
field("uint32", "frame.dropped", "Bytes that are no frame")

dealbox.fields = F

-- -- preferences ----------------------------------------------------------------------------------

dealbox.prefs.reveal = Pref.bool("Reveal cards and pockets", false,
	"Show which card is where. The people who look on may play tomorrow.")
dealbox.prefs.machines = Pref.string("Machines (bus.device)", "",
	"Machines whose descriptors are not in the capture, such as \"1.5, 2.7\"")

-- -- requirements ---------------------------------------------------------------------------------
-- What look() finds: the requirement, how sure that is, and who did what. BAD: the page forbids
-- it. WARN: a time limit, measured where the computer sees the transfers. NOTE: allowed, and worth
-- a look.

local RULE = {}
local BAD, WARN, NOTE = expert.severity.ERROR, expert.severity.WARN, expert.severity.NOTE

local function rule(key, requirement, severity, text)
	RULE[key] = {
		requirement = requirement,
		text = requirement .. ": " .. text,
		expert = ProtoExpert.new("dealbox.bad." .. key, text, expert.group.PROTOCOL, severity),
	}
end

-- general
rule("reserved", "R-0-2", BAD, "a reserved field is not zero")
-- descriptors
rule("alternate", "R-1-1", BAD, "the interface has another alternate setting than 0")
rule("select_alternate", "R-1-3", BAD, "host: selects another alternate setting")
rule("endpoints", "R-1-5", BAD, "the endpoints are not those of this kind of machine")
rule("transactions", "R-1-6", BAD, "an interrupt endpoint has more than one transaction")
rule("further_endpoint", "R-1-7", BAD, "host: uses a further endpoint")
rule("device_class", "R-1-8", BAD, "bDeviceClass is neither 00 nor ef")
rule("descriptor", "R-1.1-1", BAD, "a field of the machine descriptor is out of range")
rule("capability", "R-1.1-1", BAD, "the machine has not the capability for this event")
rule("no_deadline", "R-1.1-3", BAD, "the gate deadline of a host-routed machine is 0")
rule("deadline", "R-1.1-4", BAD, "a gate deadline on a stored-plan machine")
rule("kind", "R-1.1-7", BAD, "not exactly one of STORED_PLAN and HOST_ROUTED")
rule("modes", "R-1.1-8", BAD, "neither BY_CARD nor BY_POSITION")
rule("undescribed", "R-1.1-12", BAD, "host: asks something else before DESCRIBE")
rule("writes_early", "R-1.1-13", BAD, "host: writes before it has the descriptor")
rule("serial_endpoints", "R-S1-1", BAD, "the endpoints are not those of the serial dialect")
-- configuration
rule("first_event", "R-1.2-2", BAD, "STATE_LOST with number 1 is not the first event")
rule("lost_reason", "R-1.2-2", BAD, "STATE_LOST has another reason")
-- requests
rule("request_type", "R-2-1", BAD, "host: a request of another type, or to another interface")
rule("foreign", "R-2-2", BAD, "a request to another interface is not stalled")
rule("answer_late", "R-2-3", WARN, "the answer took more than 500 ms")
rule("host_hurry", "R-2-4", WARN, "host: gives up before 1000 ms")
rule("answer_size", "R-2.1-1", BAD, "the answer has another size")
rule("query_unknown", "R-2.1-2", BAD, "a query that the page does not have is answered")
rule("query_stalled", "R-2.1-3", BAD, "a query is stalled")
rule("status_plan", "R-2.1-5", BAD, "GET_STATUS has another plan number than the loaded plan")
rule("no_describe", "R-2.1-8", BAD, "DESCRIBE is stalled, and the descriptor is nowhere else")
rule("status", "R-2.1-9", BAD, "GET_STATUS contradicts the events before its next number")
rule("status_fault", "R-2.1-9", BAD, "GET_STATUS: the fault does not fit the state")
-- commands
rule("command_form", "R-2.2-1", BAD, "host: wValue, length or sequence number of a command")
rule("not_refused", "R-2.2-2", BAD, "GET_RESULT contradicts the end of the command's transfer")
rule("repetition", "R-2.2-4", BAD, "a repeated command ended otherwise than the first time")
rule("last_command", "R-2.2-5", BAD, "GET_RESULT does not name the last command")
rule("sequence_found", "R-2.2-7", BAD,
	"host: no GET_RESULT before the first command, or its number")
rule("sequence_reused", "R-2.2-8", BAD, "host: another command with the same sequence number")
rule("refuses_by_stall", "R-2.2-9", BAD, "REFUSES_BY_RESULT, and a command is stalled")
rule("must_refuse", "R-2.3-1", NOTE, "host: a command that the machine must refuse")
rule("accepted", "R-2.3-1", BAD, "a command is accepted that must be refused")
rule("check_order", "R-2.3-1", BAD, "another check of the command fails before")
rule("value_detail", "R-2.3-2", BAD, "the detail of BAD_VALUE is not 1 to 5")
rule("error_unknown", "R-2.3-3", NOTE, "an unknown error code, which counts as HARDWARE")
rule("value_accepted", "R-2.3-5", BAD, "a command with such a value is accepted")
rule("unsupported_accepted", "R-2.3-6", BAD, "a command without its capability is accepted")
-- plans
rule("plan_unannounced", "R-3-1", BAD, "host: a plan block that LOAD has not announced so")
rule("plan_not_stalled", "R-3-3", BAD, "a plan block without LOAD is not stalled")
rule("plan_unchecked", "R-3-5", BAD, "a plan block that is not right is accepted")
rule("plan_refused", "R-3-5", BAD, "a plan block that is right is refused")
rule("plan_late", "R-3-5", WARN, "PLAN_LOADED took more than 500 ms")
rule("plan_incomplete", "R-3-6", BAD, "INCOMPLETE, though the block came")
rule("load_nothing", "R-3-9", BAD, "PLAN_LOADED, and nothing was to be loaded")
rule("test_in_load", "R-3-15", BAD, "host: TEST_DEAL between LOAD and PLAN_LOADED")
rule("plan_sum", "R-3-12", BAD, "host: the checksum of the plan block is wrong")
rule("plan_form", "R-3-12", BAD, "host: a field of the plan block is wrong")
rule("not_as_planned", "R-3-12", BAD, "the card goes to another pocket than the plan says")
rule("plan_check_order", "R-3-13", BAD, "the plan block is refused for another reason")
rule("plan_offset", "R-3-14", BAD, "PLAN names another offset than the first field at fault")
-- events
rule("event_length", "R-4-1", BAD, "a transfer of events is not a multiple of 32 bytes")
rule("event_packet", "R-4-1", BAD, "a transfer of events is larger than wMaxPacketSize")
rule("event_empty", "R-4-3", BAD, "a transfer of events is empty")
rule("clock_back", "R-4-4", BAD, "the machine's clock went back")
rule("event_insertion", "R-4-4", BAD, "the insertion is not that of the board that is present")
rule("event_unused", "R-4-4", BAD,
	"position, card, pocket or quality is not 255, though there is none")
rule("event_gap", "R-4-5", BAD, "event numbers are missing (R-4-12: the queue may have been full)")
rule("event_number", "R-4-5", BAD, "an event number again, or an earlier one")
rule("event_args", "R-4-6", BAD, "code or an arg is not 0 where the page says nothing")
rule("event_unknown", "R-4-7", NOTE, "an unknown event, which is ignored and counted")
rule("event_range", "R-4-9", BAD, "card, pocket, quality or position is out of range")
rule("position", "R-4-10", BAD, "the position of a card is not below 64")
rule("quality", "R-4-13", BAD, "a card is named, though the quality is 1 to 49")
rule("machine_event", "R-4.1-1", BAD, "an event of the machine that cannot have happened")
rule("deal_event", "R-4.2-1", BAD,
	"an event of a deal that cannot have happened, or says something else")
rule("card_order", "R-4.2-2", BAD, "not CARD_READ, CARD_ROUTED, CARD_LANDED of the same card")
rule("done_early", "R-4.2-3", BAD, "DEAL_DONE before the last card has landed")
rule("no_reader", "R-4.2-4", BAD, "a reading by a machine without reader")
rule("landed_elsewhere", "R-4.3-1", BAD,
	"the card landed in another pocket, and that is no WRONG_POCKET")
rule("stop_missing", "R-4.3-1", BAD, "a card that must stop the deal goes on")
rule("stop_kind", "R-4.3-1", BAD,
	"a stop that this kind of machine does not have, or that contradicts the deal")
rule("repeated", "R-4.3-2", BAD, "a card for the second time, and the deal goes on")
rule("not_held", "R-4.3-3", BAD, "host: a repeated card gets a pocket")
rule("read_and_stop", "R-4.3-4", BAD, "CARD_READ of a card that stops the deal")
rule("stop_late", "R-4.3-8", WARN, "a stop more than 300 ms behind DEAL_DONE")
-- states, time limits, insertions
rule("state_accepted", "R-5-1", BAD, "a command is accepted in a state in which it is not allowed")
rule("state_refused", "R-5-1", BAD,
	"a command is refused with STATE in a state in which it is allowed")
rule("event_late", "R-5.1-1", WARN, "the event that ends a command came too late")
rule("insertion", "R-5.2-1", BAD, "an insertion number that is 0, or was used before")
rule("spent", "R-5.2-3", BAD, "START for a spent insertion is accepted")
rule("doubt", "R-5.2-7", BAD, "START for a board in doubt is accepted")
rule("lost_order", "R-5.2-8", BAD, "the events behind STATE_LOST are in another order")
-- attestations
rule("attestable", "R-5.3-6", BAD, "ATTEST for an insertion whose deal did not end is accepted")
rule("attested_error", "R-5.3-8", BAD, "ATTESTED with an error has a counter")
rule("counter", "R-5.3-10", BAD, "the counter of attestations is not one more")
rule("statement_time", "R-5.3-12", BAD,
	"a statement that is not there is answered, or one that is there is not")
rule("no_attest", "R-5.3-13", BAD, "an answer without ATTEST")
rule("statement", "R-5.3-14", BAD, "the statement has another form")
rule("plan_digest", "R-5.3-15", BAD, "PLAN in the statement does not fit this kind of machine")
rule("nonce", "R-5.3-17", BAD, "host: the nonce of another ATTEST")
-- gates
rule("gate_form", "R-6-1", BAD, "host: a field of the gate command is wrong")
rule("gate_length", "R-6-2", BAD, "host: a gate command has another length than 16")
rule("gate_nobody", "R-6-3", BAD, "host: the gate command answers no card that waits")
rule("gate_pocket", "R-6-4", BAD, "the card goes to another pocket than the gate command says")
rule("gate_hold", "R-6-5", BAD, "the card was held, and its stop is not the reason")
rule("gate_late", "R-6-6", WARN, "host: the gate command came after the deadline")
rule("guessed", "R-6-6", BAD, "the card went on without a gate command")
rule("read_unreadable", "R-6-9", BAD,
	"CARD_READ without a card on a host-routed machine with a reader")
rule("test_pocket", "R-7-1", BAD, "the card of a test deal goes to another pocket")
rule("test_number", "R-7-2", BAD, "a test deal has another plan number than ffffffff")
-- serial dialect
rule("frame_bad", "R-S2-1", BAD, "bytes that are no frame, or a wrong checksum")
rule("frame_tag", "R-S2-1", BAD, "the tag of the frame")
rule("frame_split", "R-S2-2", BAD, "host: a frame is not one transfer")
rule("frame_kind", "R-S2-5", NOTE,
	"a frame of an unknown kind, or with another length, which is ignored")
rule("two_requests", "R-S3-1", BAD, "host: a REQUEST before the ANSWER of the last one")
rule("answer_tag", "R-S3-2", BAD, "an ANSWER that no REQUEST asked for, or with another status")
rule("serial_by_result", "R-S3-10", BAD, "REFUSES_BY_RESULT in the serial dialect")

local experts = {}
for _, entry in pairs(RULE) do
	table.insert(experts, entry.expert)
end
dealbox.experts = experts

-- -- bytes ----------------------------------------------------------------------------------------
-- Strings of bytes; offsets count from 0. Bytes that are not there are 0.

local function u8(bytes, at)
	return bytes:byte(at + 1) or 0
end

local function u16(bytes, at)
	return u8(bytes, at) + 256 * u8(bytes, at + 1)
end

local function u32(bytes, at)
	return u16(bytes, at) + 65536 * u16(bytes, at + 2)
end

local function bit_of(number, bit)
	return math.floor(number / 2 ^ bit) % 2 == 1
end

-- Lua has had three ways to say it.
local bxor = bit32 and bit32.bxor or bit and bit.bxor or
	load("return function(a, b) return a ~ b end")()

local function xor(a, b)
	return bxor(a, b) % 2 ^ 32
end

local crc_table = {}
for byte = 0, 255 do
	local crc = byte
	for _ = 1, 8 do
		local low = crc % 2
		crc = math.floor(crc / 2)
		if low == 1 then
			crc = xor(crc, 0x82f63b78)
		end
	end
	crc_table[byte] = crc
end

-- CRC-32C, section 3 of the page
local function crc32c(bytes)
	local crc = 0xffffffff
	for at = 1, #bytes do
		crc = xor(crc_table[xor(crc % 256, bytes:byte(at))], math.floor(crc / 256))
	end
	return xor(crc, 0xffffffff)
end

-- -- layouts --------------------------------------------------------------------------------------
-- { offset, size, name of the field [, SECRET] }

local function bits_at(layout, at, size, name, bits)
	for bit = 0, 31 do
		if bits[bit] then
			table.insert(layout, { at, size, name .. "." .. bits[bit]:lower() })
		end
	end
end

local DESCRIPTOR = {
	{ 0, 1, "descriptor.length" }, { 1, 1, "descriptor.type" }, { 2, 1, "descriptor.subtype" },
	{ 3, 1, "reader" }, { 4, 2, "protocol" }, { 6, 1, "pockets" }, { 7, 1, "pocket_capacity" },
	{ 8, 2, "hopper" }, { 10, 2, "plan_cards" }, { 16, 4, "gate_deadline" },
	{ 12, 4, "capabilities" },
}
bits_at(DESCRIPTOR, 12, 4, "capability", CAPABILITY)

local STATUS = {
	{ 0, 1, "status.state" }, { 1, 1, "status.fault" }, { 3, 1, "status.cards_total" },
	{ 4, 4, "status.plan" }, { 8, 4, "status.insertion" }, { 12, 2, "status.board" },
	{ 14, 1, "status.cards_done" }, { 16, 4, "status.next_event" }, { 20, 4, "status.clock" },
	{ 24, 8, "status.counts" }, { 2, 1, "status.flags" },
}
bits_at(STATUS, 2, 1, "status.flag", STATUS_FLAG)

local COUNTERS = {}
for number, name in ipairs(COUNTER) do
	COUNTERS[number] = { 4 * number - 4, 4, "counter." .. name }
end

local RESULT = {
	{ 0, 4, "result.sequence" }, { 4, 1, "result.request" }, { 5, 1, "result.error" },
	{ 8, 4, "result.detail" },
}
-- A checksum of a plan tells a card to somebody who knows the others.
local RESULT_CRC = {
	{ 0, 4, "result.sequence" }, { 4, 1, "result.request" }, { 5, 1, "result.error" },
	{ 8, 4, "result.detail", SECRET },
}

-- Answers, by request
local REPLY = {
	[0x00] = DESCRIPTOR,
	[0x01] = {
		{ 0, 2, "protocol" }, { 4, 4, "firmware" }, { 8, 4, "hardware" }, { 16, 32, "model" },
	},
	[0x02] = STATUS,
	[0x03] = RESULT,
	[0x04] = COUNTERS,
	[0x05] = {
		{ 0, 4, "param" }, { 4, 4, "param.value" }, { 8, 4, "param.min" }, { 12, 4, "param.max" },
	},
	[0x06] = {
		{ 0, 4, "identity.flags" }, { 0, 4, "identity.emulated" }, { 4, 4, "identity.counter" },
		{ 8, 8, "identity.key_id" }, { 16, 32, "identity.public_key" },
	},
	[0x07] = {
		{ 0, 4, "statement.magic" }, { 4, 2, "statement.version" }, { 6, 1, "statement.flags" },
		{ 6, 1, "statement.emulated" }, { 6, 1, "statement.plan" }, { 8, 8, "statement.key_id" },
		{ 16, 4, "statement.counter" }, { 20, 4, "statement.insertion" },
		{ 24, 4, "statement.events" }, { 32, 32, "statement.plan_digest" },
		{ 64, 32, "statement.event_digest" },
	},
	[0x08] = { { 0, 64, "signature" } },
}

-- Size of an answer in bytes, by request
local REPLY_SIZE = {
	[0x00] = 24, [0x01] = 64, [0x02] = 32, [0x03] = 16, [0x04] = 64, [0x05] = 16, [0x06] = 48,
	[0x07] = 96, [0x08] = 64,
}

-- a, b and c of the commands where they have a meaning
local COMMAND = {
	[0x10] = { { 4, 4, "param" }, { 8, 4, "param.value" } },
	[0x11] = { { 4, 4, "command.plan" }, { 8, 4, "command.plan_length" } },
	[0x12] = {
		{ 4, 4, "command.plan" }, { 8, 4, "command.insertion" }, { 12, 1, "command.cards" },
		{ 12, 4, "command.capture" },
	},
	[0x19] = { { 8, 4, "command.insertion" }, { 12, 4, "command.cards" } },
	[0x1a] = { { 4, 4, "command.seconds" } },
	-- the nonce is secret as long as the cards are (R-5.3-18)
	[0x1b] = { { 8, 4, "command.insertion" }, { 16, 32, "command.nonce", SECRET } },
}
local PLAIN_COMMAND = { { 4, 4, "command.a" }, { 8, 4, "command.b" }, { 12, 4, "command.c" } }

local PLAN = {
	{ 0, 4, "plan.magic" }, { 4, 2, "plan.version" }, { 6, 1, "plan.mode" },
	{ 8, 4, "plan.number" }, { 12, 1, "plan.entries" }, { 13, 1, "plan.feed" },
	{ 16, 8, "plan.counts" },
}

local EVENT_HEAD = {
	{ 4, 4, "event.number" }, { 8, 4, "event.clock" },
	{ 12, 4, "event.insertion" }, { 16, 1, "event.position" }, { 17, 1, "event.card", SECRET },
	{ 18, 1, "event.pocket", SECRET }, { 19, 1, "event.quality" }, { 1, 1, "event.flags" },
}
bits_at(EVENT_HEAD, 1, 1, "event.flag", EVENT_FLAG)

local READING = { { 20, 4, "event.reading", SECRET } }
-- code and args, by event; where nothing stands here they are shown as numbers
local EVENT_TAIL = {
	[0x01] = { { 20, 4, "event.lost" } },
	[0x04] = { { 24, 4, "event.board" } },
	[0x08] = { { 20, 4, "event.key" }, { 24, 4, "event.pressed" } },
	[0x10] = { { 20, 4, "event.plan" }, { 24, 4, "event.error" }, { 28, 4, "event.detail" } },
	[0x11] = { { 20, 4, "event.plan" }, { 24, 4, "event.cards" } },
	[0x12] = READING,
	[0x13] = {},
	[0x14] = {},
	[0x15] = { { 20, 4, "event.plan" }, { 24, 8, "event.counts" } },
	[0x16] = { { 20, 4, "event.paused" } },
	[0x18] = { { 20, 4, "event.plan" } },
	[0x19] = { { 20, 4, "event.fault" } },
	[0x1a] = { { 20, 4, "event.counter" }, { 24, 4, "event.error" }, { 28, 4, "event.deal" } },
	[0x20] = READING,
	[0x21] = READING,
	[0x28] = { { 20, 4, "event.reading", SECRET }, { 24, 4, "event.first" } },
	[0x2a] = { { 20, 4, "event.place" } },
	[0x2b] = { { 24, 4, "event.planned", SECRET } },
}
local PLAN_LOADED_CRC = {
	{ 20, 4, "event.plan" }, { 24, 4, "event.error" }, { 28, 4, "event.detail", SECRET },
}
local PLAIN_TAIL = { { 20, 4, "event.code" }, { 24, 4, "event.arg0" }, { 28, 4, "event.arg1" } }

local GATE = {
	{ 1, 1, "gate.pocket", SECRET }, { 2, 1, "gate.reason" },
	{ 3, 1, "gate.position" }, { 4, 4, "gate.event" }, { 8, 4, "gate.insertion" },
	{ 12, 4, "gate.first" },
}

local function event_tail(bytes)
	local kind = u8(bytes, 0)
	if kind == 0x10 and u32(bytes, 24) == 15 then
		return PLAN_LOADED_CRC
	end
	return EVENT_TAIL[kind] or PLAIN_TAIL
end

-- Fields in which 255 means that there is none
local NONE = {
	["event.position"] = true, ["event.pocket"] = true, ["event.quality"] = true,
}
-- Fields with the type of an event, or 0
local EVENT_OR_NONE = { ["status.fault"] = true, ["event.fault"] = true, ["gate.reason"] = true }

-- -- the tree -------------------------------------------------------------------------------------

-- Add the fields of a layout that lie within the range. Returns true if some are hidden.
local function add_layout(tree, range, layout)
	local hidden = false
	for _, item in ipairs(layout) do
		local at, size, name, secret = item[1], item[2], item[3], item[4]
		if at + size <= range:len() then
			if secret and not dealbox.prefs.reveal then
				hidden = true
			else
				local item = tree:add_le(F[name], range(at, size))
				if NONE[name] and range(at, 1):uint() == 255 then
					item:append_text(" (none)")
				elseif EVENT_OR_NONE[name] then
					item:append_text(" (" .. (EVENT[range(at, 1):uint()] or "none") .. ")")
				elseif name == "protocol" then
					item:append_text((" (%d.%d)"):format(range(at + 1, 1):uint(), range(at, 1):uint()))
				elseif name == "firmware" then
					item:append_text((" (%d.%d.%d)"):format(range(at + 3, 1):uint(), range(at + 2, 1):uint(),
					                                        range(at, 2):le_uint()))
				end
			end
		end
	end
	return hidden
end

local function add_hidden(tree, hidden)
	if hidden then
		tree:add(F.hidden, true):set_generated()
	end
end

-- Bytes behind what is defined
local function add_rest(tree, range, used)
	if range:len() > used and dealbox.prefs.reveal then
		tree:add(F.undecoded, range(used))
	elseif range:len() > used then
		tree:add(F.bytes, range:len() - used):append_text(" that the protocol does not define")
	end
end

local SHOW = {}

function SHOW.event(tree, range, part)
	local kind = u8(part.bytes, 0)
	local item = tree:add(F.event, range(0, 1))
	if #part.bytes >= 8 then
		item:set_text(("Event %.0f: %s"):format(u32(part.bytes, 4), EVENT[kind] or "unknown"))
	end
	local hidden = add_layout(item, range, EVENT_HEAD)
	local tail = #part.bytes >= 28 and event_tail(part.bytes) or {}
	hidden = add_layout(item, range, tail) or hidden
	-- most events have neither card nor pocket
	add_hidden(item, hidden and (kind == 0x10 or kind >= 0x12 and kind <= 0x14 or kind >= 0x20))
end

function SHOW.gate(tree, range, part)
	local item = tree:add(F.gate, range(0, 1))
	local hidden = add_layout(item, range, GATE)
	if #part.bytes >= 2 then
		item:add(F["gate.hold"], range(0, 1), u8(part.bytes, 1) == 255):set_generated()
	end
	add_hidden(item, hidden)
	add_rest(item, range, 16)
end

function SHOW.plan(tree, range, part)
	local item = tree:add(F.plan, range(0, 1))
	local count = u8(part.bytes, 12)
	item:set_text(("Plan block: plan %.0f"):format(u32(part.bytes, 8)))
	add_layout(item, range, PLAN)
	if range:len() >= 36 + count then
		local good = crc32c(part.bytes:sub(1, 32 + count)) == u32(part.bytes, 32 + count)
		item:add(F["plan.crc_good"], range(0, 1), good):set_generated()
	end
	if not dealbox.prefs.reveal then
		add_hidden(item, true)
		return
	end
	if range:len() < 36 + count then
		add_rest(item, range, 32)
		return
	end
	item:add_le(F["plan.crc"], range(32 + count, 4))
	if count == 0 then
		return
	end
	local entries = item:add(F["plan.entry_bytes"], range(32, count))
	local by_card = u8(part.bytes, 6) == 1
	for k = 0, count - 1 do
		local pocket = range(32 + k, 1)
		if by_card then
			entries:add(F["plan.card"], pocket, k)
		else
			entries:add(F["plan.position"], pocket, k)
		end
		entries:add(F["plan.pocket"], pocket)
	end
	add_rest(item, range, 36 + count)
end

-- A request: its setup packet or the head of its frame, and the data of a command
function SHOW.request(tree, range, part)
	local q = part.request
	tree:add(F.request, q.code)
	if q.kind then
		tree:add(F["request.type"], q.kind)
		tree:add(F["request.index"], q.index)
		tree:add(F["request.length"], q.length)
	end
	tree:add(F["request.value"], q.value)
	if q.repeated then
		tree:add(F["request.repeated"], true):set_generated()
	end
	if not q.command or not range then
		return
	end
	if range:len() >= 4 then
		tree:add_le(F["command.sequence"], range(0, 4))
	end
	add_hidden(tree, add_layout(tree, range, COMMAND[q.code] or PLAIN_COMMAND))
	add_rest(tree, range, q.code == 0x1b and 48 or 16)
end

function SHOW.answer(tree, range, part)
	local q = part.request
	if q then
		tree:add(F.request, q.code):set_generated()
		tree:add(F.request_in, q.frame):set_generated()
		local seconds = math.floor(part.time)
		local time = NSTime.new(seconds, math.floor((part.time - seconds) * 1e6 + 0.5) * 1000)
		tree:add(F.time, time):set_generated()
	end
	if part.status ~= 0 then
		tree:add(F.stalled, part.status == -32)
		if part.status ~= -32 then
			tree:add(F.urb_status, part.status)
		end
	end
	if not q or not range or part.status ~= 0 then
		return
	end
	local layout = REPLY[q.code] or {}
	if q.code == 0x03 and u8(part.bytes, 5) == 15 then
		layout = RESULT_CRC
	end
	add_hidden(tree, add_layout(tree, range, layout))
	add_rest(tree, range, REPLY_SIZE[q.code] or 0)
end

function SHOW.descriptor(tree, range)
	add_layout(tree, range, DESCRIPTOR)
end

local FRAME = { { 1, 1, "frame.kind" }, { 2, 1, "frame.tag" }, { 3, 1, "frame.length" } }

-- The head of a frame of the serial dialect; its contents are a part of their own.
function SHOW.frame(tree, range, part)
	local item = tree:add(F.frame, range(0, 1))
	item:set_text("Frame: " .. (KIND[part.kind] or "unknown"))
	add_layout(item, range, FRAME)
	item:add(F["frame.sum_good"], true):set_generated()
	if dealbox.prefs.reveal then
		item:add_le(F["frame.sum"], range(range:len() - 4, 4))
	end
	if part.kind == 0x81 and u8(part.bytes, 3) > 0 then
		item:add(F["frame.status"], range(4, 1))
	end
end

function SHOW.incomplete(tree)
	tree:add(F["frame.incomplete"], true):set_generated()
end

function SHOW.dropped(tree, _, part)
	tree:add(F["frame.dropped"], part.count):set_generated()
end

function SHOW.other(tree, range)
	add_rest(tree, range, 0)
end

local function hex(bytes)
	return (bytes:gsub(".", function(c) return ("%02x"):format(c:byte()) end))
end

-- Build the tree of a record. tvb: the whole packet
local function show(record, tvb, tree, pinfo)
	pinfo.cols.protocol = "DEALBOX"
	if #record.info > 0 then
		pinfo.cols.info = table.concat(record.info, ", ")
	end
	local top = tree:add(dealbox, tvb(0, 1))
	top:append_text(", " .. table.concat(record.info, ", "))
	top:add(F.dialect, record.machine.serial and "serial" or "native"):set_generated()
	if record.answer_in then
		top:add(F.answer_in, record.answer_in):set_generated()
	end
	for _, part in ipairs(record.parts) do
		local range
		if part.at and part.at + #part.bytes <= tvb:len() and #part.bytes > 0 then
			range = tvb(part.at, #part.bytes)
		elseif part.bytes and #part.bytes > 0 then
			range = ByteArray.new(hex(part.bytes)):tvb("Frame of several transfers"):range()
		end
		if range or part.optional then
			SHOW[part.show](top, range, part)
		end
	end
	for _, bad in ipairs(record.bad) do
		local entry = RULE[bad.key]
		local item = top:add(F.requirement, entry.requirement)
		item:set_generated()
		item:add_proto_expert_info(entry.expert,
			entry.text .. (bad.detail and " (" .. bad.detail .. ")" or ""))
	end
end

-- -- plans ----------------------------------------------------------------------------------------

-- The pockets of a plan block; nil if its length is not that of its entries
local function plan_of(bytes)
	if #bytes < 36 or #bytes ~= 36 + u8(bytes, 12) then
		return nil
	end
	local plan = { number = u32(bytes, 8), mode = u8(bytes, 6), feed = u8(bytes, 13), pocket = {} }
	for k = 0, u8(bytes, 12) - 1 do
		plan.pocket[k] = u8(bytes, 32 + k)
	end
	return plan
end

-- What a machine must find in a plan block, section 3: error code and detail. 0 if it is right.
-- d: the machine descriptor
local function plan_fault(bytes, load, d)
	local n = u8(bytes, 12)
	if #bytes < 36 or #bytes ~= 36 + n or #bytes ~= load.length then
		return 16, 12
	end
	local sum = crc32c(bytes:sub(1, -5))
	if sum ~= u32(bytes, #bytes - 4) then
		return 15, sum
	end
	local mode = u8(bytes, 6)
	local most = mode == 3 and 1 or mode == 1 and math.min(54, d.plan_cards) or d.plan_cards
	local feed, counts = 0, {}
	for k = 0, mode == 3 and -1 or n - 1 do
		local pocket = u8(bytes, 32 + k)
		feed = feed + ((mode ~= 1 or pocket ~= 255) and 1 or 0)
		counts[pocket] = (counts[pocket] or 0) + 1
	end
	if u32(bytes, 0) ~= 0x50584244 then
		return 16, 0
	elseif u8(bytes, 5) ~= 1 then
		return 16, 4
	elseif mode < 1 or mode > 3 or not bit_of(d.capabilities, 8 + mode) then
		return 16, 6
	elseif u8(bytes, 7) ~= 0 then
		return 16, 7
	elseif u32(bytes, 8) ~= load.number then
		return 16, 8
	elseif n == 0 or n > most then
		return 16, 12
	elseif u8(bytes, 13) ~= feed or feed == 0 and mode ~= 3 then
		return 16, 13
	elseif u16(bytes, 14) ~= 0 then
		return 16, 14
	end
	for pocket = 0, 7 do
		local count = u8(bytes, 16 + pocket)
		if count ~= (counts[pocket] or 0) or count > d.pocket_capacity then
			return 16, 16 + pocket
		end
	end
	if u32(bytes, 24) ~= 0 or u32(bytes, 28) ~= 0 then
		return 16, 24
	end
	for k = 0, n - 1 do
		local pocket = u8(bytes, 32 + k)
		if pocket >= d.pockets and not (mode == 1 and pocket == 255) then
			return 16, 32 + k
		end
	end
	return 0, 0
end

-- -- what is known of a machine -------------------------------------------------------------------

local machines	-- by bus * 65536 + device
local classes	-- of devices: bDeviceClass, by the same
local controls	-- control transfers that are not complete, by device and URB

local IDLE, DEALING, PAUSED, HELD, FAULT, DONE = 0, 1, 2, 3, 4, 5

local function machine_new()
	return {
		endpoints = nil,	-- uses by address, where the descriptors are in the capture
		interface = nil,
		serial = nil,		-- dialect: true, false, nil = not known yet
		d = nil,		-- the machine descriptor
		watched = false,	-- the capture has everything since the machine was configured
		flight = {},		-- requests that are not answered, by URB; serial: one, as "tag"
		spent = {},		-- insertions
		seen = {},		-- insertions
		removed = {},		-- insertions
		waits = {},		-- events that must come, by type
		nonces = {},
		streams = { [true] = "", [false] = "" },	-- serial: from, to the machine
	}
end

-- Events or bytes are missing: forget what was derived from them.
local function lose_track(m)
	m.next, m.clock, m.state, m.ending, m.board, m.deal, m.load = nil
	m.plan, m.plan_known, m.attestable, m.statement, m.waiting = nil
	m.waits = {}
	m.doubtful, m.told_lost = nil
end

function forget()
	machines, controls, classes = {}, {}, {}
end

function adopt(key)
	machines[key] = machines[key] or machine_new()
end

function known(key)
	return machines[key] ~= nil
end

local function capable(m, bit)
	return m.d and bit_of(m.d.capabilities, bit)
end

-- False only if the descriptor is known and lacks the bit
local function may(m, bit)
	return not m.d or bit_of(m.d.capabilities, bit)
end

local function record_of(m, p)
	return { machine = m, parts = {}, info = {}, bad = {}, time = p.time, number = p.number }
end

local function bad(r, key, detail, ...)
	table.insert(r.bad, { key = key, detail = detail and detail:format(...) })
end

local function say(r, text, ...)
	table.insert(r.info, text:format(...))
end

local function add_part_of(r, show_as, bytes, at, more)
	local part = more or {}
	part.show, part.bytes, part.at = show_as, bytes, at
	table.insert(r.parts, part)
	return part
end

-- Reserved fields may have a meaning in a later minor version (R-0-4).
local function check_reserved(m, r, bytes, ...)
	if m.d and m.d.version > 0x0101 then
		return
	end
	for _, field_at in ipairs({ ... }) do
		for at = field_at[1], field_at[1] + field_at[2] - 1 do
			if u8(bytes, at) ~= 0 then
				bad(r, "reserved", "offset %d", at)
				return
			end
		end
	end
end

-- -- descriptors ----------------------------------------------------------------------------------

-- Take the machine descriptor, and check it. Section 1.1
local function take_descriptor(m, r, bytes)
	local d = {
		reader = u8(bytes, 3), version = u16(bytes, 4), pockets = u8(bytes, 6),
		pocket_capacity = u8(bytes, 7), hopper = u16(bytes, 8), plan_cards = u16(bytes, 10),
		capabilities = u32(bytes, 12), deadline = u32(bytes, 16) / 1e6,
	}
	local reads = bit_of(d.capabilities, 9) or bit_of(d.capabilities, 11)
	m.d = d
	if u8(bytes, 0) < 24 or d.reader > 3 or d.pockets < 1 or d.pockets > 8 or
	   d.pocket_capacity < 1 or d.pocket_capacity > 64 or d.hopper == 0 or
	   d.plan_cards < 1 or d.plan_cards > 64 or reads and d.reader == 0 then
		bad(r, "descriptor")
	end
	local routed = bit_of(d.capabilities, 1)
	if bit_of(d.capabilities, 0) == routed then
		bad(r, "kind")
	elseif routed and d.deadline == 0 then
		bad(r, "no_deadline")
	elseif not routed and d.deadline ~= 0 then
		bad(r, "deadline")
	end
	if not bit_of(d.capabilities, 9) and not bit_of(d.capabilities, 10) then
		bad(r, "modes")
	end
	if m.serial and bit_of(d.capabilities, 12) then
		bad(r, "serial_by_result")
	end
	check_reserved(m, r, bytes, { 20, 4 })
end

local function is_descriptor(bytes)
	return #bytes >= 24 and u8(bytes, 1) == 0x24 and u8(bytes, 2) == 0x01
end

-- The use of an endpoint, by its descriptor
local function use_of(bytes, at)
	local inward = u8(bytes, at + 2) >= 0x80
	local kind = u8(bytes, at + 3) % 4
	local name = kind == 2 and "bulk" or kind == 3 and "interrupt" or "other"
	return name .. (inward and " in" or " out")
end

local NEEDS = {
	native = { ["bulk out"] = { 8, 512 }, ["interrupt in"] = { 32, 1024 } },
	routed = {
		["bulk out"] = { 8, 512 }, ["interrupt in"] = { 32, 1024 }, ["interrupt out"] = { 16, 1024 },
	},
	serial = { ["bulk in"] = { 8, 512 }, ["bulk out"] = { 8, 512 } },
}

local function check_endpoints(m, r)
	local needs = NEEDS[m.serial and "serial" or capable(m, 1) and "routed" or "native"]
	for use, sizes in pairs(needs) do
		local size = m.sizes[use]
		if not size or size % 2048 < sizes[1] or size % 2048 > sizes[2] then
			bad(r, m.serial and "serial_endpoints" or "endpoints", "%s", use)
		elseif size >= 2048 and use:find("interrupt") then
			bad(r, "transactions", "%s", use)
		end
	end
end

-- Read a configuration descriptor. Returns the machine and its record, or nil if it has none.
local function take_configuration(p, bytes)
	local at, m, r = u8(bytes, 0), nil, nil
	while at + 2 <= #bytes and u8(bytes, at) >= 2 do
		local size, kind = u8(bytes, at), u8(bytes, at + 1)
		if kind == 4 and m then
			break
		elseif kind == 4 and u8(bytes, at + 5) == 0xff and u8(bytes, at + 6) == 0x44 and
		       (u8(bytes, at + 7) == 1 or u8(bytes, at + 7) == 2) then
			m = machine_new()
			m.configuration = bytes
			m.interface = u8(bytes, at + 2)
			m.serial = u8(bytes, at + 7) == 2
			m.endpoints, m.sizes = {}, {}
			r = record_of(m, p)
			if u8(bytes, at + 3) ~= 0 then
				bad(r, "alternate")
			end
		elseif m and kind == 0x24 and is_descriptor(bytes:sub(at + 1)) then
			take_descriptor(m, r, bytes:sub(at + 1))
			add_part_of(r, "descriptor", bytes:sub(at + 1, at + size), p.data_at + at)
			m.has_descriptor = true
		elseif m and kind == 5 and at + 6 <= #bytes then
			local use = use_of(bytes, at)
			m.endpoints[u8(bytes, at + 2)] = m.sizes[use] and "further" or use
			m.sizes[use] = m.sizes[use] or u16(bytes, at + 4)
		end
		at = at + size
	end
	if m then
		say(r, "machine, %s dialect", m.serial and "serial" or "native")
		check_endpoints(m, r)
		local class = classes[p.key] or 0
		if class ~= 0 and class ~= 0xef then
			bad(r, "device_class", "%02x", class)
		end
	end
	return m, r
end

-- -- answers --------------------------------------------------------------------------------------

local function check_status(m, r, q, bytes)
	local state, fault = u8(bytes, 0), u8(bytes, 1)
	local flags_of, insertion = u8(bytes, 2), u32(bytes, 8)
	local next_event = u32(bytes, 16)
	say(r, "%s", STATE[state] or "unknown state")
	check_reserved(m, r, bytes, { 15, 1 })
	if state > 5 or state == HELD and (fault < 0x20 or fault > 0x27) or
	   state == FAULT and (fault < 0x28 or fault > 0x3f) or
	   state ~= HELD and state ~= FAULT and fault ~= 0 then
		bad(r, "status_fault")
	end
	-- compare it only with events of which none is under way
	if next_event ~= m.next or q.next ~= m.next then
		if not m.next then
			m.doubt_status = nil
		end
		return
	end
	if m.board and m.board ~= insertion then
		bad(r, "status", "insertion %.0f", insertion)
	elseif bit_of(flags_of, 0) ~= (insertion ~= 0) then
		bad(r, "status", "flag BOARD")
	end
	if m.state and not m.ending and m.state ~= state and not next(m.waits) then
		bad(r, "status", "state %s", STATE[m.state])
	end
	if m.plan_known and not m.load and not (m.deal and m.deal.test) and capable(m, 0) then
		local number = m.plan and m.plan.number or 0
		if u32(bytes, 4) ~= number and u32(bytes, 4) ~= 0xffffffff then
			bad(r, "status_plan")
		end
	end
	m.state = m.state or state <= 5 and state or nil
	m.board = m.board or insertion
end

-- The rule that is broken when a command is accepted that this error should have refused
local ACCEPTED = {
	[3] = "value_accepted", [4] = "unsupported_accepted", [5] = "state_accepted",
	[6] = "state_accepted", [11] = "spent", [12] = "doubt",
}

-- States in which the page allows a command, and those that follow a state without a command
local ALLOWED = {
	[0x10] = { IDLE, FAULT, DONE }, [0x11] = { IDLE, DONE }, [0x12] = { IDLE, DONE },
	[0x13] = { DEALING }, [0x14] = { PAUSED }, [0x15] = { HELD }, [0x16] = { DEALING, PAUSED, HELD },
	[0x17] = { FAULT }, [0x18] = { IDLE, FAULT, DONE }, [0x19] = { IDLE, DONE },
	[0x1a] = { IDLE, DEALING, PAUSED, HELD, FAULT, DONE }, [0x1b] = { IDLE, DONE },
}
local FOLLOWS = {
	[IDLE] = { FAULT }, [DEALING] = { PAUSED, HELD, FAULT, DONE, IDLE }, [PAUSED] = { FAULT },
	[HELD] = { FAULT }, [FAULT] = {}, [DONE] = { FAULT, IDLE },
}

local function has(list, wanted)
	for _, item in ipairs(list) do
		if item == wanted then
			return true
		end
	end
	return false
end

-- Return true if the command cannot be allowed, whatever the machine has done meanwhile.
local function state_refuses(m, code)
	if not m.state or m.ending or has(ALLOWED[code], m.state) then
		return false
	end
	for _, state in ipairs(FOLLOWS[m.state]) do
		if has(ALLOWED[code], state) then
			return false
		end
	end
	return true
end

local MOST_C = { [0x19] = true }
-- a, b, c that are 0, by command
local ZERO = {
	[0x10] = { false, false, true }, [0x11] = { false, false, true }, [0x12] = { false, false, false },
	[0x19] = { true, false, false }, [0x1a] = { false, true, true }, [0x1b] = { true, false, true },
}
local ALL_ZERO = { true, true, true }

-- The detail of BAD_VALUE, or nil; R-2.3-5
local function value_fault(m, q)
	local zero = ZERO[q.code] or ALL_ZERO
	local code, a, b, c = q.code, q.a, q.b, q.c
	local most = m.d and m.d.plan_cards or 64
	local reserved_number = a == 0 or a == 0xffffffff
	if zero[1] and a ~= 0 or code == 0x1a and a > 60 or code == 0x12 and reserved_number or
	   code == 0x11 and reserved_number and b ~= 0 then
		return 1
	elseif zero[2] and b ~= 0 or (code == 0x12 or code == 0x19 or code == 0x1b) and b == 0 or
	       code == 0x11 and b ~= 0 and (b < 37 or b > 36 + most) then
		return 2
	elseif zero[3] and c ~= 0 or code == 0x19 and (c == 0 or c > most) then
		return 3
	elseif code == 0x12 and m.d then
		local capture = c >= 0x100
		local most_c = capable(m, 1) and most or 0
		local least = capable(m, 1) and not capture and 1 or 0
		if c >= 0x200 or c % 256 < least or c % 256 > most_c or capture and not capable(m, 1) then
			return 3
		end
	end
	if q.value ~= 0 then
		return 4
	end
	return code == 0x1b and not q.data:sub(17):find("[^%z]") and 5 or nil
end

-- The error code with which the page refuses a command, as far as the capture shows it; or nil
local function refusal(m, q)
	local code = q.code
	if not REQUEST[code] or code < 0x10 then
		return 1
	elseif #q.data ~= (code == 0x1b and 48 or 16) or q.sequence == 0 then
		return 2
	elseif value_fault(m, q) then
		return 3
	elseif code == 0x11 and not may(m, 0) or code == 0x19 and not may(m, 7) or
	       code == 0x18 and not may(m, 4) or code == 0x1b and not may(m, 13) or
	       code == 0x12 and q.c >= 0x100 and not may(m, 11) then
		return 4
	elseif state_refuses(m, code) then
		return (code == 0x12 or code == 0x19) and m.state == FAULT and 6 or 5
	elseif code ~= 0x12 and code ~= 0x19 then
		return nil
	elseif code == 0x12 and m.plan_known and capable(m, 0) and not m.load and not m.plan then
		return 7
	elseif code == 0x12 and m.plan_known and capable(m, 0) and m.plan and m.plan.number ~= q.a then
		return 8
	elseif m.removed[q.b] then
		return 10
	elseif m.spent[q.b] then
		return 11
	elseif m.doubtful == q.b then
		return 12
	end
	return nil
end

-- -- commands -------------------------------------------------------------------------------------

-- Limit in seconds until the event of that type; section 5.1
local LIMIT = {
	[0x11] = 1, [0x16] = 2, [0x17] = 1, [0x18] = 2, [0x19] = 1, [0x12] = 5, [0x1a] = 5,
}
-- The event that ends an accepted command
local ENDS = {
	[0x12] = 0x11, [0x19] = 0x11, [0x13] = 0x16, [0x14] = 0x17, [0x16] = 0x18, [0x17] = 0x19,
	[0x15] = 0x12, [0x1b] = 0x1a,
}

-- A capture leaves its insertion good for captures; true, false, or nil if that is not known
local function is_capture(m, q)
	if q.code == 0x19 then
		return false
	elseif capable(m, 1) then
		return q.c >= 0x100
	end
	return m.plan and m.plan.mode == 3
end

-- The machine has accepted the command at that time.
local function accept(m, r, q, time)
	if q.applied then
		return
	end
	q.applied = true
	local error = q.refusal
	if error then
		bad(r, ACCEPTED[error] or "accepted", "%s", ERROR[error])
	end
	local ends = ENDS[q.code]
	if ends then
		m.waits[ends] = { since = time, request = q }
	end
	if q.code == 0x11 then
		m.plan, m.plan_known = nil, q.b == 0
		m.load = q.b ~= 0 and { number = q.a, length = q.b, since = time } or nil
	elseif q.code == 0x12 or q.code == 0x19 then
		m.state = DEALING
		m.attestable = nil
		local capture = is_capture(m, q)
		if capture == false then
			m.spent[q.b] = true
		end
	elseif q.code == 0x13 or q.code == 0x16 or q.code == 0x17 then
		m.ending = q.code
	elseif q.code == 0x14 or q.code == 0x15 then
		m.state = DEALING
	elseif q.code == 0x1b then
		if m.sure and m.attestable ~= q.b then
			bad(r, "attestable")
		end
		m.statement = false
	end
end

local function on_command(m, r, q)
	q.sequence = u32(q.data, 0)
	q.state, q.unsettled = m.state, m.ending ~= nil or next(m.waits) ~= nil
	q.a, q.b, q.c = u32(q.data, 4), u32(q.data, 8), u32(q.data, 12)
	local last = m.last
	if last and q.sequence ~= 0 and q.sequence == last.sequence then
		q.repeated = true
		q.first = last
		if q.code ~= last.code or q.data ~= last.data then
			bad(r, "sequence_reused")
		end
		return
	end
	if #q.data ~= (q.code == 0x1b and 48 or 16) then
		bad(r, "command_form", "%d bytes", #q.data)
	elseif q.value ~= 0 or q.sequence == 0 then
		bad(r, "command_form", q.value ~= 0 and "wValue" or "sequence number 0")
	end
	if m.watched and not m.result or m.result and not last and m.result.sequence == q.sequence then
		bad(r, "sequence_found")
	end
	if q.code == 0x19 and m.load then
		bad(r, "test_in_load")
	end
	if q.code == 0x1b and #q.data == 48 then
		local nonce = q.data:sub(17)
		if m.nonces[nonce] then
			bad(r, "nonce")
		end
		m.nonces[nonce] = true
	end
	q.refusal = refusal(m, q)
	if q.refusal and q.refusal > 2 then
		bad(r, "must_refuse", "%s", ERROR[q.refusal])
	end
end

-- error: of the command, nil if it is not known but refused
local function command_ended(m, r, q, accepted)
	if q.repeated then
		if q.first.accepted ~= nil and q.first.accepted ~= accepted then
			bad(r, "repetition")
		end
		return
	end
	q.accepted = accepted
	m.last = q
	if accepted then
		accept(m, r, q, r.time)
	end
end

local function on_request(m, r, q)
	say(r, "%s", REQUEST[q.code] or ("request %02x"):format(q.code))
	q.next = m.next
	if q.kind and q.kind ~= 0x41 and q.kind ~= 0xc1 then
		bad(r, "request_type", "bmRequestType %02x", q.kind)
	elseif q.kind and m.interface and q.index ~= m.interface then
		q.foreign = true
		bad(r, "request_type", "wIndex %d", q.index)
		return
	end
	if m.endpoints and not m.d and q.code ~= 0 then
		bad(r, q.command and "writes_early" or "undescribed")
	end
	if q.command then
		on_command(m, r, q)
	end
end

-- Answers of queries that succeeded
local READ = {}

READ[0x00] = function(m, r, _, bytes)
	if is_descriptor(bytes) then
		take_descriptor(m, r, bytes)
	else
		bad(r, "descriptor")
	end
end

READ[0x01] = function(m, r, _, bytes)
	check_reserved(m, r, bytes, { 2, 2 }, { 12, 4 }, { 48, 16 })
end

READ[0x02] = check_status

READ[0x03] = function(m, r, _, bytes)
	local result = { sequence = u32(bytes, 0), code = u8(bytes, 4), error = u8(bytes, 5) }
	local detail, last = u32(bytes, 8), m.last
	say(r, "%s", ERROR[result.error] or "unknown error")
	check_reserved(m, r, bytes, { 6, 2 }, { 12, 4 })
	m.result = result
	if result.error > 18 then
		bad(r, "error_unknown")
	elseif result.error == 3 and (detail < 1 or detail > 5) then
		bad(r, "value_detail")
	end
	if not last or not m.sure then
		return
	end
	if result.sequence ~= last.sequence or result.code ~= last.code then
		if result.error ~= 2 then
			bad(r, "last_command")
		end
		return
	end
	if last.by_result and last.error == nil then
		last.accepted = result.error == 0
		if last.accepted then
			accept(m, r, last, r.time)
		end
	elseif last.accepted ~= (result.error == 0) then
		bad(r, "not_refused")
	end
	last.error = result.error
	if result.error > 0 and last.refusal and result.error > last.refusal then
		bad(r, "check_order", "%s", ERROR[last.refusal])
	elseif result.error == 5 and not last.unsettled and last.state and
	       has(ALLOWED[last.code] or {}, last.state) and #FOLLOWS[last.state] == 1 then
		bad(r, "state_refused", "%s", STATE[last.state])
	end
end

READ[0x04] = function(m, r, _, bytes)
	check_reserved(m, r, bytes, { 60, 4 })
end

READ[0x05] = function() end

READ[0x06] = function(m, r, _, bytes)
	if m.counter and u32(bytes, 4) ~= m.counter then
		bad(r, "counter")
	end
	m.counter = u32(bytes, 4)
end

READ[0x07] = function(m, r, _, bytes)
	if u32(bytes, 0) ~= 0x41584244 or u8(bytes, 5) ~= 1 or u8(bytes, 6) > 3 or
	   m.counter and u32(bytes, 16) ~= m.counter or m.attested and u32(bytes, 20) ~= m.attested then
		bad(r, "statement")
	end
	check_reserved(m, r, bytes, { 7, 1 }, { 28, 4 })
	local has_plan = bit_of(u8(bytes, 6), 1)
	if m.d and has_plan ~= capable(m, 0) or not has_plan and bytes:sub(33, 64):find("[^%z]") then
		bad(r, "plan_digest")
	end
end

READ[0x08] = function() end

-- status: 0, -32 = stall, other = the transfer failed
local function on_answer(m, r, q, status, bytes)
	say(r, "%s%s", REQUEST[q.code] or ("request %02x"):format(q.code),
		status == 0 and "" or status == -32 and ": stall" or ": no answer")
	local time = r.time - q.time
	local stalled = status == -32
	if status ~= 0 and not stalled then
		if (status == -2 or status == -104) and time < 0.99 then
			bad(r, "host_hurry")
		end
		-- it may have been carried out
		m.sure = m.sure and not q.command
		m.last = not q.command and m.last or nil
		m.ending = nil
		return
	end
	if time > 0.5 then
		bad(r, "answer_late", "%d ms", math.floor(time * 1000))
	end
	if q.foreign then
		if not stalled then
			bad(r, "foreign")
		end
		return
	end
	if q.command then
		if capable(m, 12) then
			if stalled then
				bad(r, "refuses_by_stall")
			end
			if not q.repeated then
				q.by_result = true
				m.last = q
			end
			return
		end
		command_ended(m, r, q, not stalled)
		return
	end
	local size = REPLY_SIZE[q.code]
	local plain = size and (q.value == 0 or q.code == 0x05)
	if stalled then
		if q.code == 0 and m.endpoints and not m.has_descriptor then
			bad(r, "no_describe")
		elseif plain and (q.code >= 0x01 and q.code <= 0x04 or q.code == 0x06 and capable(m, 13)) then
			bad(r, "query_stalled")
		elseif plain and (q.code == 0x07 or q.code == 0x08) and m.statement then
			bad(r, "statement_time")
		end
		return
	end
	if not plain then
		bad(r, "query_unknown")
		return
	end
	if q.code >= 0x06 and not may(m, 13) then
		bad(r, "no_attest")
	elseif q.code >= 0x07 and m.statement == false then
		bad(r, "statement_time")
	end
	if #bytes ~= math.min(size, q.length or size) then
		bad(r, "answer_size", "%d bytes", #bytes)
	elseif #bytes == size then
		READ[q.code](m, r, q, bytes)
	end
end

-- -- plan blocks and gate commands ----------------------------------------------------------------

local function on_plan(m, r, bytes)
	say(r, "plan block")
	local load = m.load
	if m.endpoints and not m.d then
		bad(r, "writes_early")
	end
	if #bytes == 0 or m.sure and not load or load and (load.block or #bytes ~= load.length) then
		bad(r, "plan_unannounced")
	end
	if not load then
		return
	end
	load.block = load.block or bytes
	if m.d then
		load.error, load.detail = plan_fault(bytes, load, m.d)
		if load.error == 15 then
			bad(r, "plan_sum")
		elseif load.error ~= 0 then
			bad(r, "plan_form", "offset %d", load.detail)
		end
	end
end

local function on_gate(m, r, bytes)
	local hold = u8(bytes, 1) == 255
	say(r, hold and "gate: hold" or "gate")
	if m.endpoints and not m.d then
		bad(r, "writes_early")
	end
	if #bytes ~= 16 then
		bad(r, "gate_length", "%d bytes", #bytes)
		return
	end
	local reason, first = u8(bytes, 2), u32(bytes, 12)
	if u8(bytes, 0) ~= 1 or m.d and not hold and u8(bytes, 1) >= m.d.pockets or
	   hold and reason ~= 0x28 and reason ~= 0x21 or not hold and reason ~= 0 or
	   reason ~= 0x28 and first ~= 0 then
		bad(r, "gate_form")
	end
	local card = m.waiting
	if not m.next or not m.deal then
		return
	end
	if not card or card.gate or card.number ~= u32(bytes, 4) or card.position ~= u8(bytes, 3) or
	   card.insertion ~= u32(bytes, 8) then
		bad(r, "gate_nobody")
		return
	end
	card.gate = { pocket = u8(bytes, 1), reason = reason, first = first }
	if m.d and r.time - card.time > m.d.deadline then
		bad(r, "gate_late", "%d us", math.floor((r.time - card.time) * 1e6 + 0.5))
	end
	local before = m.deal.dealt[card.card]
	if card.card < 52 and before and before ~= card.position and not hold then
		bad(r, "not_held")
	end
end

-- -- events ---------------------------------------------------------------------------------------

-- What an event has: p position, c card, k pocket, q quality, x code, 0 arg 0, 1 arg 1
local HAS = {
	[0x01] = "x", [0x02] = "", [0x03] = "", [0x04] = "0", [0x05] = "", [0x06] = "", [0x07] = "",
	[0x08] = "x0", [0x10] = "x01", [0x11] = "x0", [0x12] = "Pcqx", [0x13] = "Pck", [0x14] = "Pck",
	[0x15] = "px01", [0x16] = "px", [0x17] = "p", [0x18] = "px", [0x19] = "x", [0x1a] = "x01",
	[0x20] = "Pqx", [0x21] = "Pcqx", [0x22] = "Pc", [0x23] = "P", [0x24] = "P", [0x28] = "Pcqx0",
	[0x29] = "P", [0x2a] = "px", [0x2b] = "Pck0", [0x2c] = "p", [0x2d] = "p", [0x2e] = "pckx",
}

local function check_fields(m, r, e)
	local fields = HAS[e.type]
	local function out(value, least)
		return value >= least and value ~= 255
	end
	if out(e.card, 54) or out(e.pocket, m.d and m.d.pockets or 8) or out(e.quality, 101) or
	   out(e.position, 65) then
		bad(r, "event_range", "event %.0f", e.number)
	elseif fields:find("P") and e.position > 63 then
		bad(r, "position", "event %.0f", e.number)
	end
	if fields:find("q") and e.quality >= 1 and e.quality < 50 and e.card ~= 255 then
		bad(r, "quality", "event %.0f", e.number)
	end
	if e.position ~= 255 and not fields:lower():find("p") or e.card ~= 255 and not fields:find("c") or
	   e.pocket ~= 255 and not fields:find("k") or e.quality ~= 255 and not fields:find("q") then
		bad(r, "event_unused", "event %.0f", e.number)
	end
	if e.code ~= 0 and not fields:find("x") or e.arg0 ~= 0 and not fields:find("0") or
	   e.arg1 ~= 0 and not fields:find("1") then
		bad(r, "event_args", "event %.0f", e.number)
	end
	check_reserved(m, r, e.bytes, { 2, 2 })
	if e.flags > 3 and not (m.d and m.d.version > 0x0101) then
		bad(r, "reserved", "flags")
	end
end

-- Returns false if it is not the next event: an event that comes twice is not looked at again.
local function check_number(m, r, e)
	local expected = m.next
	m.next = (e.number + 1) % 2 ^ 32
	if e.type == 0x01 and e.number == 1 then
		return true
	end
	if m.configured then
		bad(r, "first_event")
	end
	if not expected or e.number == expected then
		return true
	end
	if (e.number - expected) % 2 ^ 32 < 2 ^ 31 then
		bad(r, "event_gap", "%.0f missing before %.0f", (e.number - expected) % 2 ^ 32, e.number)
		-- what ends a command may still come
		local number, waits = m.next, m.waits
		lose_track(m)
		m.next, m.waits = number, waits
		return true
	end
	bad(r, "event_number", "%.0f, not %.0f", e.number, expected)
	m.next = expected
	return false
end

local function check_clock(m, r, e)
	-- the clock wraps after 71 minutes: a difference means something for half of them
	local back = m.clock and (e.clock - m.clock) % 2 ^ 32 >= 2 ^ 31
	if back and r.time - m.clock_at < 1800 and e.type ~= 0x01 then
		bad(r, "clock_back", "event %.0f", e.number)
	end
	m.clock, m.clock_at = e.clock, r.time
end

local function check_insertion(m, r, e)
	local of_board = e.type ~= 0x01 and e.type ~= 0x04 and e.type ~= 0x05 and e.type ~= 0x2c
	local fell_late = e.type == 0x14 and e.insertion == 0
	if of_board and m.board and e.insertion ~= m.board and not fell_late then
		bad(r, "event_insertion", "event %.0f", e.number)
	end
end

-- The command that this event ends: returns true if there was one, and judges the time it took.
local function ended(m, r, kind)
	local wait = m.waits[kind]
	if not wait then
		-- its transfer may end only after the event (R-2.2-13)
		for _, q in pairs(m.flight) do
			if q.sequence and ENDS[q.code] == kind and not q.repeated then
				accept(m, r, q, r.time)
			end
		end
		wait = m.waits[kind]
	end
	m.waits[kind] = nil
	if wait and r.time - wait.since > LIMIT[kind] then
		bad(r, "event_late", "%d ms", math.floor((r.time - wait.since) * 1000))
	end
	return wait
end

-- What each event changes. Requirements on a deal are judged only if its DEAL_STARTED was seen.
local ON = {}

ON[0x01] = function(m, r, e)
	local configured = m.configured
	if e.code < 1 or e.code > 3 or configured and e.code == 3 or not configured and m.watched and
	   e.code ~= 3 then
		bad(r, "lost_reason", "%.0f", e.code)
	end
	local number, clock, clock_at = m.next, m.clock, m.clock_at
	lose_track(m)
	m.next, m.clock, m.clock_at, m.configured = number, clock, clock_at, nil
	m.state, m.board, m.plan_known, m.told_lost = IDLE, 0, true, 1
	m.last, m.result = nil, m.result and {}
	m.statement = false
end

-- The order of R-5.2-8 is that of the events that follow at once.
local function told(m, r, rank)
	if m.told_lost and rank <= m.told_lost then
		bad(r, "lost_order")
	end
	m.told_lost = m.told_lost and rank
end

ON[0x02] = function(m, r)
	m.told_lost = m.told_lost and 4
end

ON[0x04] = function(m, r, e)
	local at_lost = bit_of(e.flags, 1) or m.seen[e.insertion]
	if m.told_lost and at_lost then
		told(m, r, 2)
	elseif m.seen[e.insertion] then
		bad(r, "insertion", "%.0f again", e.insertion)
	end
	if e.insertion == 0 then
		bad(r, "insertion", "0")
	end
	if m.board and m.board ~= 0 then
		bad(r, "machine_event", "a board is in")
	end
	if not may(m, 3) and e.arg0 ~= 0 then
		bad(r, "capability")
	end
	m.doubtful = bit_of(e.flags, 1) and e.insertion or nil
	m.board = e.insertion
	m.seen[e.insertion] = true
end

ON[0x05] = function(m, r, e)
	if m.board == 0 then
		bad(r, "machine_event", "no board is in")
	elseif m.board and e.insertion ~= m.board then
		bad(r, "event_insertion", "event %.0f", e.number)
	end
	m.removed[e.insertion] = true
	m.board, m.told_lost = 0, nil
	if m.state == DONE then
		m.state = IDLE
	end
end

ON[0x06] = function(m)
	m.told_lost = m.told_lost and math.max(m.told_lost, 3)
end

ON[0x08] = function(m, r, e)
	if not may(m, 8) then
		bad(r, "capability")
	end
	if e.arg0 > 1 then
		bad(r, "machine_event", "key neither pressed nor let go")
	end
end

ON[0x10] = function(m, r, e)
	local load = m.load
	m.load = nil
	if not load then
		if m.sure then
			bad(r, m.plan_known and "load_nothing" or "deal_event")
		end
		return
	end
	if e.code ~= load.number then
		bad(r, "deal_event", "plan number")
	end
	local error = load.error
	if e.arg0 == 17 then
		if load.block and #load.block == load.length then
			bad(r, "plan_incomplete")
		end
	elseif load.since and load.block and r.time - load.since > 0.5 then
		bad(r, "plan_late", "%d ms", math.floor((r.time - load.since) * 1000))
	end
	if error and e.arg0 == 0 and error ~= 0 then
		bad(r, "plan_unchecked", "%s", ERROR[error])
	elseif error == 0 and (e.arg0 == 15 or e.arg0 == 16) then
		bad(r, "plan_refused", "%s", ERROR[e.arg0])
	elseif error and error ~= 0 and (e.arg0 == 15 or e.arg0 == 16) and e.arg0 ~= error then
		bad(r, "plan_check_order", "%s", ERROR[error])
	elseif error and error ~= 0 and e.arg0 == error and e.arg1 ~= load.detail then
		bad(r, error == 15 and "plan_check_order" or "plan_offset")
	end
	m.plan_known = true
	m.plan = e.arg0 == 0 and load.block and plan_of(load.block) or nil
	if e.arg0 == 0 and not m.plan then
		m.plan_known = false
	end
end

ON[0x11] = function(m, r, e)
	local wait = ended(m, r, 0x11)
	local q = wait and wait.request
	if not q and m.sure then
		bad(r, "deal_event", "no START")
	end
	local test = q and q.code == 0x19 or e.code == 0xffffffff
	if q and test and e.code ~= 0xffffffff then
		bad(r, "test_number")
	elseif q and not test and e.code ~= q.a then
		bad(r, "deal_event", "plan number")
	end
	local plan = not test and capable(m, 0) and m.plan or nil
	local cards = q and (test and q.c or capable(m, 1) and q.c % 256 or plan and plan.feed)
	if cards and e.arg0 ~= cards then
		bad(r, "deal_event", "cards to feed")
	end
	m.state, m.ending, m.waiting, m.statement = DEALING, nil, nil, nil
	m.deal = {
		number = e.code, test = test, plan = plan, total = e.arg0, cards = {}, dealt = {},
		routed = 0, landed = 0, by_card = plan and plan.mode ~= 2,
		-- on a host-routed machine the host decides; a machine without reader names no card
		counts = {},
	}
end

ON[0x12] = function(m, r, e)
	m.waits[0x12] = nil
	local deal = m.deal
	if not deal then
		if m.sure and m.state == IDLE then
			bad(r, "deal_event", "no deal")
		end
		return
	end
	local before = deal.cards[e.position]
	if before and before.routed then
		bad(r, "card_order", "position %d", e.position)
	end
	if m.d and m.d.reader == 0 and (e.card ~= 255 or e.quality ~= 255) then
		bad(r, "no_reader")
	elseif m.d and m.d.reader ~= 0 and e.card == 255 and not deal.test then
		if capable(m, 1) then
			bad(r, "read_unreadable")
		elseif deal.by_card then
			bad(r, "stop_missing", "CARD_UNREADABLE")
		end
	end
	local first = deal.dealt[e.card]
	if e.card ~= 255 and first and first ~= e.position and capable(m, 0) and not deal.test then
		bad(r, "repeated", "positions %d and %d", first, e.position)
	elseif deal.plan and deal.plan.mode == 1 and e.card ~= 255 and
	       (deal.plan.pocket[e.card] or 255) == 255 then
		bad(r, "stop_missing", "NOT_IN_PLAN")
	end
	local card = {
		number = e.number, position = e.position, insertion = e.insertion, card = e.card, time = r.time,
	}
	deal.cards[e.position] = card
	m.waiting = capable(m, 1) and not deal.test and card or nil
end

-- The pocket that a stored-plan machine, or a test deal, has for a card; nil if that is not known
local function planned(m, deal, e)
	local plan = deal.plan
	if deal.test then
		return m.d and e.position % m.d.pockets, "test_pocket"
	elseif not plan then
		return nil
	end
	local entry = plan.mode == 1 and e.card or plan.mode == 2 and e.position or 0
	return plan.pocket[entry] or 255, "not_as_planned"
end

ON[0x13] = function(m, r, e)
	local deal = m.deal
	if not deal then
		return
	end
	local card = deal.cards[e.position]
	if not card or card.routed or card.card ~= e.card then
		bad(r, "card_order", "position %d", e.position)
		card = card or { position = e.position, card = e.card }
		deal.cards[e.position] = card
	end
	local pocket, key = planned(m, deal, e)
	if pocket and pocket ~= e.pocket then
		bad(r, key, "position %d", e.position)
	end
	if capable(m, 1) and not deal.test and m.waiting == card then
		if not card.gate then
			bad(r, "guessed", "position %d", e.position)
		elseif card.gate.pocket ~= e.pocket then
			bad(r, "gate_pocket", "position %d", e.position)
		end
	end
	m.waiting = nil
	card.routed, card.pocket = true, e.pocket
	deal.routed = deal.routed + 1
	if e.card ~= 255 and not deal.dealt[e.card] then
		deal.dealt[e.card] = e.position
	end
	deal.counts[e.pocket] = (deal.counts[e.pocket] or 0) + 1
end

ON[0x14] = function(m, r, e)
	if not may(m, 2) then
		bad(r, "capability")
	end
	local deal = m.deal
	if not deal then
		return
	end
	local card = deal.cards[e.position]
	if not card or not card.routed or card.landed or card.card ~= e.card then
		bad(r, "card_order", "position %d", e.position)
	elseif card.pocket ~= e.pocket then
		bad(r, "landed_elsewhere", "position %d", e.position)
	end
	if card and not card.landed then
		card.landed = true
		deal.landed = deal.landed + 1
	end
end

ON[0x15] = function(m, r, e)
	local deal = m.deal
	m.state, m.done_at, m.attestable = DONE, r.time, nil
	m.waits[0x16] = nil
	if not deal then
		return
	end
	if m.d and deal.routed ~= (capable(m, 2) and deal.landed or deal.routed) or
	   deal.total ~= 0 and deal.routed < deal.total then
		bad(r, "done_early", "%d of %d", capable(m, 2) and deal.landed or deal.routed, deal.total)
	end
	if e.code ~= deal.number then
		bad(r, deal.test and "test_number" or "deal_event", "plan number")
	end
	if e.position ~= deal.routed then
		bad(r, "deal_event", "cards dealt")
	end
	for pocket = 0, 7 do
		if u8(e.bytes, 24 + pocket) ~= (deal.counts[pocket] or 0) then
			bad(r, "deal_event", "cards in pocket")
			break
		end
	end
	m.attestable = not deal.test and e.insertion or nil
	m.deal = nil
end

ON[0x16] = function(m, r, e)
	local wait = ended(m, r, 0x16)
	if e.code < 1 or e.code > 2 or e.code == 1 and not wait and m.sure then
		bad(r, "deal_event", "reason")
	end
	m.state, m.ending = PAUSED, m.ending ~= 0x13 and m.ending or nil
end

ON[0x17] = function(m, r)
	if not ended(m, r, 0x17) and m.sure then
		bad(r, "deal_event", "no RESUME")
	end
	m.state = DEALING
end

ON[0x18] = function(m, r, e)
	if not ended(m, r, 0x18) and m.sure then
		bad(r, "deal_event", "no ABORT")
	end
	if m.deal and e.code ~= m.deal.number then
		bad(r, "deal_event", "plan number")
	end
	m.state, m.ending, m.deal, m.waiting, m.waits = IDLE, nil, nil, nil, {}
end

ON[0x19] = function(m, r, e)
	if not ended(m, r, 0x19) and m.sure then
		bad(r, "deal_event", "no CLEAR_FAULT")
	end
	if m.fault and e.code ~= m.fault then
		bad(r, "deal_event", "another fault")
	end
	m.state, m.ending, m.fault = IDLE, nil, nil
end

ON[0x1a] = function(m, r, e)
	local wait = ended(m, r, 0x1a)
	if not wait and m.sure then
		bad(r, "deal_event", "no ATTEST")
	elseif wait and e.arg0 == 0 and e.arg1 ~= wait.request.b then
		bad(r, "deal_event", "insertion of the deal")
	end
	if e.arg0 ~= 0 then
		if e.code ~= 0 then
			bad(r, "attested_error")
		end
		return
	end
	if m.counter and e.code ~= m.counter + 1 then
		bad(r, "counter")
	end
	m.counter, m.statement, m.attested = e.code, true, e.arg1
end

-- A card that is stopped before the gate: these carry the reading.
local CARRIES = { [0x20] = true, [0x21] = true, [0x28] = true }

local function on_stop(m, r, e)
	local deal, routed = m.deal, capable(m, 1)
	local card = deal and deal.cards[e.position]
	local waits = card and not card.routed
	if m.state == DONE and r.time - (m.done_at or r.time) > 0.3 and e.type >= 0x28 and
	   e.type <= 0x2b then
		bad(r, "stop_late", "%d ms", math.floor((r.time - m.done_at) * 1000))
	end
	if CARRIES[e.type] and waits and m.d and not (deal.test or routed) then
		bad(r, "read_and_stop", "position %d", e.position)
	elseif e.type == 0x20 and waits and routed and m.waiting == card then
		bad(r, "read_and_stop", "position %d", e.position)
	end
	if routed and card and card == m.waiting and (e.type == 0x21 or e.type == 0x28) then
		local gate = card.gate
		if not gate or gate.reason ~= e.type or e.type == 0x28 and e.arg0 ~= gate.first then
			bad(r, "gate_hold", "position %d", e.position)
		end
	elseif e.type == 0x22 and not may(m, 1) then
		bad(r, "stop_kind", "GATE_LATE")
	elseif e.type == 0x28 and deal and capable(m, 0) and deal.dealt[e.card] ~= e.arg0 then
		bad(r, "stop_kind", "position of the first reading")
	elseif e.type == 0x2b and deal and card and card.routed and
	       (e.arg0 ~= card.pocket or e.pocket == card.pocket) then
		bad(r, "stop_kind", "WRONG_POCKET")
	end
	if e.type == 0x2b and card and card.routed and not card.landed then
		card.landed = true
		deal.landed = deal.landed + 1
	end
	m.state = e.type >= 0x28 and FAULT or HELD
	m.fault, m.attestable, m.waiting = e.type, nil, nil
	-- a stop replaces what would have ended the command (R-5-12)
	m.waits[0x12], m.waits[0x16] = nil
	m.ending = nil
	if e.type >= 0x28 then
		m.waits[0x18], m.waits[0x17] = nil
		m.fell = deal or m.fell
		m.deal = nil
	end
end

local function on_event(m, r, bytes)
	local e = {
		bytes = bytes, type = u8(bytes, 0), flags = u8(bytes, 1), number = u32(bytes, 4),
		clock = u32(bytes, 8), insertion = u32(bytes, 12), position = u8(bytes, 16),
		card = u8(bytes, 17), pocket = u8(bytes, 18), quality = u8(bytes, 19),
		code = u32(bytes, 20), arg0 = u32(bytes, 24), arg1 = u32(bytes, 28),
	}
	say(r, "%s", EVENT[e.type] or ("event %02x"):format(e.type))
	if not check_number(m, r, e) then
		return
	end
	m.configured = e.type == 0x01 and m.configured or nil
	check_clock(m, r, e)
	if not EVENT[e.type] then
		bad(r, "event_unknown", "%02x", e.type)
		return
	end
	check_fields(m, r, e)
	check_insertion(m, r, e)
	if e.type >= 0x20 then
		on_stop(m, r, e)
	elseif ON[e.type] then
		ON[e.type](m, r, e)
	end
	-- only the events that follow at once tell what was so before
	if e.type ~= 0x01 and e.type ~= 0x02 and e.type ~= 0x04 and e.type ~= 0x06 then
		m.told_lost = nil
	end
end

local function on_events(m, r, bytes, at)
	if #bytes == 0 then
		bad(r, "event_empty")
	elseif #bytes % 32 ~= 0 then
		bad(r, "event_length", "%d bytes", #bytes)
	end
	local size = m.sizes and m.sizes["interrupt in"]
	if size and #bytes > size % 2048 then
		bad(r, "event_packet", "%d bytes", #bytes)
	end
	local whole = #bytes % 32 == 0
	for from = 0, #bytes - 32, 32 do
		local event = bytes:sub(from + 1, from + 32)
		add_part_of(r, "event", event, at and at + from)
		-- the host drops a transfer that is not a multiple (R-4-8)
		if whole then
			on_event(m, r, event)
		end
	end
	if not whole then
		lose_track(m)
	end
end

-- -- the serial dialect ---------------------------------------------------------------------------

local function on_frame(m, r, kind, tag, bytes, at, time)
	local inward = kind >= 0x80
	if not KIND[kind] then
		bad(r, "frame_kind", "%02x", kind)
		return
	end
	if kind ~= 0x01 and kind ~= 0x81 and tag ~= 0 then
		bad(r, "frame_tag", "%d", tag)
	end
	if kind == 0x01 then
		local n = #bytes
		if n ~= 3 and n ~= 19 and n ~= 51 then
			bad(r, "frame_kind", "%d bytes", n)
		end
		if n < 3 then
			return
		end
		local before = m.flight.tag
		if m.tag == tag then
			bad(r, "frame_tag", "%d again", tag)
		end
		if before and time - before.time < 0.99 then
			bad(r, "two_requests")
		elseif before then
			-- no answer came in time
			m.sure = m.sure and not before.command
			m.last = not before.command and m.last or nil
		end
		m.tag = tag
		local q = {
			code = u8(bytes, 0), value = u16(bytes, 1), data = bytes:sub(4), frame = r.number,
			time = time, tag = tag, record = r,
		}
		q.command = q.code >= 0x10 or n > 3
		m.flight.tag = q
		add_part_of(r, "request", q.data, at and at + 3, { request = q, optional = true })
		on_request(m, r, q)
	elseif kind == 0x02 then
		add_part_of(r, "plan", bytes, at)
		on_plan(m, r, bytes)
		if m.load then
			m.load.since = time
		end
	elseif kind == 0x03 then
		add_part_of(r, "gate", bytes, at)
		on_gate(m, r, bytes)
	elseif kind == 0x81 then
		local q, status = m.flight.tag, u8(bytes, 0)
		if not q or q.tag ~= tag or #bytes == 0 or status > 1 then
			-- one that comes later than 1 s is ignored (R-S3-3)
			if m.sure and not (m.late == tag) then
				bad(r, "answer_tag", "%d", tag)
			end
			say(r, "ANSWER")
			return
		end
		m.flight.tag = nil
		local data = bytes:sub(2)
		local code = status == 1 and -32 or 0
		r.request_record = q.record
		add_part_of(r, "answer", data, at and at + 1,
			{ request = q, time = time - q.time, status = code, optional = true })
		if code == 0 and q.command and #data ~= 0 then
			bad(r, "answer_size", "%d bytes", #data)
		end
		on_answer(m, r, q, code, data)
	else
		if #bytes ~= 32 then
			bad(r, "event_length", "%d bytes", #bytes)
		end
		if #bytes >= 32 then
			add_part_of(r, "event", bytes:sub(1, 32), at)
			on_event(m, r, bytes:sub(1, 32))
		end
	end
	return inward
end

-- Take the bytes of a transfer. A frame may begin in an earlier one.
local function on_stream(m, r, inward, bytes, at, time)
	local old = m.streams[inward]
	local stream = old .. bytes
	local from, dropped = 0, 0
	local split = #old > 0 or nil
	while from < #stream do
		local length = u8(stream, from + 3)
		local left = #stream - from
		if u8(stream, from) ~= 0xdb or left >= 4 and length > 128 then
			from, dropped = from + 1, dropped + 1
		elseif left < 4 or left < 8 + length then
			break
		elseif crc32c(stream:sub(from + 2, from + 4 + length)) ~= u32(stream, from + 4 + length) then
			from, dropped = from + 1, dropped + 1
		else
			local frame = stream:sub(from + 1, from + 8 + length)
			local kind, tag = u8(frame, 1), u8(frame, 2)
			local begin = from - #old
			local place = at and begin >= 0 and at + begin or nil
			add_part_of(r, "frame", frame, place, { kind = kind })
			on_frame(m, r, kind, tag, frame:sub(5, 4 + length), place and place + 4, time)
			if KIND[kind] and (kind >= 0x80) ~= inward then
				bad(r, "frame_kind", "other direction")
			end
			if not inward and (begin ~= 0 or length + 8 ~= #bytes) then
				split = true
			end
			from = from + 8 + length
		end
	end
	m.streams[inward] = stream:sub(from + 1)
	if dropped > 0 then
		add_part_of(r, "dropped", nil, nil, { optional = true, count = dropped })
		bad(r, "frame_bad", "%d bytes", dropped)
	end
	if from < #stream then
		add_part_of(r, "incomplete", nil, nil, { optional = true })
		if #r.info == 0 then
			say(r, "part of a frame")
		end
	end
	if not inward and split then
		bad(r, "frame_split")
	end
end

-- -- transfers ------------------------------------------------------------------------------------

local function configured(m)
	lose_track(m)
	m.configured, m.watched, m.sure = true, true, true
	m.last, m.tag, m.flight = nil, nil, {}
	m.streams = { [true] = "", [false] = "" }
	m.plan_known, m.statement = true, false
	m.result = nil
end

-- A control transfer of the standard type, whose request was s
local function look_standard(m, p, s)
	local request, value = u8(s.setup, 1), u16(s.setup, 2)
	local kind = u8(s.setup, 0)
	if kind == 0x80 and request == 6 and math.floor(value / 256) == 2 and p.status == 0 and
	   #p.data >= 9 and #p.data >= u16(p.data, 2) then
		local found, record = take_configuration(p, p.data)
		if not found then
			-- another device has this address now
			machines[p.key] = nil
		elseif not m or m.configuration ~= p.data then
			machines[p.key] = found
		end
		return record
	elseif kind == 0x80 and request == 6 and value == 0x100 and #p.data >= 5 then
		classes[p.key] = u8(p.data, 4)
		return nil
	elseif not m then
		return nil
	end
	local r = record_of(m, p)
	if kind == 0x00 and request == 9 and p.status == 0 then
		say(r, value == 0 and "not configured any more" or "configured")
		configured(m)
		m.configured = value ~= 0
		return r
	elseif kind == 0x01 and request == 11 and value ~= 0 and u16(s.setup, 4) == m.interface then
		bad(r, "select_alternate")
		say(r, "alternate setting")
		return r
	elseif kind == 0x02 and request == 1 and p.status == 0 then
		m.streams[u8(s.setup, 4) >= 0x80] = ""
		say(r, "halt cleared")
		return r
	end
	return nil
end

local function look_request(m, p)
	local s = p.setup
	local q = {
		kind = u8(s, 0), code = u8(s, 1), value = u16(s, 2), index = u16(s, 4), length = u16(s, 6),
		data = p.data, frame = p.number, time = p.time,
	}
	local r = record_of(m, p)
	q.command = q.kind < 0x80
	q.record = r
	m.flight[p.id] = q
	add_part_of(r, "request", p.data, p.data_at, { request = q, optional = true })
	if p.cut and q.command then
		say(r, "%s, cut", REQUEST[q.code] or "request")
		m.sure = false
		m.flight[p.id] = nil
		return r
	end
	on_request(m, r, q)
	return r
end

local function look_control(p)
	local m = machines[p.key]
	local name = p.key .. p.id
	if p.stage == "S" and p.setup and #p.setup == 8 then
		controls[name] = p
		if m and not m.serial and math.floor(u8(p.setup, 0) / 32) % 4 == 2 then
			return look_request(m, p)
		end
		return nil
	end
	local s = controls[name]
	controls[name] = nil
	if not s then
		return nil
	end
	if math.floor(u8(s.setup, 0) / 32) % 4 == 0 then
		return look_standard(m, p, s)
	end
	local q = m and m.flight[p.id]
	if not q then
		return nil
	end
	local r = record_of(m, p)
	m.flight[p.id] = nil
	r.request_record = q.record
	add_part_of(r, "answer", p.data, p.data_at,
		{ request = q, time = p.time - q.time, status = p.status, optional = true })
	if p.cut then
		say(r, "%s, cut", REQUEST[q.code] or "request")
	else
		on_answer(m, r, q, p.status, p.data)
	end
	return r
end

-- Where the descriptors are not in the capture, the first transfer tells the dialect.
local function guess(m, p)
	if p.kind == 1 then
		m.serial = false
	elseif p.endpoint >= 0x80 or u8(p.data, 0) == 0xdb then
		m.serial = true
	elseif #p.data > 0 then
		m.serial = false
	end
end

local KINDS = { [1] = "interrupt", [3] = "bulk" }

-- An endpoint of the machine besides endpoint 0
local function look_endpoint(m, p)
	local inward = p.endpoint >= 0x80
	local use = KINDS[p.kind] .. (inward and " in" or " out")
	local r = record_of(m, p)
	local data = p.cut and "" or p.data
	if m.endpoints and m.endpoints[p.endpoint] ~= use then
		if m.endpoints[p.endpoint] and p.stage == "S" then
			bad(r, "further_endpoint")
			return r
		end
		return nil
	elseif inward and p.stage == "S" then
		say(r, "wait for events")
		return r
	elseif p.status ~= 0 and p.status ~= -115 then
		say(r, "%s: %s", use, p.status == -32 and "stall" or "not done")
		add_part_of(r, "answer", nil, nil, { status = p.status, optional = true })
		if use == "bulk out" and not m.serial and m.load then
			m.load = nil
		end
		return r
	elseif not inward and p.stage ~= "S" then
		say(r, "%s", use == "bulk out" and not m.serial and "plan block, sent" or "sent")
		if use == "bulk out" and not m.serial then
			if m.load then
				m.load.since = p.time
			elseif m.unannounced then
				bad(r, "plan_not_stalled")
			end
			m.unannounced = nil
		end
		return r
	elseif p.cut then
		say(r, "cut")
		lose_track(m)
		m.sure = false
		m.streams[inward] = ""
		-- whole events can be shown
		if use == "interrupt in" then
			for from = 0, #p.data - 32, 32 do
				add_part_of(r, "event", p.data:sub(from + 1, from + 32), p.data_at + from)
			end
		end
		return r
	end
	if m.serial then
		on_stream(m, r, inward, data, p.data_at, p.time)
	elseif use == "interrupt in" then
		on_events(m, r, data, p.data_at)
	elseif use == "interrupt out" then
		add_part_of(r, "gate", data, p.data_at)
		on_gate(m, r, data)
	else
		add_part_of(r, "plan", data, p.data_at)
		m.unannounced = m.sure and not m.load
		on_plan(m, r, data)
	end
	return r
end

-- Look at a packet, in the order of the capture. Returns its record, or nil if it is no machine's.
function look(p)
	if p.kind == 2 then
		return look_control(p)
	end
	local m = machines[p.key]
	if not m or not KINDS[p.kind] then
		return nil
	end
	if m.serial == nil then
		guess(m, p)
		if m.serial == nil then
			return nil
		end
	end
	return look_endpoint(m, p)
end

-- -- packets --------------------------------------------------------------------------------------

local records	-- by number of the packet

-- The device of a USB packet: bus * 65536 + device; nil for others. In the first of two passes
-- there are no fields, but the addresses are set: "host", and "bus.device.endpoint".
local function device_key(pinfo)
	local from, to = tostring(pinfo.src), tostring(pinfo.dst)
	if from ~= "host" and to ~= "host" then
		return nil
	end
	local bus, device = (from == "host" and to or from):match("^(%d+)%.(%d+)%.%d+$")
	return bus and tonumber(bus) * 65536 + tonumber(device)
end

local function signed(number)
	return number < 2 ^ 31 and number or number - 2 ^ 32
end

-- The packet as a table, or nil if it is not usbmon's: see Documentation/usb/usbmon.rst of the
-- kernel. Wireshark gives the header in the byte order of the computer, which is little-endian on
-- every Debian architecture but s390x.
local function packet_of(tvb, pinfo)
	local key = device_key(pinfo)
	if not key or tvb:len() < 48 then
		return nil
	end
	local bytes = tvb:raw(0, tvb:len())
	local captured, length = u32(bytes, 36), u32(bytes, 32)
	-- one link type has headers of 48 bytes, the other of 64
	local head = tvb:reported_len() - captured
	local has_setup, has_data = u8(bytes, 14) == 0, u8(bytes, 15) == 0
	if head ~= 48 and head ~= 64 or not bytes:sub(9, 9):find("[SCE]") then
		return nil
	end
	local data = has_data and bytes:sub(head + 1, head + captured) or ""
	return {
		number = pinfo.number,
		time = pinfo.abs_ts,
		key = key,
		id = bytes:sub(1, 8),
		stage = bytes:sub(9, 9),		-- S, C, or E: submission failed
		kind = u8(bytes, 9),			-- 1 interrupt, 2 control, 3 bulk
		endpoint = u8(bytes, 10),
		status = signed(u32(bytes, 28)),
		setup = has_setup and bytes:sub(41, 48) or nil,
		data = data,
		data_at = head,
		-- the file has not all bytes of the transfer
		cut = has_data and #data < length,
	}
end

-- Called for data of devices that the preference or Decode As takes for a machine. Like below, the
-- data are claimed: Wireshark would show them as bytes, in which anybody could read the cards.
function dealbox.dissector(tvb, pinfo)
	local key = device_key(pinfo)
	if key then
		adopt(key)
	end
	return tvb:len()
end

function transfers.dissector(tvb, pinfo, tree)
	local record = records[pinfo.number]
	if not pinfo.visited and not record then
		local packet = packet_of(tvb, pinfo)
		record = packet and look(packet)
		records[pinfo.number] = record
		if record and record.request_record then
			record.request_record.answer_in = pinfo.number
		end
	end
	if record then
		show(record, tvb, tree, pinfo)
	end
end

register_postdissector(transfers)

local by_device = DissectorTable.get("usb.device")
local listed = {}

function dealbox.prefs_changed()
	for key in pairs(listed) do
		by_device:remove(key, dealbox)
	end
	listed = {}
	for bus, device in dealbox.prefs.machines:gmatch("(%d+)%.(%d+)") do
		local key = tonumber(bus) * 65536 + tonumber(device)
		if key < 2 ^ 32 then
			listed[key] = true
			by_device:add(key, dealbox)
		end
	end
end

-- A new capture
function dealbox.init()
	records = {}
	forget()
	for key in pairs(listed) do
		adopt(key)
	end
end

by_device:add_for_decode_as(dealbox)

-- Data of machines whose descriptors are in the capture
local function claim(_, pinfo)
	return records[pinfo.number] ~= nil or known(device_key(pinfo))
end

for _, list in ipairs({ "usb.bulk", "usb.control", "usb.interrupt" }) do
	dealbox:register_heuristic(list, claim)
end
