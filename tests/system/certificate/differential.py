#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Changes good and bad cases of docs/vectors here and there, as whoever has all the keys could, and
compares `dealbox certificate verify` with the page in the browser: two implementations that were
written apart must give the same status, findings and number of boards. TAP.

usage: differential.py [CASES [SEED]]     needs build/user; DIFFERENT=FILE keeps what they differ in
"""

import concurrent.futures
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import vectors
from writer import Key, blake2b, deal_of, exchanged, pbn_of, sha256, sign_text

HERE = pathlib.Path(__file__).resolve().parent
NODE = HERE.parent / "verifier/node.js"
TOP = HERE.parents[2]
DEALBOX = TOP / "build/user/tools/dealbox/dealbox"
KEYS = {key.hex: key for key in map(Key, ("organiser", "pc", "other pc", "machine", "other", "emulator"))}
SEATS = "NESW"

NUMBERS = ["0", "1", "2", "3", "5", "100", "101", "102", "103", "105", "9999", "10000", "65535", "65536", "2147483648",
           "4294967295", "4294967296", "18446744073709551616", "01", "+1", "-1", " 1", "1 ", "", "1e1", "0x1", "1.0",
           "\u0661"]
NAMES = ["rr", "rr1", "rr01", "rr2", "f", "rrreserve", "rr1reserve", "friday", "RR", "ex1", "ex3", "ex9999", "ex10000",
         "DB-0042", "DB-0043", "emulator", "-", "", " ", " rr", "rr ", "x" * 127, "x" * 128, "\u00e9" * 63, "\u00e9" * 64,
         "a\u0085b", "a\u00a0", "\u2028", "\u20ac", "\U0001f0a1", "r\tr", "r\x7fr", "r\x1fr", "r\0r", "\ufeffrr", "constructor",
         "__proto__"]
TIMES = ["1970-01-01T00:00:00.000000Z", "1969-12-31T23:59:59.999999Z", "2024-02-29T00:00:00.000000Z",
         "2023-02-29T00:00:00.000000Z", "2100-02-29T00:00:00.000000Z", "2000-02-29T00:00:00.000000Z",
         "2026-04-31T00:00:00.000000Z", "2026-00-01T00:00:00.000000Z", "2026-13-01T00:00:00.000000Z",
         "2026-01-00T00:00:00.000000Z", "9999-12-31T23:59:59.999999Z", "0000-01-01T00:00:00.000000Z",
         "10000-01-01T00:00:00.000000Z", "2026-06-30T23:59:60.000000Z", "2026-06-30T23:60:00.000000Z",
         "2026-06-30T24:00:00.000000Z", "2026-06-30 23:00:00.000000Z", "2026-06-30T23:00:00.00000Z",
         "2026-06-30t23:00:00.000000z", "2026-6-30T23:00:00.000000Z", "2026-06-30T23:00:00,000000Z",
         "+026-06-30T23:00:00.000000Z", "2026-06-30T23:00:+1.000000Z", "3000-01-01T00:00:00.000000Z"]
PHASES = ["1:1-2:rr:Round robin", "1:2:rr:R", "1:1:rr:R", "1:?:rr:R", "0:?:rr#:R", "0:1-2:rr#:R", "2:1-2,3-4:rr#:R",
          "2:1,2,3:rr#:R", "9999:1:rr#:R", "10000:1:rr#:R", "1:1-9999:rr:R", "1:1-10000:rr:R", "1:01-02:rr:R",
          "1:000001-2:rr:R", "1:0000001-2:rr:R", "1:2x1:rr:R", "3:3x2:rr#:R", "1:99x101:rr:R", "1:99x102:rr:R",
          "1:65536x65536:rr:R", "1:2x65536:rr:R", "1:999999x999999:rr:R", "1:1x:rr:R", "1:x1:rr:R", "1:0x1:rr:R",
          "1:1-2,:rr:R", "1:,1-2:rr:R", "1:1-2-3:rr:R", "1:1--2:rr:R", "1: 1-2:rr:R", "1:1-2 :rr:R", "1:?,1:rr:R",
          "1:1-2:rr#:R", "1:1-2:r##r:R", "1:1-2:r#r#:R", "1:1-2:rr######:R", "1:1-2:rr#######:R", "1:1-2:1r:R",
          "1:1-2:_r:R", "1:1-2:r_-9:R", "1:1-2:\u00e9r:R", "1:1-2:r\u00e9:R", "1:1-2::R", "1:1-2:rr:", "1:1-2:rr", "1:1-2:rr:R:S",
          "1:1-2:rr: R", "1:1-2:rr:R ", "1:1-2:rr:R\t", "1:1-2:rr:R\x0b", "1:1-2:rr:\u00a0", "1:1-2:rr:" + "x" * 200,
          "1:1-2:rr:" + "x" * 201, "1:1-2:rr:" + "\u00e9" * 101, "1:1-2:" + "r" * 100 + ":R", "1:1-2:" + "r" * 101 + ":R",
          "01:1-2:rr:R", " 1:1-2:rr:R", "+1:1-2:rr:R", ":1-2:rr:R", "1:1-2:rrreserve:R", "0:1:rr#reserve:R", "1:1-2:rr:\x01",
          "2:?:rr#:R", "1:1-2:ex3:R", "0:1-2:ex#:E", "11:1:rr#:R", "1:1:rr11:R"]
MACHINES = ["- real DB-0042", "- emulator DB-0042", "%s real DB-0042" % Key("machine").hex,
            "%s emulator DB-0042" % Key("machine").hex, "%s emulator other" % Key("other").hex,
            "%s real DB-0043" % Key("machine").hex, "%s real DB-0042" % Key("other").hex, "- real -", "- real ", "real x",
            "%s real  DB-0042" % Key("machine").hex, "- Real DB-0042", "-- real DB-0042", "- real r\0r", "- real \u00e9"]
TEXTS = ["", "x", " x", "x ", "x\t", "\tx", "a\x01b", "a\x7fb", "x\u00a0", "\u00a0", "\u2028", "x" * 200, "x" * 2000, "a  b", "a\0b", "\x0b"]


# -- cases as trees ----------------------------------------------------------------------------------

class Text:
    """A signed text, taken apart: lines of its body and its key."""

    def __init__(self, text):
        match = re.fullmatch(r"(.*\n)signer ([0-9a-f]{64})\nsignature [0-9a-f]{128}\n", text, re.S)
        if not match or match[2] not in KEYS:
            raise ValueError
        self.lines = [tuple(line.split(" ", 1)) if " " in line else (line, None) for line in match[1].split("\n")[:-1]]
        self.key = KEYS[match[2]]
        self.fixed = set()          # words of lines that are not to be made again
        self.deal = self.nonce = None

    def get(self, word):
        return next((value for key, value in self.lines if key == word), None)

    def set(self, word, value):
        self.lines = [(key, value if key == word and word not in self.fixed else old) for key, old in self.lines]

    @property
    def kind(self):
        return (self.lines[0][1] or "").split(" ")[0] if self.lines else ""

    def body(self):
        return "".join(word + ("" if value is None else " " + value) + "\n" for word, value in self.lines)

    def salt(self, opening):
        lines = "".join("%s %s\n" % (word, self.get(word)) for word in ("manifest", "session", "board", "copy", "machine",
                                                                       "insertion"))
        return blake2b(opening, b"dealbox salt 1\n", lines.encode())

    def plan(self, opening, seats):
        cards = [0] * 4
        pockets = self.get("pockets") or ""
        for card, seat in enumerate(seats):
            place = pockets.find(SEATS[seat])
            cards[place if 0 <= place < 4 else 0] |= 1 << card
        return blake2b(self.salt(opening), b"dealbox plan 1\n", b"".join(n.to_bytes(8, "little") for n in cards)).hex()

    def pad(self, opening):
        return blake2b(self.salt(opening), b"dealbox nonce 1\n", bytes.fromhex(self.get("statement")))


def seats_of(pbn):
    seats = [0] * 52
    for seat, hand in enumerate(pbn[2:].split(" ")):
        for suit, ranks in enumerate(hand.split(".")):
            for rank in ranks:
                seats[13 * suit + "AKQJT98765432".index(rank)] = seat
    return seats


class Tree:
    def __init__(self, vector):
        self.manifest = Text(vector["manifest"])
        self.files = [[Text(text) for text in re.findall(r".*?\nsignature [^\n]*\n", file, re.S)]
                      for file in vector["certificates"]]
        self.deals = {session: dict(boards) for session, boards in vector["deals"].items()}
        self.options = {word: vector[word] for word in ("signer", "pc", "copies") if word in vector}
        self.raw = []
        for file in self.files:
            opening = self.opening(file)
            for text in file:
                if text.kind == "certificate":
                    pbn = self.deals.get(text.get("session"), {}).get(text.get("board"))
                    if pbn and text.plan(opening, seats_of(pbn)) == text.get("plan"):
                        text.deal = seats_of(pbn)
                    if re.fullmatch("[0-9a-f]{64}", text.get("nonce") or ""):
                        text.nonce = bytes(a ^ b for a, b in zip(bytes.fromhex(text.get("nonce")), text.pad(opening)))

    @staticmethod
    def opening(file):
        for text in file:
            if text.kind == "opening" and re.fullmatch("[0-9a-f]{64}", text.get("opening") or ""):
                return bytes.fromhex(text.get("opening"))
        return sha256("opening")

    def vector(self):
        """Sign everything again, so that one defect does not hide the next."""
        manifest = sign_text(self.manifest.body(), self.manifest.key)
        files = []
        for file in self.files:
            opening = self.opening(file)
            previous = sha256(manifest)
            done = ""
            certificates = 0
            for text in file:
                text.set("manifest", sha256(manifest).hex())
                text.set("previous", previous.hex())
                if text.kind == "certificate":
                    certificates += 1
                    if text.deal:
                        text.set("plan", text.plan(opening, text.deal))
                    if text.nonce and re.fullmatch("([0-9a-f]{2})+", text.get("statement") or ""):
                        text.set("nonce", bytes(a ^ b for a, b in zip(text.nonce, text.pad(opening))).hex())
                else:
                    text.set("certificates", str(certificates))
                signed = sign_text(text.body(), text.key)
                previous = sha256(signed)
                done += signed
            files.append(done)
        vector = {"manifest": manifest, "certificates": files, "deals": self.deals, **self.options}
        for change in self.raw:
            change(vector)
        return vector


# -- changes -----------------------------------------------------------------------------------------

def flip(digits, rng):
    place = rng.randrange(len(digits))
    return digits[:place] + "%x" % (int(digits[place], 16) ^ 1 << rng.randrange(4)) + digits[place + 1:]


def values(word, old, rng):
    """Other values of a line."""
    old = old or ""
    if word in ("board", "copy", "insertion", "number", "certificates", "copies"):
        near = [str(int(old) + step) for step in (-1, 1, 2)] if old.isdigit() else []
        return NUMBERS + near
    if word in ("session", "machine") and " real " not in old and " emulator " not in old:
        return NAMES
    if word == "machine":
        return MACHINES
    if word == "time":
        return TIMES
    if word == "SN":
        return PHASES
    if word in ("TN", "DI"):
        return TEXTS
    if word == "pockets":
        return ["ESWN", "NEWS", "WSEN", "NNSW", "nesw", "NESWN", "NES", ""]
    if word == "by":
        return ["machine", "emulator", "hand", "Hand", "", "hand "]
    if word == "verdict":
        return ["exact", "void", "Exact", ""]
    if word == "basis":
        return ["sensors", "gates", "none", ""]
    if word == "cards":
        return ["read", "counted", ""]
    if word == "dealbox":
        return [old[:-1] + end for end in ("0", "1", "2", "3", "01", "2 ", "")] + ["opening 1", "certificate 2"]
    if word in ("pc", "key"):
        return [key.hex for key in KEYS.values()] + ["-", "", "00" * 32, old.upper(), old[:-1]]
    if re.fullmatch("[0-9a-f]{64,}", old):
        return ["-", "", old.upper(), old[:-2], old + "00", flip(old, rng), flip(old, rng), "00" * (len(old) // 2)]
    return ["-", "", "00", "ff" * 32, "00" * 64, "00" * 96]


def all_texts(tree):
    return [tree.manifest] + [text for file in tree.files for text in file]


def change_value(tree, rng):
    text = rng.choice(all_texts(tree))
    place = rng.randrange(len(text.lines))
    word, old = text.lines[place]
    text.lines[place] = word, rng.choice(values(word, old, rng))
    text.fixed.add(word)


def change_lines(tree, rng):
    text = rng.choice(all_texts(tree))
    place = rng.randrange(len(text.lines))
    line = text.lines.pop(place)
    how = rng.randrange(4)
    if how == 1:
        text.lines.insert(rng.randrange(len(text.lines) + 1), line)
    elif how == 2:
        text.lines[place:place] = [line, line]
    elif how == 3:
        text.lines[place:place] = [line, (line[0], rng.choice(values(*line, rng)))]
    text.fixed.add(line[0])


def change_phase(tree, rng):
    """One more phase."""
    tree.manifest.lines.insert(next(n for n, line in enumerate(tree.manifest.lines) if line[0] == "KH")
                               if tree.manifest.get("KH") else 0, ("SN", rng.choice(PHASES)))


def change_machine(tree, rng):
    tree.manifest.lines.append(("machine", rng.choice(MACHINES)))


def change_statement(tree, rng):
    """A byte of what the machine signed, with or without another signature."""
    texts = [text for text in all_texts(tree) if re.fullmatch("[0-9a-f]{192}", text.get("statement") or "")]
    if not texts:
        return
    text = rng.choice(texts)
    statement = bytearray.fromhex(text.get("statement"))
    place = rng.choice([0, 4, 5, 6, 6, 7, 8, 16, 16, 16, 20, 24, 28, 32, 64, rng.randrange(96)])
    statement[place] = (statement[place] + rng.choice([1, 1, 2, 3, 4, 255, 254, 128])) % 256
    text.lines = [(word, statement.hex() if word == "statement" else value) for word, value in text.lines]
    key = KEYS.get(text.get("key"))
    if key and rng.random() < 0.7:
        signature = key.sign(b"dealing machine attestation\n" + bytes(statement)).hex()
        text.lines = [(word, signature if word == "attestation" else value) for word, value in text.lines]


def copy_of(text):
    other = Text(sign_text(text.body(), text.key))
    other.deal, other.nonce, other.fixed = text.deal, text.nonce, set(text.fixed)
    return other


def change_texts(tree, rng):
    """Certificates that are taken out, moved, void, or there again."""
    file = rng.choice(tree.files)
    if not file:
        return
    place = rng.randrange(len(file))
    how = rng.randrange(5)
    if how == 0:
        file.pop(place)
    elif how == 1:
        file.insert(rng.randrange(len(file)), file.pop(place))
    else:
        again = copy_of(file[place])
        if how == 2:
            again.set("verdict", rng.choice(["void", "exact"]))
        if how == 3 and again.kind == "certificate":
            word = rng.choice(["session", "board", "copy", "insertion", "machine", "by"])
            again.set(word, rng.choice(values(word, again.get(word), rng)))
        file.insert(rng.randrange(len(file) + 1), again)


def change_key(tree, rng):
    rng.choice(all_texts(tree)).key = rng.choice(list(KEYS.values()))


def change_file(tree, rng):
    how = rng.randrange(3)
    if how == 0:
        tree.files.append([])
    elif how == 1:
        tree.files.append([copy_of(text) for text in rng.choice(tree.files)])
    elif len(tree.files) > 1:
        tree.files.pop(rng.randrange(len(tree.files)))


def change_deals(tree, rng):
    how = rng.randrange(7)
    session = rng.choice(sorted(tree.deals)) if tree.deals else "rr"
    boards = tree.deals.setdefault(session, {})
    board = rng.choice(sorted(boards)) if boards else "1"
    if how == 0:
        boards.pop(board, None)
        if not boards:
            tree.deals.pop(session)
    elif how == 1:
        tree.deals.pop(session)
    elif how == 2:
        boards[rng.choice(["1", "2", "3", "7", "9999", "10000", "65535", "65536"])] = pbn_of(deal_of("x"))
    elif how == 3 and board in boards:
        boards[board] = pbn_of(exchanged(seats_of(boards[board])))
    elif how == 4:
        name = rng.choice([name for name in NAMES if re.fullmatch("[A-Za-z0-9_-]+", name) and len(name) < 100])
        if name not in ("-", "__proto__"):
            tree.deals[name] = dict(boards) or {"1": pbn_of(deal_of("x"))}
    elif how == 5 and board in boards:
        text = boards[board]
        boards[board] = rng.choice([text.lower()[0].upper() + text[1:].lower(), "E" + text[1:], text[:-1], text + " ",
                                    text.replace(" ", "  ", 1), text.replace("T", "10", 1), text.replace("A", "K", 1),
                                    "N:- - - -", text[2:], text.replace(" ", "\t", 1)])
    if not tree.deals.get(session, True):
        tree.deals.pop(session)


def change_options(tree, rng):
    how = rng.randrange(4)
    if how == 0:
        tree.options["signer"] = rng.choice(list(KEYS))
    elif how == 1:
        tree.options["pc"] = rng.sample(list(KEYS), rng.randrange(1, 3))
    elif how == 2:
        tree.options["copies"] = rng.choice([1, 2, 3])
    else:
        tree.options.pop(rng.choice(list(tree.options)), None) if tree.options else None


def change_bytes(tree, rng):
    """Bytes of a text that is signed already."""
    which, place, how, byte = rng.random(), rng.random(), rng.randrange(5), chr(rng.choice([0, 10, 13, 32, 45, 48, 97, 127,
                                                                                          133, 160, 0xfeff]))

    def change(vector):
        texts = [vector["manifest"]] + vector["certificates"]
        n = int(which * len(texts))
        at = int(place * len(texts[n]))
        text = texts[n]
        texts[n] = [text[:at], text[:at] + byte + text[at:], text[:at] + byte + text[at + 1:], text[:at] + text[at + 1:],
                    text + byte][how]
        vector["manifest"], vector["certificates"] = texts[0], texts[1:]

    tree.raw.append(change)


CHANGES = [change_value] * 8 + [change_statement] * 4 + [change_texts] * 4 + [change_deals] * 3 + [
    change_lines, change_phase, change_machine, change_key, change_file, change_options, change_options, change_bytes]


def each_value(vector, rng):
    """Each value that a line may get: number of the text, number of the line, value."""
    return [(n, place, value) for n, text in enumerate(all_texts(Tree(vector))) for place, line in enumerate(text.lines)
            for value in values(*line, rng)]


def with_value(vector, n, place, value):
    tree = Tree(vector)
    text = all_texts(tree)[n]
    word = text.lines[place][0]
    text.lines[place] = word, value
    text.fixed.add(word)
    return "text %d: %s %r" % (n, word, value), tree.vector()


def cases(count, seed):
    rng = random.Random(seed)
    vectors.everything()
    bases = [vector for vector in vectors.vectors if vector["status"] < 2]
    by_name = {vector["name"]: vector for vector in bases}
    one_at_a_time = [(name, *change) for name in ("good-taken-back", "good-sessions", "good-version-1-mixed", "hand")
                     for change in each_value(by_name[name], rng)]
    for name, *change in rng.sample(one_at_a_time, min(count // 2, len(one_at_a_time))):
        what, vector = with_value(by_name[name], *change)
        yield "%s, %s" % (name, what), vector
    for _ in range(count - count // 2):
        base = rng.choice(bases)
        tree = Tree(base)
        changes = [rng.choice(CHANGES) for _ in range(rng.choice([1, 1, 2, 2, 3, 4]))]
        for change in changes:
            change(tree, rng)
        yield "%s, %s" % (base["name"], " ".join(change.__name__ for change in changes)), tree.vector()


# -- the comparison ----------------------------------------------------------------------------------

def of_command(vector):
    with tempfile.TemporaryDirectory(prefix="dealbox-") as folder:
        return vectors.verify(DEALBOX, vector, folder)


def main(count="1500", seed="1"):
    sodium = subprocess.run([TOP / "tests/infra/setup/where", "libsodium-js"], check=True, stdout=subprocess.PIPE,
                            text=True).stdout.strip()
    made = list(cases(int(count), int(seed)))
    text = "".join(json.dumps(vector) + "\n" for _, vector in made)
    different = []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        page = pool.submit(subprocess.run, ["node", NODE, sodium], input=text, check=True, stdout=subprocess.PIPE, text=True)
        command = [of_command(vector) for _, vector in made]
        page = [tuple(json.loads(line)) for line in page.result().stdout.splitlines()]
    assert len(page) == len(made)
    for (what, vector), one, other in zip(made, command, page):
        if tuple(one) != other:
            different.append("%s: command %r, page %r" % (what, one, other))
            if "DIFFERENT" in os.environ:
                with open(os.environ["DIFFERENT"], "a", encoding="utf-8") as file:
                    file.write(json.dumps({"what": what, "command": one, "page": other, **vector}) + "\n")
    said = {word for _, findings, _ in command for word in findings}
    print("1..2")
    print("%s 1 - command and page agree on %d changed cases (seed %s), %d of them refused" %
          ("not ok" if different else "ok", len(made), seed, sum(1 for one in command if one[0] == 2)))
    for line in different[:50]:
        print("#   " + line)
    enough = len(said) >= 29 or len(made) < 1000
    print("%s 2 - they have %d of the findings" % ("ok" if enough else "not ok", len(said)))
    return 1 if different or not enough else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
