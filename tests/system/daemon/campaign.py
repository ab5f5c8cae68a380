# SPDX-License-Identifier: LGPL-2.1-or-later
"""campaign.py DEALBOXD DEALBOX SET CAMPAIGN [OPTION...]: the service deals the campaign (TAP).

The options are those of tests/system/campaign/run. The campaign starts the service itself, and
kills it.
"""
import os
import subprocess
import sys
import tempfile

from harness import World

dealboxd, dealbox, set_file, campaign, *options = sys.argv[1:]

# a ledger that waits for no disk
if os.access('/dev/shm', os.W_OK):
    tempfile.tempdir = '/dev/shm'
world = World(dealboxd, None, dealbox, set_file)
world.emulators.append(world.dir + '/machine')
world.write_config()
try:
    with open(world.dir + '/dealboxd.log', 'w') as log:
        status = subprocess.run([campaign, *options, '-d', world.dir, dealbox, dealboxd],
                                stderr=log, check=False).returncode
    if status:
        print(''.join('# ' + line for line in world.log().splitlines(True)[-40:]), flush=True)
finally:
    world.close()
sys.exit(status)
