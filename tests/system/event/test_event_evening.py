#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Evenings of an event with dealboxd at each PC, over bad cables, while services and servers fail.

usage: test_event_evening.py DEALBOXD EMULATOR DEALBOX SET [EVENINGS[+FIRST]]
3 evenings are dealt if no number is given. What happens in one follows from its seed, the first of
which is 1 or FIRST. The emulated machines' accounts say what was dealt.
"""

import os
import random
import signal
import sys
import time

import node

node.apart()

import test_event_service as service    # pylint: disable=wrong-import-position
from test_event_service import BOARDS, Tap, add, finish, hanging, judge, world    # pylint: disable=wrong-import-position

EVENINGS, FIRST = [*map(int, (sys.argv[5] if len(sys.argv) > 5 else "3").split("+")), 1][:2]
USERS = ("a", "b")
BLOWS = 4       # of an evening
NODES = node.Nodes(USERS)


def behind(pc):
    """The service is at the far end of its cable, with a certificate of its own."""
    pc.database = NODES.address(pc.name, pc.user)
    real, pc.dealboxd = pc.dealboxd, pc.dir + "/behind"
    with open(pc.dealboxd, "w") as script:
        script.write("#!/bin/sh\n%s exec %s %s \"$@\"\n" % (
            " ".join("%s='%s'" % pair for pair in NODES.environment(pc.user).items()), " ".join(NODES.cable(pc.user).prefix()), real))
    os.chmod(pc.dealboxd, 0o755)


# ---- what goes wrong, besides that of node.py ----------------------------------------------------

def service_is_killed(_draw, pcs, pc, **environment):
    assert pc in pcs
    pc.stop(signal.SIGKILL)
    pc.start(**environment)


def clock_is_a_day_ahead(draw, pcs, pc):
    service_is_killed(draw, pcs, pc, LD_PRELOAD=os.environ["DEALBOX_CLOCK"])


def server_hangs(draw, pcs, _pc):
    with hanging():
        end = time.monotonic() + draw.uniform(0, 1)
        while time.monotonic() < end:
            for pc in pcs:
                pc.answer()


def pc_is_to_rest(draw, pcs, pc):
    """Somebody wants its copies dealt by others, and soon wants it to deal again."""
    for rest in ("true", "false"):
        service.SERVER.sql(pc.name, "SELECT dealbox.let_rest('%s', %s)" % (pc.user.upper(), rest))
        end = time.monotonic() + draw.uniform(0, 2)
        while rest == "true" and time.monotonic() < end:
            for one in pcs:
                one.answer()


OWN = (service_is_killed, clock_is_a_day_ahead, server_hangs, pc_is_to_rest)


def evening(seed):
    draw = random.Random(seed)
    blows = [draw.choice((*OWN, *node.FAULTS)) for _ in range(BLOWS)]
    print("# seed %d: %s" % (seed, ", ".join(blow.__name__ for blow in blows)), flush=True)
    if node.replica_takes_over in blows:
        NODES.ready()
    service.SERVER = NODES.leader
    with world() as (name, pcs):
        for pc in pcs:
            behind(pc)
        add(name, 1)
        for pc in pcs:
            pc.start()
        for blow, boards in zip(blows, sorted(draw.sample(range(BOARDS - 4), BLOWS))):
            finish(name, pcs, boards, more=True)
            # somewhere in what is done for a board
            time.sleep(draw.uniform(0, 0.2))
            pc = draw.choice(pcs)
            if blow in OWN:
                blow(draw, pcs, pc)
            else:
                blow(draw, NODES, NODES.cable(pc.user))
                NODES.cable(pc.user).good()
                service.SERVER = NODES.leader
        finish(name, pcs, BOARDS)
        judge(name, pcs, BOARDS)
    service.SERVER.sql("postgres", "DROP DATABASE %s WITH (FORCE)" % name)


def test_evenings_with_faults():
    for seed in range(FIRST, FIRST + EVENINGS):
        evening(seed)


signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
tap = Tap()
os.chdir(NODES.certificates.folder)
try:
    tap.run(test_evenings_with_faults)
finally:
    os.chdir("/")
    NODES.remove()
sys.exit(tap.end())
