#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What dealbox-compliance writes, verifies and compares."""

import json
import os
import re
import subprocess
import xml.etree.ElementTree

from bench import COMPLIANCE, Bench, Tap

# pango begins a thread whose end nobody can await. LeakSanitizer, which stops all threads when the
# program ends, sometimes meets it half gone, and breaks down. test_print looks for leaks.
os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"

DEALBOX = os.environ["DEALBOX"]
LIMITS = "[profile]\nname = impossible\nconfidence = 95 %\n[times]\ncontrol = 1 % above 0.000001 ms\n"

tap = Tap()


def call(*words):
    return subprocess.run([COMPLIANCE, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def tool(*words, text=True):
    return subprocess.run(words, stdout=subprocess.PIPE, text=text, check=True).stdout


def content(path):
    with open(path, "rb") as file:
        return file.read()


with Bench() as bench:
    folder = bench.folder.name
    key, other, page, junit, profile, changed = (
        os.path.join(folder, name) for name in ("key", "other", "page.html", "junit.xml", "ours.ini", "changed"))
    public = [subprocess.run([DEALBOX, "certificate", "new-key", name], stderr=subprocess.STDOUT,
                             stdout=subprocess.PIPE, text=True, check=True).stdout.split()[-1]
              for name in (key, other)]
    wanted = ("--only", "queries", "--key", key, "--html", page, "--junit", junit, "--profile", "club")
    report = bench.run(*wanted)
    tap.check("a run writes what is wanted", report.status == 0 and os.path.exists(page) and
              os.path.exists(junit), (report.status, report.err))
    tap.check("limits are judged on the terminal",
              re.search(r"^# not shown yet: cards read as another card: ", report.out, re.M), report.out)
    tap.check("a name is not the path of a file", report.whole["acceptance"]["profile"] == "club")

    suites = xml.etree.ElementTree.parse(junit).getroot()
    names = ["%s/%s" % (case.get("classname"), case.get("name")) for case in suites.iter("testcase")]
    tap.check("JUnit has the tests of the report",
              names == ["%s/%s" % (test["group"], test["test"]) for test in report.tests], names)

    for path in (bench.json, page):
        name = os.path.basename(path)
        result = call("verify", path)
        tap.check("%s: the signature is right" % name, result.returncode == 0 and public[0] in result.stdout,
                  result)
        tap.check("%s: by this signer" % name, call("verify", "--signer", public[0], path).returncode == 0)
        result = call("verify", "--signer", public[1], path)
        tap.check("%s: another signer is refused" % name, result.returncode == 1 and not result.stdout, result)
        whole = content(path)
        for at in (len(whole) // 3, whole.index(b"queries"), len(whole) - 3):
            with open(changed, "wb") as file:
                file.write(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
            result = call("verify", changed)
            tap.check("%s: a changed byte at %d is refused" % (name, at),
                      result.returncode in (1, 2) and not result.stdout and "changed" in result.stderr, result)

    pdf = os.path.join(folder, "report.pdf")
    for path in (bench.json, page):
        result = call("print", path, pdf)
        tap.check("%s: printed" % os.path.basename(path), result.returncode == 0 and not result.stderr, result)
    elements = tool("pdfinfo", "-struct-text", pdf)
    text = " ".join(tool("pdftotext", "-layout", pdf, "-").split())
    missing = [row["requirement"] for row in report.whole["requirements"] if " %s " % row["requirement"] not in text]
    tap.check("paper has each requirement", not missing, missing)
    missing = [name for name in names if not re.search(name.replace("/", r"/ ?") + r"\b", text)]
    tap.check("paper has each test", not missing, missing)
    tap.check("paper is tagged", all(" %s" % tag in elements for tag in ("H2 ", "Table ", "TR\n")) and
              "Acceptance of dealbox emulator" in tool("pdfinfo", pdf), repr(elements[:400]))
    plain = tool("qpdf", "--qdf", "--object-streams=disable", "--no-original-object-ids", pdf, "-", text=False)
    # as in the page, each with words for who does not see it
    plots = content(page).count(b"<svg")
    tap.check("paper has the plots of the page", plots > 0 and plain.count(b"/S /Figure") == plots and
              plain.count(b"/Alt ") == plots and plain.count(b"Histogram of ") == content(page).count(b"Histogram of "), (plots, elements[-400:]))
    tool("qpdf", "--check", pdf)
    tool("pdftoppm", "-r", "300", "-png", "-f", "1", "-l", "1", "-singlefile", pdf, os.path.join(folder, "page"))
    code = tool("zbarimg", "-q", "--nodbus", "--raw", "-Sdisable", "-Sqrcode.enable", os.path.join(folder, "page.png"))
    tap.check("its QR code is the signature", code == "dealbox compliance %s\n" % report.whole["signature"], code)
    before = content(pdf)
    call("print", bench.json, pdf)
    tap.check("the same bytes again", content(pdf) == before)
    with open(changed, "wb") as file:
        whole = content(bench.json)
        at = whole.index(b"queries")
        file.write(whole[:at] + b"Q" + whole[at + 1:])
    result = call("print", changed, os.path.join(folder, "none.pdf"))
    tap.check("a changed report is not printed", result.returncode == 2 and "changed" in result.stderr and
              not os.path.exists(os.path.join(folder, "none.pdf")), result)

    # The same content written by another program is another text.
    with open(changed, "w") as file:
        json.dump(report.whole, file, indent=1)
    tap.check("a report that was written again is refused", call("verify", changed).returncode == 2)

    result = call("compare", bench.json, page)
    tap.check("compare: nothing changed", result.returncode == 0 and "Nothing became worse" in result.stdout,
              result)
    worse = json.loads(content(bench.json))
    good = [row for row in worse["requirements"] if row["result"] == "ok"][0]
    good["result"] = "fail"
    with open(changed, "w") as file:
        json.dump(worse, file)
    result = call("compare", bench.json, changed)
    tap.check("compare: a requirement became worse", result.returncode == 1 and
              "worse:  %s: fail, was ok" % good["requirement"] in result.stdout, result)
    result = call("compare", changed, bench.json)
    tap.check("compare: it became better", result.returncode == 0 and "better:" in result.stdout, result)

    # Bad options are reported before the machine is touched.
    with open(profile, "w") as file:
        file.write(LIMITS + "colour = red\n")
    nowhere = "emu:" + os.path.join(folder, "nowhere")
    for name, words, text in (
            ("a setting that is unknown", ("--profile", profile), "ours.ini:6: "),
            ("a profile that is unknown", ("--profile", "pub"), "championship"),
            ("a folder that is not there", ("--html", os.path.join(folder, "no", "page")), "No such file"),
            ("a key that others may read", ("--key", changed, "--html", page), "chmod 600"),
            ("a key without a report", ("--key", key), "--html FILE")):
        result = call(*words, nowhere)
        tap.check(name, result.returncode == 2 and text in result.stderr and not result.stdout, result)

with Bench() as bench:
    report = bench.run("--only", "queries/sizes")
    tap.check("without a key", report.status == 0 and "signer" not in report.whole,
              (report.status, report.out, report.err))
    pdf = os.path.join(bench.folder.name, "report.pdf")
    result = call("print", "--paper", "letter", bench.json, pdf)
    tap.check("paper says that it is not signed", result.returncode == 0 and
              "Not signed" in tool("pdftotext", pdf, "-") and "612 x 792" in tool("pdfinfo", pdf), result)
    report.whole.setdefault("measurements", {})["readings"] = [
        {"reader": "camera", "expected": 3, "read": 29, "count": 4}, {"reader": "camera", "expected": 3, "read": 3,
                                                                     "count": 90}]
    read = os.path.join(bench.folder.name, "read.json")
    with open(read, "w") as file:
        json.dump(report.whole, file)
    result = call("print", read, pdf)
    plain = tool("qpdf", "--qdf", "--object-streams=disable", pdf, "-", text=False)
    tap.check("paper has a matrix for the reader", result.returncode == 0 and plain.count(b"One square for each") == 1 and
              "SA" in tool("pdftotext", pdf, "-"), result)
    result = call("verify", bench.json)
    tap.check("what is not signed is not verified", result.returncode == 1 and "not signed" in result.stderr,
              result)

with Bench() as bench:
    profile = os.path.join(bench.folder.name, "ours.ini")
    with open(profile, "w") as file:
        file.write(LIMITS)
    report = bench.run("--only", "queries", "--profile", profile)
    tap.check("a refuted limit is a failure", report.status == 1 and
              report.whole["profile"] == "impossible" and "# refuted:" in report.out, report.out)

for words in (("verify",), ("verify", "a", "b"), ("verify", "--signer", "12", "a"), ("verify", "nowhere"),
              ("verify", "--colour", "a"), ("compare", "a"), ("compare", "nowhere", "nowhere"),
              ("verify", os.devnull), ("print", "a"), ("print", "nowhere", "a.pdf"),
              ("print", "--paper", "a0", "a", "b")):
    result = call(*words)
    tap.check("wrong: %s" % " ".join(words), result.returncode == 2 and result.stderr and not result.stdout, result)
tap.end()
