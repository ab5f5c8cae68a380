# SPDX-License-Identifier: LGPL-2.1-or-later
"""Play a story of the explorer with the emulator and a program that deals.

story.c has the list of its commands.
"""

import os
import re
import signal
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BUILT = os.path.join(TOP, 'build', 'user', 'tools')
os.environ.setdefault('DEALBOX', os.path.join(BUILT, 'dealbox', 'dealbox'))
os.environ.setdefault('DEALBOX_EMULATOR', os.path.join(BUILT, 'emulator', 'dealbox-emulator'))
os.environ.setdefault('DEALBOX_SOURCE', TOP)
sys.path.insert(0, os.path.join(TOP, 'tests', 'system', 'tool'))
from tool import SET, Box, Running, deals      # noqa: E402

CARDS = [suit + rank for suit in 'SHDC' for rank in 'AKQJT98765432']
FILLINGS = {
    'deck': CARDS, 'joker-first': ['joker1', *CARDS], 'joker-last': [*CARDS, 'joker1'],
    'spare': [*CARDS, CARDS[0]], 'short': CARDS[:-1], 'twice': [*CARDS[:-1], CARDS[25]],
}
CAPABILITIES = ['exit-sensors', 'double-feed-sensor', 'face-sensor', 'keys', 'by-card']


def commands(story):
    """Return the commands of a story: words of each."""
    return [line.split(None, 3)[2:] for line in story if line.split()[1:2] == ['play:']]


def end_of(story):
    return commands(story)[-1][1]


class Drive(Running):
    """The program, and what it has said."""

    def __init__(self, box, program, machine, job=None):
        super().__init__(box.start(
            [program, SET, os.path.join(box.folder, 'ledger'), machine.uri,
             *([job] if job else [])],
            stdin=-1, stdout=-1, stderr=-1))
        self.said, self.state, self.exact, self.done = [], None, [], False
        self.job = self.hear().split()[1]

    def hear(self):
        """Read the next line."""
        line = self.line()
        self.said.append(line)
        board = re.match(r'board (\d+), copy 1, insertion (\d+), exact', line)
        state = re.match(r'([a-z-]+):', line)
        if board:
            self.exact.append((int(board[1]), int(board[2])))
        elif line == 'done\n':
            self.done = True
        elif state and state[1] != 'said':
            self.state = state[1]
        return line

    def press(self, key):
        self.process.stdin.write(key + '\n')
        self.process.stdin.flush()


class Play:
    """One story. Each command is a method."""

    def __init__(self, box, program, story):
        rules = [rest for name, rest in story if name == 'rule']
        missing = [rest for name, rest in story if name == 'without']
        self.box, self.program = box, program
        self.machine = box.machine(
            '--manual', '--deck', box.write('deck', ' '.join(CARDS)),
            '--capabilities', ','.join(c for c in CAPABILITIES if c not in missing),
            scenario='\n'.join(rules) or '# no rule')
        self.drive = Drive(box, program, self.machine)
        self.begun = {}     # deals of each insertion that an earlier program had recorded
        self.output = []

    def rule(self, rest):
        pass

    without = rule

    def tell(self, command):
        if not command.startswith(('wait', 'inject', 'thaw')):
            self.acts()
        self.machine.tell(command)

    def fill(self, filling):
        self.acts()
        # what is stuck, and what lies on the table
        self.machine.tell('empty')
        self.machine.tell('hopper empty')
        self.machine.tell('hopper top ' + ' '.join(FILLINGS[filling]))

    def acts(self):
        """Whoever acts waits for a new state."""
        self.drive.state = None

    def see(self, state):
        while self.drive.state != state:
            self.drive.hear()

    def press(self, key):
        self.acts()
        self.drive.press(key)

    def kill(self, _):
        self.drive.stop(signal.SIGKILL)

    def boot(self, _):
        self.output += self.drive.said
        self.begun = {lay['insertion']: lay['deals'] for lay in self.machine.account()}
        self.drive = Drive(self.box, self.program, self.machine, self.drive.job)

    def never(self, why):
        raise AssertionError('it cannot be played: ' + why)

    def wrong(self):
        """Return what lies wrong in boards that were called exact."""
        lies = {lay['insertion']: lay['pockets'] for lay in self.machine.account()}
        hands = deals(SET)
        return [board for board, insertion in self.drive.exact
                if [sorted(pocket) for pocket in lies[insertion][:4]] != hands[board]]

    def end(self, how):
        """Return how it ended: when a board was called exact and is not, when all are dealt .."""
        while not self.drive.done:
            self.drive.hear()
            if self.wrong():
                return 'exact'
            if how == 'again' and self.drive.state == 'none':
                self.machine.tell('wait position 1')
            again = [lay for lay in self.machine.account()
                     if lay['deals'] > self.begun.get(lay['insertion'], lay['deals'])]
            if again:
                return 'again'
        return 'done' if all(lay['deals'] < 2 for lay in self.machine.account()) else 'twice'


def play(program, story):
    """Play a story with a program. Returns how it ended, and lines of what was seen."""
    words = [(name, rest[0] if rest else '') for name, *rest in commands(story)]
    started, here = [], os.getcwd()
    with tempfile.TemporaryDirectory(prefix='dealbox-') as folder:
        os.chdir(folder)
        game, end = None, 'nowhere'
        try:
            game = Play(Box(folder, started), program, words)
            for name, rest in words:
                end = getattr(game, name)(rest)
            seen = []
        except (AssertionError, OSError) as error:
            seen = ['# ' + line for line in str(error).splitlines()]
        finally:
            for process in started:
                process.kill()
                process.wait()
            os.chdir(here)
    if game:
        seen += ['# ' + line.rstrip() for line in game.output + game.drive.said]
    return end, seen
