# SPDX-License-Identifier: LGPL-2.1-or-later
"""
bench_double_dummy.py DEALBOX DDS_BATCH [BOARDS [ROUNDS]]: dealbox show --double-dummy, against one call of libdds for
the same deals with the same threads and memory; the best of ROUNDS, which take turns. Memory is the largest that a
process had. The deals are the same each time.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

dealbox, batch = sys.argv[1:3]
boards = int(sys.argv[3]) if len(sys.argv) > 3 else 36
rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 3


def measure(command, text=None):
    """Seconds, seconds of processor time, MB, and what it wrote"""
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stdout:
        stdin.write((text or "").encode())
        stdin.seek(0)
        begin = time.monotonic()
        process = subprocess.Popen(command, stdin=stdin, stdout=stdout, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0, (command, process.returncode)
        took = time.monotonic() - begin
        stdout.seek(0)
        return took, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, stdout.read().decode()


def owners(deal):
    """The seat of each card, as dealbox-double-dummy takes them"""
    hands = [hand.split(".") for hand in deal[2:].split()]
    return "".join(str(next(seat for seat in range(4) if rank in hands[seat][suit]))
                   for suit in range(4) for rank in "AKQJT98765432") + "\n"


def boards_of(shown):
    return [line for line in map(json.loads, shown.splitlines()) if line["kind"] == "board"]


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "set.pbn")
    seed = os.path.join(folder, "seed")
    with open(os.open(seed, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        file.write("0123456789abcdef0123456789abcdef01234567\n")
    subprocess.run([dealbox, "generate", "--bigdeal", "bench", "--seed", seed, "-n", str(boards), path], check=True)
    shown = subprocess.run([dealbox, "show", "--json", path], stdout=subprocess.PIPE, text=True, check=True).stdout
    text = "".join(owners(deal["deal"]) for deal in boards_of(shown))
    ours, theirs = [], []
    for _ in range(rounds):
        theirs.append(measure([batch], text))
        ours.append(measure([dealbox, "show", "--double-dummy", "--json", path]))
    tables = ["".join("%x" % deal["double_dummy"]["tricks"][seat][name] for name in ("S", "H", "D", "C", "NT")
                      for seat in "NESW") for deal in boards_of(ours[0][3])]
    assert tables == theirs[0][3].split(), "the tables differ"
    for what, figure in (("seconds", 0), ("seconds of processor time", 1), ("MB", 2)):
        pick = max if figure == 2 else min
        mine, its = (pick(run[figure] for run in runs) for runs in (ours, theirs))
        print("%d boards: dealbox %.2f, libdds %.2f %s: %.2f times" % (boards, mine, its, what, mine / its))
