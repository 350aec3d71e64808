"""Tests of what opsets 1 to 6 wrote otherwise, against NumPy: opsets_test.py [EMULATOR...] PROGRAM"""
import io
import struct
import unittest

import numpy as np

import onnx_writer as ow
from program import CliTest, main

TYPES = {np.dtype(np.float32): 1, np.dtype(np.int32): 6, np.dtype(np.bool_): 9}


def attribute(name, value):
    """An AttributeProto of a node: a number, a list of whole numbers, or a text."""
    if isinstance(value, float):
        body = struct.pack('<Bf', 2 << 3 | 5, value) + ow.number(20, 1)
    elif isinstance(value, int):
        body = ow.number(3, value) + ow.number(20, 2)
    elif isinstance(value, str):
        body = ow.block(4, value) + ow.number(20, 3)
    else:
        body = b''.join(ow.number(8, v) for v in value) + ow.number(20, 7)
    return ow.block(5, ow.block(1, name) + body)


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


class FirstOpsets(CliTest):
    def check(self, op, opset, inputs, attributes, outputs):
        inputs, outputs = [np.asarray(x) for x in inputs], [np.asarray(y) for y in outputs]
        xs, ys = [f'x{i}' for i in range(len(inputs))], [f'y{i}' for i in range(len(outputs))]
        node = ow.node(op, xs, ys, 'n', b''.join(attribute(k, v) for k, v in attributes.items()))
        infos = [[ow.value_info(n, v.shape, TYPES[v.dtype]) for n, v in zip(names, values)] for names, values in ((xs, inputs), (ys, outputs))]
        path = self.write(f'{op}/model.onnx', ow.model([node], *infos, opset=opset))
        for kind, values in (('input', inputs), ('output', outputs)):
            for i, value in enumerate(values):
                self.write(f'{op}/data/{kind}_{i}.npy', npy(value))
        self.succeeds('test', path, self.path(f'{op}/data'), '--rtol', '1e-5', '--atol', '1e-6')

    def setUp(self):
        super().setUp()
        r = np.random.default_rng(1)
        self.x = r.standard_normal((2, 3, 4, 5)).astype(np.float32)
        self.plane = r.standard_normal((3, 4)).astype(np.float32)
        self.positive = [np.abs(r.standard_normal((3, 4, 5))).astype(np.float32) + np.float32(0.5) for _ in range(4)]

    def test_broadcast_from_an_axis_on(self):
        aligned, asked = self.plane[:, :, None], {'broadcast': 1, 'axis': 1}
        for op, f in (('Add', np.add), ('Sub', np.subtract), ('Mul', np.multiply), ('Div', np.divide)):
            self.check(op, 6, [self.x, self.plane], asked, [f(self.x, aligned)])
        self.check('Add', 1, [self.x, self.plane], {**asked, 'consumed_inputs': [0, 0]}, [self.x + aligned])
        self.check('Greater', 1, [self.x, self.plane], asked, [self.x > aligned])
        self.check('And', 1, [self.x > 0, self.plane > 0], asked, [(self.x > 0) & (aligned > 0)])
        slope = self.plane[:, 0].copy()
        self.check('PRelu', 6, [self.x, slope], {}, [np.where(self.x < 0, self.x * slope[:, None, None], self.x)])

    def test_attributes_that_are_inputs_now(self):
        p = self.plane
        self.check('Reshape', 4, [p], {'shape': [2, -1]}, [p.reshape(2, -1)])
        self.check('Pad', 1, [p], {'paddings': [1, 0, 0, 2], 'value': 1.5}, [np.pad(p, ((1, 0), (0, 2)), constant_values=1.5)])
        self.check('Upsample', 1, [self.x], {'height_scale': 2.0, 'width_scale': 3.0, 'mode': 'nearest'}, [self.x.repeat(2, 2).repeat(3, 3)])
        self.check('Clip', 1, [p], {'min': -0.5}, [np.maximum(p, np.float32(-0.5))])

    def test_other_forms(self):
        p, number = self.plane, np.float32
        self.check('Tile', 1, [p, number(3), number(1)], {}, [np.tile(p, (1, 3))])
        self.check('Split', 1, [p, np.array([1, 3], np.float32)], {'axis': 1}, [p[:, :1], p[:, 1:]])
        self.check('Concat', 3, [p, p], {}, [np.concatenate([p, p], 1)])
        self.check('Cast', 5, [self.x], {'to': 'INT32'}, [self.x.astype(np.int32)])
        self.check('Dropout', 1, [p], {'is_test': 1, 'ratio': 0.5}, [p])
        self.check('Selu', 1, [p], {}, [np.where(p > 0, 1.0507 * p, 1.0507 * 1.6732 * (np.exp(p) - 1)).astype(np.float32)])
        self.check('GlobalLpPool', 1, [self.x], {'p': 2.0}, [np.sqrt((self.x ** 2).sum((2, 3), keepdims=True))])

    def test_normalisation(self):
        def normalised(scale, bias, mean, variance):
            return ((self.x - mean) / np.sqrt(variance + 1e-5) * scale + bias).astype(np.float32)
        everywhere = {'spatial': 0, 'is_test': 1, 'consumed_inputs': [0, 0, 0, 1, 1]}
        self.check('BatchNormalization', 1, [self.x] + self.positive, everywhere, [normalised(*self.positive)])
        channels = [s[:, :1, :1] for s in self.positive]
        self.check('BatchNormalization', 6, [self.x] + [s.reshape(-1) for s in channels], {'is_test': 1}, [normalised(*channels)])


if __name__ == '__main__':
    main(__doc__)
