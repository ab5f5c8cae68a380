#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""dealbox event: an event in PostgreSQL, and what each role may do there."""

import hashlib
import os
import re
import shutil
import stat
import sys
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../tool"))
from tool import SET, main, test     # pylint: disable=wrong-import-position

from server import Cut, Refused, Server

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
    token = str(uuid.uuid4())
    SERVER.sql(name, "SELECT dealbox.join_event('%s', decode(repeat('07', 32), 'hex'), '%s')"
               % (user.upper(), token), user)
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
    """Return the line of the event, with lists of the other lines by their kinds."""
    found, *lines = box.dealbox("event", "status", "--json", "-d", SERVER.address(name, user)).expect(0).json()
    assert found.pop("kind") == "event", found
    for kind in "pc", "job", "machine", "surplus", "dismissed", "again":
        found[kind] = []
    for line in lines:
        found[line.pop("kind")].append(line)
    return found


@test
def an_event_begins_once_with_a_key_of_its_own(box):
    name = event(box)
    assert stat.S_IMODE(os.stat("key").st_mode) == 0o600
    with open("key") as file:
        assert re.fullmatch("[0-9a-f]{64}\n", file.read())
    box.dealbox("event", "init", "Cup", "key", "-d", SERVER.address(name)).expect(0, "Cup has begun")
    box.dealbox("event", "init", "Cap", "key", "-d", SERVER.address(name)).expect(2, "already has an event with that key, Cup")
    box.dealbox("event", "init", "Cup", "key", "-d", SERVER.address("postgres")).expect(2, "key is there already, and this database has no event")
    box.write("old", b"%064d\n" % 7)
    os.chmod("old", 0o600)
    box.dealbox("event", "init", "Cup", "old", "-d", SERVER.address(name)).expect(2, "not the key of the event in this database")
    box.write("old", b"no key\n")
    box.dealbox("event", "init", "Cup", "old", "-d", SERVER.address(name)).expect(2, "this is not the key of an event")
    box.dealbox("event", "init", "Cup", "other", "-d", SERVER.address(name)).expect(1, "has an event")
    assert not os.path.exists("other")
    box.dealbox("event", "status", "-d", SERVER.address(name, "director")).expect(0, "Cup: fingerprint [0-9a-f-]{24}, lease 60 min, margin 15 min")
    found = everything(box, name)
    assert re.fullmatch("(....-){4}....", found.pop("fingerprint"))
    assert found == {"event": "Cup", "rehearsal": False, "lease_s": 3600, "margin_s": 900, "pc": [], "job": [], "machine": [],
                     "surplus": [],
                     "dismissed": [], "again": []}, found


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
def the_key_of_an_event_is_kept_while_nobody_knows(box):
    """The event has begun, and its only key must not go with the answer."""
    SERVER.sql("postgres", "CREATE DATABASE unheard")
    with Cut(SERVER, b"COMMIT\0") as cut:
        box.dealbox("event", "init", "Cup", "key", "-d", cut.address("unheard")).expect(
            3, "connection .* was lost", "keep key, and run this again")
    with open("key") as file:
        key = file.read()
    box.dealbox("event", "init", "Cup", "key", "-d", SERVER.address("unheard")).expect(0, "Cup has begun. key is its key")
    with open("key") as file:
        assert file.read() == key


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
        box.env["PGSSLMODE"] = "disable"
        with open("root.crt", "w"):
            pass
        box.dealbox("event", "status", "-d", "host=127.0.0.1 port=%d user=owner dbname=postgres" % port).expect(
            3, "root certificate|does not support SSL")
    finally:
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
    assert [(pc["pc"], pc["held"], pc["state"]) for pc in found["pc"]] == [("A", 4, "here"), ("B", 2, "here")], found


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
    for text in ("lose('B')", "remove('B')", "open_job(%d, false)" % one, "dismiss(1)", "void(%d, 1, 1)" % one,
                 "check_set(%d, '{1}', array[md5('1')::uuid])" % one):
        refused("42501", see, "a", "SELECT dealbox." + text)
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
    assert found["job"][0]["recorded"] == 1, found
    box.dealbox("event", "status", "-d", SERVER.address(name, "a")).expect(
        0, "surplus board 1: job %d, board 1, copy 1 of A .machine m1, insertion 1.: take it out of play" % one, "A +lost .*, said by director")
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
    refused("DB005", add, "final", "false")
    refused("DB005", add, "final", "true")
    add("semi-final", "true")
    refused("23505", SERVER.sql, name, "SELECT dealbox.add_job('x', 1, 0, true, '{1,2}', "
            "array[md5('5')::uuid, md5('5')::uuid])", "director")


def fingerprint(box, name):
    return everything(box, name)["fingerprint"]


def member(box, name, user):
    """A PC that has joined by the command; returns the fingerprint of its key."""
    joined, = box.dealbox("event", "join", user.upper(), fingerprint(box, name), "-f", user, "-j", "-d",
                          SERVER.address(name, user)).expect(0).json()
    return joined["fingerprint"]


def admit(box, name, user):
    print_ = member(box, name, user)
    box.dealbox("event", "admit", user.upper(), print_, "-k", "key", "-d", SERVER.address(name, "director")).expect(
        0, user.upper() + " may deal")


def add(box, name, session="final", *options):
    return box.dealbox("event", "add", session, SET, "-k", "key", "-d", SERVER.address(name, "director"), *options)


def fetch(box, name, user, one):
    return box.dealbox("event", "fetch", str(one), user + "%d.pbn" % one, "-f", user, "-d", SERVER.address(name, user))


def hands(box, path):
    shown = box.dealbox("show", "--reveal", "--json", path).expect(0).json()
    return [(board["board"], board["deal"]) for board in shown if board["kind"] == "board"]


@test
def a_set_reaches_the_pcs_that_were_admitted(box):
    name = event(box)
    key = member(box, name, "a")
    assert member(box, name, "a") == key, "a repetition changes nothing"
    assert stat.S_IMODE(os.stat("a/identity").st_mode) == 0o600 and stat.S_IMODE(os.stat("a").st_mode) == 0o700
    box.dealbox("event", "join", "A2", fingerprint(box, name), "-f", "a", "-d", SERVER.address(name, "a")).expect(2, "as A already")
    box.dealbox("event", "join", "A2", fingerprint(box, name), "-f", "a2", "-d", SERVER.address(name, "a")).expect(2, "has joined as user a")
    assert not os.path.exists("a2/identity")
    fetch(box, name, "a", 1).expect(1, "not admitted this PC yet")
    director = SERVER.address(name, "director")
    other = key[:-1] + "01"[key[-1] == "0"]
    box.dealbox("event", "admit", "A", other, "-k", "key", "-d", director).expect(1, "another fingerprint")
    box.dealbox("event", "admit", "C", key, "-k", "key", "-d", director).expect(2, "no PC C")
    box.dealbox("event", "admit", "A", key, "-d", director).expect(2, "--key")
    box.dealbox("event", "admit", "A", key, "-k", "key", "-d", director).expect(0, "A may deal")
    member(box, name, "b")
    added, = add(box, name, "final", "--copies", "3", "-j").expect(0).json()
    assert added == {"kind": "job", "job": 1, "pcs": 1}, added
    fetch(box, name, "a", 1).expect(0, "a1.pbn has the 24 deals of job 1, session final")
    assert hands(box, "a1.pbn") == hands(box, SET)
    fetch(box, name, "b", 1).expect(1, "not admitted")
    fetch(box, name, "a", 2).expect(2, "no set of job 2")
    job_of = everything(box, name)["job"][0]
    assert (job_of["boards"], job_of["copies"], job_of["session"]) == (24, 3, "final"), job_of
    add(box, name, "semi-final").expect(1, "board 1 has the deal of a board of session final")
    add(box, name, "semi-final", "--replay").expect(0)


@test
def a_job_is_added_once(box):
    """Also if the answer was lost: each of its copies would count twice."""
    name = event(box)
    add(box, name).expect(1, "no PC that is admitted", "dealbox event admit")
    assert everything(box, name)["job"] == []
    admit(box, name, "a")
    with Cut(SERVER, b"COMMIT\0") as cut:
        box.dealbox("event", "add", "final", SET, "-k", "key", "-d", cut.address(name, "director")).expect(
            3, "connection .* was lost", "event status. says whether the job is there")
    add(box, name).expect(1, "the deal of board 1 is in job [0-9]+ of session final already", "event status")
    add(box, name, "final", "--replay").expect(1, "already")
    assert [job_["session"] for job_ in everything(box, name)["job"]] == ["final"]


@test
def a_key_that_everybody_could_open_is_not_admitted(box):
    """A point of low order: its set could not be sealed, and no job could ever be added."""
    name = event(box)
    admit(box, name, "b")
    token = str(uuid.uuid4())
    SERVER.sql(name, "SELECT dealbox.join_event('A', decode(repeat('00', 32), 'hex'), '%s')" % token, "a")
    zeros = hashlib.blake2b(bytes(32), digest_size=16).hexdigest()[:20]
    zeros = "-".join(zeros[at:at + 4] for at in range(0, 20, 4))
    box.dealbox("event", "admit", "A", zeros, "-k", "key", "-d", SERVER.address(name, "director")).expect(
        2, "A shows a key for which nothing can be sealed")
    assert SERVER.sql(name, "SELECT admission IS NULL FROM dealbox.pc WHERE name = 'A'") == ["t"]
    add(box, name).expect(0, "1 PCs")


@test
def a_lost_pc_gets_no_set(box):
    name = event(box, "--rehearsal")
    for user in "ab":
        admit(box, name, user)
    add(box, name).expect(0, "2 PCs")
    SERVER.sql(name, "UPDATE dealbox.pc SET until = now() - interval '1 day'")
    box.dealbox("event", "lost", "A", "--yes", "-d", SERVER.address(name, "director")).expect(0)
    add(box, name, "second", "--replay").expect(0, "1 PCs")
    fetch(box, name, "a", 1).expect(2, "declared lost")
    assert SERVER.sql(name, "SELECT job FROM dealbox.sealed_set", "a") == []
    refused("DB007", SERVER.sql, name, "SELECT dealbox.give_set('A', 1, 'x')", "director")
    refused("DB007", SERVER.sql, name, "SELECT dealbox.give_key('A', 'x', 'x', 'x')", "director")
    fetch(box, name, "b", 1).expect(0)
    # what it has dealt is still heard
    local = dealt(box, "final", "1", 1)
    send(box, name, "a", local, 1, moved(box, "of-a")).expect(0, "1 boards count")


@test
def a_board_that_is_doubted_is_open_again(box):
    """Not held by its PC, which does not hear of that: nobody would deal it again."""
    name = event(box)
    token = join(name, "a")
    one = job(name)
    SERVER.sql(name, "SELECT dealbox.report('%s', 'm', 1, %d, 1, 1, md5('1')::uuid, 'exact', now())" % (token, one), "a")
    assert SERVER.sql(name, "SELECT dealbox.withdraw('%s', 'm', 1)" % token, "a") == ["f"]
    assert SERVER.sql(name, "SELECT count(*) FROM dealbox.copy WHERE pc IS NULL AND record IS NULL") == ["6"]


@test
def no_pc_takes_a_whole_event_at_once(box):
    name = event(box)
    token = join(name, "a")
    one = job(name, 2, 999)
    SERVER.sql(name, "SELECT dealbox.give_set('A', %d, 'sealed')" % one, "director")
    assert len(take(name, "a", token, 1, 2000000000)) == 1000


@test
def who_waits_for_another_says_so(box):
    """A transaction that somebody has forgotten would else block every PC, without a word."""
    name = event(box)
    admit(box, name, "a")
    with SERVER.session(name, "BEGIN; SELECT FROM dealbox.pc FOR UPDATE; \\echo locked") as other:
        assert other.stdout.readline() == "locked\n"
        box.dealbox("event", "lost", "A", "--yes", "-d", SERVER.address(name, "director")).expect(
            3, "something else has locked the event's database", "pg_stat_activity")
    box.dealbox("event", "lost", "A", "--yes", "-d", SERVER.address(name, "director")).expect(1, "may still deal")


@test
def a_replica_is_not_asked(box):
    name = event(box)
    SERVER.sql(name, "CREATE OR REPLACE FUNCTION dealbox.lose(of_name text) RETURNS integer LANGUAGE plpgsql AS "
               "$$ BEGIN RAISE 'cannot execute UPDATE' USING ERRCODE = '25006'; END $$")
    box.dealbox("event", "lost", "A", "--yes", "-d", SERVER.address(name, "director")).expect(3, "only a replica", "address")
    SERVER.sql(name, "ALTER DATABASE %s SET default_transaction_read_only = on" % name)
    box.dealbox("event", "status", "-d", SERVER.address(name, "director")).expect(3, "no connection.*read-only")


@test
def a_database_that_was_changed_is_not_believed(box):
    name = event(box, "--rehearsal")
    admit(box, name, "a")
    add(box, name).expect(0)
    local = dealt(box, "final", "1", 1)
    ledger = moved(box, "one")
    owner = lambda text: SERVER.sql(name, text)     # noqa: E731
    director = SERVER.address(name, "director")
    owner("ALTER FUNCTION dealbox.report RENAME TO report_")
    for rows in "SELECT NULL::text", "SELECT 'counts' WHERE false", "SELECT 'fine'":
        owner("CREATE OR REPLACE FUNCTION dealbox.report(uuid, text, bigint, integer, integer, integer, uuid, text, "
              "timestamptz) RETURNS SETOF text LANGUAGE sql AS $$ %s $$" % rows)
        result = send(box, name, "a", local, 1, ledger)
        assert result.status and "database" in result.err and "1 boards count" not in result.out, result
    owner("CREATE OR REPLACE VIEW dealbox.status_job AS SELECT id, NULL::text AS session, priority, copies, open, "
          "0::bigint AS boards, 0::bigint AS recorded, 0::bigint AS held FROM dealbox.job")
    box.dealbox("event", "status", "-d", director).expect(2, "does not understand")
    owner("DELETE FROM dealbox.event")
    box.dealbox("event", "status", "-d", director).expect(2, "gave no answer")
    add(box, name, "second", "--replay").expect(2, "gave no answer")


@test
def an_answer_to_leaving_may_be_lost(box):
    name = event(box)
    admit(box, name, "a")
    with Cut(SERVER, b"dealbox.leave") as cut:
        box.dealbox("event", "leave", "--yes", "-f", "a", "-d", cut.address(name, "a")).expect(3, "was lost")
    assert os.path.exists("a/identity")
    # as another user: that is no proof
    box.dealbox("event", "leave", "--yes", "-f", "a", "-d", SERVER.address(name, "b")).expect(2, "has not joined")
    assert os.path.exists("a/identity")
    box.dealbox("event", "leave", "--yes", "-f", "a", "-d", SERVER.address(name, "a")).expect(0, "A has left")
    assert not os.path.exists("a/identity")


@test
def a_pc_leaves(box):
    name = event(box)
    admit(box, name, "a")
    leave = lambda: box.dealbox("event", "leave", "--yes", "-f", "a", "-d", SERVER.address(name, "a"))     # noqa: E731
    leave().expect(0, "A has left")
    assert not os.path.exists("a/identity")
    leave().expect(2, "has not joined")
    assert everything(box, name)["pc"] == []
    box.dealbox("event", "join", "A", fingerprint(box, name), "-f", "a", "-d", SERVER.address(name, "a")).expect(2, "or was a PC")


@test
def who_runs_the_database_gets_no_deal_and_gives_none(box):
    name = event(box)
    for user in "ab":
        admit(box, name, user)
    add(box, name).expect(0)
    add(box, name, "second", "--replay").expect(0)
    owner = lambda text: SERVER.sql(name, text)     # noqa: E731
    # the set of another session, or of another PC
    owner("UPDATE dealbox.sealed_set s SET sealed = o.sealed FROM dealbox.sealed_set o "
          "WHERE s.job = 1 AND o.job = 2 AND s.pc = 1 AND o.pc = 1")
    fetch(box, name, "a", 1).expect(2, "not sealed by the director")
    owner("UPDATE dealbox.sealed_set s SET sealed = o.sealed FROM dealbox.sealed_set o "
          "WHERE s.job = 2 AND o.job = 2 AND s.pc = 1 AND o.pc = 2")
    fetch(box, name, "a", 2).expect(2, "not sealed by the director")
    assert not os.path.exists("a1.pbn") and not os.path.exists("a2.pbn")
    # two jobs of one session, whose numbers people know
    first, = owner("SELECT encode(sealed, 'hex') FROM dealbox.sealed_set WHERE job = 1 AND pc = 2")
    owner("UPDATE dealbox.job SET session = 'final' WHERE id = 2")
    owner("UPDATE dealbox.sealed_set SET sealed = decode('%s', 'hex') WHERE job = 2 AND pc = 2" % first)
    fetch(box, name, "b", 2).expect(2, "not sealed by the director")
    fetch(box, name, "b", 1).expect(0, "session final")
    # a key of the owner's, sealed for A by another event
    os.rename("key", "key1")
    other = event(box)
    box.dealbox("event", "join", "A", fingerprint(box, other), "-f", "trap", "-d", SERVER.address(other, "a")).expect(0)
    public, = owner("SELECT encode(public_key, 'hex') FROM dealbox.pc WHERE name = 'A'")
    SERVER.sql(other, "UPDATE dealbox.pc SET public_key = decode('%s', 'hex')" % public)
    refused_, = re.findall("another fingerprint", box.dealbox(
        "event", "admit", "A", "0000-0000-0000-0000-0000", "-k", "key", "-d", SERVER.address(other, "director")).err)
    assert refused_
    with open("a/identity") as file:
        text = file.read()
    box.write("a/identity", text.replace(fingerprint(box, name), fingerprint(box, other)).encode())
    fetch(box, name, "a", 1).expect(2, "key of another event")
    os.rename("key1", "key")
    # a PC of the owner's, with the admission of A
    owner("UPDATE dealbox.pc SET public_key = decode(repeat('09', 32), 'hex') WHERE name = 'B'")
    add(box, name, "third", "--replay").expect(2, "admitted with another key")
    assert len(everything(box, name)["job"]) == 2
    # the event's key instead of that of another
    os.rename("key", "key1")
    box.write("key", b"%064d\n" % 7)
    os.chmod("key", 0o600)
    add(box, name, "third", "--replay").expect(2, "key of another event")


@test
def a_deal_has_another_hash_in_each_event(box):
    found = []
    for n in range(2):
        name = event(box)
        admit(box, name, "a")
        os.rename("a", "a%d" % n)
        add(box, name).expect(0)
        found.append(SERVER.sql(name, "SELECT hash FROM dealbox.board ORDER BY number"))
        os.rename("key", "key%d" % n)
    assert len(set(found[0])) == 24 and not set(found[0]) & set(found[1]), found


def send(box, name, folder, local, one, ledger, user=None):
    return box.dealbox("event", "send", str(local), str(one), "-f", folder, "-l", ledger, "-d", SERVER.address(name, user or folder))


def last_job(box):
    return box.dealbox("ledger", "list", "-j", "-l", "state/dealbox/ledger").expect(0).json()[-1]["job"]


def dealt(box, session, boards, copies, name="machine"):
    """Deals boards, and returns the number of the job in the ledger."""
    machine = box.machine(name=name)
    box.deal("-m", machine.uri, "-b", boards, "-c", str(copies), "--session", session, SET).expect(0)
    return last_job(box)


def moved(box, to):
    """What one PC has dealt becomes the ledger of another one."""
    os.rename("state/dealbox", to)
    return os.path.join(to, "ledger")


@test
def a_ledger_is_reported_once(box):
    name = event(box, "--rehearsal")
    for user in "ab":
        admit(box, name, user)
    add(box, name, "final", "--copies", "2").expect(0)
    local = dealt(box, "final", "1-3", 2)
    of_a = moved(box, "of-a")
    send(box, name, "a", local, 1, of_a).expect(0, "6 boards count, 0 are surplus")
    send(box, name, "a", local, 1, of_a).expect(0, "6 boards count, 0 are surplus")
    assert SERVER.sql(name, "SELECT count(*), sum((standing = 'counts')::int) FROM dealbox.record") == ["6|6"]
    # another PC has dealt the same boards, and one more
    local = dealt(box, "final", "3-4", 1, "other")
    of_b = moved(box, "of-b")
    send(box, name, "b", local, 1, of_b).expect(1, "1 boards count, 1 are surplus", "board 3, copy 1 of machine other is surplus")
    found = everything(box, name)
    assert [(s["board"], s["copy"], s["pc"]) for s in found["surplus"]] == [(3, 1, "B")], found
    assert found["job"][0]["recorded"] == 7, found
    # its ledger on another PC: somebody has copied it, and its boards count once
    send(box, name, "a", local, 1, of_b).expect(1, "0 boards count, 2 are surplus")
    assert everything(box, name)["job"][0]["recorded"] == 7


def director(box, name, *words):
    return box.dealbox("event", *words, "--yes", "-d", SERVER.address(name, "director"))


@test
def a_pc_that_comes_later_gets_an_earlier_set(box):
    name = event(box)
    admit(box, name, "a")
    add(box, name).expect(0)
    give = lambda pc, one, *files: director(box, name, "give", pc, str(one), *files, "-k", "key")    # noqa: E731
    key = member(box, name, "b")
    give("B", 1, SET).expect(1, "PC B is not admitted")
    box.dealbox("event", "admit", "B", key, "-k", "key", "-d", SERVER.address(name, "director")).expect(0, "event give")
    fetch(box, name, "b", 1).expect(2, "no set of job 1")
    give("C", 1, SET).expect(2, "no PC C")
    give("B", 2, SET).expect(2, "no job 2")
    # a board less, a board more, two that were exchanged
    with open(SET) as file:
        games = file.read().split('[Event "')
    box.write("less.pbn", '[Event "'.join(games[:-1]))
    give("B", 1, "less.pbn").expect(2, "board 24 of these deals is not that of job 1")
    tag = re.compile(r'\[Deal ".*"\]')
    first, second = tag.search(games[1])[0], tag.search(games[2])[0]
    games[1], games[2] = games[1].replace(first, second), games[2].replace(second, first)
    box.write("changed.pbn", '[Event "'.join(games))
    give("B", 1, "changed.pbn").expect(2, "board 1 of these deals is not that of job 1")
    assert SERVER.sql(name, "SELECT count(*) FROM dealbox.sealed_set") == ["1"]
    give("B", 1, SET).expect(0, "B has the set of job 1")
    give("B", 1, SET).expect(0)
    fetch(box, name, "b", 1).expect(0, "session final")
    assert hands(box, "b1.pbn") == hands(box, SET)
    SERVER.sql(name, "UPDATE dealbox.pc SET until = now() - interval '1 day'")
    director(box, name, "lost", "B").expect(0)
    give("B", 1, SET).expect(1, "is lost")
    # a PC of the owner's with the name of one that was admitted
    SERVER.sql(name, "UPDATE dealbox.pc SET public_key = decode(repeat('09', 32), 'hex') WHERE name = 'A'")
    give("A", 1, SET).expect(2, "admitted with another key")


@test
def a_closed_job_gives_no_copies(box):
    name = event(box)
    a = join(name, "a")
    one = job(name)
    SERVER.sql(name, "SELECT dealbox.give_set('A', %d, 'sealed')" % one, "director")
    assert len(take(name, "a", a, 1, 2)) == 2
    director(box, name, "close", "99").expect(2, "no job 99")
    director(box, name, "close", str(one)).expect(0, "job %d is closed" % one)
    assert take(name, "a", a, 2, 2) == []
    held = "SELECT dealbox.report('%s', 'm', 1, %d, 1, 1, md5('1')::uuid, 'exact', now())" % (a, one)
    assert SERVER.sql(name, held, "a") == ["counts"], "what it holds, it deals"
    director(box, name, "status").expect(0, "final, closed")
    director(box, name, "open", str(one)).expect(0, "is open")
    assert len(take(name, "a", a, 3, 2)) == 2


@test
def a_pc_rests_when_somebody_says_so(box):
    """By the director, or at a PC that is admitted; it is recorded who, and moves no copy."""
    name = event(box)
    a, b = join(name, "a"), join(name, "b")
    one = job(name)
    for pc in "AB":
        SERVER.sql(name, "SELECT dealbox.give_set('%s', %d, 'sealed')" % (pc, one), "director")
    got = take(name, "a", a, 1, 2)
    wish = lambda user, token, pc, rest: SERVER.sql(name, "SELECT dealbox.wish_rest('%s', '%s', %s)" % (token, pc, rest), user)   # noqa: E731
    rests = lambda: SERVER.sql(name, "SELECT name, rest, rest_by FROM dealbox.status_pc ORDER BY name", "a")     # noqa: E731
    # a stranger: no PC, or one that nobody has admitted
    refused("DB007", wish, "b", b, "A", True)
    refused("DB007", wish, "a", b, "A", True)
    refused("42501", SERVER.sql, name, "SELECT dealbox.let_rest('A', true)", "b")
    refused("42501", SERVER.sql, name, "SELECT dealbox.set_rest(1, true, 2, 'B')", "b")
    for text in ("INSERT INTO dealbox.rest (pc, rest, by_name, at) VALUES (1, true, 'B', now())", "SELECT * FROM dealbox.rest"):
        refused("42501", SERVER.sql, name, text, "b")
    refused("42501", wish, "director", b, "A", True)
    assert rests() == ["A|f|", "B|f|"], rests()
    for pc in "ab":
        SERVER.sql(name, "UPDATE dealbox.pc SET sealed_key = 'x' WHERE name = '%s'" % pc.upper())
    wish("b", b, "A", True)
    assert rests() == ["A|t|B", "B|f|"], rests()
    # the first is recorded, and who lifts it
    director(box, name, "rest", "A").expect(0, "A takes no more copies")
    assert rests() == ["A|t|B", "B|f|"], rests()
    director(box, name, "status").expect(0, "A .*2 held, resting, said by B")
    # no copy moves before the PC itself gives it back
    assert SERVER.sql(name, "SELECT count(*) FROM dealbox.copy", "a") == ["2"]
    assert not set(take(name, "b", b, 1, 6)) & set(got), "a copy is held twice"
    director(box, name, "resume", "A").expect(0, "A takes copies again")
    assert rests() == ["A|f|director", "B|f|"], rests()
    # what somebody has said at the PC itself
    rest_of = lambda said: SERVER.sql(name, "SELECT * FROM dealbox.rest_of('%s', %s)" % (a, said), "a")     # noqa: E731
    assert rest_of("NULL") == ["f|director"] and rest_of("true") == ["t|A"] and rest_of("NULL") == ["t|A"]
    # with a token that it found
    refused("DB001", SERVER.sql, name, "SELECT dealbox.rest_of('%s', false)" % a, "b")
    refused("DB001", SERVER.sql, name, "SELECT dealbox.rest_of('%s', NULL)" % a, "b")
    # a PC that is lost or removed has no say, and nobody has about it
    SERVER.sql(name, "UPDATE dealbox.pc SET until = now() - interval '1 day'")
    director(box, name, "lost", "B").expect(0)
    refused("DB007", wish, "b", b, "A", False)
    director(box, name, "remove", "B").expect(0)
    refused("DB007", wish, "b", b, "A", False)
    refused("DB007", wish, "a", a, "B", True)
    director(box, name, "rest", "B").expect(2, "there is no PC B")
    # its user as another PC, with the token of the one that was removed
    c = NOBODY % 7
    SERVER.sql(name, "SELECT dealbox.join_event('B2', decode(repeat('08', 32), 'hex'), '%s')" % c, "b")
    refused("DB007", wish, "b", b, "A", False)
    refused("DB007", wish, "b", c, "A", False)
    assert rests()[0] == "A|t|A", rests()


@test
def a_wish_keeps_no_pc_from_its_work(box):
    """Whoever has it may leave his transaction open, or have it again and again."""
    name = event(box)
    a, b = join(name, "a"), join(name, "b")
    one = job(name)
    SERVER.sql(name, "UPDATE dealbox.pc SET sealed_key = 'x'")
    for pc in "AB":
        SERVER.sql(name, "SELECT dealbox.give_set('%s', %d, 'sealed')" % (pc, one), "director")
    wish = "SELECT dealbox.wish_rest('%s', '%s', %s);"
    with SERVER.session(name, "BEGIN; %s SELECT 'wished';" % (wish % (a, "B", "true")), "a") as session:
        while "wished" not in session.stdout.readline():
            pass
        for text in (wish % (b, "A", "true"), "SELECT dealbox.rest_of('%s', true)" % b,
                     "SELECT dealbox.take('%s', 1, '%s', 1)" % (b, NOBODY % 1),
                     "SELECT dealbox.report('%s', 'm', 1, %d, 1, 1, md5('1')::uuid, 'exact', now())" % (b, one)):
            SERVER.sql(name, "SET lock_timeout = '5 s'; " + text, "b")
        SERVER.sql(name, "SET lock_timeout = '5 s'; UPDATE dealbox.pc SET until = now() - interval '1 day'")
        SERVER.sql(name, "SET lock_timeout = '5 s'; SELECT dealbox.lose('B')", "director")
        session.stdin.write("COMMIT;\n")
    assert SERVER.sql(name, "SELECT rest FROM dealbox.status_pc ORDER BY name") == ["t", "t"]
    refused("DB007", SERVER.sql, name, "DO $$ BEGIN FOR n IN 1..1001 LOOP PERFORM dealbox.wish_rest('%s', 'B', n %% 2 = 0); "
            "END LOOP; END $$" % a, "a")
    SERVER.sql(name, "INSERT INTO dealbox.rest (pc, rest, by_pc, by_name, at) SELECT 2, n % 2 = 0, 1, 'A', now() "
               "FROM generate_series(1, 1000) n")
    before = SERVER.sql(name, "SELECT rest, rest_by FROM dealbox.status_pc WHERE name = 'B'")
    refused("DB007", SERVER.sql, name, wish % (a, "B", "false"), "a")
    assert SERVER.sql(name, "SELECT * FROM dealbox.rest_of('%s', false)" % a, "a") == ["t|B"], "its own word is no error"
    assert SERVER.sql(name, "SELECT rest, rest_by FROM dealbox.status_pc WHERE name = 'B'") == before == ["t|A"]
    director(box, name, "resume", "B").expect(0, "takes copies again")


@test
def a_pc_is_removed_for_good(box):
    """Rebuilt or stolen: no copy is dealt twice, and its user takes part as another PC."""
    name = event(box, "--rehearsal")
    for user in "ab":
        admit(box, name, user)
    add(box, name).expect(0)
    a, = SERVER.sql(name, "SELECT token FROM dealbox.pc WHERE name = 'A'")
    b, = SERVER.sql(name, "SELECT token FROM dealbox.pc WHERE name = 'B'")
    assert take(name, "a", a, 1, 2) == [(1, 1, 1), (1, 2, 1)]
    director(box, name, "remove", "A").expect(1, "A may still deal")
    director(box, name, "remove", "C").expect(2, "no PC C")
    assert take(name, "b", b, 1, 1) == [(1, 3, 1)]
    SERVER.sql(name, "UPDATE dealbox.pc SET until = now() - interval '1 day' WHERE name = 'A'")
    director(box, name, "remove", "A").expect(0, "A is removed; 2 copies are open again")
    assert take(name, "b", b, 2, 2) == [(1, 1, 1), (1, 2, 1)]
    # it cannot come back: what it holds by its own account is another's now
    for text in ("take('%s', 2, '%s', 1)", "back('%s', 2, '%s')", "give_back('%s', 2, '%s', '{1}', '{1}', '{1}')"):
        refused("DB001", SERVER.sql, name, "SELECT dealbox." + text % (a, NOBODY % 2), "a")
    fetch(box, name, "a", 1).expect(2, "has left the event")
    assert SERVER.sql(name, "SELECT * FROM dealbox.sealed_set", "a") == []
    # what it had dealt is heard, and is surplus
    first, = SERVER.sql(name, "SELECT hash FROM dealbox.board WHERE number = 1")
    late = "SELECT dealbox.report('%s', 'old', 1, 1, 1, 1, '%s', 'exact', now())" % (a, first)
    assert SERVER.sql(name, late, "a") == ["surplus"]
    director(box, name, "remove", "A").expect(2, "no PC A")
    # rebuilt, it has a new identity; the old name is taken, so that nobody takes one for the other
    os.rename("a", "a-before")
    box.dealbox("event", "join", "A", fingerprint(box, name), "-f", "a", "-d", SERVER.address(name, "a")).expect(2, "is or was a PC")
    joined, = box.dealbox("event", "join", "A2", fingerprint(box, name), "-f", "a", "-j", "-d", SERVER.address(name, "a")).expect(0).json()
    director(box, name, "admit", "A2", joined["fingerprint"], "-k", "key").expect(0)
    director(box, name, "give", "A2", "1", SET, "-k", "key").expect(0)
    fetch(box, name, "a", 1).expect(0)
    # somebody starts the old disk again: it takes nothing, and its boards are not those of the new PC
    refused("DB001", take, name, "a", a, 2, 1)
    box.write("a-before/lease", "dealbox lease 1\nasked 2\nrequest take 1 %s\nend\n" % (NOBODY % 2))
    os.chmod("a-before/lease", 0o600)
    box.dealbox("event", "leave", "--yes", "-f", "a-before", "-d", SERVER.address(name, "a")).expect(0, "A has left")
    found = everything(box, name)
    assert [(pc["pc"], pc["state"]) for pc in found["pc"]] == [("A", "left"), ("A2", "here"), ("B", "here")], found


@test
def a_removed_pc_still_reports(box):
    """Also when its user takes part as another PC: neither is taken for the other."""
    name = event(box, "--rehearsal")
    for user in "ab":
        admit(box, name, user)
    add(box, name, "final", "--copies", "2").expect(0)
    a, = SERVER.sql(name, "SELECT token FROM dealbox.pc WHERE name = 'A'")
    take(name, "a", a, 1, 1)
    local = dealt(box, "final", "1", 1)
    of_a = moved(box, "of-a")
    SERVER.sql(name, "UPDATE dealbox.pc SET until = now() - interval '1 day' WHERE name = 'A'")
    director(box, name, "remove", "A").expect(0, "1 copies are open again")
    send(box, name, "a", local, 1, of_a).expect(0, "1 boards count")
    fetch(box, name, "a", 1).expect(2, "has left the event")
    send(box, name, "a", local, 2, of_a).expect(2, "no set of job 2")
    # another user does not report for it
    send(box, name, "b", local, 1, of_a).expect(1, "1 are surplus")
    box.dealbox("event", "send", str(local), "1", "-f", "a", "-l", of_a, "-d", SERVER.address(name, "b")).expect(2, "has not joined")
    os.rename("a", "old")
    joined, = box.dealbox("event", "join", "A2", fingerprint(box, name), "-f", "a", "-j", "-d", SERVER.address(name, "a")).expect(0).json()
    send(box, name, "old", local, 1, of_a, "a").expect(0, "1 boards count")
    fetch(box, name, "a", 1).expect(1, "not admitted")
    director(box, name, "admit", "A2", joined["fingerprint"], "-k", "key").expect(0)
    send(box, name, "old", local, 1, of_a, "a").expect(0, "1 boards count")
    send(box, name, "a", local, 1, of_a).expect(2, "no set of job 1")
    assert SERVER.sql(name, "SELECT id FROM dealbox.job", "a") == [], "A2 has no set"
    director(box, name, "give", "A2", "1", SET, "-k", "key").expect(0)
    send(box, name, "a", local, 1, of_a).expect(1, "1 are surplus")
    fetch(box, name, "a", 1).expect(0)
    box.dealbox("event", "fetch", "1", "old.pbn", "-f", "old", "-d", SERVER.address(name, "a")).expect(2, "has left the event")
    for function in ("jobs_of", "records_of"):
        refused("42501", SERVER.sql, name, "SELECT * FROM dealbox.%s('%s')" % (function, a), "director")
        refused("DB001", SERVER.sql, name, "SELECT * FROM dealbox.%s('%s')" % (function, a), "b")


@test
def a_pc_without_a_lease_leaves(box):
    """Its lease was damaged: when it was declared lost nobody waits for what it held."""
    name = event(box)
    for user in "ab":
        admit(box, name, user)
    leave = lambda user: box.dealbox("event", "leave", "--yes", "-f", user, "-d", SERVER.address(name, user))     # noqa: E731
    for user in "ab":
        token, = SERVER.sql(name, "SELECT token FROM dealbox.pc WHERE login = '%s'" % user)
        take(name, user, token, 1, 0)
        box.write(user + "/lease", "dealbox lease 1\nask")
        os.chmod(user + "/lease", 0o600)
        leave(user).expect(2, "this is no lease", "declare this PC lost")
        assert os.path.exists(user + "/identity")
    SERVER.sql(name, "UPDATE dealbox.pc SET until = now() - interval '1 day'")
    director(box, name, "lost", "A").expect(0)
    director(box, name, "remove", "B").expect(0)
    for user in "ab":
        leave(user).expect(0, user.upper() + " has left")
        assert os.listdir(user) == [], os.listdir(user)
    assert SERVER.sql(name, "SELECT state FROM dealbox.pc") == ["left", "left"]


@test
def a_surplus_board_is_taken_out_of_play(box):
    name = event(box, "--rehearsal")
    for user in "ab":
        admit(box, name, user)
    add(box, name).expect(0)
    local = dealt(box, "final", "1", 1)
    send(box, name, "a", local, 1, moved(box, "of-a")).expect(0)
    local = dealt(box, "final", "1", 1, "other")
    of_b = moved(box, "of-b")
    send(box, name, "b", local, 1, of_b).expect(1, "1 are surplus")
    surplus, = everything(box, name)["surplus"]
    assert (surplus["pc"], surplus["board"]) == ("B", 1), surplus
    director(box, name, "dismiss", "999").expect(2, "no surplus board 999")
    # the one that counts is not dismissed by mistake
    counts, = SERVER.sql(name, "SELECT id FROM dealbox.record WHERE standing = 'counts'")
    director(box, name, "dismiss", counts).expect(2, "no surplus board")
    director(box, name, "dismiss", str(surplus["number"])).expect(0, "dismissed")
    director(box, name, "dismiss", str(surplus["number"])).expect(2, "no surplus board")
    found = everything(box, name)
    assert found["surplus"] == [] and found["job"][0]["recorded"] == 1, found
    assert [(one["number"], one["dismissed_by"]) for one in found["dismissed"]] == [(surplus["number"], "director")], found
    assert re.fullmatch("20[0-9-]{8}T[0-9:]{8}Z", found["dismissed"][0]["dismissed_at"]), found
    director(box, name, "status").expect(0, "out of play, said by director at 20.*board 1, copy 1 of B")
    send(box, name, "b", local, 1, of_b).expect(0, "0 are surplus, 1 were taken back")


@test
def a_false_record_is_void(box):
    name = event(box, "--rehearsal")
    for user in "ab":
        admit(box, name, user)
    add(box, name).expect(0)
    local = dealt(box, "final", "1-2", 1)
    of_a = moved(box, "of-a")
    send(box, name, "a", local, 1, of_a).expect(0, "2 boards count")
    director(box, name, "void", "1", "3", "1").expect(2, "no board counts for job 1, board 3, copy 1")
    box.dealbox("event", "void", "1", "2", "1", "-d", SERVER.address(name, "director")).expect(1)
    director(box, name, "void", "1", "2", "1").expect(0, "the report of A is void; the copy is open again")
    director(box, name, "void", "1", "2", "1").expect(2, "no board counts")
    assert everything(box, name)["job"][0]["recorded"] == 1
    # the PC repeats its report: a board that a person has taken out of play does not count again
    send(box, name, "a", local, 1, of_a).expect(0, "1 boards count, 0 are surplus, 1 were taken back")
    b, = SERVER.sql(name, "SELECT token FROM dealbox.pc WHERE name = 'B'")
    a, = SERVER.sql(name, "SELECT token FROM dealbox.pc WHERE name = 'A'")
    # one who would give it back does not get it
    but = SERVER.sql(name, "SELECT job, number, copy FROM dealbox.take('%s', 1, '%s', 9, NULL, '{1,1}', '{2,1}', '{1,1}')"
                     % (a, NOBODY % 1), "a")
    assert "1|2|1" not in but and but, but
    SERVER.sql(name, "SELECT dealbox.give_back('%s', 2, '%s', '{%s}', '{%s}', '{%s}')" % (
        a, NOBODY % 2, *(",".join(row.split("|")[n] for row in but) for n in range(3))), "a")
    assert everything(box, name)["again"] == [{"job": 1, "session": "final", "board": 2, "copy": 1, "dealt_by": "A"}]
    director(box, name, "status").expect(0, r"job 1, board 2, copy 1 must be dealt again: by another PC, or .*\(A\)")
    assert take(name, "b", b, 1, 1) == [(1, 2, 1)]
    assert not everything(box, name)["again"]
    local = dealt(box, "final", "2", 1, "other")
    send(box, name, "b", local, 1, moved(box, "of-b")).expect(0, "1 boards count")
    found = everything(box, name)
    assert found["job"][0]["recorded"] == 2 and [one["pc"] for one in found["dismissed"]] == ["A"], found


def certified(box, name, user):
    """A tournament whose boards are certified, in the folder pc; its round is job 1 of the event."""
    box.dealbox("square", "new", "club", "--title", "Club evening", "--info", "Lottery of 1 May",
                "--phase", "1:1-8:rr#:Round #").expect(0)
    box.dealbox("certificate", "new-key", "organiser").expect(0)
    box.dealbox("certificate", "manifest", "club", "-k", "organiser", "--copies", "2").expect(0)
    box.dealbox("square", "value", "club", "7").expect(0)
    box.dealbox("square", "deal", "club", "-P", "1", "-s", "1").expect(0)
    box.dealbox("certificate", "begin", "pc", "club.manifest").expect(0)
    admit(box, name, user)
    box.dealbox("event", "add", "Round 1", "rr1.pbn", "-k", "key", "--copies", "2", "-d",
                SERVER.address(name, "director")).expect(0)


def certify(box, name, user, machine, board, folder="pc"):
    """Deals and certifies a board, and reports all."""
    box.deal("-m", machine.uri, "-b", board, "--session", "Round 1", "--certify", folder, "rr1.pbn").expect(0)
    return box.dealbox("event", "send", str(last_job(box)), "1", "-f", user, "-l", "state/dealbox/ledger",
                       "--certificates", folder, "-d", SERVER.address(name, user))


@test
def an_old_copy_of_a_pc_shows(box):
    """The certificates of a PC continue what it has reported, or somebody sees that they do not."""
    name = event(box, "--rehearsal")
    certified(box, name, "a")
    director(box, name, "audit").expect(0, "no PC has reported")
    machine = box.machine()
    certify(box, name, "a", machine, "1").expect(0)
    certify(box, name, "a", machine, "2").expect(0)
    shutil.copytree("pc", "old-pc")
    certify(box, name, "a", machine, "3").expect(0)
    spoken = re.search("read aloud: (.*)", box.dealbox("log", "head", "pc").expect(0).err)[1]
    director(box, name, "audit").expect(0, "A: 3 heads, 3 certificates; to be read aloud: " + spoken)
    assert SERVER.sql(name, "SELECT count(*) FROM dealbox.head", "b") == ["0"]
    refused("42501", SERVER.sql, name, "INSERT INTO dealbox.head (pc) VALUES (1)", "a")
    refused("42501", SERVER.sql, name, "SELECT dealbox.report_head(gen_random_uuid(), 'x', 'x', 'x', 'x')", "director")
    # the disk of yesterday
    box.dealbox("event", "send", str(last_job(box)), "1", "-f", "a", "-l", "state/dealbox/ledger", "--certificates", "old-pc",
                "-d", SERVER.address(name, "a")).expect(1, "do not continue what was reported")
    director(box, name, "audit").expect(1, "WRONG: A, log dealbox/.*, head 4: it has fewer certificates than the one before")
    # that of today again, and the other one when it has grown
    certify(box, name, "a", machine, "4").expect(0)
    certify(box, name, "a", machine, "5-7", "old-pc").expect(1, "do not continue")
    found = director(box, name, "audit", "-j").expect(
        1, "head 4: it has fewer", "head 6: it does not continue the one before").json()
    assert [(log["pc"], log["heads"], log["wrong"], log["certificates"]) for log in found] == [("A", 6, 2, 5)], found
    # rebuilt, with a copy of its certificates: another name hides nothing
    SERVER.sql(name, "UPDATE dealbox.pc SET until = now() - interval '1 day'")
    director(box, name, "remove", "A").expect(0)
    joined, = box.dealbox("event", "join", "A2", fingerprint(box, name), "-f", "a2", "-j", "-d", SERVER.address(name, "a")).expect(0).json()
    director(box, name, "admit", "A2", joined["fingerprint"], "-k", "key").expect(0)
    director(box, name, "give", "A2", "1", "rr1.pbn", "-k", "key").expect(0)
    box.dealbox("event", "send", str(last_job(box)), "1", "-f", "a2", "-l", "state/dealbox/ledger", "--certificates", "pc",
                "-d", SERVER.address(name, "a")).expect(1, "do not continue what was reported")
    director(box, name, "audit").expect(1, "WRONG: A2, log dealbox/.*, head 7: it has fewer")


@test
def a_head_is_believed_when_it_is_signed(box):
    name = event(box, "--rehearsal")
    certified(box, name, "a")
    machine = box.machine()
    for board in "12":
        certify(box, name, "a", machine, board).expect(0)
    owner = lambda text: SERVER.sql(name, text)     # noqa: E731
    kept = "CREATE TABLE kept AS SELECT * FROM dealbox.head"
    owner(kept)
    for change, what in (
            ("key = decode(repeat('07', 32), 'hex')", "head 1: it is not signed with the key"),
            ("note = replace(note, E'\n2\n', E'\n3\n')", "head 2: it is not signed with the key"),
            ("note = 'none' || id", "it is no head of that log"),
            ("proof = NULL", "head 2: it does not continue"),
            ("proof = replace(proof, 'old 1', 'old 0')", "head 2: it does not continue"),
            ("origin = 'dealbox/0/1'", "it is no head of that log")):
        owner("UPDATE dealbox.head SET " + change)
        director(box, name, "audit").expect(1, what)
        owner("UPDATE dealbox.head h SET origin = k.origin, key = k.key, note = k.note, proof = k.proof FROM kept k WHERE k.id = h.id")
        director(box, name, "audit").expect(0, "2 heads")
    # in another order: fewer certificates than before
    owner("UPDATE dealbox.head h SET note = 'x' || h.id; UPDATE dealbox.head h SET note = k.note FROM kept k WHERE k.id <> h.id")
    director(box, name, "audit").expect(1, "head 2: it has fewer certificates than the one before")


@test
def a_head_of_somebody_else_stops_nobody(box):
    """A PC that reports the first head of another one's log, with a key of its own, spoils no audit."""
    name = event(box, "--rehearsal")
    certified(box, name, "a")
    admit(box, name, "b")
    machine = box.machine()
    for board in "12":
        certify(box, name, "a", machine, board).expect(0)
    origin, key, note = SERVER.sql(name, "SELECT origin, encode(key, 'hex'), encode(convert_to(note, 'UTF8'), 'hex') "
                                   "FROM dealbox.head ORDER BY id LIMIT 1")[0].split("|")
    b, = SERVER.sql(name, "SELECT token FROM dealbox.pc WHERE name = 'B'")
    foreign = ("SELECT dealbox.report_head('%s', '%s', decode('%s', 'hex'), convert_from(decode('%s', 'hex'), 'UTF8'), NULL)")
    SERVER.sql(name, foreign % (b, origin, "07" * 32, note), "b")
    SERVER.sql(name, "UPDATE dealbox.head SET id = DEFAULT WHERE pc = (SELECT id FROM dealbox.pc WHERE name = 'A')")
    result = director(box, name, "audit").expect(1, "WRONG: B, log dealbox/.*not signed with the key")
    assert "WRONG: A" not in result.err and "A: 3 heads, 2 certificates" in result.out, result
    # an older one that is signed, too: what A has to continue is its own
    second, = SERVER.sql(name, "SELECT encode(convert_to(note, 'UTF8'), 'hex') FROM dealbox.head ORDER BY id DESC LIMIT 1")
    certify(box, name, "a", machine, "3").expect(0)
    SERVER.sql(name, foreign % (b, origin, key, second), "b")
    certify(box, name, "a", machine, "4").expect(0)
    result = director(box, name, "audit").expect(1, "WRONG: B, log dealbox/.*fewer certificates", "A: 6 heads, 4 certificates")
    assert "WRONG: A" not in result.err, result


@test
def a_pc_reports_no_endless_heads(box):
    name = event(box)
    token = join(name, "a")
    head = "SELECT dealbox.report_head('%s', 'log/1', decode(repeat('07', 32), 'hex'), n || repeat('x', %d), NULL) FROM %s AS n"
    refused("22023", SERVER.sql, name, head % (token, 65000, "generate_series(1, 1000)"), "a")
    refused("22023", SERVER.sql, name, head % (token, 10, "generate_series(1, 10001)"), "a")
    SERVER.sql(name, head % (token, 100, "generate_series(1, 100)"), "a")


@test
def machines_of_one_name_are_at_many_pcs(box):
    """A machine without a serial number has the name of its port."""
    name = event(box)
    one = job(name)
    for copy, user in enumerate("ab", 1):
        token = join(name, user)
        for _ in range(2):
            assert SERVER.sql(name, "SELECT dealbox.report('%s', 'port:local:/dev/dealbox0', 1, %d, 1, %d, md5('1')::uuid, "
                              "'exact', now())" % (token, one, copy), user) == ["counts"]
    assert everything(box, name)["job"][0]["recorded"] == 2


@test
def a_refused_insertion_does_not_stop_the_others(box):
    name = event(box, "--rehearsal")
    admit(box, name, "a")
    add(box, name, "final").expect(0)
    local = dealt(box, "final", "1-3", 1)
    SERVER.sql(name, "UPDATE dealbox.board SET hash = gen_random_uuid() WHERE number = 2")
    send(box, name, "a", local, 1, moved(box, "one")).expect(
        1, "2 boards count", "board 2, copy 1 of machine .*, insertion [0-9]+ is refused: board 2 of job 1 is another deal",
        "1 insertions were refused")
    assert SERVER.sql(name, "SELECT number FROM dealbox.record ORDER BY 1") == ["1", "3"]


@test
def only_the_deals_of_the_event_count(box):
    name = event(box, "--rehearsal")
    admit(box, name, "a")
    add(box, name, "final").expect(0)
    local = dealt(box, "other", "1", 1)
    send(box, name, "a", local, 1, moved(box, "one")).expect(2, "is of session other, and that of the event is not")
    # board 1 is that of the event, board 2 is another deal
    with open(SET) as file:
        games = file.read().split('[Event "')
    tag = re.compile(r'\[Deal ".*"\]')
    games[2] = tag.sub(tag.search(games[3])[0], games[2])
    box.write("changed.pbn", '[Event "'.join(games[:3]))
    machine = box.machine(name="second")
    box.deal("-m", machine.uri, "--session", "final", "changed.pbn").expect(0)
    local = last_job(box)
    send(box, name, "a", local, 1, moved(box, "two")).expect(1, "board 2 of job 1 is another deal")
    assert SERVER.sql(name, "SELECT number, standing FROM dealbox.record") == ["1|counts"]


@test
def a_board_that_no_machine_has_dealt_does_not_count(box):
    name = event(box)
    admit(box, name, "a")
    add(box, name, "final").expect(0)
    local = dealt(box, "final", "1-2", 1)
    send(box, name, "a", local, 1, moved(box, "one")).expect(1, "2 boards of emulated machines were not sent", "0 boards count")
    assert SERVER.sql(name, "SELECT count(*) FROM dealbox.record") == ["0"]


try:
    main()
finally:
    SERVER.remove()
