"""Tests of `svengine run`, from outside: run_test.py [EMULATOR...] PROGRAM"""
import os
import stat
import zipfile

import onnx_writer as ow
import program
from program import CliTest


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

    def test_nodes_that_draw(self):
        """Numbers of their own for each node and seed, the same with either's; others each time without a seed."""
        nodes = [ow.node('RandomNormalLike', ['x'], ['y'], 'first'), ow.node('RandomNormalLike', ['x'], ['z'], 'second')]
        shape = [4, 4]
        model = self.write('draw.onnx', ow.model(nodes, [ow.value_info('x', shape)], [ow.value_info(v, shape) for v in 'yz']))
        seeded = [self.outputs(model, '--seed', seed) for seed in ('7', '7', '8')]
        self.assertEqual(seeded[0], seeded[1])
        for name in seeded[0]:
            self.assertNotEqual(seeded[0][name], seeded[2][name])
        self.assertNotEqual(seeded[0]['y.npy'], seeded[0]['z.npy'])
        self.assertEqual(self.outputs(model, '--seed', '7', '--no-optimize', '--threads', '1'), seeded[0])
        self.assertNotEqual(self.outputs(model), self.outputs(model))

    def test_random_halves(self):
        to_float = ow.block(5, ow.block(1, 'to') + ow.number(3, 1) + ow.number(20, 2))
        for kind in (10, 16):  # float16 and bfloat16
            infos = [ow.value_info('x', [64], kind)], [ow.value_info('y', [64], 1)]
            model = self.write('half.onnx', ow.model([ow.node('Cast', ['x'], ['y'], 'cast', to_float)], *infos))
            values = self.outputs(model)['y.npy'][1]
            self.assertGreater(len(set(values)), 30)
            self.assertTrue(all(-0.5 <= v <= 0.5 for v in values))

    def test_nan_passes_through(self):
        x = self.write('x.npy', ow.npy([1, 3], [float('nan'), float('inf'), float('-inf')]))
        report = self.succeeds('run', self.model, '--input', x, '--json').json()['outputs'][0]
        self.assertEqual((report['nan'], report['infinite']), (1, 2))

    def test_products_by_openblas(self):
        """Of small integers, which every order of sums gives exactly. A program that was built without it says what to install."""
        model = self.write('product.onnx', ow.model([ow.node('MatMul', ['x', 'w'], ['y'], 'product')], [ow.value_info('x', ['N', 3])],
                                                    [ow.value_info('y', ['N', 2])], [ow.tensor('w', [3, 2], [1, 2, 3, 4, 5, 6])]))
        x = self.write('x.npy', ow.npy([2, 3], [1, 0, 2, -1, 3, 1]))
        info = self.succeeds('info', '--json').json()
        if not info['openblas'].startswith('OpenBLAS 0'):
            self.fails('run', model, '--gemm', 'openblas', says=['libopenblas'])
            return
        for options in (['--gemm', 'openblas'], ['--kernels', info['kernel_set'] + '+openblas'], ['--kernels', 'openblas', '--no-optimize']):
            self.assertEqual(self.outputs(model, '--input', x, *options)['y.npy'][1], [11, 14, 13, 16])
        self.assertIn('+openblas', self.succeeds('bench', model, '--gemm', 'openblas', '--duration', '0.01', '--json').json()['kernels'])
        self.fails('run', model, '--gemm', 'mkl', says=['svengine,openblas'])

    def test_reference_kernels(self):
        # 2^30 + 1 - 2^30 is 1 in double; single precision loses the 1.
        model = self.write('dot.onnx', ow.model([ow.node('MatMul', ['x', 'w'], ['y'], 'dot')], [ow.value_info('x', [1, 3])],
                                                [ow.value_info('y', [1, 1])], [ow.tensor('w', [3, 1], [1, 1, 1])]))
        x = self.write('x.npy', ow.npy([1, 3], [2**30, 1, -2**30]))
        self.assertEqual(self.outputs(model, '--input', x)['y.npy'][1], [0])
        self.assertEqual(self.outputs(model, '--input', x, '--kernels', 'reference', '--threads', '2')['y.npy'][1], [1])

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
        self.outputs(self.two, '--dim', 'N=33', '--no-optimize')
        self.assertIn(self.read('out/z.npy'), outputs)  # sums of two numbers: nothing to round in another way

    def test_output_folder(self):
        blocked = self.write('file', b'')
        self.fails('run', self.model, '--output-dir', blocked + '/below', says='--output-dir')
        if os.geteuid() != 0:
            os.mkdir(self.path('locked'))
            os.chmod(self.path('locked'), stat.S_IRUSR | stat.S_IXUSR)
            self.fails('run', self.model, '--output-dir', self.path('locked'), says='locked')


if __name__ == '__main__':
    program.main(__doc__)
