#!/usr/bin/env python3
"""Writes the corpus' first inputs: small valid files of every kind, which need Python alone. Usage: fuzz/seed.py [FOLDER]

FOLDER is fuzz/corpus where it is not given. Files that are there are written anew; what fuzzing has found lies beside them under other names.
"""
import gzip
import io
import os
import struct
import sys
import zipfile
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'tests', 'cli'))
from onnx_writer import add_model, block, model, node, npy, number, tensor, two_input_model, value_info  # noqa: E402


def chunk(kind, data):
    return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))


def png(width, height, color, depth, palette=b'', interlaced=0):
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[color]
    row = b'\x01' + bytes(range((width * channels * depth + 7) // 8))
    return (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', width, height, depth, color, 0, 0, interlaced)) +
            (chunk(b'PLTE', palette) if palette else b'') + chunk(b'IDAT', zlib.compress(row * height)) + chunk(b'IEND', b''))


def segment(marker, data):
    return struct.pack('>BBH', 0xff, marker, len(data) + 2) + data


def jpeg(components, progressive):
    """8x8 blocks of one grey: every code is one bit, category 0 or the end of a block."""
    table = bytes([0] + [16] * 64)
    codes = bytes([1] + [0] * 15 + [0])
    frame = struct.pack('>BHHB', 8, 8, 8, components) + b''.join(bytes([i + 1, 0x11, 0]) for i in range(components))
    names = b''.join(bytes([i + 1, 0]) for i in range(components))
    out = b'\xff\xd8' + segment(0xdb, table) + segment(0xc2 if progressive else 0xc0, frame)
    out += segment(0xc4, b'\x00' + codes) + segment(0xc4, b'\x10' + codes)
    if progressive:
        out += segment(0xda, bytes([components]) + names + b'\x00\x00\x00') + b'\x1f'
        out += segment(0xda, b'\x01\x01\x00' + b'\x01\x3f\x00') + b'\x7f'
    else:
        out += segment(0xda, bytes([components]) + names + b'\x00\x3f\x00') + b'\x03' * 2
    return out + b'\xff\xd9'


def images():
    yield 'grey', b'\x01' + png(9, 5, 0, 8)
    yield 'colour', b'\x06' + png(9, 5, 2, 8)
    yield 'palette', b'\x08' + png(9, 5, 3, 4, bytes(48))
    yield 'alpha16_interlaced', b'\x30' + png(1, 1, 6, 16, interlaced=1)
    yield 'grey_bits', b'\x00' + png(9, 5, 0, 1)
    for components in (1, 3):
        for progressive in (False, True):
            yield f'jpeg{components}{"p" if progressive else ""}', b'\x00' + jpeg(components, progressive)
    yield 'pgm', b'\x01P5 2 2 255\n' + bytes(4)
    yield 'ppm', b'\x00P6 2 2 255\n' + bytes(12)
    header = struct.pack('<2sIHHIIiiHHIIiiII', b'BM', 70, 0, 0, 54, 40, 2, 2, 1, 24, 0, 16, 0, 0, 0, 0)
    yield 'bmp', b'\x00' + header + bytes(16)


def npz(compression):
    out = io.BytesIO()
    with zipfile.ZipFile(out, 'w', compression) as archive:
        for name in ('a', 'b'):
            archive.writestr(zipfile.ZipInfo(name + '.npy'), npy([2, 2], [1, 2, 3, 4]), compression)
    return out.getvalue()


def arrays():
    yield 'npy', 'f4', npy([2, 3], range(6))
    yield 'npy', 'i8', npy([4], range(4), '<i8')
    yield 'npy', 'scalar', npy([], [7])
    for old, new in ((b"'<f4'", b"'>f4'"), (b'False', b'True '), (b"'<f4'", b"'|b1'"), (b"'<f4'", b"'<f2'")):
        yield 'npy', new.decode().strip("'<>| "), npy([2, 3], range(6)).replace(old, new)
    yield 'npz', 'stored', npz(zipfile.ZIP_STORED)
    yield 'npz', 'deflated', npz(zipfile.ZIP_DEFLATED)
    idx = b'\0\0\x08\x02' + struct.pack('>II', 2, 3) + bytes(range(6))
    yield 'idx', 'bytes', idx
    yield 'idx', 'gzipped', gzip.compress(idx, mtime=0)
    yield 'idx', 'doubles', b'\0\0\x0e\x01' + struct.pack('>Idd', 2, 1.5, 2.5)


def protos():
    real = tensor('t', [2], [1, 2])
    integers = number(1, 2) + number(2, 7) + number(7, 3) + number(7, 4) + block(8, 'i')
    strings = number(1, 2) + number(2, 8) + block(6, 'a') + block(6, 'bc')
    nibbles = number(1, 3) + number(2, 21) + block(9, b'\x21\x03')
    for name, proto in (('real', real), ('integers', integers), ('strings', strings), ('nibbles', nibbles)):
        yield name, b'\0' + proto
    yield 'sequence', b'\1' + block(1, 's') + number(2, 1) + block(3, real) + block(3, real)
    yield 'optional', b'\2' + block(1, 'o') + number(2, 1) + block(3, real)
    yield 'map', b'\3' + block(1, 'm') + number(2, 7) + number(3, 1) + number(3, 2) + block(5, number(2, 1) + block(3, real) + block(3, real))


def attribute(name, kind, data):
    return block(5, block(1, name) + data + number(20, kind))


def integer(name, value):
    return attribute(name, 2, number(3, value))


def integers(name, values):
    return attribute(name, 7, b''.join(number(8, v) for v in values))


def graph(nodes, inputs, outputs):
    return (b''.join(block(1, n) for n in nodes) + block(2, 'b') + b''.join(block(11, i) for i in inputs) +
            b''.join(block(12, o) for o in outputs))


def models():
    x, y = value_info('x', [1, 2, 5, 5]), value_info('y', [])
    yield 'add', add_model()
    yield 'gather', two_input_model()
    conv = node('Conv', ['x', 'w'], ['c'], 'conv', integers('pads', [1, 1, 1, 1]) + integers('strides', [2, 1]))
    yield 'conv_relu', model([conv, node('Relu', ['c'], ['y'])], [x], [value_info('y', [1, 3, 3, 5])], [tensor('w', [3, 2, 3, 3], range(54))])
    yield 'pool_shape', model([node('MaxPool', ['x'], ['p'], 'p', integers('kernel_shape', [2, 2])), node('Shape', ['p'], ['s']),
                               node('ConstantOfShape', ['s'], ['y'])], [x], [y])
    branch = graph([node('Relu', ['x'], ['r'])], [], [value_info('r', [])])
    other = graph([node('Neg', ['x'], ['m'])], [], [value_info('m', [])])
    yield 'if', model([node('If', ['c'], ['y'], 'if', attribute('then_branch', 5, block(6, branch)) + attribute('else_branch', 5, block(6, other)))],
                      [value_info('c', [], 9), x], [y])
    body = graph([node('Add', ['s', 'x'], ['t']), node('Identity', ['k'], ['l'])],
                 [value_info('i', [], 7), value_info('k', [], 9), value_info('s', [1, 2, 5, 5])],
                 [value_info('l', [], 9), value_info('t', [1, 2, 5, 5]), value_info('t', [1, 2, 5, 5])])
    yield 'loop', model([node('Loop', ['n', '', 'x'], ['y', 'z'], 'loop', attribute('body', 5, block(6, body)))],
                        [x], [y, value_info('z', [])], [tensor('n', [], [3], 7)])
    yield 'reshape', model([node('Reshape', ['x', 's'], ['r']), node('Transpose', ['r'], ['t']), node('MatMul', ['r', 't'], ['y'])],
                           [x], [value_info('y', [])], [tensor('s', [2], [2, -1], 7)])
    yield 'detect', model([node('NonZero', ['x'], ['n']), node('Split', ['n'], ['a', 'b'], 's', integer('num_outputs', 2)),
                           node('Concat', ['a', 'b'], ['y'], 'c', integer('axis', 0))], [x], [value_info('y', [], 7)], opset=18)
    yield 'sequence', model([node('SplitToSequence', ['x'], ['q'], 'q', integer('axis', 2)), node('SequenceAt', ['q', 'i'], ['y'])],
                            [x], [value_info('y', [])], [tensor('i', [], [1], 7)])


TEXTS = {
    'constant': 'const %a: int64[2] = {2, 3}\n%y: float32[2, 3] = ConstantOfShape(%a)\noutput %y\n',
    'if': 'input %c: bool[]\ninput %y: float32[2]\n%m: float32[2] = If(%c, %y) {captured = 1, then_branch = graph "t" {\n'
          '  input %y: float32[2]\n  output %y\n}, else_branch = graph "e" {\n  input %y: float32[2]\n  %z: float32[2] = Neg(%y)\n  output %z\n}}\n'
          'output %m\n',
    'kinds': 'input %x: float32[N, "a b", ?]\n%y: float32[*] = Clip(%x, -, %x) @"a name"\n%z: sequence(float32[*])[] = SequenceConstruct(%x)\n'
             'const %s: string[2] = {"a", "b\\n"}\nconst %h: float16[1] = {0x3c00}\noutput %y\noutput %z\n',
    'conv': 'input %x: float32[1, 3, 8, 8]\ninput %w: float32[4, 3, 3, 3]\n'
            '%y: float32[1, 4, 8, 8] = Conv(%x, %w) {pads = [1, 1, 1, 1], group = 1}\noutput %y\n',
}


def checkpoint(flags, manifest, data):
    return struct.pack('<BH', flags, len(manifest)) + manifest + data


def others():
    for name, text in TEXTS.items():
        yield 'text', name, f'graph "g"\n{text}'.encode()
    yield 'tokens', 'lines', bytes([0, 0, 0, 0]) + b'17 4 256 3\n9,12\n\n1\t2\n'
    yield 'tokens', 'cut', bytes([2, 255, 20, 1]) + b'1 2 3\n4 5\n19'
    yield 'recorded', 'good', b'value_00000.npy\tx\n'
    manifest = (b'svengine checkpoint 1\nmodel m\nfact step 12\nfact rate 0.5\ntensor w float32 2x3 0 24 0000000000000000\n'
                b'tensor n int64 scalar 24 8 0000000000000000\ndata 32\n')
    yield 'checkpoint', 'good', checkpoint(0, manifest, bytes(32))
    yield 'checkpoint', 'wrong_hash', checkpoint(1, manifest, bytes(32))
    yield 'checkpoint', 'cut', checkpoint(2, manifest, b'')
    yield 'cache', 'good', b'\0'
    yield 'cache', 'header', bytes([0]) + struct.pack('<HB', 16, 1) + b'\x09'
    yield 'cache', 'record', bytes([1]) + struct.pack('<HB', 56 + 24, 2) + b'\1\2'
    yield 'cache', 'cut', bytes([3]) + struct.pack('<HB', 0x8010, 0)
    for i in range(16):
        yield 'operator', f'sample_{i:02}', struct.pack('<HBBHBH', i * 4096, i, 2, i * 7, 3, i * 13)
        yield 'subgraph', f'some_{i:02}', bytes((i * 31 + k * k * 7 + k * 3) % 251 for k in range(40))


def write(folder, target, name, content):
    os.makedirs(os.path.join(folder, target), exist_ok=True)
    with open(os.path.join(folder, target, name), 'wb') as out:
        out.write(content)


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, 'corpus')
    for target, parts in (('image', images()), ('tensor', protos()), ('model', models())):
        for name, content in parts:
            write(folder, target, name, content)
    for parts in (arrays(), others()):
        for target, name, content in parts:
            write(folder, target, name, content)


if __name__ == '__main__':
    main()
