"""Networks that HPC codes call every time step, random weights, as PyTorch's exporter writes them (Gemm with transB):

    python3 bench/physics_models.py FOLDER

    drag_f32, drag_f64     ECMWF's orographic drag, 191-122 x5-126 with tanh, 8,192 rows
    mlp_4096, mlp_1        124-512 x4-128 with tanh, 4,096 rows and one
    acas                   ACAS Xu's shape, 5-50 x6-5 with Relu, one row
    mima                   MiMA's gravity-wave drag, double: 42 - batch norm - 256 x5 - 64, then 40 branches 64-32-1, 8,192 rows
    gemm_f64               a double product of 768 x 768 x 768

Measured by `bench/compare_models.py --all FOLDER`.
"""
import argparse
import pathlib

import numpy as np
import onnx
from onnx import helper, numpy_helper


class Writer:
    def __init__(self, dtype):
        self.dtype, self.nodes, self.weights, self.random = dtype, [], [], np.random.default_rng(1)

    def weight(self, name, array):
        self.weights.append(numpy_helper.from_array(array.astype(self.dtype), name))
        return name

    def op(self, kind, inputs, name, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name

    def dense(self, x, name, inputs, outputs, activation=None):
        weight = self.weight(f"{name}.weight", self.random.standard_normal((outputs, inputs)) / np.sqrt(inputs))
        bias = self.weight(f"{name}.bias", self.random.standard_normal(outputs) * 0.1)
        x = self.op("Gemm", [x, weight, bias], name, transB=1)
        return self.op(activation, [x], f"{name}.{activation}") if activation else x

    def chain(self, x, name, widths, activation, last):
        for i, (inputs, outputs) in enumerate(zip(widths, widths[1:])):
            x = self.dense(x, f"{name}.{i}", inputs, outputs, activation if i + 2 < len(widths) else last)
        return x

    def model(self, y, in_shape, out_shape):
        element = helper.np_dtype_to_tensor_dtype(np.dtype(self.dtype))
        ports = [helper.make_tensor_value_info(n, element, s) for n, s in (("x", in_shape), (y, out_shape))]
        graph = helper.make_graph(self.nodes, "physics", ports[:1], ports[1:], self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def mlp(dtype, rows, widths, activation):
    w = Writer(dtype)
    y = w.chain("x", "layer", widths, activation, None)
    return w.model(y, [rows, widths[0]], [rows, widths[-1]])


def mima(rows, branches=40):
    w = Writer(np.float64)
    draw = w.random
    norm = [w.weight("norm.scale", 1 + 0.1 * draw.standard_normal(42)), w.weight("norm.shift", draw.standard_normal(42)),
            w.weight("norm.mean", draw.standard_normal(42)), w.weight("norm.variance", draw.random(42) + 0.5)]
    x = w.chain(w.op("BatchNormalization", ["x"] + norm, "norm"), "shared", [42] + 5 * [256] + [64], "Tanh", "Tanh")
    parts = [w.chain(x, f"branch.{i}", [64, 32, 1], "Tanh", None) for i in range(branches)]
    return w.model(w.op("Concat", parts, "y", axis=1), [rows, 42], [rows, branches])


def product(size):
    w = Writer(np.float64)
    y = w.op("MatMul", ["x", w.weight("weight", w.random.standard_normal((size, size)))], "y")
    return w.model(y, [size, size], [size, size])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    drag, square = [191] + 5 * [122] + [126], [124] + 4 * [512] + [128]
    models = {
        "drag_f32": mlp(np.float32, 8192, drag, "Tanh"), "drag_f64": mlp(np.float64, 8192, drag, "Tanh"),
        "mlp_4096": mlp(np.float32, 4096, square, "Tanh"), "mlp_1": mlp(np.float32, 1, square, "Tanh"),
        "acas": mlp(np.float32, 1, [5] + 6 * [50] + [5], "Relu"), "mima": mima(8192), "gemm_f64": product(768)}
    for name, model in models.items():
        onnx.checker.check_model(model)
        onnx.save(model, str(folder / f"{name}.onnx"))


if __name__ == "__main__":
    main()
