# SPDX-License-Identifier: LGPL-2.1-or-later
"""
logind.py FILE: a logind for whom the process in each line "PID UID" of FILE is in that user's session,
and no other in any. While 'hang' stands in FILE it answers nothing.
"""
import sys
import time

import dbus
import dbus.service
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

ROOT = '/org/freedesktop/login1'


def sessions():
    words = ['hang']
    while 'hang' in words:
        with open(sys.argv[1]) as file:
            words = file.read().split()
        time.sleep(0.01 * ('hang' in words))
    return dict(zip(map(int, words[::2]), map(int, words[1::2])))


class NoUser(dbus.DBusException):
    _dbus_error_name = 'org.freedesktop.login1.NoUserForPID'


class Manager(dbus.service.Object):
    @dbus.service.method('org.freedesktop.login1.Manager', in_signature='u', out_signature='o')
    def GetUserByPID(self, pid):
        known = sessions()
        if pid not in known:
            raise NoUser('process %d is in no session' % pid)
        return '%s/user/_%d' % (ROOT, known[pid])


class Users(dbus.service.FallbackObject):
    @dbus.service.method('org.freedesktop.DBus.Properties', in_signature='ss', out_signature='v',
                         path_keyword='path')
    def Get(self, interface, name, path):
        assert (interface, name) == ('org.freedesktop.login1.User', 'UID')
        return dbus.UInt32(int(path.rsplit('_', 1)[1]))


DBusGMainLoop(set_as_default=True)
owner = dbus.service.BusName('org.freedesktop.login1', dbus.SystemBus())
Manager(dbus.SystemBus(), ROOT)
Users(dbus.SystemBus(), ROOT + '/user')
GLib.MainLoop().run()
