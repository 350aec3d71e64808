"""Initializers of ONNX files, taken out and put in on the level of protobuf's wire format: needs NumPy alone."""
import numpy as np

MODEL_GRAPH, GRAPH_INITIALIZER, GRAPH_INPUT, GRAPH_OUTPUT = 7, 5, 11, 12
TENSOR_DIMS, TENSOR_TYPE, TENSOR_NAME, TENSOR_RAW = 1, 2, 8, 9
FLOAT, INT64 = 1, 7


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def block(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + bytes(data)


def fields(data):
    """(number, value, bytes of the whole field) of every field of a message; the value is a number or a memoryview."""
    data, at = memoryview(data), 0
    while at < len(data):
        begin = at
        key, at = read_varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = read_varint(data, at)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
            value, at = data[at:at + size], at + size
        elif kind == 2:
            size, at = read_varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            raise ValueError(f'wire type {kind}')
        yield key >> 3, value, data[begin:at]


class Tensor:
    """Name, type, shape and values (None: not there) of a TensorProto that keeps its values in raw_data or float_data."""

    def __init__(self, message):
        self.name, self.type, self.dims, raw = '', 0, [], None
        for number, value, _ in fields(message):
            if number == TENSOR_DIMS and isinstance(value, int):
                self.dims.append(value)
            elif number == TENSOR_DIMS:  # packed
                at = 0
                while at < len(value):
                    dim, at = read_varint(value, at)
                    self.dims.append(dim)
            elif number == TENSOR_TYPE:
                self.type = value
            elif number == TENSOR_NAME:
                self.name = bytes(value).decode()
            elif number == TENSOR_RAW or number == 4:  # float_data is packed floats
                raw = bytes(value)
        self.values = None
        if raw is not None and self.type in (FLOAT, INT64):
            self.values = np.frombuffer(raw, '<f4' if self.type == FLOAT else '<i8').reshape(self.dims)


def encode(name, dims, values=None):
    """A float32 TensorProto; without values only name, type and shape."""
    head = b''.join(varint(TENSOR_DIMS << 3) + varint(d) for d in dims) + varint(TENSOR_TYPE << 3) + varint(FLOAT) + block(TENSOR_NAME, name.encode())
    return head if values is None else head + block(TENSOR_RAW, np.ascontiguousarray(values, '<f4').tobytes())


def replace_initializers(model, make):
    """The model with make(tensor)'s values in its float32 initializers: an array, 'none' for none, or None to leave it as it is."""
    out = []
    for number, value, whole in fields(model):
        if number == MODEL_GRAPH:
            parts = []
            for inner, message, part in fields(value):
                values = None
                if inner == GRAPH_INITIALIZER:
                    tensor = Tensor(message)
                    values = make(tensor) if tensor.type == FLOAT else None
                if values is None:
                    parts.append(part)
                else:
                    parts.append(block(GRAPH_INITIALIZER, encode(tensor.name, tensor.dims, None if isinstance(values, str) else values)))
            whole = block(MODEL_GRAPH, b''.join(parts))
        out.append(whole)
    return b''.join(out)


def initializers(model):
    return {t.name: t for n, graph, _ in fields(model) if n == MODEL_GRAPH for i, m, _ in fields(graph) if i == GRAPH_INITIALIZER for t in [Tensor(m)]}


def ports(model, field):
    """[(name, element type, dimensions)] of the graph's inputs or outputs; symbolic dimensions are None."""
    out = []
    for _, graph, _ in (f for f in fields(model) if f[0] == MODEL_GRAPH):
        for _, info, _ in (f for f in fields(graph) if f[0] == field):
            parts = {n: v for n, v, _ in fields(info)}
            tensor = {n: v for n, v, _ in fields(next(v for n, v, _ in fields(parts[2]) if n == 1))}
            dims = [{n: v for n, v, _ in fields(d)}.get(1) for n, d, _ in fields(tensor.get(2, b'')) if n == 1]
            out.append((bytes(parts[1]).decode(), tensor[1], dims))
    return out
