"""Tests of sequences and optionals in .pb files, as inputs and recorded values, from outside: values_test.py [EMULATOR...] PROGRAM"""
import os
import struct

import onnx_writer as ow
import program
from onnx_writer import block, node, number, tensor, value_info
from program import CliTest

SEQUENCE, OPTIONAL = 4, 9  # fields of a TypeProto
STRING = 8


def holder_info(kind, name):
    """A sequence or an optional of float tensors [2]."""
    element = value_info('', [2])[4:]  # without the empty name and the head of the type
    return block(1, name) + block(2, block(kind, block(1, element)))


def sequence_model():
    """longer = s with x behind it, first = s[0]."""
    nodes = [node('SequenceInsert', ['s', 'x'], ['longer'], 'insert'), node('SequenceAt', ['s', 'zero'], ['first'], 'at')]
    return ow.model(nodes, [holder_info(SEQUENCE, 's'), value_info('x', [2])], [holder_info(SEQUENCE, 'longer'), value_info('first', [2])],
                    [tensor('zero', [], [0], ow.INT64)])


def optional_model():
    """y = -o, where there is one."""
    return ow.model([node('OptionalGetElement', ['o'], ['v'], 'get'), node('Neg', ['v'], ['y'], 'neg')], [holder_info(OPTIONAL, 'o')],
                    [value_info('y', [2])], opset=18)


def values(*tensors):
    """A SequenceProto or OptionalProto of tensors [2]."""
    return number(2, 1) + b''.join(block(3, number(1, 2) + number(2, ow.FLOAT) + block(9, struct.pack('<2f', *t))) for t in tensors)


class Values(CliTest):
    def setUp(self):
        super().setUp()
        self.model = self.write('sequence.onnx', sequence_model())
        self.write('s.pb', block(1, 's') + values([1, 2], [3, 4]))
        self.write('x.pb', tensor('x', [2], [5, 6]))
        self.given = ['--input', 's=' + self.path('s.pb'), '--input', 'x=' + self.path('x.pb')]

    def data_set(self, longer, first):
        for name, data in (('input_0', self.read('s.pb')), ('input_1', self.read('x.pb')), ('output_0', longer), ('output_1', first)):
            self.write('set/%s.pb' % name, data)
        return self.path('set')

    def test_inputs(self):
        text = self.succeeds('run', self.model, *self.given).out
        self.assertIn('longer: sequence of 3', text)
        self.assertRegex(text, r'first: float32\[2\]\n  values +1, 2\n')
        outputs = self.succeeds('run', self.model, *self.given, '--json').json()['outputs']
        self.assertEqual([(o['name'], o['type']) for o in outputs], [('longer', 'sequence'), ('first', 'float32')])
        optional = self.write('optional.onnx', optional_model())
        self.write('o.pb', values([7, 8]))
        self.assertRegex(self.succeeds('run', optional, '--input', self.path('o.pb')).out, r'values +-7, -8\n')
        self.write('o.pb', values())
        self.fails('run', optional, '--input', self.path('o.pb'), says="'get' (OptionalGetElement)")

    def test_test_and_compare(self):
        good = self.data_set(values([1, 2], [3, 4], [5, 6]), tensor('', [2], [1, 2]))
        self.assertIn('2 of 2 outputs', self.succeeds('test', self.model, good).out)
        self.succeeds('compare', self.model, '--data-set', good)
        self.succeeds('compare', self.model, '--data-set', good, '--against', good)
        for longer in (values([1, 2], [3, 4], [5, 7]), values([1, 2], [3, 4]), values()):
            bad = self.data_set(longer, tensor('', [2], [1, 2]))
            answer = program.svengine('test', self.model, bad)
            self.assertEqual(answer.code, 1, answer)
            self.assertRegex(answer.out, r'FAIL +longer')
            answer = program.svengine('compare', self.model, '--data-set', bad, '--against', bad)
            self.assertEqual(answer.code, 1, answer)
            self.assertIn("'insert' (SequenceInsert)", answer.out)

    def test_what_is_written_is_read_again(self):
        self.succeeds('run', self.model, *self.given, '--output-dir', self.path('out'))
        self.assertEqual(self.read('out/longer.pb'), block(1, 'longer') + values([1, 2], [3, 4], [5, 6]))
        again = self.succeeds('run', self.model, '--input', 's=' + self.path('out/longer.pb'), '--input', self.given[3])
        self.assertIn('longer: sequence of 4', again.out)
        self.succeeds('compare', self.model, *self.given, '--record', self.path('record'))
        with open(self.path('record/index.tsv')) as index:
            self.assertEqual(sorted(line.split('\t')[1] for line in index.read().splitlines()), ['first', 'longer', 's', 'x'])
        self.succeeds('compare', self.model, '--against', self.path('record'))
        self.write('s.pb', values([1, 2], [3, 5]))
        answer = program.svengine('compare', self.model, *self.given, '--against', self.path('record'))
        self.assertEqual(answer.code, 1, answer)

    def test_maps_and_strings(self):
        """names of an array's columns, as ai.onnx.ml's ZipMap makes them, and back."""
        kind = block(5, number(1, STRING) + block(2, block(1, number(1, ow.FLOAT))))
        maps = block(1, 'm') + block(2, block(4, block(1, kind)))
        names = block(5, block(1, 'classlabels_strings') + block(9, 'one') + block(9, 'two') + number(20, 8))
        model = ow.model([node('ZipMap', ['x'], ['m'], 'zip', names + block(7, 'ai.onnx.ml'))], [value_info('x', [2, 2])], [maps])
        model = self.write('maps.onnx', model + block(8, block(1, 'ai.onnx.ml') + number(2, 1)))
        self.write('x.pb', tensor('x', [2, 2], [1, 2, 3, 4]))
        self.assertIn('m: sequence of 2', self.succeeds('run', model, '--input', self.path('x.pb'), '--output-dir', self.path('set')).out)
        os.rename(self.path('set/m.pb'), self.path('set/output_0.pb'))
        self.write('set/input_0.pb', self.read('x.pb'))
        self.assertIn('1 of 1 outputs', self.succeeds('test', model, self.path('set')).out)
        self.write('set/input_0.pb', tensor('x', [2, 2], [1, 2, 3, 5]))
        self.assertEqual(program.svengine('test', model, self.path('set')).code, 1)
        named = lambda keys: block(2, block(5, number(1, keys) + block(2, block(1, number(1, ow.FLOAT)))))
        vocabulary = block(5, block(1, 'string_vocabulary') + block(9, 'one') + block(9, 'two') + number(20, 8))
        vectors = ow.model([node('DictVectorizer', ['d'], ['y'], 'vector', vocabulary + block(7, 'ai.onnx.ml'))], [block(1, 'd') + named(STRING)],
                           [value_info('y', [1, 2])]) + block(8, block(1, 'ai.onnx.ml') + number(2, 1))
        scalar = lambda v: block(3, number(2, ow.FLOAT) + block(9, struct.pack('<f', v)))
        vectors = self.write('vectors.onnx', vectors)
        d = self.write('d.pb', number(2, STRING) + block(4, 'two') + block(4, 'none') + block(5, number(2, 1) + scalar(3) + scalar(4)))
        self.assertRegex(self.succeeds('run', vectors, '--input', d).out, r'values +0, 3\n')
        for data in (number(2, ow.INT64) + number(3, 1) + block(5, number(2, 1) + scalar(3)),  # other keys than the model's
                     number(2, STRING) + block(4, 'two') + block(5, number(2, 1) + block(3, number(2, ow.INT64) + block(9, bytes(8)))),  # and values
                     number(2, STRING) + block(4, 'two') + block(5, number(2, 1) + scalar(3) + scalar(4)), number(2, STRING) + block(4, 'two')):
            self.fails('run', vectors, '--input', self.write('d.pb', data))
        words = self.write('words.onnx', ow.model([node('Identity', ['w'], ['v'])], [value_info('w', [2], STRING)], [value_info('v', [2], STRING)]))
        self.write('w.pb', number(1, 2) + number(2, STRING) + block(6, 'a') + block(6, 'b'))
        self.succeeds('run', words, '--input', self.path('w.pb'), '--output-dir', self.path('words'))
        self.assertEqual(self.read('words/v.pb').count(b'\x32\x01'), 2)

    def test_files_that_hold_something_else(self):
        nested = number(2, 1)
        for _ in range(20):
            nested = number(2, 3) + block(5, nested)
        refused = [(tensor('x', [2], [1, 2]), 'is no sequence: a tensor'), (tensor('x', [], [1]), 'is no sequence: a tensor'), (nested, 'nested more than'),
                   (number(2, 2) + block(4, b''), 'sparse'), (values([1, 2])[:-3], 's.pb'), (b'\x1a\xff\xff\xff\xff\x0f', 's.pb'), (b'hello world', 's.pb'),
                   (number(2, 1) + block(3, tensor('', [1 << 40], [1])), 's.pb')]
        for data, says in refused:
            self.write('s.pb', data)
            self.fails('run', self.model, *self.given, says=["'s'", says])
        self.write('s.pb', self.read('x.pb'))
        self.fails('run', self.model, '--input', 's=' + self.path('x.pb'), says='is no sequence: a tensor')
        self.fails('run', self.write('add.onnx', ow.add_model()), '--input', self.write('v.pb', values([1, 2])), says='sequence or an optional')
        optional = self.write('optional.onnx', optional_model())
        self.fails('run', optional, '--input', self.write('o.pb', values([1, 2], [3, 4])), says='an optional holds 2 values')
        self.fails('run', self.model, '--input', 'x=' + self.path('x.pb'), says='no random values of type sequence')

    def test_inspecting_needs_no_values(self):
        words = self.write('words.onnx', ow.model([node('Identity', ['w'], ['v'])], [value_info('w', ['N'], STRING)], [value_info('v', ['N'], STRING)]))
        for model in (self.model, words, self.write('optional.onnx', optional_model())):
            for options in ([], ['--plan'], ['--after', 'import'], ['--after', 'load:fold'], ['--json']):
                self.succeeds('inspect', model, *options)


if __name__ == '__main__':
    program.main(__doc__)
