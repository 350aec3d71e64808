"""Tests of `svengine compare` and of `svengine run --validate`, from outside: compare_test.py [EMULATOR...] PROGRAM"""
import os
import zipfile

import onnx_writer as ow
import program
from program import CliTest

DATA = [0.25, -1.5, 3, 0.5, 2, -0.75]


def attribute_int(name, value):
    return ow.block(5, ow.block(1, name) + ow.number(3, value) + ow.number(20, 2))


def network(bias=(0.5, -0.5, 0.25), axis=1, names=('a', 'b', 'c', 'y')):
    """y = Softmax(Relu(x w + bias)); x [2, 3]."""
    a, b, c, y = names
    nodes = [ow.node('MatMul', ['x', 'w'], [a], 'product'), ow.node('Add', [a, 'bias'], [b], 'shift'), ow.node('Relu', [b], [c], 'positive'),
             ow.node('Softmax', [c], [y], 'scores', attribute_int('axis', axis))]
    return ow.model(nodes, [ow.value_info('x', [2, 3])], [ow.value_info(y, [2, 3])],
                    [ow.tensor('w', [3, 3], [1, -2, 0.5, 0.25, 1, 3, -1, 0.5, 2]), ow.tensor('bias', [3], bias)])


class Compare(CliTest):
    def setUp(self):
        super().setUp()
        self.x = self.write('x.npy', ow.npy([2, 3], DATA))
        self.good = self.write('good.onnx', network())
        self.wrong = self.write('wrong.onnx', network(bias=(0.5, 0.5, 0.25)))

    def compare(self, *arguments, code=0):
        answer = program.svengine('compare', *arguments, '--input', self.x)
        self.assertEqual(answer.code, code, answer)
        return answer

    def test_against_other_ways_to_run(self):
        for against in ('reference', 'no-optimize'):
            report = self.compare(self.good, '--against', against, '--json').json()
            self.assertTrue(report['passed'])
            self.assertEqual(report['guilty'], 0)
            self.assertNotIn('first_guilty', report)
            fused = [v for v in report['values'] if len(v['nodes']) > 1]
            self.assertEqual([n['name'] for n in fused[0]['nodes']], ['product', 'shift', 'positive'])
            self.assertEqual(report['outputs'][0]['name'], 'y')
        self.assertIn('pass: no node is guilty', self.compare(self.good).out)

    def test_a_fault_inside_of_a_fused_step(self):
        report = self.compare(self.wrong, '--against', self.good, '--json', code=1).json()
        self.assertEqual(report['first_guilty']['node'], {'name': 'shift', 'op': 'Add'})
        self.assertEqual(report['first_guilty']['value'], 'b')
        self.assertEqual(report['guilty'], 1)  # the softmax is right, given the right inputs
        worst = report['first_guilty']['local']['worst_elements'][0]
        self.assertAlmostEqual(worst['got'] - worst['expected'], 1)
        self.assertEqual(report['first_guilty']['local']['histogram']['equal'], 4)
        text = self.compare(self.wrong, '--against', self.good, code=1).out
        self.assertIn("first guilty: node 'shift' (Add), which makes 'b'", text)
        self.assertIn('GUILTY', text)

    def test_the_network_as_a_whole(self):
        output = self.compare(self.good, '--whole', '--json').json()['outputs'][0]
        self.assertLessEqual(output['whole']['worst_relative_to_largest'], 1e-5)
        self.assertRegex(self.compare(self.good, '--whole').out, 'accumulated +whole')
        wrong = self.compare(self.wrong, '--against', self.good, '--whole', '--json', code=1).json()
        self.assertGreater(wrong['outputs'][0]['whole']['over'], 0)
        self.assertIsNone(self.compare(self.good, '--json').json()['outputs'][0]['whole'])

    def test_bounds_can_be_given(self):
        self.assertIn('no node is guilty', self.compare(self.wrong, '--against', self.good, '--atol', '10').out)
        self.compare(self.good, '--rtol', '0', '--atol', '0', '--against', 'no-optimize', '--no-optimize')

    def test_other_names_are_matched_by_place(self):
        other = self.write('other.onnx', network(names=('p', 'q', 'r', 'z'), axis=0))
        report = self.compare(other, '--against', self.good, '--json', code=1).json()
        self.assertEqual(report['matched']['unmatched'], 0)
        self.assertEqual(report['first_guilty']['node']['name'], 'scores')

    def test_recorded_values(self):
        record = self.path('record')
        answer = self.compare(self.good, '--record', record)
        self.assertIn('5 values', answer.err)
        report = self.succeeds('compare', self.good, '--against', record, '--json').json()  # inputs are in the record
        self.assertTrue(report['passed'])
        failed = program.svengine('compare', self.wrong, '--against', record, '--json')
        self.assertEqual(failed.code, 1, failed)
        self.assertEqual(failed.json()['first_guilty']['node']['name'], 'shift')
        with open(os.path.join(record, 'index.tsv'), encoding='utf-8') as index:
            files = dict(reversed(line.rstrip('\n').split('\t')) for line in index)
        self.assertEqual(sorted(files), ['a', 'b', 'c', 'x', 'y'])
        archive = self.path('values.npz')
        with zipfile.ZipFile(archive, 'w') as z:
            for name in ('b', 'y'):
                z.write(os.path.join(record, files[name]), name + '.npy')
        self.assertEqual(len(self.compare(self.good, '--against', archive, '--json').json()['values']), 1)
        self.compare(self.wrong, '--against', archive, code=1)

    def test_a_record_is_bounded(self):
        answer = self.compare(self.good, '--record', self.path('small'), '--record-limit', '60')
        self.assertIn('2 values, 48 B', answer.err)
        self.assertIn('3 values left out', answer.err)

    def test_data_of_a_model_zoo(self):
        self.write('test_data_set_0/input_0.npy', ow.npy([2, 3], DATA))
        self.write('test_data_set_0/output_0.npy', ow.npy([2, 3], [0.3] * 6))
        folder = self.path('test_data_set_0')
        self.succeeds('compare', self.good, '--data-set', folder)
        failed = program.svengine('compare', self.good, '--against', folder, '--json')
        self.assertEqual(failed.code, 1, failed)
        self.assertFalse(failed.json()['outputs'][0]['passed'])

    def test_a_page(self):
        name = '<script>alert(1)</script>&"'
        model = self.write('name.onnx', network(names=('a', 'b', 'c', name)))
        page = self.path('page.html')
        self.compare(model, '--html', page)
        text = self.read('page.html').decode()
        self.assertNotIn('<script>alert', text)
        self.assertIn('&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;', text)
        for network_access in ('http:', 'https:', 'src=', '@import', 'url('):
            self.assertNotIn(network_access, text)
        self.assertIn('<svg', text)

    def test_what_is_no_number(self):
        nan = self.write('nan.onnx', network(bias=(0.5, float('nan'), 0.25)))
        report = self.compare(nan, '--against', self.good, '--json', code=1).json()
        self.assertEqual(report['first_guilty']['node']['name'], 'shift')
        self.assertEqual(report['first_guilty']['local']['nan'], 2)

    def test_long_names_are_shortened_in_tables_only(self):
        name = 'module/' * 12 + 'é' * 21 + '/last'
        model = self.write('long.onnx', network(names=(name, 'b', 'c', name + '/y')))
        line = next(line for line in self.compare(model, '--all').out.splitlines() if 'scores' in line)
        self.assertIn('.../', line.replace('...é', '.../é'))
        self.assertIn('é/last/y', line)
        self.assertNotIn('module/module', line)
        self.assertEqual(self.compare(model, '--json').json()['outputs'][0]['name'], name + '/y')

    def test_bad_usage(self):
        self.fails('compare', self.good, '--against', 'nothing', says='kernel set')
        self.fails('compare', self.good, '--against', self.folder.name, says='none of the values')
        self.fails('compare', self.good, '--against', self.path('missing.npz'), says='missing.npz')
        self.fails('compare', self.good, '--atol', '-1', says='--atol')
        os.mkdir(self.path('bad'))
        self.write('bad/index.tsv', b'../x.npy\ta\n')
        self.fails('compare', self.good, '--against', self.path('bad'), says='not a file of this folder')
        two = self.write('two.onnx', ow.two_input_model())
        self.fails('compare', self.good, '--against', two, '--input', self.x, says='no counterpart')


class Validate(CliTest):
    def setUp(self):
        super().setUp()
        nodes = [ow.node('Exp', ['x'], ['e'], 'exponential'), ow.node('Sub', ['e', 'e'], ['y'], 'difference')]
        self.model = self.write('m.onnx', ow.model(nodes, [ow.value_info('x', [3])], [ow.value_info('y', [3])]))

    def run_on(self, values, code, *arguments):
        answer = program.svengine('run', self.model, '--input', self.write('x.npy', ow.npy([3], values)), '--validate', *arguments)
        self.assertEqual(answer.code, code, answer)
        return answer

    def test_finite(self):
        self.assertIn('all 2 values of real numbers are finite', self.run_on([1, 2, 3], 0).out)
        self.assertTrue(self.run_on([1, 2, 3], 0, '--json').json()['validation']['passed'])

    def test_the_first_node_is_named(self):
        text = self.run_on([1, 200, -3], 1).out
        self.assertIn("2 of 2 values, first that of node 'exponential' (Exp), whose inputs are finite", text)
        self.assertIn('x float32[3]: -3 to 200', text)
        first = self.run_on([1, 200, -3], 1, '--json').json()['validation']['first']
        self.assertEqual([f['node'] for f in first], ['exponential', 'difference'])
        self.assertEqual((first[0]['value']['infinite'], first[1]['value']['nan']), (1, 1))
        self.assertEqual([f['from_finite'] for f in first], [True, False])

    def test_an_input_that_is_nan(self):
        self.assertIn('not finite: input x float32[3]: 1 to 1, 2 NaN, 0 infinite', self.run_on([1, float('nan'), float('nan')], 1).out)


if __name__ == '__main__':
    program.main(__doc__)
