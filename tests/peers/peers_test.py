#!/usr/bin/python3
"""Tests of what recordings rest on: numbers that never change, digests that notice, files that get their weights back."""
import os
import sys
import tempfile
import unittest

import numpy as np
import onnx_file
import recording
import seeded

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'cli'))
import onnx_writer as ow  # noqa: E402


class Seeded(unittest.TestCase):
    def test_numbers_never_change(self):
        """Every recording was made with these."""
        self.assertEqual(seeded.raw('key', 5).tolist(), RAW)
        self.assertEqual(seeded.uniform('key', [3], -1, 2).tolist(), UNIFORM)
        self.assertEqual(seeded.normal('key', [3]).tolist(), NORMAL)
        self.assertEqual(seeded.integers('key', [6], -5, 7).tolist(), INTEGERS)

    def test_distributions(self):
        x, u, n = (f for f in (seeded.normal('a', [1000, 100]), seeded.uniform('b', [100000], -2, 4), seeded.integers('c', [100000], 3, 7)))
        self.assertLess(abs(x.mean()), 0.02)
        self.assertLess(abs(x.std() - 1), 0.02)
        self.assertTrue(u.min() >= -2 and u.max() <= 4 and abs(u.mean() - 1) < 0.03, (u.min(), u.max(), u.mean()))
        self.assertEqual(np.unique(n).tolist(), [3, 4, 5, 6])
        self.assertFalse(np.array_equal(seeded.normal('a', [5]), seeded.normal('b', [5])))


class Digests(unittest.TestCase):
    def setUp(self):
        self.x = seeded.normal('x', [40, 300])
        self.digest = recording.digest('k', self.x)

    def error(self, x):
        return recording.largest_error('k', self.digest, x)

    def test_what_is_noticed(self):
        self.assertLess(self.error(self.x), 1e-6)
        one = self.x.copy()
        one[17, 123] += 1  # any element: over the square root of its stretch, 375
        self.assertGreater(self.error(one), 0.05)
        self.assertGreater(self.error(self.x + np.float32(1e-3)), 9e-4)
        self.assertGreater(self.error(self.x[::-1]), 0.5)
        part = self.x.copy()
        part[20:22] = 0
        self.assertGreater(self.error(part), 0.3)

    def test_what_is_refused(self):
        self.assertEqual(self.error(self.x.T), np.inf)
        for bad in (np.nan, np.inf):
            x = self.x.copy()
            x[39, 299] = bad
            self.assertEqual(self.error(x), np.inf)

    def test_small_tensors_are_whole(self):
        small = recording.digest('k', self.x[0, :64])
        self.assertNotIn('sums', small)
        for i in range(64):
            x = self.x[0, :64].copy()
            x[i] += 1e-3
            self.assertGreater(recording.largest_error('k', small, x), 9e-4)


class Files(unittest.TestCase):
    def test_weights_come_back(self):
        values = [float(v) for v in seeded.uniform('net/w', [2, 3], -1, 1).ravel()]
        nodes = [ow.node('Add', ['x', 'w'], ['t']), ow.node('Mul', ['t', 'c'], ['y'])]
        whole = ow.model(nodes, [ow.value_info('x', ['N', 3])], [ow.value_info('y', ['N', 3])],
                         [ow.tensor('w', [2, 3], values), ow.tensor('c', [1], [7]), ow.tensor('i', [2], [5, -6], ow.INT64)])
        empty = onnx_file.replace_initializers(whole, lambda t: 'none' if t.name == 'w' else None)
        self.assertEqual(len(whole) - len(empty) > 24, True)
        self.assertIsNone(onnx_file.initializers(empty)['w'].values)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'n.onnx.gz')
            recording.save_network(path, empty)
            again = onnx_file.initializers(recording.network(path, recording.Weights('net', {'w': [-1, 1]})))
            turned = onnx_file.initializers(recording.network(path, recording.Weights('net', {'v': [-1, 1]}, {'w': {'transposed': 'v'}})))
        self.assertEqual(again['w'].values.ravel().tolist(), values)
        self.assertEqual((again['c'].values.tolist(), again['i'].values.tolist()), ([7], [5, -6]))
        self.assertTrue(np.array_equal(turned['w'].values, seeded.uniform('net/v', [3, 2], -1, 1).T))
        self.assertEqual(onnx_file.ports(whole, onnx_file.GRAPH_INPUT), [('x', 1, [None, 3])])
        self.assertEqual(onnx_file.ports(whole, onnx_file.GRAPH_OUTPUT), [('y', 1, [None, 3])])

    def test_folded_batch_norms(self):
        fills = {'c.weight': [-1, 1], 'c.bias': [-1, 1], 'n.weight': [0.5, 2], 'n.bias': [-1, 1], 'n.running_mean': [-1, 1], 'n.running_var': [0.5, 2]}
        w = recording.Weights('net', fills, {'fw': {'fold': ['c', 'n', 1e-3]}, 'fb': {'fold_bias': ['c', 'n', 1e-3], 'has_bias': True}})
        draw = lambda name, shape: w.draw(name, shape).astype(np.float64)
        x = seeded.normal('x', [6])
        plain = draw('c.weight', [4, 6, 1, 1])[:, :, 0, 0] @ x + draw('c.bias', [4])
        wanted = (plain - draw('n.running_mean', [4])) / np.sqrt(draw('n.running_var', [4]) + 1e-3) * draw('n.weight', [4]) + draw('n.bias', [4])
        got = w.initializer('fw', [4, 6, 1, 1])[:, :, 0, 0] @ x + w.initializer('fb', [4])
        self.assertLess(np.abs(got - wanted).max(), 1e-5)


RAW = [2033767017, 4033635989, 2351738415, 3755339637, 1836694878]
UNIFORM = [0.4205697774887085, 1.8174619674682617, 0.6426702737808228]
NORMAL = [1.1051901578903198, 1.4804750680923462, 0.5806288719177246]
INTEGERS = [0, 6, 1, 5, 0, 4]

if __name__ == '__main__':
    unittest.main()
