"""Tests of --cache, from outside: cache_test.py [EMULATOR...] PROGRAM"""
import glob
import os
import resource
import subprocess

import program
from program import CliTest, PROGRAM


class Cache(CliTest):
    def setUp(self):
        super().setUp()
        self.model = self.path('m.onnx')
        self.succeeds('zoo', 'bert-tiny', self.model)
        self.cache = self.path('cache')

    def start(self, *arguments, **options):
        """The bytes of the output, and what was said on standard error besides the usual."""
        answer = self.succeeds('run', self.model, '--json', '--dim', 'S=5', '--output-dir', self.path('out'), *arguments, **options)
        return self.read('out/last_hidden_state.npy'), answer.err

    def report(self, *arguments):
        return self.succeeds('bench', self.model, '--json', '--dim', 'S=5', '--iterations', '1', '--cache', self.cache, *arguments).json()['cache']

    def packed_files(self):
        return glob.glob(self.cache + '/*.packed')

    def test_second_start(self):
        want, _ = self.start()
        self.assertFalse(os.path.exists(self.cache))
        first = self.report()
        self.assertEqual((first['found'], first['written']), (0, True))
        self.assertEqual(self.packed_files(), [first['file']])
        second = self.report()
        self.assertEqual((second['found'], second['packed'], second['written']), (first['packed'], 0, False))
        self.assertEqual(self.start('--cache', self.cache), (want, ''))
        text = self.succeeds('bench', self.model, '--dim', 'S=5', '--iterations', '1', '--cache', self.cache).out
        self.assertIn('%d packed layouts' % first['packed'], text)
        os.remove(self.model)
        self.succeeds('zoo', 'bert-tiny', self.model, '--seed', '2')
        self.assertEqual(self.report()['found'], 0)

    def test_kernel_sets(self):
        for name in self.succeeds('info', '--json').json()['kernel_sets'].split(', '):
            self.assertEqual(self.report('--kernels', name)['found'], 0)
            self.assertEqual(self.report('--kernels', name)['packed'], 0)

    def test_at_once(self):
        want, _ = self.start()
        processes = []
        for i in range(4):
            command = PROGRAM + ['run', self.model, '--json', '--dim', 'S=5', '--cache', self.cache, '--output-dir', self.path('out%d' % i)]
            processes.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE))
        for i, process in enumerate(processes):
            _, err = process.communicate(timeout=600)
            self.assertEqual((process.returncode, err), (0, b''))
            self.assertEqual(self.read('out%d/last_hidden_state.npy' % i), want)
        self.assertEqual(len(self.packed_files()), 1)
        self.assertFalse(glob.glob(self.cache + '/*.part'))
        self.assertEqual(self.report()['packed'], 0)

    def test_damage(self):
        want, _ = self.start('--cache', self.cache)
        path = self.packed_files()[0]
        with open(path, 'r+b') as file:
            file.seek(os.path.getsize(path) // 2)
            byte = file.read(1)
            file.seek(-1, os.SEEK_CUR)
            file.write(bytes([byte[0] ^ 16]))
        got, err = self.start('--cache', self.cache)
        self.assertEqual(got, want)
        self.assertIn('1 of the cached weights', err)
        self.assertEqual(self.start('--cache', self.cache), (want, ''))
        os.truncate(path, 1000)
        got, err = self.start('--cache', self.cache)
        self.assertEqual(got, want)
        self.assertIn('is cut off', err)
        self.assertEqual(self.start('--cache', self.cache), (want, ''))

    def test_useless_folder(self):
        want, _ = self.start()
        blocked = self.write('file', b'')
        for folder in (blocked, blocked + '/below'):
            got, err = self.start('--cache', folder)
            self.assertEqual(got, want)
            self.assertTrue(err.startswith('svengine: no cache of packed weights is used: ' + folder), err)
            self.assertEqual(err.count('\n'), 1)
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        got, err = self.start('--cache', self.cache, preexec_fn=limit)
        self.assertEqual(got, want)
        self.assertIn('svengine: packed weights are not cached: ', err)
        self.assertFalse(self.packed_files())
        if os.geteuid() != 0:
            os.chmod(self.cache, 0o500)
            self.assertIn('Permission denied', self.start('--cache', self.cache)[1])
            os.chmod(self.cache, 0o700)
        self.fails('run', self.model, '--cache', '', says='--cache')


if __name__ == '__main__':
    program.main(__doc__)
