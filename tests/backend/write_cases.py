#!/usr/bin/env python3
"""Writes the backend tests of an installed `onnx` package as folders, for onnx_backend --root.

    python3 write_cases.py OUT        OUT/{node,simple,pytorch-converted,pytorch-operator,light}/NAME/{model.onnx,test_data_set_N/...}

Newer packages make the node tests in Python and carry no files of them. A package of PyPI in a virtual environment will do.
"""
import json
import pathlib
import shutil
import sys

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper
from onnx.backend.test import loader
from onnx.backend.test.case import model as model_case
from onnx.backend.test.case import node as node_case


def to_message(value, info):
    if isinstance(value, (TensorProto, onnx.SequenceProto, onnx.OptionalProto)):
        return value
    kind = info.type.WhichOneof("value")
    if kind == "map_type":
        return numpy_helper.from_dict(value, info.name)
    if kind == "sequence_type":
        return numpy_helper.from_list(value, info.name)
    if kind == "optional_type":
        return numpy_helper.from_optional(value, info.name)
    return numpy_helper.from_array(np.asarray(value), info.name)


def write_values(folder, what, values, infos):
    for i, (value, info) in enumerate(zip(values, infos)):
        (folder / f"{what}_{i}.pb").write_bytes(to_message(value, info).SerializeToString())


def write_case(case, out):
    folder = out / case.kind / case.name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    (folder / "bounds.json").write_text(json.dumps({"rtol": case.rtol, "atol": case.atol}))
    for n, (inputs, outputs) in enumerate(case.data_sets):
        data = folder / f"test_data_set_{n}"
        data.mkdir(exist_ok=True)
        write_values(data, "input", inputs, case.model.graph.input)
        write_values(data, "output", outputs, case.model.graph.output)


def copy_case(case, out):
    """A case that is files already; the light ones are one model and one output each, for inputs of a fixed pattern."""
    folder = out / case.kind / case.name
    folder.parent.mkdir(parents=True, exist_ok=True)
    if case.model_dir:
        shutil.copytree(case.model_dir, folder, dirs_exist_ok=True)


def main():
    out = pathlib.Path(sys.argv[1])
    written = 0
    for case in list(node_case.collect_testcases(None)) + list(model_case.collect_testcases()):
        if case.kind == "real":
            continue
        write_case(case, out)
        written += 1
    for kind in ("pytorch-converted", "pytorch-operator", "simple"):
        for case in loader.load_model_tests(kind=kind):
            copy_case(case, out)
            written += 1
    data = pathlib.Path(onnx.__file__).parent / "backend/test/data/light"
    if data.is_dir():
        shutil.copytree(data, out / "light", dirs_exist_ok=True)
    print(f"{written} cases of onnx {onnx.__version__} in {out}")


if __name__ == "__main__":
    main()
