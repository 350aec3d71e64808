"""Operators from shared libraries: svengine --plugin. The plug-ins are compiled here, by the C compiler that CC names, with SVEngine's headers alone."""
import os
import subprocess

import onnx_writer
from program import CliTest, main

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../..')
COMPILER = os.environ.get('CC', 'cc')
HEADER = '#include <svengine/operators.h>\n'
OPERATOR = '''static const char* nothing(const svengine_call* call, int64_t begin, int64_t end) { return (void)call, (void)begin, (void)end, NULL; }
static const svengine_operator all[] = {{.size = %s, .domain = "%s", .name = "%s", .min_inputs = 1, .max_inputs = 1, .min_outputs = 1,
                                         .max_outputs = 1, .compute = nothing}};
'''


class PluginTest(CliTest):
    def compiled(self, name, source):
        out = self.path(name)
        subprocess.run([COMPILER, '-std=c11', '-Wall', '-Wextra', '-Werror', '-I' + os.path.join(ROOT, 'engine/include'), '-shared', '-fPIC', '-O2',
                        '-o', out, source], check=True)
        return out

    def library(self, name, text):
        return self.compiled(name, self.write(name + '.c', (HEADER + text).encode()))

    def setUp(self):
        super().setUp()
        self.plugin = self.compiled('periodic.so', os.path.join(ROOT, 'examples/06_plugin/periodic_difference.c'))
        self.model = self.write('m.onnx', onnx_writer.plugin_model())

    def test_without_it_the_operator_is_not_known(self):
        self.fails('run', self.model, says=['PeriodicDifference of example.fields'])

    def test_commands_find_its_operators(self):
        x = self.write('x.npy', onnx_writer.npy([2, 6], [0, 1, 4, 9, 16, 25, 1, 1, 1, 1, 1, 1]))
        for threads in (1, 2):
            out = self.path('out%d' % threads)
            self.succeeds('run', self.model, '--plugin', self.plugin, '--input', 'x=' + x, '--output-dir', out, '--threads', threads)
            expected = onnx_writer.npy([2, 6], [-24, 4, 8, 12, 16, -16, 0, 0, 0, 0, 0, 0])
            self.assertEqual(self.read('out%d/y.npy' % threads)[-48:], expected[-48:])
        self.succeeds('run', self.model, '--plugin', self.plugin, '--kernels', 'reference', '--input', 'x=' + x)
        self.assertIn('PeriodicDifference', self.succeeds('inspect', self.model, '--plugin', self.plugin).out)
        self.succeeds('check', self.model, '--plugin', self.plugin)
        self.succeeds('bench', self.model, '--plugin', self.plugin, '--duration', '0.01')
        self.succeeds('diff', self.model, self.model, '--plugin', self.plugin)
        self.succeeds('convert', self.model, self.path('again.onnx'), '--plugin', self.plugin)
        self.assertEqual(self.read('again.onnx').count(b'\x0a\x0eexample.fields\x10\x01'), 1)  # the domain's opset is 1
        self.succeeds('convert', self.model, self.path('older.onnx'), '--opset', '14', '--plugin', self.plugin)
        self.assertEqual(self.read('older.onnx').count(b'\x0a\x0eexample.fields\x10\x01'), 1)
        self.succeeds('run', self.path('again.onnx'), '--plugin', self.plugin, '--input', 'x=' + x)

    def test_training_goes_through_it(self):
        """y = PeriodicDifference(x w), which is linear in w: from targets of a known w the loss falls to nothing."""
        nodes = [onnx_writer.node('MatMul', ['x', 'w'], ['h']),
                 onnx_writer.node('PeriodicDifference', ['h'], ['y'], '', onnx_writer.float_attribute('spacing', 0.5), 'example.fields')]
        model = self.write('t.onnx', onnx_writer.model(nodes, [onnx_writer.value_info('x', ['N', 2])], [onnx_writer.value_info('y', ['N', 6])],
                                                       [onnx_writer.tensor('w', [2, 6], [0.0] * 12)], domains=['example.fields']))
        self.succeeds('run', model, '--plugin', self.plugin)
        values = [((i * 7 + 3) % 11 - 5) / 5 for i in range(64)]
        w = [[0.5, -1, 2, 0, 1, 0.25], [1, 0, -0.5, 0.75, 0, 2]]
        rows = [[sum(values[2 * n + k] * w[k][i] for k in range(2)) for i in range(6)] for n in range(32)]
        targets = [row[(i + 1) % 6] - row[i - 1] for row in rows for i in range(6)]
        data = self.write('x.npy', onnx_writer.npy([32, 2], values)) + ',' + self.write('y.npy', onnx_writer.npy([32, 6], targets))
        answer = self.succeeds('train', model, '--plugin', self.plugin, '--data', data, '--loss', 'mse', '--optimizer', 'sgd', '--lr', '0.2',
                               '--epochs', '150', '--batch', '8', '--output', self.path('trained.onnx'), '--json')
        self.assertLess(answer.json()['epochs'][-1]['training']['loss'], 1e-4, answer)

    def test_what_is_no_plugin_is_refused(self):
        table = 'SVENGINE_PLUGIN(all)\n'
        good = OPERATOR % ('sizeof(svengine_operator)', 'd', 'Op')
        wrong = {
            'text.so': (self.write('text.so', b'no library'), 'text.so'),
            'missing.so': (self.path('missing.so'), 'missing.so'),
            'empty.so': (self.library('empty.so', 'int nothing_here;\n'), 'has no svengine_plugin_table'),
            'old.so': (self.library('old.so', good + 'SVENGINE_API const svengine_plugin svengine_plugin_table = {0, sizeof *all, 1, all};\n'),
                       'was built for version 0 of svengine/operators.h, and this is version 1'),
            'null.so': (self.library('null.so', 'SVENGINE_API const svengine_plugin svengine_plugin_table = {1, sizeof(svengine_operator), 1, NULL};\n'),
                        'which cannot be'),
            'size.so': (self.library('size.so', OPERATOR % ('8', 'd', 'Op') + table), 'says a size of 8 bytes'),
            'onnx.so': (self.library('onnx.so', OPERATOR % ('sizeof(svengine_operator)', 'ai.onnx', 'Op') + table), "the engine's own"),
            'taken.so': (self.library('taken.so', OPERATOR % ('sizeof(svengine_operator)', 'com.microsoft', 'Gelu') + table), 'known already'),
        }
        for name, (path, words) in wrong.items():
            with self.subTest(name):
                self.fails('run', self.model, '--plugin', path, says=[words])
        self.fails('run', self.model, '--plugin', self.plugin, '--plugin', self.library('twice.so', OPERATOR % (
            'sizeof(svengine_operator)', 'example.fields', 'PeriodicDifference') + table), says=['known already'])
        self.succeeds('run', self.model, '--plugin', self.plugin, '--plugin', self.plugin, '--plugin', self.library('good.so', good + table))

    def test_a_kernel_that_refuses_names_its_node(self):
        text = self.read('m.onnx').replace(b'\x00\x00\x00\x3f', b'\x00\x00\x00\xbf')  # spacing -0.5
        model = self.write('negative.onnx', text)
        self.fails('run', model, '--plugin', self.plugin, says=["'slope'", 'spacing must be above 0'])


if __name__ == '__main__':
    main('usage: plugin_test.py SVENGINE')
