"""svengine.train: arrays and data sets, ends, checkpoints; the same bits as the shell's command."""
import gzip
import json
import os
import struct
import subprocess
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import models
import svengine

SHELL = os.environ.get('SVENGINE_PROGRAM')


def classifier(inputs=4, classes=3):
    """scores[N, classes] = x[N, inputs] w + b."""
    rng = np.random.default_rng(1)
    w = numpy_helper.from_array(rng.normal(size=(inputs, classes)).astype(np.float32), 'w')
    b = numpy_helper.from_array(np.zeros(classes, np.float32), 'b')
    return models.model([helper.make_node('Gemm', ['x', 'w', 'b'], ['scores'])], [('x', TensorProto.FLOAT, ['N', inputs])],
                        [('scores', TensorProto.FLOAT, ['N', classes])], [w, b], opset=17)


def samples(count=96, inputs=4, classes=3):
    rng = np.random.default_rng(2)
    labels = rng.integers(classes, size=count)
    x = rng.normal(size=(count, inputs)) + 3 * np.eye(classes, inputs)[labels]
    return {'x': x.astype(np.float32), 'target': labels}


def weights(path_or_bytes):
    proto = onnx.load(path_or_bytes)
    return {t.name: numpy_helper.to_array(t) for t in proto.graph.initializer}


class TrainTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix='svengine_train_')
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def test_a_network_learns(self):
        data = samples()
        rows = []
        result = svengine.train(classifier(), data, self.path('out.onnx'), held_out=samples(30), epochs=5, batch=16, lr=0.1,
                                optimizer='sgd:momentum=0.9', threads=1, on_epoch=rows.append)
        self.assertEqual((result.finished, result.steps, result.parameters, result.stopped_by), (True, 30, 15, ''))
        self.assertEqual([row['epoch'] for row in result.epochs], [1, 2, 3, 4, 5])
        self.assertEqual(rows, result.epochs)
        self.assertLess(result.epochs[-1]['loss'], 0.5 * result.epochs[0]['loss'])
        self.assertGreater(result.epochs[-1]['held_out_accuracy'], 0.85)
        scores = svengine.Session(self.path('out.onnx')).run([data['x']])[0]
        self.assertGreater((scores.argmax(1) == data['target']).mean(), 0.9)

    def test_networks_of_old_and_new_opsets_are_written(self):
        scales = numpy_helper.from_array(np.array([1, 2], np.float32), 'scales')
        x = np.random.default_rng(1).random((8, 6), np.float32)
        for opset, op, inputs, attributes, written in ((9, 'Upsample', ['a', 'scales'], {}, 17), (11, 'Softmax', ['a'], {'axis': 0}, 17),
                                                       (24, 'Swish', ['a'], {}, 24), (26, 'Relu', ['a'], {}, 26)):
            nodes = [helper.make_node('MatMul', ['x', 'w'], ['a']), helper.make_node(op, inputs, ['y'], **attributes)]
            w = numpy_helper.from_array(np.eye(6, dtype=np.float32), 'w')
            model = models.model(nodes, [('x', TensorProto.FLOAT, ['N', 6])], [('y', TensorProto.FLOAT, None)], [w, scales], opset=opset)
            target = np.random.default_rng(2).random((8, 12 if op == 'Upsample' else 6), np.float32)
            svengine.train(model, {'x': x, 'target': target}, self.path('out.onnx'), loss='mse', epochs=1, batch=8, lr=1e-30, threads=1)
            proto = onnx.load(self.path('out.onnx'))
            onnx.checker.check_model(proto)
            self.assertEqual(proto.opset_import[0].version, written)
            before, after = (svengine.Session(m, threads=1).run([x])[0] for m in (model, self.path('out.onnx')))
            np.testing.assert_allclose(after, before, rtol=1e-6)

    def test_what_cannot_be_written_is_known_before_the_first_step(self):
        nodes = [helper.make_node('MatMul', ['x', 'w'], ['a']), helper.make_node('Shape', ['a'], ['s']),
                 helper.make_node('Cast', ['s'], ['f'], to=TensorProto.FLOAT), helper.make_node('Div', ['f', 'f'], ['ones']),
                 helper.make_node('Upsample', ['a', 'ones'], ['y'])]
        w = numpy_helper.from_array(np.eye(6, dtype=np.float32), 'w')
        model = models.model(nodes, [('x', TensorProto.FLOAT, ['N', 6])], [('y', TensorProto.FLOAT, ['N', 6])], [w], opset=9)
        x, rows = np.ones((8, 6), np.float32), []
        with self.assertRaisesRegex(svengine.Error, 'takes the nearest element as before opset 11'):
            svengine.train(model, {'x': x, 'target': x}, self.path('out.onnx'), loss='mse', on_epoch=rows.append, threads=1)
        self.assertEqual(rows, [])

    def test_labels_of_any_width_and_strided_arrays_are_the_same_data(self):
        data = samples()
        outputs = []
        for x, target in ((data['x'], data['target']), (np.asfortranarray(data['x']), data['target'].astype(np.uint8))):
            svengine.train(classifier(), {'x': x, 'target': target}, self.path('out.onnx'), threads=1)
            outputs.append(weights(self.path('out.onnx')))
        for name in outputs[0]:
            np.testing.assert_array_equal(outputs[0][name], outputs[1][name])

    def test_what_does_not_fit_is_said(self):
        data = samples()
        for change, says in (
                ({'data': {'x': data['x']}}, "none of it is the target"), ({'data': {**data, 'x': data['x'].astype('f8')}}, "'x' needs float32.*float64"),
                ({'data': {'z': data['x'], 'target': data['target']}}, "none of it is input 'x'"),
                ({'data': {'x': data['x'], 'target': data['target'][:5]}}, '96|5'), ({'data': {**data, 'target': np.full(96, 3, np.int8)}}, '4 classes'),
                ({'data': '/nowhere'}, '/nowhere'), ({'loss': 'hinge'}, "loss='hinge'"),
                ({'optimizer': 'newton'}, 'newton'), ({'schedule': 'wavy'}, 'wavy'), ({'resume': True}, 'checkpoint'),
                ({'fields': {'q': 'x'}}, "no input 'q'"), ({'loss': 'mse', 'label_smoothing': 0.1}, 'no labels')):
            with self.assertRaisesRegex(svengine.Error, says):
                svengine.train(classifier(), **{'data': data, **change})
        with self.assertRaisesRegex(TypeError, "lr='fast'"):
            svengine.train(classifier(), data, lr='fast')
        with self.assertRaises(TypeError):
            svengine.train(classifier(), data, speed=1)

    def test_a_callback_ends_the_run_and_an_exception_comes_through(self):
        data = samples()
        result = svengine.train(classifier(), data, epochs=9, on_epoch=lambda row: row['epoch'] == 2)
        self.assertEqual((result.finished, result.stopped_by, len(result.epochs)), (False, 'on_epoch', 2))

        def broken(row):
            raise ZeroDivisionError(row['epoch'])

        with self.assertRaisesRegex(ZeroDivisionError, '1'):
            svengine.train(classifier(), data, epochs=9, on_epoch=broken)

    def test_a_run_is_resumed_bitwise(self):
        options = dict(epochs=4, batch=10, optimizer='adam', threads=1)
        svengine.train(classifier(), samples(), self.path('whole.onnx'), **options)
        options['checkpoint'] = self.path('kept')
        svengine.train(classifier(), samples(), on_epoch=lambda row: row['epoch'] == 2, **options)
        rest = svengine.train(classifier(), samples(), self.path('rest.onnx'), resume=True, **options)
        self.assertEqual([row['epoch'] for row in rest.epochs], [3, 4])
        whole, resumed = weights(self.path('whole.onnx')), weights(self.path('rest.onnx'))
        for name in whole:
            np.testing.assert_array_equal(whole[name], resumed[name])
        with self.assertRaisesRegex(svengine.Error, 'lr'):
            svengine.train(classifier(), samples(), resume=True, **{**options, 'lr': 0.5})

    def test_frozen_weights_stay(self):
        svengine.train(classifier(), samples(), self.path('out.onnx'), freeze=['w'])
        before = numpy_helper.to_array(classifier().graph.initializer[0])
        np.testing.assert_array_equal(weights(self.path('out.onnx'))['w'], before)
        self.assertTrue(weights(self.path('out.onnx'))['b'].any())

    def write_idx(self, name, values):
        """A data set in MNIST's form."""
        with gzip.open(self.path(name), 'wb') as file:
            file.write(struct.pack('>BBBB', 0, 0, 8, values.ndim) + struct.pack(f'>{values.ndim}I', *values.shape) + values.astype(np.uint8).tobytes())

    @unittest.skipUnless(SHELL, 'SVENGINE_PROGRAM names no program')
    def test_the_shell_computes_the_same_bits(self):
        rng = np.random.default_rng(3)
        self.write_idx('train-images-idx3-ubyte.gz', rng.integers(256, size=(64, 4, 4)))
        self.write_idx('train-labels-idx1-ubyte.gz', rng.integers(10, size=64))
        network = models.model(
            [helper.make_node('Flatten', ['x'], ['f']), helper.make_node('Gemm', ['f', 'w', 'b'], ['scores'])],
            [('x', TensorProto.FLOAT, ['N', 1, 4, 4])], [('scores', TensorProto.FLOAT, ['N', 10])], list(classifier(16, 10).graph.initializer), opset=17)
        onnx.save(network, self.path('in.onnx'))
        os.mkdir(self.path('set'))
        for name in ('train-images-idx3-ubyte.gz', 'train-labels-idx1-ubyte.gz'):
            os.rename(self.path(name), self.path('set/' + name))
        done = subprocess.run([SHELL, 'train', self.path('in.onnx'), '--data', self.path('set'), '--batch', '8', '--epochs', '2', '--optimizer', 'adam',
                               '--lr', '0.01', '--seed', '5', '--image-mean', '0.5', '--image-std', '0.25', '--output', self.path('shell.onnx'), '--json'],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        result = svengine.train(self.path('in.onnx'), self.path('set'), self.path('python.onnx'), fields={'x': 'image'}, batch=8, epochs=2,
                                optimizer='adam', lr=0.01, seed=5, mean=[0.5], std=[0.25])
        self.assertEqual([row['training']['loss'] for row in json.loads(done.stdout)['epochs']], [row['loss'] for row in result.epochs])
        shell, python = weights(self.path('shell.onnx')), weights(self.path('python.onnx'))
        for name in shell:
            np.testing.assert_array_equal(shell[name], python[name])


if __name__ == '__main__':
    unittest.main()
