# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shared by the tests of the command: the emulated machine, and calls of dealbox."""

import contextlib
import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback

import json_page

DEALBOX = os.environ["DEALBOX"]
EMULATOR = os.environ["DEALBOX_EMULATOR"]
SOURCE = os.environ["DEALBOX_SOURCE"]
SET = os.path.join(SOURCE, "docs/examples/club-evening.pbn")
TIMEOUT = 300           # seconds after which a test has hung, however busy the computer is
_tests = []


def test(function):
    _tests.append(function)
    return function


def main():
    """Runs every test of the script, each in a folder of its own."""
    failed = False
    print("1..%d" % len(_tests))
    for number, function in enumerate(_tests, 1):
        folder = tempfile.mkdtemp(prefix="dealbox-")
        started = []
        here = os.getcwd()
        os.chdir(folder)
        try:
            function(Box(folder, started))
            print("ok %d - %s" % (number, function.__name__.replace("_", " ")))
        except Skip as why:
            print("ok %d - %s # SKIP %s" % (number, function.__name__.replace("_", " "), why))
        except Exception:
            failed = True
            print("not ok %d - %s" % (number, function.__name__.replace("_", " ")))
            print("\n".join("# " + line for line in traceback.format_exc().splitlines()))
        finally:
            for process in started:
                process.kill()
                process.wait()
            os.chdir(here)
            shutil.rmtree(folder)
        sys.stdout.flush()
    sys.exit(failed)


class Skip(Exception):
    """The test cannot run here: data of others are missing."""


class Result:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    def __str__(self):
        return "status %s\n--- out\n%s--- err\n%s---" % (self.status, self.out, self.err)

    def json(self):
        return [json.loads(line) for line in self.out.splitlines()]

    def expect(self, status, *patterns):
        """The status, and patterns that must stand in what was written."""
        assert self.status == status, "status %s was expected: %s" % (status, self)
        for pattern in patterns:
            assert re.search(pattern, self.out + self.err), "%r is missing: %s" % (pattern, self)
        return self


class Running:
    """A running dealbox."""

    def __init__(self, process, args=()):
        self.process = process
        self.args = args
        self.read = ""          # and not given to line() yet

    def answer(self, question):
        """Presses Enter at each line with that, until it has ended."""
        text = ""
        hung = threading.Timer(TIMEOUT, self.process.kill)
        hung.start()
        for line in self.process.stdout:
            text += line
            if question in line:
                # a question may be the last thing that it writes: it does not wait for the answer
                with contextlib.suppress(BrokenPipeError):
                    self.process.stdin.write("\n")
                    self.process.stdin.flush()
        hung.cancel()
        self.read += text
        return self.finish()

    def see(self, pattern):
        """The next line that fits; states that come on the way are left out, but nothing is decided there."""
        while not re.search(pattern, line := self.line()):
            assert not re.search("exact duplicate|: void: |^(void|stands): ", line), "%r, not %r" % (line, pattern)
        return line

    def put_in(self, machine, number=""):
        """It asks for an empty board, and somebody puts one in."""
        self.see("Put in (the|any) empty board")
        machine.tell(("insert %s" % number).strip())

    def empty(self, machine):
        """It is asked whether the board is empty, and somebody presses start."""
        self.see("is empty")
        machine.tell("key start")

    def under_way(self, machine):
        """The first deal has begun; who is asked whether the board is empty has looked."""
        while int(machine.status("deals")) == 0:
            if "\n" in self.read or select.select([self.process.stdout], [], [], 0.05)[0]:
                if "is empty" in self.line():
                    machine.tell("key start")

    def finish(self, keys=None):
        try:
            out, err = self.process.communicate(keys, timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            out, err = self.process.communicate()
            raise AssertionError("it hung: %s" % Result("none", out, err)) from None
        json_page.check(self.args, self.read + out)
        return Result(self.process.returncode, self.read + out, err)

    def stop(self, number=signal.SIGINT):
        self.process.send_signal(number)
        return self.finish()

    def line(self):
        """The next line that it writes."""
        stdout = self.process.stdout.fileno()
        while "\n" not in self.read:
            ready, _, _ = select.select([stdout], [], [], TIMEOUT)
            assert ready, "it writes nothing more than %r" % self.read
            chunk = os.read(stdout, 4096).decode()
            assert chunk, "it ended: %s" % self.finish()
            self.read += chunk
        line, self.read = self.read.split("\n", 1)
        return line + "\n"


class Machine:
    """A dealbox-emulator, and its control socket."""

    def __init__(self, box, name, options):
        self.path = os.path.join(box.folder, name)
        self.uri = "emu:" + self.path
        self.manual = "--manual" in options
        self.process = box.start([EMULATOR, "--socket", self.path, "--control", self.path + ".control",
                                  "--account", self.path + ".account", *options],
                                 stdout=subprocess.PIPE)
        assert "ready" in self.process.stdout.readline()
        self.control = socket.socket(socket.AF_UNIX)
        self.control.settimeout(TIMEOUT)
        self.control.connect(self.path + ".control")
        self.answers = self.control.makefile()

    def tell(self, command):
        self.control.sendall((command + "\n").encode())
        answer = self.answers.readline().strip()
        assert answer.startswith("ok"), "%s: %s" % (command, answer)
        return answer

    def status(self, name):
        words = self.tell("status").split()
        return words[words.index(name) + 1]

    def account(self):
        """Return the contents of each board that was taken out, and of the present one."""
        boards = []
        # nobody takes the board out between one look and the other
        self.tell("operator off")
        if os.path.exists(self.path + ".account"):
            with open(self.path + ".account") as file:
                boards = [json.loads(line) for line in file]
        if self.status("insertion") != "0":
            boards.append(json.loads(self.tell("account")[3:]))
        if not self.manual:
            self.tell("operator on")
        return boards


class Box:
    """One test: its folder, and what it starts."""

    def __init__(self, folder, started):
        self.folder = folder
        self.started = started
        self.env = dict(os.environ, XDG_STATE_HOME=os.path.join(folder, "state"))

    def start(self, command, **options):
        process = subprocess.Popen(command, text=True, env=self.env, **options)
        self.started.append(process)
        return process

    def machine(self, *options, name="machine", speed="0", scenario=None):
        if scenario:
            options += ("--scenario", self.write(name + ".scenario", scenario + "\n"))
        # the ledger knows machines by their serial numbers
        if name != "machine":
            options += ("--serial", name)
        return Machine(self, name, ["--seed", "1", "--speed", speed, *options])

    def write(self, name, content):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return path

    def begin(self, *args, prefix=(), stdin=subprocess.DEVNULL, **options):
        return Running(self.start([*prefix, DEALBOX, *args], stdin=stdin, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, **options), args)

    def dealbox(self, *args, **options):
        return self.begin(*args, **options).finish()

    def deal(self, *args):
        """Deal to the end, with an operator who confirms that a board is empty."""
        return self.begin("deal", *args, stdin=subprocess.PIPE).answer("is empty")

    def records(self, kind=None):
        """The records of the ledger, or those of a kind."""
        out = self.dealbox("ledger", "export", "-l", os.path.join(self.folder, "state/dealbox/ledger")).expect(0).out
        return [record for record in map(json.loads, out.splitlines()) if kind in (None, record["record"])]

    def outcomes(self):
        return [record["outcome"] for record in self.records("verdict")]


def deals(path):
    """The deals of a PBN file, by board: for each seat the numbers of its cards."""
    boards, board = {}, None
    with open(path) as file:
        for line in file:
            match = re.match(r'\[(Board|Deal) "(.*)"\]', line)
            if match and match[1] == "Board":
                board = int(match[2])
            elif match:
                first, hands = match[2].split(":")
                hands = [sorted(13 * suit + "AKQJT98765432".index(rank)
                                for suit, ranks in enumerate(hand.split("."))
                                for rank in ranks) for hand in hands.split()]
                turn = "NESW".index(first)
                boards[board] = hands[4 - turn:] + hands[:4 - turn]
    return boards


def assert_exact(account, board, path=SET):
    """Check that the physical contents of the pockets are the deal of that board."""
    assert [sorted(pocket) for pocket in account["pockets"][:4]] == deals(path)[board], \
        "board %d is not exact: %s" % (board, account)


CARD = re.compile(r"\b([SHDC](10|[AKQJT2-9])\b|(?i:(ace|king|queen|jack|ten|nine|eight|seven|six|five|"
                  r"four|three|two) of)|[AKQJT98765432-]+\.[AKQJT98765432-]*\.[AKQJT98765432-]*\.)")


def assert_secret(text):
    match = CARD.search(text)
    assert not match, "a card is told: %r in %s" % (match[0], text)
