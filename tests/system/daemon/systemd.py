# SPDX-License-Identifier: LGPL-2.1-or-later
"""systemd.py STATE: a systemd that says of the unit of dealboxd that it is in that state."""
import sys

import dbus
import dbus.service
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib


class Unit(dbus.service.Object):
    @dbus.service.method('org.freedesktop.DBus.Properties', in_signature='ss', out_signature='v')
    def Get(self, interface, name):
        assert (interface, name) == ('org.freedesktop.systemd1.Unit', 'ActiveState')
        return sys.argv[1]


DBusGMainLoop(set_as_default=True)
name = dbus.service.BusName('org.freedesktop.systemd1', dbus.SystemBus())
Unit(dbus.SystemBus(), '/org/freedesktop/systemd1/unit/dealboxd_2eservice')
GLib.MainLoop().run()
