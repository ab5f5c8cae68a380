# SPDX-License-Identifier: LGPL-2.1-or-later
"""
polkit.py FILE: a polkit that denies the actions named in FILE and allows all others. While 'hang'
stands in FILE it answers nothing.
"""
import sys
import time

import dbus
import dbus.service
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib


class Authority(dbus.service.Object):
    @dbus.service.method('org.freedesktop.PolicyKit1.Authority',
                         in_signature='(sa{sv})sa{ss}us', out_signature='(bba{ss})')
    def CheckAuthorization(self, subject, action, details, flags, cancellation):
        denied = ['hang']
        while 'hang' in denied:
            with open(sys.argv[1]) as file:
                denied = file.read().split()
            time.sleep(0.01 * ('hang' in denied))
        return (action not in denied, False, dbus.Dictionary({}, signature='ss'))


DBusGMainLoop(set_as_default=True)
name = dbus.service.BusName('org.freedesktop.PolicyKit1', dbus.SystemBus())
Authority(dbus.SystemBus(), '/org/freedesktop/PolicyKit1/Authority')
GLib.MainLoop().run()
