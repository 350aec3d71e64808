"""Small ONNX models and .npy arrays written byte by byte, so that the tests of the program need Python alone."""
import struct

FLOAT, INT32, INT64, BOOL, DOUBLE = 1, 6, 7, 9, 11


def varint(value):
    value &= (1 << 64) - 1
    out = b''
    while value >= 0x80:
        out += bytes([value & 0x7f | 0x80])
        value >>= 7
    return out + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def block(field, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


def value_info(name, dims, dtype=FLOAT):
    """dims: numbers, and names of symbolic dimensions."""
    shape = b''.join(block(1, number(1, d) if isinstance(d, int) else block(2, d)) for d in dims)
    return block(1, name) + block(2, block(1, number(1, dtype) + block(2, shape)))


def tensor(name, dims, values, dtype=FLOAT):
    raw = struct.pack('<%d%s' % (len(values), {FLOAT: 'f', DOUBLE: 'd'}.get(dtype, 'q')), *values)
    return b''.join(number(1, d) for d in dims) + number(2, dtype) + block(8, name) + block(9, raw)


def external_tensor(name, dims, location, offset, dtype=FLOAT):
    """4 bytes an element, in a file beside the model."""
    count = 1
    for d in dims:
        count *= d
    entries = [('location', location), ('offset', str(offset)), ('length', str(4 * count))]
    return (b''.join(number(1, d) for d in dims) + number(2, dtype) + block(8, name) +
            b''.join(block(13, block(1, key) + block(2, value)) for key, value in entries) + number(14, 1))


def int_attribute(name, value):
    return block(5, block(1, name) + number(3, value) + number(20, 2))


def float_attribute(name, value):
    return block(5, block(1, name) + varint(2 << 3 | 5) + struct.pack('<f', value) + number(20, 1))


def graph_attribute(name, graph):
    return block(5, block(1, name) + block(6, graph) + number(20, 5))


def node(op, inputs, outputs, name='', attributes=b'', domain=''):
    return (b''.join(block(1, i) for i in inputs) + b''.join(block(2, o) for o in outputs) + block(3, name) + block(4, op) + attributes +
            (block(7, domain) if domain else b''))


def model(nodes, inputs, outputs, initializers=(), opset=17, domains=()):
    """domains: those besides ai.onnx, whose opset 1 is imported."""
    graph = (b''.join(block(1, n) for n in nodes) + block(2, 'g') + b''.join(block(5, t) for t in initializers) +
             b''.join(block(11, v) for v in inputs) + b''.join(block(12, v) for v in outputs))
    return (number(1, 8) + block(2, 'cli_test') + block(7, graph) + block(8, number(2, opset)) +
            b''.join(block(8, block(1, d) + number(2, 1)) for d in domains))


def add_model():
    """y[N, 3] = x[N, 3] + (1, 2, 3)."""
    return model([node('Add', ['x', 'w'], ['y'], 'add')], [value_info('x', ['N', 3])], [value_info('y', ['N', 3])],
                 [tensor('w', [3], [1, 2, 3])])


def plugin_model():
    """y[N, 6] = PeriodicDifference(x[N, 6]), the operator of examples/06_plugin, with spacing 0.5."""
    return model([node('PeriodicDifference', ['x'], ['y'], 'slope', float_attribute('spacing', 0.5), 'example.fields')],
                 [value_info('x', ['N', 6])], [value_info('y', ['N', 6])], domains=['example.fields'])


def two_input_model():
    """y[N, 2] = table[ids] (4 rows), z[N, 2] = y + b; ids int64 [N], b float [N, 2]."""
    return model([node('Gather', ['table', 'ids'], ['y'], 'look'), node('Add', ['y', 'b'], ['z'], 'add')],
                 [value_info('ids', ['N'], INT64), value_info('b', ['N', 2])], [value_info('y', ['N', 2]), value_info('z', ['N', 2])],
                 [tensor('table', [4, 2], range(8))])


def npy(dims, values, descr='<f4'):
    """descr: '<f4', '<i8' or '<i4'."""
    shape = '(' + ''.join('%d, ' % d for d in dims) + ')'
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)
    header = header.encode() + b' ' * (-(10 + len(header) + 1) % 64) + b'\n'
    return (b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header +
            struct.pack('<%d%s' % (len(values), {'<f4': 'f', '<i8': 'q', '<i4': 'i'}[descr]), *values))


def read_npy(data):
    """Shape and values of a float32 or int64 array in C order."""
    assert data[:6] == b'\x93NUMPY', data[:16]
    length = struct.unpack('<H', data[8:10])[0]
    header = eval(data[10:10 + length].decode(), {'__builtins__': {}})
    assert not header['fortran_order']
    code = {'<f4': 'f', '<i8': 'q'}[header['descr']]
    body = data[10 + length:]
    return header['shape'], list(struct.unpack('<%d%s' % (len(body) // struct.calcsize(code), code), body))
