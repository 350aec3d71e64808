"""svengine.check and svengine.compare."""
import json
import os
import subprocess
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import models
import svengine

SHELL = os.environ.get('SVENGINE_PROGRAM')


def network(fault=None):
    """out = softmax(relu(x w1 + b1) w2), with names; `fault` changes the weights."""
    rng = np.random.default_rng(5)
    weights = {'w1': rng.normal(size=(6, 8)), 'b1': rng.normal(size=8), 'w2': rng.normal(size=(8, 4))}
    if fault:
        fault(weights)
    nodes = [helper.make_node('Gemm', ['x', 'w1', 'b1'], ['h'], 'first'), helper.make_node('Relu', ['h'], ['r'], 'relu'),
             helper.make_node('MatMul', ['r', 'w2'], ['s'], 'second'), helper.make_node('Softmax', ['s'], ['out'], 'softmax')]
    return models.model(nodes, [('x', TensorProto.FLOAT, ['N', 6])], [('out', TensorProto.FLOAT, ['N', 4])],
                        [numpy_helper.from_array(w.astype(np.float32), n) for n, w in weights.items()], opset=17)


def lost_bias(weights):
    weights['b1'] *= 0


X = np.random.default_rng(6).normal(size=(5, 6)).astype(np.float32)


class CheckTest(unittest.TestCase):
    def test_a_good_model_passes(self):
        report = svengine.check(network())
        self.assertTrue(report and report.passed)
        self.assertEqual((report.errors, report.nodes, report.tensors), (0, 4, 3))

    def test_findings_have_rule_place_and_nodes(self):
        proto = network()
        proto.graph.node[1].input[0] = 'nothing'
        report = svengine.check(proto)
        self.assertFalse(report)
        finding = report.findings[0]
        self.assertEqual(finding.level, 'error')
        self.assertIn('nothing', finding.message + finding.where)
        self.assertIn('relu', finding.where + ' '.join(finding.nodes))
        self.assertIn(finding.rule, [name for name, _, _ in svengine.check_rules()])

    def test_what_is_no_model_is_an_error(self):
        for model in (b'no model', '/nowhere.onnx'):
            with self.assertRaises(svengine.Error):
                svengine.check(model)
        with self.assertRaisesRegex(svengine.Error, 'opset=99'):
            svengine.check(network(), opset=99)

    @unittest.skipUnless(SHELL, 'SVENGINE_PROGRAM names no program')
    def test_the_shell_says_the_same(self):
        proto = network()
        proto.graph.node[0].op_type = 'NoSuchOperator'
        proto.graph.initializer[2].raw_data = np.full(32, np.nan, np.float32).tobytes()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'model.onnx')
            onnx.save(proto, path)
            done = subprocess.run([SHELL, 'check', path, '--json'], capture_output=True, text=True)
            said = json.loads(done.stdout)
            for model in (path, proto):
                report = svengine.check(model)
                self.assertEqual([(f['level'], f['rule'], f['where'], f['message'], tuple(f['nodes'])) for f in said['findings']],
                                 [(f.level, f.rule, f.where, f.message, f.nodes) for f in report.findings])
        self.assertGreater(len(report.findings), 1)


class CompareTest(unittest.TestCase):
    def test_a_model_agrees_with_itself(self):
        for against in ('reference', 'no-optimize', network()):
            report = svengine.compare(network(), {'x': X}, against)
            self.assertTrue(report and report.passed, report)
            self.assertIsNone(report.first)
            self.assertTrue(report.outputs['out'].passed)
            self.assertEqual(report.values[-1].value, 'out')

    def test_the_network_as_a_whole(self):
        self.assertEqual(svengine.compare(network(), [X]).whole, {})
        report = svengine.compare(network(), [X], whole=True)
        self.assertEqual(set(report.whole), set(report.outputs))
        self.assertTrue(all(difference.passed for difference in report.whole.values()))
        self.assertFalse(all(d.passed for d in svengine.compare(network(lost_bias), [X], network(), whole=True).whole.values()))

    def test_the_guilty_node_is_named(self):
        report = svengine.compare(network(lost_bias), [X], network())
        self.assertFalse(report)
        self.assertEqual(report.first.node, ('first', 'Gemm'))
        self.assertGreater(report.first.difference.over, 0)
        guilty = [v for v in report.values if v.guilty]
        self.assertTrue(guilty and guilty[0].local.worst > 0.1)
        worst = report.first.difference.elements[0]
        self.assertAlmostEqual(abs(worst['got'] - worst['expected']), worst['error'], places=5)
        self.assertEqual(len(worst['index']), 2)
        self.assertEqual(sum(report.outputs['out'].histogram.values()), 20)

    def test_against_arrays_of_another_program(self):
        """As NumPy computes them."""
        w = {t.name: numpy_helper.to_array(t).astype(np.float64) for t in network().graph.initializer}
        h = X @ w['w1'] + w['b1']
        s = np.maximum(h, 0) @ w['w2']
        e = np.exp(s - s.max(1, keepdims=True))
        values = {'x': X, 'h': h, 'r': np.maximum(h, 0), 's': s, 'out': e / e.sum(1, keepdims=True)}
        values = {name: value.astype(np.float32) for name, value in values.items()}
        self.assertTrue(svengine.compare(network(), [X], values, kernels=svengine.kernel_sets()[0]))
        values['s'] = values['s'] + np.float32(1)
        report = svengine.compare(network(), [X], values)
        self.assertFalse(report)
        self.assertEqual(report.first.node, ('second', 'MatMul'))

    def test_a_page_and_bounds(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'page.html')
            self.assertTrue(svengine.compare(network(lost_bias), [X], network(), html=path, atol=100))
            with open(path, encoding='utf-8') as file:
                self.assertIn('<html', file.read().lower())

    def test_what_does_not_fit_is_an_error(self):
        for arguments, says in (((network(), []), 'got 0 inputs'), ((network(), {'y': X}), "input 'x' is missing"), ((network(), [X], b'?'), 'model'),
                                ((network(), [X], '/nowhere.onnx'), 'nowhere'), ((network(), [X], '/nowhere.npz'), 'nowhere'), ((b'?', [X]), 'model')):
            with self.assertRaisesRegex(svengine.Error, says):
                svengine.compare(*arguments)
        with self.assertRaisesRegex(svengine.Error, 'mmx'):
            svengine.compare(network(), [X], kernels='mmx')


class FiniteTest(unittest.TestCase):
    def test_the_first_node_is_named(self):
        proto = models.model(
            [helper.make_node('Exp', ['x'], ['e'], 'exponential'), helper.make_node('Sub', ['e', 'e'], ['y'], 'difference')],
            [('x', TensorProto.FLOAT, [2])], [('y', TensorProto.FLOAT, [2])])
        self.assertTrue(svengine.find_not_finite(proto, [[1, 2]]))
        report = svengine.find_not_finite(proto, {'x': np.float32([1, 1000])}, threads=1)
        self.assertFalse(report)
        self.assertEqual((report.checked, report.not_finite, report.inputs), (2, 2, []))
        first, then = report.first
        self.assertEqual((first.node, first.from_finite, first.value['infinities']), (('exponential', 'Exp'), True, 1))
        self.assertEqual((first.inputs[0]['name'], first.inputs[0]['max']), ('x', 1000))
        self.assertEqual((then.node, then.from_finite, then.value['nans']), (('difference', 'Sub'), False, 1))
        report = svengine.find_not_finite(proto, [np.float32([np.nan, np.nan])])
        self.assertEqual((report.inputs[0]['nans'], report.inputs[0]['max']), (2, None))
        with self.assertRaisesRegex(svengine.Error, 'got 0 inputs'):
            svengine.find_not_finite(proto, [])


if __name__ == '__main__':
    unittest.main()
