#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""An event by TLS over bad cables, with a server that is killed, has no room, or hands over to its replica.

usage: test_event_network.py [RUNS [FIRST-SEED]]

What happens in a run, and when, follows from its seed. The journals of the PCs say what was dealt.
"""

import os
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../tool"))

import node     # pylint: disable=wrong-import-position

node.apart()

from tool import TIMEOUT, main, test    # pylint: disable=wrong-import-position

RUNS, FIRST = [*map(int, sys.argv[1:3]), *(1, 1)[len(sys.argv[1:3]):]]
PCS = ("a", "b", "c")
BOARDS, COPIES = 3, 20
FAULTS = 6


class Event(node.Nodes):
    """PCs, cables, and two servers, of which one leads."""

    def __init__(self):
        super().__init__(PCS)
        self.name, self.running = "", {}

    def prepare(self, box, seed):
        name = self.name = "network%d" % seed
        self.ready()
        leader = self.leader
        leader.sql("postgres", "CREATE DATABASE %s" % name)
        box.dealbox("event", "init", "Faults", "key%d" % seed, "-d", leader.address(name)).expect(0)
        for user, role in (*((user, "pc") for user in PCS), ("director", "director")):
            leader.sql(name, "DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '%s') THEN "
                       "CREATE ROLE %s LOGIN IN ROLE dealbox_%s; END IF; END $$" % (user, user, role))
        for board in range(BOARDS):
            leader.sql(name, "SELECT dealbox.add_job('s%d', %d, 0, true, '{%d}', "
                       "'{00000000-0000-0000-0000-000000000001}')" % (board, COPIES, board + 1), "director")
        # every PC has every set, as soon as it joins
        leader.sql(name, "CREATE FUNCTION dealbox.all_sets() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN "
                   "INSERT INTO dealbox.sealed_set SELECT id, new.id, 'x' FROM dealbox.job; RETURN new; END $$; "
                   "CREATE TRIGGER all_sets AFTER INSERT ON dealbox.pc FOR EACH ROW EXECUTE FUNCTION dealbox.all_sets()")

    def begin(self, user, ahead):
        os.makedirs(user, exist_ok=True)
        env = {**os.environ, **self.environment(user)}
        if ahead:
            env["LD_PRELOAD"] = os.environ["DEALBOX_CLOCK"]
        self.running[user] = subprocess.Popen([*self.cable(user).prefix(), os.environ["DEALBOX_EVENT_PC"],
                                               self.address(self.name, user), user.upper(), user], env=env)


EVENT = Event()


def journals():
    """What the PCs have dealt, by their own accounts."""
    dealt = []
    for user in PCS:
        if os.path.exists(user + "/journal"):
            with open(user + "/journal") as file:
                dealt += [tuple(map(int, line.split())) for line in file if line.endswith("\n")]
    return dealt


def pc_is_killed(chance, _nodes, cable):
    user = PCS[EVENT.cables.all.index(cable)]
    EVENT.running[user].kill()
    EVENT.running[user].wait()
    EVENT.begin(user, chance.random() < 0.5)


def one_run(box, seed):
    chance = random.Random(seed)
    folder = os.path.join(box.folder, "run%d" % seed)
    os.mkdir(folder)
    os.chdir(folder)
    EVENT.prepare(box, seed)
    for user in PCS:
        EVENT.begin(user, chance.random() < 0.3)
    done = []
    for boards in sorted(chance.sample(range(BOARDS * COPIES - 10), FAULTS)):
        while len(journals()) < boards and any(pc.poll() is None for pc in EVENT.running.values()):
            time.sleep(0.005)
        time.sleep(chance.uniform(0, 0.05))
        fault, cable = chance.choice((*node.FAULTS, pc_is_killed)), chance.choice(EVENT.cables.all)
        fault(chance, EVENT, cable)
        cable.good()
        done.append(fault.__name__)
    for user in PCS:
        assert EVENT.running[user].wait(timeout=TIMEOUT) == 0, (user, done)
    dealt = journals()
    wanted = sorted((board, board, copy) for board in range(1, BOARDS + 1) for copy in range(1, COPIES + 1))
    assert sorted(dealt) == wanted, "%s: not dealt: %s; twice: %s" % (
        done, sorted(set(wanted) - set(dealt)), sorted(copy for copy in set(dealt) if dealt.count(copy) > 1))
    rows = EVENT.leader.sql(EVENT.name, "SELECT count(*), count(*) FILTER (WHERE standing = 'counts'), "
                            "count(DISTINCT (job, number, copy)) FROM dealbox.record")
    assert rows == ["|".join([str(len(wanted))] * 3)], (done, rows)
    EVENT.leader.sql("postgres", "DROP DATABASE %s WITH (FORCE)" % EVENT.name)
    print("# seed %d: %s" % (seed, ", ".join(done)), flush=True)


@test
def nothing_is_lost_or_dealt_twice(box):
    for seed in range(FIRST, FIRST + RUNS):
        one_run(box, seed)


signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
try:
    main()
finally:
    EVENT.remove()
