# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Correct machines at the edge of what is allowed: name, options of dealbox-emulator, rules of a
scenario. Nothing may be found in them.
"""

# The descriptors of the default machine, with a machine descriptor of a later minor version, 1.10:
# 32 bytes, the last of them not 0, and a capability that nobody knows.
MACHINE = "202401" "02" "0a01" "04" "40" "dc00" "4000" "e50f0080" "00000000" "00000000"
LATER = ("on descriptor config always: bytes 090240000101" "00e001" "0904000002ff440100" + MACHINE +
         "0102030405060708" "07050102000200" "07058203000101",
         "on request 0x00 always: bytes " + MACHINE, "on request GET_INFO always: set 0 0a01")

QUALITY_0 = tuple("on event %s always: set 19 00" % name for name in
                  ("CARD_READ", "NOT_IN_PLAN", "REPEATED_CARD", "CARD_UNREADABLE"))
QUALITY_255 = tuple(rule.replace("19 00", "19 ff") for rule in QUALITY_0)
UNKNOWN = tuple("on event %s always: unknown" % name for name in
                ("BOARD_REMOVED", "COVER_OPEN", "COVER_CLOSED", "KEY", "PLAN_LOADED", "CARD_READ", "CARD_ROUTED",
                 "PAUSED", "ABORTED", "DEAL_DONE", "NOT_IN_PLAN", "FAULT_CLEARED"))

VARIANTS = [
    ("stored plan", (), ()),
    ("host-routed", ("--kind", "routed"), ()),
    ("serial, stored plan", ("--dialect", "serial"), ()),
    ("serial, host-routed", ("--dialect", "serial", "--kind", "routed"), ()),
    ("lock, board reader and attestations",
     ("--capabilities", "attest,by-card,by-position,test-deal,board-lock,board-reader,exit-sensors,"
      "double-feed-sensor,capture"), ()),
    ("host-routed, no reader, refused by result",
     ("--kind", "routed", "--reader", "none", "--pockets", "3", "--pocket-capacity", "5",
      "--descriptor", "request", "--capabilities", "attest,by-position,refuses-by-result,test-deal"), ()),
    ("every optional thing missing", ("--capabilities", "by-position"), ()),
    ("by card only", ("--capabilities", "by-card,exit-sensors"), ()),
    ("no reader", ("--reader", "none"), ()),
    ("smallest packets", ("--packet", "32"), ()),
    ("largest packets", ("--packet", "1024"), ()),
    ("jokers in the hopper", ("--pack", "jokers"), ()),
    ("one pack", ("--packs", "1"), ()),
    ("one pocket", ("--pockets", "1"), ()),
    ("eight pockets of 13 cards", ("--pockets", "8", "--pocket-capacity", "13"), ()),
    ("plans of 16 cards", ("--plan-cards", "16"), ()),
    ("descriptor by request", ("--descriptor", "request"), ()),
    ("slow", ("--speed", "30"), ()),
    ("unknown events", (), ("on event CARD_LANDED every 3: unknown", "on event PLAN_LOADED every 4: unknown")),
    ("slow answers", (), ("on request every 60: delay 300",)),
    ("descriptor of a later minor version", (), LATER),
    # the answer ends before the descriptor does
    ("descriptor of a later minor version, by request", ("--descriptor", "request"), LATER[1:]),
    ("pockets of five cards", ("--pocket-capacity", "5"), ()),
    ("host-routed, pockets of five cards", ("--kind", "routed", "--pocket-capacity", "5"), ()),
    ("pockets of one card", ("--pocket-capacity", "1"), ()),
    ("host-routed, pockets of one card", ("--kind", "routed", "--pocket-capacity", "1"), ()),
    ("one pocket of one card", ("--pocket-capacity", "1", "--pockets", "1"), ()),
    ("plans of one card", ("--plan-cards", "1"), ()),
    ("host-routed, plans of one card", ("--kind", "routed", "--plan-cards", "1"), ()),
    ("plans of two cards", ("--plan-cards", "2"), ()),
    ("a quality that is not said, 0", (), QUALITY_0),
    ("host-routed, a quality that is not said, 255", ("--kind", "routed"), QUALITY_255),
    ("unknown events everywhere", (), UNKNOWN),
    ("serial, host-routed, unknown events everywhere", ("--dialect", "serial", "--kind", "routed"), UNKNOWN),
    ("no reader, and few capabilities", ("--reader", "none", "--capabilities", "by-position,exit-sensors"), ()),
    ("a small pack", ("--pack", "preferans", "--plan-cards", "32", "--packs", "2"), ()),
    ("jokers, by card alone", ("--pack", "jokers", "--plan-cards", "54", "--capabilities", "by-card,exit-sensors,keys"),
     ()),
    ("serial, host-routed, lock and attestations",
     ("--kind", "routed", "--dialect", "serial", "--capabilities",
      "attest,by-card,by-position,exit-sensors,capture,test-deal,board-lock"), ()),
    ("delayed events", (), ("on event every 25: delay 40",)),
]
