#!/usr/bin/python3
"""Whole networks against PyTorch: exports them (once, into a shared folder) and runs `svengine test` on each.

  networks_test.py --svengine PROGRAM --folder FOLDER [--emulator COMMAND] [--kernels SET] [--first-set-only] NAME...

The bound for image networks is 5e-5 of the largest absolute output, for encoders 1e-4 absolute.
"""
import argparse
import glob
import os
import shlex
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ENCODERS = ('bert', 'bert-2', 'minilm', 'distilbert')


def bound(data_set, name):
    if name.partition('@')[0] in ENCODERS:
        return 1e-4
    largest = max(float(np.abs(np.load(f)).max()) for f in glob.glob(os.path.join(data_set, 'output_*.npy')))
    return 5e-5 * largest


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--svengine', required=True)
    parser.add_argument('--folder', required=True)
    parser.add_argument('--emulator', default='')
    parser.add_argument('--kernels')
    parser.add_argument('--threads', default='2')
    parser.add_argument('--first-set-only', action='store_true')
    parser.add_argument('names', nargs='+')
    a = parser.parse_args()
    subprocess.run([sys.executable, os.path.join(HERE, 'export.py'), a.folder] + a.names, check=True, stdout=subprocess.DEVNULL)
    failures = 0
    for name in a.names:
        for data_set in sorted(glob.glob(os.path.join(a.folder, name, 'test_data_set_*')))[:1 if a.first_set_only else None]:
            atol = bound(data_set, name)
            command = shlex.split(a.emulator) + [a.svengine, 'test', os.path.join(a.folder, name, 'model.onnx'), data_set, '--rtol', '0',
                                                 '--atol', repr(atol), '--threads', a.threads]
            if a.kernels:
                command += ['--kernels', a.kernels]
            run = subprocess.run(command, capture_output=True, text=True)
            print(f'{name} {os.path.basename(data_set)}: bound {atol:.3g}: {"ok" if run.returncode == 0 else "FAILED"}')
            if run.returncode != 0:
                failures += 1
                print(run.stdout + run.stderr)
    print(f'{failures} failures')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
