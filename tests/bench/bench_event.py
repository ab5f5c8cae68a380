#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""One event on many PCs, with a PostgreSQL server of its own: its defaults, but for max_connections.

usage: bench_event.py BENCH_EVENT DEALBOX [PCS ROUNDS DEALS]
"""

import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../system/event"))
from server import Server       # pylint: disable=wrong-import-position

BENCH, DEALBOX = sys.argv[1:3]
PCS, ROUNDS, DEALS = map(int, sys.argv[3:6]) if len(sys.argv) > 5 else (200, 25, 1000000)
LOOKS = 5000


def looks(server):
    """Times of looking a deal up, in ms, within the server: pgbench has no p99 without a log."""
    rows = server.sql("event", "\n".join([
        "\\timing off", "CREATE TEMP TABLE took (ms float8);",
        "DO $$ DECLARE began timestamptz; found text; BEGIN FOR n IN 1..%d LOOP began := clock_timestamp(); "
        "SELECT session INTO found FROM dealbox.deal WHERE hash = md5((random() * %d)::bigint::text)::uuid; "
        "INSERT INTO took VALUES (extract(epoch FROM clock_timestamp() - began) * 1000); END LOOP; END $$;" % (LOOKS, 2 * DEALS),
        "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY ms), percentile_cont(0.99) WITHIN GROUP (ORDER BY ms) FROM took;"]))
    return tuple(map(float, rows[-1].split("|")))


def main():
    server = Server(("max_connections = 1200",))
    try:
        server.sql("postgres", "CREATE DATABASE event")
        subprocess.run([DEALBOX, "event", "init", "Bench", os.path.join(server.folder, "key"), "-d",
                        server.address("event")], stdout=subprocess.DEVNULL, check=True)
        server.sql("event", "CREATE ROLE director LOGIN IN ROLE dealbox_director")
        sys.stdout.flush()
        subprocess.run([BENCH, "host=%s dbname=event" % server.folder, str(PCS), str(ROUNDS)], check=True)
        begun = time.monotonic()
        server.sql("event", "INSERT INTO dealbox.deal SELECT md5(n::text)::uuid, 'earlier' FROM generate_series(1, %d) n" % DEALS)
        took = time.monotonic() - begun
        server.sql("event", "ANALYZE dealbox.deal")
        size, = server.sql("event", "SELECT sum(pg_total_relation_size(inhrelid)) FROM pg_inherits WHERE inhparent = 'dealbox.deal'::regclass")
        looks(server)
        half, most = looks(server)
        print("deals: %d, of %.0f MB per million; filled in %.1f s" % (DEALS, float(size) / DEALS, took))
        print("repeat check, warm: half within %.3f ms, 99 of 100 within %.3f ms" % (half, most))
    finally:
        server.remove()


main()
