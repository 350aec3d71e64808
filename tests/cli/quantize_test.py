"""Tests of `svengine quantize` and `svengine sensitivity`, from outside: quantize_test.py [EMULATOR...] PROGRAM"""
import os
import random
import re
import struct

import onnx_writer as ow
import program
from program import CliTest


def numbers(count, seed, scale=1.0):
    draw = random.Random(seed)
    return [draw.uniform(-scale, scale) for _ in range(count)]


def ints(name, values):
    """Attribute `name` of integers."""
    return ow.block(5, ow.block(1, name) + b''.join(ow.number(8, v) for v in values) + ow.number(20, 7))


def network():
    """image[N, 1, 6, 6] -> Conv + bias -> Relu -> Flatten -> MatMul + bias -> scores[N, 4]."""
    nodes = [ow.node('Conv', ['image', 'w', 'b'], ['conv.y'], 'conv', ints('pads', [1, 1, 1, 1])), ow.node('Relu', ['conv.y'], ['relu.y'], 'relu'),
             ow.node('Flatten', ['relu.y'], ['flat'], 'flatten'), ow.node('MatMul', ['flat', 'v'], ['product'], 'last'),
             ow.node('Add', ['product', 'c'], ['scores'], 'bias')]
    weights = [ow.tensor('w', [2, 1, 3, 3], numbers(18, 1)), ow.tensor('b', [2], numbers(2, 2)), ow.tensor('v', [72, 4], numbers(288, 3)),
               ow.tensor('c', [4], numbers(4, 4))]
    return ow.model(nodes, [ow.value_info('image', ['N', 1, 6, 6])], [ow.value_info('scores', ['N', 4])], weights, opset=13)


class Quantize(CliTest):
    def setUp(self):
        super().setUp()
        self.model = self.write('model.onnx', network())
        self.data = self.write('data.npy', ow.npy([20, 1, 6, 6], numbers(720, 5)))

    def quantize(self, *arguments):
        return self.succeeds('quantize', self.model, self.path('int8.onnx'), '--json', *arguments).json()

    def test_static(self):
        for method in ([], ['--method', 'percentile', '--percentile', '99.9'], ['--method', 'entropy'], ['--activations', 'int8'], ['--per-tensor'], ['--batch', '4']):
            report = self.quantize('--calibrate', self.data, *method)
            self.assertEqual((report['quantized_nodes'], report['nodes_left']), (2, 0))
            self.assertEqual(report['values'], 3)
            self.assertEqual(report['samples'], 5 if '--batch' in method else 20)
            self.assertGreater(report['outputs'][0]['snr_db'], 5 if 'entropy' in method else 25, method)
        text = self.succeeds('inspect', self.path('int8.onnx'), '--after', 'quantized_real').out
        self.assertIn('QLinearConv', text)
        self.assertIn('MatMulIntegerToFloat', text)
        self.assertNotIn(' Conv(', text)

    def test_samples(self):
        tensors = numbers(36, 6)
        for i in range(3):
            self.write('sets/test_data_set_%d/input_0.npy' % i, ow.npy([1, 1, 6, 6], tensors))
        self.write('images.idx', b'\0\0\x08\x03' + struct.pack('>3i', 5, 6, 6) + bytes(range(180)))
        for source, count in ((self.path('sets'), 3), (self.path('sets/test_data_set_1'), 1), (self.path('images.idx'), 5)):
            self.assertEqual(self.quantize('--calibrate', source)['samples'], count)
        self.assertEqual(self.quantize('--calibrate', self.data, self.path('sets'), '--samples', '7')['samples'], 7)
        out = self.path('o.onnx')
        self.fails('quantize', self.model, out, says='--calibrate')
        self.fails('quantize', self.model, out, '--calibrate', self.path('nowhere'), says='nowhere')
        self.fails('quantize', self.model, out, '--calibrate', self.write('short.npy', ow.npy([2, 5], range(10))), says=['image', 'short.npy'])
        self.fails('quantize', self.model, self.model, '--calibrate', self.data, says='another file')
        two = self.write('two.onnx', ow.two_input_model())
        self.fails('quantize', two, out, '--calibrate', self.data, says='2 inputs')

    def test_selection(self):
        report = self.quantize('--calibrate', self.data, '--exclude', 'last')
        self.assertEqual((report['quantized_nodes'], report['nodes_left']), (1, 1))
        self.write('list.txt', b'# why\nconv  # first\n')
        self.assertEqual(self.quantize('--calibrate', self.data, '--exclude', self.path('list.txt'))['quantized_nodes'], 1)
        self.assertEqual(self.quantize('--calibrate', self.data, '--only', 'Conv')['quantized_nodes'], 1)
        out = self.path('o.onnx')
        for bad, says in (('nothing', "'nothing'"), ('relu', 'a node of Relu'), ('\x1b[2J', '\\x1b')):
            self.fails('quantize', self.model, out, '--calibrate', self.data, '--exclude', bad, says=says)
        self.fails('quantize', self.model, out, '--calibrate', self.data, '--only', 'Relu', says='--only Relu')
        self.fails('quantize', self.model, out, '--calibrate', self.data, '--exclude', '*', says='no node is left')

    def test_dynamic(self):
        report = self.quantize('--dynamic')
        self.assertEqual((report['quantized_nodes'], report['outputs']), (1, []))
        report = self.quantize('--dynamic', '--calibrate', self.data)
        self.assertGreater(report['outputs'][0]['snr_db'], 30)
        self.assertIn('MatMulIntegerToFloat', self.succeeds('inspect', self.path('int8.onnx'), '--after', 'dynamic_quantized').out)

    def test_wanted_precision(self):
        text = self.succeeds('quantize', self.model, self.path('int8.onnx'), '--calibrate', self.data, '--min-snr', '20').out
        self.assertIn('pass: 20 dB', text)
        answer = program.svengine('quantize', self.model, self.path('int8.onnx'), '--calibrate', self.data, '--min-snr', '90')
        self.assertEqual(answer.code, 1, answer)
        self.assertIn('FAIL: 90 dB', answer.out)

    def test_sensitivity(self):
        report = self.succeeds('sensitivity', self.model, '--calibrate', self.data, '--json').json()
        self.assertEqual(sorted(n['node'] for n in report['nodes']), ['conv', 'last'])
        ratios = [n['snr_db'] for n in report['nodes']]
        self.assertEqual(ratios, sorted(ratios))
        wanted = '%.2f' % ((report['all_quantized'][0]['snr_db'] + ratios[1]) / 2)
        file = self.path('exclusions.txt')
        answer = self.succeeds('sensitivity', self.model, '--calibrate', self.data, '--keep-snr', wanted, '--write-exclusions', file)
        self.assertIn(report['nodes'][0]['node'], answer.out)
        self.assertIn(report['nodes'][0]['node'].encode(), self.read('exclusions.txt'))
        self.quantize('--calibrate', self.data, '--exclude', file, '--min-snr', wanted)
        self.fails('sensitivity', self.model, '--calibrate', self.data, '--write-exclusions', file, says='--keep-snr')

    def test_documents(self):
        """The examples of VALIDATING.md, where their images are at hand: every word, and numbers within what kernel sets may differ by."""
        root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        with open(os.path.join(root, 'VALIDATING.md'), encoding='utf-8') as file:
            examples = re.findall(r'```console\n\$ svengine ((?:quantize|sensitivity) .*)\n((?:.*\n)*?)```', file.read())
        self.assertEqual(len(examples), 2)
        for command, expected in examples:
            words = [os.path.join(root, w) if w.startswith('models/') else self.path(w) if re.fullmatch(r'\w+\.(onnx|txt)', w) else w for w in command.split()]
            if not os.path.exists(words[words.index('--calibrate') + 1]):
                continue
            got = self.succeeds(*words).out.replace(self.path(''), '').replace(root + '/', '').split()
            self.assertEqual(len(got), len(expected.split()))
            for a, b in zip(got, expected.split()):
                if re.fullmatch(r'[0-9.]+', b):
                    self.assertLess(abs(float(a) - float(b)), 0.02 * float(b) + 1e-9, (a, b))
                else:
                    self.assertEqual(a, b)

    def test_nothing_to_quantize(self):
        add = self.write('add.onnx', ow.add_model())
        x = self.write('x.npy', ow.npy([2, 3], range(6)))
        for command in (['quantize', add, self.path('o.onnx')], ['sensitivity', add]):
            self.fails(*command, '--calibrate', x, says='no node is left')
        self.fails('quantize', add, self.path('o.onnx'), '--dynamic', says='no MatMul or Gemm')


if __name__ == '__main__':
    program.main(__doc__)
