# SPDX-License-Identifier: LGPL-2.1-or-later
"""A PostgreSQL server of the test's own: in a folder, on a Unix socket in it, for this user alone."""

import contextlib
import glob
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

NAME = ".s.PGSQL.5432"      # of the socket in its folder
FAST = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")


def programs():
    """The folder of PostgreSQL's programs, which Debian keeps out of PATH, but for a slow script that is called psql."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    assert found, "PostgreSQL's server is not installed"
    return found[-1]


class Server:
    """Settings as of postgresql.conf. With FAST a crash of the computer may lose data."""

    def __init__(self, settings=FAST):
        # a test that takes too long is ended by a signal, and must not leave a server behind
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
        self.folder = tempfile.mkdtemp(prefix="dealbox-pg-")
        self.data = os.path.join(self.folder, "data")
        self.log = os.path.join(self.folder, "log")
        # PostgreSQL does not run as root: there it is nobody, in a user namespace
        self.prefix = [] if os.getuid() else ["unshare", "--user", "--map-user=65534", "--map-group=65534"]
        try:
            self.tool("initdb", "-D", self.data, "-U", "owner", "-A", "trust", "--no-sync", "-E", "UTF8",
                      "--locale=C")
            with open(os.path.join(self.data, "postgresql.conf"), "a") as file:
                file.write("\n".join(("listen_addresses = ''", "unix_socket_directories = '%s'" % self.folder,
                                      "shared_buffers = 16MB", *settings, "")))
            self.start()
        except Exception:
            shutil.rmtree(self.folder)
            raise

    def tool(self, name, *args):
        result = subprocess.run([*self.prefix, os.path.join(programs(), name), *args], stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, cwd="/")
        assert result.returncode == 0, result

    def start(self):
        # its log is a file: postgres keeps what pg_ctl was given, and would never close a pipe
        subprocess.run([*self.prefix, os.path.join(programs(), "pg_ctl"), "-D", self.data, "-l", self.log, "-w",
                        "-t", "300", "start"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       stdin=subprocess.DEVNULL, check=True, cwd="/")
        # pg_ctl believes the file of a server that was killed just now, which says that it is ready
        with open(os.path.join(self.data, "postmaster.pid")) as file:
            port = file.read().splitlines()[3]
        while subprocess.run([os.path.join(programs(), "pg_isready"), "-q", "-h", self.folder, "-p", port],
                             check=False).returncode:
            assert not self.dead(), "the server has ended"
            time.sleep(0.02)

    def stop(self, how="immediate"):
        self.tool("pg_ctl", "-D", self.data, "-m", how, "-w", "-t", "300", "stop")

    def dead(self):
        result = subprocess.run([*self.prefix, os.path.join(programs(), "pg_ctl"), "-D", self.data, "status"],
                                stdout=subprocess.DEVNULL, cwd="/")
        return result.returncode != 0

    def remove(self):
        self.stop()
        shutil.rmtree(self.folder)

    def address(self, database, user="owner"):
        return "host=%s dbname=%s user=%s" % (self.folder, database, user)

    @contextlib.contextmanager
    def session(self, database, text, user="owner"):
        """psql that has got this text, and keeps its transaction open until the end."""
        with subprocess.Popen([os.path.join(programs(), "psql"), "-X", "-A", "-t", "-q", "-h", self.folder, "-U", user, database],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            process.stdin.write(text + "\n")
            process.stdin.flush()
            yield process
            process.stdin.close()

    def sql(self, database, text, user="owner"):
        """Returns the rows as texts, columns separated by "|"; or the error, with SQLSTATE, as an exception."""
        result = subprocess.run([os.path.join(programs(), "psql"), "-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-v", "VERBOSITY=verbose",
                                 "-h", self.folder, "-U", user, database], input=text, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)
        if result.returncode:
            raise Refused(result.stderr)
        return result.stdout.splitlines()


def kill(server, again=True):
    """Kills the server with -9, and starts it again."""
    with open(os.path.join(server.data, "postmaster.pid")) as file:
        pid = int(file.readline())
    os.kill(pid, signal.SIGKILL)
    # its processes notice that it has gone, and end; the next one refuses to start before
    while again:
        try:
            server.start()
            return
        except (subprocess.CalledProcessError, AssertionError):
            time.sleep(0.05)


class Cut:
    """A way to the server that is cut when it has answered a message with this text, which nobody hears then."""

    def __init__(self, server, text):
        self.server, self.text, self.folder = server, text, tempfile.mkdtemp(prefix="dealbox-cut-")
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(os.path.join(self.folder, NAME))
        self.listener.listen()
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *args):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.listener.close()
        shutil.rmtree(self.folder)

    def run(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            with client, socket.socket(socket.AF_UNIX) as server:
                server.connect(os.path.join(self.server.folder, NAME))
                self.relay(client, server)

    def relay(self, client, server):
        while True:
            for ready in select.select([client, server], [], [])[0]:
                data = ready.recv(65536)
                if not data:
                    return
                (server if ready is client else client).sendall(data)
                if ready is client and self.text in data:
                    server.recv(1)
                    return

    def address(self, database, user="owner"):
        return self.server.address(database, user).replace(self.server.folder, self.folder)


class Refused(Exception):
    """PostgreSQL's error."""
