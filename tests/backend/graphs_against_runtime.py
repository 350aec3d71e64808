"""Random graphs that `differential --write FOLDER` wrote, in ONNX Runtime, with its optimisations and without:

    build/release/differential --write FOLDER --seed 1 --count 2000
    python3 tests/backend/graphs_against_runtime.py FOLDER

Not a part of the test run: it needs the packages onnx and onnxruntime, and what it finds needs a person, for ONNX Runtime is not always
right. Graphs that it refuses are counted by the reason; those that the package onnx refuses are findings.
"""
import argparse
import collections
import multiprocessing
import pathlib
import re

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

onnxruntime.set_default_logger_severity(4)
LEVELS = {"plain": onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL, "optimised": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL}
MESSAGES = {"tensor_type": (onnx.TensorProto, numpy_helper.to_array), "sequence_type": (onnx.SequenceProto, numpy_helper.to_list),
            "optional_type": (onnx.OptionalProto, numpy_helper.to_optional)}


def values(folder, kind, ports):
    """What the files kind_0.pb ... hold, by the names of `ports`."""
    found = {}
    for i, port in enumerate(ports):
        message, read = MESSAGES[port.type.WhichOneof("value")]
        proto = message()
        proto.ParseFromString((folder / "test_data_set_0" / f"{kind}_{i}.pb").read_bytes())
        found[port.name] = read(proto)
    return found


def run(path, level, inputs):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = LEVELS[level]
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return dict(zip([y.name for y in session.get_outputs()], session.run(None, inputs)))


def difference(ours, theirs, bound):
    """What is different, one line; None when they agree within `bound` of the largest number."""
    if isinstance(ours, list) or isinstance(theirs, list) or ours is None or theirs is None:
        if ours is None or theirs is None or len(ours) != len(theirs):
            return None if ours is theirs else f"{ours if ours is None else len(ours)} against {theirs if theirs is None else len(theirs)} elements"
        return next((d for d in map(lambda a, b: difference(a, b, bound), ours, theirs) if d), None)
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    if ours.shape != theirs.shape:
        return f"shape {ours.shape} against {theirs.shape}"
    if ours.dtype.kind in "OUSb" or ours.size == 0:
        return None if np.array_equal(ours, theirs) else "other elements"
    a, b = ours.astype(np.float64), theirs.astype(np.float64)
    with np.errstate(all="ignore"):
        finite = np.isfinite(a) & np.isfinite(b)
        scale = np.abs(b[finite]).max(initial=0)
        wrong = np.where(finite, np.abs(a - b) > bound * scale, ~((a == b) | (np.isnan(a) & np.isnan(b))))
    if not wrong.any():
        return None
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"{ours.dtype}{list(ours.shape)}: {int(wrong.sum())} elements, the first at {list(at)}: {a[at]:.9g} against {b[at]:.9g}"


def reason(problem):
    """An error without names and numbers, to count by."""
    return re.sub(r"%?\b\w*\d[\w:/.]*\b|'[^']*'|\{[^}]*\}", "_", str(problem).replace("\n", " "))[-220:]


def check(folder, bound):
    """What is wrong, by the way to run, and what onnx says of the model; why ONNX Runtime refuses it, after that."""
    model = onnx.load(folder / "model.onnx")
    try:
        onnx.checker.check_model(model, full_check=True)
    except Exception as e:  # noqa: BLE001 (all that it says is of interest)
        yield False, f"onnx: {str(e).strip()[:600]}"
    inputs, wanted = values(folder, "input", model.graph.input), values(folder, "output", model.graph.output)
    for level in LEVELS:
        try:
            got = run(folder / "model.onnx", level, inputs)
        except Exception as e:  # noqa: BLE001
            yield True, f"{level}: {reason(e)}"
            continue
        for name, ours in wanted.items():
            found = difference(ours, got[name], bound)
            if found:
                yield False, f"{level}: {name}: {found}"


def checked(folder, bound):
    """What check() gives, from a child: there are graphs that end ONNX Runtime."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)

    def send():
        for line in check(folder, bound):
            theirs.send(line)

    child = context.Process(target=send)
    child.start()
    theirs.close()
    try:
        while True:
            yield ours.recv()
    except EOFError:
        child.join()
    if child.exitcode:
        yield True, f"ended with {child.exitcode}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--bound", type=float, default=1e-3, help="of the largest number of an output")
    arguments = parser.parse_args()
    refused, graphs, findings = collections.defaultdict(list), 0, 0
    for folder in sorted(arguments.folder.iterdir(), key=lambda f: int(f.name)):
        graphs += 1
        for was_refused, line in checked(folder, arguments.bound):
            if was_refused:
                refused[line].append(folder.name)
            else:
                findings += 1
                print(f"{folder.name}: {line}", flush=True)
    for text, folders in sorted(refused.items(), key=lambda item: -len(item[1])):
        print(f"{len(folders):6} refused ({folders[0]}): {text}")
    print(f"{graphs} graphs, {findings} findings")


if __name__ == "__main__":
    main()
