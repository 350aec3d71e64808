#!/usr/bin/python3
"""Writes the table of backend tests into a document, from the lists that onnx_backend --list wrote:

    write_table.py README.md SUITE=LIST...      SUITE says whose tests they are: "ONNX 1.12"

The table stands between the lines <!-- backend tests --> and <!-- end -->.
"""
import re
import sys

HEAD = '| tests | kernels | passed | failed | refused | of | operators with all passed |\n|---|---|---|---|---|---|---|\n'


def row(suite, path):
    with open(path, encoding='utf-8') as file:
        text = file.read()
    kernels, *counts = re.search(r'kernels (\w+): (\d+) passed, (\d+) failed, (\d+) refused, of (\d+)', text).groups()
    whole, operators = re.search(r'operators with all tests passed: (\d+) of (\d+)', text).groups()
    return f'| {suite} | {kernels} | {" | ".join(counts)} | {whole} of {operators} |\n'


def main():
    document, lists = sys.argv[1], [a.split('=', 1) for a in sys.argv[2:]]
    with open(document, encoding='utf-8') as file:
        text = file.read()
    table = HEAD + ''.join(row(*suite) for suite in lists)
    changed, count = re.subn(r'(<!-- backend tests -->\n).*?(<!-- end -->)', lambda m: m[1] + table + m[2], text, flags=re.DOTALL)
    if count != 1:
        sys.exit(f'{document} has no place for the table, or several')
    with open(document, 'w', encoding='utf-8') as file:
        file.write(changed)


if __name__ == '__main__':
    main()
