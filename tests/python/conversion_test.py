"""svengine.diff, svengine.convert and svengine.reduce, beside the shell's commands of these names."""
import os
import tempfile
import unittest

import numpy as np
import onnx
from onnx import numpy_helper

import models
import svengine
from validation_test import SHELL, X, lost_bias, network


class FolderTest(unittest.TestCase):
    """In a folder of its own, with network() as model.onnx and the one without bias as bad.onnx."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.model, self.bad = self.path('model.onnx'), self.path('bad.onnx')
        onnx.save(network(), self.model)
        onnx.save(network(lost_bias), self.bad)
        np.save(self.path('x.npy'), X)

    def path(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        with open(self.path(name), 'rb') as file:
            return file.read()

    def shell(self, *arguments):
        return models.shell_answer(self, SHELL, *arguments)


class DiffTest(FolderTest):
    def test_equal_models(self):
        report = svengine.diff(self.model, network())
        self.assertTrue(report and report.equal)
        self.assertEqual((report.differences, report.nodes, report.weights, report.nodes_matched), ([], (4, 4), (3, 3), 4))

    def test_what_differs_is_what_the_shell_says(self):
        other = network(lost_bias)
        other.graph.node[3].attribute.append(onnx.helper.make_attribute('axis', 0))
        other.graph.node[1].name = 'renamed'
        onnx.save(other, self.path('other.onnx'))
        report = svengine.diff(network(), other)
        self.assertFalse(report)
        said = self.shell('diff', self.model, self.path('other.onnx'))
        self.assertEqual(said['equal'], report.equal)
        self.assertEqual([tuple(said['nodes']), tuple(said['weights']), said['nodes_matched']], [report.nodes, report.weights, report.nodes_matched])
        self.assertEqual([(d['kind'], d['change'], d['subject'], d['name'], d['new_name'], d['op'], d['property'], d['before'], d['after'])
                          for d in said['differences']],
                         [(d.kind, d.change, d.subject, d.name, d.new_name, d.op, d.property, d.before, d.after) for d in report.differences])
        weight = next(d.weight for d in report.differences if d.weight)
        told = next(d['weight'] for d in said['differences'] if 'weight' in d)
        self.assertEqual({k: list(v) if isinstance(v, tuple) else v for k, v in weight.items()}, told)
        self.assertEqual((weight['elements'], weight['different']), (8, 8))

    def test_what_does_not_count(self):
        self.assertTrue(svengine.diff(self.model, self.bad, ignore=['weights']))
        self.assertTrue(svengine.diff(self.model, self.bad, atol=100))
        for arguments, says in (({'ignore': ['colours']}, 'colours'), ({'atol': -1}, 'atol=-1'), ({'atol': float('nan')}, 'atol=nan')):
            with self.assertRaisesRegex(svengine.Error, says):
                svengine.diff(self.model, self.bad, **arguments)
        with self.assertRaisesRegex(svengine.Error, 'nowhere'):
            svengine.diff(self.model, '/nowhere.onnx')


class ConvertTest(FolderTest):
    def test_the_file_is_the_shells(self):
        for arguments, options in (({'opset': 21, 'simplify': True}, ['--opset', '21', '--simplify']),
                                   ({'type': 'float16', 'keep_io': True, 'keep_float32': ['Softmax']},
                                    ['--type', 'float16', '--keep-io', '--keep-float32', 'Softmax']),
                                   ({'from_': ['h'], 'to': ['s']}, ['--from', 'h', '--to', 's'])):
            given = {'h': X @ np.ones((6, 8), np.float32)} if 'from_' in arguments else [X]
            report = svengine.convert(network(), self.path('here.onnx'), given, **arguments)
            self.assertTrue(report and report.passed, report)
            said = self.shell('convert', self.model, self.path('there.onnx'), *options, '--dim', 'N=5')
            self.assertEqual(self.read('here.onnx'), self.read('there.onnx'))
            self.assertEqual((said['opset'], said['problems'], said.get('simplified')), (report.opset, report.problems, report.simplified))
            self.assertEqual([(o['name'], o['elements']) for o in said['outputs']], [(o.name, o.elements) for o in report.outputs])

    def test_inputs_and_outputs_keep_their_types(self):
        """Those of the wanted type, too."""
        nodes = [onnx.helper.make_node('Cast', ['x'], ['y'], to=onnx.TensorProto.FLOAT16), onnx.helper.make_node('Neg', ['x'], ['z'])]
        model = models.model(nodes, [('x', onnx.TensorProto.FLOAT, [3])], [('y', onnx.TensorProto.FLOAT16, [3]), ('z', onnx.TensorProto.FLOAT, [3])])
        for keep, types in ((True, ['float16', 'float32']), (False, ['float16', 'float16'])):
            svengine.convert(model, self.path('out.onnx'), type='float16', keep_io=keep)
            self.assertEqual([y.dtype for y in svengine.Session(self.path('out.onnx'), threads=1).outputs], types)

    def test_random_inputs_are_the_shells(self):
        given = svengine.random_inputs(self.model, dims={'N': 5}, seed=3)
        self.assertEqual((list(given), given['x'].shape, given['x'].dtype), (['x'], (5, 6), np.float32))
        self.shell('run', self.model, '--dim', 'N=5', '--seed', 3, '--output-dir', self.path('out'), '--threads', 1)
        self.assertEqual(svengine.Session(self.model, threads=1).run(given)['out'].tobytes(), np.load(self.path('out/out.npy')).tobytes())
        report = svengine.convert(network(), self.path('here.onnx'), type='float16')
        said = self.shell('convert', self.model, self.path('there.onnx'), '--type', 'float16')
        self.assertEqual([(o['name'], o['worst_absolute'], o['over_tolerance']) for o in said['outputs']], [(o.name, o.worst, o.over) for o in report.outputs])
        for arguments, says in (({'dims': {'M': 2}}, "no dimension 'M'"), ({'dims': {'N': 2**60}}, '2\\^48')):
            with self.assertRaisesRegex(svengine.Error, says):
                svengine.random_inputs(self.model, **arguments)

    def test_data_beside_the_model(self):
        onnx.save(models.products_of_weights(64, 3), self.model)
        self.assertTrue(svengine.convert(self.model, self.path('out.onnx'), data='external'))
        self.assertTrue(os.path.exists(self.path('out.onnx.data')))
        self.assertIsNone(svengine.convert(self.model, self.path('out.onnx'), data='embedded', verify=False).outputs)
        self.assertTrue(svengine.diff(self.model, self.path('out.onnx')))

    def test_large_weights_are_told(self):
        report = svengine.convert(network(lambda w: w['b1'].fill(1e6)), self.path('half.onnx'), [X.astype(np.float16)], type='float16')
        self.assertEqual(report.saturated, {'b1': 8})

    def test_what_does_not_fit_is_an_error(self):
        for arguments, says in (({'opset': 12}, 'opset=12'), ({'type': 'int7'}, "type='int7'"), ({'keep_io': True}, 'go with type'),
                                ({'to': ['nothing']}, 'nothing'), ({'data': 'nowhere'}, "data='nowhere'"), ({'inputs': [X, X]}, 'got 2 inputs')):
            with self.assertRaisesRegex(svengine.Error, says):
                svengine.convert(self.model, self.path('out.onnx'), **arguments)
        with self.assertRaisesRegex(svengine.Error, 'is the model itself'):
            svengine.convert(self.model, self.model, opset=18)
        with self.assertRaisesRegex(TypeError, "simplify='3'"):
            svengine.convert(self.model, self.path('out.onnx'), simplify='3')


class ReduceTest(FolderTest):
    def test_against_another_model_as_the_shell(self):
        report = svengine.reduce(network(lost_bias), self.path('small'), [X], against=network())
        self.assertEqual((report.nodes_before, report.nodes_after, report.complete, report.operators), (4, 1, True, ('Gemm',)))
        said = self.shell('reduce', self.bad, '--against', self.model, '--input', self.path('x.npy'), '--output', self.path('other'))
        self.assertEqual((said['nodes_after'], said['operators'], said['checks']), (report.nodes_after, list(report.operators), report.checks))
        self.assertEqual(report.path, self.path('small/reduced.onnx'))
        self.assertEqual(self.read('small/reduced.onnx'), self.read('other/reduced.onnx'))
        with open(self.path('small/test_data_set_0/input_0.pb'), 'rb') as file:
            value = numpy_helper.to_array(onnx.load_tensor_from_string(file.read()))
        self.assertEqual(value.dtype, np.float32)

    def test_a_function_tells_the_fault(self):
        seen, stages = [], []

        def has_softmax(path):
            seen.append(path)
            return any(node.op_type == 'Softmax' for node in onnx.load(path).graph.node)

        report = svengine.reduce(self.model, self.path('small'), [X], check=has_softmax, on_progress=lambda *told: stages.append(told))
        self.assertEqual(report.operators, ('Softmax',))
        self.assertEqual(len(seen), report.checks)
        self.assertTrue(stages and all(len(told) == 4 for told in stages))
        self.assertFalse(os.path.exists(seen[0]))
        self.assertEqual(len(onnx.load(report.path).graph.node), 1)

    def test_a_command_tells_the_fault(self):
        report = svengine.reduce(self.model, self.path('small'), check='grep -q Relu {}')
        self.assertEqual(report.inputs_without_data, ())
        self.assertEqual(report.operators, ('Relu',))
        self.assertTrue(svengine.check(report.path))

    def test_a_model_that_cannot_be_run(self):
        """Cut only where the file says types, and without data."""
        typed = onnx.shape_inference.infer_shapes(network())
        typed.graph.node[3].op_type = 'Nobody'
        report = svengine.reduce(typed, self.path('small'), check='grep -q Nobody {}')
        self.assertEqual(report.operators, ('Nobody',))
        self.assertEqual(report.inputs_without_data, report.inputs)

    def test_exceptions_come_back(self):
        def fails(path):
            raise KeyError('mine')
        with self.assertRaisesRegex(KeyError, 'mine'):
            svengine.reduce(self.model, self.path('small'), [X], check=fails)
        self.assertFalse(os.path.exists(self.path('small')))
        for arguments, says in (({}, 'either'), ({'check': 'true', 'against': 'reference'}, 'either')):
            with self.assertRaisesRegex(TypeError, says):
                svengine.reduce(self.model, self.path('small'), **arguments)
        for arguments, says in (({'check': 'false'}, 'exited with 1'), ({'check': lambda path: False}, 'must be while the fault is there'),
                                ({'against': self.model, 'inputs': [X]}, ''), ({'against': '/nowhere.onnx', 'inputs': [X]}, 'nowhere')):
            with self.assertRaisesRegex(svengine.Error, says):
                svengine.reduce(self.model, self.path('small'), **arguments)
        os.mkdir(self.path('small'))
        with open(self.path('small/reduced.onnx'), 'wb'):
            pass
        with self.assertRaisesRegex(svengine.Error, 'there already'):
            svengine.reduce(self.model, self.path('small'), check='true')


if __name__ == '__main__':
    unittest.main()
