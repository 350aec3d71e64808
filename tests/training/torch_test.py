#!/usr/bin/python3
"""Losses of the first steps of training against PyTorch's, as recorded: same weights, same batches, same optimiser.

  torch_test.py --svengine PROGRAM [--emulator COMMAND] [--kernels SET] [--steps N] NAME...

The relative difference may be 1e-3 in the first 10 steps and 1e-2 in the later ones. Then the trained network is exported and run
again: it must give the evaluation that training itself printed. record_torch.py makes the recordings; cases.py has the trainings.
"""
import argparse
import csv
import json
import os
import shlex
import subprocess
import sys
import tempfile

import cases  # puts tests/peers on the path
import numpy as np
import recording

RECORDED = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'recorded')


def write_inputs(case, record, steps, path):
    """The network, the batches of `steps` steps, and two of them to evaluate."""
    weights = recording.Weights(case.network, record['fills'], record['recipes'])
    with open(path('model.onnx'), 'wb') as file:
        file.write(recording.network(os.path.join(RECORDED, case.network + '.onnx.gz'), weights))
    data, field, target = case.data()
    for name, count in (('data.npz', steps * case.batch), ('held.npz', 2 * case.batch)):
        np.savez(path(name), **{n: t[:count] for n, t in data.items()}, **{field: target[:count]})


def check(name, a):
    case, record = cases.CASES[name], recording.load(os.path.join(RECORDED, name + '.json'))
    # Of a group of batches only its last one's loss is logged; the last group of all may be smaller.
    group = int(case.option('--accumulate', 1))
    if group > 1 and a.steps != cases.STEPS:
        sys.exit(f'{name}: was recorded for {cases.STEPS} steps')
    wanted = record['losses'][:a.steps]
    with tempfile.TemporaryDirectory() as folder:
        path = lambda file: os.path.join(folder, file)
        write_inputs(case, record, a.steps, path)
        common = ['--validate', path('held.npz'), '--batch', str(case.batch), '--in-order', '--json'] + (['--kernels', a.kernels] if a.kernels else [])
        command = shlex.split(a.emulator) + [a.svengine, 'train', path('model.onnx'), '--data', path('data.npz'), '--lr', str(case.rate), '--log-dir',
                                             path('log'), '--log-every', '1', '--output', path('trained.onnx')] + case.options + common
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode != 0:
            print(f'{name}: FAILED\n{run.stdout}{run.stderr}')
            return False
        with open(path('log/steps.csv'), encoding='utf-8') as rows:
            got = [float(row['loss']) for row in csv.DictReader(rows)]
        differences = [abs(g - w) / abs(w) for g, w in zip(got, wanted)]
        if a.show:
            print(['%.1e' % d for d in differences])
        good = len(got) == len(wanted) > 0 and all(d <= (1e-3 if i < 10 else 1e-2) for i, d in enumerate(differences))
        print(f'{name}: losses {wanted[0]:.5f} to {wanted[-1]:.5f} ({record["peer"]}), largest relative difference {max(differences[:10]):.2e} in '
              f'the first 10 steps, {max(differences):.2e} in {len(got)}: {"ok" if good else "FAILED"}')
        return check_export(name, a, path, case.options, common, json.loads(run.stdout)) and good


def check_export(name, a, path, options, common, trained):
    """Steps at rate 0 on the exported network must evaluate to what training found at its end (but for norms' statistics moving)."""
    command = shlex.split(a.emulator) + [a.svengine, 'train', path('trained.onnx'), '--data', path('held.npz'), '--lr', '0', '--freeze', '*running*',
                                         '--freeze', '*mean*'] + options + common
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        print(f'{name}: FAILED on its own export\n{run.stdout}{run.stderr}')
        return False
    then, now = (r['epochs'][-1]['held_out'] for r in (trained, json.loads(run.stdout)))
    good = then['accuracy'] == now['accuracy'] and abs(then['loss'] - now['loss']) <= 1e-6 * abs(then['loss'])
    print(f'{name}: exported, held-out loss {then["loss"]:.6f} before and {now["loss"]:.6f} after: {"ok" if good else "FAILED"}')
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--svengine', required=True)
    parser.add_argument('--emulator', default='')
    parser.add_argument('--kernels')
    parser.add_argument('--steps', type=int, default=cases.STEPS)
    parser.add_argument('--show', action='store_true', help='print the difference of every step')
    parser.add_argument('names', nargs='+')
    a = parser.parse_args()
    return 0 if all([check(name, a) for name in a.names]) else 1


if __name__ == '__main__':
    sys.exit(main())
