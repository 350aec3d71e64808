"""Tests of what compares, measures and classifies: `svengine test`, `bench` and `classify`, from outside: answers_test.py [EMULATOR...] PROGRAM"""
import struct

import onnx_writer as ow
import program
from program import CliTest, svengine

BENCH_KEYS = ['load_ms', 'optimise_ms', 'first_ms', 'min_ms', 'median_ms', 'p90_ms', 'p99_ms', 'max_ms', 'cpu_ms', 'throughput_per_s', 'peak_rss_mib']


class Test(CliTest):
    def setUp(self):
        super().setUp()
        self.model = self.write('m/model.onnx', ow.add_model())

    def data_set(self, name, y, kind='npy'):
        if kind == 'npy':
            self.write(name + '/input_0.npy', ow.npy([1, 3], [0, 1, 2]))
            self.write(name + '/output_0.npy', ow.npy([1, 3], y))
        else:
            self.write(name + '/input_0.pb', ow.tensor('x', [1, 3], [0, 1, 2]))
            self.write(name + '/output_0.pb', ow.tensor('y', [1, 3], y))
        return self.path(name)

    def test_pass(self):
        self.data_set('m/test_data_set_0', [1, 3, 5])
        self.data_set('m/test_data_set_1', [1, 3, 5], 'pb')
        for arguments in ([], [self.path('m')], [self.path('m/test_data_set_0'), self.path('m/test_data_set_1')]):
            answer = self.succeeds('test', self.model, *arguments)
            self.assertIn('pass: 2 of 2 outputs', answer.out)
        self.assertTrue(self.succeeds('test', self.model, '--json').json()['passed'])

    def test_fail(self):
        bad = self.data_set('bad', [1, 3.5, 5])
        good = self.data_set('good', [1, 3, 5], 'pb')
        answer = self.fails_test(bad, good)
        self.assertIn('FAIL: 1 of 2 outputs', answer.out)
        self.assertIn('0.5 at [0, 1] (3, expected 3.5)', answer.out)
        report = svengine('test', self.model, bad, '--json').json()
        row = report['data_sets'][0]['outputs'][0]
        self.assertEqual((report['passed'], row['passed'], row['over_tolerance'], row['elements']), (False, False, 1, 3))
        self.assertEqual(row['worst_absolute'], {'error': 0.5, 'index': '[0, 1]', 'got': 3, 'expected': 3.5})
        self.succeeds('test', self.model, bad, '--atol', '0.5')
        self.succeeds('test', self.model, bad, '--rtol', '0.2')
        wrong = self.path('wrong')
        self.write('wrong/input_0.npy', ow.npy([1, 3], [0, 1, 2]))
        self.write('wrong/output_0.npy', ow.npy([3], [1, 3, 5]))
        self.assertIn('expected float32[3]', self.fails_test(wrong).out)

    def test_default_tolerance(self):
        """An element near 0 may be off by 1e-5 of the output's largest, as rounding errors of what cancelled there are."""
        near = self.data_set('near', [300, 3 + 0.0029, 5])
        self.write('near/input_0.npy', ow.npy([1, 3], [299, 1, 2]))
        self.assertIn('atol 1e-05 of each output\'s largest value', self.succeeds('test', self.model, near, '--rtol', '0').out)
        report = self.succeeds('test', self.model, near, '--rtol', '0', '--json').json()
        self.assertIsNone(report['atol'])
        self.assertAlmostEqual(report['data_sets'][0]['outputs'][0]['atol'], 3e-3, places=6)
        far = self.data_set('far', [300, 3 + 0.0031, 5])
        self.write('far/input_0.npy', ow.npy([1, 3], [299, 1, 2]))
        self.assertEqual(svengine('test', self.model, far, '--rtol', '0').code, 1)
        answer = svengine('test', self.model, near, '--rtol', '0', '--atol', '1e-3')
        self.assertEqual((answer.code, 'atol 0.001\n' in answer.out), (1, True), answer)
        self.assertIn("1e-5 of the output's largest", ' '.join(self.succeeds('test', '--help').out.split()))

    def test_empty_output(self):
        self.write('empty/input_0.npy', ow.npy([0, 3], []))
        self.write('empty/output_0.npy', ow.npy([0, 3], []))
        answer = self.succeeds('test', self.model, self.path('empty'))
        self.assertIn('no elements', answer.out)
        answer = self.succeeds('run', self.model, '--input', 'x=' + self.path('empty/input_0.npy'))
        self.assertIn('the output is empty', answer.out)
        self.assertNotIn('range', answer.out)
        row = self.succeeds('run', self.model, '--input', 'x=' + self.path('empty/input_0.npy'), '--json').json()['outputs'][0]
        self.assertEqual((row['min'], row['max'], row['mean']), (None, None, None))

    def fails_test(self, *folders):
        answer = svengine('test', self.model, *folders)
        self.assertEqual(answer.code, 1, answer)
        return answer

    def test_errors(self):
        self.fails('test', self.model, self.path('none'), says='none')
        self.fails('test', self.model, self.folder.name, says='test_data_set_0')
        self.write('gap/input_1.npy', ow.npy([1], [1]))
        self.fails('test', self.model, self.path('gap'), says='input_0')
        self.write('only/input_0.npy', ow.npy([1, 3], [1, 2, 3]))
        self.fails('test', self.model, self.path('only'), says='output_0')
        self.write('both/input_0.npy', ow.npy([1], [1]))
        self.write('both/input_0.pb', ow.tensor('x', [1], [1]))
        self.fails('test', self.model, self.path('both'), says='input_0')
        bad = self.data_set('bad', [1, 3, 5])
        self.write('bad/output_0.npy', b'no array')
        self.fails('test', self.model, bad, says='output_0.npy')
        many = self.data_set('many', [1, 3, 5])
        self.write('many/input_1.npy', ow.npy([1, 3], [1, 2, 3]))
        self.fails('test', self.model, many, says='2 inputs')


class Bench(CliTest):
    def test_keys(self):
        model = self.write('add.onnx', ow.add_model())
        report = self.succeeds('bench', model, '--json', '--iterations', '5', '--dim', 'N=4').json()
        for key in BENCH_KEYS:
            self.assertGreater(report[key], 0, key)
        self.assertEqual((report['iterations'], report['batch'], report['warmup']), (5, 4, 1))
        order = [report[k] for k in ('min_ms', 'median_ms', 'p90_ms', 'p99_ms', 'max_ms')]
        self.assertEqual(order, sorted(order))
        self.assertNotIn('profile', report)
        text = self.succeeds('bench', model, '--duration', '0', '--profile', '--threads', '2').out
        for word in ['load', 'optimise', 'first run', 'median', 'p99', 'throughput', 'peak memory', 'Add', 'GFLOP/s', '2 threads', '3 runs']:
            self.assertIn(word, text)

    def test_profile(self):
        model = self.write('two.onnx', ow.two_input_model())
        report = self.succeeds('bench', model, '--json', '--iterations', '3', '--profile').json()
        self.assertEqual(sorted(r['op'] for r in report['profile']['operators']), ['Add', 'Gather'])
        self.assertAlmostEqual(sum(r['share'] for r in report['profile']['nodes']), 1, places=6)
        for row in report['profile']['nodes']:
            self.assertTrue(row['kernel'])
        self.assertIn('costliest 1 of 2 nodes', self.succeeds('bench', model, '--iterations', '1', '--profile', '--top', '1').out)


class Classify(CliTest):
    def setUp(self):
        super().setUp()
        # Two classes: the sums of the upper and of the lower half of a 2 x 3 image.
        nodes = [ow.node('Reshape', ['image', 'shape'], ['halves'], 'halves'), ow.node('MatMul', ['halves', 'ones'], ['sums'], 'sum'),
                 ow.node('Reshape', ['sums', 'flat'], ['scores'], 'scores')]
        self.model = self.write('m.onnx', ow.model(nodes, [ow.value_info('image', ['N', 1, 2, 3])], [ow.value_info('scores', ['N', 2])],
                                                   [ow.tensor('shape', [3], [0, 2, 3], ow.INT64), ow.tensor('flat', [2], [0, 2], ow.INT64),
                                                    ow.tensor('ones', [3, 1], [1, 1, 1])]))
        pixels = bytes([255, 255, 255, 0, 0, 0]) + bytes([0, 0, 0, 255, 255, 255]) + bytes([0, 9, 0, 0, 200, 0])
        self.images = self.write('i.idx', struct.pack('>BBBBIII', 0, 0, 8, 3, 3, 2, 3) + pixels)
        self.answers = self.write('a.idx', struct.pack('>BBBBI', 0, 0, 8, 1, 3) + bytes([0, 1, 0]))
        self.labels = self.write('labels.txt', b'above\nbelow\n')

    def test_classify(self):
        for batch in ('1', '2', '100'):
            report = self.succeeds('classify', self.model, '--idx-images', self.images, '--idx-labels', self.answers, '--batch', batch, '--json').json()
            self.assertEqual((report['right'], report['images']), (2, 3))
        answer = self.succeeds('classify', self.model, '--idx-images', self.images, '--idx-labels', self.answers, '--labels', self.labels, '--show', '3')
        self.assertEqual(answer.err, '')  # no progress bar where there is no terminal
        for text in ['above', 'below', 'wrong: above', 'accuracy  66.67 %', 'images/s', '===']:
            self.assertIn(text, answer.out, answer)

    def test_errors(self):
        fails = lambda *a, says: self.fails('classify', self.model, *a, says=says)
        fails('--idx-images', self.path('none'), says='none')
        fails('--idx-images', self.answers, says='height')
        fails('--idx-images', self.images, '--idx-labels', self.images, says='uint8[3]')
        fails('--idx-images', self.write('big.idx', struct.pack('>BBBBIII', 0, 0, 8, 3, 1, 4, 4) + bytes(16)), says=["'image'", '1x1x4x4'])
        fails('--idx-images', self.write('cut.idx', struct.pack('>BBBBIII', 0, 0, 8, 3, 9, 2, 3) + bytes(16)), says='cut.idx')


if __name__ == '__main__':
    program.main(__doc__)
