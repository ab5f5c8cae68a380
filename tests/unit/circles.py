#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""circles.py LIBRARY: tests that in no room the calls between files form a circle (TAP).

LIBRARY is a static library, with the names that meson gives to objects: ROOM_FILE.c.o. Includes are
checked by tests/infra/style; calls and tables here, as the linker sees them.
"""
import collections
import graphlib
import subprocess
import sys


def symbols(library):
    """Return {room: {file: (defined, used)}}."""
    rooms = collections.defaultdict(lambda: collections.defaultdict(lambda: (set(), set())))
    lines = subprocess.run(['nm', '-A', '--extern-only', library], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    for line in lines:
        place, _, rest = line.rpartition(':')
        kind, name = rest.split()[-2:]
        # nm gives the path of an object that the library only refers to
        name_of_object = place.rpartition(':')[2].rpartition('/')[2]
        room, _, file = name_of_object.removesuffix('.c.o').partition('_')
        if file and room != 'meson-generated':
            rooms[room][file][kind in 'Uvw'].add(name)
    return rooms


def main():
    rooms = symbols(sys.argv[1])
    print(f'1..{len(rooms)}')
    failed = not rooms
    for n, (room, files) in enumerate(sorted(rooms.items()), 1):
        owner = {name: file for file, (defined, _) in files.items() for name in defined}
        calls = {file: {owner[name] for name in used if name in owner} - {file}
                 for file, (_, used) in files.items()}
        circle = None
        try:
            graphlib.TopologicalSorter(calls).prepare()
        except graphlib.CycleError as error:
            circle = error.args[1]
        print(f'{"not " if circle else ""}ok {n} - no circle in lib/{room}, of {len(files)} files')
        if circle:
            failed = True
            for called, caller in zip(circle, circle[1:]):
                names = sorted(name for name in files[caller][1] if owner.get(name) == called)
                print(f'#   {caller} calls {called}: {", ".join(names)}')
    return failed


sys.exit(main())
