#!/usr/bin/python3
"""No kernel keeps vectors on the stack inside a loop: read from its A64FX code, without running it.

  spill_test.py --objdump aarch64-linux-gnu-objdump --compiler aarch64-linux-gnu-g++ OBJECT...
  spill_test.py ... --list         prints every such instruction with its function

A kernel loads and stores vectors under predicates. LDR and STR of a whole z register are what GCC makes where registers do not
suffice, with sp or, as often, a copy of it as the address. In a loop they cost what the registers were to save: the direct
convolution's 8 x 3 tile reached 0.30 of the pipes with three of its sums on the stack, 0.92 with all in registers (SimEng's model of
A64FX). A loop is a strongly connected part of a function's control flow, so that set-up code that lies between a loop and its exit
is none, and the body of an outer loop is one.

Whether a kernel spills is decided by the compiler's version: with another one than the numbers of a64fx_instructions.txt were made
with, the test is skipped.
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

from costs_test import SKIPPED, read_numbers, version_of

FUNCTION = re.compile(r'^[0-9a-f]+ <(.*)>:$')
INSTRUCTION = re.compile(r'^\s*([0-9a-f]+):\s+(\S+)(?:\s+(.*))?$')
TARGET = re.compile(r'(?:^|,\s*)([0-9a-f]+) <')
WHOLE_VECTOR = re.compile(r'^z\d+, \[')
CONDITIONAL = ('b.', 'cbz', 'cbnz', 'tbz', 'tbnz')


def functions_of(objdump, path):
    """[(name, [(address, mnemonic, operands)])]"""
    text = subprocess.run([objdump, '-d', '-C', '--no-show-raw-insn', path], check=True, capture_output=True, text=True).stdout
    functions = []
    for line in text.splitlines():
        if head := FUNCTION.match(line):
            functions.append((head[1], []))
        elif functions and (found := INSTRUCTION.match(line)):
            functions[-1][1].append((int(found[1], 16), found[2], found[3] or ''))
    return functions


def flow_of(code):
    """For every instruction's place, the places that may be executed next."""
    place = {address: i for i, (address, _, _) in enumerate(code)}
    after, tables = [], []
    for i, (_, name, operands) in enumerate(code):
        branch = name == 'b' or name.startswith(CONDITIONAL)
        found = TARGET.search(operands) if branch else None
        targets = [place[int(found[1], 16)]] if found and int(found[1], 16) in place else []
        if name not in ('b', 'ret', 'br', 'udf') and i + 1 < len(code):
            targets.append(i + 1)
        if name == 'br':
            tables.append(i)
        after.append(targets)
    # A jump through a table may go wherever nothing else goes to.
    reached = {target for targets in after for target in targets}
    for i in tables:
        after[i] = [j for j in range(1, len(code)) if j not in reached]
    return after


def looping(after):
    """Whether each place lies on a cycle: Tarjan's strongly connected components, without recursion."""
    order, low, on_stack, result = [None] * len(after), [0] * len(after), [False] * len(after), [False] * len(after)
    stack, count = [], 0
    for root in range(len(after)):
        if order[root] is not None:
            continue
        work = [(root, iter(()))]
        while work:
            i, rest = work[-1]
            if order[i] is None:
                order[i] = low[i] = count
                count += 1
                stack.append(i)
                on_stack[i] = True
                rest = iter(after[i])
                work[-1] = (i, rest)
            for j in rest:
                if order[j] is None:
                    work.append((j, iter(())))
                    break
                if on_stack[j]:
                    low[i] = min(low[i], order[j])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[i])
                if low[i] == order[i]:
                    part = []
                    while not part or part[-1] != i:
                        part.append(stack.pop())
                        on_stack[part[-1]] = False
                    cycle = len(part) > 1 or i in after[i]
                    for j in part:
                        result[j] = cycle
    return result


def spills_of(objdump, path):
    """[(function, instruction)] of whole vectors that are loaded or stored in a loop."""
    found = []
    for name, code in functions_of(objdump, path):
        whole = [i for i, (_, op, operands) in enumerate(code) if op in ('ldr', 'str') and WHOLE_VECTOR.match(operands)]
        if whole:
            loops = looping(flow_of(code))
            found += [(name, f'{code[i][0]:x}: {code[i][1]} {code[i][2]}') for i in whole if loops[i]]
    return found


# A spill through a copy of sp in a loop, one before it, and one behind it that a branch over it would take for part of the loop.
EXAMPLE = '''
f:  addvl sp, sp, #-2
    str z0, [sp]
    mov x1, sp
    b 2f
1:  str z8, [x1, #1, mul vl]
    ld1w z1.s, p0/z, [x0]
2:  subs x2, x2, #1
    b.ne 1b
    cbz x3, 3f
    ldr z0, [sp]
    ret
3:  ldr z2, [x1]
    add x4, x4, #1
    ret
'''


def check_itself(objdump, compiler):
    with tempfile.TemporaryDirectory(prefix='svengine_spills_') as folder:
        source, made = os.path.join(folder, 'example.s'), os.path.join(folder, 'example.o')
        with open(source, 'w', encoding='ascii') as out:
            out.write(EXAMPLE)
        subprocess.run([compiler, '-march=armv8.2-a+sve', '-c', source, '-o', made], check=True)
        found = [what.split(': ', 1)[1] for _, what in spills_of(objdump, made)]
    if found != ['str z8, [x1, #1, mul vl]']:
        sys.exit(f'spill_test.py finds {found} in its own example')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--objdump', required=True)
    parser.add_argument('--compiler', required=True)
    parser.add_argument('--list', action='store_true')
    parser.add_argument('objects', nargs='+')
    a = parser.parse_args()
    check_itself(a.objdump, a.compiler)
    kept, compiler = read_numbers()[2], version_of(a.compiler)
    if compiler != kept:
        print(f'skipped: the numbers are for {kept}, and this is {compiler}')
        return SKIPPED
    with concurrent.futures.ThreadPoolExecutor() as pool:
        all_found = list(pool.map(lambda path: spills_of(a.objdump, path), a.objects))
    for path, found in zip(a.objects, all_found):
        for function in dict.fromkeys(name for name, _ in found):
            here = [what for name, what in found if name == function]
            print(f'{os.path.basename(path)}: {len(here)} in {function}')
            if a.list:
                print('    ' + '\n    '.join(here))
    count = sum(map(len, all_found))
    print(f'{count} loads and stores of whole vectors in loops of {len(a.objects)} objects; none is allowed')
    return 1 if count else 0


if __name__ == '__main__':
    sys.exit(main())
