"""memory_limit and time_limit of svengine.Session, which the whole process has while it loads or runs."""
import threading
import time
import unittest

import numpy as np
from onnx import TensorProto, helper

import models
import svengine


def expand():
    """y = x expanded to a shape that comes with the data."""
    return models.model([helper.make_node('Expand', ['x', 'shape'], ['y'], 'expand')],
                        [('x', TensorProto.FLOAT, [1]), ('shape', TensorProto.INT64, [2])], [('y', TensorProto.FLOAT, [None, None])])


def loop():
    """v = x + 1, m times."""
    body = helper.make_graph(
        [helper.make_node('Identity', ['go'], ['on']), helper.make_node('Add', ['v', 'one'], ['next'])], 'body',
        [helper.make_tensor_value_info('i', TensorProto.INT64, []), helper.make_tensor_value_info('go', TensorProto.BOOL, []),
         helper.make_tensor_value_info('v', TensorProto.FLOAT, [2])],
        [helper.make_tensor_value_info('on', TensorProto.BOOL, []), helper.make_tensor_value_info('next', TensorProto.FLOAT, [2])])
    return models.model([helper.make_node('Loop', ['m', '', 'x'], ['y'], 'loop', body=body)],
                        [('m', TensorProto.INT64, []), ('x', TensorProto.FLOAT, [2])], [('y', TensorProto.FLOAT, [2])],
                        [helper.make_tensor('one', TensorProto.FLOAT, [1], [1])])


ENDLESS = [np.int64(2 ** 62), np.zeros(2, np.float32)]
SHORT = [np.int64(3), np.zeros(2, np.float32)]


class LimitsTest(unittest.TestCase):
    def test_memory_is_refused_before_it_is_used(self):
        small, large = ([np.ones(1, np.float32), np.array([side, side])] for side in (100, 30000))
        session = svengine.Session(expand(), threads=1, memory_limit=64 << 20)
        self.assertEqual(session.run(small)[0].shape, (100, 100))
        with self.assertRaisesRegex(svengine.Error, 'over the limit of 64.0 MiB'):
            session.run(large)
        with self.assertRaisesRegex(svengine.Error, 'over the limit of 0.0 MiB'):
            session.run(small, memory_limit=1000)
        self.assertEqual(session.run(small)[0].sum(), 10000)       # which the refused runs did not spoil
        self.assertEqual(svengine.Session(expand(), threads=1).run(small)[0].shape, (100, 100))  # nothing is left of the limits

    def test_weights_count_while_loading(self):
        weights = models.products_of_weights(256, 4)
        with self.assertRaisesRegex(svengine.Error, 'no memory for .* packed weights'):
            svengine.Session(weights, threads=1, memory_limit=1000).run([np.zeros((1, 256), np.float32)])
        self.assertEqual(svengine.Session(weights, threads=1, memory_limit=1 << 30).run([np.zeros((1, 256), np.float32)])[0].shape, (1, 256))

    def test_loops_end(self):
        session = svengine.Session(loop(), threads=1, time_limit=0.3)
        begin = time.monotonic()
        with self.assertRaisesRegex(svengine.Error, r"'loop' \(Loop\).*the time limit of 0.3 s is over"):
            session.run(ENDLESS)
        with self.assertRaisesRegex(svengine.Error, 'the time limit of 0.1 s is over'):
            session.run(ENDLESS, time_limit=0.1)
        self.assertLess(time.monotonic() - begin, 10)
        self.assertEqual(session.run(SHORT)[0].tolist(), [3, 3])
        session = svengine.Session(loop(), threads=1)
        self.assertEqual(session.run({'m': SHORT[0], 'x': SHORT[1]}, time_limit=60)['y'].tolist(), [3, 3])

    def test_limits_of_threads_wait_for_one_another(self):
        """Each has its own, whole."""
        sessions = [svengine.Session(loop(), threads=1, time_limit=0.2) for _ in range(3)]
        took = []

        def run(session):
            begin = time.monotonic()
            with self.assertRaisesRegex(svengine.Error, 'the time limit of 0.2 s is over'):
                session.run(ENDLESS)
            took.append(time.monotonic() - begin)

        threads = [threading.Thread(target=run, args=[session]) for session in sessions]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(took), 3)
        self.assertGreater(max(took), 0.5)

    def test_what_is_no_limit_is_an_error(self):
        for limits, says in (({'memory_limit': 0}, 'memory_limit=0'), ({'memory_limit': -1}, 'memory_limit=-1'), ({'time_limit': 0}, 'time_limit=0'),
                             ({'time_limit': float('nan')}, 'time_limit=nan')):
            with self.assertRaisesRegex(svengine.Error, says):
                svengine.Session(loop(), **limits)
            with self.assertRaisesRegex(svengine.Error, says):
                svengine.Session(loop(), threads=1).run(SHORT, **limits)
        with self.assertRaises(TypeError):
            svengine.Session(loop(), memory_limit='2G')


if __name__ == '__main__':
    unittest.main()
