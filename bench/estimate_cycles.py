#!/usr/bin/env python3
"""Estimated A64FX cycles of a static aarch64 program with one thread: the blocks it executes under QEMU, each timed by llvm-mca.

  estimate_cycles.py [--less COMMAND] [--per N] [--top K] [--json] COMMAND
                                      a command is one argument: 'build/a64fx/tests/kernel_costs --repeat 1 gemm/128x768x768'

--less takes a command that does less of the same, whose blocks are subtracted, so that the start of the program drops out; --per divides.

The model is LLVM's of A64FX, of the core alone: caches and memory are perfect, and every block is timed as a loop of itself. Blocks that
QEMU cuts at the end of a page of code are joined. FMSB and FNMSB, which the model does not know, are timed
as FMLS and FNMLS, which use the same pipes. A block with another instruction that the model does not know counts as two instructions a
cycle, and "guessed" gives the share of such cycles.

"z_spills" counts the executed loads and stores of whole vectors without a predicate, through any base register: kernels' own accesses have
predicates, so these are registers that the compiler keeps in memory. The model is far too kind to them: mend them first.
"""
import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = 4096
REPEATS = 100  # of a block in llvm-mca
# A64FX decodes four instructions a cycle, and has 40 entries in the load queue and 24 in the store queue (A64FX Microarchitecture Manual).
MODEL = ['-mtriple=aarch64', '-mcpu=a64fx', '-mattr=+sve', '-dispatch=4', '-lqueue=40', '-squeue=24', f'-iterations={REPEATS}',
         '-instruction-info=0', '-resource-pressure=0']
COVERED = 0.995  # of the instructions executed; the rest is taken to be like them


class Failed(Exception):
    """Nothing can be estimated, and why."""


def llvm(tool):
    for name in (tool, *(f'{tool}-{version}' for version in range(21, 13, -1))):
        if shutil.which(name):
            return name
    raise Failed(f'{tool} is not installed (Debian package llvm; tools/setup.sh bench)')


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise Failed(f'{os.path.basename(command[0])} ended with {done.returncode}: {(done.stderr.strip().splitlines() or ["no message"])[-1]}')
    return done.stdout


def ends_block(word):
    """A branch, or a call of the system."""
    return (word >> 26 & 0x1f == 5 or word >> 24 in (0x54, 0xd4) or word >> 25 & 0x3f in (0x1a, 0x1b) or word >> 25 == 0x6b)


def is_multiply_add(word):
    """Of SVE vectors: predicated, or by an element."""
    return word & 0xff200000 == 0x65200000 or word & 0xff20f800 == 0x64200000


def is_spill(word):
    """LDR or STR of a vector."""
    return word & 0xffc0e000 in (0x85804000, 0xe5804000)


def read_blocks(path):
    """{address: [executions, instruction words]}; a block that was translated twice ran as often as both."""
    blocks = {}
    with open(path, encoding='ascii') as lines:
        for line in lines:
            address, executions, *words = line.split()
            blocks.setdefault(int(address, 16), [0, tuple(int(w, 16) for w in words)])[0] += int(executions)
    return blocks


def join_pages(blocks):
    """The same with a block that ends with its page, not in a branch, and the one behind it, into which it always runs on, as one. What
    is left of the one behind are the times that it was entered from elsewhere."""
    joined = {address: list(block) for address, block in sorted(blocks.items())}
    for address in sorted(blocks, reverse=True):
        executions, words = joined[address]
        end = address + 4 * len(words)
        if end % PAGE or ends_block(words[-1]) or end not in joined or joined[end][0] < executions:
            continue
        joined[address] = [executions, words + joined[end][1]]
        joined[end][0] -= executions
        if not joined[end][0]:
            del joined[end]
    return joined


def count_blocks(command):
    """{instruction words: [executions, address]} of a program's run."""
    with tempfile.TemporaryDirectory(prefix='svengine_blocks_') as folder:
        plugin, out = os.path.join(folder, 'block_count.so'), os.path.join(folder, 'blocks')
        run(['gcc', '-O2', '-Wall', '-Wextra', '-shared', '-fPIC', os.path.join(ROOT, 'bench', 'block_count.c'), '-o', plugin])
        run([os.path.join(ROOT, 'tools', 'qemu-a64fx.sh'), *command], stdin=subprocess.DEVNULL,
            env={**os.environ, 'OMP_NUM_THREADS': '1', 'QEMU_PLUGIN': f'file={plugin},out={out}'})
        return by_words(join_pages(read_blocks(out)))


def by_words(blocks):
    """The same code at several addresses is one block."""
    out = {}
    for address, (executions, words) in blocks.items():
        out.setdefault(words, [0, address])[0] += executions
    return out


def assembly(words):
    """{word: text}"""
    words = sorted(set(words))
    code = '\n'.join(' '.join(f'0x{byte:02x}' for byte in word.to_bytes(4, 'little')) for word in words)
    text = run([llvm('llvm-mc'), '-disassemble', '-triple=aarch64', '-mattr=+v8.6a,+sve2,+sme'], input=code)
    lines = [line for line in map(str.strip, text.splitlines()) if line and not line.startswith('.')]
    if len(lines) != len(words):
        raise Failed(f'llvm-mc decoded {len(lines)} of {len(words)} instructions')
    return dict(zip(words, lines))


def block_cycles(lines):
    """Cycles of a block in a loop of itself; None where the model does not know an instruction."""
    known = [re.sub(r'^(fn?m)sb\b', r'\1ls', line) for line in lines]
    done = subprocess.run([llvm('llvm-mca'), *MODEL], input='\n'.join(known), capture_output=True, text=True)
    cycles = re.search(r'Total Cycles:\s+(\d+)', done.stdout)
    return int(cycles[1]) / REPEATS if cycles else None


def time_blocks(blocks):
    """Cycles of each of a list of blocks, given as words."""
    text = assembly(word for words in blocks for word in words)
    with ThreadPoolExecutor() as pool:
        return list(pool.map(lambda words: block_cycles([text[w] for w in words]), blocks))


def estimate(more, less=None, per=1, time=time_blocks):
    """The figures of what `more` ran beyond `less`, both as count_blocks gives them, and the blocks by their cycles, hottest first."""
    left = {words: (executions - (less or {}).get(words, [0])[0], address) for words, (executions, address) in more.items()}
    hot = sorted(((n * len(words), n, words, address) for words, (n, address) in left.items() if n > 0), reverse=True)
    total, seen, chosen = sum(h[0] for h in hot), 0, []
    if not total:
        raise Failed('nothing ran')
    for instructions, n, words, address in hot:
        chosen.append((n, words, address))
        seen += instructions
        if seen >= COVERED * total:
            break
    rows, guessed = [], 0
    for (n, words, address), cycles in zip(chosen, time([words for _, words, _ in chosen])):
        if cycles is None:
            cycles = len(words) / 2
            guessed += n * cycles
        rows.append({'cycles': n * cycles, 'executions': n, 'each': cycles, 'instructions': len(words),
                     'fma': sum(map(is_multiply_add, words)), 'spills': sum(map(is_spill, words)), 'address': address})
    cycles, scale = sum(r['cycles'] for r in rows), total / seen
    fma, spills = (sum(r['executions'] * r[key] for r in rows) for key in ('fma', 'spills'))
    figures = {'instructions': total / per, 'cycles': cycles * scale / per, 'sve_fma': fma / per, 'fma_pipe_share': fma / 2 / (cycles * scale),
               'z_spills': spills / per, 'guessed': guessed / cycles}
    return figures, sorted(rows, key=lambda r: -r['cycles'])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('command')
    parser.add_argument('--less', metavar='COMMAND')
    parser.add_argument('--per', type=float, default=1)
    parser.add_argument('--top', type=int, default=8, help='how many blocks to show')
    parser.add_argument('--json', action='store_true')
    a = parser.parse_args()
    try:
        more, less = count_blocks(shlex.split(a.command)), count_blocks(shlex.split(a.less)) if a.less else None
        figures, rows = estimate(more, less, a.per)
    except (Failed, OSError) as problem:
        sys.exit(f'estimate_cycles.py: {problem}')
    if a.json:
        print(json.dumps(figures))
        return
    print('  '.join(f'{key} {value:.4g}' for key, value in figures.items()))
    total = sum(r['cycles'] for r in rows)
    for r in rows[:a.top]:
        print(f'{100 * r["cycles"] / total:5.1f} % of the cycles: {r["executions"]} x {r["each"]:.1f} cycles, {r["instructions"]} instructions, '
              f'{r["fma"]} multiply-adds, {r["spills"]} spills, at 0x{r["address"]:x}')


if __name__ == '__main__':
    main()
