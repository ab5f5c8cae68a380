#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The server and PCs are killed at seeded instants: each copy is dealt once, and no record is lost."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../tool"))
from tool import TIMEOUT, main, test    # pylint: disable=wrong-import-position

from server import Server, kill

SEEDS = range(1, 1 + int(sys.argv[1])) if len(sys.argv) > 1 else range(1, 3)
SERVER = Server(())     # as after installation: with fsync
PCS = ("a", "b", "c")
BOARDS, COPIES = 3, 20
FAULTS = 8
WANTED = sorted((board, board, copy) for board in range(1, BOARDS + 1) for copy in range(1, COPIES + 1))


def start(name, user, pc=None, folder=None, *how, **options):   # pylint: disable=keyword-arg-before-vararg
    os.makedirs(folder or user, exist_ok=True)
    return subprocess.Popen([os.environ["DEALBOX_EVENT_PC"], SERVER.address(name, user), pc or user.upper(), folder or user, *how],
                            text=True, **options)


def prepare(box, seed, copies=COPIES):
    """An event, and a folder for its PCs; returns its name."""
    name = "faults%s" % seed
    folder = os.path.join(box.folder, name)
    os.mkdir(folder)
    SERVER.sql("postgres", "CREATE DATABASE %s" % name)
    box.dealbox("event", "init", "Faults", "key" + name, "-d", SERVER.address(name)).expect(0)
    for user, role in (*((user, "pc") for user in PCS), ("director", "director")):
        SERVER.sql(name, "DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '%s') THEN "
                   "CREATE ROLE %s LOGIN IN ROLE dealbox_%s; END IF; END $$" % (user, user, role))
    # one job and session a board: a session has a deal once
    for board in range(BOARDS):
        SERVER.sql(name, "SELECT dealbox.add_job('s%d', %d, 0, true, '{%d}', "
                   "'{00000000-0000-0000-0000-000000000001}')" % (board, copies, board + 1), "director")
    # every PC has every set, as soon as it joins
    SERVER.sql(name, "CREATE FUNCTION dealbox.all_sets() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN "
               "INSERT INTO dealbox.sealed_set SELECT id, new.id, 'x' FROM dealbox.job; RETURN new; END $$; "
               "CREATE TRIGGER all_sets AFTER INSERT ON dealbox.pc FOR EACH ROW EXECUTE FUNCTION dealbox.all_sets()")
    os.chdir(folder)
    return name


def journals(folders=PCS):
    """What the PCs have dealt, by their own accounts."""
    dealt = []
    for user in folders:
        if os.path.exists(user + "/journal"):
            with open(user + "/journal") as file:
                dealt += [tuple(map(int, line.split())) for line in file if line.endswith("\n")]
    return dealt


def run(box, seed):
    name, chance = prepare(box, seed), random.Random(seed)
    running = {user: start(name, user) for user in PCS}
    kills = [0, 0]
    for boards in sorted(chance.sample(range(BOARDS * COPIES - 10), FAULTS)):
        while len(journals()) < boards and any(pc.poll() is None for pc in running.values()):
            time.sleep(0.005)
        # somewhere in what a PC does for a board
        time.sleep(chance.uniform(0, 0.05))
        if chance.random() < 0.4:
            kill(SERVER)
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
    wanted = WANTED
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


def dealt_until(count, running):
    """Each of them has dealt so many boards."""
    while any(len(journals((user,))) < count and pc.poll() is None for user, pc in running.items()):
        time.sleep(0.002)


def counted(name, standing="counts"):
    return [tuple(map(int, row.split("|"))) for row in SERVER.sql(
        name, "SELECT job, number, copy FROM dealbox.record WHERE standing = '%s' ORDER BY 1, 2, 3" % standing)]


def remove(box, name, pc):
    """When somebody has waited for the end of its lease."""
    director = SERVER.address(name, "director")
    box.dealbox("event", "remove", pc, "--yes", "-d", director).expect(1, "may still deal")
    SERVER.sql(name, "UPDATE dealbox.pc SET until = now() - interval '1 day' WHERE name = '%s'" % pc)
    box.dealbox("event", "remove", pc, "--yes", "-d", director).expect(0, pc + " is removed")


@test
def a_pc_is_rebuilt(box):
    """What only its old disk knows was dealt is dealt again, and everybody sees that when the disk is found."""
    name = prepare(box, "_rebuilt")
    running = {user: start(name, user) for user in PCS}
    dealt_until(4, {"a": running["a"]})
    running["a"].kill()
    running["a"].wait()
    os.rename("a", "old")
    remove(box, name, "A")
    running["a"] = start(name, "a", "A2")
    for user in PCS:
        assert running[user].wait(timeout=TIMEOUT) == 0, user
    assert counted(name) == WANTED
    known = SERVER.sql(name, "SELECT r.insertion FROM dealbox.record r JOIN dealbox.pc p ON p.id = r.pc WHERE p.name = 'A'")
    # the old disk takes nothing, and what it reports is surplus where it was dealt again
    old = start(name, "a", "A", "old", stderr=subprocess.PIPE)
    assert "a PC has joined as user a already" in old.communicate(timeout=TIMEOUT)[1] and old.returncode == 1
    # its machine is called a
    os.mkdir("was")
    os.rename("old", "was/a")
    assert start(name, "a", "A", "was/a", "report").wait(timeout=TIMEOUT) == 0
    assert counted(name) == WANTED
    dealt = journals(("was/a", *PCS))
    twice = sorted(copy for copy in set(dealt) if dealt.count(copy) > 1)
    assert counted(name, "surplus") == twice, (twice, counted(name, "surplus"))
    print("# %d boards were only on the old disk, of %d; all are surplus" % (len(twice), len(journals(("was/a",)))))
    assert len(known) + len(twice) == len(journals(("was/a",))), "the rest had been reported"


@test
def two_pcs_with_one_identity_are_noticed(box):
    name = prepare(box, "_twins")
    running = {user: start(name, user, stderr=subprocess.PIPE) for user in ("a", "b")}
    dealt_until(4, {"a": running["a"]})
    running["a"].send_signal(signal.SIGSTOP)
    shutil.copytree("a", "twin")
    twin = start(name, "a", "A", "twin", stderr=subprocess.PIPE)
    running["a"].send_signal(signal.SIGCONT)
    said = [pc.communicate(timeout=TIMEOUT)[1] for pc in (running["a"], twin)]
    assert any("two PCs use the identity of A" in text or "does not count" in text or "reported differently" in text
               for text in said), said
    # each board that both have dealt is one that counts and one that is surplus; none counts twice
    for folder in ("a", "twin"):
        start(name, "a", "A", folder, "report", stderr=subprocess.DEVNULL).wait(timeout=TIMEOUT)
    assert running["b"].wait(timeout=TIMEOUT) == 0
    assert len(set(counted(name))) == len(counted(name))
    remove(box, name, "A")
    assert start(name, "a", "A2", "a2").wait(timeout=TIMEOUT) == 0
    assert counted(name) == WANTED
    dealt = journals(("a", "b", "a2"))
    assert sorted(set(dealt)) == WANTED


@test
def an_old_backup_of_the_server_is_noticed(box):
    name = prepare(box, "_backup", 200)
    running = {user: start(name, user, stderr=subprocess.PIPE) for user in PCS}

    def everybody(number):
        for pc in running.values():
            pc.send_signal(number)

    def asked():
        return SERVER.sql(name, "SELECT asked FROM dealbox.pc ORDER BY name")

    dealt_until(4, running)
    everybody(signal.SIGSTOP)
    SERVER.stop("fast")
    backup = os.path.join(SERVER.folder, "backup")
    shutil.copytree(SERVER.data, backup)
    SERVER.start()
    before = asked()
    everybody(signal.SIGCONT)
    # twice: who has no answer to the first request makes it again, and the backup takes it for a new one
    while any(int(now) < int(then) + 2 for now, then in zip(asked(), before)):
        assert all(pc.poll() is None for pc in running.values())
        time.sleep(0.005)
    everybody(signal.SIGSTOP)
    last = asked()
    SERVER.stop("immediate")
    shutil.rmtree(SERVER.data)
    os.rename(backup, SERVER.data)
    SERVER.start()
    # as docs/event.md says: everybody reports, one after the other, and takes nothing
    for user in PCS:
        running[user].kill()
        running[user].communicate()
        assert start(name, user, None, None, "report").wait(timeout=TIMEOUT) == 0, user
    dealt = journals()
    assert len(set(dealt)) == len(dealt) and counted(name) == sorted(dealt)
    # who takes is told, and deals nothing
    for user in PCS:
        pc = start(name, user, stderr=subprocess.PIPE)
        assert "the server has forgotten requests of this PC" in pc.communicate(timeout=TIMEOUT)[1], user
    assert journals() == dealt
    print("# %d boards; requests by the backup: %s; by the PCs: %s" % (len(dealt), before, last))


try:
    main()
finally:
    SERVER.remove()
