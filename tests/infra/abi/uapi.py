#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Tests that the header of the kernel ABI only grows: size, alignment and members of each structure,
and the value of each macro, are those of the table baseline/uapi, for programs of 64 and of 32
bits. Members named reserved are not in the table, because additions take their room.

usage: tests/infra/abi/uapi.py          compares
       tests/infra/abi/uapi.py add      records what is new; what is recorded never changes
"""
import pathlib
import re
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
TABLE = FOLDER / 'baseline' / 'uapi'
HEADER = FOLDER.parents[2] / 'driver' / 'include' / 'uapi' / 'linux' / 'dealbox.h'
BITS = (64, 32)
# arguments of the macros that have one: every type of the machine, and the edges of the driver's
ARGUMENTS = [*range(0x140), 0x7fffffff, 0x80000000, 0xffffffff]


def assembly_of(header, bits, text):
    """What gcc makes of the text with the header."""
    multiarch = subprocess.run(['gcc', '-print-multiarch'], capture_output=True, text=True,
                               check=True).stdout.strip()
    # the kernel's headers are where gcc for 64 bits finds them
    return subprocess.run(['gcc', f'-m{bits}', '-x', 'c', '-O0', '-fno-pie', '-idirafter',
                           f'/usr/include/{multiarch}', '-include', header, '-S', '-o', '-', '-'],
                          input=text, capture_output=True, text=True, check=True).stdout


def structures(source):
    """(structure, [(type, member)]) as the header has them; members of a union are of its structure."""
    source = re.sub(r'/\*.*?\*/', '', source, flags=re.S)
    for name, body in re.findall(r'^struct (\w+) \{\n(.*?)^\};', source, flags=re.S | re.M):
        yield name, re.findall(r'^\s*(\w[\w ]*?) (\w+)(?:\[\w+\])*;', body, flags=re.M)


def ranges(flags):
    """The arguments for which a macro is true, such as "0x20..0x27"."""
    runs = []
    for before, argument, flag in zip([False, *flags], ARGUMENTS, flags):
        if flag and not before:
            runs.append([argument, argument])
        elif flag:
            runs[-1][1] = argument
    return ' '.join(f'{first:#x}..{last:#x}' for first, last in runs)


def table_of(header, bits):
    """{name: what a program has in it} of the header."""
    source = pathlib.Path(header).read_text()
    macros = re.findall(r'^#define (DEALBOX_\w+)(\(\w+\))?\s', source, flags=re.M)
    wanted = []
    for name, members in structures(source):
        wanted += [f'sizeof(struct {name})', f'_Alignof(struct {name})']
        for _, member in members:
            wanted += [f'__builtin_offsetof(struct {name}, {member})',
                       f'sizeof(((struct {name} *)0)->{member})']
    for name, argument in macros:
        wanted += [f'{name}({a}U)' for a in ARGUMENTS] if argument else [name]
    lines = ''.join(f'\tasm("#= %c0" :: "i"((unsigned int)({value})));\n' for value in wanted)
    assembly = assembly_of(header, bits, f'void values(void)\n{{\n{lines}}}\n')
    values = (int(value) & 0xffffffff for value in re.findall(r'#= \$?(-?\d+)', assembly))

    table = {}
    for name, members in structures(source):
        table[f'struct {name}'] = f'{next(values)} bytes, aligned to {next(values)}'
        for kind, member in members:
            place = f'{kind} at {next(values)}, {next(values)} bytes'
            if not member.startswith('reserved'):
                table[f'{name}.{member}'] = place
    for name, argument in macros:
        table[name] = ranges([next(values) for _ in ARGUMENTS]) if argument else f'{next(values):#x}'
    return table


def read_table():
    lines = TABLE.read_text().splitlines()
    return dict(line.split(': ', 1) for line in lines if not line.startswith('#'))


def faults(recorded, header, bits):
    """What a program that was built before would notice, and what is not recorded yet."""
    table = table_of(header, bits)
    for name, value in recorded.items():
        if name not in table:
            yield f'{name} is gone: {value}'
        elif table[name] != value:
            yield f'{name} has changed: {value}; now {table[name]}'
    for name in (name for name in table if name not in recorded):
        yield f'{name} is new: record it with tests/infra/abi/uapi.py add'


def add(recorded):
    table = table_of(HEADER, 64)
    with TABLE.open('a') as file:
        file.writelines(f'{name}: {value}\n' for name, value in table.items()
                        if name not in recorded)


# A change of the header, and the name that must be told; which of 64 and 32 bits notice it.
CHANGES = [
    (r'(DEALBOX_EV_KEY\s+)0x08', r'\g<1>0x09', 'DEALBOX_EV_KEY has changed', BITS),
    (r'#define DEALBOX_KEY_STOP.*\n', '', 'DEALBOX_KEY_STOP is gone', BITS),
    (r'- 0x28U < 0x18U', '- 0x28U < 0x17U', 'DEALBOX_EV_IS_VOID has changed', BITS),
    (r'IOC_MAGIC, 0x03\)', 'IOC_MAGIC, 0x0a)', 'DEALBOX_IOC_RELEASE has changed', BITS),
    (r'(__u32 plan_id;\n)(\t__u32 insertion;\n)(\t__u8 state)', r'\2\1\3',
     'dealbox_status.plan_id has changed', BITS),
    (r'__u8 pocket\[', '__s8 pocket[', 'dealbox_plan.pocket has changed', BITS),
    (r'(__u32 seconds;\n)', r'\1\t__u32 minutes;\n', 'struct dealbox_counters has changed', BITS),
    (r'__u32 seconds;', r'__u32 seconds;\n\t__u32 minutes;', 'dealbox_counters.minutes is new', BITS),
    (r'__aligned_u64', r'__u64', 'struct dealbox_event has changed', (32,)),
    (r'__u32 power_ons;', r'unsigned long power_ons;', 'struct dealbox_counters has changed', (64,)),
]


def noticed(recorded, change):
    old, new, told, by = change
    with tempfile.NamedTemporaryFile('w', suffix='.h') as file:
        file.write(re.sub(old, new, HEADER.read_text()))
        file.flush()
        return tuple(bits for bits in BITS if any(
            fault.startswith(told) for fault in faults(recorded, file.name, bits))) == by


def main():
    recorded = read_table()
    if sys.argv[1:] == ['add']:
        return add(recorded)
    print(f'1..{len(BITS) + len(CHANGES)}')
    failed = 0
    for number, bits in enumerate(BITS, 1):
        found = list(faults(recorded, HEADER, bits))
        failed += bool(found)
        print(f'{"not " * bool(found)}ok {number} - the kernel ABI for {bits} bits is as recorded')
        for fault in found:
            print(f'# {fault}')
        if found:
            print('# linux/dealbox.h is frozen: programs that were built before must run on. '
                  'It can only grow.')
    for number, change in enumerate(CHANGES, len(BITS) + 1):
        good = noticed(recorded, change)
        failed += not good
        print(f'{"not " * (not good)}ok {number} - it is noticed when {change[2]}')
    return failed > 0


sys.exit(main())
