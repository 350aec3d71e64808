"""Small models for the tests here."""
import onnx
from onnx import helper


def model(nodes, inputs, outputs, initializers=(), opset=23, domains=()):
    """inputs, outputs: (name, element type, shape), or value infos."""
    infos = [[v if isinstance(v, onnx.ValueInfoProto) else helper.make_tensor_value_info(*v) for v in values] for values in (inputs, outputs)]
    graph = helper.make_graph(nodes, 'g', *infos, list(initializers))
    opsets = [helper.make_opsetid('', opset)] + [helper.make_opsetid(d, 1) for d in domains]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def unary(op, element=onnx.TensorProto.FLOAT, shape=None, opset=23, **attributes):
    """y = op(x)."""
    return model([helper.make_node(op, ['x'], ['y'], **attributes)], [('x', element, shape)], [('y', element, None)], opset=opset)


def add_constant():
    """y[N, 3] = x[N, 3] + (1, 2, 3)."""
    w = helper.make_tensor('w', onnx.TensorProto.FLOAT, [3], [1, 2, 3])
    return model([helper.make_node('Add', ['x', 'w'], ['y'], 'add')], [('x', onnx.TensorProto.FLOAT, ['N', 3])],
                 [('y', onnx.TensorProto.FLOAT, ['N', 3])], [w])


def products(size, count):
    """count products of size x size matrices, one after the other: enough work to watch."""
    nodes = [helper.make_node('MatMul', [f'x{i}' if i else 'x', 'x'], [f'x{i + 1}']) for i in range(count)]
    return model(nodes, [('x', onnx.TensorProto.FLOAT, [size, size])], [(f'x{count}', onnx.TensorProto.FLOAT, [size, size])])
