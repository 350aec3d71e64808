#!/usr/bin/python3
"""Key kernels may not need more instructions than the repository says: counted on QEMU's A64FX, without any clock.

  costs_test.py --program build/a64fx/tests/kernel_costs --compiler aarch64-linux-gnu-g++
  costs_test.py ... --renew        writes the counts of today into a64fx_instructions.txt
  costs_test.py --program P --run-only      runs every work natively and counts nothing

A count is exact and the same every time: one thread, one static program, one kernel call between two marks. So the bound of 2 % is
for harmless changes of the sources, not for noise. A count that shrinks by more than 2 % fails as well: a passing test's notice is
read by nobody, and with a stale number the next regression would pass unseen. --renew mends it, in the commit that made
the kernel faster or deliberately slower, where a reviewer sees it. Fewer instructions are not always fewer cycles; what a
deliberate change gives is estimated by bench/a64fx_cycles.sh.

Another compiler makes other code: where it is not the version that the numbers were made with, the test is skipped.
"""
import argparse
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
NUMBERS = os.path.join(HERE, 'a64fx_instructions.txt')
COMPILER_LINE = '# compiler: '
MOST_CHANGE = 0.02
SKIPPED = 77


def read_numbers():
    """Lines before the numbers, {work: count or None}, and the compiler's version."""
    head, works, compiler = [], {}, None
    for line in open(NUMBERS, encoding='utf-8'):
        if line.startswith('#') or not line.strip():
            head.append(line)
            if line.startswith(COMPILER_LINE):
                compiler = line[len(COMPILER_LINE):].strip()
        else:
            words = line.split()
            works[words[0]] = int(words[1]) if len(words) > 1 else None
    return head, works, compiler


def version_of(compiler):
    """Target and version; not the distribution's package, whose security updates change no code."""
    ask = lambda option: subprocess.run([compiler, option], check=True, capture_output=True, text=True).stdout.strip()
    return f"{ask('-dumpmachine')} GCC {ask('-dumpfullversion')}"


def count(program, works):
    """{work: instructions of one call}"""
    with tempfile.TemporaryDirectory(prefix='svengine_costs_') as folder:
        plugin, counts = os.path.join(folder, 'instruction_count.so'), os.path.join(folder, 'counts')
        subprocess.run(['gcc', '-O2', '-Wall', '-Wextra', '-shared', '-fPIC', os.path.join(HERE, 'instruction_count.c'), '-o', plugin],
                       check=True)
        done = subprocess.run([os.path.join(ROOT, 'tools', 'qemu-a64fx.sh'), program] + works, capture_output=True, text=True,
                              env={**os.environ, 'QEMU_PLUGIN': f'file={plugin},out={counts}', 'OMP_NUM_THREADS': '1'})
        if done.returncode != 0 or done.stdout.split() != works:
            sys.exit(f'{program} ended with {done.returncode}\n{done.stdout}{done.stderr}')
        marks = [int(line) for line in open(counts, encoding='ascii')]
    if len(marks) != 2 * len(works):
        sys.exit(f'{len(marks)} marks for {len(works)} works')
    return {work: marks[2 * i + 1] - marks[2 * i] for i, work in enumerate(works)}


def renew(head, counts, compiler):
    width = max(map(len, counts))
    with open(NUMBERS, 'w', encoding='utf-8') as out:
        out.writelines(COMPILER_LINE + compiler + '\n' if line.startswith(COMPILER_LINE) else line for line in head)
        out.writelines(f'{work:{width}} {n:9}\n' for work, n in counts.items())


def compare(kept, counts):
    failures = 0
    for work, n in counts.items():
        old = kept[work]
        change = n / old - 1 if old else float('inf')
        verdict = 'grew' if change > MOST_CHANGE else 'shrank' if change < -MOST_CHANGE else 'ok'
        failures += verdict != 'ok'
        print(f'{work:34} {old or 0:10} -> {n:10} {100 * change:+7.2f} %  {verdict}')
    if failures:
        print(f'{failures} of {len(counts)} changed by more than {100 * MOST_CHANGE:.0f} %. If that is meant, renew the numbers and say why '
              'in the commit:\n  tests/costs/costs_test.py --program build/a64fx/tests/kernel_costs --compiler aarch64-linux-gnu-g++ --renew')
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--program', required=True)
    parser.add_argument('--compiler')
    parser.add_argument('--renew', action='store_true')
    parser.add_argument('--run-only', action='store_true')
    a = parser.parse_args()
    head, kept, kept_compiler = read_numbers()
    if a.run_only:
        return subprocess.run([a.program, *kept]).returncode
    compiler = version_of(a.compiler)
    if compiler != kept_compiler and not a.renew:
        print(f'skipped: the numbers are for {kept_compiler}, and this is {compiler}')
        return SKIPPED
    counts = count(a.program, list(kept))
    if a.renew:
        renew(head, counts, compiler)
        return 0
    return compare(kept, counts)


if __name__ == '__main__':
    sys.exit(main())
