#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Steps at the machine: what a person is told on a terminal, and fixtures that misbehave."""

import gettext
import io
import os
import pty
import re
import select
import signal
import subprocess

from bench import EMULATOR, Bench, Tap

SOURCE, GPIO = os.environ["SOURCE"], os.environ["FIXTURE_GPIO"]
# for a program that hangs; everything here ends by itself
PATIENCE = 120
CONTROL_C = b"\x03"

tap = Tap()


def steps():
    """Return {sentence: words} of steps.c, and the two prompts."""
    with open(os.path.join(SOURCE, "tools", "compliance", "steps.c")) as file:
        source = file.read()
    return (dict((text, words) for words, text in re.findall(r'\{ "([a-z -]+)", N_\("([^"]+)"\)', source)),
            re.findall(r'^\tN_\("([^"]+)"\)', source, re.M))


def translations(language):
    if language == "en":
        return gettext.NullTranslations()
    done = subprocess.run(["msgfmt", "-o", "-", os.path.join(SOURCE, "po", language + ".po")],
                          stdout=subprocess.PIPE, check=True)
    return gettext.GNUTranslations(io.BytesIO(done.stdout))


class Terminal:
    """A program on a terminal of its own, and a person who reads it."""

    def __init__(self, command):
        self.text = b""
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.execv(command[0], command)

    def read(self):
        """Read on. Returns False at the end."""
        if not select.select([self.fd], [], [], PATIENCE)[0]:
            os.kill(self.pid, signal.SIGKILL)
        try:
            got = os.read(self.fd, 4096)
        except OSError:
            got = b""
        self.text += got
        return bool(got)

    def step(self, prompts):
        """Wait for a step. Returns its sentence, None at the end of the program."""
        while True:
            text = self.text.decode("utf-8", "replace")
            for prompt in prompts:
                before, found, behind = text.partition(prompt)
                if found:
                    self.text = behind.encode()
                    return before.rpartition(">>> ")[2].strip()
            if not self.read():
                return None

    def answer(self, keys):
        os.write(self.fd, keys)

    def end(self):
        while self.read():
            pass
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def tell(bench, words):
    return subprocess.run([EMULATOR, "--tell", bench.control, *words.split()], stdout=subprocess.PIPE).returncode == 0


SENTENCES, PROMPTS = steps()
for language in ("en", "nb", "el", "fr", "ru"):
    said = translations(language)
    known = {said.gettext(text): words for text, words in SENTENCES.items()}
    prompts = [said.gettext(prompt) for prompt in PROMPTS]
    tap.check("%s: each step has a sentence of its own" % language,
              len(known) == len(SENTENCES) and (language == "en" or not set(known) & set(SENTENCES)))
    with Bench("--packs", "1") as bench:
        # the lamp takes 3 s, in whatever language
        tests = ["events/happenings", "dealing/capture"] + ["events/lamp"] * (language == "en")
        terminal = Terminal(bench.command("--lang", language, *(word for test in tests for word in ("--only", test)),
                                          hands=None))
        strange, count = [], 0
        while (sentence := terminal.step(prompts)) is not None:
            count += 1
            words = known.get(sentence)
            strange += [] if words else [sentence]
            terminal.answer(b"\n" if words and tell(bench, words) else b"s\n")
        status = terminal.end()
        report = bench.report(status)
        tap.check("%s: a person understands each step" % language, not strange and count > 10, (strange, count))
        tap.check("%s: and does it" % language, status == 0 and [test["result"] for test in report.tests] == ["ok"] * len(tests),
                  (status, report.why(), [test["why"] for test in report.tests]))

with Bench() as bench:
    terminal = Terminal(bench.command("--only", "events/happenings", "--only", "queries", hands=None))
    while b"queries/" not in terminal.text and terminal.read():
        pass
    tap.check("a terminal sees the progress", re.search(rb"\r\x1b\[K\d+/\d+ queries/", terminal.text), terminal.text)
    sentence = terminal.step(PROMPTS)
    terminal.answer(CONTROL_C)
    status = terminal.end()
    report = bench.report(status)
    tap.check("Ctrl-C while a person is asked ends with a report", status == 130 and not report.whole["complete"] and
              report.tests[-1]["why"] == "the run was interrupted", (sentence, status))
    tap.check("which has what was done", {test["result"] for test in report.tests} == {"ok", "not run"},
              {test["result"] for test in report.tests})

# A test that took the configuration away, and then needs what nobody does, leaves the machine to the next one.
with Bench() as bench:
    terminal = Terminal(bench.command("--only", "events/unconfigured", "--only", "events/clock", "--only", "queries",
                                      hands=None))
    while terminal.step(PROMPTS) is not None:
        terminal.answer(b"s\n")
    report = bench.report(terminal.end())
    tap.check("who skips a step finds no fault", report.status == 0 and
              {test["result"] for test in report.tests} == {"ok", "not run"}, report.why())

# Interrupted in a deal: the machine is not left dealing.
with Bench("--speed", "1", manual=False) as bench:
    process = bench.start("--only", "dealing/by-card", hands=False)
    tell(bench, "wait position 5")
    process.send_signal(signal.SIGINT)
    report = bench.end(process)
    tap.check("SIGINT in a deal ends with a report", report.status == 130 and report.tests[0]["result"] == "not run",
              (report.status, report.err))
    tap.check("and the deal is over", tell(bench, "wait state IDLE"))

# --- fixtures ------------------------------------------------------------------------------------


def fixture(bench, script, *options, hands=None):
    path = os.path.join(bench.folder.name, "fixture")
    with open(path, "w") as file:
        file.write("#!/bin/bash\n" + script)
    os.chmod(path, 0o700)
    return bench.run("--fixture", path + " argument", *(options or ("--only", "events/happenings")), hands=hands)


# all steps are done by a script of three lines
SCRIPT = """[ "$1" = argument ] || exit
exec 3<>/dev/null
while read -r step; do "%s" --tell "%s" "$step"; done
"""
with Bench() as bench:
    report = fixture(bench, SCRIPT % (EMULATOR, bench.control))
    tap.check("a script is a fixture", report.status == 0 and report.tests[0]["result"] == "ok", report.why())

for name, script, why in (
        ("it leaves a step to a person, and there is none", "read s; echo ok; while read s; do echo ask; done",
         "the fixture leaves it to a person"),
        ("it cannot do a step", "read s; echo ok; while read s; do echo error: no actuator; done",
         "error: no actuator"),
        ("it ends", "read s; echo ok", "the fixture did not answer")):
    with Bench() as bench:
        report = fixture(bench, script, "--unattended", "--only", "events/happenings")
        tap.check("%s: that is told" % name, report.status == 0 and report.tests[0]["result"] == "not run" and
                  why in report.tests[0]["why"], (report.status, report.tests and report.tests[0]["why"], report.err))

with Bench() as bench:
    process = bench.start("--only", "events/happenings", "--fixture", "sh -c read${IFS}s;echo${IFS}ok;sleep${IFS}inf",
                          hands=None)
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    report = bench.end(process)
    tap.check("one that hangs can be interrupted", report.status == 130 and report.whole, (report.status, report.err))

with Bench() as bench:
    for name, options, text in (("a fixture that does not exist", ("--fixture", "/nowhere/at all"), "/nowhere/at all"),
                                ("one that ends at once", ("--fixture", "true"), "begin"),
                                ("no socket", ("--emulator", "/nowhere"), "dealbox-emulator --control")):
        report = bench.run(*options, hands=None)
        tap.check("%s: no machine is touched" % name, report.status == 3 and text in report.err and not report.out,
                  (report.status, report.err))
    # of relays and actuators, without any: fixture-inside has those
    wiring = os.path.join(bench.folder.name, "wiring.ini")
    for name, text, steps_, answers, status, err in (
            ("a step that waits", "[steps]\ninsert = wait 1\n", "begin\ninsert\nremove\n", "ok\nok\nask\n", 0, ""),
            ("a wrong wiring", "[lines]\na = b\n", "begin\n", "", 2, wiring + ":2: a: the chip and the line"),
            ("a chip that is not there", "[lines]\na = nochip 1\n[steps]\ninsert = a on\n", "begin\n", "", 3,
             "a: /dev/nochip: No such file")):
        with open(wiring, "w") as file:
            file.write(text)
        done = subprocess.run([GPIO, wiring], input=steps_, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        tap.check("dealbox-fixture-gpio: %s" % name, (done.returncode, done.stdout) == (status, answers) and
                  err in done.stderr, done)
    report = bench.run("--fixture", "%s %s" % (GPIO, wiring), hands=None)
    tap.check("its error is shown, and no machine is touched", report.status == 3 and "/dev/nochip" in report.err,
              report.err)
    report = bench.run("--fixture", "true")
    tap.check("two fixtures are too many", report.status == 2, report.err)
tap.end()
