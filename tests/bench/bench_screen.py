# SPDX-License-Identifier: LGPL-2.1-or-later
"""bench_screen.py DEALBOXD EMULATOR DEALBOX SET WORDS.js [CHANGES [BOARDS]]: the operator's screen.

Reaction: a board is put into an emulated machine, or taken out, CHANGES times (200). Printed is the time until the
service has told it on the bus, as dbus-monitor sees it, and from there until Chromium has changed the page, and
has drawn it. The goal for the change is 50 ms beyond the bus's own time. Cockpit carries it, as on an installed
system.

Memory: BOARDS boards (10,000) of jobs of 48 go over the page, without Cockpit: three changes of the machine
and one of the job for each. The service drops jobs that are over; here it keeps 64. Printed are JavaScript's heap and the number of the page's nodes and listeners,
after garbage was collected, at a tenth of the boards and at each further tenth.
"""
import os
import re
import shutil
import socket
import sys
import time

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here + '/../system/screen')
words = os.path.abspath(sys.argv[5])
changes = int(sys.argv[6]) if len(sys.argv) > 6 else 200
boards = int(sys.argv[7]) if len(sys.argv) > 7 else 10000
from session import ScreenWorld, wait  # noqa: E402
from browser import copy_package, open_browser, serve  # noqa: E402

# when the page's title has changed, and when that was drawn; in s since 1970, as dbus-monitor has it
WATCH = '''
    window.seen = [];
    const now = () => (performance.timeOrigin + performance.now()) / 1000;
    new MutationObserver(() => {
        const changed = now();
        requestAnimationFrame(() => setTimeout(() => window.seen.push([changed, now()])));
    }).observe(document.head, { subtree: true, childList: true, characterData: true });'''

# jobs of 48 boards, one after the other: asked for, dealt, taken out
EVENING = '''
    const [first, last, done] = arguments;
    const { machine, job } = window.states;
    const path = n => "/io/dealbox1/job/" + (1000 + Math.floor(n / 48));
    const told = (where, name, values) => window.fake_signal(where, "io.dealbox1." + name, "PropertiesChanged", ["io.dealbox1." + name,
        Object.fromEntries(Object.entries(values).map(([key, v]) => [key, { t: "v", v }]))]);
    const next = () => new Promise(resolve => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = resolve;
        port2.postMessage(0);
    });
    (async () => {
        for (let n = first; n < last; n++) {
            const facts = { board: n % 48 + 1, copy: 1, copies: 1 }, more = { Job: 1000 + Math.floor(n / 48), JobPath: path(n), Facts: facts, Question: n, Insertion: n };
            for (const state of ["insert-board", "none", "take-out"]) {
                told("/io/dealbox1/machine/EMU1", "Machine", machine(state, more));
                await next();
            }
            told(path(n), "Job", job({ Id: more.Job, Copies: 1, Boards: 48, Recorded: n % 48 + 1, State: n % 48 === 47 ? "done" : "open" }));
            /* what the stand-in for Cockpit remembers is not the page's */
            window.fake_calls.length = 0;
            /* as the service drops jobs that are over */
            if (n >= 64 * 48 && n % 48 === 47)
                window.fake_signal("/io/dealbox1", "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved",
                    [path(n - 64 * 48), ["io.dealbox1.Job"]]);
            await next();
        }
        done();
    })();'''


def spread(times):
    times = sorted(1000 * one for one in times)
    return 'median %.1f ms, p99 %.1f ms, highest %.1f ms' % (times[len(times) // 2], times[len(times) * 99 // 100], times[-1])


class Control:
    """The emulator's socket, kept open: a program that is started for each command takes time."""
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.answers = self.socket.makefile()

    def tell(self, command):
        self.socket.sendall((command + '\n').encode())
        assert self.answers.readline().startswith('ok'), command


def reaction(world, browser):
    monitor = world.dir + '/profile'
    world.spawn(['dbus-monitor', '--address', os.environ['DBUS_SYSTEM_BUS_ADDRESS'], '--profile',
                 "type='signal',interface='org.freedesktop.DBus.Properties',path_namespace='/io/dealbox1/machine'"],
                stdout=open(monitor, 'w'))
    world.add_emulator('EMU1', '--speed', '0', '--manual')
    world.start()
    wait('the machine', lambda: len(world.machines()) == 1)
    world.add_job(world.add_set()[0], [1], replay=True)
    browser.get(world.url)
    wait('the page', lambda: 'dealbox' in browser.title and browser.title != 'dealbox')
    browser.execute_script(WATCH)
    control = Control(world.dir + '/EMU1.control')
    bus, page, drawn = [], [], []
    for n in range(changes):
        before = browser.execute_script('return window.seen.length')
        begun = time.time()
        control.tell('remove' if n % 2 else 'insert')
        wait('the page', lambda: browser.execute_script('return window.seen.length') > before)
        # what follows within the same change, such as a status, belongs to it
        changed, shown = browser.execute_script('return window.seen[arguments[0]]', before)

        def signalled():
            with open(monitor) as file:
                return [float(found) for found in re.findall(r'^sig\t(\d+\.\d+)', file.read(), re.M) if float(found) >= begun]
        told = wait('the bus', signalled)[0]
        bus.append(told - begun)
        page.append(changed - told)
        drawn.append(shown - told)
    assert min(page) > -0.05, 'the clocks of browser and bus differ'
    print('%d changes at the machine' % changes)
    print('  machine to bus:          ' + spread(bus))
    print('  bus to changed page:     ' + spread(page))
    print('  bus to page on display:  ' + spread(drawn))


def memory(world, browser):
    folder = world.dir + '/served/dealbox'
    copy_package(words, folder)
    os.makedirs(world.dir + '/served/base1')
    shutil.copy(here + '/../system/screen/states.mjs', folder)
    shutil.copy(here + '/../system/screen/cockpit.js', world.dir + '/served/base1')
    browser.get(serve(world.dir + '/served') + 'index.html')
    browser.set_script_timeout(3600)
    browser.execute_async_script('''
        const done = arguments[0];
        import("./states.mjs").then(states => {
            window.states = states;
            window.fake(states.objects([states.machine("none")], [states.job()]));
            done();
        });''')
    browser.get_log('performance')
    print('%d boards over the page' % boards)
    for part in range(10):
        browser.execute_async_script(EVENING, boards * part // 10, boards * (part + 1) // 10)
        browser.get_log('performance')
        browser.execute_cdp_cmd('HeapProfiler.collectGarbage', {})
        heap = browser.execute_cdp_cmd('Runtime.getHeapUsage', {})['usedSize']
        counters = browser.execute_cdp_cmd('Memory.getDOMCounters', {})
        print('  %6d boards: %7.0f kB of heap, %6d nodes, %5d listeners' %
              (boards * (part + 1) // 10, heap / 1024, counters['nodes'], counters['jsEventListeners']), flush=True)


def main():
    world = ScreenWorld(*sys.argv[1:5], words)
    browser = open_browser(1024, 600)
    try:
        reaction(world, browser)
        memory(world, browser)
    finally:
        browser.quit()
        world.close()


main()
