"""Tests of reading models, good and bad: `svengine inspect` and `zoo`, from outside: models_test.py [EMULATOR...] PROGRAM"""
import os
import random

import onnx_writer as ow
import program
from program import CliTest, svengine


class BadModels(CliTest):
    def check_model(self, path, says):
        for command in (['inspect', path], ['run', path], ['bench', path], ['test', path, self.folder.name], ['inspect', path, '--after', 'import']):
            if command[0] == 'test':
                self.write('input_0.npy', ow.npy([1], [0]))
                self.write('output_0.npy', ow.npy([1], [0]))
            self.fails(*command, says=says)

    def test_no_model(self):
        self.check_model(self.path('missing.onnx'), ['missing.onnx', 'No such file'])
        self.check_model(self.folder.name, [self.folder.name])
        self.check_model(self.write('empty.onnx', b''), ['empty.onnx', 'empty'])
        self.check_model(self.write('text.onnx', b'this is not a model\n' * 20), ['text.onnx'])
        self.check_model(self.write('random.onnx', random.Random(1).randbytes(5000)), ['random.onnx'])
        fifo = self.path('fifo')
        os.mkfifo(fifo)
        self.check_model(fifo, ['fifo'])
        self.check_model('/dev/zero', ['/dev/zero'])

    def test_truncated(self):
        whole = ow.add_model()
        for size in range(1, len(whole), 7):
            path = self.write('cut.onnx', whole[:size])
            answer = svengine('inspect', path)
            self.assertEqual(answer.code, 2, (size, str(answer)))
            self.assertIn('cut.onnx', answer.err)

    def test_escapes_in_names(self):
        path = self.write('a\x1b[31mred\n.onnx', b'')
        self.fails('inspect', path, says='\\x1b[31mred')
        self.fails('run', self.path('m.onnx'), '--kernels', '\x1b[2J', says='\\x1b[2J')
        name = self.write('name.onnx', ow.model([ow.node('Add', ['x', 'x'], ['y\x1b[31m'], 'n')], [ow.value_info('x', [1])],
                                                [ow.value_info('y\x1b[31m', [1])]))
        self.fails('inspect', name, says='\\x1b[31m')

    def test_unsupported(self):
        nodes = [ow.node('Frobnicate', ['x'], ['a'], 'first'), ow.node('Frobnicate', ['a'], ['b'], 'second'), ow.node('Wobble', ['b'], ['y'], 'third')]
        path = self.write('unknown.onnx', ow.model(nodes, [ow.value_info('x', [1])], [ow.value_info('y', [1])]))
        says = ['unknown.onnx', 'Frobnicate', 'first', 'second', 'Wobble', 'third']
        self.fails('run', path, says=says)
        self.fails('inspect', path, says=says, shows=['float32[1]', 'lacking: Frobnicate of ai.onnx', 'lacking: Wobble of ai.onnx'])
        report = self.fails('inspect', path, '--json', says=says, shows=['lacking']).json()
        self.assertEqual([op['nodes'] for op in report['operators']], [2, 1])

    def test_contradictions(self):
        model = ow.model([ow.node('Neg', ['x'], ['y'], 'neg')], [ow.value_info('x', [2])], [ow.value_info('y', [3])])
        path = self.write('contradiction.onnx', model)
        self.assertIn("output 'y' is declared as float32[3], but is float32[2]", self.succeeds('run', path).err)
        self.fails('run', path, '--strict', says=["output 'y'", 'float32[3]'])

    def test_broken_graphs(self):
        def check(says, nodes, **more):
            path = self.write('broken.onnx', ow.model(nodes, [ow.value_info('x', [2])], [ow.value_info('y', [2])], **more))
            self.fails('run', path, says=['broken.onnx'] + says)
        check(['nowhere'], [ow.node('Add', ['x', 'nowhere'], ['y'], 'add')])
        check(['add'], [ow.node('Add', ['x', 'y'], ['y'], 'add')])
        check(['y'], [ow.node('Neg', ['x'], ['y'], 'one'), ow.node('Neg', ['x'], ['y'], 'two')])
        check(['add', '3', '2'], [ow.node('Add', ['x', 'w'], ['y'], 'add')], initializers=[ow.tensor('w', [3], [1, 2, 3])])
        check(['w'], [ow.node('Add', ['x', 'w'], ['y'], 'add')], initializers=[ow.tensor('w', [1 << 62, 4], [1, 2])])
        check(['w'], [ow.node('Add', ['x', 'w'], ['y'], 'add')], initializers=[ow.tensor('w', [-2], [1, 2])])
        check(['w'], [ow.node('Add', ['x', 'w'], ['y'], 'add')], initializers=[ow.tensor('w', [2], [1])])


class Inspect(CliTest):
    def setUp(self):
        super().setUp()
        self.model = self.write('add.onnx', ow.add_model())

    def test_report(self):
        answer = self.succeeds('inspect', self.model)
        for word in ['x', 'float32[Nx3]', 'Add', 'opset ai.onnx 17', 'cli_test', 'parameters', 'planned peak']:
            self.assertIn(word, answer.out, answer)
        self.assertIn('N is taken as 1', answer.err)
        report = self.succeeds('inspect', self.model, '--json', '--dim', 'N=4').json()
        self.assertEqual(report['inputs'], [{'name': 'x', 'type': 'float32', 'shape': ['N', 3], 'chosen_shape': [4, 3]}])
        self.assertEqual(report['operators']['Add']['nodes'], 1)
        self.assertEqual(report['parameters'], 3)
        self.assertEqual(report['flops'], 12)
        self.assertGreaterEqual(report['plan']['peak_bytes'], 12)
        self.assertEqual(report['ir_version'], 8)

    def test_bodies(self):
        def branch(name, bias):
            return (ow.block(1, ow.node('Add', ['x', f'{name}b'], [name])) + ow.block(2, name) + ow.block(5, ow.tensor(f'{name}b', [3], bias)) +
                    ow.block(12, ow.value_info(name, ['N', 3])))
        nodes = [ow.node('ReduceSum', ['x'], ['sum'], attributes=ow.int_attribute('keepdims', 0)), ow.node('Greater', ['sum', 'zero'], ['is']),
                 ow.node('If', ['is'], ['y'], 'if', ow.graph_attribute('then_branch', branch('t', [1, 2, 3])) +
                         ow.graph_attribute('else_branch', branch('e', [4, 5, 6])))]
        path = self.write('if.onnx', ow.model(nodes, [ow.value_info('x', ['N', 3])], [ow.value_info('y', ['N', 3])], [ow.tensor('zero', [], [0])]))
        answer = self.succeeds('inspect', path, '--dim', 'N=4')
        self.assertIn('in bodies', answer.out)
        report = self.succeeds('inspect', path, '--json', '--dim', 'N=4').json()
        self.assertEqual({name: (op['nodes'], op['in_bodies']) for name, op in report['operators'].items()},
                         {'ReduceSum': (1, 0), 'Greater': (1, 0), 'If': (1, 0), 'Add': (0, 2)})
        self.assertEqual(report['constant_bytes'], 4 + 2 * 12)

    def test_stages(self):
        imported = self.succeeds('inspect', self.model, '--after', 'import').out
        self.assertIn('input %x: float32[N, 3]', imported)
        self.assertIn('const %w: float32[3] = {1.0, 2.0, 3.0}', imported)
        self.assertIn('= Add(%x, %w) @"add"', imported)
        digest = self.succeeds('inspect', self.model, '--after', 'import', '--elements', '2').out
        self.assertIn('...3 elements, fnv1a ', digest)
        planned = self.succeeds('inspect', self.model, '--after', 'layout', '--dim', 'N=5').out
        self.assertIn('float32[5, 3]', planned)
        passes = [line.split()[0] for line in self.succeeds('inspect', '--passes').out.splitlines()[1:]]
        self.assertIn('layout', passes)
        for name in passes:
            self.assertTrue(self.succeeds('inspect', self.model, '--after', name).out.startswith('graph "g"'))
        self.succeeds('inspect', self.model, '--after', 'plan:fold')
        self.fails('inspect', self.model, '--after', 'nothing', says=['nothing', 'layout'])
        self.fails('inspect', self.model, '--after', 'load:layout', says='load:layout')
        plan = self.succeeds('inspect', self.model, '--plan').out
        self.assertIn('step 0', plan)


class Zoo(CliTest):
    def test_bert_tiny(self):
        model = self.path('tiny.onnx')
        made = self.succeeds('zoo', 'bert-tiny', model, '--seed', '3', '--json').json()
        self.assertEqual(made['bytes'], os.path.getsize(model))
        report = self.succeeds('inspect', model, '--json', '--dim', 'S=6').json()
        self.assertEqual([i['name'] for i in report['inputs']], ['input_ids', 'attention_mask', 'token_type_ids'])
        self.assertEqual(report['inputs'][0]['shape'], ['N', 'S'])
        self.assertEqual(report['parameters'], made['parameters'])
        self.assertEqual(made['parameters'], 4385920)  # as published
        self.succeeds('run', model, '--dim', 'S=6', '--dim', 'N=2', '--output-dir', self.path('out'))
        shape, values = ow.read_npy(self.read('out/last_hidden_state.npy'))
        self.assertEqual(shape, (2, 6, 128))
        self.assertTrue(all(abs(v) < 50 for v in values))
        self.assertGreater(max(values) - min(values), 1)
        self.assertEqual(ow.read_npy(self.read('out/pooler_output.npy'))[0], (2, 128))
        self.fails('run', model, '--dim', 'S=513', says='S')

    def test_seed_decides(self):
        same = [self.path('a.onnx'), self.path('b.onnx')]
        for path in same:
            self.succeeds('zoo', 'bert-tiny', path, '--seed', '1')
        self.assertEqual(self.read('a.onnx'), self.read('b.onnx'))
        self.succeeds('zoo', 'bert-tiny', same[1], '--seed', '2')
        self.assertNotEqual(self.read('a.onnx'), self.read('b.onnx'))

    def test_resnet18(self):
        model = self.path('r.onnx')
        self.succeeds('zoo', 'resnet18', model)
        report = self.succeeds('inspect', model, '--json').json()
        self.assertEqual(report['operators']['Conv']['nodes'], 20)
        self.assertEqual(report['operators']['BatchNormalization']['nodes'], 20)
        self.assertAlmostEqual(report['flops'] / 3.64e9, 1, places=1)  # 1.82 G multiply-adds, and the rest
        learned = report['parameters'] - 2 * 4800  # running means and variances of 4,800 channels
        self.assertEqual(learned, 11689512)  # torchvision's count

    def test_errors(self):
        self.fails('zoo', 'resnet999', self.path('x.onnx'), says=['resnet999', 'resnet50', 'bert-tiny'])
        self.fails('zoo', 'bert-tiny', self.path('none/x.onnx'), says='none/x.onnx')
        self.fails('zoo', 'bert-tiny', self.folder.name, says=self.folder.name)
        self.assertFalse(os.path.exists(self.path('x.onnx')))


if __name__ == '__main__':
    program.main(__doc__)
