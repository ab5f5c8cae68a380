# SPDX-License-Identifier: LGPL-2.1-or-later
"""examples.py DEALBOXD EMULATOR DEALBOX SET FOLDER: each example deals the set (TAP)."""
import os
import re
import subprocess
import sys

from harness import PATIENCE, World, tests_in, tests_of, wait

dealboxd, emulator, dealbox, set_file, folder = sys.argv[1:6]


def deals(w, *command):
    """It ends well when the last board is dealt, and not before."""
    session = command[-1].rsplit('/')[-1]
    # the sessions differ, and the deals are the same
    with open(set_file) as file:
        text = file.read()
    other = w.dir + '/' + session + '.pbn'
    hands = re.findall(r'\[Deal "(.*)"\]', text)
    turn = {'deal_command.py': 'ESWN', 'deal.sh': 'SWNE'}.get(session, 'NESW')
    for hand in hands:
        parts = hand[2:].split()
        mirrored = [''.join({'S': 'H', 'H': 'S'}.get(c, c) for c in part) for part in parts]
        suits = [part.split('.') for part in mirrored]
        order = ['NESW'.index(c) for c in turn]
        # other deals: the suits change places
        moved = ['.'.join(suit[order[n]] for n in range(4)) for suit in suits]
        text = text.replace(hand, hand[:2] + ' '.join(moved))
    with open(other, 'w') as file:
        file.write(text)
    process = w.spawn([*command, other, session], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    wait('its end', lambda: w.answer() or process.poll() is not None)
    out = process.stdout.read()
    assert process.returncode == 0, (process.returncode, out)
    assert '%d boards' % len(w.deals) in out, out
    job = max(w.objects('Job').values(), key=lambda job: job['Id'])
    assert job['Session'] == session and job['Recorded'] == len(w.deals), job
    return out


def refuses(w, *command):
    """A refusal of the service is reported, and is not a success."""
    bad = w.dir + '/bad.pbn'
    with open(bad, 'w') as file:
        file.write('no deals')
    result = subprocess.run([*command, bad, 'x'], check=False, capture_output=True, text=True, timeout=PATIENCE)
    assert result.returncode not in (0, -6, -11) and result.stderr, result
    result = subprocess.run([*command], check=False, capture_output=True, text=True, timeout=PATIENCE)
    assert result.returncode and 'usage' in result.stderr, result


def test_python(w):
    out = deals(w, sys.executable, folder + '/deal.py')
    assert len(re.findall(r'^board \d+, copy 1, on FIRST: exact duplicate', out, re.M)) == len(w.deals), out
    refuses(w, sys.executable, folder + '/deal.py')


def test_shell(w):
    out = deals(w, 'sh', folder + '/deal.sh')
    assert '%d boards are recorded, 0 were void' % len(w.deals) in out, out
    assert re.search('^"FIRST": ".*"$', out, re.M), out
    refuses(w, 'sh', folder + '/deal.sh')


os.environ['PATH'] = os.path.dirname(os.path.abspath(dealbox)) + ':' + os.environ['PATH']
world = World(dealboxd, emulator, dealbox, set_file)
with tests_in(world) as tap:
    world.start_with('FIRST', '--speed', '0')
    for test in tests_of(globals()):
        tap.run(test, world)
