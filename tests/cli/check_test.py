"""Tests of svengine check from outside: output, exit codes, hostile files within bounds of time and memory: check_test.py [EMULATOR...] PROGRAM"""
import os
import re

import onnx_writer as ow
import program
from onnx_writer import FLOAT, INT64, block, node, number, tensor, value_info, varint
from program import CliTest

INT, STRING, GRAPH, INTS = 2, 3, 5, 7  # AttributeProto.AttributeType


def attribute(name, kind, value):
    body = {INT: lambda: number(3, value), STRING: lambda: block(4, value), GRAPH: lambda: block(6, value),
            INTS: lambda: b''.join(number(8, v) for v in value)}[kind]()
    return block(5, block(1, name) + body + number(20, kind))


def body(nodes, inputs, outputs, name='b'):
    return (b''.join(block(1, n) for n in nodes) + block(2, name) + b''.join(block(11, value_info(i, [])) for i in inputs) +
            b''.join(block(12, block(1, o)) for o in outputs))


def function(name, nodes, domain='d'):
    imports = b''.join(block(9, block(1, d) + number(2, v)) for d, v in (('', 17), ('d', 1)))
    return block(25, block(1, name) + block(4, 'a') + block(5, 'b') + b''.join(block(7, n) for n in nodes) + imports + block(10, domain))


def call(name, inputs=('x',), outputs=('y',)):
    return node(name, inputs, outputs, '', block(7, 'd'))


def with_functions(functions, first='f0'):
    """y = d.first(x)."""
    return (ow.model([call(first)], [value_info('x', [2])], [value_info('y', [2])]) + block(8, block(1, 'd') + number(2, 1)) +
            b''.join(functions))


def nested_if(depth):
    """If in If, of a condition that is an input."""
    inner = body([node('Identity', ['x'], ['v0'])], [], ['v0'])
    for level in range(1, depth):
        branches = ''.encode() + attribute('then_branch', GRAPH, inner) + attribute('else_branch', GRAPH, body([node('Identity', ['x'], ['w%d' % level])], [], ['w%d' % level]))
        inner = body([node('If', ['c'], ['v%d' % level], '', branches)], [], ['v%d' % level])
    other = body([node('Identity', ['x'], ['w'])], [], ['w'])
    last = node('If', ['c'], ['y'], '', attribute('then_branch', GRAPH, inner) + attribute('else_branch', GRAPH, other))
    return ow.model([last], [value_info('x', [2]), value_info('c', [], 9)], [value_info('y', [2])])


def one_node(op, inputs, constants=(), attributes=b'', rank=1):
    """y[?..] = op(inputs) with x float [2, 3, 4, 4] and int64 constants by name."""
    return ow.model([node(op, inputs, ['y'], 'it', attributes)], [value_info('x', [2, 3, 4, 4])], [value_info('y', ['D%d' % i for i in range(rank)])],
                    [tensor(name, [len(values)], values, INT64) for name, values in constants])


def broken_model():
    """What the example of VALIDATING.md finds fault with."""
    reshaped = node('Reshape', ['hidden', 'shape'], ['flat'], 'flatten')
    nodes = [node('Conv', ['image', 'kernel'], ['hidden'], 'conv', attribute('stride', INTS, [1, 1])), reshaped,
             node('Gelu', ['flat'], ['scores'], 'activation'), node('Relu', ['flat'], ['unneeded'], 'leftover'),
             node('Transpose', ['image'], ['turned'], 'turn', attribute('perm', INTS, [0, 2, 3, 3]))]
    return ow.model(nodes, [value_info('image', ['N', 3, 8, 8])], [value_info('scores', ['N', 10]), value_info('turned', ['N', 8, 8, 3])],
                    [tensor('kernel', [2, 3, 3, 3], [float('nan')] + [0.5] * 52), tensor('shape', [2], [-1, 72], INT64)])


class Check(CliTest):
    def hostile(self, data, code, says=(), *options):
        path = self.write('h.onnx', data)
        text = self.bounded(code, 'check', path, *options, files=[path])
        for part in [says] if isinstance(says, str) else says:
            self.assertIn(part, text)

    def test_answers(self):
        good = self.write('good.onnx', ow.add_model())
        self.assertEqual(self.succeeds('check', good).out, 'pass: 0 errors, 0 warnings, 0 notes in 1 node and 1 tensor\n')
        report = self.succeeds('check', good, '--json').json()
        self.assertEqual((report['passed'], report['errors'], report['findings']), (True, 0, []))
        bad = self.write('bad.onnx', one_node('Transpose', ['x'], (), attribute('perm', INTS, [0, 0, 1, 2]), 4))
        answer = program.svengine('check', bad)
        self.assertEqual(answer.code, 1)
        self.assertRegex(answer.out, r"(?m)^error  inference  node 'it' \(Transpose\)  .*perm")
        finding = program.svengine('check', bad, '--json').json()['findings'][0]
        self.assertEqual((finding['level'], finding['rule'], finding['nodes']), ('error', 'inference', ['it']))
        warned = self.write('warned.onnx', ow.model([node('Relu', ['x'], ['y']), node('Relu', ['x'], ['z'])], [value_info('x', [1])],
                                                    [value_info('y', [1])]))
        self.assertIn('warning  unused-node', self.succeeds('check', warned).out)
        self.assertEqual(program.svengine('check', warned, '--strict').code, 1)
        self.assertEqual(program.svengine('check', self.write('old.onnx', one_node('Relu', ['x'], rank=4)), '--opset', '13').code, 0)
        gelu = self.write('gelu.onnx', ow.model([node('Gelu', ['x'], ['y'])], [value_info('x', [1])], [value_info('y', [1])], opset=20))
        self.assertEqual(self.succeeds('check', gelu).code, 0)
        self.assertIn('opset-lacks', program.svengine('check', gelu, '--opset', '17').out)
        nan = self.write('nan.onnx', ow.model([node('Add', ['x', 'w'], ['y'])], [value_info('x', [1])], [value_info('y', [1])],
                                              [tensor('w', [1], [float('nan')])]))
        self.assertIn('weight-nan', self.succeeds('check', nan).out)
        self.assertNotIn('weight-nan', self.succeeds('check', nan, '--no-weights').out)

    def test_document(self):
        """The examples in VALIDATING.md are what it prints."""
        self.write('broken.onnx', broken_model())
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'VALIDATING.md'), encoding='utf-8') as document:
            blocks = re.findall(r'^```\n\$ svengine (check .*)\n((?:(?!```).*\n)*)```', document.read(), re.MULTILINE)
        self.assertTrue(blocks)
        for arguments, expected in blocks:
            self.assertEqual(program.svengine(*arguments.split(), cwd=self.folder.name).out, expected)

    def test_rules(self):
        rules = self.succeeds('check', '--rules', '--json').json()
        self.assertGreater(len(rules), 70)
        for rule in rules:
            self.assertIn(rule['rule'], self.succeeds('check', '--rules').out)
        self.fails('check', '--opset', '0', says='--opset')

    def test_no_models(self):
        model = ow.two_input_model()
        cases = {'empty': b'', 'random': bytes(range(256)) * 4, 'gzip': b'\x1f\x8b\x08' + b'z' * 50, 'html': b'<html></html>', 'text': b'hello'}
        cases.update(('cut%d' % at, model[:at]) for at in range(5, len(model) - 1, 37))
        for name, data in cases.items():
            path = self.write(name, data)
            self.assertIn('svengine: ', self.bounded(2, 'check', path, files=[path]))
        os.mkfifo(self.path('fifo'))
        for path in [self.folder.name, self.path('fifo'), '/dev/zero', self.path('missing')]:
            self.bounded(2, 'check', path)

    def test_wire(self):
        for data in [b'\x3a\xff\xff\xff\xff\x0f' + b'x' * 20, b'\x08' + b'\xff' * 11, b'\x3b\x08\x01\x3c', b'\x00\x01', b'\x3a\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02']:
            self.hostile(data, 2, 'svengine: ')
        self.hostile(ow.add_model() + number(900, 1) * 300000, 0)  # fields that nobody knows

    def test_nesting(self):
        self.hostile(nested_if(12), 0)
        self.hostile(nested_if(33), 2, 'nested')
        self.hostile(nested_if(2000), 2, 'nested')
        kind = block(1, number(1, FLOAT))
        for _ in range(1000):
            kind = block(4, block(1, kind))  # a sequence of sequences
        self.hostile(ow.model([node('Relu', ['x'], ['y'])], [block(1, 'x') + block(2, kind)], [value_info('y', [1])]), 2)

    def test_functions(self):
        relu = node('Relu', ['a'], ['b'])
        again = call('f0', ['a'], ['b'])
        self.hostile(with_functions([function('f0', [again])]), 1, 'function-cycle')
        self.hostile(with_functions([function('f0', [call('f1', ['a'], ['b'])]), function('f1', [again])]), 1, 'function-cycle')
        inside = body([call('f0', ['a'], ['v'])], [], ['v'])
        branches = attribute('then_branch', GRAPH, inside) + attribute('else_branch', GRAPH, inside)
        self.hostile(with_functions([function('f0', [node('Cast', ['a'], ['c'], '', attribute('to', INT, 9)), node('If', ['c'], ['b'], '', branches)])]),
                     1, 'function-cycle')
        chain = [function('f%d' % i, [call('f%d' % (i + 1), ['a'], ['b'])]) for i in range(101)]
        self.hostile(with_functions(chain + [function('f101', [relu])]), 1, 'function-limit')
        self.hostile(with_functions([function('f%d' % i, [relu]) for i in range(10001)]), 1, '10001 functions')
        # Every function calls the next four times: a thousand million nodes, were they all made.
        laughs = [function('f%d' % i, [call('f%d' % (i + 1), ['a' if k == 0 else 'v%d' % (k - 1)], ['v%d' % k if k < 3 else 'b']) for k in range(4)]) for i in range(15)]
        self.hostile(with_functions(laughs + [function('f15', [relu])]), 0, 'engine-limit')

    def test_huge_results(self):
        big = [2**40, 2**40]
        for op, inputs, constants, attributes in [
                ('ConstantOfShape', ['s'], [('s', big)], b''), ('Expand', ['x', 's'], [('s', [2**45] + [1] * 4)], b''),
                ('Tile', ['x', 's'], [('s', [2**40] * 4)], b''), ('Pad', ['x', 's'], [('s', [2**45] * 8)], b''),
                ('Reshape', ['x', 's'], [('s', [-1, -1])], b''), ('Reshape', ['x', 's'], [('s', [2**62, 4])], b'')]:
            self.hostile(one_node(op, inputs, constants, attributes, 4), 1, 'inference')
        self.hostile(ow.model([node('Range', ['a', 'b', 'c'], ['y'])], [], [value_info('y', ['N'], INT64)],
                              [tensor(n, [], [v], INT64) for n, v in (('a', 0), ('b', 2**62), ('c', 1))]), 1)
        self.hostile(ow.model([node('Add', ['x', 'w'], ['y'])], [value_info('x', [1])], [value_info('y', [1])],
                              [number(1, 2**44) + number(2, FLOAT) + block(8, 'w') + block(9, b'1234')]), 1, 'tensor-data')

    def test_kernel_attributes(self):
        window = attribute('kernel_shape', INTS, [2, 2])
        for op, inputs, attributes, rank in [
                ('MaxPool', ['x'], attribute('kernel_shape', INTS, [2, 2, 2]), 4), ('MaxPool', ['x'], attribute('kernel_shape', INTS, [0, 2]), 4),
                ('MaxPool', ['x'], window + attribute('strides', INTS, [0, -1]), 4), ('MaxPool', ['x'], attribute('kernel_shape', INTS, [9, 9]), 4),
                ('AveragePool', ['x'], window + attribute('pads', INTS, [-2**62] * 4), 4), ('Softmax', ['x'], attribute('axis', INT, 4), 4),
                ('Einsum', ['x'], attribute('equation', STRING, '->->,'), 4), ('Transpose', ['x'], attribute('perm', INTS, [0, 1, 1, 2]), 4),
                ('Concat', ['x'], attribute('axis', INT, -2**63), 4), ('Flatten', ['x'], attribute('axis', INT, 99), 2)]:
            self.hostile(one_node(op, inputs, (), attributes, rank), 1, 'inference')

    def test_external_data(self):
        os.mkfifo(self.path('fifo'))
        self.write('w.bin', b'1234')
        for location, extra, rule in [('../w.bin', (), 'external-location'), ('/dev/zero', (), 'external-location'), ('fifo', (), 'external-file'),
                                      ('.', (), 'external-location'), ('no/such', (), 'external-file'), ('w.bin', [('offset', '-1')], 'external-range'),
                                      ('w.bin', [('offset', '1' + '0' * 18)], 'external-range'), ('w.bin', [('length', '1' + '0' * 30)], 'external-range')]:
            entries = b''.join(block(13, block(1, k) + block(2, v)) for k, v in [('location', location), *extra])
            weight = number(1, 1) + number(2, FLOAT) + block(8, 'w') + entries + number(14, 1)
            self.hostile(ow.model([node('Add', ['x', 'w'], ['y'])], [value_info('x', [1])], [value_info('y', [1])], [weight]), 1, rule)

    def test_large_graphs(self):
        count = 30000
        x, y = [value_info('x', [2])], [value_info('y', [2])]
        ring = [node('Relu', ['v%d' % i], ['v%d' % ((i + 1) % count)]) for i in range(count)]
        self.hostile(ow.model(ring + [node('Relu', ['x'], ['y'])], x, y), 1, '%d nodes need each other' % count)
        lost = [node('Relu', ['none%d' % i], ['v%d' % i]) for i in range(count)]
        self.hostile(ow.model(lost + [node('Relu', ['x'], ['y'])], x, y), 1, 'and 29,800 more')
        back = [node('Relu', ['v%d' % (i + 1)], ['v%d' % i]) for i in range(count)]
        self.hostile(ow.model(back + [node('Relu', ['x'], ['v%d' % count]), node('Relu', ['v0'], ['y'])], x, y), 1, 'node-order')
        name = 'n' * (10 << 20)
        self.hostile(ow.model([node('Relu', ['x'], [name]), node('Relu', [name], ['y'])], x, y), 0, 'name-length')
        same = [node('Relu', ['x'], ['same'], 'same') for _ in range(count)]
        self.hostile(ow.model(same + [node('Relu', ['x'], ['y'])], x, y), 1, 'value-twice')
        many = node('Concat', ['x'] * 100000, ['y'], '', attribute('axis', INT, 0))
        self.hostile(ow.model([many], x, [value_info('y', [200000])]), 0)
        self.hostile(ow.model([node('Relu', ['x'], ['y'], '\x1b[2J\x07')], x, y), 1, 'name-text')

    def test_imports(self):
        imports = b''.join(block(8, block(1, 'd%d' % i) + number(2, 1)) for i in range(20000))
        nodes = [node('Relu', ['x' if i == 0 else 'v%d' % (i - 1)], ['v%d' % i]) for i in range(5000)] + [node('Relu', ['v4999'], ['y'])]
        self.hostile(ow.model(nodes, [value_info('x', [2])], [value_info('y', [2])]) + imports, 0, 'engine-limit')

    def test_ten_thousand_nodes(self):
        nodes, weights = [], []
        for i in range(5000):
            nodes.append(node('MatMul', ['x' if i == 0 else 'r%d' % (i - 1), 'w%d' % i], ['m%d' % i], 'mm%d' % i))
            nodes.append(node('Relu', ['m%d' % i], ['r%d' % i], 'relu%d' % i))
            weights.append(tensor('w%d' % i, [4, 4], [i + k for k in range(16)]))
        self.hostile(ow.model(nodes, [value_info('x', ['N', 4])], [value_info('r4999', ['N', 4])], weights), 0, 'in 10,000 nodes')


if __name__ == '__main__':
    program.main(__doc__)
