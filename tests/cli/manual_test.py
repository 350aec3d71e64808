"""Tests of what is made of the program's own options, man pages and completions: manual_test.py [EMULATOR...] PROGRAM"""
import os
import re
import shutil
import subprocess

import program
from program import CliTest

# Lines in which a shell completes: the words, of which the last one is being written.
COMPLETE = '''
source "$1"; shift
compopt() { :; }
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_svengine
printf '%s\\n' "${COMPREPLY[@]}"
'''


class Manual(CliTest):
    def commands(self):
        return re.findall(r'^  ([a-z]+) {2,}', self.succeeds('--help').out, re.MULTILINE)

    def test_pages(self):
        folder = self.path('man1')
        self.succeeds('manual', '--output-dir', folder)
        self.assertEqual(sorted(os.listdir(folder)), sorted(['svengine.1', *('svengine-%s.1' % c for c in self.commands())]))
        for command in self.commands():
            page = self.succeeds('manual', command).out
            self.assertEqual(page, self.read('man1/svengine-%s.1' % command).decode())
            self.assertTrue(page.startswith('.TH SVENGINE\\-%s 1 ' % command.upper()))
            for option in re.findall(r'^  (--[a-z0-9-]+)', self.succeeds(command, '--help-all').out, re.MULTILINE):
                self.assertIn('\\fB%s\\fR' % option.replace('-', '\\-'), page)
        page = self.succeeds('manual').out
        for command in self.commands():
            self.assertIn('\\fBsvengine\\-%s\\fR(1)' % command, page)
        self.assertIn('.SH EXAMPLES\n.nf\n  svengine info\n', page)

    def test_roff_has_no_faults(self):
        if not shutil.which('groff'):
            self.skipTest('no groff')
        for command in self.commands():
            page = self.succeeds('manual', command).out
            done = subprocess.run(['groff', '-man', '-Tutf8', '-ww', '-z'], input=page, text=True, capture_output=True)
            self.assertEqual(done.stderr, '')

    def test_refusals(self):
        self.fails('manual', 'nonsense', says='nonsense')
        self.fails('manual', '--output-dir', self.write('file', b'') + '/below', says='--output-dir')
        self.fails('completion', 'tcsh', says='tcsh')
        self.fails('completion')


class Completion(CliTest):
    def completed(self, *words):
        script = self.write('svengine.bash', self.succeeds('completion', 'bash').out.encode())
        done = subprocess.run(['bash', '-c', COMPLETE, 'bash', script, 'svengine', *words], cwd=self.folder.name, text=True, capture_output=True)
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        return done.stdout.split()

    def test_bash(self):
        for name in ('model.onnx', 'folder/x.npy'):
            self.write(name, b'')
        self.assertIn('train', self.completed(''))
        self.assertEqual(self.completed('ins'), ['inspect'])
        self.assertEqual(self.completed('--vers'), ['--version'])
        self.assertEqual(self.completed('run', '--out'), ['--output-dir'])
        self.assertEqual(self.completed('run', '--output-dir', ''), ['folder'])
        self.assertEqual(self.completed('run', 'mod'), ['model.onnx'])
        self.assertEqual(self.completed('run', 'model.onnx', '--input', 'x', '=', 'mod'), ['model.onnx'])
        self.assertEqual(self.completed('run', '--kernels', 'ref'), ['reference'])
        self.assertEqual(self.completed('run', '--kernels', '=', 'ref'), ['reference'])
        self.assertEqual(self.completed('run', '--threads', ''), [])
        self.assertIn('resnet50', self.completed('zoo', 'res'))
        self.assertEqual(self.completed('completion', ''), ['bash', 'zsh', 'fish'])

    def test_other_shells(self):
        """That they hold every option, and what these shells say of them where they are installed."""
        for shell in ('zsh', 'fish'):
            script = self.succeeds('completion', shell).out
            for option in re.findall(r'^  --([a-z0-9-]+)', self.succeeds('train', '--help-all').out, re.MULTILINE):
                self.assertIn(('--%s[' if shell == 'zsh' else '-l %s ') % option, script.replace('=-[', '['))
            if shutil.which(shell):
                subprocess.run([shell, '-n', self.write(shell, script.encode())], check=True)


program.main(__doc__)
