#!/usr/bin/env python3
"""Times ONNX Runtime on a model with random inputs, and prints one JSON object: what `svengine bench --json` prints, for the peer.

  onnxruntime_bench.py MODEL [--dim NAME=N]... [--threads N] [--duration SECONDS] [--warmup N] [--starts N] [--input NAME=FILE.npy | FILE.npz]...

The session gets all graph optimisations, the named dimensions as fixed sizes (so that it may plan for them), and the given number of
threads. create_ms and first_ms are taken inside the process: the interpreter's start and the library's loading are in
process_ms only. --duration 0 stops after the first run.
--starts N makes N more sessions, one after the other, each with its first run: start_ms is the median, beside `call_latency`'s. Needs the packages onnxruntime and numpy (see compare.sh).
"""
import argparse
import json
import os
import resource
import statistics
import time

import numpy as np
import onnxruntime as ort

LEAST_ITERATIONS = 3


def process_age_ms():
    """Since the kernel made this process, which is before the interpreter started."""
    fields = open('/proc/self/stat').read().rsplit(')', 1)[1].split()
    started = int(fields[19]) / os.sysconf('SC_CLK_TCK')
    return 1000 * (time.clock_gettime(time.CLOCK_BOOTTIME) - started)


def random_inputs(session, dims):
    """As svengine's: reals in [-0.5, 0.5), masks of ones, other integers small."""
    random = np.random.default_rng(1)
    feeds = {}
    for port in session.get_inputs():
        shape = [d if isinstance(d, int) else dims.get(d, 1) for d in port.shape]
        if port.type in ('tensor(float)', 'tensor(double)'):
            dtype = np.float32 if port.type == 'tensor(float)' else np.float64
            feeds[port.name] = random.random(shape, dtype=dtype) - dtype(0.5)
        elif port.type in ('tensor(int64)', 'tensor(int32)'):
            dtype = np.int64 if port.type == 'tensor(int64)' else np.int32
            feeds[port.name] = np.full(shape, 1 if 'mask' in port.name else 0, dtype)
        elif port.type in ('tensor(uint8)', 'tensor(int8)'):
            feeds[port.name] = random.integers(0, 100, shape).astype(np.uint8 if port.type == 'tensor(uint8)' else np.int8)
        else:
            raise SystemExit(f'onnxruntime_bench.py: input {port.name} is {port.type}')
    return feeds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('model')
    parser.add_argument('--dim', action='append', default=[], metavar='NAME=N')
    parser.add_argument('--threads', type=int, default=2)
    parser.add_argument('--duration', type=float, default=2)
    parser.add_argument('--warmup', type=int, default=1)
    parser.add_argument('--starts', type=int, default=0)
    parser.add_argument('--input', action='append', default=[], metavar='NAME=FILE.npy|FILE.npz')
    parser.add_argument('--output-dir', help='write the first run\'s outputs there as NAME.npy')
    a = parser.parse_args()
    dims = {name: int(size) for name, _, size in (d.partition('=') for d in a.dim)}

    options = ort.SessionOptions()
    options.intra_op_num_threads = a.threads
    options.inter_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    for name, size in dims.items():
        options.add_free_dimension_override_by_name(name, size)

    def create():
        return ort.InferenceSession(a.model, options, providers=['CPUExecutionProvider'])

    start = time.perf_counter()
    session = create()
    create_ms = 1000 * (time.perf_counter() - start)
    given = {}
    for name, is_one, path in (i.partition('=') for i in a.input):
        given.update({name: np.load(path)} if is_one else np.load(name))
    feeds = given or random_inputs(session, dims)
    start = time.perf_counter()
    outputs = session.run(None, feeds)
    first_ms = 1000 * (time.perf_counter() - start)
    process_ms = process_age_ms()
    if a.output_dir:
        for port, value in zip(session.get_outputs(), outputs):
            np.save(os.path.join(a.output_dir, f'{port.name}.npy'), value)

    starts = []
    for _ in range(a.starts):
        start = time.perf_counter()
        create().run(None, feeds)
        starts.append(1000 * (time.perf_counter() - start))

    times, cpu_ms = [], None
    if a.duration > 0:
        for _ in range(a.warmup):
            session.run(None, feeds)
        begin, used = time.perf_counter(), time.process_time()
        while len(times) < LEAST_ITERATIONS or time.perf_counter() - begin < a.duration:
            start = time.perf_counter()
            session.run(None, feeds)
            times.append(1000 * (time.perf_counter() - start))
        cpu_ms = 1000 * (time.process_time() - used) / len(times)
    print(json.dumps({
        'version': ort.__version__, 'threads': a.threads, 'create_ms': create_ms, 'first_ms': first_ms, 'process_ms': process_ms,
        'start_ms': statistics.median(starts) if starts else None, 'start_min_ms': min(starts, default=None),
        'iterations': len(times), 'median_ms': statistics.median(times) if times else None, 'min_ms': min(times, default=None), 'cpu_ms': cpu_ms,
        'peak_rss_mib': resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


if __name__ == '__main__':
    main()
