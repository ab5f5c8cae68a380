#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""number_math.py PROGRAM: tests the arithmetic of numbers of deals (TAP).

PROGRAM, made of number_math.c, calculates with random numbers and with those at which something is
carried or borrowed. The results are compared with those of Python's integers.
"""
import random
import subprocess
import sys

ALL = 1 << 128
HALF = (1 << 64) - 1
NAMES = ('sum', 'difference', 'product of the lower halves', 'product', 'product with 32 bits',
         'upper half of that of the lower halves', 'shift left', 'shift right', 'comparison',
         'quotient', 'remainder')


def numbers(dice):
    """Return a number of up to 128 bits, with many runs of zeros and ones."""
    number = dice.getrandbits(128) >> dice.randrange(128)
    if dice.randrange(3) == 0:
        number = (1 << dice.randrange(128)) + dice.randrange(-2, 3)
    return number % ALL


def wanted(a, b, bits):
    """Return the results; the upper half may be up to two less."""
    lower = (a & HALF) * (b & HALF)
    return [(a + b) % ALL, (a - b) % ALL, lower, a * b % ALL, a * (b & 0xffffffff) % ALL, lower >> 64,
            (a << bits) % ALL, a >> bits, int(a < b), a // b, a % b]


def main():
    dice = random.Random(1)
    cases = []
    while len(cases) < 20000:
        a, b, bits = numbers(dice), numbers(dice), dice.randrange(1, 64)
        # around a multiple, where a quotient that is estimated is most easily wrong
        if b and dice.randrange(3) == 0:
            a = b * dice.getrandbits(dice.randrange(1, 97)) + dice.randrange(-1, 2)
        if 0 < b < 1 << 96 and 0 <= a < ALL:
            cases.append((a, b, bits))
    lines = ''.join(f'{a >> 64:016x}{a & HALF:016x} {b >> 64:016x}{b & HALF:016x} {bits}\n'
                    for a, b, bits in cases)
    got = subprocess.run([sys.argv[1]], input=lines, check=True, capture_output=True,
                         text=True).stdout.splitlines()
    wrong = dict.fromkeys(NAMES)
    for case, line in zip(cases, got):
        for name, want, word in zip(NAMES, wanted(*case), line.split(), strict=True):
            have = int(word, 16)
            if not (0 <= want - have <= 2 if name.startswith('upper') else want == have):
                wrong[name] = wrong[name] or f'{case}: {have}, not {want}'
    print(f'1..{len(NAMES) + 1}')
    for n, name in enumerate(NAMES, 1):
        print(f"{'not ok' if wrong[name] else 'ok'} {n} - {name}")
        if wrong[name]:
            print('#', wrong[name])
    print(f"{'ok' if len(got) == len(cases) else 'not ok'} {len(NAMES) + 1} - every case")
    return len(got) != len(cases) or any(wrong.values())


sys.exit(main())
