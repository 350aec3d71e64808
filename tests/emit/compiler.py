"""The C compiler of a build, and programs that it makes, run under the build's emulator, for the tests here."""
import argparse
import os
import subprocess
import tempfile
import unittest

WARNINGS = ['-std=c99', '-Wall', '-Wextra', '-Wpedantic', '-Werror']
HERE = os.path.dirname(os.path.abspath(__file__))
options = None


def run(*command, code=0, **more):
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600, **more)
    if done.returncode != code:
        raise AssertionError('%s: exit code %d\n%s%s' % (' '.join(str(c) for c in command), done.returncode, done.stdout, done.stderr))
    return done


def emulated(*command, **more):
    return run(*options.emulator, *command, **more)


def compile_c(*arguments):
    run(options.cc, *WARNINGS, *arguments)


class EmitTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='svengine_emit_')
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)


class SamplesTest(EmitTest):
    def program(self, name):
        return os.path.join(options.programs, name)

    def compile_samples(self):
        """What emit_samples or emit_graphs wrote, as a program."""
        objects = []
        for source in (self.path('samples.c'), os.path.join(HERE, 'compare_samples.c')):
            objects.append(self.path(os.path.basename(source)[:-1] + 'o'))
            compile_c('-O2', '-I', HERE, '-I', self.folder, '-c', source, '-o', objects[-1])
        run(options.cc, *objects, '-lm', '-o', self.path('compare_samples'))
        return self.path('compare_samples')


def main():
    global options
    parser = argparse.ArgumentParser()
    parser.add_argument('--svengine', required=True)
    parser.add_argument('--programs', required=True, help='the folder of emit_samples and emit_graphs')
    parser.add_argument('--cc', required=True)
    parser.add_argument('--emulator', default='')
    options = parser.parse_args()
    options.emulator = [word for word in options.emulator.split(';') if word]
    if options.emulator:  # libraries of the emulated machine
        triplet = run(options.cc, '-dumpmachine').stdout.strip()
        os.environ.setdefault('QEMU_LD_PREFIX', '/usr/' + triplet)
    unittest.main(module='__main__', argv=['emit'])
