"""Tests of `svengine predict`, from outside: predict_test.py [EMULATOR...] PROGRAM"""
import os
import tempfile

import onnx_writer as ow
import program
from program import CliTest

PEAK = 64 * 2.0e9  # operations a second of one A64FX core, fp32
# Winograd's F(4x4, 3x3) multiplies a quarter as often as the direct sum, whose operations are what is counted.
MOST_SHARE = {'Conv (Winograd)': 4, 'FusedConv (Winograd)': 4}
TIME_KEYS = ['ms', 'flops', 'share_of_peak', 'bound', 'ms_alone']
RESOURCES = ['arithmetic', 'L2', 'HBM', 'links', 'barriers']


class Predict(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.networks = cls.enterClassContext(tempfile.TemporaryDirectory(prefix='svengine_predict_'))
        cls.resnet = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'models', 'fashion_mnist_resnet.onnx')
        cls.bert = cls.zoo('bert-tiny')

    @classmethod
    def zoo(cls, name):
        path = os.path.join(cls.networks, name + '.onnx')
        made = program.svengine('zoo', name, path)
        assert made.code == 0, made
        return path

    def predict(self, model, *arguments):
        return self.succeeds('predict', model, '--machine', 'a64fx', '--json', *arguments).json()

    def mode(self, name, model, *arguments):
        modes = self.predict(model, '--mode', name, *arguments)['modes']
        self.assertEqual([m['mode'] for m in modes], [name])
        return modes[0]

    def test_keys(self):
        report = self.predict(self.resnet, '--batch', '6')
        self.assertEqual((report['machine'], report['cores'], report['batch'], report['frequency_ghz']), ('a64fx', 48, 6, 2.0))
        self.assertEqual([m['mode'] for m in report['modes']], ['shard', 'split'])
        self.assertTrue(all(len(line) > 20 for line in report['unknown']))
        for mode in report['modes']:
            for entry in [mode, *mode['operators'], *mode['nodes']]:
                for key in TIME_KEYS:
                    self.assertIn(key, entry)
                self.assertIn(entry['bound'], RESOURCES)
                self.assertEqual(list(entry['ms_alone']), RESOURCES)
            self.assertTrue(mode['complete'])
            self.assertAlmostEqual(mode['throughput_per_s'], 6 / (mode['ms'] / 1e3), places=3)
            self.assertEqual(sum(o['nodes'] for o in mode['operators']), len(mode['nodes']))
            for part in ('operators', 'nodes'):
                self.assertAlmostEqual(sum(e['ms'] for e in mode[part]) / mode['ms'], 1, places=6)
        shard, split = report['modes']
        self.assertEqual((shard['groups'], shard['cores_per_group'], shard['batch_per_group']), (3, 12, 2))  # 2 + 2 + 2
        self.assertEqual((split['groups'], split['cores_per_group'], split['batch_per_group']), (4, 12, 6))

    def test_never_faster_than_the_machine(self):
        for model, dims in ((self.resnet, ()), (self.bert, ('--dim', 'S=128'))):
            for batch in ('1', '64'):
                for mode in self.predict(model, '--batch', batch, *dims)['modes']:
                    cores = mode['cores_per_group'] * (mode['groups'] if mode['mode'] == 'split' else 1)
                    for entry in mode['nodes']:
                        least = entry['flops'] / MOST_SHARE.get(entry['op'], 1) / (cores * PEAK)
                        self.assertGreaterEqual(entry['ms'] / 1e3, least, entry)
                        alone = entry['ms_alone']
                        longest = max(alone[r] for r in RESOURCES[:4])
                        self.assertAlmostEqual(entry['ms'], longest + alone['barriers'], places=9)
                    self.assertGreater(mode['share_of_peak'], 0)

    def test_winograd(self):
        """Where the kernels take Winograd's algorithm, and --exact-convolution forbids it. Strided and 1 x 1 layers never have it."""
        resnet18 = self.zoo('resnet18')
        for batch in ('1', '32'):
            fast, exact = (self.mode('shard', resnet18, '--batch', batch, *flags) for flags in ((), ('--exact-convolution',)))
            convolutions = lambda mode: {n['node']: n for n in mode['nodes'] if 'Conv' in n['op']}
            winograd = {name for name, n in convolutions(fast).items() if n['op'].endswith('(Winograd)')}
            self.assertEqual(len(convolutions(fast)), 20)
            self.assertEqual(len(winograd), 13)  # of 16 layers with 3 x 3 kernels, 3 have stride 2
            self.assertFalse([n for n in exact['nodes'] if 'Winograd' in n['op']])
            for name, slower in convolutions(exact).items():
                self.assertLessEqual(slower['flops'] / (12 * PEAK), slower['ms'] / 1e3)
                faster = convolutions(fast)[name]
                self.assertEqual(faster['flops'], slower['flops'])
                arithmetic = [n['ms_alone']['arithmetic'] for n in (faster, slower)]
                (self.assertLess if name in winograd else self.assertEqual)(*arithmetic)
            # Transformed weights of 64 x 64 and 128 x 128 channels are four times the model's; larger ones cross L2.
            self.assertGreater(fast['ms_alone']['L2'], exact['ms_alone']['L2'])

    def test_weights_cross_the_memory(self):
        """What L2 cannot keep is read in every run: ResNet-18's 46.7 MB at no more than 256 GB/s. What it can keep is not."""
        large = self.predict(self.zoo('resnet18'), '--batch', '1')['modes']
        for mode in large:
            self.assertGreater(mode['ms_alone']['HBM'], 46.7e6 / 256e9 * 1e3)
        self.assertLess(large[1]['ms'], large[0]['ms'])  # four groups work on one large image together
        for mode in self.predict(self.resnet, '--batch', '1')['modes']:
            self.assertLess(mode['ms_alone']['HBM'], 1e-3)

    def test_more_cores_are_never_slower(self):
        emulated = len(program.PROGRAM) > 1
        counts = ('1', '12', '48') if emulated else ('1', '2', '6', '12', '24', '36', '48')
        for model, dims in ((self.resnet, ()), (self.bert, ('--dim', 'S=128'))):
            reports = [self.predict(model, '--batch', '144', '--cores', c, *dims) for c in counts]
            for mode in (0, 1):
                times = [r['modes'][mode]['ms'] for r in reports]
                self.assertEqual(times, sorted(times, reverse=True), (model, mode))

    def test_batch_and_frequency(self):
        one, many = (self.mode('shard', self.resnet, '--batch', b) for b in ('1', '256'))
        self.assertGreater(many['ms'], one['ms'])
        self.assertGreater(many['throughput_per_s'], one['throughput_per_s'])
        fast = self.mode('shard', self.resnet, '--batch', '256', '--frequency', '2.2')
        self.assertGreater(many['ms'] / fast['ms'], 1.0)
        self.assertLessEqual(many['ms'] / fast['ms'], 1.1 + 1e-9)
        one_image = self.predict(self.resnet)
        self.assertEqual(one_image['batch'], 1)
        self.assertEqual(one_image['modes'][0]['groups'], 1)  # one image has no shards
        self.assertGreater(one_image['modes'][1]['ms_alone']['barriers'], one_image['modes'][0]['ms_alone']['barriers'])
        self.assertEqual(self.predict(self.resnet, '--dim', 'N=8')['batch'], 8)

    def test_text(self):
        out = self.succeeds('predict', self.bert, '--machine', 'a64fx', '--dim', 'S=16', '--top', '3').out
        for word in ['shard', 'split', 'bound by', 'costliest nodes', 'estimated, not measured', 'does not know', 'LayerNormalization']:
            self.assertIn(word, out)

    def test_errors(self):
        fails = lambda *a, says: self.fails('predict', self.bert, *a, says=says)
        fails('--machine', 'a65fx', says=['a65fx', 'a64fx'])
        fails(says='--machine')
        for cores in ('0', '13', '47', '60', 'x'):
            fails('--machine', 'a64fx', '--cores', cores, says='--cores')
        fails('--machine', 'a64fx', '--batch', '0', says='--batch')
        fails('--machine', 'a64fx', '--frequency', '1.8', says='--frequency')
        fails('--machine', 'a64fx', '--mode', 'both ways', says='--mode')
        self.fails('predict', self.path('none.onnx'), '--machine', 'a64fx', says='none.onnx')
        relu = ow.model([ow.node('Relu', ['x'], ['y'], 'r')], [ow.value_info('x', [2, 3])], [ow.value_info('y', [2, 3])], [])
        fixed = self.write('fixed.onnx', relu)
        self.fails('predict', fixed, '--machine', 'a64fx', '--batch', '4', says='--batch')
        self.assertEqual(self.predict(fixed)['batch'], 2)
        self.fails('predict', self.resnet, '--machine', 'a64fx', '--batch', '4', '--dim', 'N=4', says=['--batch', '--dim'])
        self.fails('predict', self.resnet, '--machine', 'a64fx', '--dim', 'N=0', says='batch of 0')

    def test_notes(self):
        """What is assumed of the inputs is said, and only that."""
        answer = self.succeeds('predict', self.bert, '--machine', 'a64fx', '--batch', '4')
        self.assertIn('dimension S is taken as 1', answer.err)
        self.assertNotIn('dimension N', answer.err)
        self.assertEqual(self.succeeds('predict', self.resnet, '--machine', 'a64fx', '--batch', '4').err, '')


if __name__ == '__main__':
    program.main(__doc__)
