# SPDX-License-Identifier: LGPL-2.1-or-later
"""
bench_print_memory.py DEALBOX [BOARDS [LAYOUT...]]: memory of printing with double dummy.

The resident memory of dealbox and of its solver for sets of BOARDS (1000) boards, by layout (pocket,
study) or html: the largest sum at one moment, sampled every 20 ms, and the largest of each process,
which the kernel keeps. Memory that both share, such as the C library, is counted twice.
"""
import os
import subprocess
import sys
import tempfile
import time

dealbox = os.path.abspath(sys.argv[1])
boards = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
layouts = sys.argv[3:] or ['pocket', 'study']
STEP = 0.02     # seconds


def status(pid):
    """Name, parent, resident memory and its largest in KiB; None if the process has ended."""
    try:
        with open('/proc/%d/status' % pid) as file:
            fields = dict(line.split(':', 1) for line in file)
        return (fields['Name'].strip(), int(fields['PPid']), int(fields['VmRSS'].split()[0]),
                int(fields['VmHWM'].split()[0]))
    except (OSError, KeyError):
        return None


def child_of(parent):
    pids = (int(name) for name in os.listdir('/proc') if name.isdigit())
    return next((pid for pid in pids if (status(pid) or (0, 0))[1] == parent), None)


def measure(layout):
    name = 'set.html' if layout == 'html' else 'set.pdf'
    options = [] if layout == 'html' else ['-l', layout]
    process = subprocess.Popen([dealbox, 'print', 'set.pbn', '-o', name, '--force', '--double-dummy', *options],
                               stderr=subprocess.DEVNULL)
    most, largest, solver, samples = 0, {}, None, 0
    while process.poll() is None:
        solver = solver or child_of(process.pid)
        seen = [state for state in map(status, filter(None, (process.pid, solver))) if state]
        most = max([most, sum(rss for _, _, rss, _ in seen)])
        for program, _, _, peak in seen:
            largest[program] = max(largest.get(program, 0), peak)
        samples += 1
        time.sleep(STEP)
    assert not process.returncode, layout
    print('%d boards, double dummy, %s: %.1f MiB at most (%s), %d samples, %d bytes' %
          (boards, layout, most / 1024,
           ', '.join('%s %.1f' % (program, peak / 1024) for program, peak in largest.items()),
           samples, os.path.getsize(name)), flush=True)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    subprocess.run([dealbox, 'generate', '-n', str(boards), 'set.pbn'], check=True)
    for each in layouts:
        measure(each)
