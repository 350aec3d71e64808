"""Random casts and quantisations of every element type, with the answers of ONNX's own reference, as a suite of backend tests:

    python3 tests/backend/against_reference.py FOLDER [--count 1000] [--seed 1]
    build/release/tests/onnx_backend --root FOLDER --list FOLDER/list.txt

Not a part of the test run: it needs a newer package onnx, with ml_dtypes. What the reference refuses is left out and counted; out of range are
only values for which ONNX says what becomes of them.
"""
import argparse
import collections
import pathlib
import shutil

import ml_dtypes  # noqa: F401 (registers NumPy's small types)
import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

FLOAT8 = [T.FLOAT8E4M3FN, T.FLOAT8E4M3FNUZ, T.FLOAT8E5M2, T.FLOAT8E5M2FNUZ]
LIMITS = {T.INT8: (-128, 127), T.UINT8: (0, 255), T.INT16: (-32768, 32767), T.UINT16: (0, 65535), T.INT4: (-8, 7), T.UINT4: (0, 15),
          T.INT2: (-2, 1), T.UINT2: (0, 3)}
FLOATS = [T.FLOAT, T.DOUBLE, T.FLOAT16, T.BFLOAT16]
UNSIGNED = [T.UINT8, T.UINT16, T.UINT32, T.UINT64, T.UINT4, T.UINT2]
QUANTIZED = list(LIMITS) + FLOAT8 + [T.FLOAT4E2M1]
CASTABLE = QUANTIZED + FLOATS + [T.BOOL, T.INT32, T.INT64, T.UINT32, T.UINT64]
OPSET = 25


def array_type(element):
    return helper.tensor_dtype_to_np_dtype(element)


class Random:
    def __init__(self, seed):
        self.r = np.random.default_rng(seed)

    def pick(self, values):
        return values[self.r.integers(len(values))]

    def chance(self, p):
        return self.r.random() < p

    def dims(self):
        return [int(self.r.integers(1, 8)) for _ in range(self.r.integers(1, 5))]

    def reals(self, dims, size):
        return self.r.standard_normal(dims) * size

    def whole(self, element, dims):
        low, high = LIMITS[element]
        return self.r.integers(low, high + 1, dims).astype(array_type(element))

    def granularity(self, dims):
        """The scale's dimensions, and the attributes that say so."""
        kind, axis = self.r.integers(3), int(self.r.integers(-len(dims), len(dims)))
        if kind == 0:
            return [], {}
        if kind == 1:
            return [dims[axis]], {'axis': axis}
        block, scale = int(self.r.integers(1, 6)), list(dims)
        scale[axis] = -(-dims[axis] // block)
        return scale, {'axis': axis, 'block_size': block}

    def scales(self, dims, element):
        return self.r.uniform(0.1, 2, dims).astype(element)


def quantize(g):
    dims, to = g.dims(), g.pick(QUANTIZED)
    scale, attributes = g.granularity(dims)
    element = np.float16 if g.chance(0.25) else np.float32
    zero = g.whole(to, scale) if to in LIMITS and g.chance(0.6) else None
    if zero is None:
        attributes['output_dtype'] = to
    if to in FLOAT8 and g.chance(0.4):
        attributes['saturate'] = 0
    return 'QuantizeLinear', [g.reals(dims, g.pick([1, 30, 300])).astype(element), g.scales(scale, element), zero], attributes


def dequantize(g):
    dims, of = g.dims(), g.pick(QUANTIZED)
    scale, attributes = g.granularity(dims)
    x = g.whole(of, dims) if of in LIMITS else g.reals(dims, 4).astype(array_type(of))
    zero = g.whole(of, scale) if of in LIMITS and g.chance(0.6) else None
    if g.chance(0.2):
        attributes['output_dtype'] = int(T.FLOAT16)
    return 'DequantizeLinear', [x, g.scales(scale, g.pick([np.float32, np.float16])), zero], attributes


def cast(g):
    of, to, dims = g.pick(CASTABLE), g.pick(CASTABLE), g.dims()
    x = g.reals(dims, 1000 if to in FLOATS + FLOAT8 + [T.FLOAT4E2M1] and g.chance(0.3) else 1)
    if of in UNSIGNED or to in UNSIGNED:
        x = abs(x)
    if of in LIMITS:
        x = g.whole(of, dims)
    attributes = {'to': int(to)}
    if to in FLOAT8 and g.chance(0.4):
        attributes['saturate'] = 0
    return 'Cast', [(x > 0) if of == T.BOOL else x.astype(array_type(of))], attributes


def dynamic(g):
    return 'DynamicQuantizeLinear', [(g.reals(g.dims(), g.pick([0.1, 10])) + g.pick([-3, 0, 3])).astype(np.float32)], {}


def write(folder, op, inputs, attributes):
    """Fails where the reference does."""
    outputs = [f'y{i}' for i in range(3 if op == 'DynamicQuantizeLinear' else 1)]
    given = {f'x{i}': x for i, x in enumerate(inputs) if x is not None}
    node = helper.make_node(op, [f'x{i}' if x is not None else '' for i, x in enumerate(inputs)], outputs, **attributes)
    infos = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape) for n, x in given.items()]
    graph = helper.make_graph([node], 'g', infos, [onnx.ValueInfoProto(name=y) for y in outputs])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', OPSET)], ir_version=12)
    answers = ReferenceEvaluator(model).run(None, given)
    data = folder / 'test_data_set_0'
    data.mkdir(parents=True)
    (folder / 'model.onnx').write_bytes(model.SerializeToString())
    (folder / 'bounds.json').write_text('{"rtol": 1e-6, "atol": 1e-9}')
    for what, values in (('input', given.values()), ('output', answers)):
        for i, value in enumerate(values):
            (data / f'{what}_{i}.pb').write_bytes(numpy_helper.from_array(np.asarray(value)).SerializeToString())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('folder', type=pathlib.Path)
    parser.add_argument('--count', type=int, default=1000)
    parser.add_argument('--seed', type=int, default=1)
    options = parser.parse_args()
    shutil.rmtree(options.folder / 'node', ignore_errors=True)
    g, refused = Random(options.seed), collections.Counter()
    for i in range(options.count):
        case = g.pick([quantize, dequantize, cast, cast, dynamic])(g)
        try:
            write(options.folder / 'node' / f'test_{case[0]}_{i:05d}', *case)
        except Exception:  # its types of exception are its own affair
            refused[case[0]] += 1
    print(dict(refused))


if __name__ == '__main__':
    main()
