"""Random nodes of com.microsoft's products of small integers and of its operators that have no family, for against_runtime.py.

Not of DynamicQuantizeLSTM, whose inputs and states ONNX Runtime rounds to 8 bits and this engine does not."""
import numpy as np

from random_language import MICROSOFT, makers, microsoft, normal
from random_nodes import F32, F64, I32, I64
from random_quantized import I8, U8, integers, scale, size, zero


def either(g, *constant):
    """Weights in the model, or all operands given."""
    return constant if g.chance() else ()


@makers(MICROSOFT, "QGemm")
def q_gemm(g, op):
    m, k, n = size(g), size(g), size(g)
    a, b = g.pick((U8, U8), (U8, I8), (I8, I8))
    left, right = g.pick(None, 1), g.pick(None, 1)
    each = [n] if g.chance() else []
    inputs = [integers(g, [k, m] if left else [m, k], a), scale(g), zero(g, a), integers(g, [n, k] if right else [k, n], b), scale(g, each), zero(g, b, each)]
    inputs.append(g.r.integers(-2000, 2000, g.pick([n], [1, n], [m, n], [m, 1], [1])).astype(I32) if g.chance() else None)
    if g.chance():
        inputs += [scale(g, (), 0.05, 2), zero(g, a)]
    return microsoft(op, inputs, {"transA": left, "transB": right, "alpha": g.pick(None, 0.5)}, constant=either(g, 3, 4, 5))


@makers(MICROSOFT, "MatMulIntegerToFloat")
def mat_mul_to_float(g, op):
    m, k, n = size(g), size(g), size(g)
    batch = g.dims(0, 2)
    a, b = g.pick((U8, U8), (U8, I8), (I8, I8))
    each = [n] if g.chance() else []
    inputs = [integers(g, batch + [m, k], a), integers(g, [k, n], b), scale(g), scale(g, each)]
    inputs += [zero(g, a) if g.chance() else None, zero(g, b, each) if g.chance() else None, normal(g, [n]) if g.chance() else None]
    return microsoft(op, inputs, constant=either(g, 1, 3, 5))


@makers(MICROSOFT, "DynamicQuantizeMatMul")
def dynamic_mat_mul(g, op):
    m, k, n = size(g), size(g), size(g)
    b = g.pick(U8, I8)
    each = [n] if g.chance() else []
    # Halves, whose largest and smallest decide the scale: no product of theirs lies between two integers but by rounding.
    inputs = [g.values(g.dims(0, 2) + [m, k]), integers(g, [k, n], b), scale(g, each), zero(g, b, each) if g.chance() else None]
    return microsoft(op, inputs + [normal(g, [n]) if g.chance() else None], constant=either(g, 1, 2, 3))


@makers(MICROSOFT, "MatMulNBits")
def mat_mul_n_bits(g, op):
    bits, block = g.pick(4, 4, 8), g.pick(16, 32, 64)
    k, n = g.int(1, 100), g.int(1, 40)
    blocks = -(-k // block)
    scales = g.r.uniform(0.01, 0.1, g.pick([n, blocks], [n * blocks])).astype(F32)
    points = g.pick(None, g.r.integers(0, 256, [n, -(-blocks * bits // 8)]).astype(U8), g.r.integers(0, 16, [n, blocks]).astype(F32) if bits == 4 else None)
    inputs = [normal(g, g.dims(0, 2) + [g.int(1, 6), k]), g.r.integers(0, 256, [n, blocks, block * bits // 8]).astype(U8), scales, points, None]
    inputs.append(normal(g, [n]) if g.chance(0.3) else None)
    return microsoft(op, inputs, {"K": k, "N": n, "bits": bits, "block_size": block}, constant=(1, 2, 3))


@makers(MICROSOFT, "Inverse")
def inverse(g, op):
    n = g.int(1, 5)
    x = g.r.standard_normal(g.dims(0, 2) + [n, n]) + 4 * np.eye(n)
    return microsoft(op, [x.astype(g.pick(F32, F64))])


@makers(MICROSOFT, "UnfoldTensor")
def unfold_tensor(g, op):
    dims = [g.int(2, 7) for _ in range(g.int(1, 4))]
    axis = g.axis(len(dims))
    return microsoft(op, [g.values(dims, g.pick(F32, F64, I64, U8))],
                     {"dim": axis, "size": g.int(1, dims[axis]), "step": g.pick(None, g.int(1, 3))})


@makers(MICROSOFT, "NGramRepeatBlock")
def ngram_repeat_block(g, op):
    batch, length, words = g.int(1, 3), g.int(1, 9), g.int(2, 4)
    return microsoft(op, [g.r.integers(0, words, [batch, length]).astype(I64), normal(g, [batch, words])], {"ngram_size": g.int(1, 4)})


@makers(MICROSOFT, "MurmurHash3")
def murmur_hash(g, op):
    dims = g.dims(0, 3)
    of = g.pick(I32, np.uint32, I64, np.uint64, F32, F64, object)
    if of is object:
        x = np.array(["".join(g.pick("a", "b", "ü", " ") for _ in range(g.int(0, 9))) for _ in range(int(np.prod(dims)))], object).reshape(dims)
    else:
        x = g.values(dims, of)
    return microsoft(op, [x], {"seed": g.pick(None, g.int(1, 99)), "positive": g.pick(None, 0)})


@makers(MICROSOFT, "ConvTransposeWithDynamicPads")
def conv_transpose_pads(g, op):
    rank, group = g.int(1, 2), g.int(1, 2)
    channels, outs, kernel = group * g.int(1, 3), g.int(1, 3), [g.int(2, 3) for _ in range(rank)]
    inputs = [normal(g, [g.int(1, 2), channels] + [g.int(2, 5) for _ in range(rank)]), normal(g, [channels, outs] + kernel)]
    inputs.append(g.r.integers(0, 2, 2 * rank).astype(I64) if g.chance(0.8) else None)
    inputs.append(normal(g, [outs * group]) if g.chance() else None)
    return microsoft(op, inputs, {"group": group, "strides": [g.int(1, 2) for _ in range(rank)] if g.chance() else None}, constant=either(g, 1, 2))


@makers(MICROSOFT, "Range")
def contributed_range(g, op):
    of = g.pick(F32, F64, np.int16, I32, I64)
    one = lambda v: np.array(v, of) if g.chance() else np.array([v], of)
    step = g.pick(-2, -1, 1, 2, 3)
    inputs = [one(g.int(-5, 5)), one(g.int(-5, 9))] + ([one(step)] if g.chance(0.7) else [])
    return microsoft(op, inputs)


@makers(MICROSOFT, "Pad")
def contributed_pad(g, op):
    dims = [g.int(2, 5) for _ in range(g.int(1, 4))]
    mode = g.pick(None, "constant", "reflect", "edge")
    low = -1 if mode in (None, "constant") else 0
    pads = g.r.integers(low, 2, 2 * len(dims)).astype(I64)
    value = np.array([1.5], F32) if mode in (None, "constant") and g.chance() else None
    return microsoft(op, [normal(g, dims), pads.reshape(1, -1) if g.chance(0.3) else pads, value], {"mode": mode}, constant=either(g, 1))


@makers(MICROSOFT, "GatherND")
def contributed_gather_nd(g, op):
    dims = [g.int(1, 5) for _ in range(g.int(1, 4))]
    depth = g.int(1, len(dims))
    places = np.stack([g.r.integers(0, n, 6) for n in dims[:depth]], -1).reshape(g.pick([6, depth], [2, 3, depth]))
    return microsoft(op, [g.values(dims, g.pick(F32, F64, I64, U8)), places.astype(g.pick(I32, I64))])
