#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""dealbox-machine without lines and without USB: what it refuses; help, manual and completion agree."""
import os
import re
import subprocess
import sys
import tempfile

PROGRAM = os.environ["DEALBOX_MACHINE"]
SOURCE = os.environ["DEALBOX_SOURCE"]
count = 0
bad = False


def check(name, good, why=""):
    global count, bad
    count += 1
    bad |= not good
    print("%sok %d - %s" % ("" if good else "not ", count, name))
    if not good:
        print("#   %s" % (why,))


def run(*words):
    done = subprocess.run([PROGRAM, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=300)
    return done.returncode, done.stdout + done.stderr


def text_of(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout


def refused(name, status, text, *words):
    result = run(*words)
    check(name, result[0] == status and text in result[1], result)


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def ids(folder, vendor, product):
    write(os.path.join(folder, "idVendor"), vendor + "\n")
    write(os.path.join(folder, "idProduct"), product + "\n")


with tempfile.TemporaryDirectory() as folder:
    gadget = ("--gadget", folder, "--functionfs", folder, "--state", folder)
    wiring = os.path.join(folder, "wiring")
    with open(os.path.join(SOURCE, "docs/examples/machine.conf")) as file:
        # no chip of a computer that tests has this name
        example = file.read().replace("pinctrl-bcm2711", "no-such-chip")
    write(wiring, example)
    refused("a gadget that is not there", 3, "dealbox-machine-usb create", "--gadget", folder + "/none")
    ids(folder, "0x1209", "0x0001")
    refused("the ids for tests", 2, "1209:0001 is for tests", *gadget, "--wiring", wiring)
    check("... are refused before anything is written", not os.path.exists(folder + "/record"))
    refused("... and accepted for a test", 3, "no-such-chip", *gadget, "--wiring", wiring, "--test")
    ids(folder, "0x1209", "0x0002")
    refused("a product of the same vendor", 3, "no-such-chip", *gadget, "--wiring", wiring)
    write(folder + "/record", "x" * 100)
    refused("a record that was cut off", 3, "is damaged", *gadget, "--wiring", wiring)
    write(wiring, example.replace("hopper = 60", "hopper = many"))
    refused("a wiring that is wrong", 2, wiring + ":9: ", *gadget, "--wiring", wiring)
    refused("no wiring", 2, "No such file", *gadget, "--wiring", folder + "/none")
    os.remove(folder + "/record")
    write(wiring, example.replace("settle = 30", "settle = 400"))
    refused("the example, with the settle time to begin with", 3, "no-such-chip", *gadget, "--wiring", wiring)
    write(wiring, "#" * 70000)
    refused("a wiring that is too long", 2, "File too large", *gadget, "--wiring", wiring)
    done = subprocess.run([PROGRAM, "--learn", folder + "/learned"], input="many\n65\n13\nstop\n", text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    check("a wrong number is asked for again", done.stdout.count("does a pocket hold?") == 3, done.stdout)
    done = subprocess.run([PROGRAM, "--learn", folder + "/none/learned"], input="13\nstop\n", text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    check("a file that cannot be written is refused before anything is asked", done.returncode == 3 and
          "none/learned: No such file or directory" in done.stdout and "pocket" not in done.stdout, done.stdout)
    done = subprocess.run([PROGRAM, "--learn", folder + "/stopped"], input="stop\n", text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    check("who stops at once leaves no file", not [name for name in os.listdir(folder) if "stopped" in name],
          os.listdir(folder))
for words in (("--gate-deadline", "0"), ("--gate-deadline", "401"), ("--gate-deadline", "4x"), ("--gate-deadline", "-1"),
              ("--dialect", "sermon"), ("word",), ("--what",), ("--wiring",)):
    refused("wrong: " + " ".join(words), 2, words[-1], *words)

options = re.findall(r"^  --([\w-]+)(?: ([A-Z]+))?", text_of(PROGRAM, "--help"), re.M)
page = re.sub(".\x08", "", text_of("mandoc", "-T", "ascii", "-O", "width=500",
                                   os.path.join(SOURCE, "docs/man/dealbox-machine.8")))
written = re.findall(r"^ +--([\w-]+)(?: ([A-Z]+))?(?:$|  )", page, re.M)
check("the manual has the options of the help", sorted(written) == sorted(options), (written, options))
completed = text_of("bash", "-euc", r"""
source "$1"/tools/machine/completion.bash
COMP_WORDS=(dealbox-machine -) COMP_CWORD=1 COMPREPLY=()
_dealbox_machine "$2"
printf '%s\n' "${COMPREPLY[@]}"
""", "bash", SOURCE, PROGRAM).split()
check("the completion has them, too", completed == ["--" + name for name, _ in options], completed)
with open(os.path.join(SOURCE, "docs/build-a-machine.md")) as file:
    guide = file.read()
# of gpioset, and of dealbox deal
others = {"toggle", "boards"}
named = set(re.findall(r"(?<![\w-])--([a-z][a-z-]*)", guide)) - others
check("the guide names options that exist", named and named <= {name for name, _ in options}, named)
with open(os.path.join(SOURCE, "tools/machine/data/dealbox-machine-usb")) as file:
    script = file.read()
settings = {word for row in re.findall(r"^\| ([A-Z]+(?:, [A-Z]+)*) \|", guide, re.M) for word in row.split(", ")}
used = set(re.findall(r"\$\{([A-Z]+):", script))
check("the guide has the settings of the USB device", settings == used, (settings, used))
verbs = set(re.findall(r"dealbox-machine-usb ([a-z]+)`", guide))
check("... and what its program does", verbs and verbs <= {"create", "bind", "remove"}, verbs)
print("1..%d" % count)
sys.exit(bad)
