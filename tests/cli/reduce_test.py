"""Tests of `svengine reduce` from outside: reduce_test.py PROGRAM"""
import os

import onnx_writer as ow
import program
from program import CliTest, svengine


def chain(depth=12, bad=None):
    """x -> Mul by w0 -> Tanh -> Mul by w1 -> ..."""
    nodes, weights, at = [], [], 'x'
    for i in range(depth):
        nodes += [ow.node('Mul', [at, 'w%d' % i], ['m%d' % i], 'mul%d' % i), ow.node('Tanh', ['m%d' % i], ['t%d' % i], 'tanh%d' % i)]
        weights.append(ow.tensor('w%d' % i, [3], [3 if i == bad else 1, 1, 1]))
        at = 't%d' % i
    return ow.model(nodes, [ow.value_info('x', ['N', 3])], [ow.value_info(at, ['N', 3])], weights)


class Reduce(CliTest):
    def setUp(self):
        super().setUp()
        self.good, self.bad = self.write('good.onnx', chain()), self.write('bad.onnx', chain(bad=7))
        os.environ['TMPDIR'] = self.path('')

    def reduce(self, *arguments):
        return svengine('reduce', self.bad, '--output', self.path('out'), '--dim', 'N=2', *arguments)

    def test_against_model(self):
        answer = self.reduce('--against', self.good)
        self.assertEqual(answer.code, 0, answer)
        self.assertRegex(answer.out, r'^\S+/out/reduced.onnx: 1 of 24 nodes \(Mul\), 1 inputs, 1 outputs\n\d+ checks in [\d.]+ s\n$')
        self.assertNotIn('\r', answer.err)
        self.assertEqual(sorted(os.listdir(self.path('out/test_data_set_0'))), ['input_0.pb', 'output_0.pb'])
        self.assertEqual(svengine('test', self.path('out/reduced.onnx')).code, 1)  # the data are the good model's
        again = self.reduce('--against', self.good)
        self.assertEqual(again.code, 2, again)
        self.assertIn('there already', again.err)
        self.assertEqual([n for n in os.listdir(self.folder.name) if n.startswith('svengine_reduce')], [])

    def test_no_difference(self):
        for reference in ['no-optimize', 'reference']:
            answer = self.reduce('--against', reference)
            self.assertEqual(answer.code, 2, answer)
            self.assertIn('does not have the fault', answer.err)
        self.assertFalse(os.path.exists(self.path('out')))

    def test_command(self):
        report = self.reduce('--check', 'grep -q tanh4', '--timeout', '20', '--json').json()
        self.assertEqual((report['nodes_before'], report['nodes_after'], report['operators']), (24, 1, ['Tanh']))
        self.assertEqual((report['inputs'], report['outputs'], report['complete']), (['m4'], ['t4'], True))
        self.assertEqual(svengine('test', self.path('out/reduced.onnx')).code, 0)

    def test_shrinking(self):
        """Of a body, a size and a weight: only what the fault needs; not with --exact."""
        def branch(name, op):
            return (ow.block(1, ow.node(op, ['h'], [name + '0'], name)) + ow.block(1, ow.node('Neg', [name + '0'], [name], 'neg')) + ow.block(2, name) +
                    ow.block(12, ow.value_info(name, ['N', 3])))
        nodes = [ow.node('Cast', ['w'], ['flags'], 'cast', ow.int_attribute('to', ow.BOOL)), ow.node('ReduceMax', ['w'], ['most'], 'most'),
                 ow.node('Cast', ['most'], ['flag'], 'last', ow.int_attribute('to', ow.BOOL)), ow.node('Squeeze', ['flag'], ['c'], 'c'),
                 ow.node('Mul', ['x', 'w'], ['h'], 'scale'),
                 ow.node('If', ['c'], ['y'], 'if', ow.graph_attribute('then_branch', branch('t', 'Sqrt')) +
                         ow.graph_attribute('else_branch', branch('e', 'Exp')))]
        self.bad = self.write('if.onnx', ow.model(nodes, [ow.value_info('x', ['N', 3])], [ow.value_info('y', ['N', 3])], [ow.tensor('w', [3], [1, 2, 3])]))
        report = self.reduce('--check', 'grep -q Sqrt', '--json').json()
        self.assertEqual((report['operators'], report['exact'], report['inlined_bodies']), (['Sqrt'], False, 1))
        self.assertEqual(report['shrunk_sizes'], 2)
        self.assertEqual(svengine('test', self.path('out/reduced.onnx')).code, 0)  # with outputs of its own
        report = svengine('reduce', self.bad, '--output', self.path('exact'), '--dim', 'N=2', '--check', 'grep -q Sqrt', '--exact', '--json').json()
        self.assertEqual((report['operators'], report['exact'], report['shrunk_sizes']), (['If'], True, 0))

    def test_model_that_cannot_be_run(self):
        """Cuts only where the file says types, and there are no data."""
        info = [ow.value_info('a', [3]), ow.value_info('b', [3])]
        nodes = [ow.node('Relu', ['x'], ['a']), ow.node('Nobody', ['a'], ['b']), ow.node('Relu', ['b'], ['y'])]
        graph = (b''.join(ow.block(1, n) for n in nodes) + ow.block(2, 'g') + ow.block(11, ow.value_info('x', [3])) +
                 ow.block(12, ow.value_info('y', [3])) + b''.join(ow.block(13, i) for i in info))
        self.bad = self.write('odd.onnx', ow.number(1, 8) + ow.block(7, graph) + ow.block(8, ow.number(2, 17)))
        answer = self.reduce('--check', 'grep -q Nobody {}')
        self.assertEqual(answer.code, 0, answer)
        self.assertIn('1 of 3 nodes (Nobody)', answer.out)
        self.assertIn("no data for input 'a'", answer.out)

    def test_errors(self):
        self.fails('reduce', self.bad, says='--check')
        self.fails('reduce', self.bad, '--check', 'true', '--against', self.good, says='--against')
        self.fails('reduce', self.bad, '--output', self.path('out'), '--check', 'false', says='exited with 1')
        self.fails('reduce', self.bad, '--output', self.path('out'), '--against', self.path('none.onnx'), says='none.onnx')
        self.fails('reduce', self.bad, '--check', 'true', '--timeout', 'x', says='x')


if __name__ == '__main__':
    program.main(__doc__)
