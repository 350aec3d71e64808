#!/usr/bin/python3
"""The layers of nn.hpp against PyTorch's modules with the same weights: outputs, gradients of all parameters, first values.

  layers_test.py LAYER_NETWORKS NETWORK_GRADIENTS [--emulator COMMAND] [--kernels SET]

PyTorch computed in double precision, and was recorded by record_torch.py. Bounds: 2e-5 of the largest output, 2e-4 of a parameter's
largest gradient (as in tests/gradients/cases.py).
"""
import argparse
import os
import shlex
import subprocess
import sys
import tempfile

import layers  # puts tests/peers on the path
import numpy as np
import onnx_file
import recording


def check_first_values(initializers, recorded):
    """Drawn as PyTorch's are: the same constant, or the same bounds and spread as far as so many numbers show it."""
    problems = []
    for name, first in recorded.items():
        if name not in initializers:
            problems.append(f'{name} is missing')
            continue
        w = initializers[name].values
        if not isinstance(first, list):
            good = (w == np.float32(first)).all()
        else:
            size, deviation, bound = first
            good = w.size == size and (size < 200 or (abs(w.std() / deviation - 1) < 0.15 and abs(np.abs(w).max() / bound - 1) < 0.4 and
                                                      len(np.unique(w)) > size * 0.99))
        if not good:
            problems.append(f'{name}: {w.size} values, deviation {w.std():.4f} to {np.abs(w).max():.4f}, PyTorch {first}')
    return problems


def compare(name, record, folder):
    """Problems, and the largest error over its bound."""
    wanted = {n: (g, 2e-4) for n, g in record['gradients'].items()}
    largest = max(g['max'] for g, _ in wanted.values())
    wanted.update({n: (o, 2e-5) for n, o in record['outputs'].items()})
    problems, worst = [], 0
    for n, (digest, tolerance) in wanted.items():
        path = os.path.join(folder, n + '.npy')
        if not os.path.exists(path):
            problems.append(f'{n} is missing')
            continue
        bound = tolerance * max(digest['max'], largest / 1000 if tolerance == 2e-4 else 0)
        error = recording.largest_error(f'{name}/{n}', digest, np.load(path))
        worst = max(worst, error / bound)
        if error > bound:
            problems.append(f'{n} is off by {error:.2e}, {bound:.2e} is allowed')
    return problems, worst


def check(name, record, folder, a):
    path, archive, out = (os.path.join(folder, name + end) for end in ('.onnx', '.npz', ''))
    with open(path, 'rb') as file:
        model = file.read()
    initializers, weights = onnx_file.initializers(model), recording.Weights(name, record['fills'])
    problems = check_first_values(initializers, record['first_values'])
    problems += [f'parameter {n} is not in PyTorch' for n, t in initializers.items()
                 if t.type == onnx_file.FLOAT and t.dims and n not in record['first_values']]
    with open(path, 'wb') as file:
        file.write(onnx_file.replace_initializers(model, lambda t: weights.initializer(t.name, t.dims) if weights.has(t.name) else None))
    inputs = layers.inputs(name, onnx_file.ports(model, onnx_file.GRAPH_INPUT))
    if {n: list(x.shape) for n, x in inputs.items()} != record['inputs']:
        problems.append(f'inputs are not those that were recorded, {record["inputs"]}')
    np.savez(archive, **inputs, **{f'gradient.{n}': layers.seed(name, n, o['shape']) for n, o in record['outputs'].items()})
    os.mkdir(out)
    run = subprocess.run(shlex.split(a.emulator) + [a.gradients, path, archive, out] + ([a.kernels] if a.kernels else []), capture_output=True, text=True)
    if run.returncode:
        print(f'{name}: FAILED\n{run.stdout}{run.stderr}')
        return False
    more, worst = compare(name, record, out)
    problems += more
    print(f'{name}: worst at {worst:.3f} of its bound: {"ok" if not problems else "FAILED"}')
    for p in problems:
        print('  ' + p)
    return not problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('networks')
    parser.add_argument('gradients')
    parser.add_argument('--emulator', default='')
    parser.add_argument('--kernels')
    a = parser.parse_args()
    recorded = recording.load(layers.RECORDED)
    print(f'against {recorded.pop("peer")}, recorded by {recorded.pop("command")}')
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(shlex.split(a.emulator) + [a.networks, folder], check=True)
        names = sorted(f[:-5] for f in os.listdir(folder) if f.endswith('.onnx'))
        if set(names) != set(recorded):
            print('not compared with PyTorch:', set(names) ^ set(recorded))
            return 1
        return 0 if all([check(name, recorded[name], folder, a) for name in names]) else 1


if __name__ == '__main__':
    sys.exit(main())
