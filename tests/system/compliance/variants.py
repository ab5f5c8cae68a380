# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Correct machines at the edge of what is allowed: name, options of dealbox-emulator, rules of a
scenario. Nothing may be found in them.
"""

# The descriptors of the default machine, with a machine descriptor of a later minor version: 32
# bytes, the last of them not 0, and a capability that nobody knows.
MACHINE = "202401" "02" "0201" "04" "40" "dc00" "4000" "e50f0080" "00000000" "00000000"
LATER = ("on descriptor config always: bytes 090240000101" "00e001" "0904000002ff440100" + MACHINE +
         "0102030405060708" "07050102000200" "07058203000101",
         "on request 0x00 always: bytes " + MACHINE, "on request GET_INFO always: set 0 0201")

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
    ("delayed events", (), ("on event every 25: delay 40",)),
]
