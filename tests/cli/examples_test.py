"""Runs the examples of VALIDATING.md again, from outside: examples_test.py [EMULATOR...] PROGRAM

An example is a block of code that begins with `$ svengine`; what follows has to be what that prints on standard output, but for numbers and
the names of kernel sets, which are the machine's. Blocks run in their order in one folder, where FILES are.
EXAMPLES_WRITE=1 writes the document's blocks anew.
"""
import os
import re
import shlex
import subprocess

import onnx_writer as ow
import program
from check_test import broken_model
from compare_test import DATA, attribute_int, network
from program import CliTest


def exported():
    """The classifier from another exporter: other names, one more node, an attribute and a number that are not the same."""
    nodes = [ow.node('MatMul', ['x', 'p0'], ['1'], 'n0'), ow.node('Identity', ['1'], ['2'], 'n1'), ow.node('Add', ['2', 'p1'], ['3'], 'n2'),
             ow.node('Relu', ['3'], ['4'], 'n3'), ow.node('Softmax', ['4'], ['y'], 'n4', attribute_int('axis', -1))]
    return ow.model(nodes, [ow.value_info('x', [2, 3])], [ow.value_info('y', [2, 3])],
                    [ow.tensor('p0', [3, 3], [1, -2, 0.5, 0.25, 1, 3, -1, 0.5, 2]), ow.tensor('p1', [3], (0.5, 0.5, 0.25))])


DOCUMENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'VALIDATING.md')
BLOCK = re.compile(r'^```\n\$ svengine (.*)\n((?:(?!```).*\n)*)```', re.MULTILINE)
FILES = {
    'broken.onnx': broken_model(),
    'classifier.onnx': network(),
    'converted.onnx': network(bias=(0.5, 0.5, 0.25)),  # the sign of one number is lost
    'exported.onnx': exported(),
    'overflow.onnx': ow.model([ow.node('Exp', ['x'], ['e'], 'exponential'), ow.node('Sub', ['e', 'e'], ['y'], 'difference')],
                              [ow.value_info('x', [2, 3])], [ow.value_info('y', [2, 3])]),
    'x.npy': ow.npy([2, 3], DATA),
    'large.npy': ow.npy([2, 3], [100 * v for v in DATA]),
}


def comparable(text):
    text = re.sub(r'\b(avx2|avx512|sve\d+)\b', 'SET', text.replace('-nan', 'nan'))
    return re.sub(r'[ \t]+', ' ', re.sub(r'-?\b\d+(?:[.,]\d+)*(?:e[-+]?\d+)?\b', '0', text)).strip()


class Examples(CliTest):
    def setUp(self):
        super().setUp()
        for name, data in FILES.items():
            self.write(name, data)

    def output_of(self, arguments):
        done = subprocess.run(program.PROGRAM + shlex.split(arguments), cwd=self.folder.name, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=600)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return done.stdout

    def test_document(self):
        with open(DOCUMENT, encoding='utf-8') as document:
            text = document.read()
        if os.environ.get('EXAMPLES_WRITE'):
            text = BLOCK.sub(lambda m: '```\n$ svengine %s\n%s```' % (m[1], self.output_of(m[1])), text)
            with open(DOCUMENT, 'w', encoding='utf-8') as document:
                document.write(text)
        blocks = BLOCK.findall(text)
        self.assertTrue(blocks)
        for arguments, expected in blocks:
            with self.subTest(arguments):
                self.assertEqual(comparable(self.output_of(arguments)), comparable(expected))


if __name__ == '__main__':
    program.main(__doc__)
