"""Small models for the tests here."""
import json
import subprocess

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


def products_of_weights(size, count):
    """count products with weights of size x size, one after the other."""
    weights = [helper.make_tensor(f'w{i}', onnx.TensorProto.FLOAT, [size, size], [1 / size] * size * size) for i in range(count)]
    nodes = [helper.make_node('MatMul', [f'x{i}' if i else 'x', f'w{i}'], [f'x{i + 1}']) for i in range(count)]
    return model(nodes, [('x', onnx.TensorProto.FLOAT, ['N', size])], [(f'x{count}', onnx.TensorProto.FLOAT, ['N', size])], weights)


def shell_answer(test, program, *arguments):
    """What the shell's command says with --json, whatever its verdict. Skips where there is no program."""
    if not program:
        test.skipTest('SVENGINE_PROGRAM is not set')
    done = subprocess.run([program, *map(str, arguments), '--json'], capture_output=True, text=True, timeout=120)
    test.assertIn(done.returncode, (0, 1), done.stderr)
    return json.loads(done.stdout)
