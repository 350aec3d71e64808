"""Tests of `svengine convert`: convert_test.py [EMULATOR...] PROGRAM"""
import os
import subprocess
import unittest

import onnx_writer as ow
from program import PROGRAM, CliTest, is_sanitized, main

HALF = 10


def scaled(factor=2.0, count=3000):
    """y = relu(x * w) + c, where c is made of constants that fold."""
    nodes = [ow.node('Mul', ['x', 'w'], ['m'], 'scale'), ow.node('Relu', ['m'], ['r'], 'relu'), ow.node('Add', ['one', 'one'], ['two'], 'sum'),
             ow.node('Add', ['r', 'two'], ['y'], 'shift')]
    return ow.model(nodes, [ow.value_info('x', [2, count])], [ow.value_info('y', [2, count])],
                    [ow.tensor('w', [count], [factor] * count), ow.tensor('one', [1], [1.0])], opset=17)


class Convert(CliTest):
    def setUp(self):
        super().setUp()
        self.model = self.write('m.onnx', scaled())

    def convert(self, *options, model=None):
        return self.succeeds('convert', model or self.model, self.path('out.onnx'), '--json', *options).json()

    def inspected(self):
        return self.succeeds('inspect', self.path('out.onnx'), '--json').json()

    def test_nothing_asked_for_changes_nothing(self):
        report = self.convert()
        self.assertEqual((report['opset'], report['passed']), (17, True))
        self.assertEqual(self.read('out.onnx'), self.read('m.onnx'))

    def test_another_opset_simplified(self):
        report = self.convert('--opset', '21', '--simplify')
        self.assertEqual(report['simplified']['nodes_before'], 4)
        self.assertEqual(report['simplified']['nodes_after'], 3)
        self.assertEqual(self.inspected()['opsets']['ai.onnx'], 21)
        self.fails('convert', self.model, self.path('o.onnx'), '--opset', '12', says=['--opset', '12'])

    def test_other_types(self):
        for name in ('float16', 'bfloat16', 'double'):
            report = self.convert('--type', name)
            self.assertTrue(report['passed'], report)
            short = {'double': 'float64'}.get(name, name)
            self.assertIn(short, self.inspected()['inputs'][0]['type'])
        self.convert('--type', 'float16', '--keep-io', '--keep-float32', 'Relu')
        self.assertIn('float32', self.inspected()['inputs'][0]['type'])
        self.fails('convert', self.model, self.path('o.onnx'), '--type', 'float16', '--keep-float32', 'Conv', says=['Conv', 'no node'])
        self.convert('--type', 'float16', '--keep-float32', 'sum', '--simplify')  # which leaves nothing of that node
        self.fails('convert', self.model, self.path('o.onnx'), '--type', 'bfloat16', '--opset', '17', says=['22'])
        self.fails('convert', self.model, self.path('o.onnx'), '--keep-io', says=['--type'])

    def test_what_a_type_cannot_hold_is_told(self):
        large = self.write('large.onnx', scaled(1e6))
        answer = self.fails_comparison('convert', large, self.path('out.onnx'), '--type', 'float16', '--json')
        self.assertEqual(answer.json()['saturated'], [{'weight': 'w', 'elements': 3000}])

    def test_what_the_opset_has_not_is_made_of_what_it_has(self):
        """A function by its parts, a type by a wider one between Casts."""
        nodes = [ow.node('LayerNormalization', ['x', 'w'], ['n'], 'norm'), ow.node('Gelu', ['n'], ['y'], 'gelu')]
        model = self.write('norm.onnx', ow.model(nodes, [ow.value_info('x', [3, 8])], [ow.value_info('y', [3, 8])],
                                                 [ow.tensor('w', [8], [0.5 * i for i in range(8)])], opset=21))
        report = self.convert('--opset', '13', model=model)
        self.assertEqual((report['opset'], report['passed'], report['problems']), (13, True, []))
        used = self.inspected()['operators']
        self.assertFalse({'LayerNormalization', 'Gelu'} & set(used), used)
        celu = ow.model([ow.node('Celu', ['x'], ['y'], 'celu')], [ow.value_info('x', [2], HALF)], [ow.value_info('y', [2], HALF)], opset=28)
        report = self.convert('--opset', '21', model=self.write('celu.onnx', celu))
        self.assertEqual((report['passed'], report['problems']), (True, []))

    def test_nodes_that_draw_draw_the_same_in_both(self):
        nodes = [ow.node('RandomUniformLike', ['x'], ['u'], 'noise'), ow.node('Add', ['one', 'one'], ['two'], 'sum'),
                 ow.node('Mul', ['u', 'two'], ['m'], 'scale'), ow.node('Bernoulli', ['u'], ['b'], 'mask'), ow.node('Add', ['m', 'b'], ['y'], 'add')]
        model = self.write('noise.onnx', ow.model(nodes, [ow.value_info('x', [8, 8])], [ow.value_info('y', [8, 8])],
                                                  [ow.tensor('one', [1], [1.0])], opset=17))
        for options in ([], ['--simplify'], ['--opset', '21'], ['--type', 'double'], ['--type', 'float16'], ['--type', 'bfloat16', '--simplify']):
            self.assertTrue(self.convert(*options, model=model)['passed'], options)

    def test_what_the_opset_has_not_is_told(self):
        shift = ow.node('BitShift', ['x', 'x'], ['y'], 'shift', ow.block(5, ow.block(1, 'direction') + ow.block(4, 'LEFT') + ow.number(20, 3)))
        model = self.write('shift.onnx', ow.model([shift], [ow.value_info('x', [2], ow.INT64)], [ow.value_info('y', [2], ow.INT64)], opset=28))
        answer = self.fails_comparison('convert', model, self.path('out.onnx'), '--opset', '21', '--json')
        self.assertIn('type-constraint', answer.json()['problems'][0])

    def test_old_forms_in_bodies(self):
        """Softmax of before opset 13, over all dimensions from its axis on, in both branches of an If."""
        def branch(name, axis):
            flow = ow.node('Softmax', ['x'], [name], 'softmax', ow.int_attribute('axis', axis))
            return ow.block(1, flow) + ow.block(2, name) + ow.block(12, ow.value_info(name, [2, 3, 4]))
        for value in (0, 1):
            nodes = [ow.node('Cast', ['c'], ['is'], 'cast', ow.int_attribute('to', ow.BOOL)),
                     ow.node('If', ['is'], ['y'], 'if', ow.graph_attribute('then_branch', branch('t', 1)) +
                             ow.graph_attribute('else_branch', branch('e', 0)))]
            model = self.write('old.onnx', ow.model(nodes, [ow.value_info('c', [], ow.INT64), ow.value_info('x', [2, 3, 4])],
                                                    [ow.value_info('y', [2, 3, 4])], opset=11))
            c = self.write('c.npy', ow.npy([], [value], '<i8'))
            self.assertTrue(self.convert('--opset', '17', '--input', 'c=' + c, model=model)['passed'])
            self.assertEqual(self.inspected()['opsets']['ai.onnx'], 17)

    def peak_mib(self, *arguments):
        with open(self.path('log'), 'w+b') as log:
            process = subprocess.Popen(PROGRAM + [str(a) for a in arguments], stdout=log, stderr=log, stdin=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0, self.read('log'))
        return usage.ru_maxrss / 1024

    def large_model(self, count, parts):
        """Adds `parts` weights of so many zeros, one after the other."""
        weights = [ow.external_tensor('w%d' % i, [count], 'large.data', 4 * count * i) for i in range(parts)]
        nodes = [ow.node('Add', ['y%d' % (i - 1) if i else 'x', 'w%d' % i], ['y%d' % i], 'add%d' % i) for i in range(parts)]
        large = self.write('large.onnx', ow.model(nodes, [ow.value_info('x', [1])], [ow.value_info('y%d' % (parts - 1), [count])], weights))
        with open(self.path('large.data'), 'wb') as data:
            data.truncate(4 * count * parts)  # zeros that take no room on the disk
        return large

    def test_weights_change_type_as_they_are_written(self):
        """Of 144 MiB in float32 never more than some MiB are in memory, in either type."""
        count, parts = 3 << 20, 12
        large = self.large_model(count, parts)
        least = self.peak_mib('convert', self.model, self.path('out.onnx'), '--type', 'float16', '--no-verify')
        for options in ([], ['--embed']):
            out = self.path('half.onnx')
            peak = self.peak_mib('convert', large, out, '--type', 'float16', '--no-verify', *options)
            self.assertLess(peak, least + (1e6 if is_sanitized() else 64))
            self.assertGreaterEqual(os.path.getsize(out if options else out + '.data'), 2 * count * parts)

    def test_both_models_are_run_within_a_node_s_memory(self):
        """Of 24 weights of 2 MiB, and as many values."""
        large = self.large_model(1 << 19, 24)
        least = self.peak_mib('convert', self.model, self.path('out.onnx'), '--type', 'float16')
        peak = self.peak_mib('convert', large, self.path('half.onnx'), '--type', 'float16')
        self.assertLess(peak, least + (1e6 if is_sanitized() else 32))

    def test_large_weights_of_other_types(self):
        """Those that change as they are written are the same numbers, too large ones told."""
        count = 100000
        weights = [ow.tensor('w', [count], [0.001 * i for i in range(count)]), ow.tensor('v', [count], [1e6] * 7 + [1.0] * (count - 7))]
        nodes = [ow.node('Mul', ['x', 'w'], ['m'], 'mul'), ow.node('Min', ['m', 'v'], ['y'], 'min')]
        model = self.write('w.onnx', ow.model(nodes, [ow.value_info('x', [count])], [ow.value_info('y', [count])], weights))
        for name in ('float16', 'bfloat16', 'double'):
            report = self.convert('--type', name, model=model)
            self.assertEqual(report['saturated'], [{'weight': 'v', 'elements': 7}] if name == 'float16' else [])
            self.assertEqual(len(self.inspected()['inputs']), 1)

    def fails_comparison(self, *arguments):
        from program import svengine
        answer = svengine(*arguments)
        self.assertEqual(answer.code, 1, answer)
        return answer

    def test_a_model_over_itself_is_not_verified(self):
        os.symlink(self.model, self.path('other.onnx'))
        before = self.read('m.onnx')
        for output in (self.model, self.path('other.onnx')):
            self.fails('convert', self.model, output, '--opset', '18', code=2, says=['is the model itself'])
            self.assertEqual(self.read('m.onnx'), before)
        self.succeeds('convert', self.model, self.model, '--opset', '18', '--no-verify')
        self.assertNotEqual(self.read('m.onnx'), before)

    def test_the_original_keeps_its_weights(self):
        """A copy of a model still reads the data beside the first, which another model of that name would write over."""
        self.convert('--external')
        self.write('copy.onnx', self.read('out.onnx'))
        before = self.read('out.onnx.data')
        for options in (['--external'], ['--opset', '18'], ['--external', '--type', 'float16']):
            self.fails('convert', self.path('copy.onnx'), self.path('out.onnx'), *options, code=2, says=['out.onnx.data', 'would be lost'])
            self.assertEqual(self.read('out.onnx.data'), before)
        # The model itself in place of its weights.
        self.fails('convert', self.path('copy.onnx'), self.path('out.onnx.data'), '--opset', '18', code=2, says=['out.onnx.data', 'would be lost'])
        self.assertEqual(self.read('out.onnx.data'), before)
        self.succeeds('convert', self.path('copy.onnx'), self.path('out.onnx'), '--embed')
        self.succeeds('convert', self.path('copy.onnx'), self.path('copy.onnx'), '--external', '--no-verify')

    def test_a_part(self):
        self.convert('--from', 'm', '--to', 'r')
        report = self.inspected()
        self.assertEqual([p['name'] for p in report['inputs']], ['m'])
        self.assertEqual([p['name'] for p in report['outputs']], ['r'])
        self.convert('--from', 'm,two', '--to', 'r,y')
        report = self.inspected()
        self.assertEqual(sorted(p['name'] for p in report['inputs']), ['m', 'two'])
        self.assertEqual([p['name'] for p in report['outputs']], ['r', 'y'])
        self.fails('convert', self.model, self.path('o.onnx'), '--to', 'y,y', says=["'y' is named twice"])
        self.fails('convert', self.model, self.path('o.onnx'), '--to', 'nobody', says=['nobody', 'no value'])
        self.fails('convert', self.model, self.path('o.onnx'), '--from', 'y', '--to', 'r', says=["'y' is not needed"])
        self.fails('convert', self.model, self.path('o.onnx'), '--to', 'w', says=["no node computes 'w'"])

    def test_weights_outside_and_inside(self):
        self.convert('--external')
        self.assertGreaterEqual(os.path.getsize(self.path('out.onnx.data')), 12000)
        self.assertLess(os.path.getsize(self.path('out.onnx')), 2000)
        moved = self.succeeds('convert', self.path('out.onnx'), self.path('in.onnx'), '--embed', '--json').json()
        self.assertTrue(moved['passed'])
        self.assertGreater(os.path.getsize(self.path('in.onnx')), 12000)

    def test_folding_may_not_blow_a_model_up(self):
        nodes = [ow.node('Expand', ['one', 'shape'], ['e'], 'expand'), ow.node('Add', ['x', 'e'], ['y'], 'add')]
        model = self.write('e.onnx', ow.model(nodes, [ow.value_info('x', [1])], [ow.value_info('y', [1000000])],
                                              [ow.tensor('one', [1], [1.0]), ow.tensor('shape', [1], [1000000], ow.INT64)], opset=17))
        self.assertEqual(self.convert('--simplify', model=model)['simplified']['nodes_after'], 2)
        self.assertEqual(self.convert('--simplify', '--growth', '8', model=model)['simplified']['nodes_after'], 1)


if __name__ == '__main__':
    main(__doc__)
