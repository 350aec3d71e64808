#!/usr/bin/env python3
"""Networks of one operator each, of every operator of ai.onnx there is a point in timing, at sizes that models have:

    operator_models.py FOLDER [NAME...]

FOLDER gets NAME.onnx and the inputs NAME.npz, which bench/compare_models.py gives both programs. A NAME is the beginning of a
network's. What bench/node_models.py writes is not repeated. Needs the package onnx.
"""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from node_models import write

F32, F64, F16, I8, U8, I32, I64, BOOL = np.float32, np.float64, np.float16, np.int8, np.uint8, np.int32, np.int64, np.bool_
WORD = {F32: 'f32', F64: 'f64', F16: 'f16', I8: 'i8', U8: 'u8', I32: 'i32', I64: 'i64', BOOL: 'bool'}
DRAW = np.random.default_rng(1)


def draw(shape, dtype=F32, most=100):
    """Reals around zero, integers from zero."""
    if dtype in (F32, F64, F16):
        return DRAW.standard_normal(shape).astype(dtype)
    return (DRAW.integers(0, 2 if dtype is BOOL else most, shape)).astype(dtype)


def const(*values, dtype=I64):
    return np.array(values, dtype)


def network(op, inputs, constants=(), outputs=1, opset=20, domain='', **attributes):
    """Constants come behind the inputs, None for one that is left out."""
    names = [f'x{i}' for i in range(len(inputs))]
    held = [(f'c{i}', c) for i, c in enumerate(constants)]
    node = helper.make_node(op, names + ['' if c is None else n for n, c in held], [f'y{i}' for i in range(outputs)], domain=domain, **attributes)
    return model_of([node], dict(zip(names, inputs)), {n: c for n, c in held if c is not None}, [f'y{i}' for i in range(outputs)], opset, domain)


def model_of(nodes, inputs, constants, outputs, opset=20, domain=''):
    ports = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape) for n, x in inputs.items()]
    graph = helper.make_graph(nodes, 'graph', ports, [onnx.ValueInfoProto(name=n) for n in outputs],
                              [numpy_helper.from_array(np.asarray(c), n) for n, c in constants.items()])
    imports = [helper.make_opsetid('', opset)] + ([helper.make_opsetid(domain, 3 if domain == 'ai.onnx.ml' else 1)] if domain else [])
    return helper.make_model(graph, opset_imports=imports, ir_version=9), inputs


def casts():
    kinds = {'f32': TensorProto.FLOAT, 'f64': TensorProto.DOUBLE, 'f16': TensorProto.FLOAT16, 'i8': TensorProto.INT8, 'u8': TensorProto.UINT8,
             'i32': TensorProto.INT32, 'i64': TensorProto.INT64, 'bool': TensorProto.BOOL}
    for dtype, word in WORD.items():
        x = draw([300000], dtype)
        for to, kind in kinds.items():
            if to != word:
                yield f'cast_{word}_{to}', network('Cast', [x], to=kind)
    both = [helper.make_node('Cast', ['x0'], ['h'], to=TensorProto.BFLOAT16), helper.make_node('Cast', ['h'], ['y0'], to=TensorProto.FLOAT)]
    yield 'cast_f32_bf16_f32', model_of(both, {'x0': draw([300000])}, {}, ['y0'])


def unary():
    for op in ('Abs Acos Acosh Asin Asinh Atan Atanh Ceil Celu Cos Cosh Elu Erf Exp Floor Gelu HardSigmoid HardSwish IsInf IsNaN LeakyRelu Log Mish '
               'Neg Reciprocal Relu Round Selu Shrink Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Tan Tanh ThresholdedRelu').split():
        for dtype in (F32, F64):
            x = draw([100000], dtype)
            yield f'unary_{op.lower()}_{WORD[dtype]}', network(op, [np.abs(x) + 1 if op in ('Acosh', 'Log', 'Sqrt') else x])
    for op, dtypes in (('Abs', (I32, I64, I8)), ('Neg', (I32, I64, I8)), ('Sign', (I32, I64)), ('Relu', (I32,)), ('Not', (BOOL,)),
                       ('BitwiseNot', (I32, U8))):
        for dtype in dtypes:
            yield f'unary_{op.lower()}_{WORD[dtype]}', network(op, [draw([100000], dtype)])
    for dtype in (F32, F64, I32, I64):
        yield f'clip_{WORD[dtype]}', network('Clip', [draw([100000], dtype)], [np.array(-1, dtype), np.array(50, dtype)])


def binary():
    shapes = {'same': ([100000], [100000]), 'scalar': ([100000], [1]), 'row': ([100, 1000], [1000]), 'column': ([100, 1000], [100, 1]),
              'outer': ([300, 1], [1, 300])}
    for op, dtypes in (('Add', (F32, F64, I32, I64)), ('Mul', (F32, I64)), ('Div', (F32, F64, I32, I64)), ('Mod', (I32, I64)), ('Pow', (F32, F64, I32, I64)),
                       ('Max', (F32, F64, I64)), ('Equal', (F32, I64, I32, BOOL)), ('Less', (F32, I64, F64)), ('And', (BOOL,)), ('Xor', (BOOL,)),
                       ('BitwiseAnd', (I32,)), ('BitwiseXor', (U8,)), ('PRelu', (F32,))):
        for dtype in dtypes:
            for word, (a, b) in shapes.items():
                if word in ('same', 'scalar', 'row') or dtype in (F32, BOOL) and op in ('Add', 'Equal', 'And', 'Pow'):
                    if op == 'PRelu' and word == 'outer':
                        continue
                    x, y = draw(a, dtype), draw(b, dtype, 4) + (1 if op in ('Div', 'Mod') and dtype in (I32, I64) else 0)
                    yield f'binary_{op.lower()}_{WORD[dtype]}_{word}', network(op, [np.abs(x) if op == 'Pow' else x, y.astype(dtype)])
    yield 'binary_mod_f32_fmod', network('Mod', [draw([100000]), draw([100000])], fmod=1)
    yield 'binary_bitshift', network('BitShift', [draw([100000], np.uint32), draw([100000], np.uint32, 8)], direction='LEFT')
    yield 'binary_bitshift_u8', network('BitShift', [draw([100000], U8), draw([100000], U8, 8)], direction='RIGHT')
    for exponent in (2.0, 3.0, 0.5, 1.7):
        yield f'pow_f32_{exponent}', network('Pow', [np.abs(draw([100000]))], [np.array(exponent, F32)])
    yield 'pow_i64_2', network('Pow', [draw([100000], I64)], [np.array(2, I64)])
    for op in ('Sum', 'Mean', 'Min'):
        yield f'many_{op.lower()}', network(op, [draw([100000]) for _ in range(3)])
    for dtype in (F32, F64, I64, U8, BOOL):
        c = draw([100, 1000], BOOL)
        yield f'where_{WORD[dtype]}', network('Where', [c, draw([100, 1000], dtype), draw([100, 1000], dtype)])
        yield f'where_scalar_{WORD[dtype]}', network('Where', [c, draw([1], dtype), draw([100, 1000], dtype)])
        yield f'where_row_{WORD[dtype]}', network('Where', [c[:1], draw([100, 1000], dtype), draw([100, 1], dtype)])


def gathers():
    for dtype in (F32, I64, U8, F64):
        w, x = WORD[dtype], draw([1000, 256], dtype)
        yield f'gather_rows_{w}', network('Gather', [x, DRAW.integers(0, 1000, [400])], axis=0)
        yield f'gather_columns_{w}', network('Gather', [x, DRAW.integers(0, 256, [100])], axis=1)
        yield f'gather_one_{w}', network('Gather', [x, const(3)], axis=1)
        yield f'gather_elements_1_{w}', network('GatherElements', [x, DRAW.integers(0, 256, [1000, 100])], axis=1)
        yield f'gather_elements_0_{w}', network('GatherElements', [x, DRAW.integers(0, 1000, [1000, 256])], axis=0)
        yield f'gather_nd_elements_{w}', network('GatherND', [x, DRAW.integers(0, 256, [50000, 2])])
        yield f'gather_nd_rows_{w}', network('GatherND', [x, DRAW.integers(0, 1000, [500, 1])])
    x = draw([8, 100, 64])
    yield 'gather_nd_batch', network('GatherND', [x, DRAW.integers(0, 100, [8, 50, 1])], batch_dims=1)
    yield 'gather_i32_indices', network('Gather', [draw([1000, 256]), DRAW.integers(0, 1000, [400]).astype(I32)])
    yield 'gather_elements_i32_indices', network('GatherElements', [draw([1000, 256]), DRAW.integers(0, 1000, [1000, 256]).astype(I32)])
    for share in (1, 50, 99):
        yield f'compress_rows_{share}', network('Compress', [draw([1000, 256]), DRAW.integers(0, 100, 1000) < share], axis=0)
        yield f'compress_elements_{share}', network('Compress', [draw([256000]), DRAW.integers(0, 100, 256000) < share])


def scatters():
    for dtype in (F32, I64, F64):
        w, x = WORD[dtype], draw([1000, 256], dtype)
        for reduction in ('none', 'add', 'max'):
            r = {} if reduction == 'none' else {'reduction': reduction}
            yield f'scatter_elements_0_{reduction}_{w}', network('ScatterElements', [x, DRAW.integers(0, 1000, [500, 256]), draw([500, 256], dtype)], axis=0, **r)
            yield f'scatter_elements_1_{reduction}_{w}', network('ScatterElements', [x, DRAW.integers(0, 256, [1000, 100]), draw([1000, 100], dtype)], axis=1, **r)
            yield f'scatter_nd_rows_{reduction}_{w}', network('ScatterND', [x, DRAW.integers(0, 1000, [500, 1]), draw([500, 256], dtype)], **r)
            yield f'scatter_nd_elements_{reduction}_{w}', network('ScatterND', [x, DRAW.integers(0, 256, [50000, 2]), draw([50000], dtype)], **r)
    for dtype in (F32, F64, I32, I64):
        w = WORD[dtype]
        yield f'cum_sum_inner_{w}', network('CumSum', [draw([100, 1000], dtype)], [np.array(1)])
        yield f'cum_sum_outer_{w}', network('CumSum', [draw([1000, 100], dtype)], [np.array(0)])
        yield f'cum_sum_middle_{w}', network('CumSum', [draw([10, 100, 100], dtype)], [np.array(1)])
        yield f'cum_sum_short_{w}', network('CumSum', [draw([20000, 5], dtype)], [np.array(1)])
        yield f'cum_sum_reverse_{w}', network('CumSum', [draw([100, 1000], dtype)], [np.array(1)], reverse=1, exclusive=1)
        yield f'cum_sum_line_{w}', network('CumSum', [draw([100000], dtype)], [np.array(0)])


def orders():
    for n, k in ((1000, 5), (10000, 1000), (100000, 1000), (1000000, 1000), (10000, 10000)):
        for dtype in (F32, I64, F64):
            yield f'top_k_{n}_{k}_{WORD[dtype]}', network('TopK', [draw([1, n], dtype, 1 << 40)], [const(k)], 2)
    yield 'top_k_unsorted', network('TopK', [draw([1, 100000])], [const(1000)], 2, sorted=0)
    yield 'top_k_rows', network('TopK', [draw([1000, 100])], [const(5)], 2)
    yield 'top_k_one', network('TopK', [draw([1000, 1000])], [const(1)], 2)
    yield 'top_k_axis_0', network('TopK', [draw([1000, 64])], [const(10)], 2, axis=0)
    yield 'top_k_sorted_input', network('TopK', [np.sort(draw([1, 100000]))], [const(100)], 2)
    yield 'top_k_equal', network('TopK', [np.round(draw([1, 100000]))], [const(1000)], 2)
    for dtype in (F32, BOOL, I64, U8):
        for share in (1, 50, 99):
            x = (DRAW.integers(0, 100, [100, 1000]) < share).astype(dtype)
            yield f'non_zero_{WORD[dtype]}_{share}', network('NonZero', [x])
    yield 'non_zero_1d', network('NonZero', [DRAW.integers(0, 2, [100000]) > 0])
    yield 'non_zero_4d', network('NonZero', [DRAW.integers(0, 2, [2, 10, 50, 100]) > 0])
    for dtype in (F32, I64):
        yield f'unique_{WORD[dtype]}', network('Unique', [draw([20000], dtype, 500)], outputs=4)
        yield f'unique_unsorted_{WORD[dtype]}', network('Unique', [draw([20000], dtype, 500)], outputs=4, sorted=0)
    yield 'unique_values', network('Unique', [draw([20000], I64, 500)])
    yield 'unique_rows', network('Unique', [draw([2000, 4], I64, 4)], outputs=4, axis=0)
    for classes, boxes, score, limit in ((80, 1000, 0.5, 100), (80, 8400, 0.9, 100), (1, 8400, 0.25, 300), (80, 100, 0.0, 20), (1, 1000, None, 1000)):
        corner = DRAW.random([1, boxes, 2]) * 600
        b = np.concatenate([corner, corner + 20 + DRAW.random([1, boxes, 2]) * 60], 2).astype(F32)
        s = DRAW.random([1, classes, boxes]).astype(F32)
        rest = [const(limit), np.array([0.5], F32)] + ([] if score is None else [np.array([score], F32)])
        yield f'nms_{classes}_{boxes}_{score}', network('NonMaxSuppression', [b, s], rest)
    for dtype in (F32, F64, I32, I64, U8):
        for k in (2, 10, 1000):
            yield f'arg_max_{WORD[dtype]}_{k}', network('ArgMax', [draw([100000 // k, k], dtype)], axis=1)
        yield f'arg_max_outer_{WORD[dtype]}', network('ArgMax', [draw([80, 1000], dtype)], axis=0)
        yield f'arg_max_middle_{WORD[dtype]}', network('ArgMax', [draw([2, 21, 64, 64], dtype)], axis=1)
    yield 'hardmax', network('Hardmax', [draw([1000, 100])])


def movements():
    for dtype in (F32, U8, I64):
        w, x = WORD[dtype], draw([2, 16, 64, 64], dtype)
        yield f'expand_{w}', network('Expand', [draw([1, 16, 1, 64], dtype)], [const(8, 16, 64, 64)])
        yield f'expand_inner_{w}', network('Expand', [draw([64, 64, 1], dtype)], [const(64, 64, 32)])
        yield f'tile_{w}', network('Tile', [draw([16, 7, 9], dtype)], [const(4, 5, 6)])
        yield f'tile_inner_{w}', network('Tile', [draw([1000, 3], dtype)], [const(1, 40)])
        yield f'concat_inner_{w}', network('Concat', [draw([1000, 7], dtype), draw([1000, 30], dtype), draw([1000, 1], dtype)], axis=1)
        yield f'concat_1_{w}', network('Concat', [x, x], axis=1)
        yield f'split_inner_{w}', network('Split', [draw([1000, 96], dtype)], outputs=3, axis=1, num_outputs=3)
        yield f'slice_{w}', network('Slice', [x], [const(1, 1), const(63, 63), const(2, 3)])
        yield f'slice_steps_{w}', network('Slice', [x], [const(1, 60), const(63, 0), const(2, 3), const(2, -1)])
        yield f'slice_reverse_{w}', network('Slice', [x], [const(-1), const(-1000), const(3), const(-1)])
        yield f'slice_focus_{w}', network('Slice', [x], [const(0, 1), const(64, 64), const(2, 3), const(2, 2)])
        for mode in ('constant', 'reflect', 'edge', 'wrap'):
            yield f'pad_{mode}_{w}', network('Pad', [x], [const(0, 0, 3, 3, 0, 0, 3, 3)], mode=mode)
        yield f'depth_to_space_{w}', network('DepthToSpace', [x], blocksize=2)
        yield f'depth_to_space_crd_{w}', network('DepthToSpace', [x], blocksize=2, mode='CRD')
        yield f'space_to_depth_{w}', network('SpaceToDepth', [x], blocksize=2)
        yield f'reverse_sequence_{w}', network('ReverseSequence', [draw([100, 16, 64], dtype), DRAW.integers(1, 100, 16)], batch_axis=1, time_axis=0)
        yield f'reverse_sequence_inner_{w}', network('ReverseSequence', [draw([100, 1000], dtype), DRAW.integers(1, 1000, 100)], batch_axis=0, time_axis=1)
        yield f'one_hot_{w}', network('OneHot', [draw([1000], I64, 100)], [const(100), np.array([0, 1], dtype)])
        yield f'one_hot_0_{w}', network('OneHot', [draw([1000], I64, 100)], [const(100), np.array([0, 1], dtype)], axis=0)
        yield f'center_crop_pad_{w}', network('CenterCropPad', [x], [const(50, 80)], axes=[2, 3])
        for perm in ((0, 2, 3, 1), (1, 0, 2, 3), (0, 1, 3, 2), (3, 2, 1, 0), (0, 2, 1, 3)):
            yield f'transpose_{"".join(map(str, perm))}_{w}', network('Transpose', [x], perm=perm)
        yield f'constant_of_shape_{w}', network('ConstantOfShape', [const(100, 1000)], value=numpy_helper.from_array(np.array([1], dtype)))
        yield f'eye_like_{w}', network('EyeLike', [draw([300, 300], dtype)])
    for dtype in (F32, I64, BOOL, F64):
        yield f'trilu_{WORD[dtype]}', network('Trilu', [draw([8, 128, 128], dtype)])
        yield f'trilu_lower_{WORD[dtype]}', network('Trilu', [draw([8, 128, 128], dtype)], [np.array(1)], upper=0)
    for dtype in (I64, F32, I32):
        yield f'range_{WORD[dtype]}', network('Range', [np.array(0, dtype), np.array(100000, dtype), np.array(1, dtype)])


def reductions():
    for op in ('Sum', 'Mean', 'Max', 'Min', 'Prod', 'L1', 'L2', 'SumSquare', 'LogSum', 'LogSumExp'):
        for dtype in (F32, F64, I32, I64):
            if dtype in (F32, F64) or op in ('Sum', 'Max', 'Mean', 'Prod'):
                for word, shape, axes in (('all', [100000], [0]), ('inner', [100, 1000], [1]), ('outer', [1000, 100], [0]), ('middle', [16, 49, 128], [1]),
                                          ('pair', [8, 16, 28, 28], [2, 3]), ('short', [20000, 5], [1]), ('ends', [8, 100, 128], [0, 2])):
                    if op in ('Sum', 'Max', 'LogSumExp') or word in ('inner', 'outer'):
                        yield f'reduce_{op.lower()}_{word}_{WORD[dtype]}', network(f'Reduce{op}', [draw(shape, dtype)], [const(*axes)])
    for dtype in (F32, F64):
        for op in ('Softmax', 'LogSoftmax'):
            for word, shape, axis in (('2', [10000, 2], 1), ('5', [10000, 5], 1), ('20', [10000, 20], 1), ('64', [10000, 64], 1), ('1000', [100, 1000], 1), ('outer', [1000, 100], 0),
                                      ('middle', [2, 21, 64, 64], 1)):
                yield f'{op.lower()}_{word}_{WORD[dtype]}', network(op, [draw(shape, dtype)], axis=axis)
        yield f'lp_norm_{WORD[dtype]}', network('LpNormalization', [draw([1000, 100], dtype)], axis=1)
        yield f'lp_norm_1_outer_{WORD[dtype]}', network('LpNormalization', [draw([1000, 100], dtype)], axis=0, p=1)


def images():
    for dtype in (F32, F64, U8):
        w, x = WORD[dtype], draw([1, 3, 120, 160], dtype)
        for mode in ('nearest', 'linear') + (('cubic',) if dtype is F32 else ()):
            for word, scale in (('up', 2.0), ('down', 0.5), ('odd', 1.37)):
                if dtype is not F64 or word == 'up':
                    yield f'resize_{mode}_{word}_{w}', network('Resize', [x], [None, np.array([1, 1, scale, scale], F32)], mode=mode)
    x = draw([1, 3, 120, 160])
    yield 'resize_linear_antialias', network('Resize', [x], [None, np.array([1, 1, .5, .5], F32)], mode='linear', antialias=1)
    yield 'resize_linear_corners', network('Resize', [draw([1, 64, 30, 40])], [None, np.array([1, 1, 2, 2], F32)], mode='linear',
                                           coordinate_transformation_mode='align_corners')
    yield 'resize_nearest_features', network('Resize', [draw([1, 64, 30, 40])], [None, np.array([1, 1, 2, 2], F32)], mode='nearest',
                                             coordinate_transformation_mode='asymmetric', nearest_mode='floor')
    yield 'resize_linear_3d', network('Resize', [draw([1, 2, 20, 30, 40])], [None, np.array([1, 1, 2, 2, 2], F32)], mode='linear')
    yield 'resize_nhwc', network('Resize', [draw([1, 120, 160, 3])], [None, np.array([1, 2, 2, 1], F32)], mode='linear')
    grid = (DRAW.random([1, 64, 64, 2]) * 2 - 1).astype(F32)
    for mode in ('linear', 'nearest', 'cubic'):
        for channels in (3, 64):
            yield f'grid_sample_{mode}_{channels}', network('GridSample', [draw([1, channels, 64, 64]), grid], mode=mode)
    yield 'grid_sample_border', network('GridSample', [draw([1, 16, 64, 64]), grid * 1.2], mode='linear', padding_mode='border')
    yield 'affine_grid', network('AffineGrid', [draw([2, 2, 3])], [const(2, 3, 128, 128)])
    corner = DRAW.random([100, 2]) * 30
    rois = np.concatenate([corner, corner + 10 + DRAW.random([100, 2]) * 30], 1).astype(F32)
    yield 'roi_align', network('RoiAlign', [draw([1, 64, 80, 80]), rois, np.zeros(100, I64)], output_height=7, output_width=7, sampling_ratio=2)
    yield 'roi_align_max', network('RoiAlign', [draw([1, 64, 80, 80]), rois, np.zeros(100, I64)], output_height=7, output_width=7, sampling_ratio=2, mode='max')
    yield 'max_roi_pool', network('MaxRoiPool', [draw([1, 64, 80, 80]), np.concatenate([np.zeros([100, 1], F32), rois], 1)], pooled_shape=[7, 7])
    yield 'col2im', network('Col2Im', [draw([1, 16 * 9, 30 * 30])], [const(32, 32), const(3, 3)])
    for dtype in (F32, F64):
        w, x = WORD[dtype], draw([1, 64, 56, 56], dtype)
        for op in ('MaxPool', 'AveragePool', 'LpPool'):
            if dtype is F32 or op == 'MaxPool':
                yield f'{op.lower()}_{w}', network(op, [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
        for op in ('GlobalAveragePool', 'GlobalMaxPool', 'GlobalLpPool'):
            yield f'{op.lower()}_{w}', network(op, [x])
        channel = draw([64], dtype)
        yield f'instance_norm_{w}', network('InstanceNormalization', [x, channel, channel])
        if dtype is F32:
            yield 'lrn', network('LRN', [x], size=5)
            yield 'mvn', network('MeanVarianceNormalization', [x])
            yield 'group_norm', network('GroupNormalization', [x, channel, channel], num_groups=8, opset=21)
        yield f'batch_norm_{w}', network('BatchNormalization', [x], [channel, channel, channel, np.abs(channel)])
        yield f'layer_norm_{w}', network('LayerNormalization', [draw([200, 768], dtype)], [draw([768], dtype), draw([768], dtype)])
    for kind in (I8, U8):
        yield f'max_pool_{WORD[kind]}', network('MaxPool', [draw([1, 64, 56, 56], kind)], kernel_shape=[2, 2], strides=[2, 2])
    yield 'max_pool_indices', network('MaxPool', [draw([1, 64, 56, 56])], outputs=2, kernel_shape=[2, 2], strides=[2, 2])
    yield 'max_unpool', network('MaxUnpool', [draw([1, 16, 28, 28]), np.arange(16 * 28 * 28).reshape(1, 16, 28, 28) * 4], kernel_shape=[2, 2], strides=[2, 2])
    yield 'conv_transpose', network('ConvTranspose', [draw([1, 32, 28, 28])], [draw([32, 16, 2, 2])], strides=[2, 2])


def signals():
    yield 'dft_256', network('DFT', [draw([16, 256, 1])], [None, np.array(1)])
    yield 'dft_1000', network('DFT', [draw([16, 1000, 1])], [None, np.array(1)])
    yield 'dft_1021', network('DFT', [draw([2, 1021, 2])], [None, np.array(1)])
    yield 'stft', network('STFT', [draw([1, 16000, 1])], [np.array(160), np.hanning(400).astype(F32), np.array(400)], opset=17)
    yield 'mel_weights', network('MelWeightMatrix', [const(80)[0:1].reshape(()), np.array(512), np.array(16000), np.array(0., F32), np.array(8000., F32)])
    yield 'hann_window', network('HannWindow', [np.array(4000)])
    for n in (3, 4, 32):
        yield f'det_{n}', network('Det', [draw([1000 if n < 10 else 20, n, n])])
    for equation, shapes in (('ij,jk->ik', [[64, 64], [64, 64]]), ('bhid,bhjd->bhij', [[2, 8, 64, 64]] * 2), ('ii->i', [[300, 300]]), ('ij->', [[300, 300]]),
                             ('i,i->', [[10000]] * 2), ('bij,bij->b', [[16, 50, 50]] * 2)):
        for dtype in (F32, F64):
            yield f'einsum_{equation.replace(",", "_").replace("->", "_to_")}_{WORD[dtype]}', network('Einsum', [draw(s, dtype) for s in shapes], equation=equation)
    for dtype in (I32, I64):
        yield f'mat_mul_{WORD[dtype]}', network('MatMul', [draw([128, 128], dtype), draw([128, 128], dtype)])
    for dtype in (F32, F64):
        yield f'einsum_sum_of_three_{WORD[dtype]}', network('Einsum', [draw([20, 30], dtype), draw([30, 40], dtype), draw([40, 50], dtype)], equation='ij,jk,kl->il')
    for op, gates in (('RNN', 1), ('GRU', 3), ('LSTM', 4)):
        for batch, hidden in ((1, 64), (8, 128)):
            yield f'{op.lower()}_{batch}_{hidden}', network(op, [draw([20, batch, 32])], [draw([1, gates * hidden, 32]) * F32(.1), draw([1, gates * hidden, hidden]) * F32(.1)], 2,
                                                           hidden_size=hidden)
    x, labels = draw([500, 100]), DRAW.integers(0, 100, 500)
    yield 'nll_loss', network('NegativeLogLikelihoodLoss', [x, labels])
    yield 'cross_entropy', network('SoftmaxCrossEntropyLoss', [x, labels])
    yield 'dropout', network('Dropout', [draw([100000])])
    yield 'random_normal', network('RandomNormalLike', [draw([100000])], dtype=1)
    yield 'random_uniform', network('RandomUniformLike', [draw([100000])], dtype=1)
    yield 'bernoulli', network('Bernoulli', [np.abs(draw([100000])) % 1])


def bytes_():
    one, zero, low = np.array(0.02, F32), np.array(128, U8), np.array(0, I8)
    x = draw([300000])
    yield 'quantize_u8', network('QuantizeLinear', [x], [one, zero])
    yield 'quantize_i8_channels', network('QuantizeLinear', [draw([64, 3136])], [np.full(64, .02, F32), np.zeros(64, I8)], axis=0)
    yield 'dequantize_u8', network('DequantizeLinear', [draw([300000], U8)], [one, zero])
    yield 'dequantize_channels', network('DequantizeLinear', [draw([64, 3136], I8)], [np.full(64, .02, F32), np.zeros(64, I8)], axis=0)
    yield 'dynamic_quantize', network('DynamicQuantizeLinear', [x], outputs=3)
    for channels, size, kernel in ((16, 28, 3), (16, 56, 1), (24, 56, 1), (32, 28, 3), (40, 28, 1), (40, 28, 3), (64, 56, 1), (128, 28, 3)):
        w, pads = draw([channels, channels, kernel, kernel], I8), [kernel // 2] * 4
        image = draw([1, channels, size, size], U8)
        yield f'q_linear_conv_{channels}_{size}_{kernel}', network('QLinearConv', [image], [one, zero, w, one, low, np.array(3., F32), zero], pads=pads)
        yield f'conv_integer_{channels}_{size}_{kernel}', network('ConvInteger', [image], [w, zero], pads=pads)
        wu = draw([channels, channels, kernel, kernel], U8)
        yield f'q_linear_conv_u8_{channels}_{size}_{kernel}', network('QLinearConv', [image], [one, zero, wu, one, zero, np.array(3., F32), zero], pads=pads)
    for channels, size in ((32, 56), (96, 28), (240, 14)):
        yield f'q_linear_conv_depthwise_{channels}', network('QLinearConv', [draw([1, channels, size, size], U8)], [one, zero, draw([channels, 1, 3, 3], I8), one, low, np.array(1., F32), zero],
                                                             pads=[1] * 4, group=channels)
    yield 'q_linear_mat_mul', network('QLinearMatMul', [draw([64, 256], U8)], [one, zero, draw([256, 256], I8), one, low, np.array(9., F32), zero])
    yield 'mat_mul_integer', network('MatMulInteger', [draw([64, 256], U8), draw([256, 256], I8)], [zero, low])
    image = draw([1, 64, 56, 56], U8)
    quant = dict(domain='com.microsoft')
    yield 'q_linear_add_scalar', model_of([helper.make_node('QLinearAdd', ['x0', 's', 'z', 'x1', 's', 'z', 's', 'z'], ['y0'], domain='com.microsoft')],
                                          {'x0': image, 'x1': draw([1], U8)}, {'s': one, 'z': zero}, ['y0'], domain='com.microsoft')
    yield 'q_linear_sigmoid', network('QLinearSigmoid', [image], [one, zero, one, zero], **quant)
    yield 'q_linear_leaky_relu', network('QLinearLeakyRelu', [image], [one, zero, one, zero], alpha=.1, **quant)
    yield 'q_linear_average_pool', network('QLinearGlobalAveragePool', [image], [one, zero, one, zero], **quant)


def strings():
    ids = DRAW.integers(0, 500, 10000)
    pairs = DRAW.permutation(40000)[:1000]
    grams = np.stack([pairs // 200, pairs % 200], 1)
    yield 'tf_idf', network('TfIdfVectorizer', [draw([100, 200], I64, 200)], mode='TF', max_gram_length=2, min_gram_length=1, max_skip_count=0, ngram_counts=[0, 200], opset=9,
                            ngram_indexes=list(range(1200)), pool_int64s=list(range(200)) + grams.ravel().tolist())
    yield 'tf_idf_skips', network('TfIdfVectorizer', [draw([1000, 20], I64, 200)], mode='TFIDF', max_gram_length=2, min_gram_length=2, max_skip_count=3, ngram_counts=[0, 0], opset=9,
                                  ngram_indexes=list(range(1000)), pool_int64s=grams.ravel().tolist(), weights=[1.] * 1000)
    ml = dict(domain='ai.onnx.ml')
    yield 'label_encoder_i64', network('LabelEncoder', [ids], keys_int64s=list(range(500)), values_int64s=list(range(500)), **ml)
    yield 'label_encoder_i64_f32', network('LabelEncoder', [ids], keys_int64s=list(range(0, 1500, 3)), values_floats=[1.] * 500, **ml)
    yield 'label_encoder_f32', network('LabelEncoder', [ids.astype(F32)], keys_floats=list(map(float, range(500))), values_int64s=list(range(500)), **ml)
    x = draw([1000, 100])
    for op, attributes in (('Scaler', dict(offset=[1.] * 100, scale=[2.] * 100)), ('Normalizer', dict(norm='L2')), ('Binarizer', dict(threshold=.5)),
                           ('Imputer', dict(imputed_value_floats=[1.] * 100, replaced_value_float=0.))):
        yield f'ml_{op.lower()}', network(op, [x], **attributes, **ml)
    yield 'ml_one_hot', network('OneHotEncoder', [DRAW.integers(0, 50, [10000])], cats_int64s=list(range(50)), **ml)
    yield 'ml_array_features', network('ArrayFeatureExtractor', [x, const(3, 5, 60)], **ml)
    yield 'ml_svm', network('SVMRegressor', [x], kernel_type='RBF', kernel_params=[.01, 0., 3.], n_supports=100, coefficients=draw([100]).tolist(),
                            support_vectors=draw([10000]).tolist(), rho=[.1], **ml)


FAMILIES = (casts, unary, binary, gathers, scatters, orders, movements, reductions, images, signals, bytes_, strings)


def save(path, network):
    model, inputs = network
    onnx.save(model, f'{path}.onnx')
    np.savez(f'{path}.npz', **inputs)


if __name__ == '__main__':
    write(__doc__, FAMILIES, save)
