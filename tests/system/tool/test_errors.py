#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every error message: what is wrong, where, and what to do next."""

import glob
import grp
import os
import re
import resource

from tool import DEALBOX, SET, SOURCE, Machine, assert_secret, main, test

GOOD = "AKQJT98765432... .AKQJT98765432.. ..AKQJT98765432. ...AKQJT98765432"


def pbn(*boards):
    """A PBN file; each board is (number or None, "hands of N E S W")."""
    text = ""
    for number, hands in boards:
        if number is not None:
            text += '[Board "%s"]\n' % number
        text += '[Deal "N:%s"]\n\n' % hands
    return text


def good_boards():
    with open(SET) as file:
        return re.findall(r'\[Deal "N:(.*)"\]', file.read())


def refused(box, content, *patterns, secret=True):
    """Input that cannot be dealt: exit 2, the words, no card, and the machine has not moved."""
    machine = box.machine()
    if content is not None:
        box.write("bad.pbn", content)
    result = box.dealbox("deal", "-m", machine.uri, "bad.pbn")
    result.expect(2, "bad.pbn", "nothing was dealt", *patterns)
    assert machine.status("deals") == "0"
    assert result.out == "", result
    if secret:
        assert_secret(result.err)
    return result


# ---- deal files -----------------------------------------------------------------

@test
def a_file_that_is_not_there(box):
    result = refused(box, None, "bad.pbn: .*No such file", "give the names of files with deals")
    assert "mend" not in result.err, result


@test
def a_name_that_a_terminal_would_obey(box):
    for name in ["no\33[2Jfile.pbn", "no\x9b2Jfile.pbn", "no\udc9b2Jfile.pbn"]:
        for words in (["check"], ["deal", "-m", "emu:nothing\33[2J"], ["unseal", "-k", "k", "-o", "o"], ["show"]):
            result = box.dealbox(*words, name)
            assert result.status in (1, 2, 3), (words, result)
            assert not re.search("[\33\x9b\udc9b]", result.out + result.err), (words, result)
    with open("bad\33[2J.pbn", "w") as file:
        file.write('[Board "1"]\n[Deal "N:x"]\n')
    result = box.dealbox("check", "bad\33[2J.pbn")
    assert result.status and "\33" not in result.err, result


@test
def an_empty_file(box):
    refused(box, "", "bad.pbn: .*empty")


@test
def a_binary_file(box):
    with open(DEALBOX, "rb") as file:
        refused(box, file.read(), r"bad\.pbn(:\d+)?: ")


@test
def a_folder(box):
    os.mkdir("bad.pbn")
    refused(box, None, "bad.pbn: .*(directory|folder)")


@test
def a_truncated_file(box):
    with open(SET, "rb") as file:
        whole = file.read()
    refused(box, whole[:whole.index(b"[Deal", len(whole) // 2) + 40], r"bad\.pbn:\d+: ")


@test
def a_file_of_a_gigabyte(box):
    """Refused at once: neither read to its end nor held in memory."""
    with open("bad.pbn", "wb") as file:
        file.write(b'[Board "1"]\n')
        file.truncate(1 << 30)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    refused(box, None, "bad.pbn: .*(large|big)")
    after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert after < max(before, 512 << 10), "%d kB" % after


def changed(change, board=3):
    """The hands of three boards, of which the last is changed."""
    hands = good_boards()[:3]
    hands[2] = change(hands[2])
    return pbn(*enumerate(hands, 1))


WHERE = r"bad\.pbn:8: board 3: "


def hand_of_12(hands):
    return re.sub(r"^([^ ]*?)[AKQJT2-9](\.)", r"\1\2", hands, count=1)


@test
def a_hand_of_12_cards(box):
    refused(box, changed(hand_of_12), WHERE + ".*12", WHERE + "(?i:.*north)")


@test
def a_card_twice(box):
    def twice(hands):
        north, east, south, west = hands.split()
        # the first rank of north's first suit that is not void, also in east's
        suits, others = north.split("."), east.split(".")
        suit = next(n for n in range(4) if suits[n] and others[n])
        others[suit] = suits[suit][0] + others[suit][1:]
        return " ".join((north, ".".join(others), south, west))

    refused(box, changed(twice), WHERE + "(?i:.*(twice|both|two hands).*)", "(?i:north)", "(?i:east)")
    box.dealbox("deal", "--reveal", "bad.pbn").expect(2, WHERE + r".*\b[SHDC][AKQJT2-9]\b")


@test
def rank_1(box):
    refused(box, changed(lambda hands: re.sub(r"[2-9T]", "1", hands, count=1)), WHERE)


@test
def five_hands(box):
    refused(box, changed(lambda hands: hands + " " + hands.split()[0]), WHERE + ".*5|five")


@test
def a_set_without_board_numbers(box):
    refused(box, pbn(*((None, hands) for hands in good_boards()[:2])), r"bad\.pbn:1: .*number")


@test
def two_deals_with_one_number(box):
    hands = good_boards()
    refused(box, pbn((1, hands[0]), (2, hands[1]), (1, hands[2])), r"bad\.pbn:8: board 1: ")


@test
def one_deal_on_two_boards(box):
    hands = good_boards()
    refused(box, pbn((1, hands[0]), (2, hands[1]), (3, hands[0])), r"bad\.pbn:8: board 3: .*board 1")


@test
def a_board_that_is_not_in_the_set(box):
    box.dealbox("deal", "-b", "1,99", SET).expect(2, "board 99 is not in the set", "dealbox check")


# ---- usage ------------------------------------------------------------------------

@test
def usage(box):
    for args, what in (
            (["deal"], "it needs a deal file"),
            (["deal", "--boards", "0", SET], "--boards needs board numbers such as 1-8,11, not '0'"),
            (["deal", "--boards", "3-1", SET], "--boards needs"),
            (["deal", "--boards", "1,", SET], "--boards needs"),
            (["deal", "--copies", "0", SET], "--copies needs a number from 1 to 99, not '0'"),
            (["deal", "--copies", "-1", SET], "--copies needs a number from 1 to 99, not '-1'"),
            (["deal", "--copies", "1x", SET], "--copies needs"),
            (["deal", "--copies"], "--copies needs an argument"),
            (["deal", "-c"], "-c needs an argument"),
            (["deal", "--nonsense"], "there is no option --nonsense"),
            (["deal", "--json=yes", SET], "there is no option --json=yes: it takes no argument"),
            (["deal", "-x"], "there is no option -x"),
            (["deal", "--resume", "--copies", "2"], "--resume takes boards and copies from the job"),
            (["monitor", "x"], "it takes no operand: 'x'"),
            (["completion", "fish"], "bash or zsh")):
        box.dealbox(*args).expect(2, re.escape(what), "dealbox help " + args[0])
    box.dealbox("nonsense").expect(2, "there is no command 'nonsense'", "dealbox help` lists")
    box.dealbox().expect(2, "no command given", "dealbox help` lists")
    box.dealbox("help", "nonsense").expect(2, "there is no command 'nonsense'")


@test
def an_answer_that_cannot_be_written(box):
    with open("/dev/full", "w") as full:
        result = box.start([DEALBOX, "help"], stdout=full, stderr=-1)
        _, err = result.communicate()
    assert result.returncode == 2 and "cannot write the output: No space left" in err, err


# ---- machines -----------------------------------------------------------------------

def everywhere(box, uri, *patterns):
    """The same words and status from every command that opens a machine."""
    for args in (["deal", "-m", uri, SET], ["monitor", "-m", uri]):
        box.dealbox(*args).expect(3, *patterns)
    box.dealbox("machines", uri).expect(3, *patterns)


@test
def no_address_of_a_machine(box):
    everywhere(box, "nonsense", "'nonsense' is not the address of a machine", "use local:/dev/dealbox0")


@test
def no_emulator(box):
    everywhere(box, "emu:" + box.folder + "/none", "no emulated machine listens at .*/none",
               "dealbox-emulator --socket")


@test
def not_a_machine(box):
    everywhere(box, "local:/dev/null", "/dev/null is not a dealing machine", "dealbox machines` lists")


@test
def no_permission(box):
    """Without the capabilities that let root in everywhere."""
    prefix = []
    if os.geteuid() == 0:
        prefix = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
    machine = box.machine()
    os.chmod(machine.path, 0)
    box.dealbox("machines", machine.uri, prefix=prefix).expect(
        3, "no permission for .*/machine: it belongs to .*, mode 0000",
        "start the emulator as the user that deals")
    node = box.write("node", "")
    os.chmod(node, 0)
    box.dealbox("monitor", "-m", "local:" + node, prefix=prefix).expect(
        3, "no permission for .*/node: it belongs to .*, mode 0000", "install the udev rule")
    # a group that may, of which the user is no member: the owner's rights count first
    os.chmod(node, 0o060)
    group = grp.getgrgid(os.stat(node).st_gid)
    box.dealbox("monitor", "-m", "local:" + node, prefix=prefix).expect(
        3, "mode 0060", "run `sudo adduser .* %s`, log out and in again" % group.gr_name
        if group.gr_gid else "install the udev rule")


@test
def a_machine_that_is_in_use(box):
    machine = box.machine("--manual")
    running = box.begin("deal", "-m", machine.uri, SET)
    running.see("Put in the empty board 1")
    everywhere(box, machine.uri, r"the machine is in use by dealbox \(process %d\)" %
               running.process.pid, "wait until it has finished, or end it")
    running.stop()


@test
def a_machine_that_is_unplugged(box):
    machine = box.machine("--manual")
    machine.tell("unplug")
    everywhere(box, machine.uri, "the machine is unplugged", "plug it in")


@test
def unplugged_while_it_is_watched(box):
    machine = box.machine("--manual")
    running = box.begin("monitor", "-m", machine.uri)
    assert "state lost" in running.line()
    machine.tell("unplug")
    running.finish().expect(3, "the machine is gone: unplugged or switched off", "plug it in")


USB = """\
P: /devices/pci0000:00/0000:00:14.0/usb1
N: bus/usb/001/001
E: DEVTYPE=usb_device
E: SUBSYSTEM=usb
E: DEVNAME=/dev/bus/usb/001/001
A: busnum=1
A: devnum=1
"""

DEVICE = """
P: /devices/pci0000:00/0000:00:14.0/usb1/1-%(port)s
N: bus/usb/001/00%(port)s
E: DEVTYPE=usb_device
E: SUBSYSTEM=usb
E: DEVNAME=/dev/bus/usb/001/00%(port)s
A: serial=%(serial)s
A: product=Model T
A: busnum=1
A: devnum=%(port)s

P: /devices/pci0000:00/0000:00:14.0/usb1/1-%(port)s/1-%(port)s:1.0
E: DEVTYPE=usb_interface
E: SUBSYSTEM=usb
L: driver=../../../../../../bus/usb/drivers/%(driver)s
A: bInterfaceClass=ff
A: bInterfaceSubClass=44
A: bInterfaceProtocol=01
A: bInterfaceNumber=00
"""

NODE = """
P: /devices/pci0000:00/0000:00:14.0/usb1/1-%(port)s/1-%(port)s:1.0/dealbox/dealbox%(minor)s
N: dealbox%(minor)s
E: SUBSYSTEM=dealbox
E: DEVNAME=/dev/dealbox%(minor)s
"""


def plugged(box, *devices):
    """Runs dealbox on a computer where these devices are plugged in."""
    text = USB
    for device in devices:
        text += DEVICE % device
        if "minor" in device:
            text += NODE % device
    # its preloaded library comes before that of the address sanitizer
    box.env["ASAN_OPTIONS"] = box.env.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
    return ["umockdev-run", "-d", box.write("devices.umockdev", text), "--"]


def device(port, serial="A17", driver="none", **more):
    return dict(port=port, serial=serial, driver=driver, **more)


@test
def no_machine(box):
    prefix = plugged(box)
    box.dealbox("machines", prefix=prefix).expect(
        1, "no dealing machine is plugged in", "plug the machine in and switch it on; `lsusb` must")
    box.dealbox("deal", SET, prefix=prefix).expect(3, "no dealing machine is plugged in")
    box.dealbox("deal", "-m", "usb:A17", SET, prefix=prefix).expect(
        3, "there is no machine 'A17' on USB", "dealbox machines` lists")


@test
def module_not_loaded(box):
    prefix = plugged(box, device(2))
    box.dealbox("deal", "-m", "local:/dev/dealbox0", SET, prefix=prefix).expect(
        3, "a machine is at port 1-2, but its kernel module is not loaded",
        "run `sudo modprobe dealbox`; or use usb:1-2, which needs no module")


@test
def machines_on_usb(box):
    """By serial number, or by port where two have the same; those of the module by their node."""
    lines = box.dealbox("machines", "--json", prefix=plugged(
        box, device(2, "X"), device(3, "TWIN"), device(4, "TWIN"), device(5, ""),
        device(6, "K", "dealbox", minor=0))).expect(0).json()
    assert [line["uri"] for line in lines] == \
        ["local:/dev/dealbox0", "usb:1-3", "usb:1-4", "usb:1-5", "usb:X"], lines
    assert lines[0]["serial"] == "K" and lines[0]["port"] == "1-6", lines
    assert lines[4]["serial"] == "X" and lines[4]["port"] == "1-2", lines
    assert all(line["model"] == "Model T" for line in lines), lines


@test
def versions_of_a_machine(box):
    """Binary numbers: 010a hex is not 1.0a or 1.a"""
    machine = box.machine(scenario="on descriptor config always: set 22 0a01\n"
                                   "on request GET_INFO always: set 0 0a01\n"
                                   "on request GET_INFO always: set 4 2c010a01")
    line, = box.dealbox("machines", "--json", machine.uri).expect(0).json()
    assert line["protocol"] == "1.10" and line["firmware"] == "1.10.300", line
    box.dealbox("machines", machine.uri).expect(0, "protocol 1.10, firmware 1.10.300, hardware 1")


@test
def a_machine_of_another_major_version(box):
    """None is spoken that is not known, also no lower one."""
    for major in "00", "02":
        machine = box.machine(name="of" + major, scenario="on descriptor config always: set 23 " + major)
        box.dealbox("machines", machine.uri).expect(
            3, "the machine's descriptor does not match protocol 1.1")


@test
def which_of_several_machines(box):
    prefix = plugged(box, device(2, "TWIN"), device(3, "TWIN"))
    box.dealbox("deal", SET, prefix=prefix).expect(
        3, "there are 2 machines, and none was named", "name one; `dealbox machines` lists them")
    box.dealbox("deal", "-m", "usb:TWIN", SET, prefix=prefix).expect(
        3, "2 machines are 'TWIN'", "name one by its port")


# ---- the ledger ---------------------------------------------------------------------

@test
def a_damaged_ledger(box):
    machine = box.machine("--manual")
    running = box.begin("deal", "-m", machine.uri, SET)
    running.see("Put in")
    running.stop()
    path = os.path.join(box.folder, "state/dealbox/ledger")
    with open(path, "rb") as file:
        good = file.read()
    for bad in (b"", good[:len(good) // 2], good.replace(b"2", b"3")):
        box.write(path, bad)
        box.dealbox("deal", "-m", machine.uri, "--resume").expect(2, "ledger", "says what is damaged")
    os.unlink(path)
    box.dealbox("deal", "-m", machine.uri, SET).expect(2, "the ledger is gone, but its key is there")


@test
def one_program_at_a_time(box):
    one, two = box.machine("--manual", name="one"), box.machine("--manual", name="two")
    running = box.begin("deal", "-m", one.uri, SET)
    running.see("Put in")
    box.dealbox("deal", "-m", two.uri, SET).expect(
        2, "another program writes to this ledger", "wait until it has")
    running.stop()


@test
def a_ledger_that_cannot_be_kept(box):
    machine = box.machine("--manual")
    box.env["XDG_STATE_HOME"] = "/proc/nowhere"
    box.dealbox("deal", "-m", machine.uri, SET).expect(
        2, "cannot make the folder /proc/nowhere/dealbox", "set XDG_STATE_HOME")
    assert machine.status("deals") == "0"


main()
