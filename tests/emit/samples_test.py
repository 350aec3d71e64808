"""Every operator's samples as C against the kernel set `reference`: samples_test.py --svengine PROGRAM --samples PROGRAM --cc CC [--emulator LIST]"""
import os
import re
import subprocess

import compiler
from compiler import HERE, EmitTest, compile_c, emulated

LEAST_SAMPLES, LEAST_OPERATORS = 600, 100  # so many there were when this was written


class Samples(EmitTest):
    def test_samples(self):
        made = emulated(compiler.options.samples, self.folder).stdout
        samples, operators = (int(n) for n in re.match(r'(\d+) samples of (\d+) operators\n$', made).groups())
        self.assertGreaterEqual(samples, LEAST_SAMPLES)
        self.assertGreaterEqual(operators, LEAST_OPERATORS)
        objects = []
        for name, level in (('samples', '-O2'), ('compare_samples', '-O1')):
            source = self.path(name + '.c') if name == 'samples' else os.path.join(HERE, name + '.c')
            objects.append(self.path(name + '.o'))
            compile_c(level, '-I', HERE, '-I', self.folder, '-c', source, '-o', objects[-1])
        program = self.path('compare_samples')
        subprocess.run([compiler.options.cc, *objects, '-lm', '-o', program], check=True)
        compared = emulated(program, self.path('samples.bin')).stdout
        self.assertEqual(compared, '0 of %d samples differ\n' % samples)


compiler.main()
