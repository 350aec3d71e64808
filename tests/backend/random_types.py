"""Random single nodes of every element type that ONNX allows, with answers of ONNX's reference evaluator, as a suite of backend tests:

    python3 tests/backend/random_types.py FOLDER [--count 10] [--seed 1] [--op NAME]
    build/release/tests/onnx_backend --root FOLDER --list FOLDER/list.txt

Nodes are those of random_nodes.py and random_moves.py, with the inputs of their first type parameter in one type after the other (types of
tests/data/types.txt). float16 and bfloat16 are computed in float32 and rounded once, where the evaluator rounds in between. As
against_runtime.py no part of the test run: the evaluator is not always right.
"""
import argparse
import collections
import pathlib
import shutil

import ml_dtypes
import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

import random_moves  # noqa: F401 (adds its makers)
from against_runtime import model_of, write
from random_nodes import MAKERS, OPSETS, Random

NARROW = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16}
TYPES = {"float32": np.float32, "float64": np.float64, "bool": np.bool_, **NARROW,
         **{f"{sign}int{bits}": np.dtype(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)}}


class Newest(Random):
    """Nodes in the form of the newest opset that the makers know."""

    def opset(self, low=7):
        return OPSETS[1]


def constraints():
    """Operator -> (inputs, types) of its first type parameter of several types."""
    out = {}
    for line in (pathlib.Path(__file__).parent.parent / "data" / "types.txt").read_text().splitlines():
        if line.startswith("#"):
            continue
        op, _, inputs, types = line.split("|")
        if "," in inputs or len(types.split()) > 2:
            out.setdefault(op, (inputs, [t for t in types.split() if t in TYPES]))
    return out


def converted(case, inputs, dtype):
    """The case with those inputs in another type; numbers that are no half of a small integer stay out of it."""
    places = {int(i.rstrip("+")) for i in inputs.split(",")}
    last = max(places) if inputs.endswith("+") else len(case.inputs)
    for i, x in enumerate(case.inputs):
        if x is None or not (i in places or i > last):
            continue
        x = np.nan_to_num(x.astype(np.float64), nan=1, posinf=3, neginf=-3).clip(-9, 9)
        if np.issubdtype(dtype, np.unsignedinteger):
            x = np.abs(x)
        case.inputs[i] = x.astype(dtype)
        if case.op in ("Div", "Mod") and i == 1 and np.issubdtype(dtype, np.integer):
            case.inputs[i] = np.where(case.inputs[i] == 0, 1, case.inputs[i]).astype(dtype)
    case.opset = onnx.defs.onnx_opset_version()
    return case


def answers(case, dtype):
    """Narrow floats are computed in float32, and their results rounded."""
    if dtype not in NARROW.values():
        model, inputs = model_of(case)
        return ReferenceEvaluator(model).run(None, inputs)
    narrow, case.inputs = case.inputs, [None if x is None else x.astype(np.float32) if x.dtype == dtype else x for x in case.inputs]
    model, inputs = model_of(case)
    outputs = [y.astype(dtype) if y.dtype == np.float32 else y for y in map(np.asarray, ReferenceEvaluator(model).run(None, inputs))]
    case.inputs = narrow
    return outputs


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=10, help="nodes of every operator and type")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--op")
    options = parser.parse_args()
    shutil.rmtree(options.folder / "node", ignore_errors=True)
    g, refused = Newest(options.seed), collections.Counter()
    reasons = {}
    for op, (inputs, types) in sorted(constraints().items()):
        if op not in MAKERS or op in ("Scatter", "Upsample") or options.op not in (None, op):
            continue
        for name in types:
            for i in range(options.count):
                case = converted(MAKERS[op](g, op), inputs, np.dtype(TYPES[name]))
                try:
                    outputs = [np.asarray(y) for y in answers(case, np.dtype(TYPES[name]))]
                    write(options.folder / "node" / f"{op}_{name}_{i:03d}", case, outputs)
                except Exception as problem:  # its messages are all there is
                    refused[op, name] += 1
                    reasons.setdefault((op, name), str(problem).splitlines()[0][:120] if str(problem) else repr(problem))
    for key, n in sorted(refused.items()):
        print(f"refused {n:5d} {' '.join(key)}: {reasons[key]}")


if __name__ == "__main__":
    main()
