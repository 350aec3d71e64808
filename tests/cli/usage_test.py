"""Tests of what the program says of itself: help, wrong usage, `svengine info`, from outside: usage_test.py [EMULATOR...] PROGRAM"""
import json
import os
import re
import subprocess

import onnx_writer as ow
import program
from program import CliTest, PROGRAM

COMMANDS = ['info', 'inspect', 'check', 'compare', 'diff', 'convert', 'quantize', 'sensitivity', 'reduce', 'run', 'test', 'train', 'bench',
            'classify', 'predict', 'emit', 'ops', 'zoo', 'manual', 'completion']
MOST_LINES, MOST_COLUMNS = 40, 120  # of a screen


class Usage(CliTest):
    def test_help(self):
        top = self.succeeds('--help').out
        for command in COMMANDS:
            self.assertIn(command, top)
            text = self.succeeds(command, '--help').out
            self.assertIn('Examples:', text)
            self.assertIn('svengine ' + command, text)
        self.assertRegex(self.succeeds('--version').out, r'^svengine \d+\.\d+\.\d+\n$')

    def test_help_fits_a_screen(self):
        """Of every option at least the name; --help-all has what is more to say."""
        listed = re.findall(r'^  ([a-z]+) {2,}', self.succeeds('--help').out, re.MULTILINE)
        self.assertEqual(sorted(listed), sorted(COMMANDS))
        for command in [[], *([c] for c in COMMANDS)]:
            text, whole = (self.succeeds(*command, option).out for option in ('--help', '--help-all'))
            lines = text.splitlines()
            self.assertLessEqual(len(lines), MOST_LINES, text)
            self.assertLessEqual(max(len(line) for line in (text + whole).splitlines()), MOST_COLUMNS, whole)
            names = set(re.findall(r'^  (--[a-z-]+)', whole, re.MULTILINE))
            self.assertEqual(set(), {n for n in names if not re.search(n + r'(?![a-z-])', text)}, text)
            described = set(re.findall(r'^  (--[a-z-]+)', text, re.MULTILINE))
            self.assertLessEqual(described, names)
        self.assertIn('Groups of threads', self.succeeds('run', '--help-all').out)
        self.assertIn('(not with --topology)', self.succeeds('run', '--help-all').out)
        self.assertIn('(with --checkpoint)', ' '.join(self.succeeds('train', '--help-all').out.split()))
        self.assertIn('More, see --help-all:\n  --strict', self.succeeds('run', '--help').out)

    def test_one_operator(self):
        out = self.succeeds('ops', 'Conv').out
        for line in [r'ai\.onnx +Conv +1-\d+ +float +x', r'inputs: 2 to 3; outputs: 1', r'2 +B +optional', r'T +X, W, B +float', r'auto_pad +string +"NOTSET"', r'group +int +1']:
            self.assertRegex(out, line)
        self.assertRegex(self.succeeds('ops', 'Concat').out, r'inputs: 1 or more(?s:.)*0 +inputs +one or more(?s:.)*T +inputs(?s:.)*axis +int +required')
        self.assertRegex(self.succeeds('ops', 'If').out, r'inputs: 1;(?s:.)*0 +cond *\n\n')
        (norm,) = [o for o in json.loads(self.succeeds('ops', 'LayerNormalization', '--json').out) if o['domain'] == 'ai.onnx']
        self.assertEqual((norm['inputs'], norm['outputs']), ({'min': 2, 'max': 3}, {'min': 1, 'max': 3}))
        self.assertEqual(norm['input_names'][1:], [{'name': 'Scale', 'required': True}, {'name': 'B', 'required': False}])
        self.assertIn({'name': 'epsilon', 'kind': 'float', 'required': False, 'default': 1e-5}, norm['attributes'])
        names = [a['name'] for a in json.loads(self.succeeds('ops', 'If', '--json').out)[0]['attributes']]
        self.assertEqual(sorted(names), ['else_branch', 'then_branch'])  # and not what the engine's own passes note
        self.fails('ops', 'Cnov', says="no operator 'Cnov'")

    def test_wrong_usage(self):
        self.fails('bnech', 'model.onnx', says=["'bnech' is not a subcommand", "try 'svengine --help'"])
        self.fails('\x1b[31m', says="'\\x1b[31m' is not a subcommand")
        self.fails(says='--help')
        self.fails('--nonsense', says='svengine --help')
        self.fails('nonsense')
        for command in COMMANDS:
            self.fails(command, 'm.onnx', '--nonsense', says="svengine %s --help" % command)
        for command in ['run', 'test', 'bench', 'classify', 'quantize', 'sensitivity', 'predict', 'emit', 'zoo']:
            self.fails(command)
        self.fails('inspect', says='MODEL')
        self.fails('check', says='MODEL')

    def test_wrong_values(self):
        for threads in ['0', '-1', '1000000000', '99999999999999999999', 'two', '']:
            self.fails('info', '--threads', threads, says='--threads')
        for topology in ['0x1', '4x', 'x12', '4x12x1', '-1x2', '100000x100000', '4*12']:
            self.fails('info', '--topology', topology, says='4x12')
        self.fails('info', '--threads', '2', '--topology', '1x2', says='--topology')
        self.fails('info', '--kernels', 'avx1024', says=['avx1024', '--kernels', 'reference'])
        for option, value in [('--iterations', '0'), ('--iterations', '-3'), ('--warmup', '-1'), ('--duration', '-1'), ('--duration', 'x'),
                              ('--top', '0'), ('--seed', '-1'), ('--seed', '1.5')]:
            self.fails('bench', 'm.onnx', option, value, says=option)
        self.fails('test', 'm.onnx', '--rtol', '-1', says='--rtol')
        self.fails('bench', 'm.onnx', '--iterations', '3', '--duration', '1', says='--duration')

    def test_closed_and_full_output(self):
        for command in (['info'], ['--help'], ['inspect', '--passes']):
            process = subprocess.Popen(PROGRAM + command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            process.stdout.close()
            error = process.stderr.read()
            process.stderr.close()
            self.assertEqual(process.wait(), 0, error)
            self.assertEqual(error, b'')
        model = self.write('add.onnx', ow.add_model())
        # With standard output closed, the first file opened would get its number and its text.
        shell = 'exec "$@" >&-'
        done = subprocess.run(['sh', '-c', shell, 'sh'] + PROGRAM + ['run', model, '--output-dir', self.path('out')], stderr=subprocess.PIPE, timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(ow.read_npy(self.read('out/y.npy'))[0], (1, 3))
        if os.path.exists('/dev/full'):
            with open('/dev/full', 'w') as full:
                done = subprocess.run(PROGRAM + ['info'], stdout=full, stderr=subprocess.PIPE, text=True, timeout=600)
            self.assertEqual(done.returncode, 2)
            self.assertIn('svengine: standard output: No space left', done.stderr)


class Info(CliTest):
    def test_info(self):
        text = self.succeeds('info').out
        for word in ['version', 'processor', 'kernel set', 'vector length', 'threads', 'topology', 'huge pages', 'denormals']:
            self.assertIn(word, text)
        facts = self.succeeds('info', '--json', '--topology', '4x12').json()
        self.assertEqual(facts['threads'], 48)
        self.assertIn('4 groups', facts['topology'])
        self.assertIn(facts['kernel_set'], facts['kernel_sets'])
        self.assertTrue(facts['flush_denormals'])
        self.assertFalse(self.succeeds('info', '--json', '--no-flush-denormals').json()['flush_denormals'])
        self.assertNotEqual(facts['kernel_set'], 'reference')  # it is there, but only for who asks
        self.assertTrue(facts['kernel_sets'].endswith(', reference'))
        for name in facts['kernel_sets'].split(', '):
            self.assertEqual(self.succeeds('info', '--json', '--kernels', name).json()['kernel_set'], name)
        self.assertEqual(self.succeeds('info', '--json', '--threads', 3).json()['threads'], 3)


if __name__ == '__main__':
    program.main(__doc__)
