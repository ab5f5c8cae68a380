#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""dealbox event: an event in PostgreSQL, and what each role may do there."""

import os
import re
import stat
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../tool"))
from tool import main, test     # pylint: disable=wrong-import-position

from server import Refused, Server

SERVER = Server()
NOBODY = "00000000-0000-0000-0000-%012d"
_events = []


def event(box, *options):
    """An event in a database of its own; users are its PCs a and b, and director."""
    name = "event%d" % len(_events)
    _events.append(name)
    SERVER.sql("postgres", "CREATE DATABASE %s" % name)
    box.dealbox("event", "init", "Cup", "key", "-d", SERVER.address(name), *options).expect(0, "Cup has begun")
    for user, role in (("a", "pc"), ("b", "pc"), ("director", "director")):
        SERVER.sql(name, "DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '%s') THEN "
                   "CREATE ROLE %s LOGIN IN ROLE dealbox_%s; END IF; END $$" % (user, user, role))
    return name


def job(name, boards=2, copies=3):
    """A job, whose set both PCs have."""
    number, = SERVER.sql(name, "SELECT dealbox.add_job('final', %d, 0, false, array_agg(n), array_agg("
                         "md5(n::text)::uuid)) FROM generate_series(1, %d) AS n" % (copies, boards), "director")
    return int(number)


def join(name, user):
    """The token of a PC that takes part."""
    token, = SERVER.sql(name, "SELECT token FROM dealbox.join_event('%s', decode(repeat('07', 32), 'hex'))"
                        % user.upper(), user)
    return token


def take(name, user, token, ask, want, nonce=None):
    rows = SERVER.sql(name, "SELECT job, number, copy FROM dealbox.take('%s', %d, '%s', %d)"
                      % (token, ask, nonce or NOBODY % ask, want), user)
    return [tuple(map(int, row.split("|"))) for row in rows if row != "||"]


def refused(state, function, *args):
    try:
        function(*args)
    except Refused as why:
        assert state in str(why), why
        return
    raise AssertionError("it was not refused")


def everything(box, name, user="director"):
    found, = box.dealbox("event", "status", "--json", "-d", SERVER.address(name, user)).expect(0).json()
    return found


@test
def an_event_begins_once_with_a_key_of_its_own(box):
    name = event(box)
    assert stat.S_IMODE(os.stat("key").st_mode) == 0o600
    with open("key") as file:
        assert re.fullmatch("[0-9a-f]{64}\n", file.read())
    box.dealbox("event", "init", "Cup", "key", "-d", SERVER.address(name)).expect(2, "key")
    box.dealbox("event", "init", "Cup", "other", "-d", SERVER.address(name)).expect(1, "has an event")
    assert not os.path.exists("other")
    box.dealbox("event", "status", "-d", SERVER.address(name, "director")).expect(0, "Cup: lease 60 min, margin 15 min")
    found = everything(box, name)
    assert found == {"event": "Cup", "lease": 3600, "margin": 900, "pcs": [], "jobs": [], "surplus": []}, found


@test
def a_database_without_an_event_says_so(box):
    SERVER.sql("postgres", "CREATE DATABASE empty")
    box.dealbox("event", "status", "-d", SERVER.address("empty")).expect(2, "event init")
    box.dealbox("event", "status", "-d", SERVER.address("nothing")).expect(3, "no connection.*\"nothing\" does not exist")
    SERVER.sql("empty", "CREATE ROLE stranger LOGIN")
    box.dealbox("event", "init", "Cup", "key", "-d", SERVER.address("empty", "stranger")).expect(2, "permission denied")
    assert not os.path.exists("key")


@test
def a_failed_init_leaves_nothing(box):
    SERVER.sql("postgres", "CREATE DATABASE half")
    SERVER.sql("half", "CREATE FUNCTION no() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN "
               "RAISE EXCEPTION 'no policies here'; END $$; CREATE EVENT TRIGGER no ON ddl_command_start "
               "WHEN TAG IN ('CREATE POLICY') EXECUTE FUNCTION no()")
    box.dealbox("event", "init", "Cup", "key", "-d", SERVER.address("half")).expect(3, "no policies here")
    assert SERVER.sql("half", "SELECT count(*) FROM pg_namespace WHERE nspname = 'dealbox'") == ["0"]
    assert not os.path.exists("key")


@test
def an_address_must_be_safe(box):
    for address, what in (("host=127.0.0.1 password=secret", "password"),
                          ("postgresql://x:secret@127.0.0.1/event", "password"),
                          ("host=127.0.0.1 sslmode=prefer", "verify-full"),
                          ("host=127.0.0.1 colour=green", "not the address")):
        result = box.dealbox("event", "status", "-d", address).expect(3, what)
        assert "secret" not in result.err, result


@test
def a_server_without_a_certificate_is_not_talked_to(box):
    """By TCP there is TLS, or nothing: also where the environment asks for less."""
    SERVER.sql("postgres", "ALTER SYSTEM SET listen_addresses = '127.0.0.1'")
    SERVER.sql("postgres", "ALTER SYSTEM SET port = %d" % (20000 + os.getpid() % 20000))
    try:
        SERVER.stop("fast")
        SERVER.start()
        port = 20000 + os.getpid() % 20000
        os.environ["PGSSLMODE"] = "disable"
        with open("root.crt", "w"):
            pass
        box.dealbox("event", "status", "-d", "host=127.0.0.1 port=%d user=owner dbname=postgres" % port).expect(
            3, "root certificate|does not support SSL")
    finally:
        os.environ.pop("PGSSLMODE")
        with open(os.path.join(SERVER.data, "postgresql.auto.conf"), "w"):
            pass
        SERVER.stop("fast")
        SERVER.start()


@test
def a_copy_is_taken_once(box):
    name = event(box)
    a, b = join(name, "a"), join(name, "b")
    one = job(name)
    assert take(name, "a", a, 1, 4) == [], "it has not the set"
    for pc in "AB":
        SERVER.sql(name, "SELECT dealbox.give_set('%s', %d, 'sealed')" % (pc, one), "director")
    first = take(name, "a", a, 2, 4)
    assert first == [(one, 1, 1), (one, 1, 2), (one, 1, 3), (one, 2, 1)], first
    assert take(name, "a", a, 2, 4) == first, "a lost answer comes again"
    assert take(name, "b", b, 1, 4) == [(one, 2, 2), (one, 2, 3)]
    refused("DB004", take, name, "a", a, 2, 4, NOBODY % 99)     # another PC with its identity
    refused("DB004", take, name, "a", a, 1, 4)                  # or a message from the past
    refused("DB003", take, name, "a", a, 4, 4)                  # the server has forgotten one
    found = everything(box, name)
    assert [(pc["pc"], pc["held"], pc["state"]) for pc in found["pcs"]] == [("A", 4, "here"), ("B", 2, "here")], found


@test
def a_pc_sees_and_writes_its_own(box):
    name = event(box)
    a, b = join(name, "a"), join(name, "b")
    one = job(name)
    for pc in "AB":
        SERVER.sql(name, "SELECT dealbox.give_set('%s', %d, 'set of %s')" % (pc, one, pc), "director")
    take(name, "a", a, 1, 2)
    take(name, "b", b, 1, 1)
    see = lambda user, text: SERVER.sql(name, text, user)   # noqa: E731
    assert see("a", "SELECT name FROM dealbox.pc") == ["A"]
    assert see("a", "SELECT encode(sealed, 'escape') FROM dealbox.sealed_set") == ["set of A"]
    assert see("b", "SELECT count(*) FROM dealbox.copy") == ["1"]
    refused("DB001", take, name, "b", a, 2, 1)      # with a token that it found
    for user in "a", "director":
        for text in ("SELECT token FROM dealbox.pc", "SELECT hash FROM dealbox.board", "SELECT * FROM dealbox.deal",
                     "UPDATE dealbox.copy SET pc = 1", "DELETE FROM dealbox.record",
                     "INSERT INTO dealbox.deal VALUES (gen_random_uuid(), 'x')", "SELECT dealbox.enter('%s')" % a,
                     "CREATE TABLE dealbox.mine ()"):
            refused("42501", see, user, text)
    refused("42501", see, "a", "SELECT dealbox.lose('B')")
    refused("42501", see, "a", "SELECT dealbox.add_job('x', 1, 0, false, '{1}', array[gen_random_uuid()])")
    refused("42501", see, "director", "SELECT sealed FROM dealbox.sealed_set")
    refused("42501", see, "director", "SELECT sealed_key FROM dealbox.pc")
    refused("42501", take, name, "director", a, 2, 1)
    SERVER.sql(name, "DROP ROLE IF EXISTS stranger; CREATE ROLE stranger LOGIN")
    refused("42501", see, "stranger", "SELECT * FROM dealbox.status_pc")


@test
def somebody_may_say_that_a_pc_is_lost(box):
    name = event(box, "--lease", "10", "--margin", "5")
    a, b = join(name, "a"), join(name, "b")
    one = job(name)
    for pc in "AB":
        SERVER.sql(name, "SELECT dealbox.give_set('%s', %d, 'sealed')" % (pc, one), "director")
    take(name, "a", a, 1, 6)
    lost = lambda: box.dealbox("event", "lost", "A", "--yes", "-d", SERVER.address(name, "director"))   # noqa: E731
    lost().expect(1, "lease, with the margin, ends in (899|900) s")
    SERVER.sql(name, "CREATE OR REPLACE FUNCTION dealbox.clock() RETURNS timestamptz LANGUAGE sql AS "
               "$$ SELECT clock_timestamp() + interval '14 min' $$")
    lost().expect(1, "ends in")
    assert take(name, "b", b, 1, 1) == [], "time alone takes nothing from a PC"
    SERVER.sql(name, "CREATE OR REPLACE FUNCTION dealbox.clock() RETURNS timestamptz LANGUAGE sql AS "
               "$$ SELECT clock_timestamp() + interval '16 min' $$")
    lost().expect(0, "A is lost; 6 copies are open")
    assert take(name, "b", b, 2, 1) == [(one, 1, 1)]
    lease = "SELECT lease_ms, job FROM dealbox.take('%s', %d, '%s', 1)"
    assert SERVER.sql(name, lease % (a, 2, NOBODY % 2), "a") == ["0|"], "it is told so"
    assert SERVER.sql(name, lease % (a, 2, NOBODY % 2), "a") == ["0|"], "again, if the answer was lost"
    report = lambda machine, copy: SERVER.sql(  # noqa: E731
        name, "SELECT dealbox.report('%s', '%s', 1, %d, 1, %d, md5('1')::uuid, 'exact', now())"
        % (a, machine, one, copy), "a")
    assert report("m1", 1) == ["surplus"], "B has that copy"
    assert report("m2", 2) == ["counts"], "nobody has"
    assert report("m1", 1) == ["surplus"], "a repetition changes nothing"
    found = everything(box, name)
    assert [(s["board"], s["copy"], s["pc"], s["machine"]) for s in found["surplus"]] == [(1, 1, "A", "m1")], found
    assert found["jobs"][0]["recorded"] == 1, found
    box.dealbox("event", "status", "-d", SERVER.address(name, "a")).expect(
        0, "surplus: job %d, board 1, copy 1 of A .machine m1, insertion 1.: take it out of play" % one, "A +lost")
    SERVER.sql(name, "SELECT dealbox.back('%s', 3, '%s')" % (a, NOBODY % 3), "a")
    assert take(name, "a", a, 4, 1) == [(one, 1, 3)], "it is back"
    box.dealbox("event", "lost", "C", "--yes", "-d", SERVER.address(name, "director")).expect(2, "no PC C")


@test
def a_deal_belongs_to_one_session(box):
    name = event(box)
    job(name)
    add = lambda session, replay: SERVER.sql(   # noqa: E731
        name, "SELECT dealbox.add_job('%s', 1, 0, %s, '{9}', array[md5('2')::uuid])" % (session, replay), "director")
    refused("DB005", add, "semi-final", "false")
    assert SERVER.sql(name, "SELECT count(*) FROM dealbox.job") == ["1"]
    add("final", "false")
    add("semi-final", "true")
    refused("23505", SERVER.sql, name, "SELECT dealbox.add_job('x', 1, 0, true, '{1,2}', "
            "array[md5('5')::uuid, md5('5')::uuid])", "director")


try:
    main()
finally:
    SERVER.remove()
