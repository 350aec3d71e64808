#!/usr/bin/env python3
"""Estimated A64FX cycles of key kernels and networks, one core, a line for each goal; started by a64fx_cycles.sh, which builds.

Two runs are counted block by block under QEMU, one with one call (or one run of the network) more than the other; their difference,
weighed by LLVM's model of the A64FX pipeline, is the estimate (estimate_cycles.py). It sees the core alone: caches and memory are perfect. Kernels are
called by tests/costs/kernel_costs with the works named in tests/costs/works.h; convolutions have bias and ReLU, as
oneDNN's figures do, and their gradients weights that are packed already, as oneDNN's are. The share of the multiply-add pipes counts the
multiply-adds executed; the share of a convolution, and CosmoFlow's, counts those of the direct sum over the borders as well, so Winograd's
may be above 1.

The line "model" is the figures of tools/predict/machine.cc, which have no goal; they are lines of their own as well.

Exit code: 0 every line passed, 1 some fell short, 2 some could not be estimated.
"""
import argparse
import csv
import json
import math
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import estimate_cycles
from estimate_cycles import Failed

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LANES_TIMES_PIPES = 32

# line: (title, work, what is divided by, goal); the figure is cycles per element, or the pipes' share where the goal is >=
KERNELS = {
    'gemm-down': ('GEMM 128 x 768 x 3072', 'gemm/128x768x3072', None, ('>=', 0.95)),
    'gemm-up': ('GEMM 128 x 3072 x 768', 'gemm/128x3072x768', None, ('>=', 0.95)),
    'exp': ('exp, an element', 'exp/4096', 4096, ('<=', 0.4)),
    'tanh': ('tanh, an element', 'tanh/4096', 4096, ('<=', 0.8)),
    'gelu': ('erf-GELU, an element', 'gelu/4096', 4096, ('<=', 1.2)),
    'sigmoid': ('sigmoid, an element', 'sigmoid/4096', 4096, ('<=', 0.7)),
    'softmax': ('softmax over 128, an element', 'softmax/32x128', 4096, ('<=', 1.2)),
    'layer-norm': ('layer norm over 768, an element', 'layer_norm/8x768', 6144, ('<=', 0.8)),
}
NETWORKS = {  # line: (title, network of `svengine zoo`, dimensions, figure, goal)
    'resnet50': ('ResNet-50, batch 1, cycles', 'resnet50', {}, 'cycles', ('<=', 1.20e8)),
    'cosmoflow': ('CosmoFlow, batch 1, direct sums', 'cosmoflow', {}, 'direct_share', ('>=', 0.85)),
    'bert': ('BERT-base, 128 tokens', 'bert-base', {'S': 128}, 'fma_pipe_share', ('>=', 0.88)),
}
# Multiply-adds of CosmoFlow's convolutions by the direct sum, borders counted, and of its dense layers.
COSMOFLOW = 27 * sum((128 >> i) ** 3 * c * (32 << i) for i, c in enumerate((4, 32, 64, 128, 256))) + 32768 * 128 + 128 * 64 + 64 * 4
# A figure of tools/predict/machine.cc: cycles that the kernels count for these layers by Winograd's own plan, over the estimated ones.
WINOGRAD = 'winograd'
WINOGRAD_WORKS = [f'conv/{layer}/3x3/s1' for layer in ('64-64@56', '128-128@28', '256-256@14', '512-512@7')]
# The others and the works they are estimated from: the mean share of the peak, or cycles an element.
SHARES = {
    'share.convolution': [work + '/exact' for work in WINOGRAD_WORKS],
    'share.strided': ['conv/128-128@56/3x3/s2', 'conv/256-256@28/3x3/s2', 'conv/512-512@14/3x3/s2'],
    'share.pointwise': ['conv/64-256@56/1x1/s1', 'conv/512-128@28/1x1/s1', 'conv/256-1024@14/1x1/s1', 'conv/2048-512@7/1x1/s1'],
    'share.first_layer': ['conv/3-64@224/7x7/s2'],
    'share.depthwise': ['conv/144-144@56/3x3/s1/g144', 'conv/384-384@14/3x3/s1/g384'],
    'share.grouped': ['conv/128-128@56/3x3/s1/g32', 'conv/512-512@14/3x3/s1/g32'],
    'share.product': ['gemm/128x768x768', 'gemm/128x3072x768'],
    'share.attention': ['gemm/128x128x64', 'gemm/128x64x128'],
}
CYCLES = {**{f'cycles.{f}': f'{f}/4096' for f in ('exp', 'log', 'tanh', 'sigmoid', 'erf', 'gelu')},
          'cycles.softmax': 'softmax/32x128', 'cycles.norm': 'layer_norm/8x768'}
MODEL = 'model'
MODEL_LINES = [*SHARES, WINOGRAD, *CYCLES]
# ResNet-50's convolutions. line: (title, works' prefix, oneDNN's column, with the first layer, goal, goal for layers slower)
LAYERS = {
    'convolutions': ("ResNet-50's 53 convolutions, cycles", 'conv', 'fwd_cycles', True, ('<=', 1.10e8), ('<=', 0)),
    'backward-data': ("their gradients by data, 52 layers", 'conv_data', 'bwd_data_cycles', False, ('<=', 1.35e8), None),
    'backward-weights': ("their gradients by weights, 53 layers", 'conv_weights', 'bwd_weights_cycles', True, ('<=', 1.40e8), None),
}
LINES = [*LAYERS, *KERNELS, *NETWORKS, MODEL, *MODEL_LINES]


class Estimator:
    def __init__(self, options):
        self.options = options
        self.program = os.path.join(options.build, 'tests', 'kernel_costs')
        self.svengine = os.path.join(options.build, 'svengine')

    def run(self, *command):
        """Standard output of a program of the build, under QEMU."""
        return estimate_cycles.run([os.path.join(ROOT, 'tools', 'qemu-a64fx.sh'), *command], stdin=subprocess.DEVNULL,
                                   env={**os.environ, 'OMP_NUM_THREADS': '1'})

    def difference(self, less, more):
        """The estimate of what `more` runs beyond `less`."""
        with ThreadPoolExecutor(2) as pool:
            base, whole = pool.map(estimate_cycles.count_blocks, (less, more))
        return estimate_cycles.estimate(whole, base)[0]

    def work(self, name):
        return self.difference(*([self.program, '--repeat', n, name] for n in ('0', '1')))

    def convolutions(self, prefix, column, with_first):
        """The estimate of every layer in oneDNN's table, beside a column of it."""
        with open(os.path.join(ROOT, 'bench', 'onednn_sve512.tsv'), encoding='utf-8') as table:
            rows = list(csv.DictReader((line for line in table if not line.startswith('#')), delimiter='\t'))
        layers = []
        for row in rows:
            count, c, o, size, k, stride = (int(row[key]) for key in ('count', 'IC', 'OC', 'H', 'K', 'stride'))
            if c == 3 and not with_first:
                continue
            work = f'{prefix}/{c}-{o}@{size}/{k}x{k}/s{stride}'
            estimate = self.work(work)
            layers.append({'layer': work, 'count': count, 'cycles': estimate['cycles'], 'onednn_cycles': float(row[column]),
                           'share': multiply_adds(work) / LANES_TIMES_PIPES / estimate['cycles'], 'z_spills': estimate['z_spills']})
            if self.options.layers:
                self.options.show(layer_text(layers[-1]))
        return layers

    def model_figure(self, figure):
        if figure in CYCLES:
            return self.work(CYCLES[figure])['cycles'] / math.prod(int(n) for n in re.findall(r'\d+', CYCLES[figure]))
        if figure == WINOGRAD:
            counted = sum(float(self.run(self.program, '--winograd', work)) for work in WINOGRAD_WORKS)
            return counted / sum(self.work(work)['cycles'] for work in WINOGRAD_WORKS)
        cycles = sum(self.work(work)['cycles'] for work in SHARES[figure])
        return sum(map(multiply_adds, SHARES[figure])) / LANES_TIMES_PIPES / cycles

    def network(self, name, dims):
        folder = os.path.join(ROOT, 'build', 'zoo')
        model = os.path.join(folder, name + '.onnx')
        if not os.path.exists(model):
            os.makedirs(folder, exist_ok=True)
            self.run(self.svengine, 'zoo', name, model + '.part')
            os.replace(model + '.part', model)
        bench = [self.svengine, 'bench', model, '--threads', '1', '--iterations', '1']
        bench += [word for name, size in dims.items() for word in ('--dim', f'{name}={size}')]
        return self.difference(bench + ['--warmup', '0'], bench + ['--warmup', '1'])


def multiply_adds(work):
    """Of a product, or of a convolution by the direct sum, borders counted."""
    numbers = [int(n) for n in re.findall(r'\d+', work)]
    if work.startswith('gemm'):
        return math.prod(numbers)
    c, o, size, k, _, stride, groups = (numbers + [1])[:7]
    return c * o // groups * k * k * ((size + 2 * (k // 2) - k) // stride + 1) ** 2


def verdict(value, goal):
    return 'pass' if (value >= goal[1] if goal[0] == '>=' else value <= goal[1]) else 'short'


def layer_text(layer):
    slower = '' if layer['cycles'] <= layer['onednn_cycles'] else '  slower'
    spills = f'  {layer["z_spills"]:.3g} vector spills' if layer['z_spills'] else ''
    return (f'  {layer["count"]} x {layer["layer"]:22} {layer["cycles"]:.3e}  oneDNN {layer["onednn_cycles"]:.3e}  '
            f'share {layer["share"]:.3f}{slower}{spills}')


def estimate(estimator, line):
    if line in LAYERS:
        title, prefix, column, with_first, goal, slower_goal = LAYERS[line]
        layers = estimator.convolutions(prefix, column, with_first)
        total, theirs = (sum(x['count'] * x[key] for x in layers) for key in ('cycles', 'onednn_cycles'))
        slower = [x['layer'] for x in layers if x['cycles'] > x['onednn_cycles']]
        found = [{'work': title, 'value': total, 'goal': goal, 'note': f'oneDNN {theirs:.3e}', 'layers': layers}]
        if slower_goal:
            found.append({'work': "convolutions slower than oneDNN's", 'value': len(slower), 'goal': slower_goal,
                          'note': ', '.join(slower)})
        return found
    if line in MODEL_LINES:
        return [{'work': line, 'value': estimator.model_figure(line)}]
    if line in KERNELS:
        title, work, elements, goal = KERNELS[line]
        result = estimator.work(work)
        value = result['cycles'] / elements if elements else result['fma_pipe_share']
    else:
        title, name, dims, key, goal = NETWORKS[line]
        result = estimator.network(name, dims)
        value = COSMOFLOW / LANES_TIMES_PIPES / result['cycles'] if key == 'direct_share' else result[key]
    spills = f', {result["z_spills"]:.3g} vector spills' if result['z_spills'] else ''
    note = (f'{result["cycles"]:.4g} cycles, {result["instructions"]:.4g} instructions, '
            f'share of the pipes {result["fma_pipe_share"]:.3f}{spills}')
    return [{'work': title, 'value': value, 'goal': goal, 'note': note}]


def main():
    parser = argparse.ArgumentParser(prog='a64fx_cycles.sh', description=__doc__, epilog='lines: ' + ' '.join(LINES),
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('lines', nargs='*', metavar='LINE', help='which to estimate (default: layers and kernels)')
    parser.add_argument('--layers', action='store_true', help='show every convolution beside oneDNN')
    parser.add_argument('--networks', action='store_true', help='add the whole networks')
    parser.add_argument('--json', action='store_true', help='print JSON, for programs; progress goes to standard error')
    parser.add_argument('--build', required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    unknown = [name for name in options.lines if name not in LINES]
    if unknown:
        parser.error(f'there is no line {", ".join(unknown)}; there are: {", ".join(LINES)}')
    options.show = lambda text: print(text, file=sys.stderr if options.json else sys.stdout, flush=True)
    estimator, results = Estimator(options), []
    lines = options.lines or [*LAYERS, *KERNELS, *(NETWORKS if options.networks else [])]
    for line in [name for line in lines for name in (MODEL_LINES if line == MODEL else [line])]:
        try:
            found = estimate(estimator, line)
            for result in found:
                result['verdict'] = verdict(result['value'], result['goal']) if 'goal' in result else ''
        except (Failed, OSError, ValueError, KeyError) as problem:
            found = [{'work': line, 'verdict': 'failed', 'note': f'{type(problem).__name__}: {problem}'}]
        for result in found:
            results.append({'line': line, **result})
            figure = f'{result["value"]:10.4g}' if 'value' in result else ''
            goal = f'{result["goal"][0]} {result["goal"][1]:<8.4g}' if 'goal' in result else ''
            note = f' ({result["note"]})' if result.get('note') else ''
            options.show(f'{result["work"]:36} {figure:10} {goal:11}  {result["verdict"]}{note}'.rstrip())
    if options.json:
        print(json.dumps(results, indent=2))
    verdicts = {result['verdict'] for result in results}
    return 2 if 'failed' in verdicts else 1 if 'short' in verdicts else 0


if __name__ == '__main__':
    sys.exit(main())
