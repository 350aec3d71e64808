"""svengine.Session: models from everywhere, inputs by name and by place, errors, threads, memory."""
import os
import pathlib
import sys
import tempfile
import threading
import time
import types
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper

import models
import svengine


class LoadTest(unittest.TestCase):
    def test_a_model_is_a_path_bytes_or_a_message(self):
        proto = models.add_constant()
        data = proto.SerializeToString()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'add.onnx')
            onnx.save(proto, path)
            for given in (path, pathlib.Path(path), os.fsencode(path).decode(), data, bytearray(data), memoryview(data), proto):
                session = svengine.Session(given, threads=1)
                self.assertEqual(session.run([np.zeros((1, 3), np.float32)])[0].tolist(), [[1, 2, 3]])
        for given in (5, None, ['a']):
            with self.assertRaises(TypeError):
                svengine.Session(given)

    def test_a_seed_repeats_what_nodes_draw(self):
        proto = models.model([helper.make_node('RandomNormalLike', ['x'], ['y'])], [('x', TensorProto.FLOAT, [16])], [('y', TensorProto.FLOAT, [16])])
        x = [np.zeros(16, np.float32)]
        runs = [[session.run(x)[0].tolist() for _ in range(2)] for session in (svengine.Session(proto, seed=s) for s in (3, 3, 4, None, None))]
        self.assertEqual(runs[0], runs[1])
        self.assertNotEqual(runs[0][0], runs[0][1])
        self.assertEqual(len({str(run) for run in runs}), 4)

    def test_a_bytearray_may_change_afterwards(self):
        w = np.arange(4096, dtype=np.float32)  # large enough to stay where it is
        proto = models.model([helper.make_node('Add', ['x', 'w'], ['y'])], [('x', TensorProto.FLOAT, [4096])], [('y', TensorProto.FLOAT, [4096])],
                             [onnx.numpy_helper.from_array(w, 'w')])
        data = bytearray(proto.SerializeToString())
        session = svengine.Session(data)
        data[:] = bytes(len(data))
        np.testing.assert_array_equal(session.run([np.zeros(4096, np.float32)])[0], w)

    def test_inputs_and_outputs_are_described(self):
        session = svengine.Session(models.add_constant(), threads=1)
        x, = session.inputs
        self.assertEqual((x.name, x.dtype, x.shape), ('x', 'float32', ('N', 3)))
        self.assertEqual([(y.name, y.dtype, y.shape) for y in session.outputs], [('y', 'float32', ('N', 3))])
        self.assertEqual(repr(x), "Port('x', float32('N', 3))")
        self.assertEqual(session.threads, 1)
        self.assertIn(session.kernels, svengine.kernel_sets())
        self.assertEqual(session.warnings, ())
        self.assertIsNone(svengine.Session(models.unary('Relu')).inputs[0].shape)

    def test_options_reach_the_engine(self):
        for kernels in (*svengine.kernel_sets(), 'reference'):
            session = svengine.Session(models.add_constant(), kernels=kernels, optimize=False, exact_convolution=True, threads=2)
            self.assertEqual((session.kernels, session.threads), (kernels, 2))
        self.assertEqual(svengine.Session(models.add_constant(), topology='2x3').threads, 6)
        for options, says in (({'kernels': 'mmx'}, "kernels='mmx'"), ({'threads': 0}, 'threads=0'), ({'threads': -1}, 'threads=-1'),
                              ({'topology': 'x'}, 'x')):
            with self.assertRaisesRegex(svengine.Error, says):
                svengine.Session(models.add_constant(), **options)
        with self.assertRaises(TypeError):
            svengine.Session(models.add_constant(), speed='high')

    def test_products_by_openblas(self):
        """The system's, which may be a build with threads of its own."""
        bad = '(OPENBLAS_NUM_THREADS=1|libopenblas)'
        model = models.model([helper.make_node('MatMul', ['x', 'x'], ['y'])], [('x', TensorProto.FLOAT, [4, 4])], [('y', TensorProto.FLOAT, None)])
        x = np.arange(16, dtype=np.float32).reshape(4, 4)
        try:
            session = svengine.Session(model, kernels='openblas')
        except svengine.Error as problem:
            self.assertRegex(str(problem), bad)
            return
        self.assertTrue(session.kernels.endswith('+openblas'))
        np.testing.assert_array_equal(session.run([x])[0], x @ x)

    def test_errors_are_the_engines(self):
        self.assertTrue(issubclass(svengine.Error, RuntimeError))
        with self.assertRaisesRegex(svengine.Error, r"^/nowhere/m\.onnx: .*No such file"):
            svengine.Session('/nowhere/m.onnx')
        with self.assertRaisesRegex(svengine.Error, r'^/nowhere/\\xff\.onnx: '):
            svengine.Session(os.fsdecode(b'/nowhere/\xff.onnx'))
        with self.assertRaisesRegex(svengine.Error, '^model: '):
            svengine.Session(b'no model')
        bad = models.model([helper.make_node('MatMul', ['x', 'x'], ['y'], 'product')], [('x', TensorProto.FLOAT, [2, 3])], [('y', TensorProto.FLOAT, None)])
        with self.assertRaisesRegex(svengine.Error, r"node 'product' \(MatMul\)"):
            svengine.Session(bad)
        with self.assertRaises(svengine.Error) as wrong:
            svengine.Session(b'no model')
        self.assertNotIsInstance(wrong.exception, svengine.UnimplementedError)
        self.assertTrue(issubclass(svengine.UnimplementedError, (svengine.Error, NotImplementedError)))
        with self.assertRaisesRegex(svengine.UnimplementedError, 'NoSuchOperator'):
            svengine.Session(models.unary('NoSuchOperator'))


class RunTest(unittest.TestCase):
    def setUp(self):
        self.session = svengine.Session(models.add_constant(), threads=1)
        self.x = np.zeros((2, 3), np.float32)

    def test_a_dict_gives_a_dict_and_a_list_a_list(self):
        expected = [[1, 2, 3]] * 2
        self.assertEqual({k: v.tolist() for k, v in self.session.run({'x': self.x}).items()}, {'y': expected})
        self.assertEqual([v.tolist() for v in self.session.run([self.x])], [expected])
        self.assertEqual(self.session.run((self.x,))[0].tolist(), expected)
        self.assertEqual(self.session.run(types.MappingProxyType({'x': self.x}))['y'].tolist(), expected)

    def test_what_does_not_fit_is_an_error_and_the_session_stays_usable(self):
        for inputs, says in (
                ({'z': self.x}, "input 'x' is missing; the model has 'x'"), ({'x': self.x, 'q': 1}, "no input 'q'"), ([], 'got 0 inputs'),
                ([self.x, self.x], 'got 2 inputs'), ([self.x.astype('f8')], "input 'x' needs float32.*got float64"),
                ([self.x[0]], "input 'x' needs"), ([None], "input 'x': is None"), ([self.x.astype('c8')], 'no elements of type complex64')):
            with self.assertRaisesRegex(svengine.Error, says):
                self.session.run(inputs)
        for inputs in ('x', 5, self.x):
            with self.assertRaises(TypeError):
                self.session.run(inputs)
        self.assertEqual(self.session.run([self.x])[0].shape, (2, 3))

    def test_outputs_are_of_their_own(self):
        first = self.session.run([self.x])[0]
        second = self.session.run([self.x])[0]
        self.assertTrue(first.flags.writeable and first.flags.c_contiguous)
        self.assertEqual(type(first.base).__name__, 'Storage')  # the engine's memory, no copy of it
        first[:] = 9
        self.assertEqual(second.tolist(), [[1, 2, 3]] * 2)
        del self.session
        self.assertEqual((first.tolist(), second.tolist()), ([[9] * 3] * 2, [[1, 2, 3]] * 2))

    def test_outputs_that_are_inputs_constants_or_twice_the_same_are_copies(self):
        w = helper.make_tensor('w', TensorProto.FLOAT, [3], [1, 2, 3])
        shape = ('x', TensorProto.FLOAT, [3])
        outputs = [(name, TensorProto.FLOAT, [3]) for name in ('x2', 'w2', 'y1', 'y2')]
        nodes = [helper.make_node('Identity', ['x'], ['x2']), helper.make_node('Identity', ['w'], ['w2']), helper.make_node('Neg', ['x'], ['y1']),
                 helper.make_node('Identity', ['y1'], ['y2'])]
        session = svengine.Session(models.model(nodes, [shape], outputs, [w]))
        x = np.float32([4, 5, 6])
        for _ in range(2):
            results = session.run([x])
            self.assertEqual([r.tolist() for r in results], [[4, 5, 6], [1, 2, 3], [-4, -5, -6], [-4, -5, -6]])
            for i, r in enumerate(results):
                r[:] = i
            self.assertEqual([r.tolist() for r in results], [[i] * 3 for i in range(4)])
        self.assertEqual(x.tolist(), [4, 5, 6])

    def test_inputs_are_let_go(self):
        before = sys.getrefcount(self.x)
        for _ in range(100):
            self.session.run([self.x])
            self.session.run({'x': self.x[:, ::-1]})
            with self.assertRaises(svengine.Error):
                self.session.run([self.x, self.x])
        self.assertEqual(sys.getrefcount(self.x), before)


class ThreadTest(unittest.TestCase):
    def test_a_run_lets_other_threads_work(self):
        session = svengine.Session(models.products(400, 120), threads=1)
        x = np.full((400, 400), 1e-3, np.float32)
        session.run([x])
        begun, done = threading.Event(), threading.Event()

        def work():
            begun.set()
            session.run([x])
            done.set()

        thread = threading.Thread(target=work)
        thread.start()
        begun.wait()
        ticks = 0
        while not done.is_set():
            time.sleep(0.001)
            ticks += 1
        thread.join()
        self.assertGreater(ticks, 5)

    def test_threads_share_a_session(self):
        session = svengine.Session(models.add_constant(), threads=1)
        wrong = []

        def work(number):
            x = np.full((number + 1, 3), number, np.float32)
            for _ in range(50):
                if not np.array_equal(session.run([x])[0], x + np.float32([1, 2, 3])):
                    wrong.append(number)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])


if __name__ == '__main__':
    unittest.main()
