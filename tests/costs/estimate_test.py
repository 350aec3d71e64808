#!/usr/bin/python3
"""Tests of bench/estimate_cycles.py on made-up blocks: joining, subtracting, recognising instructions. Needs neither QEMU nor LLVM, but
compares its reading of instructions and its timing of FMSB with llvm-mc's and llvm-mca's where these are installed."""
import os
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'bench'))
import estimate_cycles as ec  # noqa: E402

FMLA, FMLS, FMAD, FMSB, FNMLA = 0x65a20020, 0x65a22020, 0x65a28020, 0x65a2a020, 0x65a24020  # z0.s, p0/m, z1.s, z2.s
FMLA_ELEMENT = 0x64a20020  # fmla z0.s, z1.s, z2.s[0]
LDR_Z_SP, LDR_Z_X3, STR_Z_X3 = 0x858043e0, 0x85804460, 0xe5804460  # the last two #1 vector behind x3
LDR_P, LD1W, LD1RW, FADD = 0x858003e0, 0xa540a000, 0x8540c000, 0x65820020
ADD, NOP, B_NE, RET, SVC, CBNZ = 0x91000400, 0xd503201f, 0x54ffffc1, 0xd65f03c0, 0xd4000001, 0xb5ffffe0
HAS_LLVM = any(shutil.which(f'llvm-mc{end}') for end in ('', '-14', '-15', '-19'))


class Estimate(unittest.TestCase):
    def test_instructions(self):
        for word in (FMLA, FMLS, FMAD, FMSB, FNMLA, FMLA_ELEMENT):
            self.assertTrue(ec.is_multiply_add(word), hex(word))
        for word in (FADD, LD1W, LDR_Z_SP, ADD):
            self.assertFalse(ec.is_multiply_add(word), hex(word))
        for word in (LDR_Z_SP, LDR_Z_X3, STR_Z_X3):
            self.assertTrue(ec.is_spill(word), hex(word))
        for word in (LDR_P, LD1W, LD1RW, FMLA, ADD):
            self.assertFalse(ec.is_spill(word), hex(word))
        for word in (B_NE, RET, SVC, CBNZ):
            self.assertTrue(ec.ends_block(word), hex(word))
        for word in (ADD, NOP, FMLA, LD1W):
            self.assertFalse(ec.ends_block(word), hex(word))

    def test_join_pages(self):
        page = {0xff8: [7, (ADD, FMLA)], 0x1000: [7, (FMLA, B_NE)]}
        self.assertEqual(ec.join_pages(page), {0xff8: [7, (ADD, FMLA, FMLA, B_NE)]})
        entered = {0xff0: [2, (ADD, ADD, ADD, FMLA)], 0xff8: [7, (ADD, FMLA)], 0x1000: [10, (FMLA, B_NE)]}  # once by a jump, twice by code before
        self.assertEqual(ec.join_pages(entered), {0xff0: [2, (ADD, ADD, ADD, FMLA, FMLA, B_NE)], 0xff8: [7, (ADD, FMLA, FMLA, B_NE)],
                                                  0x1000: [1, (FMLA, B_NE)]})
        others = [{0xff8: [7, (ADD, B_NE)], 0x1000: [7, (FMLA, B_NE)]},     # the first branches
                  {0xff0: [7, (ADD, FMLA)], 0xff8: [7, (FMLA, B_NE)]},      # not at a page
                  {0xff8: [7, (ADD, FMLA)], 0x1004: [7, (FMLA, B_NE)]}]     # not adjacent
        for blocks in others:
            self.assertEqual(ec.join_pages(blocks), blocks)
        fewer = {0xff8: [7, (ADD, FMLA)], 0x1000: [6, (FMLA, B_NE)]}  # which cannot be
        self.assertEqual(ec.join_pages(fewer), fewer)
        long = {0xffc: [1, (ADD,)], 0x1000: [1, (NOP,) * 1024], 0x2000: [1, (RET,)]}
        self.assertEqual(ec.join_pages(long), {0xffc: [1, (ADD, *(NOP,) * 1024, RET)]})

    def test_read(self):
        with tempfile.NamedTemporaryFile('w', suffix='.blocks') as file:
            file.write(f'1000 3 {ADD:08x} {B_NE:08x}\n2000 5 {RET:08x}\n1000 4 {ADD:08x} {B_NE:08x}\n')
            file.flush()
            self.assertEqual(ec.read_blocks(file.name), {0x1000: [7, (ADD, B_NE)], 0x2000: [5, (RET,)]})

    def test_estimate(self):
        loop, other = (LD1W, FMLA, FMLA, LDR_Z_X3, B_NE), (ADD, RET)
        figures, rows = ec.estimate({loop: [1010, 0x1000], other: [50, 0x2000]}, {loop: [10, 0x1000], other: [50, 0x2000]}, 2,
                                    lambda blocks: [4.0 for _ in blocks])
        self.assertEqual(figures, {'instructions': 2500, 'cycles': 2000, 'sve_fma': 1000, 'fma_pipe_share': 0.25, 'z_spills': 500, 'guessed': 0})
        self.assertEqual([(r['executions'], r['spills']) for r in rows], [(1000, 1)])
        figures, _ = ec.estimate({loop: [10, 0x1000]}, None, 1, lambda blocks: [None])
        self.assertEqual((figures['cycles'], figures['guessed']), (25, 1))
        with self.assertRaises(ec.Failed):
            ec.estimate({loop: [10, 0x1000]}, {loop: [10, 0x1000]})

    @unittest.skipUnless(HAS_LLVM, 'LLVM is not installed')
    def test_beside_llvm(self):
        text = ec.assembly([FMLA, FMSB, FMLA_ELEMENT, LDR_Z_SP, LDR_Z_X3, STR_Z_X3, LDR_P, LD1W, B_NE])
        starts = {FMLA: 'fmla\tz', FMSB: 'fmsb\tz', FMLA_ELEMENT: 'fmla\tz', LDR_Z_SP: 'ldr\tz', LDR_Z_X3: 'ldr\tz', STR_Z_X3: 'str\tz', LDR_P: 'ldr\tp',
                  LD1W: 'ld1w', B_NE: 'b.ne'}
        for word, start in starts.items():
            self.assertTrue(text[word].startswith(start), f'{word:08x} is {text[word]}')
        cycles = ec.time_blocks([(FMSB, B_NE), (FMLS, B_NE), (FMLA,) * 2])
        self.assertIsNotNone(cycles[0])
        self.assertEqual(cycles[0], cycles[1])


if __name__ == '__main__':
    unittest.main()
