#!/usr/bin/python3
"""Gradients of whole networks against PyTorch's, as recorded in double precision: same weights, same data, exported in training mode.

  networks_test.py PROGRAM [--emulator COMMAND] [--kernels SET] NAME...

PROGRAM is network_gradients. cases.py has the networks, inputs and bounds; record_torch.py makes the recordings.
"""
import argparse
import os
import shlex
import subprocess
import sys
import tempfile

import cases  # puts tests/peers on the path
import numpy as np
import recording

RECORDED = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'recorded')


def check(name, a):
    record = recording.load(os.path.join(RECORDED, name + '.json'))
    with tempfile.TemporaryDirectory() as folder:
        onnx, archive = os.path.join(folder, 'model.onnx'), os.path.join(folder, 'data.npz')
        with open(onnx, 'wb') as file:
            file.write(recording.network(os.path.join(RECORDED, name + '.onnx.gz'), recording.Weights(name, record['fills'], record['recipes'])))
        np.savez(archive, **cases.inputs(name), **{f'gradient.{n}': cases.seed(name, n, shape) for n, shape in record['outputs'].items()})
        command = shlex.split(a.emulator) + [a.program, onnx, archive, folder] + ([a.kernels] if a.kernels else [])
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode != 0:
            print(f'{name}: FAILED\n{run.stdout}{run.stderr}')
            return False
        return compare(name, record, folder)


def compare(name, record, folder):
    wanted = record['gradients']
    bounds = cases.bounds({p: g['max'] for p, g in wanted.items()})
    worst, missing = (0, None), []
    for parameter, gradient in wanted.items():
        path = os.path.join(folder, parameter + '.npy')
        if not os.path.exists(path):
            missing.append(parameter)
            continue
        error = recording.largest_error(f'{name}/{parameter}', gradient, np.load(path))
        worst = max(worst, (error / bounds[parameter], parameter), key=lambda w: w[0])
    good = worst[0] <= 1 and not missing
    print(f'{name}: {len(wanted)} parameters ({record["peer"]}), worst {worst[1]} at {worst[0]:.3f} of the bound: {"ok" if good else "FAILED"}'
          + (f'; missing {missing}' if missing else ''))
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('program')
    parser.add_argument('--emulator', default='')
    parser.add_argument('--kernels')
    parser.add_argument('names', nargs='+')
    a = parser.parse_args()
    return 0 if all([check(name, a) for name in a.names]) else 1


if __name__ == '__main__':
    sys.exit(main())
