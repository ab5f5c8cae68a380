# SPDX-License-Identifier: LGPL-2.1-or-later
"""evening.py SET: an installed dealbox, on a complete Debian (TAP).

systemd, udev, D-Bus, polkit, the journal, the ledger and the module; three machines, of which two
are unplugged in the middle of a board. Everything that people could see is searched for cards.
"""
import json
import os
import re
import subprocess
import sys

from computer import TOP, Computer, run_tests
from harness import agree, tests_of, wait

set_file = sys.argv[1]
SEEN = '/run/seen'      # everything that people could see is collected here


def unit(c, *properties):
    text = c.run('systemctl show dealboxd ' + ' '.join('-p ' + p for p in properties))
    return dict(line.split('=', 1) for line in text.splitlines())


def test_starts_without_a_failure(c):
    assert c.run('systemctl is-system-running --wait || true').strip() == 'running', \
        c.run('systemctl --failed --no-pager')


def test_make_install_tells_the_system_all(c):
    """PREFIX is /usr/local: systemd, udev and D-Bus find the files of dealbox there."""
    c.run('sh -e /activate')
    assert c.run('id -un dealboxd; id -gn dealboxd') == 'dealboxd\ndealbox'
    assert c.run('stat -c "%U %a" /etc/dealbox/dealboxd.conf') == 'root 644'
    assert 'io.dealbox1' in c.run('busctl list --activatable')
    for action in ('deal', 'manage', 'reveal'):
        c.run('pkaction --action-id io.dealbox1.' + action)
    assert 'dealbox emulator' in c.run('systemd-hwdb query usb:v1209p0001d0100dc00dsc00dp00icFFisc44ip01in00')
    assert 'exact' in c.run('journalctl --dump-catalog 3c1f0d8b5ab84f0f9b9e0f3e5b0f6a05')
    c.run('dealbox --version')
    c.run('useradd -m -G dealbox alice && useradd -m bob')
    assert 'inactive' in c.run('systemctl is-active dealboxd', 3)


def test_look_at_everything_from_here_on(c):
    """The journal, the kernel log, all D-Bus traffic and all processes; searched at the end."""
    c.run('mkdir -m 700 %s; echo everything from here on >/dev/kmsg; journalctl --sync; '
          'journalctl -n 0 --show-cursor -q | sed "s/^-- cursor: //" >%s/cursor' % (SEEN, SEEN))
    c.run('dbus-monitor --system >%s/traffic 2>&1 &' % SEEN)
    c.run('(while :; do cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ; sleep 1; done 2>/dev/null | '
          'tr "\\\\0" "\\\\n" >%s/processes) >/dev/null 2>&1 &' % SEEN)
    wait('the monitor', lambda: c.ask('test -s %s/traffic' % SEEN)[0] == 0)


def test_a_machine_that_is_plugged_in_starts_the_service(c):
    """The service is not enabled: the udev rule starts it."""
    c.run('modprobe vhci-hcd && udevadm settle')
    c.add_emulator('ONE', '--speed', '10', '--seed', '1')
    c.plug('ONE')
    wait('the service', lambda: c.ask('systemctl is-active dealboxd')[0] == 0)
    seen = unit(c, 'Type', 'User', 'WatchdogUSec', 'MainPID', 'StateDirectory', 'UnitFileState')
    assert seen['Type'] == 'notify' and seen['User'] == 'dealboxd', seen
    assert seen['WatchdogUSec'] == '30s' and seen['UnitFileState'] == 'disabled', seen
    assert c.run('stat -c %%U:%%G /proc/%s' % seen['MainPID']) == 'dealboxd:dealbox'
    wait('the machine', lambda: c.status().get('ONE', {}).get('present'))
    assert 'dealbox' in c.run('lsmod')


def test_nodes_belong_to_the_group_and_have_names(c):
    assert c.run('stat -c "%a %U:%G" /dev/dealbox0') == '660 root:dealbox'
    assert c.run('readlink -f /dev/dealbox/by-id/*ONE') == '/dev/dealbox0'
    assert c.run('readlink -f /dev/dealbox/by-path/*') == '/dev/dealbox0'
    assert 'ID_MODEL_FROM_DATABASE=dealbox emulator' in c.run('udevadm info /dev/dealbox0')


def test_state_and_settings_belong_to_the_service(c):
    assert c.run('stat -c "%a %U:%G" /var/lib/dealbox') == '700 dealboxd:dealbox'
    assert c.run('stat -c "%a %U" /var/lib/dealbox/ledger.key') in ('600 dealboxd', '400 dealboxd')
    assert c.run('stat -c %a /etc/dealbox') == '755'


def test_the_service_may_open_machines_and_no_other_device(c):
    """Check the service's sandbox: the kernel refuses devices even to root in its cgroup."""
    c.run('usbip port >/dev/null')
    join = 'echo 0 >/sys/fs/cgroup/system.slice/dealboxd.service/cgroup.procs && '
    for device in ('/dev/vda', '/dev/kmsg', '/dev/mem', '/dev/virtio-ports/events'):
        c.run('test -e ' + device)
        got, text = c.ask('bash -c "%s exec 9<%s"' % (join, device))
        assert got and 'Operation not permitted' in text, (device, got, text)
    c.run('bash -c "%s exec 9</dev/dealbox0"' % join)


def test_three_machines(c):
    c.add_emulator('TWO', '--speed', '10', '--seed', '2', '--kind', 'routed')
    c.add_emulator('THREE', '--speed', '10', '--seed', '3')
    event = '/sys/kernel/tracing/events/dealbox/dealbox_event/enable'
    c.run('echo 1 >' + event)
    for serial in ('TWO', 'THREE'):
        c.plug(serial)
    machines = wait('the machines', lambda: len(c.status()) == 3 and c.status())
    c.run('echo 0 >' + event)
    # in a trace a machine has its name from the first event on, which precedes its node
    trace = c.run('cat /sys/kernel/tracing/trace')
    assert sorted(re.findall(r'dealbox_event: (dealbox\d+) .*machine_seq=1 ', trace)) == ['dealbox1', 'dealbox2'], trace
    assert all(m['present'] for m in machines.values()), machines
    # the machines are new here; a member of the group accepts them as the club's
    assert 'machine-new' in {m['state'] for m in machines.values()}, machines
    got, text = c.ask('runuser -u bob -- dealbox accept ONE')
    assert got == 2, (got, text)
    c.run('runuser -u alice -- dealbox accept ONE TWO THREE')
    wait('consent', lambda: 'machine-new' not in {m['state'] for m in c.status().values()})
    # the port of each machine; all differ
    c.ports = {serial: m['port'] for serial, m in machines.items()}
    assert len(set(c.ports.values())) == 3, c.ports


def test_who_is_in_the_group_may_deal_and_who_is_not_may_not(c):
    with open(set_file, 'rb') as file:
        c.put('/tmp/evening.pbn', file.read())
    got, text = c.ask('runuser -u bob -- dealbox deal --boards 1-3 /tmp/evening.pbn')
    assert got == 2 and 'group dealbox' in text, (got, text)
    assert not c.run('runuser -u bob -- dealbox jobs')
    c.run('runuser -u bob -- busctl call io.dealbox1 /io/dealbox1 io.dealbox1.Manager Stop')
    stopped = wait('the stop', lambda: {m['state'] for m in c.status().values()} == {'stopped'})
    assert stopped      # the emergency stop needs no permission
    got, text = c.ask('runuser -u bob -- busctl call io.dealbox1 %s io.dealbox1.Machine Start' %
                      c.status()['ONE']['path'])
    assert got and 'Access' in text, (got, text)
    for machine in c.status().values():
        c.run('runuser -u alice -- busctl call io.dealbox1 %s io.dealbox1.Machine Start' % machine['path'])
    # the cables of two machines are pulled in the middle of their second board
    for serial in ('ONE', 'TWO'):
        c.machines[serial].tell('inject deal 2 position 20: freeze')
    c.run('(runuser -u alice -- dealbox deal --boards 1-6 --copies 3 --session monday --json '
          '/tmp/evening.pbn; echo $? >/tmp/ended) >/tmp/dealt 2>&1 &')


def test_a_machine_unplugged_in_mid_board_is_the_same_elsewhere(c):
    def frozen(serial):
        return lambda: c.work() is not None and 'frozen 1' in c.machines[serial].tell('status')
    # TWO takes the port of ONE, so both get another port
    for serial in ('ONE', 'TWO'):
        wait(serial + ' in the middle of a board', frozen(serial))
        c.unplug(serial)
        c.machines[serial].tell('thaw')
        wait('the service to see it', lambda: not c.status()[serial]['present'])
    for serial in ('TWO', 'ONE'):
        c.plug(serial)
        wait('the machine', lambda: c.status()[serial]['present'])
    machines = c.status()
    assert set(machines) == {'ONE', 'TWO', 'THREE'}, machines
    assert machines['TWO']['port'] == c.ports['ONE'], (machines, c.ports)
    assert machines['ONE']['port'] == c.ports['TWO'], (machines, c.ports)


def test_settings_are_read_again_while_boards_are_dealt(c):
    pid = unit(c, 'MainPID')['MainPID']
    c.run('echo "colour = green" >>/etc/dealbox/dealboxd.conf && systemctl reload dealboxd')
    wait('the complaint', lambda: 'unknown setting or invalid value' in c.run('journalctl -u dealboxd --no-pager'))
    c.run('sed -i "/colour/d" /etc/dealbox/dealboxd.conf && systemctl reload dealboxd')
    assert unit(c, 'MainPID')['MainPID'] == pid
    assert unit(c, 'ActiveState')['ActiveState'] == 'active'


def test_the_job_is_dealt_in_full(c):
    """18 boards, each exact and recorded once."""
    wait('the job', lambda: c.work() is not None and c.ask('test -s /tmp/ended')[0] == 0)
    assert c.run('cat /tmp/ended').strip() == '0', c.run('cat /tmp/dealt')
    # take out the last boards
    records = c.records()
    exact = [r for r in records if r['record'] == 'verdict' and r['outcome'] == 'exact']
    assert len(exact) == 18, len(exact)
    of = {r['number']: r for r in records if r['record'] == 'insertion'}
    # a fast machine deals more; on a busy computer, one may deal all remaining boards
    assert {i['machine'] for i in of.values()} == {'ONE', 'TWO', 'THREE'}, of
    wait('the boards to come out', lambda: agree(records, c.account(), c.deals) == 18)
    # the ledger knows who added set and job, who stopped, who accepted a machine, and who said that
    # a board was empty
    uids = {r['uid'] for r in records if r['record'] == 'act'}
    assert uids == {0, int(c.run('id -u bob')), int(c.run('id -u alice'))}, uids


def test_commands_agree_with_what_was_dealt(c):
    # commands that people type
    job = json.loads(c.run('runuser -u alice -- dealbox jobs --json').splitlines()[-1])
    assert job['state'] == 'done' and job['recorded'] == 18 and job['session'] == 'monday', job
    assert 'no-work' in c.run('runuser -u alice -- dealbox status')
    looks = {f['look']: f['found'] for f in map(json.loads, c.run('dealbox doctor --json').splitlines())}
    # this computer has the page, and no Cockpit that serves it
    assert looks.pop('screen') == 'note', looks
    assert looks == dict.fromkeys(['module', 'secure-boot', 'permission', 'udev', 'service', 'polkit', 'panel', 'machine'],
                                  'good'), looks
    # the traces reveal the deals, so members of the group may not read them
    traces = 'dealbox ledger traces %d /root/traces' % job['job']
    got, text = c.ask('runuser -u alice -- ' + traces)
    assert got == 2 and 'may not do that' in text, (got, text)
    c.run(traces)
    # two boards were void, because the cables were pulled
    judged = c.run('dealbox verify /tmp/evening.pbn /root/traces', 1)
    assert judged.count(': exact duplicate') == 18, judged
    got, text = c.ask('timeout 5 runuser -u alice -- dealbox watch')
    assert got == 124 and text.count('no-work') == 3, (got, text)


def test_the_journal_explains_itself(c):
    text = c.run('journalctl -u dealboxd -x --no-pager')
    assert 'A machine that is plugged in' in text or 'was plugged in and is in use' in text, text[-3000:]
    assert 'was seen to lie where the plan has it' in text and 'ONE was unplugged' in text
    recorded = c.run('journalctl MESSAGE_ID=3c1f0d8b5ab84f0f9b9e0f3e5b0f6a05 -o json --no-pager')
    entries = [json.loads(line) for line in recorded.splitlines()]
    assert len(entries) == 18, len(entries)
    assert {e['DEALBOX_MACHINE'] for e in entries} == {'ONE', 'TWO', 'THREE'}
    assert {e['DEALBOX_BOARD'] for e in entries} == set('123456')
    assert len({e['DEALBOX_JOB'] for e in entries}) == 1
    # .. and is evidence of what the ledger was
    for entry in entries[::6]:
        c.run('dealbox ledger verify --head ' + entry['DEALBOX_HEAD'])


def test_a_service_that_hangs_is_started_again(c):
    """The watchdog restarts a service that hangs. Its time is shortened, so that the test is."""
    pid = unit(c, 'MainPID')['MainPID']
    c.run('mkdir -p /run/systemd/system/dealboxd.service.d && '
          'printf "[Service]\\nWatchdogSec=5\\n" >/run/systemd/system/dealboxd.service.d/watchdog.conf && '
          'systemctl daemon-reload && systemctl restart dealboxd')
    pid = unit(c, 'MainPID')['MainPID']
    c.run('kill -STOP ' + pid)
    wait('another service', lambda: unit(c, 'MainPID')['MainPID'] not in (pid, '0') and
         unit(c, 'ActiveState')['ActiveState'] == 'active')
    assert 'Watchdog timeout' in c.run('journalctl -u dealboxd --no-pager')
    # restore the time, because on a busy computer the shorter one would strike now and then
    c.run('rm -r /run/systemd/system/dealboxd.service.d && systemctl daemon-reload && systemctl restart dealboxd')


def cards(path):
    result = subprocess.run([TOP + '/tests/system/secrecy/cards', path, set_file], check=False,
                            capture_output=True, text=True, errors='replace')
    return result.stdout.splitlines()


def bring(c, name, command):
    """Save the output of the command in a file here. Return its path."""
    path = '%s/seen-%s' % (c.dir, name)
    c.run('%s >%s/out 2>&1 || true' % (command, SEEN))
    with open(path, 'wb') as file:
        file.write(c.get(SEEN + '/out'))
    return path


def test_no_card_was_to_be_seen_anywhere(c):
    """No card was visible. The same search finds the cards of the set itself, so it works."""
    c.run('journalctl --sync; kill $(pidof dbus-monitor)')
    places = {
        'journal': 'journalctl -o verbose --no-pager --after-cursor="$(cat %s/cursor)"' % SEEN,
        'kernel': 'dmesg | sed "1,/everything from here on/d"',
        'traffic': 'cat %s/traffic' % SEEN,
        'processes': 'sort -u %s/processes' % SEEN,
        'printed': 'cat /tmp/dealt',
        'run': 'find /run -type f -not -path "%s/*" -not -path "/run/log/*" -exec grep -aH "" {} +' % SEEN,
        # a binary file: only its text is searched
        'state': 'grep -aohE "[ -~]{12,}" /var/lib/dealbox/*',
    }
    for name, command in places.items():
        path = bring(c, name, command)
        assert os.path.getsize(path) > 200, (name, open(path).read())
        found = cards(path)
        assert not found, (name, found[:5])
    traffic = open(c.dir + '/seen-traffic', errors='replace').read()
    assert traffic.count('member=Verdict') >= 18 and 'member=AddJob' in traffic, 'not all was seen'
    assert cards(set_file)
    # controls: a text with cards, and the set in memory
    with open(c.dir + '/seen-control', 'w') as file:
        file.write(open(c.dir + '/seen-journal', errors='replace').read() + '\nposition 20: H10\n')
    assert cards(c.dir + '/seen-control')


run_tests(Computer(set_file), tests_of(globals()))
