# SPDX-License-Identifier: LGPL-2.1-or-later
"""Two servers, with TLS, in the network and on small disks of the test's own; and what goes wrong with them and their cables."""

import contextlib
import os
import random
import sys
import tempfile
import time

from cable import Cables
from certificates import Certificates, run
from server import Server, kill

ROOM = 280      # MiB, of the disk of each server
FULL = 1.0      # seconds, longest, of a fault that passes


def apart():
    """Begins the script anew with a network and mounts of its own, without being root."""
    if "DEALBOX_APART" not in os.environ:
        os.environ["DEALBOX_APART"] = "1"
        os.execvp("unshare", ["unshare", "--user", "--map-root-user", "--net", "--mount", sys.executable, *sys.argv])


class Node(Server):
    """One of the two servers: at an address of its own, on a small disk of its own."""

    def __init__(self, number, certificates):
        self.number, self.certificates = number, certificates
        tempfile.tempdir = tempfile.mkdtemp(prefix="dealbox-disk-")
        self.disk = tempfile.tempdir
        run("mount", "-t", "tmpfs", "-o", "size=%dM" % ROOM, "disk", self.disk)
        run("ip", "addr", "add", self.host(), "dev", "lo")
        super().__init__(self.settings())
        tempfile.tempdir = None
        with open(os.path.join(self.data, "pg_hba.conf"), "a") as file:
            file.write("hostssl all all all cert\n")
        self.stop("fast")
        self.start()

    def host(self):
        return "10.9.0.%d" % self.number

    def settings(self):
        path = self.certificates.path
        return ("listen_addresses = '%s'" % self.host(), "ssl = on", "ssl_cert_file = '%s'" % path("server.crt"),
                "ssl_key_file = '%s'" % path("server.key"), "ssl_ca_file = '%s'" % path("ca.crt"),
                "cluster_name = 'node%d'" % self.number, "min_wal_size = 32MB", "max_wal_size = 64MB", "wal_keep_size = 0")

    def follow(self, leader):
        """Becomes the synchronous replica of the other: each answer is then on both disks."""
        with contextlib.suppress(AssertionError):
            self.stop()
        run("rm", "-rf", self.data)
        leader.sql("postgres", "ALTER SYSTEM RESET ALL; SELECT pg_reload_conf()")
        self.tool("pg_basebackup", "-D", self.data, "-h", leader.folder, "-U", "owner", "-R", "-X", "stream", "-c", "fast")
        with open(os.path.join(self.data, "postgresql.conf"), "a") as file:
            file.write("\n".join(("unix_socket_directories = '%s'" % self.folder, *self.settings(), "")))
        self.start()
        leader.sql("postgres", "ALTER SYSTEM SET synchronous_standby_names = 'node%d'" % self.number)
        leader.sql("postgres", "SELECT pg_reload_conf()")
        while leader.sql("postgres", "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") != ["1"]:
            time.sleep(0.05)


class Nodes:
    """Two servers, of which one leads, and a cable for each user. The other is there from ready() on."""

    def __init__(self, users):
        run("ip", "link", "set", "lo", "up")
        self.users = users
        self.certificates = Certificates(tempfile.mkdtemp(prefix="dealbox-ca-"))
        self.certificates.authority("ca")
        self.certificates.make("server", "server", names="IP:10.9.0.1,IP:10.9.0.2")
        for user in users:
            self.certificates.make(user, user)
        self.leader, self.other = Node(1, self.certificates), None
        self.follows = False
        self.cables = Cables(len(users), random.Random(0))

    def remove(self):
        for node in filter(None, (self.leader, self.other)):
            with contextlib.suppress(AssertionError):
                node.stop()
            run("umount", "--lazy", node.disk)
            os.rmdir(node.disk)
        run("rm", "-rf", self.certificates.folder)

    def ready(self):
        """The other is the synchronous replica of the one that leads."""
        if not self.other:
            self.other = Node(2, self.certificates)
        if not self.follows:
            self.other.follow(self.leader)
            self.follows = True

    @staticmethod
    def address(name, user):
        return "host=10.9.0.1,10.9.0.2 dbname=%s user=%s" % (name, user)

    def environment(self, user):
        path = self.certificates.path
        return {"PGSSLROOTCERT": path("ca.crt"), "PGSSLCERT": path(user + ".crt"), "PGSSLKEY": path(user + ".key")}

    def cable(self, user):
        return self.cables.all[self.users.index(user)]


# ---- what goes wrong; each ends before the next begins -------------------------------------------

def cut(chance, _nodes, cable):
    cable.loss_there = cable.loss_back = 1
    time.sleep(chance.uniform(0, FULL))


def answers_are_lost(chance, _nodes, cable):
    cable.loss_back = 1
    time.sleep(chance.uniform(0, FULL))


def requests_are_lost(chance, _nodes, cable):
    cable.loss_there = 1
    time.sleep(chance.uniform(0, FULL))


def loss(chance, _nodes, cable):
    cable.loss_there, cable.loss_back = chance.uniform(0, 0.4), chance.uniform(0, 0.4)
    time.sleep(chance.uniform(0, FULL))


def delay(chance, _nodes, cable):
    cable.delay = chance.uniform(0.01, 0.3)
    time.sleep(chance.uniform(0, FULL))


def server_is_killed(_chance, nodes, _cable):
    kill(nodes.leader)


def server_is_restarted(_chance, nodes, _cable):
    nodes.leader.stop("fast")
    nodes.leader.start()


def replica_takes_over(_chance, nodes, _cable):
    if not nodes.follows:
        return
    kill(nodes.leader, again=False)
    nodes.leader, nodes.other = nodes.other, nodes.leader
    nodes.follows = False
    nodes.leader.tool("pg_ctl", "-D", nodes.leader.data, "-w", "-t", "300", "promote")


def disk_is_full(chance, nodes, _cable):
    path = os.path.join(nodes.leader.disk, "full")
    with contextlib.suppress(OSError), open(path, "wb") as file:
        while True:
            file.write(bytes(1 << 20))
            file.flush()
    time.sleep(chance.uniform(0, FULL))
    # the server may have filled the disk before
    with contextlib.suppress(FileNotFoundError):
        os.remove(path)
    if nodes.leader.dead():
        nodes.leader.start()


FAULTS = (cut, answers_are_lost, requests_are_lost, loss, delay, server_is_killed, server_is_restarted, replica_takes_over,
          disk_is_full)
