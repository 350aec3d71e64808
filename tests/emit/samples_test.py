"""Every operator's samples as C against the kernel set `reference`: samples_test.py --svengine PROGRAM --programs FOLDER --cc CC [--emulator LIST]"""
import re

import compiler
from compiler import SamplesTest, emulated

LEAST_SAMPLES, LEAST_OPERATORS = 660, 114  # so many there were when this was written


class Samples(SamplesTest):
    def test_samples(self):
        made = emulated(self.program('emit_samples'), self.folder).stdout
        samples, operators = (int(n) for n in re.match(r'(\d+) samples of (\d+) operators\n$', made).groups())
        self.assertGreaterEqual(samples, LEAST_SAMPLES)
        self.assertGreaterEqual(operators, LEAST_OPERATORS)
        compared = emulated(self.compile_samples(), self.path('samples.bin')).stdout
        self.assertEqual(compared, '0 of %d samples differ\n' % samples)


compiler.main()
