"""Tests of the svengine program from outside: cli_test.py [EMULATOR...] PROGRAM

Standard library only. Models are made here or by `svengine zoo`. Under an emulator everything is the same, but slower.
"""
import json
import os
import random
import stat
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile

import onnx_writer as ow

PROGRAM = []  # set in main
COMMANDS = ['info', 'inspect', 'run', 'test', 'bench', 'classify', 'predict', 'zoo']
BENCH_KEYS = ['load_ms', 'optimise_ms', 'first_ms', 'min_ms', 'median_ms', 'p90_ms', 'p99_ms', 'max_ms', 'throughput_per_s', 'peak_rss_mib']


class Answer:
    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    def json(self):
        return json.loads(self.out)

    def __str__(self):
        return 'exit code %s\n--- stdout\n%s\n--- stderr\n%s' % (self.code, self.out, self.err)


def svengine(*arguments, **options):
    done = subprocess.run(PROGRAM + [str(a) for a in arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600,
                          stdin=subprocess.DEVNULL, **options)
    return Answer(done)


class CliTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix='svengine_cli_')
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, data):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'wb') as f:
            f.write(data)
        return path

    def read(self, name):
        with open(self.path(name), 'rb') as f:
            return f.read()

    def succeeds(self, *arguments, **options):
        answer = svengine(*arguments, **options)
        self.assertEqual(answer.code, 0, answer)
        return answer

    def fails(self, *arguments, code=2, says=(), **options):
        """An error is one message on standard error, and nothing on standard output."""
        answer = svengine(*arguments, **options)
        self.assertEqual(answer.code, code, answer)
        self.assertTrue(answer.err.startswith('svengine: '), answer)
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, answer.err, answer)
        if code == 2:
            self.assertEqual(answer.out, '', answer)
        for character in answer.err:
            self.assertTrue(character == '\n' or ord(character) >= 32, answer)
        return answer


class Usage(CliTest):
    def test_help(self):
        top = self.succeeds('--help').out
        for command in COMMANDS:
            self.assertIn(command, top)
            text = self.succeeds(command, '--help').out
            self.assertIn('Examples:', text)
            self.assertIn('svengine ' + command, text)
        self.assertRegex(self.succeeds('--version').out, r'^svengine \d+\.\d+\.\d+\n$')

    def test_wrong_usage(self):
        self.fails(says='--help')
        self.fails('--nonsense', says='svengine --help')
        self.fails('nonsense')
        for command in COMMANDS:
            self.fails(command, 'm.onnx', '--nonsense', says="svengine %s --help" % command)
        for command in ['run', 'test', 'bench', 'classify', 'predict', 'zoo']:
            self.fails(command)
        self.fails('inspect', says='MODEL')

    def test_wrong_values(self):
        for threads in ['0', '-1', '1000000000', '99999999999999999999', 'two', '']:
            self.fails('info', '--threads', threads, says='--threads')
        for topology in ['0x1', '4x', 'x12', '4x12x1', '-1x2', '100000x100000', '4*12']:
            self.fails('info', '--topology', topology, says='4x12')
        self.fails('info', '--threads', '2', '--topology', '1x2', says='--topology')
        self.fails('info', '--kernels', 'avx1024', says=['avx1024', 'has:'])
        for option, value in [('--iterations', '0'), ('--iterations', '-3'), ('--warmup', '-1'), ('--duration', '-1'), ('--duration', 'x'),
                              ('--top', '0'), ('--seed', '-1'), ('--seed', '1.5')]:
            self.fails('bench', 'm.onnx', option, value, says=option)
        self.fails('test', 'm.onnx', '--rtol', '-1', says='--rtol')
        self.fails('bench', 'm.onnx', '--iterations', '3', '--duration', '1', says='--duration')

    def test_closed_and_full_output(self):
        for command in (['info'], ['--help'], ['inspect', '--passes']):
            process = subprocess.Popen(PROGRAM + command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            process.stdout.close()
            error = process.stderr.read()
            process.stderr.close()
            self.assertEqual(process.wait(), 0, error)
            self.assertEqual(error, b'')
        model = self.write('add.onnx', ow.add_model())
        # With standard output closed, the first file opened would get its number and its text.
        shell = 'exec "$@" >&-'
        done = subprocess.run(['sh', '-c', shell, 'sh'] + PROGRAM + ['run', model, '--output-dir', self.path('out')], stderr=subprocess.PIPE, timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(ow.read_npy(self.read('out/y.npy'))[0], (1, 3))
        if os.path.exists('/dev/full'):
            with open('/dev/full', 'w') as full:
                done = subprocess.run(PROGRAM + ['info'], stdout=full, stderr=subprocess.PIPE, text=True, timeout=600)
            self.assertEqual(done.returncode, 2)
            self.assertIn('svengine: standard output: No space left', done.stderr)


class Info(CliTest):
    def test_info(self):
        text = self.succeeds('info').out
        for word in ['version', 'processor', 'kernel set', 'vector length', 'threads', 'topology', 'huge pages', 'denormals']:
            self.assertIn(word, text)
        facts = self.succeeds('info', '--json', '--topology', '4x12').json()
        self.assertEqual(facts['threads'], 48)
        self.assertIn('4 groups', facts['topology'])
        self.assertIn(facts['kernel_set'], facts['kernel_sets'])
        self.assertTrue(facts['flush_denormals'])
        self.assertFalse(self.succeeds('info', '--json', '--no-flush-denormals').json()['flush_denormals'])
        for name in facts['kernel_sets'].split(', '):
            self.assertEqual(self.succeeds('info', '--json', '--kernels', name).json()['kernel_set'], name)
        self.assertEqual(self.succeeds('info', '--json', '--threads', 3).json()['threads'], 3)


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
        self.fails('inspect', path, says=['unknown.onnx', 'Frobnicate', 'first', 'second', 'Wobble', 'third'])

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


class Run(CliTest):
    def setUp(self):
        super().setUp()
        self.model = self.write('add.onnx', ow.add_model())
        self.two = self.write('two.onnx', ow.two_input_model())

    def outputs(self, *arguments):
        self.succeeds('run', *arguments, '--output-dir', self.path('out'))
        return {n: ow.read_npy(self.read('out/' + n)) for n in sorted(os.listdir(self.path('out')))}

    def test_npy(self):
        x = self.write('x.npy', ow.npy([2, 3], [0, 1, 2, -1, 0.5, float('inf')]))
        want = {'y.npy': ((2, 3), [1, 3, 5, 0, 2.5, float('inf')])}
        self.assertEqual(self.outputs(self.model, '--input', 'x=' + x), want)
        self.assertEqual(self.outputs(self.model, '--input', x), want)
        twice = self.outputs(self.model, '--input', x, '--input', x)
        self.assertEqual(twice['y.npy'][0], (4, 3))
        self.assertEqual(twice['y.npy'][1], want['y.npy'][1] * 2)

    def test_npz_and_pb(self):
        archive = self.path('in.npz')
        with zipfile.ZipFile(archive, 'w', zipfile.ZIP_DEFLATED) as z:
            z.writestr('b.npy', ow.npy([1, 2], [10, 20]))
            z.writestr('ids.npy', ow.npy([1], [3], '<i8'))
        want = {'y.npy': ((1, 2), [6, 7]), 'z.npy': ((1, 2), [16, 27])}
        self.assertEqual(self.outputs(self.two, '--input', archive), want)
        ids = self.write('ids.pb', ow.tensor('', [1], [3], ow.INT64))
        self.assertEqual(self.outputs(self.two, '--input', 'ids=' + ids, '--input', 'b=' + archive), want)

    def test_initializer_with_an_input(self):
        inputs = [ow.value_info('x', ['N', 3]), ow.value_info('w', [3])]
        model = self.write('both.onnx', ow.model([ow.node('Add', ['x', 'w'], ['y'], 'add')], inputs, [ow.value_info('y', ['N', 3])],
                                                 [ow.tensor('w', [3], [1, 2, 3])]))
        x = self.write('x.npy', ow.npy([1, 3], [0, 0, 0]))
        w = self.write('w.npy', ow.npy([3], [7, 8, 9]))
        self.assertEqual(self.outputs(model, '--input', 'x=' + x)['y.npy'][1], [1, 2, 3])
        self.assertEqual(self.outputs(model, '--input', 'x=' + x, '--input', 'w=' + w)['y.npy'][1], [7, 8, 9])

    def test_random_inputs(self):
        first = self.succeeds('run', self.two, '--dim', 'N=64', '--json', '--seed', '5', '--output-dir', self.path('a'))
        self.assertEqual(first.json()['seed'], 5)
        self.assertEqual(first.json()['random_inputs'], ['ids', 'b'])
        again = self.succeeds('run', self.two, '--dim', 'N=64', '--json', '--seed', '5', '--output-dir', self.path('b'))
        self.assertEqual(self.read('a/z.npy'), self.read('b/z.npy'))
        self.succeeds('run', self.two, '--dim', 'N=64', '--seed', '6', '--output-dir', self.path('c'))
        self.assertNotEqual(self.read('a/z.npy'), self.read('c/z.npy'))
        rows = ow.read_npy(self.read('a/y.npy'))[1][::2]
        self.assertEqual(set(rows), {0, 2, 4, 6})  # every row of the table, and nothing else
        self.assertIn('random inputs with seed 1: x', self.succeeds('run', self.model).err)
        self.assertEqual(len(again.json()['outputs']), 2)

    def test_nan_passes_through(self):
        x = self.write('x.npy', ow.npy([1, 3], [float('nan'), float('inf'), float('-inf')]))
        report = self.succeeds('run', self.model, '--input', x, '--json').json()['outputs'][0]
        self.assertEqual((report['nan'], report['infinite']), (1, 2))

    def test_top(self):
        x = self.write('x.npy', ow.npy([1, 3], [9, 0, 0]))
        labels = self.write('labels.txt', b'cat\r\ndog\nbird\n')
        top = self.succeeds('run', self.model, '--input', x, '--top', '2', '--labels', labels, '--json').json()['outputs'][0]['top'][0]
        self.assertEqual([t['label'] for t in top], ['cat', 'bird'])
        self.assertEqual(top[0]['score'], 10)
        self.assertIn('cat', self.succeeds('run', self.model, '--input', x, '--labels', labels).out)
        self.fails('run', self.model, '--labels', self.path('none.txt'), says='none.txt')

        flat = self.write('flat.onnx', ow.model([ow.node('Reshape', ['x', 's'], ['y'], 'r')], [ow.value_info('x', [1, 3])],
                                                [ow.value_info('y', [1, 3, 1, 1])], [ow.tensor('s', [4], [1, 3, 1, 1], ow.INT64)]))
        best = self.succeeds('run', flat, '--input', x, '--top', '1', '--json').json()['outputs'][0]['top']
        self.assertEqual([[t['index'] for t in row] for row in best], [[0]])

    def test_shapes(self):
        shape = lambda *a: self.succeeds('run', self.model, '--json', *a).json()['outputs'][0]['shape']
        self.assertEqual(shape(), [1, 3])
        self.assertEqual(shape('--dim', 'N=8'), [8, 3])
        self.assertEqual(shape('--shape', 'x:2x3'), [2, 3])
        self.assertEqual(shape('--shape', 'x:[4,3]'), [4, 3])
        self.assertEqual(shape('--dim', 'N=0'), [0, 3])

    def test_wrong_inputs(self):
        x = self.write('x.npy', ow.npy([1, 3], [1, 2, 3]))
        integers = self.write('i.npy', ow.npy([1, 3], [1, 2, 3], '<i8'))
        flat = self.write('flat.npy', ow.npy([3], [1, 2, 3]))
        wide = self.write('wide.npy', ow.npy([1, 4], [1, 2, 3, 4]))
        cut = self.write('cut.npy', ow.npy([1, 3], [1, 2]))
        fails = lambda *a, says: self.fails('run', self.model, *a, says=says)
        fails('--input', 'q=' + x, says=['q=', "'x' float32[Nx3]"])
        fails('--input', 'x=' + integers, says=["'x'", 'float32[Nx3]', 'int64[1x3]'])
        fails('--input', 'x=' + flat, says=["'x'", 'rank 1'])
        fails('--input', 'x=' + wide, says=["'x'", 'dimension 1 is 4, not 3'])
        fails('--input', 'x=' + cut, says=['cut.npy'])
        fails('--input', 'x=' + self.path('none.npy'), says=['none.npy', 'No such file'])
        fails('--input', 'x=' + self.folder.name, says=self.folder.name)
        fails('--input', 'x=' + self.write('x.bin', b'123'), says=['x.bin', '.npy'])
        fails('--input', 'x=' + self.write('bad.npz', b'PK' + bytes(50)), says='bad.npz')
        fails('--input', 'x=' + self.write('bad.png', b'\x89PNG' + bytes(50)), says="'x'")
        fails('--shape', 'q:1x3', says='q:1x3')
        fails('--shape', 'x:1xx3', says='1xx3')
        fails('--shape', 'x:1x-3', says='1x-3')
        fails('--shape', 'x:1x4', says='float32[Nx3]')
        fails('--shape', 'x:3', says='float32[Nx3]')
        fails('--shape', 'x:99999999999999999x3', says='2^48')
        fails('--dim', 'M=1', says=["'M'", "'N'"])
        fails('--dim', 'N', says='N=8')
        fails('--dim', 'N=-1', says='N=8')
        fails('--dim', 'N=1000000000000', says="'x'")
        self.write('ids.npy', ow.npy([2], [0, 1], '<i8'))
        self.write('b.npy', ow.npy([3, 2], range(6)))
        self.fails('run', self.two, '--input', 'ids=' + self.path('ids.npy'), '--input', 'b=' + self.path('b.npy'), says=['N', '2', '3'])
        self.fails('run', self.two, '--input', self.path('ids.npy'), says='NAME=FILE')
        self.write('far.npy', ow.npy([1], [4], '<i8'))
        self.fails('run', self.two, '--input', 'ids=' + self.path('far.npy'), says=['look', 'Gather'])

    def test_threads_and_denormals(self):
        tiny = self.write('tiny.npy', ow.npy([1, 3], [1e-40, 0, 0]))
        copy = self.write('mul.onnx', ow.model([ow.node('Mul', ['x', 'w'], ['y'], 'mul')], [ow.value_info('x', [1, 3])], [ow.value_info('y', [1, 3])],
                                               [ow.tensor('w', [3], [1.5, 1.5, 1.5])]))
        self.assertEqual(self.outputs(copy, '--input', tiny)['y.npy'][1][0], 0)
        self.assertGreater(self.outputs(copy, '--input', tiny, '--no-flush-denormals')['y.npy'][1][0], 0)
        outputs = set()
        for machine in (['--threads', '1'], ['--threads', '3'], ['--topology', '2x2']):
            self.outputs(self.two, '--dim', 'N=33', *machine)
            outputs.add(self.read('out/z.npy'))
        self.assertEqual(len(outputs), 1)

    def test_output_folder(self):
        blocked = self.write('file', b'')
        self.fails('run', self.model, '--output-dir', blocked + '/below', says='--output-dir')
        if os.geteuid() != 0:
            os.mkdir(self.path('locked'))
            os.chmod(self.path('locked'), stat.S_IRUSR | stat.S_IXUSR)
            self.fails('run', self.model, '--output-dir', self.path('locked'), says='locked')


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
    PROGRAM[:] = sys.argv[1:]
    os.environ.setdefault('OMP_NUM_THREADS', '1')  # other tests may run beside this one
    if not PROGRAM:
        sys.exit(__doc__)
    unittest.main(argv=[sys.argv[0], '-v'] if os.environ.get('CLI_TEST_VERBOSE') else sys.argv[:1])
