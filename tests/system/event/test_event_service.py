#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""
dealboxd as a PC of an event: takes copies, deals them while its lease lasts, and reports them.

usage: test_event_service.py DEALBOXD EMULATOR DEALBOX SET [KILLS [TEST...]]
Without KILLS (of services) it runs a few tests only. test_event_evening.py uses its PCs.
"""

import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree

import dbus

sys.path[:0] = [os.path.join(os.path.dirname(__file__), folder) for folder in ("../tool", "../daemon")]
from harness import DATA, Tap, World, agree, read_pbn, tests_of, wait   # pylint: disable=wrong-import-position

from server import Refused, Server, kill

dealboxd, emulator, dealbox, set_file = map(os.path.abspath, sys.argv[1:5])
KILLS = int(sys.argv[5]) if __name__ == "__main__" and len(sys.argv) > 5 else 0
SERVER = None           # of the events that begin
EVENT = "/io/dealbox1/event"
DEALS = read_pbn(set_file)
BOARDS = len(DEALS)
_events = []


class Pc(World):
    """A PC of an event, with a bus of its own, and one machine."""

    alone = False       # [event] is not in its settings

    def __init__(self, name, user, machine=True):
        super().__init__(dealboxd, emulator, dealbox, set_file)
        self.address = os.environ["DBUS_SYSTEM_BUS_ADDRESS"]
        self.user, self.folder, self.database = user, self.dir + "/event", SERVER.address(name, user)
        self.options = ("--speed", "200")
        if machine:
            self.add_emulator(user.upper(), *self.options)

    def event(self, *words):
        result = self.command("event", *words, "-d", self.database, "-f", self.folder)
        assert result.returncode == 0, result
        return result.stdout

    def write_config(self, more=""):
        super().write_config(more + ("" if self.alone else "[event]\ndatabase = %s\nfolder = %s\n" % (self.database, self.folder)))

    def start(self, **environment):
        super().start(DBUS_SYSTEM_BUS_ADDRESS=self.address, **environment)

    def log(self):
        return super().log() if self.daemon else ""

    def view(self):
        return self.objects("Event")[EVENT]

    def has(self, **wanted):
        view = self.view()
        return all(view[name] == value for name, value in wanted.items())

    def jobs(self):
        return {path: job for path, job in self.objects("Job").items() if job["State"] in ("open", "done")}

    def rest(self, rest):
        self.object(EVENT, "Event").Rest(rest)

    def exact(self):
        """(board, copy) of what is recorded and counts in its own ledger."""
        return [(i["board"], i["copy"]) for i in self.counting()]

    def counting(self):
        found, begun = {}, {}
        for record in self.records():
            if record["record"] == "insertion":
                begun[record["number"]] = record
            elif record["record"] == "verdict" and record["outcome"] == "exact":
                i = begun[record["of"]]
                found[i["job"], i["board"], i["copy"]] = i
            elif record["record"] == "act" and record["act"] == "redeal":
                found.pop((record["job"], record["board"], record["copy"]), None)
        return list(found.values())


def begin(copies=2, lease="60", rehearsal=True, pcs=("a", "b"), boards=BOARDS, machine=True):
    """An event, and PCs that have joined it and are admitted."""
    name = "service%d" % len(_events)
    _events.append(name)
    SERVER.sql("postgres", "CREATE DATABASE %s" % name)
    run(name, "owner", "init", "Cup", name + ".key", "--lease", lease, "--margin", "1", *(["--rehearsal"] if rehearsal else []))
    for user, role in (*((user, "pc") for user in pcs), ("director", "director")):
        SERVER.sql(name, "DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '%s') THEN "
                   "CREATE ROLE %s LOGIN IN ROLE dealbox_%s; END IF; END $$" % (user, user, role))
    fingerprint = re.search("fingerprint ([0-9a-f-]+)", run(name, "director", "status"))[1]
    made = []
    for user in pcs:
        pc = Pc(name, user, machine)
        pc.name = name
        made.append(pc)
        out = pc.event("join", user.upper(), fingerprint)
        run(name, "director", "admit", "-k", name + ".key", user.upper(), re.search("([0-9a-f]{4}-){4}[0-9a-f]{4}", out)[0])
    return name, made


def run(name, user, *words):
    result = subprocess.run([dealbox, "event", *words, "-d", SERVER.address(name, user)], check=False, text=True,
                            capture_output=True)
    assert result.returncode == 0, result
    return result.stdout


def add(name, copies=2, session="final", path=set_file):
    return run(name, "director", "add", "-k", name + ".key", "--copies", str(copies), session, path)


def rows(name, what):
    return SERVER.sql(name, what)


def counted(name):
    row, = rows(name, "SELECT count(*) FROM dealbox.record WHERE standing = 'counts'")
    return int(row)


@contextlib.contextmanager
def world(*args, **more):
    name, pcs = begin(*args, **more)
    try:
        yield name, pcs
    except BaseException:
        for pc in pcs:
            print("# ---- %s ----" % pc.user)
            print("# " + pc.log()[-6000:].replace("\n", "\n# "))
        raise
    finally:
        for pc in pcs:
            no_card(pc, name)
            pc.close()


def no_card(pc, name):
    """No deal of the set is in the log, on the bus, or in the database."""
    dump = "\n".join(rows(name, "SELECT j.session || encode(s.sealed, 'escape') FROM dealbox.sealed_set s JOIN dealbox.job j "
                          "ON j.id = s.job"))
    with open(set_file) as file:
        deals = re.findall(r'\[Deal "(.*?)"', file.read())
    for text in (pc.log(), pc.traffic(), dump):
        for deal in deals:
            for hand in deal[2:].split():
                assert hand not in text, "a hand is shown"


@contextlib.contextmanager
def hanging(end=signal.SIGCONT):
    """The server does not answer, and ends no connection. With SIGKILL it never hears what it was asked."""
    with open(os.path.join(SERVER.data, "postmaster.pid")) as file:
        postmaster = file.readline().strip()
    with open("/proc/%s/task/%s/children" % (postmaster, postmaster)) as file:
        processes = [int(pid) for pid in file.read().split()]
    for pid in processes:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in processes:
            os.kill(pid, end)


def finish(name, pcs, total, more=False):
    """Deal until all copies count; or, with more, so many."""
    def done():
        for pc in pcs:
            pc.answer()
        return counted(name) == total or (more and counted(name) > total)
    wait("all copies", done)


def judge(name, pcs, total):
    """Each copy once, in the database and in the ledgers, and each board exact."""
    dealt = []
    for pc in pcs:
        agree(pc.records(), pc.account(), DEALS)
        dealt += pc.exact()
    wanted = total // BOARDS
    assert sorted(dealt) == sorted((board, copy) for board in DEALS for copy in range(1, wanted + 1)), \
        (sorted(dealt), [copy for copy in dealt if dealt.count(copy) > 1])
    assert rows(name, "SELECT count(*) FROM dealbox.record WHERE standing IN ('surplus', 'withdrawn')") == ["0"]
    assert counted(name) == total


def deal_offline(pc):
    """Some boards, while no server answers."""
    wait("offline", lambda: pc.has(State="offline"))
    wait("boards without the server", lambda: pc.answer() or len(pc.exact()) > 1)


def test_two_pcs_deal_each_copy_once():
    with world() as (name, pcs):
        for pc in pcs:
            pc.start()
        for pc in pcs:
            wait("the server", lambda pc=pc: pc.has(State="online", Name="Cup"))
        # they hear of a job that is added now
        add(name)
        for pc in pcs:
            wait("the job", pc.jobs)
            wait("copies", lambda pc=pc: pc.view()["Open"])
        finish(name, pcs, 2 * BOARDS)
        for pc in pcs:
            wait("all reports", lambda pc=pc: pc.has(Waiting=0, Open=0))
        judge(name, pcs, 2 * BOARDS)
        assert sum(int(pc.view()["Recorded"]) for pc in pcs) == 2 * BOARDS
        # each sees the machines of both, and nothing of their boards
        for pc in pcs:
            wait("the machines", lambda pc=pc: [[str(machine["pc"]), str(machine["name"])] for machine in pc.view()["Machines"]]
                 == [["A", "A"], ["B", "B"]] and pc.has(Left=0, MinutesLeft=0))
        assert re.search("machine A of A: [a-z-]+", run(name, "director", "status"))
        assert min(int(pc.view()["Recorded"]) for pc in pcs) > 0


def test_nothing_that_is_not_held_is_begun():
    with world(pcs=("a",)) as (name, (pc,)):
        add(name)
        # everything is another's
        rows(name, "INSERT INTO dealbox.pc (name, login, token, public_key, until, seen) VALUES ('X', 'x', "
             "gen_random_uuid(), decode(repeat('07', 32), 'hex'), now(), now()); UPDATE dealbox.copy SET "
             "pc = (SELECT id FROM dealbox.pc WHERE name = 'X'), ask = 1 WHERE number > 1")
        pc.start()
        wait("the job", pc.jobs)
        finish(name, [pc], 2)
        wait("nothing to deal", lambda: list(pc.machines().values())[0]["State"] in ("no-work", "take-out"))
        assert {board for board, _ in pc.exact()} == {1}
        # and becomes free
        rows(name, "UPDATE dealbox.copy SET pc = NULL, ask = NULL; SELECT pg_notify('dealbox', '')")
        finish(name, [pc], 2 * BOARDS)
        judge(name, [pc], 2 * BOARDS)


def test_an_offline_pc_deals_until_its_lease_ends():
    """Also if somebody sets the time of day back meanwhile."""
    with world(pcs=("a",)) as (name, (pc,)):
        add(name, 30)
        rows(name, "UPDATE dealbox.event SET lease = '12 s'")
        back = pc.dir + "/back"
        pc.start(LD_PRELOAD=os.environ["DEALBOX_CLOCK"], DEALBOX_CLOCK_BACK=back)
        wait("copies", lambda: pc.view()["Open"] > 8 and pc.view()["Pcs"] and pc.view()["Machines"])
        SERVER.stop("fast")
        try:
            with open(back, "w"):
                pass
            wait("offline", lambda: pc.has(State="offline"))
            heard = pc.view()
            count = len(pc.exact())
            held = int(pc.view()["Open"])
            pc.answer()
            wait("a board without the server", lambda: pc.answer() or len(pc.exact()) > count or not pc.view()["LeaseEnds"])
            wait("the end of the lease", lambda: not pc.view()["LeaseEnds"])
            # points in time: nothing that is shown grows older by itself
            assert pc.has(Pcs=heard["Pcs"], Machines=heard["Machines"]) and heard["Pcs"][0]["heard"] > 10**15, (heard, pc.view())
            begun = len([r for r in pc.records() if r["record"] == "insertion"])
            wait("the operator is told", lambda: pc.answer() or list(pc.machines().values())[0]["State"] == "lease-over"
                 or not pc.view()["Open"])
            end = time.monotonic() + 1
            while time.monotonic() < end:
                pc.answer()
            assert begun >= len([r for r in pc.records() if r["record"] == "insertion"]) - 1, "a board was begun"
            last = len([r for r in pc.records() if r["record"] == "insertion"])
            # after a restart it asks first, and the server may have none of what it has dealt
            pc.stop()
            pc.start()
            wait("the machine", pc.machines)
            assert pc.view()["Waiting"] >= len(pc.exact()) > 0, (pc.view()["Waiting"], len(pc.exact()))
            for _ in range(20):
                pc.answer()
            assert last == len([r for r in pc.records() if r["record"] == "insertion"]), "it did not ask first"
            assert held
        finally:
            SERVER.start()
        count = len(pc.exact())
        wait("a board after that", lambda: pc.answer() or len(pc.exact()) > count)
        wait("the reports", lambda: counted(name) >= count)


def test_a_server_that_hangs_delays_nothing():
    with world(pcs=("a",)) as (name, (pc,)):
        add(name, 30)
        pc.start()
        wait("copies", lambda: pc.view()["Open"] > 8)
        with hanging():
            count = len(pc.exact())
            wait("a board", lambda: pc.answer() or len(pc.exact()) > count)
            times = []
            for _ in range(5):
                begun = time.monotonic()
                pc.manager().Stop()
                times.append(time.monotonic() - begun)
            print("# Stop took at most %.0f ms" % (1000 * max(times)))
            # the service ends, whatever the server does
            assert pc.stop() == 0
        pc.start()
        wait("the server", lambda: pc.has(State="online"))
        wait("the reports", lambda: pc.has(Waiting=0) and counted(name) >= count)


def test_a_report_without_an_answer_is_sent_again():
    with world(pcs=("a",)) as (name, (pc,)):
        add(name, 1)
        pc.start()
        finish(name, [pc], 3, more=True)
        wait("all reports", lambda: pc.has(Waiting=0))
        with hanging(signal.SIGKILL):
            wait("a board that is reported", lambda: pc.answer() or pc.view()["Waiting"])

        def recovered():
            try:
                return rows(name, "SELECT 1")
            except Refused:
                return None
        wait("the server", recovered)
        finish(name, [pc], BOARDS)
        judge(name, [pc], BOARDS)


def test_an_emulated_machine_deals_no_event_that_counts():
    with world(pcs=("a",), rehearsal=False) as (name, (pc,)):
        add(name)
        pc.start()
        wait("the job", pc.jobs)
        for _ in range(30):
            pc.answer()
        assert not pc.view()["Open"]
        assert not [r for r in pc.records() if r["record"] == "insertion"]


def test_a_doubted_board_is_withdrawn():
    with world(pcs=("a",)) as (name, (pc,)):
        add(name, 1)
        pc.start()
        finish(name, [pc], BOARDS)
        path, = pc.jobs()
        pc.object(path, "Job").Redeal(dbus.UInt32(1), dbus.UInt32(1))
        wait("the withdrawal", lambda: rows(name, "SELECT count(*) FROM dealbox.record WHERE standing = 'withdrawn'") == ["1"])
        finish(name, [pc], BOARDS)
        assert sorted(pc.exact()) == [(board, 1) for board in sorted(DEALS)]


def test_a_lost_pc_forgets_and_comes_back():
    with world() as (name, (one, two)):
        rows(name, "UPDATE dealbox.event SET lease = '4 s', margin = '1 s'")
        add(name)
        one.start()
        wait("copies", lambda: one.view()["Open"] > 8)
        one.daemon.send_signal(signal.SIGSTOP)

        def lost():
            try:
                return rows(name, "SELECT dealbox.lose('A')")
            except Refused:
                return None
        wait("the end of its lease", lost)
        two.start()
        wait("what was its own", lambda: two.view()["Open"] > 8)
        one.daemon.send_signal(signal.SIGCONT)
        finish(name, [one, two], 2 * BOARDS)
        state = rows(name, "SELECT state FROM dealbox.pc WHERE name = 'A'")
        assert state == ["here"], state
        surplus = int(rows(name, "SELECT count(*) FROM dealbox.record WHERE standing = 'surplus'")[0])
        # at most what was in the machine
        assert surplus <= 1, surplus
        wait("all reports", lambda: len(one.exact()) + len(two.exact()) == 2 * BOARDS + surplus)


def test_a_pc_that_was_lost_while_it_was_off_reports():
    """Nobody gives it the set; what it has dealt it reports all the same."""
    with world() as (name, (one, two)):
        rows(name, "UPDATE dealbox.event SET lease = '8 s', margin = '1 s'")
        add(name)
        one.start()
        wait("copies", lambda: one.view()["Open"] > 8)
        SERVER.stop("fast")
        try:
            deal_offline(one)
            wait("what waits", lambda: one.view()["Waiting"] >= 2)
        finally:
            one.stop()
            SERVER.start()

        def lost():
            try:
                return rows(name, "SELECT dealbox.lose('A')")
            except Refused:
                return None
        wait("the end of its lease", lost)
        one.start()
        wait("its reports", lambda: counted(name) == len(one.exact()))
        two.start()
        finish(name, [one, two], 2 * BOARDS)
        judge(name, [one, two], 2 * BOARDS)


def test_a_pc_that_was_removed_while_it_was_off_reports():
    """It gets nothing more, and its user is another PC by then, with reports of its own."""
    with world() as (name, (one, two)):
        add(name)
        one.start()
        wait("copies", lambda: one.view()["Open"] > 8)
        SERVER.stop("fast")
        try:
            deal_offline(one)
        finally:
            one.stop()
            SERVER.start()
        rows(name, "UPDATE dealbox.pc SET until = now() - interval '1 day'; SELECT dealbox.remove('A')")
        dealt = len(one.exact())
        fingerprint = re.search("fingerprint ([0-9a-f-]+)", run(name, "director", "status"))[1]
        folder, one.folder = one.folder, one.dir + "/again"
        one.event("join", "A2", fingerprint)
        # by its reports, the insertions of the other would be known
        rows(name, "INSERT INTO dealbox.record (machine, insertion, pc, job, number, copy, outcome, standing, at, received) "
             "SELECT 'A', n, id, 1, 1, 1, 'void', 'no board', now(), now() FROM dealbox.pc, generate_series(1, 99) n "
             "WHERE name = 'A2'")
        one.folder = folder
        one.start()
        wait("its reports", lambda: counted(name) == dealt)
        wait("what it is told", lambda: one.has(State="refused", Waiting=0) and "has left" in one.view()["Reason"])
        for _ in range(30):
            one.answer()
        # also those of the board that was in the machine
        assert dealt <= len(one.exact()) <= dealt + 1
        wait("its last report", lambda: counted(name) == len(one.exact()))
        two.start()
        finish(name, [two], 2 * BOARDS)
        judge(name, [one, two], 2 * BOARDS)


def test_a_job_that_is_over_stays_until_it_is_reported():
    """However large the jobs are that somebody adds."""
    with world(pcs=("a",)) as (name, (pc,)):
        add(name, 1)
        pc.start()
        wait("all copies here", lambda: pc.answer() or
             rows(name, "SELECT count(*) FROM dealbox.copy WHERE pc IS NULL AND record IS NULL") == ["0"])
        assert counted(name) < BOARDS
        SERVER.stop("fast")
        try:
            wait("the rest", lambda: pc.answer() or len(pc.exact()) == BOARDS)
            number, _ = pc.add_set("practice")
            # jobs that are over make room until all have more names than they may
            machines = dbus.Array(["%0120d" % n for n in range(64)], signature="s")
            try:
                for _ in range(200):
                    pc.add_job(number, [1], replay=True, machines=machines)
                assert False, "there was room for everything"
            except dbus.DBusException as error:
                assert "too many jobs" in str(error), error
        finally:
            SERVER.start()
        wait("its reports", lambda: counted(name) == BOARDS)
        wait("nothing waits", lambda: pc.has(Waiting=0, Recorded=BOARDS))


def test_another_event_with_the_same_deals_is_another():
    with world(pcs=("a",)) as (name, (pc,)):
        add(name)
        pc.start()
        finish(name, [pc], 2 * BOARDS)
        wait("all reports", lambda: pc.has(Waiting=0))
        pc.stop()
        other, (there,) = begin(pcs=("a",), machine=False)
        try:
            add(other, 3)
            here = pc.folder, pc.database
            pc.folder, pc.database = there.folder, there.database
            pc.start()
            finish(other, [pc], 3 * BOARDS)
            assert len(pc.exact()) == 5 * BOARDS, len(pc.exact())
            # and back
            pc.stop()
            pc.folder, pc.database = here
            pc.start()
            wait("the server", lambda: pc.has(State="online", Name="Cup", Waiting=0, Recorded=2 * BOARDS))
            assert len(pc.exact()) == 5 * BOARDS
        finally:
            there.close()


def test_what_is_given_back_is_not_begun():
    """Whenever the server answers."""
    with world(pcs=("a",)) as (name, (pc,)):
        add(name, 30)
        pc.start()
        wait("copies", lambda: pc.view()["Open"] > 8)
        with hanging():
            pc.rest(True)
            begun = len([r for r in pc.records() if r["record"] == "insertion"])
            end = time.monotonic() + 2
            while time.monotonic() < end:
                pc.answer()
            assert begun == len([r for r in pc.records() if r["record"] == "insertion"]), "a board was begun"


def test_a_void_board_is_dealt_by_another_pc():
    with world() as (name, (one, two)):
        add(name, 1)
        one.start()
        finish(name, [one], BOARDS)
        run(name, "director", "void", "1", "2", "1", "--yes")
        wait("what somebody has to do", lambda: [(int(bad["board"]), int(bad["copy"])) for bad in one.view()["Refused"]] == [(2, 1)]
             and "void" in one.view()["Refused"][0]["why"])
        two.start()
        finish(name, [one, two], BOARDS)
        assert two.exact() == [(2, 1)], two.exact()
        # not more than once in a while
        asked = int(rows(name, "SELECT asked FROM dealbox.pc WHERE name = 'A'")[0])
        run(name, "director", "void", "1", "3", "1", "--yes")
        finish(name, [two], BOARDS)
        assert int(rows(name, "SELECT asked FROM dealbox.pc WHERE name = 'A'")[0]) <= asked + 6
        # and where it was dealt, once somebody has said so there
        two.rest(True)
        run(name, "director", "void", "1", "5", "1", "--yes")
        wait("the void board", lambda: len(one.view()["Refused"]) >= 2)
        path, = one.jobs()
        for board in (2, 3, 5):
            one.object(path, "Job").Redeal(dbus.UInt32(board), dbus.UInt32(1))
        finish(name, [one], BOARDS)
        assert sorted(one.exact() + two.exact()) == sorted((board, 1) for board in DEALS)


def test_a_void_board_of_the_only_pc_waits_for_a_person():
    """It is not taken again and again, and not dealt before somebody says so."""
    with world(pcs=("a",)) as (name, (pc,)):
        add(name, 1)
        pc.start()
        finish(name, [pc], BOARDS)
        run(name, "director", "void", "1", "2", "1", "--yes")

        def offered():
            return [{str(key): int(one[key]) for key in one} for one in pc.view()["Again"]] == [{"job": 1, "board": 2, "copy": 1}]
        wait("the offer", lambda: offered() and pc.has(Open=0))
        # by its restart it finds that out again
        pc.stop()
        pc.start()
        wait("the offer after a restart", lambda: offered() and pc.has(Open=0, State="online"))
        out = run(name, "director", "status")
        assert re.search("job 1, board 2, copy 1 must be dealt again.*A", out), out
        wait("what was asked is answered", lambda: rows(name, "SELECT count(*) FROM dealbox.copy WHERE pc IS NOT NULL") == ["0"])
        rows(name, "CREATE TABLE public.taken (n int); CREATE FUNCTION public.note() RETURNS trigger LANGUAGE plpgsql "
             "SECURITY DEFINER AS $$ BEGIN INSERT INTO public.taken VALUES (1); RETURN new; END $$; "
             "CREATE TRIGGER note AFTER UPDATE OF pc ON dealbox.copy FOR EACH ROW EXECUTE FUNCTION public.note()")
        # whenever it hears that there is something to take
        asked = "SELECT asked FROM dealbox.pc"
        for _ in range(3):
            before = rows(name, asked)
            rows(name, "SELECT pg_notify('dealbox', '')")
            wait("a request", lambda before=before: pc.answer() or rows(name, asked) != before)
        assert rows(name, "SELECT count(*) FROM public.taken") == ["0"], "it takes what it does not deal"
        assert offered() and counted(name) == BOARDS - 1
        begun = len([r for r in pc.records() if r["record"] == "insertion"])
        for wrong in ((1, 3, 1), (1, 99, 1), (2, 2, 1)):
            try:
                pc.object(EVENT, "Event").Redeal(*map(dbus.UInt32, wrong))
            except dbus.DBusException as error:
                assert error.get_dbus_name() == "io.dealbox1.Error.NotFound", error
            else:
                raise AssertionError("a board that counts is dealt again")
        assert begun == len([r for r in pc.records() if r["record"] == "insertion"])
        pc.object(EVENT, "Event").Redeal(dbus.UInt32(1), dbus.UInt32(2), dbus.UInt32(1))
        finish(name, [pc], BOARDS)
        assert not pc.view()["Again"] and sorted(pc.exact()) == [(board, 1) for board in sorted(DEALS)]
        assert "must be dealt again" not in run(name, "director", "status")


def test_a_copy_whose_report_is_refused_goes_to_another_pc():
    with world() as (name, (one, two)):
        # a restored ledger, or a machine of the same name: these insertions of it were others
        rows(name, "INSERT INTO dealbox.job (session, copies, priority, replay, open) OVERRIDING SYSTEM VALUE VALUES ('x', 1, 0, true, "
             "false); INSERT INTO dealbox.board VALUES (1, 1, gen_random_uuid()); INSERT INTO dealbox.copy VALUES (1, 1, 1); "
             "INSERT INTO dealbox.record (machine, insertion, pc, job, number, copy, outcome, standing, at, received) "
             "SELECT 'A', n, id, 1, 1, 1, 'void', 'no board', now(), now() FROM dealbox.pc, generate_series(1, 3) n WHERE name = 'A'")
        add(name, 1)
        one.start()
        wait("a board that is refused", lambda: one.answer() or one.view()["Refused"])
        wait("boards that count", lambda: one.answer() or counted(name) > 1)
        assert "was reported differently" in one.view()["Refused"][0]["why"]
        two.start()
        finish(name, [one, two], BOARDS)
        assert rows(name, "SELECT count(*) FROM dealbox.copy WHERE pc IS NOT NULL") == ["0"]
        assert len(one.exact()) + len(two.exact()) == BOARDS + len(one.view()["Refused"])


def test_texts_of_others_are_made_safe():
    """A database in other hands, or one that speaks another language, ends nobody's bus."""
    with world(pcs=("a",)) as (name, (pc,)):
        add(name, 1)
        token, = rows(name, "SELECT token FROM dealbox.pc")
        for what in ("'{%s}', '{idle}'" % ("é" * 64), "'{m}', '{%s}'" % ("é" * 16)):
            try:
                SERVER.sql(name, "SELECT dealbox.tell_machines('%s', %s, '{1}', 0)" % (token, what), "a")
            except Refused as error:
                assert "23514" in str(error), error
            else:
                raise AssertionError("a name is longer than any PC has room for")
        rows(name, "ALTER TABLE dealbox.machine DROP CONSTRAINT machine_name_check; "
             "ALTER TABLE dealbox.machine DROP CONSTRAINT machine_state_check; "
             "INSERT INTO dealbox.pc (name, login, token, public_key, until, seen) VALUES ('X', 'x', gen_random_uuid(), "
             "decode(repeat('07', 32), 'hex'), now(), now()); INSERT INTO dealbox.machine SELECT id, 'm' || repeat('é', 100), "
             "repeat('é', 40), 1, now() FROM dealbox.pc WHERE name = 'X'")
        pc.start()
        wait("the machines", lambda: [tuple(str(one[key]) for key in ("pc", "name", "state")) for one in pc.view()["Machines"] if one["pc"] == "X"]
             == [("X", "m" + "é" * 63, "é" * 15)])
        rows(name, "CREATE OR REPLACE FUNCTION dealbox.records_of(my_token uuid) RETURNS TABLE (machine text, insertion bigint, "
             "job integer, number integer, copy integer, standing text) LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'a%', "
             "repeat('é', 400) USING ERRCODE = 'DB003'; END $$; "
             "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'a'")
        wait("the reason", lambda: pc.has(State="refused") and str(pc.view()["Reason"]) == "a" + "é" * 127)


def test_copies_move_to_another_pc():
    with world() as (name, (one, two)):
        add(name)
        one.start()
        wait("copies", lambda: one.view()["Open"] > 2)
        one.rest(True)
        wait("nothing held", lambda: one.has(Open=0, Resting=True))
        one.stop()
        one.start()
        wait("the server", lambda: one.has(State="online", Resting=True))
        two.start()
        finish(name, [one, two], 2 * BOARDS)
        assert len(two.exact()) + len(one.exact()) == 2 * BOARDS
        one.rest(False)
        wait("taking again", lambda: one.has(Resting=False))
        judge(name, [one, two], 2 * BOARDS)


def test_copies_move_by_what_another_pc_says():
    """Who has said it is on every screen; the owner gives the copies back itself, and anybody lifts it."""
    def says(pc, other, rest):
        pc.object(EVENT, "Event").RestPc(other, rest)

    def seen(pc):
        return {str(one["name"]): (bool(one["resting"]), str(one["rest-by"]), int(one["open"])) for one in pc.view()["Pcs"]}

    with world() as (name, (one, two)):
        add(name)
        for pc in (one, two):
            pc.start()
            wait("copies", lambda pc=pc: pc.view()["Open"] > 2)
        says(two, "A", True)
        wait("nothing held", lambda: one.has(Open=0, Resting=True, RestBy="B"))
        for pc in (one, two):
            wait("what all see", lambda pc=pc: seen(pc).get("A") == (True, "B", 0) and not seen(pc)["B"][0])
        assert "B has said so" in one.log()
        # after a restart, too, and before it takes any
        one.stop(signal.SIGKILL)
        asked = rows(name, "SELECT count(*) FROM dealbox.copy WHERE pc = (SELECT id FROM dealbox.pc WHERE name = 'A')")
        one.start()
        wait("the server", lambda: one.has(State="online", Resting=True, Open=0))
        assert asked == ["0"]
        before = len(one.exact())
        finish(name, [one, two], BOARDS, more=True)
        # at most the board that was in the machine
        assert len(one.exact()) <= before + 1
        # said at the PC itself, while no server answers: the last word, once it does
        SERVER.stop("fast")
        try:
            wait("offline", lambda: two.has(State="offline"))
            try:
                says(two, "A", False)
            except dbus.DBusException as error:
                assert error.get_dbus_name() == "io.dealbox1.Error.Event", error
            else:
                raise AssertionError("it is said to a server that does not answer")
            one.rest(False)
            assert one.has(Resting=False, RestBy="A")
            one.stop(signal.SIGKILL)
        finally:
            SERVER.start()
        one.start()
        for pc in (one, two):
            wait("what was said", lambda pc=pc: seen(pc).get("A", (True,))[:2] == (False, "A"))
        assert one.has(Resting=False)
        # by a director, and lifted by a PC
        run(name, "director", "rest", "B")
        wait("the director's word", lambda: two.has(Open=0, Resting=True, RestBy="director"))
        says(one, "B", False)
        wait("taking again", lambda: two.has(Resting=False, RestBy="A"))
        for wrong in ("C", "", "x" * 64, "B\n"):
            try:
                says(one, wrong, True)
            except dbus.DBusException as error:
                assert error.get_dbus_name() == ("io.dealbox1.Error.Event" if wrong == "C" else
                                                 "org.freedesktop.DBus.Error.InvalidArgs"), error
            else:
                raise AssertionError("there is such a PC")
        finish(name, [one, two], 2 * BOARDS)
        judge(name, [one, two], 2 * BOARDS)


def test_what_is_said_while_a_pc_is_off_is_heard_before_it_takes():
    with world(pcs=("a",)) as (name, (pc,)):
        add(name)
        run(name, "director", "rest", "A")
        pc.start()
        wait("the job", pc.jobs)
        wait("its rest", lambda: pc.has(State="online", Resting=True, RestBy="director"))
        for _ in range(30):
            pc.answer()
        assert rows(name, "SELECT count(*) FROM dealbox.copy WHERE pc IS NOT NULL OR record IS NOT NULL") == ["0"]
        run(name, "director", "resume", "A")
        finish(name, [pc], 2 * BOARDS)
        judge(name, [pc], 2 * BOARDS)


def test_a_service_that_is_killed_loses_nothing():
    draw = random.Random(1)
    with world() as (name, pcs):
        add(name, max(2, KILLS // 2))
        total = max(2, KILLS // 2) * BOARDS
        for pc in pcs:
            pc.start()
        for _ in range(KILLS or 4):
            end = time.monotonic() + draw.uniform(0.1, 1.2)
            while time.monotonic() < end and counted(name) < total:
                for pc in pcs:
                    pc.answer()
            pc = draw.choice(pcs)
            pc.stop(signal.SIGKILL)
            pc.start()
        finish(name, pcs, total)
        judge(name, pcs, total)


def follow(leader):
    """A server that has all that the leader has, before the leader answers."""
    other = Server(())
    other.stop("fast")
    shutil.rmtree(other.data)
    other.tool("pg_basebackup", "-D", other.data, "-h", leader.folder, "-U", "owner", "-R", "-X", "stream", "-c", "fast")
    with open(os.path.join(other.data, "postgresql.conf"), "a") as file:
        file.write("unix_socket_directories = '%s'\ncluster_name = 'other'\n" % other.folder)
    other.start()
    leader.sql("postgres", "ALTER SYSTEM SET synchronous_standby_names = 'other'")
    leader.sql("postgres", "SELECT pg_reload_conf()")
    wait("a synchronous replica", lambda: leader.sql(
        "postgres", "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == ["1"])
    return other


def test_a_replica_takes_over():
    global SERVER       # pylint: disable=global-statement
    with world() as (name, pcs):
        add(name)
        other = follow(SERVER)
        for pc in pcs:
            pc.database = pc.database.replace(SERVER.folder, "%s,%s" % (SERVER.folder, other.folder))
            pc.start()
        finish(name, pcs, BOARDS, more=True)
        kill(SERVER, again=False)
        gone, SERVER = SERVER, other
        SERVER.tool("pg_ctl", "-D", SERVER.data, "-w", "-t", "300", "promote")
        finish(name, pcs, 2 * BOARDS)
        judge(name, pcs, 2 * BOARDS)
        wait("the server to end", lambda: not os.path.exists(os.path.join(gone.data, "postmaster.pid")) or gone.dead())
        # keys of events are written here
        os.chdir(SERVER.folder)
        shutil.rmtree(gone.folder)


def test_a_day_without_the_server():
    """As docs/event.md says: the rest is divided on paper, and reported when the server is back."""
    with world() as (name, pcs):
        rows(name, "UPDATE dealbox.event SET lease = '8 s', margin = '1 s'")
        add(name, 1)
        for pc in pcs:
            pc.start()
        for pc in pcs:
            wait("copies", lambda pc=pc: pc.view()["Open"])
        finish(name, pcs, 4, more=True)
        SERVER.stop("fast")
        try:
            deal_offline(pcs[0])
            for pc in pcs:
                pc.stop()
                pc.alone = True
                # on paper: what is done, and who deals which of the rest
                pc.paper = pc.exact()
                pc.own = re.search(r"job (\d+): job 1 of the event", pc.log())[1]
            rest = [board for board in sorted(DEALS) if (board, 1) not in pcs[0].paper + pcs[1].paper]
            for n, pc in enumerate(pcs):
                pc.start()
                number, _ = pc.add_set("final")
                path = pc.add_job(number, sorted(DEALS), copies=1)
                for board in sorted(DEALS):
                    if board not in rest[n::2]:
                        pc.object(path, "Job").Skip(dbus.UInt32(board), dbus.UInt32(1))
                wait("its share", lambda pc=pc, path=path: pc.answer() or pc.objects("Job").get(path, {"State": "done"})["State"] == "done")
                pc.share = path.rsplit("/", 1)[1]
                assert sorted(pc.exact()) == sorted(pc.paper + [(board, 1) for board in rest[n::2]])
                pc.stop()
        finally:
            SERVER.start()

        def lost(pc):
            try:
                return rows(name, "SELECT dealbox.lose('%s')" % pc.user.upper())
            except Refused:
                return None
        for pc in pcs:
            wait("the end of its lease", lambda pc=pc: lost(pc))
        for pc in pcs:
            for job in (pc.own, pc.share):
                result = pc.command("event", "send", job, "1", "-d", pc.database, "-f", pc.folder, "-l", pc.ledger)
                assert result.returncode == 0, result
        for pc in pcs:
            pc.alone = False
            pc.start()
        for pc in pcs:
            wait("what is left", lambda pc=pc: pc.answer() or pc.has(State="online", Waiting=0, Open=0))
        judge(name, pcs, BOARDS)


def test_two_services_with_one_identity_are_noticed():
    with world() as (name, (one, two)):
        add(name)
        one.start()
        wait("boards", lambda: one.answer() or counted(name) > 2)
        shutil.copytree(one.folder, two.dir + "/twin")
        two.folder, two.database = two.dir + "/twin", one.database
        two.start()

        def told():
            for pc in (one, two):
                pc.answer()
            return any(pc.has(State="refused") and "two PCs use the identity" in pc.view()["Reason"] for pc in (one, two))
        wait("one of them to be told", told)
        wait("all copies", lambda: told() and counted(name) == 2 * BOARDS)
        # what both held is named
        dealt = one.exact() + two.exact()
        twice = sorted("%d|%d" % copy for copy in set(dealt) if dealt.count(copy) > 1)
        wait("what both have dealt", lambda: sorted(rows(name, "SELECT number || '|' || copy FROM dealbox.surplus")) == twice)
        assert sorted(set(dealt)) == sorted((board, copy) for board in DEALS for copy in (1, 2))
        print("# %d boards are surplus" % len(twice))


def test_an_old_backup_is_noticed_and_another_event_goes_on():
    """As docs/event.md says."""
    with world(pcs=("a",)) as (name, (pc,)):
        add(name)
        pc.start()
        finish(name, [pc], 3, more=True)
        backup = SERVER.folder + "/backup"
        SERVER.stop("fast")
        shutil.copytree(SERVER.data, backup)
        SERVER.start()
        finish(name, [pc], 6, more=True)
        for rest in (True, False):
            pc.rest(rest)
            wait("the answer", lambda rest=rest: pc.has(State="online") and bool(pc.view()["Open"]) != rest)
        SERVER.stop("immediate")
        shutil.rmtree(SERVER.data)
        os.rename(backup, SERVER.data)
        SERVER.start()
        wait("what it is told", lambda: pc.has(State="refused") and "has forgotten requests" in pc.view()["Reason"])
        # it begins nothing, and reports all the same
        for _ in range(30):
            pc.answer()
        wait("its reports", lambda: counted(name) == len(pc.exact()) and pc.has(Waiting=0))
        pc.stop()
        other, (there,) = begin(pcs=("a",), machine=False)
        try:
            add(other)
            job = re.search(r"job (\d+): job 1 of the event", pc.log())[1]
            pc.folder, pc.database = there.folder, there.database
            result = pc.command("event", "send", job, "1", "-d", pc.database, "-f", pc.folder, "-l", pc.ledger)
            assert result.returncode == 0, result
            assert counted(other) == len(pc.exact())
            pc.start()
            finish(other, [pc], 2 * BOARDS)
            judge(other, [pc], 2 * BOARDS)
        finally:
            there.close()


def test_the_interface_is_that_which_is_installed():
    def members(text):
        return {(member.tag, member.get("name"), member.get("type"))
                for interface in xml.etree.ElementTree.fromstring(text).iter("interface")
                if interface.get("name") == "io.dealbox1.Event" for member in interface}
    with world(pcs=("a",)) as (_, (pc,)):
        pc.start()
        live = pc.bus.get_object("io.dealbox1", EVENT, introspect=False).Introspect(
            dbus_interface="org.freedesktop.DBus.Introspectable")
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                               "../../../daemon/interfaces/io.dealbox1.Event.xml")) as file:
            installed = file.read()
        assert members(live) == members(installed), members(live) ^ members(installed)
        for wrong in ("x", dbus.UInt32(1), 1.5):
            try:
                pc.bus.call_blocking("io.dealbox1", EVENT, "io.dealbox1.Event", "Rest",
                                     {str: "s", dbus.UInt32: "u", float: "d"}[type(wrong)], (wrong,))
            except dbus.DBusException as error:
                assert error.get_dbus_name() == "org.freedesktop.DBus.Error.InvalidArgs", error
            else:
                raise AssertionError("other types are taken")


def test_without_an_event_nothing_changes():
    pc = World(dealboxd, emulator, dealbox, set_file)
    try:
        pc.add_emulator("ONE", "--speed", "200")
        pc.start()
        assert not pc.objects("Event")
    finally:
        pc.close()


def test_the_unit_lets_it_read_what_it_needs():
    """Which boot this is, a lease says; systemd may hide that in /proc."""
    with open(DATA + "/dealboxd.service.in") as unit:
        subset = re.search(r"^ProcSubset=(\w+)$", unit.read(), re.M)
    assert not subset or subset[1] == "all", "it cannot read the boot's number"
    # others than root cannot hide it
    if os.getuid():
        return
    with world(pcs=("a",)) as (_, (pc,)):
        service, pc.dealboxd = pc.dealboxd, pc.dir + "/hidden"
        with open(pc.dealboxd, "w") as script:
            script.write("#!/bin/sh\nexec unshare --mount sh -c 'mount -t proc -o subset=pid proc /proc && "
                         "exec \"$0\" \"$@\"' %s \"$@\"\n" % service)
        os.chmod(pc.dealboxd, 0o755)
        pc.start()
        view = pc.view()
        assert view["State"] == "refused" and "boot_id" in view["Reason"], (view["State"], view["Reason"])


# without a number of kills: the others take their time
SHORT = (test_two_pcs_deal_each_copy_once, test_an_offline_pc_deals_until_its_lease_ends,
         test_the_interface_is_that_which_is_installed)


def main():
    global SERVER       # pylint: disable=global-statement
    SERVER = Server(())
    tap = Tap()
    os.chdir(SERVER.folder)
    try:
        wanted = sys.argv[6:]
        for test in tests_of(globals()):
            if test.__name__ in wanted or (not wanted and (KILLS or test in SHORT)):
                tap.run(test)
    finally:
        SERVER.remove()
    sys.exit(tap.end())


if __name__ == "__main__":
    main()
