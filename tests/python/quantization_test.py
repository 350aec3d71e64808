"""svengine.quantize and svengine.sensitivity, beside the shell's commands of these names."""
import os
import pathlib
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import models
import svengine
from validation_test import SHELL


def network():
    """image[N, 1, 6, 6] -> Conv -> Relu -> Flatten -> Gemm -> scores[N, 4]."""
    rng = np.random.default_rng(3)
    shapes = {'w': (2, 1, 3, 3), 'b': (2,), 'v': (72, 4), 'c': (4,)}
    weights = [numpy_helper.from_array(rng.normal(size=s).astype(np.float32), n) for n, s in shapes.items()]
    nodes = [helper.make_node('Conv', ['image', 'w', 'b'], ['conv.y'], 'conv', pads=[1, 1, 1, 1]), helper.make_node('Relu', ['conv.y'], ['r'], 'relu'),
             helper.make_node('Flatten', ['r'], ['flat']), helper.make_node('Gemm', ['flat', 'v', 'c'], ['scores'], 'last')]
    return models.model(nodes, [('image', TensorProto.FLOAT, ['N', 1, 6, 6])], [('scores', TensorProto.FLOAT, ['N', 4])], weights, opset=17)


IMAGES = np.random.default_rng(4).normal(size=(12, 1, 6, 6)).astype(np.float32)
SAMPLES = [{'image': IMAGES[i:i + 1]} for i in range(len(IMAGES))]


class QuantizationTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.model = self.path('model.onnx')
        onnx.save(network(), self.model)
        np.save(self.path('images.npy'), IMAGES)

    def path(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        with open(self.path(name), 'rb') as file:
            return file.read()

    def shell(self, *arguments):
        return models.shell_answer(self, SHELL, *arguments)

    def test_the_file_is_the_shells(self):
        for arguments, options in (({}, []), ({'method': 'percentile', 'percentile': 99}, ['--method', 'percentile', '--percentile', '99']),
                                   ({'method': 'entropy', 'activations': 'int8', 'per_tensor': True},
                                    ['--method', 'entropy', '--activations', 'int8', '--per-tensor']),
                                   ({'exclude': ['con*']}, ['--exclude', 'con*']), ({'only': ['Gemm']}, ['--only', 'Gemm']),
                                   ({'dynamic': True}, ['--dynamic'])):
            report = svengine.quantize(network(), self.path('here.onnx'), (list(s.values()) for s in SAMPLES), **arguments)
            said = self.shell('quantize', self.model, self.path('there.onnx'), '--calibrate', self.path('images.npy'), *options)
            self.assertEqual(self.read('here.onnx'), self.read('there.onnx'), options)
            self.assertEqual((said['quantized_nodes'], said['nodes_left'], said['values'], said['samples'], said['bytes_before'], said['bytes_after']),
                             (report.quantized_nodes, report.nodes_left, report.values, report.samples, report.bytes_before, report.bytes_after))
            self.assertEqual([(o['output'], o['snr_db'], o['relative_error'], o['largest_error'], o['elements']) for o in said['outputs']],
                             [(o.output, o.snr, o.relative, o.largest, o.elements) for o in report.outputs])
            self.assertEqual(report.snr, report.outputs[0].snr)
        self.assertEqual(svengine.quantize(self.model, self.path('here.onnx'), dynamic=True).outputs, [])

    def test_the_ranking_is_the_shells(self):
        wanted = round(svengine.sensitivity(self.model, SAMPLES).snr, 2) + 1
        report = svengine.sensitivity(self.model, SAMPLES, keep_snr=wanted, write_exclusions=self.path('list.txt'))
        said = self.shell('sensitivity', self.model, '--calibrate', self.path('images.npy'), '--keep-snr', wanted, '--write-exclusions',
                          self.path('other.txt'))
        self.assertEqual([(n['node'], n['operator'], n['snr_db']) for n in said['nodes']], [(n.node, n.operator, n.snr) for n in report.nodes])
        self.assertEqual(said['all_quantized'][0]['snr_db'], report.snr)
        self.assertEqual(said['exclusions']['nodes'], list(report.exclusions.nodes))
        self.assertEqual(self.read('list.txt'), self.read('other.txt'))
        left = svengine.quantize(self.model, self.path('here.onnx'), SAMPLES, exclude=pathlib.Path(self.path('list.txt')))
        self.assertEqual(left.nodes_left, len(report.exclusions.nodes))
        self.assertEqual((left.nodes_left, left.quantized_nodes), (1, 1))
        self.assertEqual(left.snr, report.exclusions.snr)
        self.assertGreaterEqual(left.snr, wanted)
        self.assertIsNone(svengine.sensitivity(self.model, SAMPLES).exclusions)

    def test_what_does_not_fit_is_an_error(self):
        out = self.path('out.onnx')
        for arguments, says in (({'samples': []}, 'samples'), ({'samples': [[IMAGES[0]]]}, 'image'), ({'method': 'best'}, "method='best'"),
                                ({'percentile': 3}, 'percentile=3'), ({'activations': 'int4'}, "activations='int4'"), ({'exclude': ['nobody']}, 'nobody'),
                                ({'kernels': 'mmx'}, 'mmx'), ({'samples': [{'x': IMAGES}]}, r"samples\[0\].*'image' is missing")):
            with self.assertRaisesRegex(svengine.Error, says):
                svengine.quantize(self.model, out, **{'samples': SAMPLES, **arguments})
        with self.assertRaisesRegex(svengine.Error, 'is the model itself'):
            svengine.quantize(self.model, self.model, SAMPLES)
        with self.assertRaisesRegex(svengine.Error, 'samples'):
            svengine.sensitivity(self.model, [])
        with self.assertRaisesRegex(TypeError, 'keep_snr'):
            svengine.sensitivity(self.model, SAMPLES, write_exclusions=out)
        with self.assertRaisesRegex(TypeError, 'list of nodes'):
            svengine.quantize(self.model, out, SAMPLES, exclude='conv')


if __name__ == '__main__':
    unittest.main()
