"""Inputs of the layers that are compared with PyTorch's, which anyone can draw again."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'peers'))
import onnx_file  # noqa: E402
import seeded  # noqa: E402

RECORDED = os.path.join(HERE, 'recorded', 'layers.json')
BATCH = 3


def inputs(name, ports):
    """{input: array} for a network's inputs; integers are indices into the embedding's 11 rows."""
    out = {}
    for port, element, dims in ports:
        dims, key = [d or BATCH for d in dims], f'{name}/{port}'
        out[port] = seeded.integers(key, dims, 0, 11) if element == onnx_file.INT64 else seeded.normal(key, dims)
    return out


def seed(name, output, shape):
    """The gradient of an output that the backward pass begins with."""
    return seeded.normal(f'{name}/gradient.{output}', shape)
