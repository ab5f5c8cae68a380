#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Deals a file by the service: deal.py club-evening.pbn monday

Ends when the last board is dealt; says each verdict. Debian's python3-dbus and python3-gi.
"""
import os
import sys

import dbus
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

if len(sys.argv) != 3:
    sys.exit("usage: %s FILE SESSION" % sys.argv[0])

DBusGMainLoop(set_as_default=True)
bus = dbus.SystemBus()
loop = GLib.MainLoop()
job = None


def on_verdict(board, copy, machine, insertion, exact, facts, path=None):
    if path == job:
        print("board %d, copy %d, on %s: %s" % (board, copy, machine, facts["text"]), flush=True)


def on_finished(path=None):
    if path == job:
        loop.quit()


# listen first, so that nothing is missed
for signal, function in (("Verdict", on_verdict), ("Finished", on_finished)):
    bus.add_signal_receiver(function, signal, "io.dealbox1.Job", "io.dealbox1", path_keyword="path")

manager = dbus.Interface(bus.get_object("io.dealbox1", "/io/dealbox1"), "io.dealbox1.Manager")
try:
    with open(sys.argv[1], "rb") as file, os.fdopen(os.memfd_create("set"), "wb") as memory:
        memory.write(file.read())               # the deals cross in memory; "" is bridge
        memory.flush()
        number, boards = manager.AddSet(dbus.types.UnixFd(memory), sys.argv[2], "")
    print("set %d: %d boards" % (number, boards))
    job = manager.AddJob(number, dbus.Array(range(1, boards + 1), "u"), dbus.UInt32(1),
                         {"automatic-start": True})
except (OSError, dbus.DBusException) as error:
    sys.exit(str(error))
loop.run()
