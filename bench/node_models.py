#!/usr/bin/env python3
"""Networks of one node each, of shapes that networks hardly have and somebody's model has all the same:

    node_models.py FOLDER [NAME...]

    reduce_*, arg_max_*, softmax_*    10,000 lines of 2, 5, 20 and 64 elements, float and double
    rows_*                            a few rows times a matrix that is no constant, and a matrix times a few columns
    einsum_*                          permutations, outer products, sums and products that Einsum is written for
    quantised_*                       sums and products of 8-bit images, and of an image and one number for each channel
    bits_KxN_bB_*                     products with 4-bit weights in blocks of B: of R rows (rowsR), with zero points (zeros), the peer's A in int8 (a4)
    transpose_*                       of shapes and orders that networks have
    between_*                         an operator on channels-last images between two Transposes, as exporters of TensorFlow's networks write it
    linear_*, forest_*                of ai.onnx.ml: scores of 1,000 features, 200 trees that track missing values

A NAME is the beginning of a network's. Measured by `bench/compare_models.py --all FOLDER`. Needs the package onnx.
"""
import argparse
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, DOUBLE, INT32, UINT8 = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT32, TensorProto.UINT8
DRAW = np.random.default_rng(1)


def network(op, inputs, outputs=1, constants=(), domain='', element=FLOAT, **attributes):
    """Inputs are shapes of one element type; constants, by name, come behind them."""
    names = [f'x{i}' for i in range(len(inputs))]
    node = helper.make_node(op, names + [name for name, _ in constants], [f'y{i}' for i in range(outputs)], domain=domain, **attributes)
    return graph_of(node, dict(zip(names, inputs)), constants, domain, element)


def graph_of(node, inputs, constants, domain, element):
    ports = [helper.make_tensor_value_info(name, element, shape) for name, shape in inputs.items()]
    results = [onnx.ValueInfoProto(name=name) for name in node.output]
    graph = helper.make_graph([node], node.op_type, ports, results, [numpy_helper.from_array(a, name) for name, a in constants])
    imports = [helper.make_opsetid('', 18), helper.make_opsetid('ai.onnx.ml', 3), helper.make_opsetid('com.microsoft', 1)]
    return helper.make_model(graph, opset_imports=[i for i in imports if i.domain in ('', domain)], ir_version=8)


def lines():
    for word, element in (('f32', FLOAT), ('f64', DOUBLE)):
        for k in (2, 5, 20, 64):
            axes = [('axes', np.array([1]))]
            for op in ('Sum', 'Max', 'LogSumExp'):
                yield f'reduce_{op.lower()}_{word}_{k}', network(f'Reduce{op}', [[10000, k]], constants=axes, element=element)
            yield f'arg_max_{word}_{k}', network('ArgMax', [[10000, k]], element=element, axis=1)
            yield f'softmax_{word}_{k}', network('Softmax', [[10000, k]], element=element, axis=1)


def few_rows():
    for a, b in (([1, 288], [288, 32768]), ([1, 1024], [1024, 1024]), ([1, 1024], [1024, 4096]), ([8, 1024], [1024, 1024]),
                 ([1024, 1024], [1024, 1]), ([8, 1, 512], [8, 512, 64])):
        yield 'rows_' + '_by_'.join('x'.join(map(str, s)) for s in (a, b)), network('MatMul', [a, b])


def equations():
    for equation, shapes in (('bchw->bhwc', [[2, 32, 64, 64]]), ('bi,bj->bij', [[64, 100], [64, 100]]), ('bij->bj', [[32, 100, 100]]),
                             ('bld,bdn->bldn', [[4, 64, 64], [4, 64, 16]]), ('acbe,aecd->abcd', [[1, 12, 197, 197], [1, 197, 12, 64]]),
                             ('bhwc,hkc->bhwk', [[4, 16, 16, 32], [16, 16, 32]])):
        name = equation.replace(',', '_').replace('->', '_to_')
        yield f'einsum_{name}', network('Einsum', shapes, equation=equation)
    yield 'einsum_int32', network('Einsum', [[8, 64, 64], [8, 64, 64]], element=INT32, equation='bij,bjk->bik')


def quantised():
    scales = [('scale', np.float32(0.02)), ('zero', np.uint8(128))]
    for op in ('Add', 'Mul'):
        for word, shape in (('flat', [1, 64, 56, 56]), ('channels', [1, 64, 1, 1])):
            node = helper.make_node(f'QLinear{op}', ['a', 'scale', 'zero', 'b', 'scale', 'zero', 'scale', 'zero'], ['y'], domain='com.microsoft')
            yield f'quantised_{op.lower()}_{word}', graph_of(node, {'a': [1, 64, 56, 56], 'b': shape}, scales, 'com.microsoft', UINT8)


def bits():
    for k, n in ((2048, 2048), (2048, 8192), (4096, 4096)):
        for block in (32, 128):
            blocks = k // block
            weights = [('b', DRAW.integers(0, 256, (n, blocks, block // 2), dtype=np.uint8)),
                       ('scales', DRAW.uniform(0.001, 0.01, n * blocks).astype(np.float32))]
            zeros = ('zeros', DRAW.integers(0, 256, n * blocks // 2, dtype=np.uint8))
            for rows in (1, 4, 32, 256):
                for word, more in (('', []), ('_zeros', [zeros])):
                    for level in (0, 4):
                        yield f'bits_{k}x{n}_b{block}_rows{rows}{word}' + '_a4' * (level == 4), network(
                            'MatMulNBits', [[rows, k]], constants=weights + more, domain='com.microsoft', K=k, N=n, bits=4, block_size=block,
                            accuracy_level=level)


def orders():
    for shape, perm in (([1, 224, 224, 3], [0, 3, 1, 2]), ([1, 3, 224, 224], [0, 2, 3, 1]), ([1, 56, 56, 64], [0, 3, 1, 2]), ([1, 64, 56, 56], [0, 2, 3, 1]),
                        ([8, 28, 28, 17], [0, 3, 1, 2]), ([1, 128, 128, 2], [0, 3, 1, 2]), ([1, 24, 19, 19], [0, 2, 3, 1]), ([1, 7, 7, 1280], [0, 3, 1, 2]),
                        ([1, 1280, 7, 7], [0, 2, 3, 1]), ([16, 100, 80], [0, 2, 1]), ([1, 512, 768], [0, 2, 1]), ([32, 10, 12], [0, 2, 1]), ([64, 50, 32], [1, 0, 2]),
                        ([1, 128, 12, 64], [0, 2, 1, 3]), ([1, 12, 128, 64], [0, 2, 1, 3]), ([8, 64, 8, 32], [0, 2, 1, 3]), ([1, 128, 12, 64], [0, 2, 3, 1]),
                        ([512, 512], [1, 0]), ([3, 4], [1, 0]), ([1000, 5], [1, 0]), ([5, 1000], [1, 0]), ([10, 6, 7, 8, 9], [4, 2, 0, 3, 1]),
                        ([1, 1, 1, 512], [0, 3, 1, 2])):
        yield f"transpose_{'x'.join(map(str, shape))}_to_{''.join(map(str, perm))}", network('Transpose', [shape], perm=perm)
    yield 'transpose_uint8_1x224x224x3_to_0312', network('Transpose', [[1, 224, 224, 3]], element=UINT8, perm=[0, 3, 1, 2])


def between():
    """Operators on [1, 56, 56, 64] that is [1, 64, 56, 56] outside."""
    def model(name, op, *constants, inputs=1, back=(0, 3, 1, 2), outputs=1, **attributes):
        wide = [helper.make_node('Transpose', [f'x{i}'], [f'last{i}'], perm=[0, 2, 3, 1]) for i in range(inputs)]
        names = [f'c{i}' if c is not None else '' for i, c in enumerate(constants)]
        node = helper.make_node(op, [f'last{i}' for i in range(inputs)] + names, [f'z{i}' for i in range(outputs)], **attributes)
        behind = [helper.make_node('Transpose', [f'z{i}'], [f'y{i}'], perm=list(back)) for i in range(outputs)]
        ports = [helper.make_tensor_value_info(f'x{i}', FLOAT, [1, 64, 56, 56]) for i in range(inputs)]
        results = [onnx.ValueInfoProto(name=f'y{i}') for i in range(outputs)]
        known = [numpy_helper.from_array(np.asarray(c), f'c{i}') for i, c in enumerate(constants) if c is not None]
        graph = helper.make_graph(wide + [node] + behind, op, ports, results, known)
        return f'between_{name}', helper.make_model(graph, opset_imports=[helper.make_opsetid('', 18)], ir_version=8)
    channels = DRAW.standard_normal(64).astype(np.float32)
    yield model('relu', 'Relu')
    yield model('add_channels', 'Add', channels)
    yield model('mul_scalar', 'Mul', np.float32(2))
    yield model('prelu', 'PRelu', channels.reshape(1, 1, 64))
    yield model('add', 'Add', inputs=2)
    yield model('concat', 'Concat', inputs=2, axis=-1)
    yield model('split', 'Split', np.array([16, 48]), outputs=2, axis=3)
    yield model('slice', 'Slice', np.array([4, 4]), np.array([40, 40]), np.array([1, 2]))
    yield model('pad', 'Pad', np.array([0, 1, 1, 0, 0, 1, 1, 0]))
    yield model('reduce_mean', 'ReduceMean', np.array([1, 2]))
    yield model('reduce_channels', 'ReduceMax', np.array([3]))
    yield model('arg_max', 'ArgMax', axis=3)
    yield model('softmax', 'Softmax', axis=-1)
    yield model('resize', 'Resize', None, np.array([1, 2, 2, 1], np.float32), mode='linear')
    yield model('resize_nearest', 'Resize', None, np.array([1, 2, 2, 1], np.float32), mode='nearest', coordinate_transformation_mode='asymmetric')
    yield model('unsqueeze', 'Unsqueeze', np.array([1]), back=(0, 1, 4, 2, 3))


def forest(trees, depth, features):
    """Full trees; every second node sends what is missing to the left."""
    inner, nodes = 2 ** depth - 1, 2 ** (depth + 1) - 1
    ids, at = np.repeat(np.arange(trees), nodes), np.tile(np.arange(nodes), trees)
    is_leaf = at >= inner
    leaves = np.flatnonzero(is_leaf)
    draw = lambda most: np.where(is_leaf, 0, DRAW.integers(0, most, len(at)))  # noqa: E731
    return {'nodes_treeids': ids, 'nodes_nodeids': at, 'nodes_featureids': draw(features), 'nodes_missing_value_tracks_true': draw(2),
            'nodes_values': DRAW.standard_normal(len(at)), 'nodes_modes': np.where(is_leaf, 'LEAF', 'BRANCH_LEQ'), 'n_targets': 1,
            'nodes_truenodeids': np.where(is_leaf, 0, 2 * at + 1), 'nodes_falsenodeids': np.where(is_leaf, 0, 2 * at + 2),
            'target_treeids': ids[leaves], 'target_nodeids': at[leaves], 'target_ids': 0 * leaves, 'target_weights': DRAW.standard_normal(len(leaves))}


def classic():
    attributes = {k: v if np.isscalar(v) else v.tolist() for k, v in forest(200, 5, 30).items()}
    for rows in (1, 100, 1000):
        yield f'forest_{rows}', network('TreeEnsembleRegressor', [[rows, 30]], domain='ai.onnx.ml', **attributes)
        yield f'linear_{rows}', network('LinearClassifier', [[rows, 1000]], 2, domain='ai.onnx.ml', classlabels_ints=list(range(20)),
                                        coefficients=DRAW.standard_normal(20000).tolist(), intercepts=[0.0] * 20, post_transform='SOFTMAX')


def write(description, families, save):
    """Asks for FOLDER and NAMEs, and calls save(FOLDER/NAME, network) for those of the families that begin so."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('folder', type=pathlib.Path)
    parser.add_argument('names', nargs='*', metavar='NAME')
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for family in families:
        for name, model in family():
            if not options.names or name.startswith(tuple(options.names)):
                save(str(options.folder / name), model)


if __name__ == '__main__':
    write(__doc__, (lines, few_rows, equations, quantised, bits, orders, between, classic), lambda path, model: onnx.save(model, f'{path}.onnx'))
