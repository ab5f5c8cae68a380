# SPDX-License-Identifier: LGPL-2.1-or-later
"""
bench_print.py DEALBOX [BOARDS [RUNS]]: hand records as PDF, without double dummy.

Boards per second of processor time, and the largest memory, of sets of BOARDS (1000) boards, the
best of RUNS (5); then the time until the whole file of an evening of 36 boards is there. The
reference in the same run: `dealbox check`, which reads the set and prints nothing.
"""
import os
import subprocess
import sys
import tempfile
import time

dealbox = os.path.abspath(sys.argv[1])
boards = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
runs = int(sys.argv[3]) if len(sys.argv) > 3 else 5


def run(*command):
    """Seconds of processor time and of the clock, and KiB of memory, of one process."""
    before = time.monotonic()
    process = subprocess.Popen([dealbox, *command], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    assert not status, command
    return usage.ru_utime + usage.ru_stime, time.monotonic() - before, usage.ru_maxrss


def best(*command):
    return min(run(*command) for _ in range(runs))


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    run('generate', '-n', str(boards), 'set.pbn')
    run('generate', '-n', '36', 'evening.pbn')
    reference = best('check', 'set.pbn')
    print('%d boards: check %.0f ms of processor time' % (boards, 1000 * reference[0]))
    for layout in 'pocket', 'wall':
        processor, _, memory = best('print', 'set.pbn', '-o', 'set.pdf', '--force', '-l', layout)
        print('%s: %.0f boards/s, %.0f times check, %.1f MiB' %
              (layout, boards / processor, processor / reference[0], memory / 1024))
    processor, clock, _ = best('print', 'evening.pbn', '-o', 'evening.pdf', '--force')
    print('36 boards: %.0f ms until the file is there, %.0f ms of processor time' %
          (1000 * clock, 1000 * processor))
