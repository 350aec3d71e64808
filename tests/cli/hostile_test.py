"""Hostile input of every kind but model files (check_test.py), from outside, within bounds of time and memory: hostile_test.py [EMULATOR...] PROGRAM"""
import os
import resource
import struct
import subprocess
import time
import zipfile
import zlib

import onnx_writer as ow
import program
from check_test import INT, INTS, STRING, attribute
from onnx_writer import FLOAT, INT64, block, node, number, tensor, value_info
from program import CliTest, PROGRAM, svengine

INT32 = 6
NUMPY = {FLOAT: '<f4', INT64: '<i8', INT32: '<i4'}
NAN, INFINITY = float('nan'), float('inf')
LEAST, MOST = -2**63, 2**63 - 1


class HostileTest(CliTest):
    def run_node(self, code, op, inputs, attributes=b'', says=(), out=FLOAT, rank=1, opset=17, limits=('--memory-limit', '64M')):
        """y = op(inputs), each (dims, values, type), which come with the run; None: an input left empty."""
        names = ['' if given is None else 'i%d' % i for i, given in enumerate(inputs)]
        there = [(name, given) for name, given in zip(names, inputs) if given is not None]
        y = value_info('y', ['Y%d' % i for i in range(rank)], out)
        data = ow.model([node(op, names, ['y'], 'it', attributes)], [value_info(n, ['D%s%d' % (n, k) for k in range(len(g[0]))], g[2]) for n, g in there],
                        [y], opset=opset)
        files = [self.write('m.onnx', data)]
        arguments = []
        for name, (dims, values, dtype) in there:
            files.append(self.write(name + '.npy', ow.npy(dims, values, NUMPY[dtype])))
            arguments += ['--input', '%s=%s' % (name, files[-1])]
        text = self.bounded(code, 'run', files[0], *arguments, *limits, files=files)
        for part in [says] if isinstance(says, str) else says:
            self.assertIn(part, text, op)
        if code == 2 and 'no memory for' not in text:
            self.assertIn("'it' (%s)" % op, text)


def ints(*values):
    return ([len(values)], list(values), INT64)


def scalar(value, dtype=INT64):
    return ([], [value], dtype)


def reals(dims, values=None):
    count = 1
    for d in dims:
        count *= d
    return (dims, values or [0.5] * count, FLOAT)


class Changes(HostileTest):
    """Group 1: files that change while they are read."""

    def test_a_file_that_becomes_shorter(self):
        nodes = [node('MatMul', ['x', 'w'], ['h'], 'first'), node('MatMul', ['h', 'w'], ['y'], 'second')]
        model = self.write('m.onnx', ow.model(nodes, [value_info('x', ['N', 128])], [value_info('y', ['N', 128])], [tensor('w', [128, 128], [0.5] * 2**14)]))
        text = self.bounded(2, 'reduce', model, '--check', "truncate -s 100 '%s'" % model, '--output', self.path('out'))
        self.assertRegex(text, 'a file became shorter while it was read|Bad address')
        self.assertFalse(os.path.exists(self.path('out/reduced.onnx')))

    def test_data_that_become_shorter(self):
        """Read where they are mapped, all the time."""
        model = self.write('m.onnx', ow.model([node('MatMul', ['x', 'w'], ['y'], 'product')], [value_info('x', ['N', 64])], [value_info('y', ['N', 2])],
                                              [tensor('w', [64, 2], [0.5] * 128)]))
        x, t = self.write('x.npy', ow.npy([1000, 64], [0.25] * 64000)), self.write('t.npy', ow.npy([1000, 2], [1] * 2000))
        process = subprocess.Popen(PROGRAM + ['train', model, '--data', x + ',' + t, '--loss', 'mse', '--lr', '0', '--epochs', '100000000', '--max-time', '60',
                                              '--log-dir', self.path('log')], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        with process.stdout, process.stderr:
            while process.poll() is None and not (os.path.exists(self.path('log/training.csv')) and os.path.getsize(self.path('log/training.csv')) > 100):
                time.sleep(0.02)
            os.truncate(x, 1000)
            error = process.stderr.read()
            process.wait()
        self.assertEqual(process.returncode, 2, error)
        self.assertIn('a file became shorter while it was read', error)


class ComputedShapes(HostileTest):
    """Group 7: shapes that come with the data."""

    def test_results_that_no_memory_holds(self):
        values = reals([2])
        for op, inputs, attributes, rank, out in [
                ('ConstantOfShape', [ints(2**40, 2**20)], b'', 2, FLOAT), ('ConstantOfShape', [ints(2**20, 2**10)], b'', 2, FLOAT),
                ('ConstantOfShape', [ints(MOST, MOST)], b'', 2, FLOAT), ('ConstantOfShape', [ints(2**32, 2**32)], b'', 2, FLOAT),
                ('Expand', [reals([1]), ints(2**45)], b'', 1, FLOAT), ('Expand', [reals([1]), ints(2**30)], b'', 1, FLOAT),
                ('Tile', [values, ints(2**40)], b'', 1, FLOAT), ('Tile', [values, ints(MOST)], b'', 1, FLOAT),
                ('Pad', [values, ints(2**45, 2**45)], b'', 1, FLOAT), ('Pad', [values, ints(MOST, MOST)], b'', 1, FLOAT),
                ('Range', [scalar(0), scalar(2**62), scalar(1)], b'', 1, INT64), ('Range', [scalar(LEAST), scalar(MOST), scalar(1)], b'', 1, INT64),
                ('Resize', [reals([1, 1, 2, 2]), None, None, ints(1, 1, 2**20, 2**20)], b'', 4, FLOAT),
                ('Resize', [reals([1, 1, 2, 2]), None, reals([4], [1, 1, 1e18, 1e18])], b'', 4, FLOAT),
                ('OneHot', [ints(0, 1), scalar(2**45), values], b'', 2, FLOAT), ('OneHot', [ints(0, 1), scalar(MOST), values], b'', 2, FLOAT)]:
            self.run_node(2, op, inputs, attributes, rank=rank, out=out)

    def test_results_that_cannot_be(self):
        x = reals([2, 3])
        for op, inputs, attributes, rank in [
                ('ConstantOfShape', [ints(-1)], b'', 1), ('Expand', [x, ints(2, 4)], b'', 2), ('Tile', [x, ints(-1, 2)], b'', 2), ('Tile', [x, ints(1)], b'', 2),
                ('Pad', [x, ints(-9, 0, 0, 0)], b'', 2), ('Pad', [x, ints(1, 2, 3)], b'', 2), ('Reshape', [x, ints(-1, -1)], b'', 2),
                ('Reshape', [x, ints(2**62, 4)], b'', 2), ('Reshape', [x, ints(4, 2)], b'', 2), ('Reshape', [x, ints(0, 0, 0)], b'', 3),
                ('Split', [x, ints(1, 5)], attribute('axis', INT, 1), 2), ('Squeeze', [x, ints(0)], b'', 1), ('Unsqueeze', [x, ints(9)], b'', 3),
                ('Unsqueeze', [x, ints(0, 0)], b'', 4), ('OneHot', [ints(0), scalar(-3), reals([2])], b'', 2), ('Resize', [x, None, reals([2], [NAN, 1])], b'', 2),
                ('Resize', [x, None, reals([2], [-1, 1])], b'', 2), ('Resize', [x, None, None, ints(-4, 3)], b'', 2)]:
            self.run_node(2, op, inputs, attributes, rank=rank)


class Indices(HostileTest):
    """Group 12: values that say where to read or write."""

    def test_out_of_range(self):
        x, row = reals([2, 3]), reals([1, 3])
        for index in (2, -3, MOST, LEAST):
            far = ([1, 1], [index], INT64)
            for op, inputs, rank in [('Gather', [x, ints(index)], 2), ('GatherElements', [x, far], 2), ('GatherND', [x, far], 2),
                                     ('ScatterElements', [x, far, reals([1, 1])], 2), ('ScatterND', [x, far, row], 2)]:
                self.run_node(2, op, inputs, rank=rank)

    def test_counts_and_steps(self):
        x = reals([2, 3])
        for op, inputs, attributes, rank in [
                ('TopK', [x, ints(4)], b'', 2), ('TopK', [x, ints(-1)], b'', 2), ('TopK', [x, ints(MOST)], b'', 2),
                ('Slice', [x, ints(0), ints(2), ints(0), ints(0)], b'', 2), ('Slice', [x, ints(0), ints(2), ints(7), ints(1)], b'', 2),
                ('CumSum', [x, scalar(2)], b'', 2), ('CumSum', [x, scalar(LEAST)], b'', 2), ('ReverseSequence', [x, ints(1, 99, 1)], b'', 2),
                ('ReverseSequence', [x, ints(-1, 1, 1)], b'', 2), ('Trilu', [x, ints(1, 2)], b'', 2)]:
            self.run_node(2, op, inputs, attributes, rank=rank)
        self.run_node(2, 'Range', [scalar(0), scalar(5), scalar(0)], out=INT64)
        for least, most in ((LEAST, MOST), (MOST, LEAST)):  # clamped, both ways
            self.run_node(0, 'Slice', [x, ints(least), ints(most), ints(0), ints(1)], rank=2)
            self.run_node(0, 'Slice', [x, ints(least), ints(most), ints(0), ints(LEAST)], rank=2)
            self.run_node(0, 'Trilu', [x, scalar(least)], rank=2)

    def test_integer_arithmetic(self):
        for dtype, least in ((INT64, LEAST), (INT32, -2**31)):
            a = ([3], [7, least, least], dtype)
            self.run_node((0, 2), 'Div', [a, ([3], [0, -1, 0], dtype)], out=dtype)
            self.run_node((0, 2), 'Mod', [a, ([3], [0, -1, 0], dtype)], out=dtype)
            self.run_node((0, 2), 'Pow', [a, ([3], [-1, 62, least], dtype)], out=dtype)
        for value in (NAN, INFINITY, -INFINITY, 1e30):
            self.run_node(0, 'Cast', [reals([1], [value])], attribute('to', INT, INT32), out=INT32)
            self.run_node(0, 'Cast', [reals([1], [value])], attribute('to', INT, INT64), out=INT64)

    def test_boxes(self):
        for box in ([NAN] * 4, [INFINITY, -INFINITY, 0, NAN], [1e30] * 4):
            self.run_node(0, 'NonMaxSuppression', [reals([1, 2, 4], box * 2), reals([1, 1, 2], [NAN, 1]), ints(MOST)], rank=2, out=INT64)
            window = attribute('output_height', INT, 2) + attribute('output_width', INT, 2)
            self.run_node((0, 2), 'RoiAlign', [reals([1, 1, 4, 4]), reals([1, 4], box), ints(0)], window, rank=4)
        for batch in (1, -1, MOST, LEAST):
            self.run_node(2, 'RoiAlign', [reals([1, 1, 4, 4]), reals([1, 4], [0, 0, 1, 1]), ints(batch)], rank=4)


class UserInputs(HostileTest):
    """Group 13: what a run is given. Buffers of callers (strides, overlap, devices, null) are in tests/python/arrays_test.py."""

    def test_numbers_of_every_kind(self):
        model = self.write('m.onnx', ow.add_model())
        for values in ([NAN, INFINITY, -INFINITY], [1e-45, -1e-40, 3e38], [0, -0.0, 1]):
            path = self.write('x.npy', ow.npy([1, 3], values))
            self.bounded(0, 'run', model, '--input', path, files=[model, path])
        path = self.write('x.npy', ow.npy([0, 3], []))
        self.assertIn('the output is empty', self.bounded(0, 'run', model, '--input', path, files=[model, path]))

    def test_shapes_and_types(self):
        model = self.write('m.onnx', ow.two_input_model())
        for ids, b, says in ((([2], [0, 1], '<i8'), ([3, 2], [0.0] * 6, '<f4'), "'b'"), (([2], [0, 1], '<i4'), ([2, 2], [0.0] * 4, '<f4'), 'int32'),
                             (([1, 2], [0, 1], '<i8'), ([2, 2], [0.0] * 4, '<f4'), 'rank 2'), (([2], [0, 1], '<i8'), ([2, 3], [0.0] * 6, '<f4'), 'not 2'),
                             (([2], [0, 7], '<i8'), ([2, 2], [0.0] * 4, '<f4'), "'look' (Gather)")):
            files = [self.write('ids.npy', ow.npy(*ids)), self.write('b.npy', ow.npy(*b))]
            text = self.bounded(2, 'run', model, '--input', 'ids=' + files[0], '--input', 'b=' + files[1], files=files)
            self.assertIn(says, text)
        for given in (['--shape', 'b:%dx2' % 2**47], ['--dim', 'N=%d' % 2**46], ['--dim', 'N=%d' % 2**40], ['--shape', 'ids:' + 'x'.join(['1'] * 5000)]):
            self.bounded(2, 'run', model, *given)


def archive(path, entries):
    """entries: (name in the archive, data, what the directory says of their size)."""
    with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED) as file:
        for name, data in entries:
            file.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED, 9)
    return path


def npy_of(shape, body, descr='<f4', version=1):
    header = ("{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)).encode() + b'\n'
    return b'\x93NUMPY' + bytes([version, 0]) + struct.pack('<H', len(header)) + header + body


class DataFiles(HostileTest):
    """Group 14: arrays in files. Their parsers, at every cut and bit: importers/npy/npy_test.cc, importers/io/zip_test.cc, tensor_decode_test.cc,
    importers/idx/idx_test.cc, importers/image/image_test.cc; sequences: values_test.py. There is no reader of tar archives."""

    def refuse(self, name, data, says, *options):
        model = self.write('m.onnx', ow.add_model())
        path = self.write(name, data) if data is not None else self.path(name)
        text = self.bounded(2, 'run', model, '--input', path, *options, files=[path])
        for part in [name, *([says] if isinstance(says, str) else says)]:
            self.assertIn(part, text)

    def test_npy(self):
        for data, says in [(b'', 'not a .npy'), (b'\x93NUMPX' + bytes(100), 'not a .npy'), (npy_of('(1, 3)', bytes(12), version=9), 'version 9'),
                           (b'\x93NUMPY\x02\x00\xff\xff\xff\xff', 'header of'), (npy_of('(1, 3)', bytes(12), '|O'), 'Python objects'),
                           (npy_of('(%d, 3)' % 2**62, bytes(12)), '2^48'),
                           (npy_of('(%d, 3)' % 2**40, bytes(12)), 'cut off'), (npy_of('(1, 3)', bytes(11)), 'cut off'), (npy_of('(1, 3)', bytes(13)), 'more'),
                           (npy_of('(1, -3)', bytes(12)), 'negative'), (npy_of('(' + '(' * 3000 + '1', bytes(12)), 'x.npy'),
                           (npy_of("__import__('os').system('touch pwned')", bytes(12)), 'x.npy')]:
            self.refuse('x.npy', data, says)
        self.assertFalse(os.path.exists('pwned'))
        double = self.write('x.npy', npy_of('(1, 3)', bytes(24), '>f8'))
        self.assertIn('got float64[1x3]', self.bounded(2, 'run', self.write('m.onnx', ow.add_model()), '--input', double))
        fortran = b"{'descr': '>f4', 'fortran_order': True, 'shape': (2, 3), }\n"
        x = self.write('x.npy', b'\x93NUMPY\x01\x00' + struct.pack('<H', len(fortran)) + fortran + struct.pack('>6f', 1, 4, 2, 5, 3, 6))
        self.assertIn('2, 4, 6, 5, 7, 9', self.bounded(0, 'run', self.write('m.onnx', ow.add_model()), '--input', x))

    def test_npz(self):
        good = ow.npy([1, 3], [1, 2, 3])
        model = self.write('m.onnx', ow.add_model())
        for names in (['../../x.npy'], ['/x.npy'], ['..\\x.npy', 'y.npy'], ['x']):  # names are names: nothing is unpacked to them
            before = set(os.listdir(self.folder.name)) | {'x.npz'}
            path = archive(self.path('x.npz'), [(name, good) for name in names])
            self.bounded((0, 2), 'run', model, '--input', 'x=' + path, files=[path])
            self.assertEqual(set(os.listdir(self.folder.name)), before)
            self.assertFalse(os.path.exists('/x.npy'))
        twice = archive(self.path('x.npz'), [('x.npy', good), ('y.npy', good)])
        with open(twice, 'rb') as file:
            self.refuse('x.npz', file.read().replace(b'y.npy', b'x.npy'), "two entries 'x.npy'")
        for data in (b'', b'PK\x05\x06' + bytes(18), b'PK\x03\x04' + bytes(100), b'PK\x05\x06' + b'\xff' * 18, bytes(1000)):
            self.refuse('x.npz', data, ())

    def test_archives_that_grow(self):
        """A million rows of zeros in a few kilobytes; and one that says it is small, or larger than deflate can."""
        bomb = npy_of('(%d, 3)' % (40 << 20), bytes(12 * (40 << 20) // 16))  # cut off, too
        path = archive(self.path('x.npz'), [('x.npy', bomb)])
        self.assertLess(os.path.getsize(path), 100 << 10)
        with open(path, 'rb') as file:
            data = file.read()
        self.refuse('x.npz', None, 'cut off')
        actual, small = struct.pack('<I', len(bomb)), struct.pack('<I', 200)
        self.refuse('x.npz', data.replace(actual, small), 'x.npz')
        self.refuse('x.npz', data.replace(actual, struct.pack('<I', 2**31)), 'no compression reaches')
        self.refuse('x.npz', data.replace(actual, struct.pack('<I', 2**32 - 2)), 'no compression reaches')

    def test_pb(self):
        for data, says in [(b'', 'empty'), (bytes(100), 'tensor'), (number(1, 2**40) + number(2, FLOAT) + block(9, bytes(12)), 'x.pb'),
                           (number(1, -1) + number(2, FLOAT) + block(9, bytes(12)), 'x.pb'), (number(1, 3) + number(2, 9999) + block(9, bytes(12)), '9999'),
                           (number(1, 3) + number(2, 8) + block(9, bytes(12)), 'x.pb'), (number(1, 3) + number(2, FLOAT) + b'\x4a\xff\xff\xff\xff\x0f', 'x.pb'),
                           (number(1, 3) + number(2, FLOAT) + block(9, bytes(12)) + block(4, bytes(12)), 'x.pb'),
                           (tensor('w', [1, 3], [1, 2, 3]) + block(13, block(1, 'location') + block(2, '/etc/passwd')) + number(14, 1), 'x.pb'),
                           (b''.join(number(1, 1) for _ in range(10000)) + number(2, FLOAT) + block(9, bytes(4)), 'x.pb')]:
            self.refuse('x.pb', data, says)

    def test_images_and_idx(self):
        model = self.write('i.onnx', ow.model([node('Relu', ['x'], ['y'])], [value_info('x', [1, 3, 4, 4])], [value_info('y', [1, 3, 4, 4])]))
        chunk = lambda kind, body: struct.pack('>I', len(body)) + kind + body + struct.pack('>I', zlib.crc32(kind + body))
        huge = b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 2**31 - 1, 2**31 - 1, 8, 2, 0, 0, 0)) + chunk(b'IDAT', zlib.compress(b'x'))
        for name, data in [('x.png', huge), ('x.png', b'\x89PNG\r\n\x1a\n'), ('x.jpg', b'\xff\xd8\xff' + bytes(100)), ('x.jpg', b''),
                           ('x.idx', b'\0\0\x08\x03' + struct.pack('>3I', 2**32 - 1, 2**32 - 1, 2**32 - 1)), ('x.idx', b'\0\0\x08\xff' + bytes(1020)),
                           ('x-ubyte.gz', b'\x1f\x8b\x08' + bytes(50))]:
            path = self.write(name, data)
            self.assertIn(name, self.bounded(2, 'run', model, '--input', path, files=[path]))


class Environment(HostileTest):
    """Group 16: the command line, and what is around the program. Wrong options, closed and full output: usage_test.py."""

    def run_in(self, code=0, **options):
        model = self.write('m.onnx', ow.add_model())
        return self.bounded(code, 'run', model, '--input', self.write('x.npy', ow.npy([1, 3], [1.5, 2, 3])), **options)

    def environment(self, **variables):
        return {'env': {**os.environ, **variables}}

    def test_variables(self):
        for text in ('garbage', '', '-1', '0', '99999999999999999999', '1,2,x', '\x01'):
            self.assertIn('2.5, 4, 6', self.run_in((0,), **self.environment(OMP_NUM_THREADS=text, OMP_DYNAMIC='maybe', GOMP_CPU_AFFINITY='garbage')))
        for locale in ('de_DE.UTF-8', 'C', 'no_SUCH', 'tr_TR.UTF-8', '\xff'):
            self.assertIn('2.5, 4, 6', self.run_in(**self.environment(LC_ALL=locale, LANG=locale, LC_NUMERIC=locale)))
        for folder in ('/', '/nowhere', '', '/dev/null', '/proc'):
            self.run_in(**self.environment(HOME=folder, TMPDIR=folder, XDG_CACHE_HOME=folder))
        self.run_in(env={})

    def test_limits_of_the_system(self):
        limit = lambda kind, size: {'preexec_fn': lambda: resource.setrlimit(kind, (size, size))}
        self.run_in(**limit(resource.RLIMIT_STACK, 256 << 10))
        self.run_in(**limit(resource.RLIMIT_NOFILE, 8))
        self.run_in(**limit(resource.RLIMIT_CORE, 0))
        if len(PROGRAM) == 1 and not program.is_sanitized():
            self.run_in((0, 2), **limit(resource.RLIMIT_AS, 128 << 20))
            model = self.write('big.onnx', ow.model([node('Relu', ['x'], ['y'])], [value_info('x', ['N'])], [value_info('y', ['N'])]))
            text = self.bounded(2, 'run', model, '--dim', 'N=100000000', **limit(resource.RLIMIT_AS, 256 << 20))
            self.assertIn('memory', text)
        if hasattr(os, 'sched_setaffinity'):
            one = min(os.sched_getaffinity(0))
            self.run_in(**self.environment(OMP_NUM_THREADS='8'), preexec_fn=lambda: os.sched_setaffinity(0, {one}))

    def test_a_folder_that_is_gone(self):
        os.mkdir(self.path('gone'))

        def leave():
            os.chdir(self.path('gone'))
            os.rmdir(self.path('gone'))
        self.run_in(preexec_fn=leave)

    def test_without_proc_and_network(self):
        if program.is_sanitized():
            self.skipTest('sanitizers read their options and look for leaks through /proc')
        model = self.write('m.onnx', ow.add_model())
        shell = 'mount -t tmpfs none /proc && mount -t tmpfs none /sys && exec "$@"'
        inside = ['unshare', '--user', '--map-root-user', '--mount', '--net', 'sh', '-c', shell, 'sh']
        if len(PROGRAM) > 1 or subprocess.run([*inside, 'true'], capture_output=True).returncode != 0:
            self.skipTest('no namespaces of users here')
        done = subprocess.run([*inside, *PROGRAM, 'run', model], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, 'y: float32[1x3]' in done.stdout), (0, True), done.stderr)

    def test_arguments(self):
        model = self.write('m.onnx', ow.add_model())
        for arguments in (['run', model, '--threads', '1' * 400], ['run', model, '--dim', 'N=' + '9' * 1000], ['run', model, '--seed', '1e9'],
                          ['run', '\x1b[2J' + 'x' * 5000], ['run', model, '--input', '=' * 1000], ['run', ''], ['x' * 100000], ['run', model] * 50,
                          ['run', model, '--memory-limit', '1e400'], ['run', model, '--time-limit', '-nan'], ['bench', model, '--duration', 'inf']):
            self.bounded(2, *arguments)
        many = [option for i in range(20000) for option in ('--dim', 'N=%d' % (i + 1))]
        self.bounded(0, 'run', model, *many[:2])
        self.assertLess(svengine('run', model, *many).code, 3)


if __name__ == '__main__':
    program.main(__doc__)
