#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A server on the network: TLS, certificates on both sides, passwords; and what is said when one is wrong."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../tool"))
from tool import main, test    # pylint: disable=wrong-import-position

from certificates import Certificates, run
from server import Server

SERVER = Server()
PORT = 20000 + os.getpid() % 20000
FOLDER = SERVER.folder


def owner(database, text):
    run("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", FOLDER, "-p", str(PORT), "-U", "owner", database, "-c", text)


def serve(name):
    """The server with that certificate, on the network."""
    SERVER.stop("fast")
    with open(os.path.join(SERVER.data, "postgresql.auto.conf"), "w") as file:
        file.write("listen_addresses = '127.0.0.1'\nport = %d\nssl = on\nssl_cert_file = '%s/%s.crt'\n"
                   "ssl_key_file = '%s/%s.key'\nssl_ca_file = '%s/ca.crt'\npassword_encryption = 'scram-sha-256'\n"
                   % (PORT, FOLDER, name, FOLDER, name, FOLDER))
    SERVER.start()


def prepare():
    certificates = Certificates(FOLDER)
    for name in "ca", "other":
        certificates.authority(name)
    certificates.make("server", "localhost", names="DNS:localhost")
    certificates.make("elsewhere", "server.example", names="DNS:server.example")
    certificates.make("server-old", "localhost", expired=True)
    certificates.make("server-other", "localhost", "other", names="DNS:localhost")
    for user in "hall_a", "director":
        certificates.make(user, user)
    certificates.make("hall_a-old", "hall_a", expired=True)
    certificates.make("hall_a-other", "hall_a", "other")
    with open(os.path.join(SERVER.data, "pg_hba.conf"), "w") as file:
        # as docs/event.md says; the director has a password, and PCs have certificates
        file.write("local all owner trust\nhostssl cup director all scram-sha-256\nhostssl cup all all cert\n")


prepare()
serve("server")


def home(box, cert=None, root="ca", password=None):
    """What libpq reads of a user."""
    folder = os.path.join(box.folder, "home/.postgresql")
    os.makedirs(folder, exist_ok=True)
    for name in os.listdir(folder):
        os.remove(os.path.join(folder, name))
    wanted = {"root.crt": root and root + ".crt"}
    if cert:
        wanted.update({"postgresql.crt": cert + ".crt", "postgresql.key": cert + ".key"})
    for to, of in wanted.items():
        if of:
            with open(os.path.join(FOLDER, of)) as file:
                box.write(os.path.join(folder, to), file.read())
            os.chmod(os.path.join(folder, to), 0o600)
    path = os.path.join(box.folder, "home/.pgpass")
    if password:
        box.write(path, "localhost:*:cup:director:%s\n" % password)
        os.chmod(path, 0o600)
    elif os.path.exists(path):
        os.remove(path)
    box.env.update(PGPASSFILE=path, PGSSLROOTCERT=folder + "/root.crt", PGSSLCERT=folder + "/postgresql.crt",
                   PGSSLKEY=folder + "/postgresql.key")


def address(user, host="localhost"):
    return "host=%s port=%d dbname=cup user=%s" % (host, PORT, user)


def status(box, user, host="localhost"):
    return box.dealbox("event", "status", "-d", address(user, host))


@test
def each_side_proves_who_it_is(box):
    owner("postgres", "CREATE DATABASE cup")
    box.dealbox("event", "init", "Cup", "key", "-d", address("owner", FOLDER)).expect(0)
    owner("cup", "CREATE ROLE hall_a LOGIN IN ROLE dealbox_pc")
    owner("cup", "CREATE ROLE director LOGIN IN ROLE dealbox_director PASSWORD 'Bermuda Bowl'")
    home(box, "hall_a")
    found, = box.dealbox("event", "status", "-j", "-d", address("hall_a")).expect(0).json()
    box.dealbox("event", "join", "hall-a", found["fingerprint"], "-f", "pc", "-d", address("hall_a")).expect(0)
    home(box, password="Bermuda Bowl")
    status(box, "director").expect(0, "hall-a +here")
    # the address of a host that the certificate does not have
    status(box, "director", "127.0.0.1").expect(3, "certificate for .* does not match host name", "name as it is in its certificate")


@test
def a_client_that_is_not_believed_hears_why(box):
    home(box)
    status(box, "hall_a").expect(3, "connection requires a valid client certificate", "client certificate")
    home(box, "director")
    status(box, "hall_a").expect(3, "certificate authentication failed for user \"hall_a\"", "common name")
    home(box, "hall_a-old")
    status(box, "hall_a").expect(3, "certificate expired", "openssl x509 -enddate")
    home(box, "hall_a-other")
    status(box, "hall_a").expect(3, "unknown ca", "authority")
    home(box, password="wrong")
    status(box, "director").expect(3, "password authentication failed", "pgpass")
    home(box)
    status(box, "director").expect(3, "no password supplied", "pgpass")


@test
def of_many_addresses_the_last_one_tried_is_told(box):
    # as "localhost" that is ::1 first, if the server listens on 127.0.0.1 only
    many = "localhost,localhost hostaddr=127.0.0.2,127.0.0.1"
    home(box, password="wrong")
    status(box, "director", many).expect(3, "at .127.0.0.1., port %d failed: .*password authentication failed" % PORT, "pgpass")
    home(box, "hall_a-old")
    status(box, "hall_a", many).expect(3, "at .127.0.0.1., port %d failed: .*certificate expired" % PORT, "openssl x509 -enddate")
    # a name that cannot be resolved, as it is too long
    nowhere = 64 * "n"
    home(box, password="wrong")
    status(box, "director", nowhere + ",localhost").expect(3, "port %d failed: .*password authentication failed" % PORT, "pgpass")
    refused = status(box, "director", "localhost,localhost hostaddr=127.0.0.2,127.0.0.3")
    refused.expect(3, "at .127.0.0.3., port %d failed: Connection refused" % PORT, "listening on this address")
    status(box, "director", nowhere).expect(3, "could not translate host name", "check the server's name")
    box.dealbox("event", "status", "-d", "service=nothing").expect(3, "no connection to the event's database: .*\"nothing\" not found")
    # the first server does not run, and the second one is its replica
    owner("cup", "ALTER ROLE director SET default_transaction_read_only = on")
    home(box, password="Bermuda Bowl")
    status(box, "director", many).expect(3, "port %d failed: session is read-only" % PORT, "server that this replica copies")
    owner("cup", "ALTER ROLE director RESET default_transaction_read_only")


@test
def a_server_that_is_not_believed_is_not_asked(box):
    for name, what in (("elsewhere", "does not match host name"), ("server-old", "expired, or is not signed by"),
                       ("server-other", "not signed by the authority in .*root.crt")):
        serve(name)
        home(box, "hall_a")
        status(box, "hall_a").expect(3, what)
    serve("server")
    home(box, "hall_a", root=None)
    status(box, "hall_a").expect(3, "root certificate file .* does not exist", "root.crt")
    # without TLS at all
    SERVER.stop("fast")
    with open(os.path.join(SERVER.data, "postgresql.auto.conf"), "a") as file:
        file.write("ssl = off\n")
    SERVER.start()
    home(box, "hall_a")
    status(box, "hall_a").expect(3, "does not support SSL", "ssl = on")


try:
    main()
finally:
    SERVER.remove()
