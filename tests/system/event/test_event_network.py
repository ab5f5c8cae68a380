#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""An event by TLS over bad cables, with a server that is killed, has no room, or hands over to its replica.

usage: test_event_network.py [RUNS [FIRST-SEED]]

What happens in a run, and when, follows from its seed. The journals of the PCs say what was dealt.
"""

import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../tool"))

# a network and mounts of our own, without being root
if "DEALBOX_APART" not in os.environ:
    os.environ["DEALBOX_APART"] = "1"
    os.execvp("unshare", ["unshare", "--user", "--map-root-user", "--net", "--mount", sys.executable, *sys.argv])

from tool import TIMEOUT, main, test    # pylint: disable=wrong-import-position

from cable import Cables        # pylint: disable=wrong-import-position
from certificates import Certificates, run      # pylint: disable=wrong-import-position
from server import Server, kill         # pylint: disable=wrong-import-position

RUNS, FIRST = [*map(int, sys.argv[1:3]), *(1, 1)[len(sys.argv[1:3]):]]
PCS = ("a", "b", "c")
BOARDS, COPIES = 3, 20
FAULTS = 6
ROOM = 280      # MiB, of the disk of each server
FULL = 1.0      # seconds, longest, of a fault that passes


class Node(Server):
    """One of the two servers: at an address of its own, on a small disk of its own."""

    def __init__(self, number, certificates):
        self.number, self.certificates = number, certificates
        tempfile.tempdir = tempfile.mkdtemp(prefix="dealbox-disk-")
        self.disk = tempfile.tempdir
        run("mount", "-t", "tmpfs", "-o", "size=%dM" % ROOM, "disk", self.disk)
        run("ip", "addr", "add", self.host(), "dev", "lo")
        super().__init__(self.settings())
        tempfile.tempdir = None
        with open(os.path.join(self.data, "pg_hba.conf"), "a") as file:
            file.write("hostssl all all all cert\n")
        self.stop("fast")
        self.start()

    def host(self):
        return "10.9.0.%d" % self.number

    def settings(self):
        path = self.certificates.path
        return ("listen_addresses = '%s'" % self.host(), "ssl = on", "ssl_cert_file = '%s'" % path("server.crt"),
                "ssl_key_file = '%s'" % path("server.key"), "ssl_ca_file = '%s'" % path("ca.crt"),
                "cluster_name = 'node%d'" % self.number, "min_wal_size = 32MB", "max_wal_size = 64MB", "wal_keep_size = 0")

    def follow(self, leader):
        """Becomes the synchronous replica of the other: each answer is then on both disks."""
        with contextlib.suppress(AssertionError):
            self.stop()
        run("rm", "-rf", self.data)
        leader.sql("postgres", "ALTER SYSTEM RESET ALL; SELECT pg_reload_conf()")
        self.tool("pg_basebackup", "-D", self.data, "-h", leader.folder, "-U", "owner", "-R", "-X", "stream", "-c", "fast")
        with open(os.path.join(self.data, "postgresql.conf"), "a") as file:
            file.write("\n".join(("unix_socket_directories = '%s'" % self.folder, *self.settings(), "")))
        self.start()
        leader.sql("postgres", "ALTER SYSTEM SET synchronous_standby_names = 'node%d'" % self.number)
        leader.sql("postgres", "SELECT pg_reload_conf()")
        while leader.sql("postgres", "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") != ["1"]:
            time.sleep(0.05)


class Event:
    """PCs, cables, and two servers, of which one leads."""

    def __init__(self):
        run("ip", "link", "set", "lo", "up")
        self.certificates = Certificates(tempfile.mkdtemp(prefix="dealbox-ca-"))
        self.certificates.authority("ca")
        self.certificates.make("server", "server", names="IP:10.9.0.1,IP:10.9.0.2")
        for user in PCS:
            self.certificates.make(user, user)
        self.leader, self.other = Node(1, self.certificates), Node(2, self.certificates)
        self.follows = False
        self.cables = Cables(len(PCS), random.Random(0))
        self.name, self.running = "", {}

    def remove(self):
        for node in (self.leader, self.other):
            with contextlib.suppress(AssertionError):
                node.stop()
            run("umount", "--lazy", node.disk)
            os.rmdir(node.disk)
        run("rm", "-rf", self.certificates.folder)

    def prepare(self, box, seed):
        name = self.name = "network%d" % seed
        leader = self.leader
        if not self.follows:
            self.other.follow(leader)
            self.follows = True
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
        path = self.certificates.path
        env = dict(os.environ, PGSSLROOTCERT=path("ca.crt"), PGSSLCERT=path(user + ".crt"), PGSSLKEY=path(user + ".key"))
        if ahead:
            env["LD_PRELOAD"] = os.environ["DEALBOX_CLOCK"]
        address = "host=10.9.0.1,10.9.0.2 dbname=%s user=%s" % (self.name, user)
        cable = self.cables.all[PCS.index(user)]
        self.running[user] = subprocess.Popen([*cable.prefix(), os.environ["DEALBOX_EVENT_PC"], address, user.upper(), user],
                                              env=env)


EVENT = Event()


def journals():
    """What the PCs have dealt, by their own accounts."""
    dealt = []
    for user in PCS:
        if os.path.exists(user + "/journal"):
            with open(user + "/journal") as file:
                dealt += [tuple(map(int, line.split())) for line in file if line.endswith("\n")]
    return dealt


# ---- what goes wrong; each ends before the next begins -------------------------------------------

def cut(chance, cable):
    cable.loss_there = cable.loss_back = 1
    time.sleep(chance.uniform(0, FULL))


def answers_are_lost(chance, cable):
    cable.loss_back = 1
    time.sleep(chance.uniform(0, FULL))


def requests_are_lost(chance, cable):
    cable.loss_there = 1
    time.sleep(chance.uniform(0, FULL))


def loss(chance, cable):
    cable.loss_there, cable.loss_back = chance.uniform(0, 0.4), chance.uniform(0, 0.4)
    time.sleep(chance.uniform(0, FULL))


def delay(chance, cable):
    cable.delay = chance.uniform(0.01, 0.3)
    time.sleep(chance.uniform(0, FULL))


def pc_is_killed(chance, cable):
    user = PCS[EVENT.cables.all.index(cable)]
    EVENT.running[user].kill()
    EVENT.running[user].wait()
    EVENT.begin(user, chance.random() < 0.5)


def server_is_killed(_chance, _cable):
    kill(EVENT.leader)


def server_is_restarted(_chance, _cable):
    EVENT.leader.stop("fast")
    EVENT.leader.start()


def replica_takes_over(_chance, _cable):
    if not EVENT.follows:
        return
    kill(EVENT.leader, again=False)
    EVENT.leader, EVENT.other = EVENT.other, EVENT.leader
    EVENT.follows = False
    EVENT.leader.tool("pg_ctl", "-D", EVENT.leader.data, "-w", "-t", "300", "promote")


def disk_is_full(chance, _cable):
    path = os.path.join(EVENT.leader.disk, "full")
    with open(path, "wb") as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(1 << 20))
            file.flush()
    time.sleep(chance.uniform(0, FULL))
    os.remove(path)
    if EVENT.leader.dead():
        EVENT.leader.start()


FAULT = (cut, answers_are_lost, requests_are_lost, loss, delay, pc_is_killed, server_is_killed, server_is_restarted,
         replica_takes_over, disk_is_full)


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
        fault, cable = chance.choice(FAULT), chance.choice(EVENT.cables.all)
        fault(chance, cable)
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
