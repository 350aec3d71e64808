#!/usr/bin/python3
"""What svengine train --log-dir writes for TensorBoard, read by a reader that shares nothing with the writer.

The files were also read once by TensorBoard 2.21 (EventAccumulator), which showed the same numbers.
"""
import csv
import os
import random
import shutil
import struct
import time

import onnx_writer as ow
from event_reader import events_of, masked_crc, records, shown
from program import CliTest, main
from train_test import CLASSES, SAMPLES, SIDE, network

WEIGHTS = ['conv.w', 'norm.w', 'norm.b', 'fc.w', 'fc.b']


def small(value):
    """Rounded to float, as scalars are stored."""
    return struct.unpack('<f', struct.pack('<f', float(value)))[0]


class EventsTest(CliTest):
    def setUp(self):
        super().setUp()
        draw, pixels = random.Random(7), SAMPLES * SIDE * SIDE
        self.write('image.npy', ow.npy([SAMPLES, 1, SIDE, SIDE], [draw.uniform(-1, 1) for _ in range(pixels)]))
        self.write('label.npy', ow.npy([SAMPLES], [draw.randrange(CLASSES) for _ in range(SAMPLES)], '<i8'))
        data = self.path('image.npy') + ',' + self.path('label.npy')
        self.base = ['train', self.write('net.onnx', network()), '--data', data, '--validate', data, '--batch', 16, '--log-dir', self.path('log'),
                     '--log-every', 1]

    def rows(self, name):
        with open(self.path('log/' + name), newline='') as file:
            return list(csv.DictReader(file))

    def agree_with_tables(self, series):
        for table, prefix in (('steps.csv', 'step/'), ('training.csv', '')):
            rows = self.rows(table)
            for column in rows[0]:
                if column != 'step':
                    self.assertEqual(series[prefix + column], [(int(row['step']), small(row[column])) for row in rows], column)

    def test_format(self):
        """The reader knows the checksum's published values, and finds every byte that is changed."""
        self.assertEqual(masked_crc(b'123456789'), ((0xe3069283 >> 15 | 0xe3069283 << 17) + 0xa282ead8) & 0xffffffff)
        self.succeeds(*self.base)
        name = next(n for n in os.listdir(self.path('log')) if n.startswith('events'))
        data = self.read('log/' + name)
        whole = list(records(data))
        self.assertGreater(len(whole), 15)
        draw = random.Random(3)
        for at in list(range(40)) + [draw.randrange(len(data)) for _ in range(20)]:
            with self.assertRaises(ValueError):
                list(records(data[:at] + bytes([data[at] ^ 1 << draw.randrange(8)]) + data[at + 1:]))

    def test_scalars(self):
        before = time.time()
        self.succeeds(*self.base, '--epochs', 3)
        files = events_of(self.path('log'))
        self.assertEqual(len(files), 1)
        events = files[0]
        self.assertEqual((events[0].version, events[0].step, events[0].values), ('brain.Event:2', 0, []))
        self.assertFalse(any(event.version for event in events[1:]))
        times = [event.time for event in events]
        self.assertEqual(times, sorted(times))
        self.assertTrue(before - 1 < times[0] and times[-1] < time.time() + 1, (before, times[0], times[-1]))
        series = shown(files)
        self.assertEqual([step for step, _ in series['step/loss']], list(range(1, 13)))
        self.assertEqual([step for step, _ in series['train/loss']], [4, 8, 12])
        self.agree_with_tables(series)
        columns = {'step/' + c for c in self.rows('steps.csv')[0]} | set(self.rows('training.csv')[0])
        self.assertEqual(set(series), columns - {'step', 'step/step'} | {'weights/' + name for name in WEIGHTS})

    def check_histogram(self, h, values):
        self.assertEqual(h.num, len(values))
        self.assertEqual((h.least, h.most), (min(values), max(values)))
        self.assertAlmostEqual(h.sum, sum(values), delta=1e-9 * sum(map(abs, values)))
        self.assertAlmostEqual(h.sum_squares, sum(v * v for v in values), delta=1e-9 * h.sum_squares)
        self.assertEqual(len(h.limits), len(h.counts))
        self.assertEqual(sum(h.counts), h.num)
        self.assertEqual(h.limits[-1], h.most)  # TensorBoard begins the first bucket at `least`
        self.assertTrue(h.least <= h.limits[0])
        self.assertEqual(h.limits, sorted(set(h.limits)))
        for low, limit, count in zip([-float('inf')] + h.limits, h.limits, h.counts):
            self.assertEqual(count, sum(low < v <= limit for v in values), (low, limit))

    def test_histograms(self):
        """Of weights that stay, whose values are known: spread ones, and a norm's that are all equal."""
        self.succeeds(*self.base, '--epochs', 2, '--lr', 0)
        series = shown(events_of(self.path('log')))
        draw = random.Random(5)
        first = lambda count: [small(draw.uniform(-0.3, 0.3)) for _ in range(count)]
        wanted = {'conv.w': first(36), 'fc.w': first(CLASSES * 4 * SIDE * SIDE), 'norm.w': [1.0] * 4, 'norm.b': [0.0] * 4, 'fc.b': [0.0] * CLASSES}
        for name in WEIGHTS:
            self.assertEqual([step for step, _ in series['weights/' + name]], [4, 8])
            for _, histogram in series['weights/' + name]:
                self.check_histogram(histogram, wanted[name])
        self.succeeds(*self.base, '--epochs', 2)
        moved = shown(events_of(self.path('log')))['weights/fc.w']
        self.assertNotEqual(moved[0][1].counts, moved[1][1].counts)
        for _, histogram in moved:
            self.assertEqual(sum(histogram.counts), CLASSES * 4 * SIDE * SIDE)

    def test_resumed(self):
        """A run that was killed long after its checkpoint: what it did from there on is done again, and shown once."""
        base = self.base + ['--checkpoint', self.path('c')]
        self.succeeds(*base, '--epochs', 1)
        shutil.copytree(self.path('c'), self.path('first'))
        self.succeeds(*base, '--epochs', 4, '--resume')
        shutil.rmtree(self.path('c'))
        shutil.move(self.path('first'), self.path('c'))
        time.sleep(1)  # files are in the order of their names, which begin with the second
        self.succeeds(*base, '--epochs', 3, '--resume')
        files = events_of(self.path('log'))
        self.assertEqual([[event.step for event in events if event.start] for events in files], [[1], [5], [5]])
        series = shown(files)
        self.assertEqual([step for step, _ in series['step/loss']], list(range(1, 13)))
        self.agree_with_tables(series)


if __name__ == '__main__':
    main('usage: events_test.py [EMULATOR...] SVENGINE')
