#!/usr/bin/python3
"""Shows what takes longest of building and of testing: where time is won next.

  tools/slowest.py compiles BUILD_FOLDER...   the slowest compiles, from ninja's logs of these folders
  tools/slowest.py tests CTEST_ARGUMENT...    runs ctest, and puts the slowest tests before its summary, which stays the end of the output

All times are of the clock. What ran side by side shared the machine, so compare lines of one run only.
"""
import os
import re
import subprocess
import sys

SHOWN = 10


def show(kind, found):
    print(f'\nSlowest of {len(found)} {kind}, {sum(seconds for seconds, _ in found):.0f} s one after the other:')
    for seconds, what in sorted(found, reverse=True)[:SHOWN]:
        print(f'{seconds:8.1f} s  {what}')
    print(flush=True)


def compiles(folders):
    """Lines of a log are start, end, time of the file, file, hash; times in ms. Of a file that was made again the last one counts."""
    found = []
    for folder in folders:
        steps = {}
        with open(os.path.join(folder, '.ninja_log'), encoding='utf-8') as log:
            for line in log:
                fields = line.rstrip('\n').split('\t')
                if len(fields) == 5 and fields[3].endswith(('.o', '.gch')) and os.path.exists(os.path.join(folder, fields[3])):
                    steps[fields[3]] = (int(fields[1]) - int(fields[0])) / 1000
        found += [(seconds, os.path.join(folder, file)) for file, seconds in steps.items()]
    show('compiles', found)
    return 0


def tests(arguments):
    found, summary = [], []
    ctest = subprocess.Popen(['ctest', *arguments], stdout=subprocess.PIPE, text=True, errors='replace')
    for line in ctest.stdout:
        if summary or re.match(r'\d+% tests passed', line):
            summary.append(line)
            continue
        print(line, end='', flush=True)
        if ran := re.match(r' *\d+/\d+ Test +#\d+: (\S+) .* ([\d.]+) sec', line):
            found.append((float(ran[2]), ran[1]))
    if found:
        show('tests', found)
    print(''.join(summary), end='', flush=True)
    return ctest.wait()


if len(sys.argv) < 3 or sys.argv[1] not in ('compiles', 'tests'):
    sys.exit(__doc__)
sys.exit({'compiles': compiles, 'tests': tests}[sys.argv[1]](sys.argv[2:]))
