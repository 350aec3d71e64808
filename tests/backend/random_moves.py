"""Random nodes of operators that move elements or make them, for against_runtime.py."""
import numpy as np

from random_nodes import F32, F64, I32, I64, SMALL, Case, maker

MOVED = [F32, F32, F64, np.float16, np.bool_, I64, np.uint8, np.int16]


@maker("Concat")
def concat(g, op):
    dims, opset = g.dims(1), g.opset()
    axis, dtype, parts = g.axis(len(dims)) if opset > 10 else g.int(0, len(dims) - 1), g.pick(*MOVED), []
    for _ in range(g.int(1, 4)):
        part = list(dims)
        part[axis] = g.int(0, 3)
        parts.append(g.values(part, dtype))
    return Case(op, parts, {"axis": axis}, opset=opset)


@maker("Split")
def split(g, op):
    opset, dims, n = g.opset(), g.dims(1), g.int(1, 3)
    axis = g.axis(len(dims)) if opset > 10 else g.int(0, len(dims) - 1)
    sizes = [g.int(0 if opset > 10 else 1, 3) for _ in range(n)]
    equal = g.chance(0.4)
    dims[axis] = n * 2 if equal else sum(sizes)
    x = g.values(dims, g.pick(*MOVED))
    if opset < 13:
        return Case(op, [x], {"axis": axis, "split": None if equal else sizes}, n, opset)
    if equal:
        return Case(op, [x], {"axis": axis, "num_outputs": n if opset >= 18 else None}, n, opset)
    return Case(op, [x, g.ints(sizes)], {"axis": axis}, n, opset, {1} if g.chance() else ())


@maker("Slice")
def slice_(g, op):
    opset, dims = g.opset(), g.dims(1)
    axes = g.axes(len(dims), 1)
    edge = lambda: g.pick(g.int(-8, 8), g.int(-3, 3), -(2 ** 63), 2 ** 63 - 1, 0)
    starts, ends = [edge() for _ in axes], [edge() for _ in axes]
    x = g.values(dims, g.pick(*MOVED))
    if opset < 10:
        axes = [a % len(dims) for a in axes]
        return Case(op, [x], {"starts": starts, "ends": ends, "axes": axes}, opset=opset)
    inputs = [x, g.ints(starts), g.ints(ends), g.ints(axes)]
    if g.chance(0.6):
        inputs.append(g.ints([g.pick(1, 2, -1, -2, 3, -(2 ** 63), 2 ** 63 - 1) for _ in axes]))
    return Case(op, inputs, opset=opset, constant={1, 2, 3, 4} if g.chance() else ())


@maker("Pad")
def pad(g, op):
    opset, dims = g.opset(), [d or 1 for d in g.dims(1)]
    mode = g.pick("constant", "constant", "edge", "reflect", "wrap" if opset >= 19 else "edge")
    reach = [d - 1 if mode == "reflect" else 3 for d in dims]
    pads = [g.int(-1 if d > 2 and mode == "constant" else 0, r) for d, r in zip(dims * 2, reach * 2)]
    attributes, dtype = {"mode": mode if mode != "constant" or g.chance() else None}, F32 if opset < 11 else g.pick(F32, I64, F64)
    x = g.values(dims, dtype)
    if opset < 11:
        return Case(op, [x], dict(attributes, pads=pads, value=g.pick(None, 1.5)), opset=opset)
    inputs = [x, g.ints(pads)] + ([np.array(2, dtype)] if g.chance() else [])
    if opset >= 18 and g.chance(0.3):
        axes = g.axes(len(dims), 1)
        pads = [pads[a % len(dims)] for a in axes] + [pads[len(dims) + a % len(dims)] for a in axes]
        inputs = [x, g.ints(pads), inputs[2] if len(inputs) > 2 else None, g.ints(axes)]
    return Case(op, inputs, attributes, opset=opset, constant={1, 3} if g.chance() else ())


@maker("Transpose")
def transpose(g, op):
    dims = g.dims()
    perm = [int(p) for p in g.r.permutation(len(dims))]
    return Case(op, [g.values(dims, g.pick(*MOVED))], {"perm": g.pick(None, perm or None)}, opset=g.opset())


@maker("Squeeze", "Unsqueeze")
def squeeze(g, op):
    opset, dims = g.opset(), g.dims(0, 3)
    if op == "Squeeze":
        axes = g.axes(len(dims), 0) if dims else []
        for a in axes:
            dims[a] = 1
        axes = axes if axes and g.chance(0.8) else None
        if axes is None and 0 in dims:
            dims = [d or 1 for d in dims]
    else:
        axes = g.axes(len(dims) + 2)[:2] or [0]
        rank = len(dims) + len(axes)
        axes = sorted({a % rank for a in axes})
        dims = dims if len(dims) + len(axes) == rank else dims[: rank - len(axes)]
        axes = [a for a in axes if a < len(dims) + len(axes)]
    x = g.values(dims, g.pick(*MOVED))
    if opset < 11 and axes:
        axes = [a % (len(dims) + (len(axes) if op == "Unsqueeze" else 0)) for a in axes]
    if opset < 13:
        return Case(op, [x], {"axes": axes}, opset=opset)
    return Case(op, [x] + ([] if axes is None else [g.ints(axes)]), opset=opset, constant={1})


@maker("Reshape")
def reshape(g, op):
    dims, opset = g.dims(1), g.opset()
    x = g.values(dims, g.pick(*MOVED))
    wanted = g.pick([-1], [0] + [-1] if len(dims) > 1 else [0], list(reversed(dims)), [x.size, 1], [1, -1])
    if x.size == 0:
        wanted = list(reversed(dims)) if opset >= 14 else dims
    return Case(op, [x, g.ints(wanted)], {"allowzero": 1} if x.size == 0 and opset >= 14 else {}, opset=opset, constant={1} if g.chance() else ())


@maker("Flatten")
def flatten(g, op):
    opset, dims = g.opset(), g.dims(0 if g.chance(0.1) else 1)
    return Case(op, [g.values(dims)], {"axis": g.pick(None if dims else 0, g.int(-len(dims) if opset > 10 else 0, len(dims)))}, opset=opset)


@maker("Expand")
def expand(g, op):
    out = g.dims()
    wanted = g.broadcastable(out)
    return Case(op, [g.values(g.broadcastable(out), g.pick(*MOVED)), g.ints(wanted)], opset=g.opset(8), constant={1} if g.chance() else ())


@maker("Tile")
def tile(g, op):
    dims = g.dims(1)
    return Case(op, [g.values(dims, g.pick(F32, I64, I32)), g.ints([g.int(0, 3) for _ in dims])], opset=g.opset(), constant={1} if g.chance() else ())


@maker("Shape", "Size")
def shape(g, op):
    opset, attributes = g.opset(), {}
    if op == "Shape" and opset >= 15:
        attributes = {"start": g.pick(None, g.int(-6, 6)), "end": g.pick(None, g.int(-6, 6))}
    return Case(op, [g.values(g.dims(), g.pick(*MOVED))], attributes, opset=opset)


@maker("Gather", "GatherElements")
def gather(g, op):
    opset, dims = g.opset(11 if op == "GatherElements" else 7), [d or 1 for d in g.dims(1)]
    axis = g.pick(None, g.axis(len(dims)) if opset > 10 else g.int(0, len(dims) - 1))
    size = dims[axis or 0]
    shape = g.dims(0, 2) if op == "Gather" else [g.int(1, d) for d in dims]
    low = -size if opset >= 11 else 0
    return Case(op, [g.values(dims, g.pick(*MOVED)), g.r.integers(low, size, shape).astype(g.pick(I32, I64))], {"axis": axis}, opset=opset)


@maker("GatherND", "ScatterND")
def nd(g, op):
    opset, dims = g.opset(11), [d or 1 for d in g.dims(1)]
    depth = g.int(1, len(dims))
    lead = [g.int(1, 3) for _ in range(g.int(0, 2))]
    if op == "ScatterND":
        places = g.r.permutation(int(np.prod(dims[:depth])))[: max(1, int(np.prod(lead)))]
        at = np.stack(np.unravel_index(places, dims[:depth]), -1).astype(I64)
        x = g.values(dims, g.pick(F32, I64, *SMALL))
        extra = {"reduction": g.pick("none", "add", "mul")} if opset >= 16 and g.chance() else {}
        if opset >= 18 and g.chance(0.3):
            extra = {"reduction": g.pick("max", "min")}
        return Case(op, [x, at, g.values([len(places)] + dims[depth:], x.dtype)], extra, opset=opset)
    at = np.stack([g.r.integers(-d, d, lead) for d in dims[:depth]], -1).astype(I64)
    return Case(op, [g.values(dims, g.pick(*MOVED)), at], opset=opset)


@maker("Scatter", "ScatterElements")
def scatter(g, op):
    opset, dims = g.opset(11) if op == "ScatterElements" else g.int(9, 10), [d or 1 for d in g.dims(1)]
    axis = g.axis(len(dims)) if opset > 10 else g.int(0, len(dims) - 1)
    shape = [g.int(1, d) for d in dims]
    at = np.moveaxis(np.stack([g.r.permutation(dims[axis])[: shape[axis]] for _ in range(int(np.prod(shape)) // shape[axis])]).reshape(
        [s for i, s in enumerate(shape) if i != axis % len(dims)] + [shape[axis]]), -1, axis).astype(I64)
    x, extra = g.values(dims, g.pick(F32, I64, *SMALL)), {}
    if opset >= 16 and g.chance():
        extra = {"reduction": g.pick("none", "add", "mul") if opset < 18 else g.pick("none", "add", "mul", "max", "min")}
    return Case(op, [x, at, g.values(shape, x.dtype)], dict(extra, axis=axis), opset=opset)


@maker("OneHot")
def one_hot(g, op):
    dims, depth = g.dims(0, 3), g.int(1, 5)
    return Case(op, [g.r.integers(-depth, depth, dims).astype(I64), np.array(depth, I64), np.array([1, 4], g.pick(F32, I64))],
                {"axis": g.pick(None, g.int(-len(dims) - 1, len(dims)))}, opset=g.opset(11))


@maker("NonZero")
def non_zero(g, op):
    return Case(op, [g.values(g.dims(1), g.pick(F32, np.bool_, I64, np.uint8))], opset=g.opset(9))


@maker("Compress")
def compress(g, op):
    opset, dims = g.opset(9), [d or 1 for d in g.dims(1)]
    axis = g.pick(None, g.axis(len(dims)) if opset > 10 else g.int(0, len(dims) - 1))
    size = int(np.prod(dims)) if axis is None else dims[axis]
    return Case(op, [g.values(dims, g.pick(*MOVED)), g.values([g.int(1, size)], np.bool_)], {"axis": axis}, opset=opset)


@maker("Unique")
def unique(g, op):
    dims = [d or 1 for d in g.dims(1, 3)]
    return Case(op, [g.values(dims, g.pick(F32, I64))], {"axis": g.pick(None, g.axis(len(dims))), "sorted": g.pick(None, 1)}, g.int(1, 4), g.opset(11))


@maker("DepthToSpace", "SpaceToDepth")
def depth(g, op):
    opset, b, n, c = g.opset(), g.int(1, 3), g.int(1, 2), g.int(1, 3)
    h, w = g.int(1, 3), g.int(1, 3)
    if op == "SpaceToDepth":
        return Case(op, [g.values([n, c, h * b, w * b])], {"blocksize": b}, opset=opset)
    return Case(op, [g.values([n, c * b * b, h, w])], {"blocksize": b, "mode": g.pick(None, "CRD", "DCR") if opset >= 11 else None}, opset=opset)


@maker("Range")
def range_(g, op):
    dtype = g.pick(F32, F64, I32, I64, np.int16)
    start, limit, delta = g.int(-5, 5), g.int(-5, 9), g.pick(1, 2, -1, -3)
    parts = [np.array(v, dtype) for v in (start, limit, delta)]
    if dtype in (F32, F64):
        parts = [p * dtype(0.5) for p in parts]
    return Case(op, [np.array(p, dtype) for p in parts], opset=g.opset(11), constant={0, 1, 2} if g.chance() else ())


@maker("ReverseSequence")
def reverse_sequence(g, op):
    dims, time = [d or 1 for d in g.dims(2, 4)], g.int(0, 1)
    lengths = g.r.integers(1, dims[time] + 1, [dims[1 - time]]).astype(I64)
    return Case(op, [g.values(dims), lengths], {"time_axis": time, "batch_axis": 1 - time}, opset=g.opset(10))


@maker("Trilu")
def trilu(g, op):
    inputs = [g.values(g.dims(2), g.pick(F32, I64, np.bool_))] + ([np.array(g.int(-6, 6), I64)] if g.chance() else [])
    return Case(op, inputs, {"upper": g.pick(None, 0, 1)}, opset=g.opset(14))


@maker("EyeLike")
def eye_like(g, op):
    return Case(op, [g.values(g.dims(2, 2), g.pick(F32, I64))], {"k": g.pick(None, g.int(-3, 3)), "dtype": g.pick(None, 1, 7, 11)}, opset=g.opset(9))


@maker("Resize")
def resize(g, op):
    opset, n = g.opset(10), g.int(1, 2)
    dims = [g.int(1, 2), g.int(1, 2)] + [g.int(1, g.pick(6, 20)) for _ in range(n)]
    mode = g.pick("nearest", "linear")
    x = g.values(dims, g.pick(F32, F32, np.int8, np.uint8, np.int32))
    scales = np.array([1, 1] + [g.pick(0.5, 0.6, 0.9, 1.0, 1.1, 1.6, 2.0, 2.3, 2.7, 3.0) for _ in range(n)], F32)
    constant = {1, 2, 3} if g.chance() else ()
    if opset < 11:
        return Case(op, [x, scales], {"mode": mode}, opset=opset, constant=constant)
    mode = g.pick(mode, "cubic" if n == 2 else mode)
    modes = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"] + (["half_pixel_symmetric"] if opset >= 19 else [])
    if opset < 13:
        modes.append("tf_half_pixel_for_nn")
    attributes = {"mode": mode, "coordinate_transformation_mode": g.pick(*modes)}
    if mode == "nearest":
        attributes["nearest_mode"] = g.pick(None, "round_prefer_ceil", "floor", "ceil")
    if mode == "cubic":
        attributes["cubic_coeff_a"] = g.pick(None, -0.5)
        attributes["exclude_outside"] = g.pick(None, 1)
    if mode != "nearest" and opset >= 18 and g.chance(0.3):
        attributes["antialias"] = 1
    if g.chance():
        sizes = dims[:2] + [g.int(1, 8) for _ in range(n)]
        return Case(op, [x, None if opset >= 13 else np.zeros(0, F32), None if opset >= 13 else np.zeros(0, F32), g.ints(sizes)], attributes, opset=opset, constant=constant)
    return Case(op, [x, None if opset >= 13 else np.zeros(0, F32), scales], attributes, opset=opset, constant=constant)


@maker("Upsample")
def upsample(g, op):
    opset, mode = g.int(7, 9), g.pick("nearest", "linear")
    x = g.values([1, g.int(1, 2), g.int(1, 20), g.int(1, 20)])
    scales = [1.0, 1.0, g.pick(1.0, 1.5, 2.0, 2.7, 3.0), g.pick(1.0, 1.3, 1.5, 2.0, 3.0)]
    if opset < 9:
        return Case(op, [x], {"mode": mode, "scales": scales}, opset=opset)
    return Case(op, [x, np.array(scales, F32)], {"mode": mode}, opset=opset, constant={1} if g.chance() else ())


@maker("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
def loss(g, op):
    n, c, rest = g.int(1, 4), g.int(2, 4), [g.int(1, 3) for _ in range(g.int(0, 2))]
    target = g.r.integers(0, c, [n] + rest).astype(g.pick(I32, I64))
    attributes = {"reduction": g.pick(None, "mean", "sum", "none"), "ignore_index": g.pick(None, 0)}
    inputs = [g.values([n, c] + rest), target] + ([np.abs(g.values([c])) + F32(0.5)] if g.chance() else [])
    return Case(op, inputs, attributes, 1 if op[0] == "N" else g.int(1, 2), g.opset(12))
