"""Random single nodes of every operator and opset, with ONNX Runtime's answers, as a suite of backend tests:

    python3 tests/backend/against_runtime.py FOLDER [--count 5000] [--seed 1] [--most 5] [--op NAME]
    build/release/tests/onnx_backend --root FOLDER --list FOLDER/list.txt

Not a part of the test run: it needs the packages onnx and onnxruntime, and what it finds needs a person, for ONNX Runtime is not always
right. Nodes that ONNX Runtime refuses are left out and counted.
"""
import argparse
import collections
import ctypes
import pathlib
import shutil

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

import random_contributed  # noqa: F401 (adds its makers)
import random_experts  # noqa: F401
import random_gated  # noqa: F401
import random_generation  # noqa: F401
import random_language  # noqa: F401
import random_microsoft  # noqa: F401
import random_ml  # noqa: F401
import random_moves  # noqa: F401
import random_quantized  # noqa: F401
import random_rare  # noqa: F401
import random_sequences  # noqa: F401
import random_text  # noqa: F401
import random_vision  # noqa: F401
from random_nodes import MAKERS, Random


def value_info(name, array):
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)


def model_of(case, outputs=None):
    """The node as a model; with the outputs' arrays their types are declared."""
    names = ["" if x is None else f"x{i}" for i, x in enumerate(case.inputs)]
    results = case.compared or [y for y in case.results if y]
    node = helper.make_node(case.op, names, case.results, domain=case.domain, **case.attributes)
    given = [(n, x, i in case.constant) for i, (n, x) in enumerate(zip(names, case.inputs)) if x is not None]
    declared = [value_info(n, y) for n, y in zip(results, outputs)] if outputs else [onnx.ValueInfoProto(name=n) for n in results]
    graph = helper.make_graph([node], "g", [value_info(n, x) for n, x, constant in given if not constant], declared,
                              [numpy_helper.from_array(x, n) for n, x, constant in given if constant])
    opsets = {"": 21, case.domain: case.opset} if case.domain == "ai.onnx.ml" else {"": case.opset, "com.microsoft": 1}
    return helper.make_model(graph, opset_imports=[helper.make_opsetid(*opset) for opset in opsets.items()], ir_version=8), {
        n: x for n, x, constant in given if not constant}


def stored_values(value, dtype):
    """The elements of a result of a type that ONNX Runtime has no NumPy type for, two of a byte where they have 4 bits."""
    raw = np.frombuffer(ctypes.string_at(value.data_ptr(), value.tensor_size_in_bytes()), np.uint8)
    if dtype in (ml_dtypes.int4, ml_dtypes.uint4):
        nibbles = np.stack([raw & 15, raw >> 4], -1).reshape(-1)[:int(np.prod(value.shape()))].astype(np.int8)
        return np.where((nibbles > 7) & (dtype == ml_dtypes.int4), nibbles - 16, nibbles).astype(dtype).reshape(value.shape())
    return raw.view(dtype).reshape(value.shape())


def answers(case):
    model, inputs = model_of(case)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    if not case.in_place and case.stored is None:
        return session.run(None, inputs)
    binding = session.io_binding()
    values = {name: onnxruntime.OrtValue.ortvalue_from_numpy(x.copy()) for name, x in inputs.items()}
    for name, value in values.items():
        binding.bind_ortvalue_input(name, value)
    for i, name in enumerate(case.results):
        if i in case.in_place:
            binding.bind_ortvalue_output(name, values[f"x{case.in_place[i]}"])
        else:
            binding.bind_output(name)
    session.run_with_iobinding(binding)
    return [y.numpy().copy() if case.stored is None else stored_values(y, case.stored) for y in binding.get_outputs()]


def write(folder, case, outputs):
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    model, inputs = model_of(case, outputs)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    for i, x in enumerate(inputs.values()):
        (data / f"input_{i}.pb").write_bytes(numpy_helper.from_array(x).SerializeToString())
    for i, y in enumerate(outputs):
        (data / f"output_{i}.pb").write_bytes(numpy_helper.from_array(np.asarray(y)).SerializeToString())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=5, help="the largest size of a dimension")
    parser.add_argument("--op")
    options = parser.parse_args()
    onnxruntime.set_default_logger_severity(4)
    shutil.rmtree(options.folder / "node", ignore_errors=True)
    g, refused = Random(options.seed, options.most), collections.Counter()
    names = [options.op] if options.op else sorted(MAKERS)
    reasons = {}
    for i in range(options.count):
        op = names[i % len(names)]
        case = MAKERS[op](g, op)
        try:
            outputs = answers(case)
        except Exception as problem:  # its messages are all there is
            refused[op] += 1
            reasons.setdefault(op, str(problem).splitlines()[0][:150])
            continue
        if not case.is_defined(outputs):
            continue
        write(options.folder / "node" / f"{op}_{i:06d}_opset{case.opset}", case, outputs)
    for op, n in sorted(refused.items()):
        print(f"refused {n:5d} {op}: {reasons[op]}")


if __name__ == "__main__":
    main()
