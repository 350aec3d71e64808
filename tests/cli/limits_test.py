"""Tests of --memory-limit and --time-limit, from outside: limits_test.py [EMULATOR...] PROGRAM"""
import time

import onnx_writer as ow
import program
from check_test import GRAPH, attribute
from onnx_writer import INT64, block, node, tensor, value_info
from program import CliTest

BOOL = 9


def expand_model():
    """y = x expanded to a shape that comes with the data."""
    return ow.model([node('Expand', ['x', 'shape'], ['y'], 'expand')], [value_info('x', [1]), value_info('shape', [2], INT64)],
                    [value_info('y', ['A', 'B'])])


def endless_model(limit=2**62):
    """v = x + 1 again and again, and every trip's v."""
    nodes = [node('Identity', ['go'], ['on']), node('Add', ['v', 'one'], ['next']), node('Identity', ['next'], ['all'])]
    inputs = [value_info('i', [], INT64), value_info('go', [], BOOL), value_info('v', [2])]
    inner = b''.join(block(1, n) for n in nodes) + block(2, 'b') + b''.join(block(11, i) for i in inputs)
    inner += b''.join(block(12, block(1, o)) for o in ('on', 'next', 'all'))
    loop = node('Loop', ['m', '', 'x'], ['last', 'every'], 'loop', attribute('body', GRAPH, inner))
    return ow.model([loop], [value_info('x', [2])], [value_info('last', [2]), value_info('every', ['N', 2])],
                    [tensor('m', [], [limit], INT64), tensor('one', [1], [1])])


class Limits(CliTest):
    def test_values(self):
        model = self.write('add.onnx', ow.add_model())
        for text in ['', 'x', '-1', '0', '1Q', 'M', '1MM', '1e300', 'nan', '1 G']:
            self.fails('run', model, '--memory-limit=' + text, says='--memory-limit')
        for text in ['1', '200', '1K', '0.000004G']:
            self.fails('run', model, '--memory-limit', text, says='no memory')
        for text in ['0', '-1', 'x', 'nan']:
            self.fails('run', model, '--time-limit=' + text, says='--time-limit')
        self.succeeds('run', model, '--memory-limit', '64M', '--time-limit', '60')

    def test_planned_memory(self):
        nodes = [node('Conv', ['x', 'w'], ['c'], 'conv'), node('Relu', ['c'], ['y'], 'relu')]
        model = self.write('conv.onnx', ow.model(nodes, [value_info('x', ['N', 3, 64, 64])], [value_info('y', ['N', 8, 62, 62])],
                                                 [tensor('w', [8, 3, 3, 3], [0.1] * 216)]))
        self.succeeds('run', model, '--memory-limit', '64M')
        self.fails('run', model, '--dim', 'N=1000', '--memory-limit', '64M', says='over the limit of 64.0 MiB')

    def test_shapes_that_come_with_the_data(self):
        model = self.write('expand.onnx', expand_model())
        self.write('x.npy', ow.npy([1], [1]))
        for side, fits in [(100, True), (30000, False), (10**6, False)]:
            self.write('shape.npy', ow.npy([2], [side, side], '<i8'))
            given = ['run', model, '--input', 'x=' + self.path('x.npy'), '--input', 'shape=' + self.path('shape.npy'), '--memory-limit', '256M']
            if fits:
                self.succeeds(*given)
            else:
                begin = time.time()
                self.fails(*given, says='over the limit of 256.0 MiB')
                self.assertLess(time.time() - begin, 20)

    def test_loops(self):
        short = self.write('short.onnx', endless_model(5))
        self.succeeds('run', short, '--time-limit', '100')
        endless = self.write('endless.onnx', endless_model())
        begin = time.time()
        self.fails('run', endless, '--time-limit', '0.5', says=["'loop' (Loop)", 'trip', 'the time limit of 0.5 s is over'])
        self.assertLess(time.time() - begin, 20)
        self.fails('run', endless, '--memory-limit', '8M', '--time-limit', '300', says=["'loop' (Loop)", 'limit of 8.0 MiB'])


if __name__ == '__main__':
    program.main(__doc__)
