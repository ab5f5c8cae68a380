# SPDX-License-Identifier: LGPL-2.1-or-later
"""A world of tests/system/daemon (a service, emulated machines) with Cockpit in front of it."""
import os
import shutil
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../daemon'))
from browser import copy_package    # noqa: E402
from harness import World, wait     # noqa: E402

# Debian 12 has it in lib, later ones in libexec
COCKPIT_WS = [path for path in ('/usr/lib/cockpit/cockpit-ws', '/usr/libexec/cockpit-ws') if os.path.exists(path)]


def free_port():
    with socket.socket() as one:
        one.bind(('127.0.0.1', 0))
        return one.getsockname()[1]


class ScreenWorld(World):
    """The page is a copy of the sources; Cockpit's session is that of the user who runs this."""
    settings = ''       # more of dealboxd.conf

    def write_config(self, more=''):
        super().write_config(more + self.settings)

    def __init__(self, dealboxd, emulator, dealbox, set_file, words):
        super().__init__(dealboxd, emulator, dealbox, set_file)
        copy_package(words, self.dir + '/share/cockpit/dealbox')
        shutil.rmtree(self.dir + '/config', ignore_errors=True)
        os.makedirs(self.dir + '/config/cockpit')
        with open(self.dir + '/config/cockpit/cockpit.conf', 'w') as file:
            file.write('[WebService]\nAllowUnencrypted = true\n')
        self.port = free_port()
        environment = dict(os.environ,
                           XDG_DATA_DIRS=self.dir + '/share:/usr/share',
                           XDG_CONFIG_DIRS=self.dir + '/config',
                           DBUS_SESSION_BUS_ADDRESS=os.environ['DBUS_SYSTEM_BUS_ADDRESS'],
                           PATH=os.path.dirname(dealbox) + ':' + os.environ['PATH'])
        self.cockpit = self.spawn([*COCKPIT_WS[:1], '--local-session=/usr/bin/cockpit-bridge', '-a', '127.0.0.1',
                                   '-p', str(self.port), '--no-tls'],
                                  env=environment, stdout=open(self.dir + '/cockpit.log', 'w'),
                                  stderr=open(self.dir + '/cockpit.err', 'w'))
        wait('Cockpit', self.answers)
        self.url = 'http://127.0.0.1:%d/cockpit/@localhost/dealbox/index.html' % self.port

    def answers(self):
        with socket.socket() as one:
            return not one.connect_ex(('127.0.0.1', self.port))
