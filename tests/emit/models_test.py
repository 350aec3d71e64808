"""Whole models as C: models_test.py --svengine PROGRAM --programs FOLDER --cc CC [--emulator LIST]"""
import json
import os
import random
import re
import struct
import subprocess
import sys
import unittest

import compiler
from compiler import HERE, WARNINGS, EmitTest, compile_c, emulated, run

sys.path.insert(0, os.path.join(HERE, '..', 'cli'))
import onnx_writer as ow
from onnx_writer import FLOAT, INT64, int_attribute, node, tensor, value_info

BUNDLED = os.path.join(HERE, '..', '..', 'models', 'fashion_mnist_resnet.onnx')
# Reads inputs from a file, calls the function, writes outputs.
CALLER = '''#include "%(name)s.h"
#include <stdio.h>
%(arrays)s
int main(int argc, char **argv) {
  FILE *in = fopen(argv[1], "rb"), *out = fopen(argv[2], "wb");
  int code;
  if (argc != 3 || !in || !out) return 99;
%(reads)s  code = %(name)s_run(%(arguments)s);
%(writes)s  return fclose(out) ? 98 : code;
}
'''
TYPES = {'f': 'float', 'q': 'int64_t', 'B': 'uint8_t'}


def floats(count, seed):
    draw = random.Random(seed)
    return [draw.uniform(-1, 1) for _ in range(count)]


class Models(EmitTest):
    def write(self, name, data):
        with open(self.path(name), 'wb') as file:
            file.write(data)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), encoding='ascii') as file:
            return file.read()

    def emit(self, model, *arguments):
        return json.loads(emulated(compiler.options.svengine, 'emit', model, '-o', self.folder, '--json', *arguments).stdout)

    def refused(self, model, *arguments):
        return emulated(compiler.options.svengine, 'emit', model, '-o', self.folder, *arguments, code=2).stderr

    def call(self, name, inputs, outputs, code=0):
        """inputs: (parameter, type, values); outputs: (parameter, type, count). Gives the values of the outputs."""
        ports = [(p, t, len(v)) for p, t, v in inputs] + list(outputs)
        arrays = ''.join('static %s v_%s[%d];\n' % (TYPES[t], p, max(n, 1)) for p, t, n in ports)
        reads = ''.join('  if (fread(v_%s, sizeof(*v_%s), %d, in) != %d) return 97;\n' % (p, p, n, n) for p, t, n in ports[:len(inputs)])
        writes = ''.join('  fwrite(v_%s, sizeof(*v_%s), %d, out);\n' % (p, p, n) for p, t, n in outputs)
        source = CALLER % {'name': name, 'arrays': arrays, 'reads': reads, 'writes': writes, 'arguments': ', '.join('v_' + p for p, _, _ in ports)}
        self.write('caller.c', source.encode())
        self.write('in.bin', b''.join(struct.pack('<%d%s' % (len(v), t), *v) for _, t, v in inputs))
        compile_c('-O3', '-I', self.folder, self.path('caller.c'), self.path(name + '.c'), '-lm', '-o', self.path('caller'))
        emulated(self.path('caller'), self.path('in.bin'), self.path('out.bin'), code=code)
        with open(self.path('out.bin'), 'rb') as file:
            return [list(struct.unpack('<%d%s' % (n, t), file.read(n * struct.calcsize(t)))) for _, t, n in outputs]

    def close(self, got, expected, tolerance=1e-5):
        self.assertEqual(len(got), len(expected))
        for a, b in zip(got, expected):
            self.assertLessEqual(abs(a - b), tolerance * (1 + abs(b)))

    def engine(self, model, name, values, dims, output, *arguments):
        self.write('x.npy', ow.npy(dims, values))
        emulated(compiler.options.svengine, 'run', model, '--input', '%s=%s' % (name, self.path('x.npy')), '--output-dir', self.path('out'), '--threads', '1',
                 *arguments)
        with open(self.path('out/%s.npy' % output), 'rb') as file:
            return ow.read_npy(file.read())[1]

    def test_bundled_network(self):
        report = self.emit(BUNDLED, '--name', 'net', '--dim', 'N=2')
        self.assertEqual([os.path.basename(f) for f in report['files']], ['net.h', 'net.c'])
        self.assertEqual(report['operators'], {'FusedConv': 11, 'GlobalAveragePool': 1, 'Flatten': 1, 'FusedMatMul': 1})
        self.assertEqual(report['source_bytes'], os.path.getsize(self.path('net.c')))
        self.assertGreater(report['multiply_adds'], 2 * 10**7)
        self.assertIn('#define NET_WORKSPACE_BYTES %d\n' % report['workspace_bytes'], self.read('net.h'))
        pixels = floats(2 * 784, 1)
        got, = self.call('net', [('image', 'f', pixels)], [('logits', 'f', 20)])
        self.close(got, self.engine(BUNDLED, 'image', pixels, [2, 1, 28, 28], 'logits'), 1e-4)
        subprocess.run([compiler.options.cc, '-x', 'c++', '-Wall', '-Wextra', '-Wpedantic', '-Werror', '-fsyntax-only', self.path('net.h')], check=True)

    def mlp(self):
        layers, last = [], 'x'
        weights = [tensor('w', [6, 6], floats(36, 2)), tensor('b', [6], floats(6, 3))]
        for i, op in enumerate(('Tanh', 'Relu', 'Sigmoid')):  # all with the same weights
            layers += [node('MatMul', [last, 'w'], ['m%d' % i]), node('Add', ['m%d' % i, 'b'], ['a%d' % i]), node(op, ['a%d' % i], ['h%d' % i])]
            last = 'h%d' % i
        return ow.model(layers + [node('Softmax', [last], ['y'])], [value_info('x', ['N', 6])], [value_info('y', ['N', 6])], weights)

    def test_mlp(self):
        model = self.write('mlp.onnx', self.mlp())
        for rows in (1, 3):
            self.emit(model, '--dim', 'N=%d' % rows)
            x = floats(6 * rows, 4)
            got, = self.call('mlp', [('x', 'f', x)], [('y', 'f', 6 * rows)])
            self.close(got, self.engine(model, 'x', x, [rows, 6], 'y'))
        self.assertEqual(self.read('mlp.c').count('static const float'), 2)  # the weights, which three nodes share, and the bias

    def test_names_and_places(self):
        """Inputs that nobody reads, outputs that are inputs, constants or views, and names that C does not take."""
        nodes = [node('Add', ['int', 'a b'], ['1*/y']), node('Reshape', ['1*/y', 'shape'], ['view']), node('Identity', ['int'], ['same']),
                 node('Split', ['view'], ['first', 'rest'], attributes=int_attribute('num_outputs', 2))]
        outputs = [value_info('1*/y', [2, 3]), value_info('view', [3, 2]), value_info('int', [1, 3]), value_info('weights', [2]),
                   value_info('rest', [1, 2])]
        model = self.write('odd name.onnx', ow.model(nodes, [value_info('int', [1, 3]), value_info('a b', [2, 1]), value_info('a_b', [0, 4]),
                                                             value_info('odd_name_run', [])], outputs,
                                                     [tensor('shape', [2], [3, 2], INT64), tensor('weights', [2], [0.5, -0.0])], opset=18))
        self.emit(model)
        header = self.read('odd_name.h')
        parameters = re.search(r'odd_name_run\(([^)]*)\);', header).group(1)
        names = [p.split('*')[1] for p in parameters.split(', ')]
        self.assertEqual(names, ['int_value', 'a_b', 'a_b_2', 'x_odd_name_run', 'x1_y', 'view', 'int_value_2', 'weights', 'rest'])
        got = self.call('odd_name', [('i', 'f', [1, 2, 3]), ('ab', 'f', [10, 20]), ('none', 'f', []), ('scalar', 'f', [7])],
                        [('y', 'f', 6), ('v', 'f', 6), ('s', 'f', 3), ('w', 'f', 2), ('r', 'f', 2)])
        sums = [11, 12, 13, 21, 22, 23]
        self.assertEqual(got, [sums, sums, [1, 2, 3], [0.5, -0.0], [22, 23]])

    def test_indices(self):
        model = self.write('look.onnx', ow.two_input_model())
        self.emit(model, '--dim', 'N=2')
        for ids, code in (([3, -4], 0), ([4, 0], 1), ([0, -5], 1)):
            got = self.call('look', [('ids', 'q', ids), ('b', 'f', [1, 1, 1, 1])], [('y', 'f', 4), ('z', 'f', 4)], code)
            if code == 0:
                self.assertEqual(got, [[6, 7, 0, 1], [7, 8, 1, 2]])

    def test_refusals(self):
        nodes = [node('NonZero', ['x'], ['n'], 'places'), node('Cast', ['n'], ['c'], 'cast', int_attribute('to', 16)), node('Det', ['x'], ['d'], 'det_1'),
                 node('Det', ['x'], ['e'], 'det_2')]
        model = self.write('bad.onnx', ow.model(nodes[2:], [value_info('x', [3, 3])], [value_info('d', []), value_info('e', [])]))
        self.assertRegex(self.refused(model), r"there is no C for: Det \(node 'det_1' and 1 more\)\n$")
        model = self.write('bad.onnx', ow.model([nodes[2], node('EyeLike', ['x'], ['i'], 'eye'), node('MaxPool', ['p'], ['q', 'r'], 'pool', ow.block(
            5, ow.block(1, 'kernel_shape') + ow.number(8, 2) + ow.number(20, 7))), node('Add', ['t', 't'], ['u'], 'half')],
            [value_info('x', [3, 3]), value_info('p', [1, 1, 4]), value_info('t', [2], 5)],
            [value_info('d', []), value_info('r', [1, 1, 3], INT64), value_info('u', [2], 5)]))
        answer = self.refused(model)
        for text in ("Add of int16 (node 'half')", "Det (node 'det_1')", "MaxPool with output Indices (node 'pool')"):
            self.assertIn(text, answer)
        model = self.write('bad.onnx', ow.model(nodes[:1], [value_info('x', [3, 3])], [value_info('n', [2, 'K'], INT64)]))
        self.assertIn("node 'places' (NonZero)", self.refused(model))
        self.assertEqual([f for f in os.listdir(self.folder) if f.endswith(('.c', '.h'))], [])

    def test_sizes(self):
        model = self.write('add.onnx', ow.add_model())
        self.assertIn('give --dim N=SIZE', self.refused(model))
        self.assertIn("no dimension 'M'", self.refused(model, '--dim', 'M=1'))
        self.assertIn('--name a-b', self.refused(model, '--dim', 'N=1', '--name', 'a-b'))
        self.assertIn('math_network is one', self.refused(model, '--dim', 'N=1', '--name', 'math'))  # whose header C's would be
        self.emit(model, '--dim', 'N=0')
        self.assertEqual(self.call('add', [('x', 'f', [])], [('y', 'f', 0)]), [[]])
        self.emit(model, '--shape', 'x:2x3')
        self.assertEqual(self.call('add', [('x', 'f', [1] * 6)], [('y', 'f', 6)]), [[2, 3, 4, 2, 3, 4]])
        unknown = self.write('any.onnx', ow.model([node('Neg', ['x'], ['y'])], [ow.value_info('x', [2, ''])], [value_info('y', [2, ''])]))
        self.assertIn('--shape x:SHAPE', self.refused(unknown))

    def test_threads(self):
        self.emit(BUNDLED, '--name', 'net', '--dim', 'N=1')
        program = self.path('threads')
        runs = 3 if compiler.options.emulator else 20
        run(compiler.options.cc, *WARNINGS, '-D_POSIX_C_SOURCE=200809L', '-DRUNS=%d' % runs, '-O3', '-I', self.folder, os.path.join(HERE, 'two_threads.c'),
            self.path('net.c'), '-lm', '-pthread', '-o', program)
        self.assertEqual(emulated(program).stdout, 'the same\n')

    @unittest.skipIf(any(re.match('--emulator=.', a) for a in sys.argv), 'the compiler is not emulated')
    def test_library(self):
        model = self.write('add.onnx', ow.add_model())
        files = self.emit(model, '--dim', 'N=2', '--compile', '--cc', compiler.options.cc + ' -g0')['files']
        self.assertEqual(os.path.basename(files[2]), 'libadd.a')
        symbols = run('nm', '-g', '--defined-only', files[2]).stdout.split()
        self.assertEqual(sorted(s for s in symbols if s.startswith('add_')), ['add_run', 'add_run_in'])
        for cc, text in (('false', 'false failed'), ('no-such-compiler', '--cc names the C compiler'), (' ', '--cc is empty')):
            self.assertIn(text, self.refused(model, '--dim', 'N=2', '--compile', '--cc', cc))
        self.assertEqual(sorted(f for f in os.listdir(self.folder) if f.startswith(('add', 'lib'))), ['add.c', 'add.h', 'add.onnx', 'libadd.a'])
        self.assertIn('no-such-folder', emulated(compiler.options.svengine, 'emit', model, '--dim', 'N=2', '-o', '/no-such-folder', code=2).stderr)


compiler.main()
