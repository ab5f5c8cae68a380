#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Random walks through the database of an event, against a model of its rules."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../tool"))
from tool import main, test     # pylint: disable=wrong-import-position

from server import Server

SERVER = Server()
WALKS, STEPS = map(int, sys.argv[1:3]) if len(sys.argv) > 2 else (4, 300)


@test
def the_database_follows_the_rules(box):
    for role in ("pc", "director"):
        SERVER.sql("postgres", "CREATE ROLE dealbox_%s" % role)
    for user, role in (("a", "pc"), ("b", "pc"), ("c", "pc"), ("director", "director")):
        SERVER.sql("postgres", "CREATE ROLE %s LOGIN IN ROLE dealbox_%s" % (user, role))
    for seed in range(1, WALKS + 1):
        name = "walk%d" % seed
        SERVER.sql("postgres", "CREATE DATABASE %s" % name)
        box.dealbox("event", "init", "Walk", name, "--lease", "4", "--margin", "2", "-d", SERVER.address(name)).expect(0)
        result = subprocess.run([os.environ["DEALBOX_EVENT_WALK"], "host=%s dbname=%s" % (SERVER.folder, name),
                                 str(seed), str(STEPS)], stdout=subprocess.PIPE, text=True)
        print(result.stdout, end="")
        assert result.returncode == 0, result.stdout


try:
    main()
finally:
    SERVER.remove()
