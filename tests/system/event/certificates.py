# SPDX-License-Identifier: LGPL-2.1-or-later
"""Authorities and certificates, in one folder."""

import os
import subprocess


def run(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True)
    assert result.returncode == 0, result


class Certificates:
    def __init__(self, folder):
        self.folder = folder

    def path(self, name):
        return os.path.join(self.folder, name)

    def request(self, name, subject, *options):
        run("openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
            self.path(name + ".key"), "-subj", "/CN=" + subject, *options)

    def authority(self, name):
        self.request(name, name, "-x509", "-days", "30", "-out", self.path(name + ".crt"))

    def make(self, name, subject, signer="ca", expired=False, names=""):
        """A key and a certificate: of yesterday, for a month; or of long ago."""
        self.request(name, subject, "-out", self.path(name + ".csr"))
        # only as an authority does openssl make a certificate that begins in the past
        config = self.path(name + ".cnf")
        with open(config, "w") as file:
            file.write("[ca]\ndefault_ca = it\n[it]\ndatabase = %s\nserial = %s\nnew_certs_dir = %s\ndefault_md = sha256\n"
                       "policy = any\n[any]\ncommonName = supplied\n[names]\n%s\n"
                       % (self.path(name + ".db"), self.path(name + ".srl"), self.folder,
                          "subjectAltName = " + names if names else ""))
        for end, text in ((".db", ""), (".srl", "77\n")):
            with open(self.path(name + end), "w") as file:
                file.write(text)
        run("openssl", "ca", "-batch", "-notext", "-config", config, "-in", self.path(name + ".csr"), "-out",
            self.path(name + ".crt"), "-cert", self.path(signer + ".crt"), "-keyfile", self.path(signer + ".key"),
            "-startdate", "20200101000000Z", "-enddate", "20200201000000Z" if expired else "21000101000000Z",
            *(("-extensions", "names") if names else ()))
