# SPDX-License-Identifier: LGPL-2.1-or-later
"""boot.py SET PACKAGES: the packages on a complete Debian, with a job open while they are upgraded.

PACKAGES is a folder with the packages, a later version of them in the folder `newer`, and
debian/tests in the folder `tests` (TAP).
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + '/../club')

from computer import Computer, run_tests  # noqa: E402
from harness import agree, tests_of, wait  # noqa: E402

set_file, packages = sys.argv[1:]
PROGRAMS = sorted(name.split('_')[0] for name in os.listdir(packages) if name.endswith('.deb'))


def debs(folder):
    return ' '.join('/root/packages/%s%s_*.deb' % (folder, name) for name in PROGRAMS)


def rights(c):
    return c.run('stat -c "%n %a %U:%G" /var/lib/dealbox /var/lib/dealbox/* /etc/dealbox/* | grep -v -e -wal -e -shm')


def owner(c, path):
    return c.run('stat -c "%a %G" ' + path).strip()


def pid(c):
    return c.run('systemctl show -P MainPID dealboxd').strip()


def upgrade_is(c, wanted):
    """apt-daily-upgrade.service, of which only the condition is of interest."""
    c.run('mkdir -p /run/systemd/system/apt-daily-upgrade.service.d && '
          'printf "[Service]\\nExecStartPre=\\nExecStart=\\nExecStart=/bin/touch /run/upgraded\\n" '
          '>/run/systemd/system/apt-daily-upgrade.service.d/test.conf && systemctl daemon-reload')
    c.ask('rm -f /run/upgraded; systemctl start apt-daily-upgrade')
    upgraded = c.ask('test -e /run/upgraded')[0] == 0
    assert upgraded == wanted, c.run('journalctl -u apt-daily-upgrade --no-pager')


def test_packages_are_installed(c):
    # a machine that was plugged in before
    c.run('modprobe vhci-hcd')
    c.add_emulator('OLD')
    c.plug('OLD')
    wait('the machine', lambda: c.ask('test -e /dev/dealbox0')[0] == 0)
    assert owner(c, '/dev/dealbox0') == '600 root'
    c.run('dpkg -i ' + debs(''))
    wait('the group to have it', lambda: owner(c, '/dev/dealbox0') == '660 dealbox')
    wait('the group to have it by USB', lambda: c.run(
        "find /dev/bus/usb -type c -group dealbox -perm 660").strip())
    c.unplug('OLD')
    wait('the machine to be gone', lambda: c.ask('test -e /dev/dealbox0')[0] != 0)
    assert c.run('id -gn dealboxd').strip() == 'dealbox'
    wait('the service', lambda: c.ask('systemctl is-active dealboxd')[0] == 0)
    # the bus knew its policy when it started
    assert c.run('systemctl show -P NRestarts dealboxd').strip() == '0', c.run('journalctl -u dealboxd --no-pager')
    assert c.run('systemctl is-enabled dealboxd').strip() == 'enabled'
    upgrade_is(c, True)


def test_of_debian_deals_through_the_module(c):
    """What autopkgtest would run."""
    c.run('cd /root/packages && tests/deal-module >/tmp/dealt 2>&1')
    text = c.run('cat /tmp/dealt')
    assert 'stored: three boards through the module' in text and 'routed: three boards' in text, text
    c.run('systemctl start dealboxd')


def test_a_job_begins(c):
    c.add_emulator('ONE', '--speed', '10', '--seed', '1')
    c.machines['ONE'].tell('inject deal 2 position 20: freeze')
    c.plug('ONE')
    wait('the machine', lambda: c.status().get('ONE', {}).get('present'))
    c.run('dealbox accept ONE')
    with open(set_file, 'rb') as file:
        c.put('/tmp/evening.pbn', file.read())
    c.run('(dealbox deal --boards 1-3 --session monday /tmp/evening.pbn; echo $? >/tmp/ended) >/tmp/dealt 2>&1 &')
    wait('the middle of a board', lambda: c.work() is not None and 'frozen 1' in c.machines['ONE'].tell('status'))


def test_unattended_upgrades_wait_for_the_job(c):
    upgrade_is(c, False)
    said = c.run('journalctl -u apt-daily-upgrade --no-pager')
    assert 'Open jobs of dealbox: 1' in said, said


def test_an_upgrade_leaves_the_service_and_the_ledger_alone(c):
    before = pid(c), rights(c), c.records()
    c.run('dpkg -i ' + debs('newer/'))
    assert (pid(c), rights(c)) == before[:2], (pid(c), rights(c), before[:2])
    records = c.records()
    assert records[:len(before[2])] == before[2]


def test_the_job_goes_on_after_a_restart_in_mid_board(c):
    c.run('systemctl restart dealboxd')
    c.machines['ONE'].tell('thaw')
    assert '/usr/libexec/dealboxd' == c.run('readlink /proc/%s/exe' % pid(c)).strip()
    wait('the job', lambda: c.work() is not None and c.ask('dealbox resume') and
         '"state":"done"' in c.run('dealbox jobs --json'))
    records = c.records()
    exact = [r for r in records if r['record'] == 'verdict' and r['outcome'] == 'exact']
    assert len(exact) == 3, exact
    wait('the boards to come out', lambda: c.work() is not None and agree(c.records(), c.account(), c.deals) == 3)
    upgrade_is(c, True)


def test_a_downgrade_is_refused(c):
    before = pid(c), rights(c)
    got, text = c.ask('dpkg -i ' + debs(''))
    assert got and 'Nothing was changed' in text, text
    assert c.run("dpkg-query -W -f '${Version}' dealboxd").endswith('+later')
    assert (pid(c), rights(c)) == before


def test_purging_leaves_the_ledger(c):
    c.unplug('ONE')
    key = c.run('sha256sum /var/lib/dealbox/ledger.key')
    text = c.run('dpkg -P ' + ' '.join(PROGRAMS))
    assert 'The ledger stays, in /var/lib/dealbox' in text, text
    assert c.run('sha256sum /var/lib/dealbox/ledger.key') == key
    assert c.run('stat -c %U /var/lib/dealbox/ledger').strip() == 'dealboxd'
    c.run('! pidof dealboxd && ! test -e /etc/dealbox && ! test -e /usr/lib/systemd/system/apt-daily-upgrade.service.d')


run_tests(Computer(set_file, '6.1', 'virtio_console', debian='packaged', packages=packages), tests_of(globals()))
