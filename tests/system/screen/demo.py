# SPDX-License-Identifier: LGPL-2.1-or-later
"""demo.py DEALBOXD EMULATOR DEALBOX SET WORDS.js [--once]: the operator's screen, with two emulated machines

Boards go in and out by themselves, and now and then something goes wrong. Ctrl-C ends everything; nothing is
left. --once ends as soon as the page can be opened, for tests.
"""
import os
import signal
import subprocess
import sys

from session import ScreenWorld, wait

MISHAPS = '''deal 2 position 20: misread
deal 4 position 9 times 2: unreadable
deal 5 position 30: jam gate
'''


def main():
    once = sys.argv[-1] == '--once'
    world = ScreenWorld(*sys.argv[1:6])
    try:
        with open(world.dir + '/mishaps', 'w') as file:
            file.write(MISHAPS)
        world.add_emulator('EMU1', '--speed', '2', '--scenario', world.dir + '/mishaps')
        world.add_emulator('EMU2', '--speed', '1')
        world.start()
        wait('the machines', lambda: len(world.machines()) == 2)
        number, boards = world.add_set('demo')
        world.add_job(number, list(range(1, boards + 1)), 2, automatic_start=True)
        print('The screen is at %s' % world.url)
        print('Ctrl-C ends it.', flush=True)
        if once:
            return
        if os.environ.get('DISPLAY') or os.environ.get('WAYLAND_DISPLAY'):
            subprocess.run(['xdg-open', world.url], check=False)
        signal.pause()
    except KeyboardInterrupt:
        print()
    finally:
        world.close()


signal.signal(signal.SIGTERM, signal.default_int_handler)
main()
