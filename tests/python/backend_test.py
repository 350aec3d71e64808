"""svengine.backend, and ONNX's own test runner on it."""
import os
import unittest
import warnings

import numpy as np
import onnx
from onnx import helper

import models
import svengine
import svengine.backend

HERE = os.path.dirname(os.path.abspath(__file__))


class BackendTest(unittest.TestCase):
    def test_models(self):
        x = np.zeros((1, 3), np.float32)
        prepared = svengine.backend.prepare(models.add_constant(), 'CPU', threads=1, for_another_backend=1)
        for outputs in (prepared.run([x]), prepared.run({'x': x}), prepared.run(x), svengine.backend.run_model(models.add_constant(), [x])):
            self.assertEqual((outputs[0].tolist(), outputs['y'].tolist(), len(outputs)), ([[1, 2, 3]], [[1, 2, 3]], 1))

    def test_nodes(self):
        a, b = np.float32([1, 2]), np.float32([3, 4])
        self.assertEqual(svengine.backend.run_node(helper.make_node('Add', ['a', 'b'], ['c']), [a, b])[0].tolist(), [4, 6])
        y = svengine.backend.run_node(helper.make_node('Clip', ['x', '', 'most'], ['y']), [a, np.float32(1.5)], opset_version=13)
        self.assertEqual(y['y'].tolist(), [1, 1.5])
        length = svengine.backend.run_node(helper.make_node('SequenceLength', ['s'], ['n']), [[a, b]])
        self.assertEqual(length[0].tolist(), 2)
        labels = svengine.backend.run_node(helper.make_node('LabelEncoder', ['x'], ['y'], domain='ai.onnx.ml', keys_strings=['a'], values_int64s=[5]),
                                           [np.array(['a', 'b'])], opset_version=21)
        self.assertEqual(labels[0].tolist(), [5, -1])

    def test_what_it_takes(self):
        self.assertTrue(svengine.backend.supports_device('CPU') and svengine.backend.supports_device('CPU:0'))
        self.assertFalse(svengine.backend.supports_device('CUDA'))
        self.assertTrue(svengine.backend.is_compatible(models.add_constant()))
        self.assertFalse(svengine.backend.is_compatible(models.add_constant(), 'CUDA'))
        self.assertFalse(svengine.backend.is_compatible(models.unary('NoSuchOperator')))
        with self.assertRaisesRegex(svengine.Error, 'no device CUDA'):
            svengine.backend.prepare(models.add_constant(), 'CUDA')


class ConformanceTest(unittest.TestCase):
    def test_the_official_totals_hold(self):
        """Exactly the tests of failing.txt fail, and README.md has the totals."""
        import conformance
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')  # the suite divides by zero on purpose
            kernels = svengine.kernel_sets()[0]
            outcomes, runner = conformance.run(kernels, None)
        self.assertEqual(conformance.differences(outcomes, os.path.join(HERE, 'failing.txt')), [])
        with open(os.path.join(HERE, '../../README.md'), encoding='utf-8') as file:
            readme = file.read()
        certain, by_chance = conformance.expected_failures(os.path.join(HERE, 'failing.txt'))
        failing, of = len(certain | by_chance), len(outcomes.passed) + len(outcomes.failed)
        self.assertRegex(readme, rf'\| ONNX {onnx.__version__} \| {kernels} \| {of - failing} \| {failing} \| {of} \|\n')
        self.check_report(conformance, outcomes, runner)

    def check_report(self, conformance, outcomes, runner):
        import json
        import tempfile
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(2):
                conformance.write_report(folder, outcomes, runner)
            with open(os.path.join(folder, 'report.json'), encoding='utf-8') as file:
                report = json.load(file)
            with open(os.path.join(folder, 'trend.json'), encoding='utf-8') as file:
                trend = json.load(file)
            with open(os.path.join(folder, 'nodes.csv'), encoding='utf-8') as file:
                nodes = file.read()
        self.assertEqual((len(report['passed']), len(report['failed'])), (len(outcomes.passed), len(outcomes.failed)))
        self.assertIn('OnnxBackendNodeModelTest::test_abs_cpu', report['passed'])
        self.assertEqual([(t['passed'], t['failed']) for t in trend], [(len(outcomes.passed), len(outcomes.failed))])
        self.assertIn('Abs,Passed!', nodes)


if __name__ == '__main__':
    unittest.main()
