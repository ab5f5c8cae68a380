# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cables between network namespaces, made of two TUN devices: a process carries each packet, or delays or loses it.

Not every kernel has netem, and a proxy for TCP would answer for a PC that is cut off.
"""

import ctypes
import fcntl
import heapq
import os
import select
import struct
import subprocess
import threading
import time

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454ca, 1, 0x1000
CLONE_NEWNET = 0x40000000
LIBC = ctypes.CDLL(None, use_errno=True)
HERE = os.open("/proc/self/ns/net", os.O_RDONLY)


def tun(name):
    """A new TUN device in the namespace of this thread."""
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
    return fd


def enter(namespace):
    if LIBC.setns(namespace, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")


class Cable:
    """From here to a namespace of its own, 10.1.NUMBER.2. delay is in seconds, losses are shares of 1."""

    def __init__(self, number):
        self.delay = self.loss_there = self.loss_back = 0
        # what is inside lives as long as its input is open
        self.holder = subprocess.Popen(["unshare", "--net", "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.holder.stdin.write(b"\n")
        self.holder.stdin.flush()
        self.holder.stdout.read(1)
        self.inside = "/proc/%d/ns/net" % self.holder.pid
        self.outer = tun("pc%d" % number)
        with open(self.inside) as file:
            enter(file.fileno())
        self.inner = tun("cable")
        enter(HERE)
        self.here("addr", "add", "10.1.%d.1" % number, "peer", "10.1.%d.2" % number, "dev", "pc%d" % number)
        self.here("link", "set", "pc%d" % number, "up")
        self.there("ip", "addr", "add", "10.1.%d.2/32" % number, "dev", "cable")
        self.there("ip", "link", "set", "cable", "up")
        self.there("ip", "route", "add", "default", "dev", "cable")

    @staticmethod
    def here(*args):
        subprocess.run(["ip", *args], check=True)

    def prefix(self):
        return ["nsenter", "--net=" + self.inside]

    def there(self, *args):
        subprocess.run([*self.prefix(), *args], check=True)

    def good(self):
        self.delay = self.loss_there = self.loss_back = 0


class Cables:
    """All of them, and the thread that carries packets."""

    def __init__(self, count, chance):
        self.all = [Cable(number) for number in range(count)]
        self.chance = chance
        self.thread = threading.Thread(target=self.carry, daemon=True)
        self.thread.start()

    def carry(self):
        ends = {}
        for cable in self.all:
            ends[cable.outer] = (cable, cable.inner, "loss_there")
            ends[cable.inner] = (cable, cable.outer, "loss_back")
        # the packets on their way: when, in which order, where, what
        on_way, number = [], 0
        while True:
            wait = max(on_way[0][0] - time.monotonic(), 0) if on_way else None
            for fd in select.select(list(ends), [], [], wait)[0]:
                cable, other, loss = ends[fd]
                packet = os.read(fd, 65536)
                if self.chance.random() >= getattr(cable, loss):
                    number += 1
                    heapq.heappush(on_way, (time.monotonic() + cable.delay, number, other, packet))
            while on_way and on_way[0][0] <= time.monotonic():
                _, _, fd, packet = heapq.heappop(on_way)
                try:
                    os.write(fd, packet)
                except BlockingIOError:
                    pass    # as a network does
