#!/usr/bin/env python3
"""SVEngine beside ONNX Runtime, a line for each goal; started by compare.sh, which installs and builds what this needs.

How a line is measured:
  network         Rounds of two processes, one after the other, the order changing every round. Each runs its network for some seconds
                  and reports its median; the line's figures are the medians over all rounds, and the range beside them is
                  that of the single rounds' ratios.
  start-...       Ours is the whole process, from its start to its end with the first output computed (`svengine run`). Theirs is
                  only what happens inside a process that is up and has loaded the library: session creation and the first run. The
                  note gives their process from its start, the Python interpreter included.
  memory-...      The most resident memory of `svengine run`, weights mapped from the file included, over the size of all weights.
  sgemm           gemm_bench on one core: operations a second over those of a loop of nothing but multiply-adds, measured
                  in between. Bigger is better here, and everywhere else smaller.

Exit code: 0 every line passed, 1 some fell short, 2 some could not be measured.
"""
import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
TIMEOUT = 900  # seconds a process may take

NETWORKS = {  # line: (title, network of tests/networks/cases.py, dimensions, goal)
    'resnet50': ('ResNet-50, batch 1', 'resnet50', {'N': 1}, 0.68),
    'resnet50-b8': ('ResNet-50, batch 8', 'resnet50', {'N': 8}, 0.74),
    'mobilenet_v2': ('MobileNetV2, batch 1', 'mobilenet_v2', {'N': 1}, 0.80),
    'squeezenet': ('SqueezeNet 1.1, batch 1', 'squeezenet1_1', {'N': 1}, 0.80),
    'densenet121': ('DenseNet-121, batch 1', 'densenet121', {'N': 1}, 0.80),
    'bert-128': ('BERT-base, 1 x 128', 'bert', {'N': 1, 'S': 128}, 0.76),
    'bert-8x384': ('BERT-base, 8 x 384', 'bert', {'N': 8, 'S': 384}, 0.85),
    'bert-16': ('BERT-base, 1 x 16', 'bert', {'N': 1, 'S': 16}, 0.85),
}
STARTS = {
    'start-resnet50': ('start to output, ResNet-50', 'resnet50', {'N': 1}, 0.40),
    'start-bert': ('start to output, BERT-base', 'bert', {'N': 1, 'S': 128}, 0.40),
}
MEMORY = {
    'memory-resnet50': ('memory / weights, ResNet-50', 'resnet50', {'N': 1}, 1.35),
    'memory-bert': ('memory / weights, BERT-base', 'bert', {'N': 1, 'S': 128}, 1.20),
}
PRODUCT = {'sgemm': ('sgemm 768^3, 1 thread', None, {}, 0.90)}
LINES = {**NETWORKS, **STARTS, **MEMORY, **PRODUCT}


class Failed(Exception):
    """A line that cannot be measured, and why."""


def progress(text):
    print(text, file=sys.stderr, flush=True)


def run(command, environment=None):
    """Standard output, seconds from start to end, and the most resident memory in MiB, of a command that succeeds."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.monotonic()
        try:
            process = subprocess.Popen(command, stdout=out, stderr=err, stdin=subprocess.DEVNULL, env=environment)
        except OSError as problem:
            raise Failed(f'{command[0]}: {problem.strerror}') from problem
        watchdog = threading.Timer(TIMEOUT, os.kill, (process.pid, signal.SIGKILL))
        watchdog.start()
        _, status, usage = os.wait4(process.pid, 0)
        watchdog.cancel()
        seconds = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), err.seek(0)
        if process.returncode != 0:
            lines = err.read().decode(errors='replace').strip().splitlines() or ['no message']
            raise Failed(f'{os.path.basename(command[0])} ended with {process.returncode}: {lines[-1]}')
        return out.read().decode(), seconds, usage.ru_maxrss / 1024


class Bench:
    def __init__(self, options):
        self.options = options
        self.peer_version = None

    def model(self, network):
        return run(['/usr/bin/python3', os.path.join(ROOT, 'tests', 'networks', 'write.py'), self.options.networks, network])[0].strip()

    def dims(self, dims):
        return [word for name, size in dims.items() for word in ('--dim', f'{name}={size}')]

    def ours(self, command, model, dims, *extra):
        return run([self.options.svengine, command, model, *self.dims(dims), *extra])

    def theirs(self, model, dims, duration):
        if not os.path.exists(self.options.peer_python):
            raise Failed('ONNX Runtime is not installed')
        out, _, rss = run([self.options.peer_python, os.path.join(HERE, 'onnxruntime_bench.py'), model, *self.dims(dims),
                           '--threads', str(self.options.threads), '--duration', str(duration)])
        result = json.loads(out)
        result['peak_rss_mib'] = rss
        self.peer_version = result['version']
        return result

    def alternate(self, ours, theirs):
        """Rounds of both, as a list of pairs."""
        pairs = []
        for i in range(self.options.rounds):
            if i % 2 == 0:
                mine = ours()
                pairs.append((mine, theirs()))
            else:
                yours = theirs()
                pairs.append((ours(), yours))
        return pairs

    def result(self, pairs, unit):
        mine, yours = (statistics.median(p[i] for p in pairs) for i in (0, 1))
        ratios = sorted(a / b for a, b in pairs)
        return {'ours': mine, 'theirs': yours, 'unit': unit, 'ratio': mine / yours, 'lowest': ratios[0], 'highest': ratios[-1]}

    def network(self, network, dims):
        model, duration = self.model(network), self.options.duration

        def ours():
            out = self.ours('bench', model, dims, '--threads', str(self.options.threads), '--duration', str(duration), '--json')[0]
            return json.loads(out)['median_ms']
        return self.result(self.alternate(ours, lambda: self.theirs(model, dims, duration)['median_ms']), 'ms')

    def start(self, network, dims):
        model, whole = self.model(network), []

        def theirs():
            peer = self.theirs(model, dims, 0)
            whole.append(peer['process_ms'])
            return peer['create_ms'] + peer['first_ms']
        pairs = self.alternate(lambda: 1000 * self.ours('run', model, dims, '--threads', str(self.options.threads))[1], theirs)
        result = self.result(pairs, 'ms')
        result['note'] = f'ONNX Runtime from process start, Python included: {statistics.median(whole):.0f} ms'
        return result

    def memory(self, network, dims):
        model = self.model(network)
        weights = json.loads(self.ours('inspect', model, dims, '--json')[0])['constant_bytes'] / 2**20
        mine = self.ours('run', model, dims, '--threads', str(self.options.threads))[2]
        result = {'ours': mine, 'theirs': weights, 'unit': 'MiB', 'ratio': mine / weights}
        try:
            result['note'] = f"ONNX Runtime, Python included: {self.theirs(model, dims, 0)['peak_rss_mib']:.0f} MiB"
        except Failed as problem:
            result['note'] = str(problem)
        return result

    def product(self, _network, _dims):
        kernels = json.loads(run([self.options.svengine, 'info', '--json'])[0])['kernel_set']
        out = run([self.options.gemm_bench, f'--benchmark_filter=^gemm/{kernels}/square/768x768x768$', '--benchmark_format=json',
                   f'--benchmark_repetitions={self.options.rounds}'], {**os.environ, 'OMP_NUM_THREADS': '1'})[0]
        rounds = [b for b in json.loads(out)['benchmarks'] if b.get('run_type') == 'iteration']
        if not rounds:
            raise Failed('gemm_bench has no such product')
        result = self.result([(b['flops'] / 1e9, b['peak'] / 1e9) for b in rounds], 'GF/s')
        result['bigger_is_better'] = True
        return result

    def measure(self, name):
        title, network, dims, goal = LINES[name]
        methods = ((NETWORKS, self.network), (STARTS, self.start), (MEMORY, self.memory), (PRODUCT, self.product))
        method = next(method for lines, method in methods if name in lines)
        line = {'line': name, 'work': title, 'goal': goal}
        try:
            line.update(method(network, dims))
            good = line['ratio'] >= goal if line.get('bigger_is_better') else line['ratio'] <= goal
            line['verdict'] = 'pass' if good else 'short'
        except Failed as problem:  # this line is lost, the others are not
            line.update(verdict='failed', note=str(problem))
        except (ValueError, KeyError, OSError) as problem:
            line.update(verdict='failed', note=f'{type(problem).__name__}: {problem}')
        return line


HEAD = f'{"line":16} {"work":28} {"ours":>12} {"theirs":>12} {"ratio":>6} {"rounds":>11} {"goal":>7}  verdict'


def text(line):
    out = f'{line["line"]:16} {line["work"]:28} '
    if 'ratio' in line:
        spread = f'{line["lowest"]:.2f}..{line["highest"]:.2f}' if 'lowest' in line else ''
        ours, theirs = (f'{line[k]:.1f} {line["unit"]}' for k in ('ours', 'theirs'))
        sign = '>=' if line.get('bigger_is_better') else '<='
        out += f'{ours:>12} {theirs:>12} {line["ratio"]:6.3f} {spread:>11} {sign}{line["goal"]:5.2f}  {line["verdict"]}'
    else:
        out += f'{line["verdict"]}'
    return out + (f' ({line["note"]})' if 'note' in line else '')


def main():
    names = '\n'.join(f'  {name:16} {title}' for name, (title, *_) in LINES.items())
    parser = argparse.ArgumentParser(prog='compare.sh', description=__doc__, epilog='lines:\n' + names,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('lines', nargs='*', metavar='LINE', help='which to measure (default: all)')
    parser.add_argument('--quick', action='store_true', help='2 rounds of 1 second instead of 7 of 3')
    parser.add_argument('--rounds', type=int, help='of each pair of processes')
    parser.add_argument('--duration', type=float, help='seconds that a network runs in a round')
    parser.add_argument('--threads', type=int, default=2, help='of both (default: 2)')
    parser.add_argument('--json', action='store_true', help='print JSON, for programs; progress goes to standard error')
    for hidden in ('--svengine', '--gemm-bench', '--peer-python', '--networks'):
        parser.add_argument(hidden, required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    unknown = [name for name in options.lines if name not in LINES]
    if unknown:
        parser.error(f'there is no line {", ".join(unknown)}; there are: {", ".join(LINES)}')
    options.rounds = options.rounds or (2 if options.quick else 7)
    options.duration = options.duration or (1 if options.quick else 3)
    bench, results = Bench(options), []
    show = progress if options.json else lambda line: print(line, flush=True)
    show(HEAD)
    for name in options.lines or LINES:
        results.append(bench.measure(name))
        show(text(results[-1]))
    if bench.peer_version:
        show(f'theirs: ONNX Runtime {bench.peer_version}; {options.threads} threads each')
    if options.json:
        print(json.dumps({'peer': bench.peer_version, 'threads': options.threads, 'lines': results}, indent=2))
    verdicts = {r['verdict'] for r in results}
    return 2 if 'failed' in verdicts else 1 if 'short' in verdicts else 0


if __name__ == '__main__':
    sys.exit(main())
