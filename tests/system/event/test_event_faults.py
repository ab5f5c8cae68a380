#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The server and PCs are killed at seeded instants: each copy is dealt once, and no record is lost."""

import os
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../tool"))
from tool import TIMEOUT, main, test    # pylint: disable=wrong-import-position

from server import Server

SEEDS = range(1, 1 + int(sys.argv[1])) if len(sys.argv) > 1 else range(1, 3)
SERVER = Server(())     # as after installation: with fsync
PCS = ("a", "b", "c")
BOARDS, COPIES = 3, 20
FAULTS = 8


def kill_server():
    with open(os.path.join(SERVER.data, "postmaster.pid")) as file:
        pid = int(file.readline())
    os.kill(pid, signal.SIGKILL)
    # its processes notice that it has gone, and end; the next one refuses to start before
    while True:
        try:
            SERVER.start()
            return
        except subprocess.CalledProcessError:
            time.sleep(0.05)


def start(name, user):
    os.makedirs(user, exist_ok=True)
    return subprocess.Popen([os.environ["DEALBOX_EVENT_PC"], SERVER.address(name, user), user.upper(), user])


def prepare(box, seed):
    name = "faults%d" % seed
    SERVER.sql("postgres", "CREATE DATABASE %s" % name)
    box.dealbox("event", "init", "Faults", "key%d" % seed, "-d", SERVER.address(name)).expect(0)
    for user, role in (*((user, "pc") for user in PCS), ("director", "director")):
        SERVER.sql(name, "DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '%s') THEN "
                   "CREATE ROLE %s LOGIN IN ROLE dealbox_%s; END IF; END $$" % (user, user, role))
    # one job and session a board: a session has a deal once
    for board in range(BOARDS):
        SERVER.sql(name, "SELECT dealbox.add_job('s%d', %d, 0, true, '{%d}', "
                   "'{00000000-0000-0000-0000-000000000001}')" % (board, COPIES, board + 1), "director")
    # every PC has every set, as soon as it joins
    SERVER.sql(name, "CREATE FUNCTION dealbox.all_sets() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN "
               "INSERT INTO dealbox.sealed_set SELECT id, new.id, 'x' FROM dealbox.job; RETURN new; END $$; "
               "CREATE TRIGGER all_sets AFTER INSERT ON dealbox.pc FOR EACH ROW EXECUTE FUNCTION dealbox.all_sets()")
    return name


def journals():
    """What the PCs have dealt, by their own accounts."""
    dealt = []
    for user in PCS:
        if os.path.exists(user + "/journal"):
            with open(user + "/journal") as file:
                dealt += [tuple(map(int, line.split())) for line in file if line.endswith("\n")]
    return dealt


def run(box, seed):
    name, chance = prepare(box, seed), random.Random(seed)
    folder = os.path.join(box.folder, "run%d" % seed)
    os.mkdir(folder)
    os.chdir(folder)
    running = {user: start(name, user) for user in PCS}
    kills = [0, 0]
    for boards in sorted(chance.sample(range(BOARDS * COPIES - 10), FAULTS)):
        while len(journals()) < boards and any(pc.poll() is None for pc in running.values()):
            time.sleep(0.005)
        # somewhere in what a PC does for a board
        time.sleep(chance.uniform(0, 0.05))
        if chance.random() < 0.4:
            kill_server()
            kills[0] += 1
        else:
            user = chance.choice(PCS)
            running[user].kill()
            if running[user].wait() == -signal.SIGKILL:
                kills[1] += 1
            running[user] = start(name, user)
    for user in PCS:
        assert running[user].wait(timeout=TIMEOUT) == 0, user
    dealt = journals()
    wanted = sorted((board, board, copy) for board in range(1, BOARDS + 1) for copy in range(1, COPIES + 1))
    assert sorted(dealt) == wanted, "not dealt: %s; twice: %s" % (
        sorted(set(wanted) - set(dealt)), sorted(copy for copy in set(dealt) if dealt.count(copy) > 1))
    rows = SERVER.sql(name, "SELECT count(*), count(*) FILTER (WHERE standing = 'counts'), count(DISTINCT (job, number, copy)) "
                      "FROM dealbox.record")
    assert rows == ["|".join([str(len(wanted))] * 3)], rows
    print("# seed %d: the server was killed %d times, PCs %d times" % (seed, *kills))


@test
def nothing_is_lost_or_dealt_twice(box):
    for seed in SEEDS:
        run(box, seed)


try:
    main()
finally:
    SERVER.remove()
