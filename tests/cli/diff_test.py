"""Tests of `svengine diff` from outside: diff_test.py PROGRAM"""
import struct

import onnx_writer as ow
import program
from program import CliTest, svengine


def network(prefix='', op='Relu', bias=(1, 2, 3), producer=None):
    nodes = [ow.node('Add', ['x', prefix + 'w'], [prefix + 's'], prefix + 'add'), ow.node(op, [prefix + 's'], ['y'], prefix + 'act')]
    shape = ow.value_info('x', ['N', 3])
    made = ow.model(nodes, [shape], [ow.value_info('y', ['N', 3])], [ow.tensor(prefix + 'w', [3], bias)])
    return made + (ow.block(3, producer) if producer else b'')


class Diff(CliTest):
    def setUp(self):
        super().setUp()
        self.a = self.write('a.onnx', network())

    def differs(self, data, *options):
        answer = svengine('diff', self.a, self.write('b.onnx', data), *options)
        self.assertEqual((answer.code, answer.err), (1, ''), answer)
        return answer

    def test_equal(self):
        self.assertEqual(self.succeeds('diff', self.a, self.a).out, 'equal: 2 nodes, 1 weights\n')
        report = self.succeeds('diff', self.a, self.a, '--json').json()
        self.assertEqual((report['equal'], report['differences'], report['nodes'], report['nodes_matched']), (True, [], [2, 2], 2))

    def test_renamed(self):
        self.assertEqual(self.differs(network('b_')).out, """> weight 'w' -> 'b_w'
> node 'add' -> 'b_add'
> node 'act' -> 'b_act'
> value 's' -> 'b_s'
different: 2 nodes renamed, 1 weight renamed, 1 value renamed; 2 of 2 and 2 nodes matched
""")
        self.succeeds('diff', self.a, self.path('b.onnx'), '--ignore', 'names')

    def test_changed(self):
        self.assertEqual(self.differs(network('b_', 'Tanh', (1, 2, 3.5)), '--ignore', 'names,docs').out,
                         """~ node Relu 'act' (now 'b_act')
    ~ operator: Relu -> Tanh
~ weight 'w' (now 'b_w'): float32[3], 1 of 3 elements differ, by up to 0.5 at [2] (3 -> 3.5), 0.167 on average
different: 1 node changed, 1 weight changed; 2 of 2 and 2 nodes matched
""")
        report = self.differs(network('', 'Relu', (1, 2, 3.5)), '--json').json()
        self.assertEqual([(d['kind'], d['change'], d['subject'], d['name'], d['weight']['largest']) for d in report['differences']],
                         [('weights', 'changed', 'weight', 'w', 0.5)])
        self.succeeds('diff', self.a, self.path('b.onnx'), '--atol', '0.5')
        self.succeeds('diff', self.a, self.path('b.onnx'), '--ignore', 'weights', '--ignore', 'names')

    def test_texts_are_harmless(self):
        answer = self.differs(network(producer='\x1b[31mred\n+ node'))
        self.assertEqual([c for c in answer.out if ord(c) < 32 and c != '\n'], [])
        self.assertIn('producer_version', answer.out)
        self.succeeds('diff', self.a, self.path('b.onnx'), '--ignore', 'metadata')

    def test_external_data(self):
        """Where a weight is stored is no difference; what it holds is."""
        self.write('w.bin', b'....' + struct.pack('<3f', 1, 2, 3))
        entries = [('location', 'w.bin'), ('offset', '4'), ('length', '12')]
        external = (ow.block(8, 'w') + ow.number(1, 3) + ow.number(2, 1) + ow.number(14, 1) +
                    b''.join(ow.block(13, ow.block(1, key) + ow.block(2, value)) for key, value in entries))
        nodes = [ow.node('Add', ['x', 'w'], ['s'], 'add'), ow.node('Relu', ['s'], ['y'], 'act')]
        beside = self.write('beside.onnx', ow.model(nodes, [ow.value_info('x', ['N', 3])], [ow.value_info('y', ['N', 3])], [external]))
        self.succeeds('diff', self.a, beside)
        self.write('w.bin', b'....' + struct.pack('<3f', 1, 2, 4))
        self.assertIn('1 of 3 elements differ', svengine('diff', self.a, beside).out)

    def test_errors(self):
        self.fails('diff', self.a, says='B')
        self.fails('diff', self.a, self.path('none.onnx'), says='none.onnx')
        self.fails('diff', self.write('bad.onnx', b'\x08'), self.a, says='bad.onnx')
        self.fails('diff', self.a, self.a, '--ignore', 'nonsense', says=['nonsense', 'metadata'])
        external = ow.block(8, 'w') + ow.number(1, 3) + ow.number(2, 1) + ow.number(14, 1) + ow.block(13, ow.block(1, 'location') + ow.block(2, 'none.bin'))
        lost = ow.model([ow.node('Add', ['x', 'w'], ['y'])], [ow.value_info('x', [3])], [ow.value_info('y', [3])], [external])
        self.fails('diff', self.a, self.write('lost.onnx', lost), says=["tensor 'w'", 'none.bin'])


if __name__ == '__main__':
    program.main(__doc__)
