"""PYTHON.md's examples: what they print is what stands behind them."""
import contextlib
import io
import os
import re
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import models

DOCUMENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../PYTHON.md')


def network():
    """scores[N, 10] of image[N, 3, 8, 8]: convolution, pooling, product."""
    rng = np.random.default_rng(0)
    shapes = {'conv': (8, 3, 3, 3), 'w': (8, 10), 'b': (10,)}
    weights = [numpy_helper.from_array(rng.normal(size=s).astype(np.float32) / 4, n) for n, s in shapes.items()]
    nodes = [helper.make_node('Conv', ['image', 'conv'], ['c'], 'features', pads=[1, 1, 1, 1]), helper.make_node('Relu', ['c'], ['r'], 'relu'),
             helper.make_node('GlobalAveragePool', ['r'], ['p']), helper.make_node('Flatten', ['p'], ['f']),
             helper.make_node('Gemm', ['f', 'w', 'b'], ['scores'], 'product')]
    return models.model(nodes, [('image', TensorProto.FLOAT, ['N', 3, 8, 8])], [('scores', TensorProto.FLOAT, ['N', 10])], weights, opset=17)


def expected_output(code):
    """The comments behind print(), a line each."""
    return [match[1].strip() for match in re.finditer(r'^\s*print\(.*\)\s+# (.*)$', code, re.MULTILINE)]


class SnippetsTest(unittest.TestCase):
    def test_they_print_what_is_said(self):
        with open(DOCUMENT, encoding='utf-8') as file:
            blocks = re.findall(r'^```python\n(.*?)^```', file.read(), re.MULTILINE | re.DOTALL)
        self.assertGreater(len(blocks), 4)
        before, names = os.getcwd(), {}
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            self.addCleanup(os.chdir, before)
            onnx.save(network(), 'model.onnx')
            for code in blocks:
                output = io.StringIO()
                with contextlib.redirect_stdout(output):
                    exec(compile(code, 'PYTHON.md', 'exec'), names)
                self.assertEqual(code.count('print('), len(expected_output(code)), code)
                self.assertEqual(output.getvalue().splitlines(), expected_output(code))
            os.chdir(before)


if __name__ == '__main__':
    unittest.main()
