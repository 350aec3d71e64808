"""Random nodes of com.microsoft's operators that quantised files hold, for against_runtime.py."""
import numpy as np

from random_language import MICROSOFT, makers, microsoft, normal
from random_nodes import F32, I32, I64
from random_quantized import I8, U8, integers, scale, window, zero


@makers(MICROSOFT, "QAttention")
def q_attention(g, op):
    b, s, heads, size = g.int(1, 3), g.int(1, 5), g.int(1, 3), g.int(1, 4)
    hidden, rows = heads * size, g.int(1, 9)
    weight = g.pick(U8, I8)
    each = [3 * hidden] if g.chance() else []
    past = g.pick(None, None, g.int(1, 3))
    total = s + (past or 0)
    mask = g.pick(None, g.r.integers(1, total + 1, [b]).astype(I32), (g.r.random([b, total]) < 0.7).astype(I32))
    zeros = [None, None] if g.chance(0.3) else [zero(g, U8), zero(g, weight, each)]
    inputs = [integers(g, [b, s, rows], U8), integers(g, [rows, 3 * hidden], weight), normal(g, [3 * hidden]), scale(g), scale(g, each), mask]
    inputs += zeros + [normal(g, [2, b, heads, past, size]) if past else None]
    return microsoft(op, inputs, {"num_heads": heads, "unidirectional": g.pick(None, 1)}, 2 if past or g.chance() else 1,
                     (1, 4, 7) if g.chance() else ())


@makers(MICROSOFT, "NhwcMaxPool")
def last_max_pool(g, op):
    rank = g.int(1, 2)
    attributes = {"kernel_shape": [g.int(1, 3) for _ in range(rank)], "strides": [g.int(1, 2) for _ in range(rank)] if g.chance() else None,
                  "pads": [g.int(0, 1) for _ in range(2 * rank)] if g.chance() else None}
    if attributes["pads"] and min(attributes["kernel_shape"]) < 2:
        attributes["pads"] = None
    return microsoft(op, [integers(g, [g.int(1, 2)] + [g.int(4, 7) for _ in range(rank)] + [g.int(1, 20)], g.pick(U8, I8))], attributes)


@makers(MICROSOFT, "QLinearConv")
def runtime_conv(g, op):
    x, w, attributes = window(g)
    a, b = g.pick((U8, U8), (U8, I8), (I8, I8))
    each = [w[0]] if g.chance() else []
    w_zero = np.zeros(each, b) if b == I8 else np.full(each, 120, b)
    if g.chance(0.8):
        attributes["channels_last"], x = 1, [x[0]] + x[2:] + [x[1]]
    inputs = [integers(g, x, a), scale(g), zero(g, a), integers(g, w, b), scale(g, each), w_zero, scale(g, (), 0.05, 2), zero(g, a)]
    if g.chance():
        inputs.append(g.r.integers(-2000, 2000, [w[0]]).astype(I32))
    return microsoft(op, inputs, attributes, 1, g.pick((3, 4, 5), (1, 2, 3, 4, 5, 6, 7, 8)))


@makers(MICROSOFT, "QuantizeLinear")
def runtime_quantize(g, op):
    dims, axis = [g.int(1, 5) for _ in range(g.int(1, 4))], None
    each = []
    if g.chance():
        axis = g.axis(len(dims))
        each = [dims[axis]]
    of = g.pick(U8, I8, np.int16, np.uint16)
    point = zero(g, of, each) if of in (U8, I8) else g.r.integers(0, 99, each).astype(of)
    return microsoft(op, [normal(g, dims), scale(g, each, 0.01, 1), point], {"axis": axis})


@makers(MICROSOFT, "DequantizeLinear")
def runtime_dequantize(g, op):
    dims, axis = [g.int(1, 5) for _ in range(g.int(1, 4))], None
    each = []
    if g.chance():
        axis = g.axis(len(dims))
        each = [dims[axis]]
    of = g.pick(U8, I8, np.int16, np.uint16, I32)
    x = integers(g, dims, of) if of in (U8, I8) else g.r.integers(0, 999, dims).astype(of)
    point = None if of == I32 or g.chance(0.2) else zero(g, of, each) if of in (U8, I8) else g.r.integers(0, 99, each).astype(of)
    return microsoft(op, [x, scale(g, each), point], {"axis": axis})


@makers(MICROSOFT, "Trilu")
def runtime_trilu(g, op):
    inputs = [g.values([g.int(1, 5) for _ in range(g.int(2, 4))], g.pick(F32, I64))]
    if g.chance():
        inputs.append(np.array(g.int(-3, 3), I64))
    return microsoft(op, inputs, {"upper": g.pick(None, 0)})


@makers(MICROSOFT, "Unique")
def runtime_unique(g, op):
    return microsoft(op, [g.values([g.int(1, 12)])], outputs=3)


@makers(MICROSOFT, "GridSample")
def runtime_grid_sample(g, op):
    n, c = g.int(1, 2), g.int(1, 3)
    grid = g.r.uniform(-1.3, 1.3, [n, g.int(1, 4), g.int(1, 4), 2]).astype(F32)
    return microsoft(op, [normal(g, [n, c, g.int(1, 5), g.int(1, 5)]), grid],
                     {"mode": g.pick(None, "nearest", "bicubic"), "padding_mode": g.pick(None, "border", "reflection"), "align_corners": g.pick(None, 1)})


@makers(MICROSOFT, "ExpandDims")
def expand_dims(g, op):
    x = normal(g, g.dims(0, 4))
    return microsoft(op, [x, np.array(g.int(-x.ndim - 1, x.ndim), I32)], constant=(1,) if g.chance() else ())


@makers(MICROSOFT, "MatMulBnb4")
def mat_mul_bnb4(g, op):
    k, n, block = 2 * g.int(1, 40), g.int(1, 20), g.pick(16, 32, 64)
    packed = g.r.integers(0, 256, [(k * n + 1) // 2]).astype(U8)
    largest = g.r.uniform(0.1, 2, [(k * n + block - 1) // block]).astype(F32)
    a = normal(g, [g.int(1, 3) for _ in range(g.int(0, 2))] + [g.int(1, 5), k])
    # Without transB ONNX Runtime gives what it finds in memory.
    return microsoft(op, [a, packed, largest], {"K": k, "N": n, "block_size": block, "quant_type": g.pick(0, 1)}, constant=(1, 2))


@makers(MICROSOFT, "MatMulFpQ4")
def mat_mul_fp_q4(g, op):
    kind, k, n = g.pick(0, 1), g.int(1, 100), g.int(1, 20)
    blocks = -(-k // 32)
    parts = [g.r.uniform(0.1, 1, [n, blocks, 1]).astype(F32).view(U8)]
    if kind == 1:
        parts.append(g.r.integers(0, 16, [n, blocks, 1]).astype(U8))
    parts.append(g.r.integers(0, 256, [n, blocks, 16]).astype(U8))
    a = normal(g, [g.int(1, 3) for _ in range(g.int(0, 2))] + [g.int(1, 5), k])
    return microsoft(op, [a, np.concatenate(parts, 2).reshape(-1), np.array([k, n], I64)], {"blk_quant_type": kind}, constant=(1, 2))


@makers(MICROSOFT, "GatherBlockQuantized")
def gather_block_quantized(g, op):
    bits, block = g.pick(4, 4, 8), 16
    rows, middle, width = g.int(1, 9), [g.int(1, 3)] if g.chance(0.4) else [], block * g.int(1, 3)
    blocks = width // block
    packed = g.r.integers(0, 256, [rows] + middle + [width * bits // 8]).astype(U8)
    scales = g.r.uniform(0.1, 2, [rows] + middle + [blocks]).astype(F32)
    zeros = g.r.integers(0, 256, [rows] + middle + [(blocks * bits + 7) // 8]).astype(U8) if g.chance() else None
    indices = g.r.integers(-rows, rows, [g.int(1, 3) for _ in range(g.int(0, 2))]).astype(g.pick(I32, I64))
    return microsoft(op, [packed, indices, scales, zeros], {"bits": bits, "block_size": block, "quantize_axis": len(middle) + 1},
                     constant=(0, 2, 3) if zeros is not None else (0, 2))


@makers(MICROSOFT, "QEmbedLayerNormalization")
def q_embed(g, op):
    b, s, words, positions, width = g.int(1, 3), g.int(1, 4), g.int(1, 9), g.int(4, 6), g.int(2, 9)
    of = g.pick(U8, I8)
    segments = g.chance()
    ids = [g.r.integers(0, words, [b, s]).astype(I32), g.r.integers(0, 2, [b, s]).astype(I32) if segments else None]
    tables = [integers(g, [words, width], of), integers(g, [positions, width], of), integers(g, [2, width], of) if segments else None]
    norm = [integers(g, [width], of), integers(g, [width], of)]
    mask = None
    if g.chance():
        mask = g.r.choice([0, 1, 1, 2], [b, s])
    scales = [scale(g), scale(g), scale(g) if segments else None, scale(g), scale(g)]
    points = [zero(g, of), zero(g, of), zero(g, of) if segments else None, zero(g, of), zero(g, of)]
    return microsoft(op, ids + tables + norm + [None if mask is None else mask.astype(I32)] + scales + points, {"epsilon": g.pick(None, 0.1)}, 2)


@makers(MICROSOFT, "MatMulInteger16")
def mat_mul_integer16(g, op):
    m, k, n = g.int(1, 9), g.int(1, 9), g.int(1, 9)
    return microsoft(op, [g.r.integers(-999, 999, [m, k]).astype(np.int16), g.r.integers(-999, 999, [k, n]).astype(np.int16)])


def quantised(g, dims, of):
    """A value, its scale and zero point."""
    return [integers(g, dims, of), scale(g), zero(g, of)]


def result(g, of):
    return [scale(g, (), 0.005, 0.05), zero(g, of)]


@makers(MICROSOFT, "QLinearConcat")
def q_concat(g, op):
    of, dims = g.pick(U8, I8), [g.int(1, 4) for _ in range(g.int(1, 3))]
    axis, inputs = g.axis(len(dims)), result(g, of)
    for _ in range(g.int(1, 3)):
        inputs += quantised(g, [g.int(1, 4) if d == axis % len(dims) else n for d, n in enumerate(dims)], of)
    return microsoft(op, inputs, {"axis": axis})


@makers(MICROSOFT, "QLinearWhere")
def q_where(g, op):
    of, dims = g.pick(U8, I8), [g.int(1, 4) for _ in range(g.int(1, 3))]
    inputs = [g.r.random(dims) < 0.5] + quantised(g, dims, of) + quantised(g, g.broadcastable(dims), of) + result(g, of)
    return microsoft(op, inputs, constant=(2, 3, 5, 6, 7, 8))


@makers(MICROSOFT, "QLinearSigmoid", "QLinearLeakyRelu")
def q_activation(g, op):
    of = g.pick(U8, I8)
    return microsoft(op, quantised(g, [g.int(1, 5) for _ in range(g.int(1, 3))], of) + result(g, of),
                     {"alpha": g.pick(None, 0.2) if op == "QLinearLeakyRelu" else None}, constant=(1, 2, 3, 4) if g.chance() else ())


@makers(MICROSOFT, "QLinearSoftmax")
def q_softmax(g, op):
    of = g.pick(U8, I8)
    y = [np.array(1 / 256, F32), np.array(0 if of == U8 else -128, of)]
    return microsoft(op, quantised(g, [g.int(1, 9) for _ in range(g.int(1, 3))], of) + y, {"axis": -1, "opset": 13}, constant=(1, 2, 3, 4))


@makers(MICROSOFT, "QLinearGlobalAveragePool")
def q_global_pool(g, op):
    of, last = g.pick(U8, I8), g.pick(0, 1)
    return microsoft(op, quantised(g, [g.int(1, 2)] + [g.int(1, 9) for _ in range(3)], of) + result(g, of), {"channels_last": last})


@makers(MICROSOFT, "QLinearAveragePool")
def q_pool(g, op):
    of = g.pick(U8, I8)
    attributes = {"kernel_shape": [g.int(2, 3), g.int(2, 3)], "strides": g.pick(None, [2, 1]), "pads": g.pick(None, [1, 0, 0, 1]),
                  "count_include_pad": g.pick(None, 1), "channels_last": g.pick(0, 1)}
    return microsoft(op, quantised(g, [1] + [g.int(4, 8) for _ in range(3)], of) + result(g, of), attributes)


@makers(MICROSOFT, "QLinearAdd", "QLinearMul")
def q_binary(g, op):
    of, dims = g.pick(U8, I8), [g.int(1, 4) for _ in range(g.int(1, 3))]
    return microsoft(op, quantised(g, dims, of) + quantised(g, g.broadcastable(dims), of) + result(g, of))
