"""Makes the Debian packages and looks into them: packages_test.py CPACK CONFIG CC"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

CPACK, CONFIG, CC = sys.argv[1:]
MOST_BYTES = 12 << 20  # of the stripped shared library


def run(*command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode:
        raise AssertionError('%s\n%s\nexit code %d' % (' '.join(command), done.stdout, done.returncode))
    return done.stdout


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix='svengine_packages_')
        cls.addClassCleanup(folder.cleanup)
        run(CPACK, '--config', CONFIG, '-B', folder.name)
        cls.files = {name.split('_')[0]: os.path.join(folder.name, name) for name in os.listdir(folder.name) if name.endswith('.deb')}
        cls.root = os.path.join(folder.name, 'root')
        for file in cls.files.values():
            run('dpkg-deb', '-x', file, cls.root)

    def contents(self, package):
        return {line.split()[5][1:] for line in run('dpkg-deb', '-c', self.files[package]).splitlines()}

    def test_contents(self):
        [library] = [name for name in self.files if re.fullmatch(r'libsvengine\d+', name)]
        self.assertEqual(set(self.files) - {'libsvengine-fortran-dev'}, {'svengine', 'libsvengine-dev', library})
        self.assertLessEqual({'/usr/bin/svengine', '/usr/share/man/man1/svengine-run.1.gz', '/usr/share/bash-completion/completions/svengine'},
                             self.contents('svengine'))
        self.assertLessEqual({'/usr/include/svengine/svengine.h', '/usr/lib/libsvengine.a', '/usr/lib/libsvengine.so',
                              '/usr/lib/pkgconfig/svengine.pc', '/usr/lib/cmake/svengine/svengineConfig.cmake'}, self.contents('libsvengine-dev'))
        self.assertIn('/usr/lib/libsvengine.so.' + library.removeprefix('libsvengine'), self.contents(library))
        self.assertIn('libnuma1', run('dpkg-deb', '-f', self.files[library], 'Depends'))
        self.assertIn(library, run('dpkg-deb', '-f', self.files['libsvengine-dev'], 'Depends'))

    def test_library(self):
        """Its size, and that a program finds it and what it needs."""
        library = os.path.realpath(os.path.join(self.root, 'usr/lib/libsvengine.so'))
        self.assertLessEqual(os.path.getsize(library), MOST_BYTES)
        program = os.path.join(self.root, 'program')
        source = '#include <svengine/svengine.h>\nint main(void) { return svengine_abi() != SVENGINE_ABI; }\n'
        run(CC, '-std=c11', '-x', 'c', '-', '-I' + os.path.join(self.root, 'usr/include'), '-x', 'none', library, '-o', program, input=source)
        run(program, env=dict(os.environ, LD_LIBRARY_PATH=os.path.dirname(library)))


unittest.main(argv=sys.argv[:1])
