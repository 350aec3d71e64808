#!/usr/bin/python3
"""svengine train from outside: learning, determinism, resuming after every kind of end, and what it says of bad input."""
import csv
import gzip
import os
import random
import resource
import signal
import struct
import subprocess
import time
import zlib

import onnx_writer as ow
from program import PROGRAM, CliTest, main, svengine

CLASSES, SAMPLES, SIDE = 3, 50, 6


def integer(name, value):
    return ow.block(5, ow.block(1, name) + ow.number(20, 2) + ow.number(3, value))


def integers(name, values):
    return ow.block(5, ow.block(1, name) + ow.number(20, 7) + b''.join(ow.number(8, v) for v in values))


def network(classes=CLASSES):
    """Conv, BatchNormalization, Relu, Dropout, Gemm: scores of the classes for images of one channel."""
    draw = random.Random(5)
    weights = lambda name, dims, count: ow.tensor(name, dims, [draw.uniform(-0.3, 0.3) for _ in range(count)])
    width = 4 * SIDE * SIDE
    nodes = [ow.node('Conv', ['image', 'conv.w'], ['c'], 'conv', integers('pads', [1, 1, 1, 1])),
             ow.node('BatchNormalization', ['c', 'norm.w', 'norm.b', 'norm.mean', 'norm.var'], ['n'], 'norm'),
             ow.node('Relu', ['n'], ['r'], 'relu'),
             ow.node('Dropout', ['r', 'ratio'], ['d'], 'drop'),
             ow.node('Flatten', ['d'], ['f'], 'flat'),
             ow.node('Gemm', ['f', 'fc.w', 'fc.b'], ['scores'], 'fc', integer('transB', 1))]
    return ow.model(nodes, [ow.value_info('image', ['N', 1, SIDE, SIDE])], [ow.value_info('scores', ['N', classes])],
                    [weights('conv.w', [4, 1, 3, 3], 36), ow.tensor('norm.w', [4], [1] * 4), ow.tensor('norm.b', [4], [0] * 4),
                     ow.tensor('norm.mean', [4], [0] * 4), ow.tensor('norm.var', [4], [1] * 4), ow.tensor('ratio', [], [0.2]),
                     weights('fc.w', [classes, width], classes * width), ow.tensor('fc.b', [classes], [0] * classes)])


def png(width, height, pixels):
    """Grey, eight bits."""
    chunk = lambda kind, data: struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
    rows = b''.join(b'\0' + bytes(pixels[y * width:(y + 1) * width]) for y in range(height))
    return (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', width, height, 8, 0, 0, 0, 0)) + chunk(b'IDAT', zlib.compress(rows)) +
            chunk(b'IEND', b''))


def step_parameters():
    """Numbers that are trained."""
    return 36 + 8 + CLASSES * 4 * SIDE * SIDE + CLASSES


def log_without_speed(path):
    with open(path, newline='') as file:
        return [{k: v for k, v in row.items() if k != 'samples_per_s'} for row in csv.DictReader(file)]


class TrainTest(CliTest):
    def setUp(self):
        super().setUp()
        self.model = self.write('model.onnx', network())
        draw = random.Random(7)
        labels = [i % CLASSES for i in range(SAMPLES)]
        pixels = [draw.gauss(0, 0.6) + (1.5 if i % SIDE // 2 == labels[s] else 0) for s in range(SAMPLES) for i in range(SIDE * SIDE)]
        self.write('image.npy', ow.npy([SAMPLES, 1, SIDE, SIDE], pixels))
        self.write('label.npy', ow.npy([SAMPLES], labels, '<i8'))
        self.data = '%s,%s' % (self.path('image.npy'), self.path('label.npy'))
        self.base = ['train', self.model, '--data', self.data, '--batch', 8, '--optimizer', 'sgd:momentum=0.9,weight_decay=1e-3', '--lr', 0.05,
                     '--schedule', 'cosine:epochs=4,warmup=1', '--augment', 'crop=1', '--seed', 3]

    def trained(self, name, *options):
        self.succeeds(*self.base, '--output', self.path(name), *options)
        return self.read(name)

    def test_learns_and_exports(self):
        done = self.succeeds(*self.base[:2], '--data', self.data, '--batch', 8, '--lr', 0.05, '--epochs', 12, '--validate', self.data, '--init',
                             '--optimizer', 'sgd:momentum=0.9', '--output', self.path('out.onnx'), '--json').json()
        first, last = done['epochs'][0], done['epochs'][-1]
        self.assertLess(last['training']['loss'], 0.5 * first['training']['loss'])
        self.assertGreater(last['held_out']['accuracy'], 0.9)
        self.assertEqual(done['steps'], 12 * 7)
        self.assertEqual(done['parameters'], step_parameters())
        # The exported network answers as the evaluation did.
        self.succeeds('run', self.path('out.onnx'), '--input', self.path('image.npy'), '--output-dir', self.path('answers'))
        dims, scores = ow.read_npy(self.read('answers/scores.npy'))
        self.assertEqual(tuple(dims), (SAMPLES, CLASSES))
        right = sum(max(range(CLASSES), key=lambda c: scores[s * CLASSES + c]) == s % CLASSES for s in range(SAMPLES))
        self.assertEqual(right / SAMPLES, last['held_out']['accuracy'])

    def test_any_number_of_threads(self):
        one = self.trained('one.onnx', '--epochs', 2, '--threads', 1)
        for threads in (2, 3, 12):
            self.assertEqual(self.trained('more.onnx', '--epochs', 2, '--threads', threads, '--load-threads', threads % 4), one)
        self.base[self.base.index('--seed') + 1] = 4
        self.assertNotEqual(self.trained('other.onnx', '--epochs', 2), one)

    def test_resumes_bitwise(self):
        for optimizer in ('sgd:momentum=0.9,weight_decay=1e-3', 'adamw:weight_decay=0.1', 'lars:trust=0.1', 'lamb'):
            name = optimizer.split(':')[0]
            self.base[self.base.index('--optimizer') + 1] = optimizer
            if name == 'lamb':
                self.base += ['--accumulate', 3, '--clip-norm', 1]
            whole = self.trained('whole.onnx', '--epochs', 4, '--validate', self.data, '--log-dir', self.path(name + 'log'))
            logs = ['--validate', self.data, '--log-dir', self.path(name + 'parts'), '--checkpoint', self.path(name)]
            self.trained('half.onnx', '--epochs', 2, *logs)
            self.assertEqual(self.trained('rest.onnx', '--epochs', 4, '--resume', *logs), whole)
            self.assertEqual(log_without_speed(self.path(name + 'parts/training.csv')), log_without_speed(self.path(name + 'log/training.csv')))

    def test_resumes_within_a_group(self):
        """Every generation of a run that saves after every batch, also between the batches of one step."""
        self.base += ['--accumulate', 3, '--class-weights', '1,2,0.5']
        whole = self.trained('whole.onnx', '--epochs', 2)
        self.succeeds(*self.base, '--epochs', 2, '--checkpoint', self.path('all'), '--save-every', 1, '--keep', 100)
        manifests = [f for f in os.listdir(self.path('all')) if f.endswith('.manifest')]
        self.assertEqual(len(manifests), 14, manifests)
        for last in (1, 3, 8, 11):
            folder = self.path('upto%d' % last)
            os.makedirs(folder)
            for file in os.listdir(self.path('all')):
                digits = ''.join(c for c in file.split('.')[0] if c.isdigit())
                if digits and int(digits) <= last:
                    os.link(os.path.join(self.path('all'), file), os.path.join(folder, file))
            self.assertEqual(self.trained('rest.onnx', '--epochs', 2, '--checkpoint', folder, '--resume'), whole)

    def test_class_weights(self):
        self.write('weights.txt', b'1 2\n0.5\n')
        self.write('weights.npy', ow.npy([CLASSES], [1, 2, 0.5]))
        listed = self.trained('list.onnx', '--class-weights', '1,2,0.5')
        self.assertNotEqual(listed, self.trained('none.onnx'))
        for file in ('weights.txt', 'weights.npy'):
            self.assertEqual(listed, self.trained('file.onnx', '--class-weights', self.path(file)))
        self.write('words.txt', b'1 two 3')
        self.write('square.npy', ow.npy([1, CLASSES], [1, 2, 3]))
        self.write('empty.txt', b' \n')
        for weights, says in (('1,2', ['2 class weights', '3 classes', "'scores'"]), ('1,-2,1', ['class weight 1 is -2', '0 or more']),
                              ('1,nan,1', 'class weight 1 is'), (self.path('words.txt'), ['words.txt', "'two' is not a number"]),
                              (self.path('none.txt'), ['none.txt', 'cannot be read']), (self.path('square.npy'), ['one dimension', '1x3']),
                              (self.path('empty.txt'), 'there is no number')):
            self.fails(*self.base, '--class-weights', weights, says=says)
        self.fails('train', self.model, '--data', self.data, '--loss', 'mse', '--class-weights', '1,2,3', says='has no labels')

    def test_killed_at_random_moments(self):
        whole = self.trained('whole.onnx', '--epochs', 4)
        command = PROGRAM + [str(a) for a in self.base] + ['--epochs', '4', '--checkpoint', self.path('c'), '--resume', '--save-every', '2', '--keep', '2',
                                                          '--output', self.path('killed.onnx')]
        begin = time.monotonic()
        subprocess.run(PROGRAM + [str(a) for a in self.base] + ['--epochs', '4'], check=True, capture_output=True)
        usual, draw, signals = time.monotonic() - begin, random.Random(1), [signal.SIGKILL, signal.SIGTERM, signal.SIGKILL, signal.SIGUSR1]
        for attempt in range(60):
            run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            if attempt < 12:
                time.sleep(draw.uniform(0, usual))
                run.send_signal(signals[attempt % 4])
            said = run.communicate()[1]
            self.assertIn(run.returncode, (0, -signal.SIGKILL, -signal.SIGTERM, -signal.SIGUSR1), said)
            if run.returncode == 0 and 'stopped by' not in said:
                break
        self.assertEqual(self.read('killed.onnx'), whole)

    def test_stop_without_checkpoint(self):
        answer = svengine(*self.base, '--epochs', 1000000, '--max-time', '2s')
        self.assertEqual(answer.code, 1, answer)
        self.assertIn('nothing is saved', answer.err)

    def test_initial_weights_follow_the_seed(self):
        a, b = self.trained('a.onnx', '--init', '--epochs', 1), self.trained('b.onnx', '--init', '--epochs', 1)
        self.assertEqual(a, b)
        self.assertNotEqual(a, self.trained('c.onnx', '--epochs', 1))

    def test_frozen_weights_stay(self):
        done = self.succeeds(*self.base, '--freeze', 'conv*', '--freeze', 'norm.*', '--json', '--output', self.path('out.onnx')).json()
        self.assertEqual(done['parameters'], CLASSES * 4 * SIDE * SIDE + CLASSES)
        draw = random.Random(5)
        conv = struct.pack('<36f', *[draw.uniform(-0.3, 0.3) for _ in range(36)])
        self.assertIn(conv, self.read('out.onnx'))
        self.assertNotIn(conv, self.trained('free.onnx'))
        self.fails(*self.base, '--freeze', '*', says='nothing to train')

    def test_losses_that_are_not_finite(self):
        wild = [x if x != 0.05 else 1e30 for x in self.base]
        self.fails_late(*wild, '--epochs', 9, says='the loss of step')
        self.fails_late(*wild, '--epochs', 9, '--detect-anomaly', says='of node')
        self.write('image.npy', ow.npy([SAMPLES, 1, SIDE, SIDE], [float('nan')] * SAMPLES * SIDE * SIDE))
        self.fails_late(*self.base, '--detect-anomaly', says="input 'image' is NaN")

    def fails_late(self, *arguments, says):
        """After the table has begun."""
        answer = svengine(*arguments)
        self.assertEqual(answer.code, 2, answer)
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, answer.err, answer)

    def test_bad_data(self):
        self.fails('train', self.model, '--data', self.path('nowhere'), says='nowhere')
        self.write('label.npy', ow.npy([SAMPLES], [i % 5 for i in range(SAMPLES)], '<i8'))
        self.fails(*self.base, says=['5 classes', 'labels 0 to 4', 'only 3'])
        self.write('label.npy', ow.npy([SAMPLES - 1], [0] * (SAMPLES - 1), '<i8'))
        self.fails(*self.base, says='49')
        self.write('label.npy', ow.npy([SAMPLES], [0] * SAMPLES, '<i8'))
        self.write('image.npy', ow.npy([SAMPLES, 1, SIDE, 5], [0] * SAMPLES * SIDE * 5))
        self.fails(*self.base, says=["'image' needs float32[Nx1x6x6]", 'Nx1x6x5'])
        self.write('image.npy', ow.npy([SAMPLES, 1, SIDE, SIDE], [0] * SAMPLES * SIDE * SIDE))
        self.fails('train', self.model, '--data', self.path('image.npy'), says=['too few', '--field'])
        self.fails(*self.base, '--validate', 'test', says='--hold-out')
        self.fails(*self.base, '--field', 'picture=label', says="no input 'picture'")

    def test_images_that_do_not_decode(self):
        draw = random.Random(2)
        for i in range(21):
            self.write('images/%s/%d.png' % ('abc'[i % 3], i // 3), png(SIDE, SIDE, [draw.randrange(256) for _ in range(SIDE * SIDE)]))
        train = ['train', self.model, '--data', self.path('images'), '--batch', 4, '--seed', 3]
        whole = self.succeeds(*train, '--json').json()
        self.assertEqual(whole['samples'], 21)
        for damage, says in ((self.read('images/b/3.png')[:50], 'the image is damaged'), (b'', 'neither a PNG nor a JPEG'),
                             (png(SIDE - 1, SIDE, [0] * SIDE * SIDE), 'is 5x6 pixels, the others are 6x6; give a size to resize')):
            self.write('images/b/3.png', damage)
            self.fails_late(*train, says=['sample 10', 'images/b/3.png', says])
        skipping = train + ['--skip-bad', '--validate', self.path('images'), '--json']
        done = self.succeeds(*skipping, '--output', self.path('one.onnx'))
        self.assertIn('images/b/3.png', done.err)
        self.assertIn('another sample took its place', done.err)
        self.assertIn('left out', done.err)
        self.assertIn(done.json()['epochs'][0]['held_out']['accuracy'], [i / 20 for i in range(21)])
        self.succeeds(*skipping, '--load-threads', 3, '--threads', 2, '--output', self.path('two.onnx'))
        self.assertEqual(self.read('one.onnx'), self.read('two.onnx'))
        for i in range(21):
            self.write('images/%s/%d.png' % ('abc'[i % 3], i // 3), b'nothing')
        self.fails(*skipping, says=['.png', 'neither a PNG nor a JPEG'])

    def test_damaged_data(self):
        array = self.read('image.npy')
        for size in (0, 5, 60, len(array) // 2, len(array) - 1):
            self.write('image.npy', array[:size])
            self.fails(*self.base, says='image.npy')
        images = struct.pack('>IIII', 0x803, 30, SIDE, SIDE) + bytes(30 * SIDE * SIDE)
        labels = struct.pack('>II', 0x801, 30) + bytes(i % CLASSES for i in range(30))
        self.write('ten.onnx', network(10))
        mnist = ['train', self.path('ten.onnx'), '--data', self.path('idx'), '--batch', 8]
        packed = gzip.compress(images)
        self.write('idx/train-images-idx3-ubyte.gz', packed)
        self.write('idx/train-labels-idx1-ubyte', labels)
        self.succeeds(*mnist)
        for damage in (packed[:len(packed) // 2], packed[:-1], packed[:-9] + b'X' + packed[-8:], b''):
            self.write('idx/train-images-idx3-ubyte.gz', damage)
            self.fails(*mnist, says='train-images-idx3-ubyte.gz')
        self.write('idx/train-images-idx3-ubyte.gz', packed)
        self.write('idx/train-labels-idx1-ubyte', labels[:-1])
        self.fails(*mnist, says='train-labels-idx1-ubyte')
        self.write('idx/train-labels-idx1-ubyte', labels[:-1] + bytes([10]))
        self.fails(*mnist, says=['train-labels-idx1-ubyte', '10'])

    def test_damaged_checkpoints(self):
        run = [*self.base, '--epochs', 3, '--checkpoint', self.path('c'), '--resume', '--output', self.path('out.onnx')]
        self.succeeds(*run)
        whole = self.read('out.onnx')
        newest = max(f for f in os.listdir(self.path('c')) if f.endswith('.data'))
        self.write('c/' + newest, self.read('c/' + newest)[:-100])
        resumed = self.succeeds(*run)
        self.assertEqual(self.read('out.onnx'), whole)
        self.assertIn(newest, resumed.err)
        for file in os.listdir(self.path('c')):
            if file.endswith('.manifest'):
                self.write('c/' + file, b'{')
        self.fails(*run, says=['checkpoint-', 'manifest'])

    def test_checkpoints_of_another_model(self):
        self.succeeds(*self.base, '--checkpoint', self.path('c'))
        other = network().replace(b'fc.b', b'fc.c')
        self.write('model.onnx', other)
        self.fails(*self.base, '--checkpoint', self.path('c'), '--resume', says=['it is of the model', 'not of'])

    def test_two_writers(self):
        first = subprocess.Popen(PROGRAM + [str(a) for a in self.base] + ['--epochs', '1000000', '--checkpoint', self.path('c'), '--max-time', '120'],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            while not os.path.isdir(self.path('c')) or not any(f.endswith('.manifest') for f in os.listdir(self.path('c'))):
                self.assertIsNone(first.poll())
                time.sleep(0.02)
            self.fails(*self.base, '--checkpoint', self.path('c'), '--resume', says=['process %d' % first.pid, 'writes checkpoints to', '/c', 'a directory of its own'])
        finally:
            first.send_signal(signal.SIGTERM)
            first.communicate()
        self.assertEqual(first.returncode, 0)  # nothing of the first is lost
        self.succeeds(*self.base, '--epochs', 1000000, '--checkpoint', self.path('c'), '--resume', '--max-time', '2')

    def test_no_space_left(self):
        """A limit on the size of files stands for a full disk: the last good checkpoint stays, and the run goes on from it when there is room."""
        self.succeeds(*self.base, '--checkpoint', self.path('c'))
        there = sorted(os.listdir(self.path('c')))

        def no_room():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        answer = svengine(*self.base, '--epochs', 2, '--checkpoint', self.path('c'), '--resume', preexec_fn=no_room)
        self.assertEqual(answer.code, 2, answer)
        self.assertIn('File too large', answer.err)
        self.assertIn('/c', answer.err)
        self.assertEqual(sorted(os.listdir(self.path('c'))), there)
        resumed = self.trained('resumed.onnx', '--epochs', 2, '--checkpoint', self.path('c'), '--resume')
        self.assertEqual(resumed, self.trained('whole.onnx', '--epochs', 2))

    def test_bad_options(self):
        self.fails(*self.base, '--shard', '--topology', '2x1', says='for inference')
        self.fails(*self.base, '--output', self.path('no/where.onnx'), says='there is no folder')
        for option, value, says in (('--optimizer', 'lion', 'sgd, adam, adamw, adagrad, lars and lamb'), ('--optimizer', 'sgd:beta1=0.5', "no 'beta1'"),
                                    ('--loss', 'hinge', 'cross_entropy'), ('--schedule', 'cosine', 'epochs'), ('--augment', 'spin', 'crop=PIXELS and flip'),
                                    ('--loss-of', 'logits', 'its outputs are scores')):
            base = list(self.base)
            if option in base:
                del base[base.index(option):base.index(option) + 2]
            self.fails(*base, option, value, says=says)

    def test_checkpoints_of_another_run(self):
        self.succeeds(*self.base, '--checkpoint', self.path('c'))
        self.fails(*self.base, '--checkpoint', self.path('c'), says='--resume')
        self.fails(*self.base, '--checkpoint', self.path('c'), '--resume', '--clip-norm', 1, says=['--clip-norm', 'must agree'])

    def test_bench(self):
        inference = self.succeeds('bench', self.model, '--dim', 'N=4', '--iterations', 2, '--json').json()
        step = self.succeeds('bench', self.model, '--train', '--batch', 4, '--optimizer', 'adam', '--iterations', 2, '--json').json()
        self.assertEqual(list(step), list(inference))
        self.assertEqual(step['batch'], 4)
        self.assertEqual(step['planned_bytes']['kept'], 4 * (3 * step_parameters() + 8))  # Adam has two states a weight; statistics

    def test_recomputation(self):
        """The same bits, and the planned memory is said."""
        once = self.trained('kept.onnx', '--recompute=none')
        self.assertEqual(self.trained('cheap.onnx'), once)
        self.assertEqual(self.trained('segments.onnx', '--recompute'), once)
        planned = {}  # of so small a network recomputation saves nothing; it must not take more
        for level in ('none', 'cheap', 'segments'):
            done = self.succeeds('bench', self.model, '--train', '--batch', 64, '--iterations', 1, '--recompute=' + level, '--json')
            planned[level] = done.json()['planned_bytes']['values']
        self.assertLessEqual(planned['cheap'], planned['none'])
        self.assertLessEqual(planned['segments'], planned['cheap'])
        self.assertIn('without recomputation', self.succeeds('bench', self.model, '--train', '--iterations', 1, '--recompute').out)
        self.assertIn('planned memory', self.succeeds(*self.base).out)
        self.fails(*self.base, '--recompute=some', says='--recompute')


if __name__ == '__main__':
    main('usage: train_test.py [EMULATOR...] SVENGINE')
