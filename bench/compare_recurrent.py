#!/usr/bin/env python3
"""Times recurrent networks beside ONNX Runtime: ours, theirs, ratio of medians of alternating runs, and the goal.

  bench/compare_recurrent.py [--svengine PROGRAM] [--threads N] [--rounds N] [--duration SECONDS] [NAME...]

Networks are two layers of 512 units with random weights, 128 steps, for the batches below, written into build/networks. Run it by a
Python that has onnx, onnxruntime and numpy.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
STEPS, UNITS, LAYERS = 128, 512, 2
GATES = {'lstm': ('LSTM', 4, {}), 'gru': ('GRU', 3, {'linear_before_reset': 1}), 'gru_before': ('GRU', 3, {})}
CASES = [(cell, batch) for cell in GATES for batch in (1, 16)]
GOAL = 0.8


def model(cell, batch, folder):
    """Writes the network, and gives its path."""
    op, gates, attributes = GATES[cell]
    random = np.random.default_rng(1)
    bound = UNITS ** -0.5
    nodes, weights, x = [], [], 'x'
    for layer in range(LAYERS):
        names = [f'{name}{layer}' for name in ('w', 'r', 'b')]
        shapes = [(1, gates * UNITS, UNITS), (1, gates * UNITS, UNITS), (1, 2 * gates * UNITS)]
        for name, shape in zip(names, shapes):
            weights.append(numpy_helper.from_array(random.uniform(-bound, bound, shape).astype(np.float32), name))
        nodes.append(helper.make_node(op, [x, *names], [f'y{layer}'], hidden_size=UNITS, **attributes))
        x = f'h{layer}'
        nodes.append(helper.make_node('Squeeze', [f'y{layer}', 'axis'], [x]))
    weights.append(numpy_helper.from_array(np.array([1], np.int64), 'axis'))
    shape = [STEPS, batch, UNITS]
    graph = helper.make_graph(nodes, cell, [helper.make_tensor_value_info('x', TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info(x, TensorProto.FLOAT, shape)], weights)
    path = os.path.join(folder, f'{cell}_{batch}.onnx')
    os.makedirs(folder, exist_ok=True)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8), path)
    return path


def median_ms(command):
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)['median_ms']


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--svengine', default=os.path.join(HERE, '../build/release/svengine'))
    parser.add_argument('--threads', type=int, default=2)
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--duration', type=float, default=2)
    parser.add_argument('names', nargs='*', help='as they are printed: ' + ' '.join(f'{c}_{b}' for c, b in CASES))
    a = parser.parse_args()
    options = ['--threads', str(a.threads), '--duration', str(a.duration)]
    for cell, batch in CASES:
        name = f'{cell}_{batch}'
        if a.names and name not in a.names:
            continue
        path = model(cell, batch, os.path.join(HERE, '../build/networks'))
        ours, theirs = [], []
        for _ in range(a.rounds):
            ours.append(median_ms([a.svengine, 'bench', path, '--json', *options]))
            theirs.append(median_ms([sys.executable, os.path.join(HERE, 'onnxruntime_bench.py'), path, *options]))
        mine, yours = statistics.median(ours), statistics.median(theirs)
        print(f'{name:14} {mine:9.2f} ms {yours:9.2f} ms  {mine / yours:5.2f}  goal {GOAL}', flush=True)


if __name__ == '__main__':
    main()
