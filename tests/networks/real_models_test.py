#!/usr/bin/python3
"""Real trained networks with outputs of ONNX Runtime, where a folder of them is at hand.

  real_models_test.py --svengine PROGRAM --folder FOLDER [--emulator COMMAND] [--kernels SET] NAME...
"""
import argparse
import os
import shlex
import subprocess
import sys

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument('--svengine', required=True)
parser.add_argument('--folder', required=True)
parser.add_argument('--emulator', default='')
parser.add_argument('--kernels', required=True)
parser.add_argument('names', nargs='+')
a = parser.parse_args()
failures = 0
for name in a.names:
    folder = os.path.join(a.folder, name)
    # Trained networks: outputs reach 20, so 1e-4 absolute is about 5e-6 of the largest.
    command = shlex.split(a.emulator) + [a.svengine, 'test', os.path.join(folder, 'model.onnx'), folder, '--rtol', '1e-4', '--atol', '1e-4',
                                         '--threads', '2', '--kernels', a.kernels]
    run = subprocess.run(command, capture_output=True, text=True)
    print(f'{name}: {"ok" if run.returncode == 0 else "FAILED"}')
    if run.returncode != 0:
        failures += 1
        print(run.stdout + run.stderr)
sys.exit(1 if failures else 0)
