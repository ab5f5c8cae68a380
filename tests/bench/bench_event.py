#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""One event on many PCs, with a PostgreSQL server of its own: its defaults, but for max_connections.

usage: bench_event.py BENCH_EVENT DEALBOX [PCS ROUNDS DEALS...]

PCS take and report copies ROUNDS times. Then deals are looked up among as many as each of DEALS,
which are in growing order: with everything in memory, and once from the disk. Root also looks them
up in real-time priority, so that other work on the computer is not measured.
"""

import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../system/event"))
from server import Server       # pylint: disable=wrong-import-position

BENCH, DEALBOX = sys.argv[1:3]
PCS, ROUNDS, *DEALS = map(int, sys.argv[3:]) if len(sys.argv) > 5 else (200, 25, 100000, 1000000)
LOOKS = 5000
CHUNK = 5000000
# the server's process of this connection
REAL_TIME = ("SELECT pg_backend_pid() AS pid \\gset", "\\setenv SERVER :pid", "\\! chrt -f -p 1 $SERVER")
# as after installation, which the small servers of the tests are not
DEFAULTS = ("shared_buffers = 128MB", "max_connections = 1200")


def looks(server, deals, *commands):
    """Times of looking a deal up, in ms, within the server: half of them are there."""
    rows = server.sql("event", "\n".join([
        *commands,
        "CREATE TEMP TABLE took (ms float8);",
        "DO $$ DECLARE began timestamptz; wanted uuid; found text; BEGIN FOR n IN 1..%d LOOP "
        "wanted := md5((1 + random() * %d)::bigint::text)::uuid; began := clock_timestamp(); "
        "SELECT session INTO found FROM dealbox.deal WHERE hash = wanted; "
        "INSERT INTO took VALUES (extract(epoch FROM clock_timestamp() - began) * 1000); END LOOP; END $$;"
        % (LOOKS, 2 * deals),
        "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY ms), percentile_cont(0.99) WITHIN GROUP (ORDER BY ms) FROM took;"]))
    return tuple(map(float, rows[-1].split("|")))


def show(what, server, deals):
    """
    Print how long it takes, and first how long in real time, which the rest of the computer does not
    delay. Returns the first that is known: ms of 99 of 100.
    """
    found = []
    for name, commands in (what + ", real time", REAL_TIME), (what, ()):
        if not commands or os.getuid() == 0:
            found.append(looks(server, deals, *commands))
            print("  %s: half within %.3f ms, 99 of 100 within %.3f ms" % (name, *found[-1]), flush=True)
    return found[0][1]


def curve(points):
    """Print how the time grows with the deals: a sign is a hundredth of a millisecond."""
    for deals, ms in points:
        print("%12d deals  %.3f ms  %s" % (deals, ms, "#" * max(1, min(60, round(ms * 100)))))


def fill(server, begin, end):
    """In the order of the hashes: else each page of the index would be written for every deal."""
    for first in range(begin + 1, end + 1, CHUNK):
        server.sql("event", "INSERT INTO dealbox.deal SELECT md5(n::text)::uuid AS hash, 'earlier' "
                   "FROM generate_series(%d, %d) n ORDER BY hash" % (first, min(first + CHUNK - 1, end)))


def settled(server, *settings):
    for setting in settings:
        server.sql("postgres", "ALTER SYSTEM " + setting)
    server.stop("fast")
    server.start()


def forget(server):
    """Takes the files of the database, and no others, out of memory."""
    server.stop("fast")
    os.sync()
    for folder, _, files in os.walk(os.path.join(server.data, "base")):
        for name in files:
            file = os.open(os.path.join(folder, name), os.O_RDONLY)
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(file)
    server.start()


def lookups(server, before, deals):
    begun = time.monotonic()
    settled(server, "SET full_page_writes = off", "SET synchronous_commit = off")
    fill(server, before, deals)
    settled(server, "RESET ALL")
    server.sql("event", "VACUUM ANALYZE dealbox.deal")
    took = time.monotonic() - begun
    size, = server.sql("event", "SELECT sum(pg_total_relation_size(inhrelid)) FROM pg_inherits WHERE inhparent = 'dealbox.deal'::regclass")
    print("%d deals: %.0f MB per million; filled in %.0f s" % (deals, float(size) / deals, took))
    forget(server)
    # the catalogue first: it is not of the deals
    server.sql("event", "SELECT session FROM dealbox.deal WHERE hash = gen_random_uuid()")
    print("  first from the disk: half within %.3f ms, 99 of 100 within %.3f ms"
          % looks(server, deals, *(() if os.getuid() else REAL_TIME)))
    server.sql("event", "SELECT count(*), sum(length(session)) FROM dealbox.deal; SET enable_seqscan = off; "
               "SELECT count(hash) FROM dealbox.deal")
    looks(server, deals)
    return show("in memory", server, deals)


def main():
    server = Server(DEFAULTS)
    try:
        server.sql("postgres", "CREATE DATABASE event")
        subprocess.run([DEALBOX, "event", "init", "Bench", os.path.join(server.folder, "key"), "-d",
                        server.address("event")], stdout=subprocess.DEVNULL, check=True)
        server.sql("event", "CREATE ROLE director LOGIN IN ROLE dealbox_director")
        sys.stdout.flush()
        if PCS:
            subprocess.run([BENCH, "host=%s dbname=event" % server.folder, str(PCS), str(ROUNDS)], check=True)
        curve([(deals, lookups(server, before, deals)) for before, deals in zip([0, *DEALS], DEALS)])
    finally:
        server.remove()


main()
