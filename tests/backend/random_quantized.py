"""Random nodes of quantised operators, for against_runtime.py."""
import numpy as np

from random_nodes import F32, Case, maker

U8, I8, I32 = np.uint8, np.int8, np.int32


def integers(g, dims, dtype):
    """All values of the type, without the -128 whose products ONNX Runtime saturates on processors without VNNI."""
    return g.r.integers(0, 256, dims).astype(U8) if dtype == U8 else g.r.integers(-127, 128, dims).astype(I8)


def zero(g, dtype, dims=()):
    return integers(g, list(dims), dtype)


def scale(g, dims=(), low=0.001, high=0.1):
    return g.r.uniform(low, high, list(dims)).astype(F32)


def size(g):
    return g.pick(1, 2, 3, 4, 7, g.int(1, 40))


@maker("MatMulInteger")
def mat_mul_integer(g, op):
    m, k, n = size(g), size(g), size(g)
    batch = g.dims(0, 2)
    a, b = g.pick((U8, U8), (U8, I8), (I8, I8), (I8, U8)) if g.chance(0.9) else (U8, U8)
    b_dims = [k, n] if g.chance(0.7) else batch + [k, n]
    inputs = [integers(g, batch + [m, k], a), integers(g, b_dims, b)]
    if g.chance(0.8):
        inputs.append(zero(g, a))
        if g.chance(0.8):
            inputs.append(zero(g, b, [n]) if len(b_dims) == 2 and g.chance() else zero(g, b))
    return Case(op, inputs, opset=g.opset(10), constant=g.pick((), (1,), (1, 3)))


@maker("QLinearMatMul")
def q_linear_mat_mul(g, op):
    m, k, n = size(g), size(g), size(g)
    batch = g.dims(0, 2)
    a, b = g.pick((U8, U8), (U8, I8), (I8, I8))
    each = [n] if g.chance() else []
    inputs = [integers(g, batch + [m, k], a), scale(g), zero(g, a), integers(g, [k, n], b), scale(g, each), zero(g, b, each)]
    inputs += [scale(g, (), 0.05, 2), zero(g, a)]
    return Case(op, inputs, opset=g.opset(10), constant=g.pick((), (3, 5), (1, 2, 3, 4, 5, 6, 7)))


def window(g):
    rank = g.pick(1, 2, 2, 2)
    group = g.pick(1, 1, 1, 2, 3)
    depthwise = g.chance(0.25)
    channels = g.pick(g.int(1, 6), g.int(7, 70)) if not depthwise else 1
    outputs = g.pick(g.int(1, 6), g.int(7, 40)) if not depthwise else 1
    group = g.int(2, 20) if depthwise else group
    kernel = [g.int(1, 3) for _ in range(rank)]
    attributes = {"group": group, "strides": [g.int(1, 2) for _ in range(rank)] if g.chance() else None,
                  "dilations": [g.int(1, 2) for _ in range(rank)] if g.chance(0.3) else None,
                  "pads": [g.int(0, 1) for _ in range(2 * rank)] if g.chance() else None}
    x = [g.int(1, 2), channels * group] + [g.int(5, 9) for _ in range(rank)]
    return x, [outputs * group, channels] + kernel, attributes


@maker("ConvInteger")
def conv_integer(g, op):
    x, w, attributes = window(g)
    inputs = [integers(g, x, U8), integers(g, w, U8)]
    if g.chance(0.8):
        inputs += [zero(g, U8), zero(g, U8)][:g.int(1, 2)]
    return Case(op, inputs, attributes, opset=g.opset(10), constant=g.pick((), (1, 3)))


@maker("QLinearConv")
def q_linear_conv(g, op):
    x, w, attributes = window(g)
    a, b = g.pick((U8, U8), (U8, I8), (I8, I8))
    each = [w[0]] if g.chance() else []
    w_zero = np.zeros(each, b) if b == I8 else np.full(each, 120, b)
    inputs = [integers(g, x, a), scale(g), zero(g, a), integers(g, w, b), scale(g, each), w_zero, scale(g, (), 0.05, 2), zero(g, a)]
    if g.chance():
        inputs.append(g.r.integers(-2000, 2000, [w[0]]).astype(I32))
    return Case(op, inputs, attributes, opset=g.opset(10), constant=g.pick((3, 4, 5), (1, 2, 3, 4, 5, 6, 7, 8)))
