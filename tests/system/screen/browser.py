# SPDX-License-Identifier: LGPL-2.1-or-later
"""A browser without a window: Debian's Chromium, steered by Selenium."""
import base64
import functools
import http.server
import json
import os
import shutil
import threading

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

SCREEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../../tools/screen')
FILES = ('.js', '.html', '.css', '.json')


def open_browser(width, height, insecure=False):
    """insecure: a certificate that nobody has signed is taken."""
    options = Options()
    options.accept_insecure_certs = insecure
    # the sandbox of a browser wants what root in a container has not; no GPU, no shared memory are needed
    for word in ('--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
                 '--force-device-scale-factor=1', '--hide-scrollbars', '--lang=en'):
        options.add_argument(word)
    options.set_capability('goog:loggingPrefs', {'browser': 'ALL', 'performance': 'ALL'})
    browser = webdriver.Chrome(options=options, service=Service('/usr/bin/chromedriver'))
    resize(browser, width, height)
    return browser


def resize(browser, width, height):
    """The page gets this size, also below the least that a window has."""
    browser.execute_cdp_cmd('Emulation.setDeviceMetricsOverride',
                            {'width': width, 'height': height, 'deviceScaleFactor': 1, 'mobile': False})


def copy_package(words, folder):
    """The package as it is installed, in that folder."""
    os.makedirs(folder)
    for name in os.listdir(SCREEN):
        if name.endswith(FILES):
            shutil.copy(os.path.join(SCREEN, name), folder)
    shutil.copy(words, folder)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def serve(folder):
    """Serve a folder; the address of its package. Without Cockpit, whose script is to be in base1."""
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return 'http://127.0.0.1:%d/dealbox/' % server.server_address[1]


def complaints(browser):
    """What the page has written to the console since this was last asked."""
    return [one['message'] for one in browser.get_log('browser')
            if 'favicon' not in one['message'] and one['level'] in ('SEVERE', 'WARNING')]


def frames_of(browser):
    """What has come and gone over the websocket since this was last asked: (sent by us, text)."""
    found = []
    for entry in browser.get_log('performance'):
        message = json.loads(entry['message'])['message']
        if message['method'] in ('Network.webSocketFrameReceived', 'Network.webSocketFrameSent'):
            response = message['params']['response']
            data = response['payloadData']
            if response['opcode'] == 2:
                data = base64.b64decode(data).decode(errors='replace')
            found.append((message['method'].endswith('Sent'), data))
    return found
