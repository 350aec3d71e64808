#!/usr/bin/env python3
"""Times every model it is given beside ONNX Runtime, in turns, and prints those that are slower than the goal.

  compare_models.py PATH... [--svengine FILE] [--peer-python FILE] [--threads N] [--rounds N] [--duration SECONDS] [--goal RATIO] [--all]

A PATH is a model or a folder, which is searched for .onnx files. Beside MODEL.onnx there may be its inputs, MODEL.npz. A round times ours, then theirs; the figure is the ratio of the medians
over the rounds. --layers adds single convolutions that networks have and nobody had looked at; it needs the package onnx in the peer's
Python. A model that either refuses is listed with the reason. Exits with 1 when a model is slower than the goal.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent

LAYERS = '''
import sys
import numpy as np
from onnx import TensorProto, helper, numpy_helper, save
rng = np.random.default_rng(0)
for name, channels, outs, groups, size, kernel in [
        ("grouped_1x1_272_4", 272, 272, 4, 28, 1), ("grouped_1x1_272_2", 272, 272, 2, 28, 1), ("grouped_1x1_136_4", 136, 136, 4, 28, 1),
        ("grouped_3x3_136_4", 136, 136, 4, 28, 3), ("pixel_1280_1000", 1280, 1000, 1, 1, 1), ("pixel_64_960", 64, 960, 1, 1, 1)]:
    w = numpy_helper.from_array(rng.standard_normal((outs, channels // groups, kernel, kernel), dtype=np.float32) * 0.1, "w")
    node = helper.make_node("Conv", ["x", "w"], ["y"], group=groups, pads=[kernel // 2] * 4)
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, c, size, size]) for n, c in (("x", channels), ("y", outs))]
    model = helper.make_model(helper.make_graph([node], name, ports[:1], ports[1:], [w]), opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    save(model, f"{sys.argv[1]}/{name}.onnx")
'''


def models_in(paths):
    for path in map(pathlib.Path, paths):
        if path.is_dir():
            yield from sorted(path.rglob('*.onnx'))
        else:
            yield path


def median_ms(command):
    """Of one run, or the reason why there is none."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        lines = (done.stderr.strip() or done.stdout.strip() or f'exit status {done.returncode}').splitlines()
        return None, lines[-1][:160]
    return json.loads(done.stdout)['median_ms'], None


def compare(model, options):
    common = ['--threads', str(options.threads), '--duration', str(options.duration)]
    if (inputs := model.with_suffix('.npz')).exists():
        common += ['--input', str(inputs)]
    commands = {'ours': [options.svengine, 'bench', str(model), '--json', *common],
                'theirs': [options.peer_python, str(HERE / 'onnxruntime_bench.py'), str(model), *common]}
    times = {side: [] for side in commands}
    for _ in range(options.rounds):
        for side, command in commands.items():
            value, reason = median_ms(command)
            if reason:
                return None, f'{side}: {reason}'
            times[side].append(value)
    return (statistics.median(times['ours']), statistics.median(times['theirs'])), None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('paths', nargs='*', metavar='PATH')
    parser.add_argument('--svengine', default='build/release/svengine')
    parser.add_argument('--peer-python', default='build/peers/bin/python')
    parser.add_argument('--threads', type=int, default=1)
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--duration', type=float, default=1)
    parser.add_argument('--goal', type=float, default=0.85)
    parser.add_argument('--layers', action='store_true', help='single convolutions too')
    parser.add_argument('--all', action='store_true', help='print models that are fast enough, too')
    options = parser.parse_args()
    slow = refused = count = 0
    with tempfile.TemporaryDirectory() as folder:
        paths = list(options.paths)
        if options.layers:
            subprocess.run([options.peer_python, '-c', LAYERS, folder], check=True)
            paths.append(folder)
        for model in models_in(paths):
            count += 1
            result, reason = compare(model, options)
            if reason:
                refused += 1
                print(f'refused  {model}: {reason}', flush=True)
                continue
            ours, theirs = result
            is_slow = ours > options.goal * theirs
            slow += is_slow
            if is_slow or options.all:
                print(f'{"slow" if is_slow else "fast":8} {ours:10.3f} ms {theirs:10.3f} ms  {ours / theirs:5.2f}  {model}', flush=True)
    print(f'{count} models: {slow} slower than {options.goal} of ONNX Runtime, {refused} not timed')
    return 1 if slow else 0


if __name__ == '__main__':
    sys.exit(main())
