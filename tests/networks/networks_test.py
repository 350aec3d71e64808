#!/usr/bin/python3
"""Whole networks against PyTorch, as recorded: writes their files (once, into a folder that builds share) and runs them.

  networks_test.py --svengine PROGRAM --folder FOLDER [--emulator COMMAND] [--kernels SET] [--first-set-only] NAME...

cases.py has the networks, inputs and bounds; record_torch.py makes the recordings.
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
from write import RECORDED, write_network


def check(spec, which, folder, a):
    """One set of inputs."""
    name, _ = cases.split(spec)
    record = recording.load(os.path.join(RECORDED, name + '.json'))
    with tempfile.TemporaryDirectory() as out:
        command = shlex.split(a.emulator) + [a.svengine, 'run', os.path.join(folder, 'model.onnx'), '--output-dir', out, '--threads', a.threads]
        for key in cases.inputs(name)[which]:
            command += ['--input', f'{key}={os.path.join(folder, f"set_{which}", key + ".npy")}']
        if a.kernels:
            command += ['--kernels', a.kernels]
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode != 0:
            print(f'{spec} set {which}: FAILED\n{run.stdout}{run.stderr}')
            return False
        worst, good = [], True
        wanted = record[f'set_{which}']
        bound = cases.bound(name, max(w['max'] for w in wanted.values()))
        for key, digest in wanted.items():
            error = recording.largest_error(f'{name}/{key}', digest, np.load(os.path.join(out, key + '.npy')))
            good = good and error <= bound
            worst.append(f'{key} {error / bound:.3f}')
        print(f'{spec} set {which}: bound {bound:.3g} ({record["peer"]}), of which {", ".join(worst)}: {"ok" if good else "FAILED"}')
        return good


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
    results = []
    for spec in a.names:
        folder = write_network(a.folder, spec)
        results += [check(spec, i, folder, a) for i in range(1 if a.first_set_only else 2)]
    print(f'{results.count(False)} failures')
    return 0 if all(results) else 1


if __name__ == '__main__':
    sys.exit(main())
