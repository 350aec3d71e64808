"""Random nodes of operators that compute, for against_runtime.py; random_moves.py has those that move elements."""
import numpy as np
from onnx import helper, numpy_helper

F32, F64, F16, I64, I32 = np.float32, np.float64, np.float16, np.int64, np.int32
SMALL = [np.int8, np.uint8, np.int16, np.uint16, I32, np.uint32, I64, np.uint64]
OPSETS = (7, 26)


class Case:
    """op, inputs (an array, or None for an absent one), attributes, number of outputs, opset; `constant`: inputs kept in the model. `results`
    names the outputs, "" one that is not there; `compared`: those that are outputs of the graph, if not all; `in_place`: outputs that ONNX Runtime
    writes only where that input lies, {output: input} by their numbers; `is_defined`: of its outputs, whether all of them are what the node asks for; `stored`: the results' type where ONNX Runtime has no NumPy type for it."""

    def __init__(self, op, inputs, attributes=None, outputs=1, opset=21, constant=(), domain=""):
        self.op, self.outputs, self.opset, self.domain = op, outputs, opset, domain
        self.results = [f"y{i}" for i in range(outputs)]
        self.compared = None
        self.in_place = {}
        self.stored = None
        self.is_defined = lambda outputs: True
        self.inputs = [None if x is None else np.asarray(x) for x in inputs]
        self.attributes = {k: v for k, v in (attributes or {}).items() if v is not None}
        self.constant = set(constant)


class Random:
    """Choices; sizes are small ones and some up to `most`."""

    def __init__(self, seed, most=5):
        self.r, self.most = np.random.default_rng(seed), most

    def pick(self, *values):
        return values[self.r.integers(len(values))]

    def chance(self, p=0.5):
        return self.r.random() < p

    def int(self, low, high):
        return int(self.r.integers(low, high + 1))

    def opset(self, low=7):
        return self.int(max(low, OPSETS[0]), OPSETS[1])

    def size(self):
        return self.pick(1, 2, 3, self.int(1, self.most))

    def dims(self, low=0, high=4):
        dims = [self.size() for _ in range(self.int(low, high))]
        if dims and self.chance(0.03):
            dims[self.int(0, len(dims) - 1)] = 0
        return dims

    def values(self, dims, dtype=F32, special=0.0):
        """Small halves, which sums and products keep exactly; sometimes infinities and the like."""
        if dtype == np.bool_:
            return self.r.random(dims) < 0.5
        if np.issubdtype(dtype, np.integer):
            low = -9 if np.issubdtype(dtype, np.signedinteger) else 0
            return self.r.integers(low, 10, dims).astype(dtype)
        x = (self.r.integers(-12, 13, dims) / 2).astype(dtype)
        if self.chance(special) and x.size:
            odd = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 1e4, -1e4, 1e-4], dtype)
            flat = x.reshape(-1).copy()
            flat[self.r.integers(0, flat.size, max(1, flat.size // 4))] = self.pick(*odd)
            x = flat.reshape(dims)
        return x

    def real(self, dims, special=0.3):
        return self.values(dims, self.pick(F32, F32, F32, F64, F16), special)

    def broadcastable(self, dims):
        """A shape that broadcasts to `dims`."""
        out = [1 if self.chance(0.3) else d for d in dims]
        return out[self.int(0, len(out)):] if self.chance(0.4) else out

    def axis(self, rank):
        return self.int(-rank, rank - 1)

    def axes(self, rank, least=0):
        chosen = self.r.permutation(rank)[: self.int(min(least, rank), rank)]
        return [int(a) - (rank if self.chance(0.4) else 0) for a in chosen]

    def ints(self, values):
        return np.array(values, I64)


MAKERS = {}


def maker(*ops):
    def add(f):
        for op in ops:
            MAKERS[op] = f
        return f
    return add


@maker("Abs", "Acos", "Asin", "Atan", "Ceil", "Cos", "Exp", "Floor", "Log", "Neg", "Reciprocal", "Relu", "Sigmoid", "Sin", "Sqrt", "Tan",
       "Tanh", "Softplus", "Softsign", "Identity", "Elu", "Selu", "LeakyRelu", "HardSigmoid")
def unary(g, op):
    attributes = {}
    if op in ("Elu", "LeakyRelu", "HardSigmoid", "Selu") and g.chance():
        attributes["alpha"] = g.pick(0.3, 1.5, 0.0)
    if op == "HardSigmoid" and g.chance():
        attributes["beta"] = 0.25
    if op == "Selu" and g.chance():
        attributes["gamma"] = 1.25
    dtype = g.pick(F32, F32, F64, F16) if op not in ("Abs", "Neg") else g.pick(F32, F64, np.int8, I32, I64)
    return Case(op, [g.values(g.dims(), dtype, 0.4)], attributes, opset=g.opset())


@maker("Sinh", "Cosh", "Asinh", "Acosh", "Atanh", "Erf", "Sign", "ThresholdedRelu", "Round", "Celu", "HardSwish", "Mish", "Gelu", "IsNaN",
       "IsInf", "Not")
def newer_unary(g, op):
    since = {"ThresholdedRelu": 10, "Round": 11, "Celu": 12, "HardSwish": 14, "Mish": 18, "Gelu": 20, "IsInf": 10}.get(op, 9)
    attributes = {}
    if op in ("ThresholdedRelu", "Celu") and g.chance():
        attributes["alpha"] = g.pick(0.5, 2.0)
    if op == "Gelu" and g.chance():
        attributes["approximate"] = "tanh"
    if op == "IsInf" and g.chance():
        attributes = {"detect_negative": g.int(0, 1), "detect_positive": g.int(0, 1)}
    dtype = np.bool_ if op == "Not" else g.pick(F32, F32, F64, I32, I64) if op == "Sign" else g.pick(F32, F32, F64)
    return Case(op, [g.values(g.dims(), dtype, 0.4)], attributes, opset=g.opset(since))


@maker("Add", "Sub", "Mul", "Div", "Pow", "Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual", "And", "Or", "Xor", "Mod", "BitShift")
def binary(g, op):
    out = g.dims()
    dtype = np.bool_ if op in ("And", "Or", "Xor") else g.pick(F32, F32, F64, I32, I64)
    attributes = {}
    since = {"GreaterOrEqual": 12, "LessOrEqual": 12, "Mod": 10, "BitShift": 11, "Pow": 7}.get(op, 7)
    if op == "BitShift":
        dtype, attributes = g.pick(np.uint8, np.uint32, np.uint64), {"direction": g.pick("LEFT", "RIGHT")}
    if op == "Mod":
        dtype = g.pick(*SMALL, F32)
        attributes = {"fmod": 1} if dtype == F32 else {"fmod": g.int(0, 1)}
    if op == "Equal" and g.chance(0.2):
        dtype = np.bool_
    a, b = g.values(g.broadcastable(out), dtype, 0.3), g.values(g.broadcastable(out) if g.chance() else out, dtype, 0.3)
    if op in ("Div", "Mod") and np.issubdtype(dtype, np.integer):
        b = np.where(b == 0, 1, b).astype(dtype)
    if op == "Pow":
        b = g.values(b.shape, g.pick(dtype, F32, I64)) if g.opset() > 12 else b
        b = np.abs(b) if np.issubdtype(b.dtype, np.integer) or np.issubdtype(dtype, np.integer) else b
        since = 13 if b.dtype != dtype else 7
    return Case(op, [a, b], attributes, opset=g.opset(since))


@maker("Sum", "Max", "Min", "Mean")
def variadic(g, op):
    dtype = g.pick(F32, F32, F64) if op in ("Sum", "Mean") else g.pick(F32, F64, I32, I64)
    opset = g.opset(12 if dtype in (I32, I64) else 8)
    out = g.dims()
    return Case(op, [g.values(g.broadcastable(out), dtype, 0.2) for _ in range(g.int(1, 5))], opset=opset)


@maker("Clip")
def clip(g, op):
    opset = g.opset()
    x = g.values(g.dims(), F32 if opset < 12 else g.pick(F32, F64, I64, np.uint8), 0.5)
    low, high = (-1.5, 2.5) if x.dtype in (F32, F64) else (1, 5)
    if g.chance(0.2):
        low, high = high, low
    low, high = low if g.chance() else None, high if g.chance() else None
    if opset < 11:
        return Case(op, [x], {"min": low, "max": high}, opset=opset)
    return Case(op, [x] + [None if v is None else np.array(v, x.dtype) for v in (low, high)], opset=opset, constant={1} if g.chance() else ())


@maker("Cast")
def cast(g, op):
    types = [F32, F64, F16, np.bool_] + SMALL
    x = g.values(g.dims(), g.pick(*types))
    return Case(op, [np.abs(x) if x.dtype != np.bool_ else x], {"to": helper.np_dtype_to_tensor_dtype(np.dtype(g.pick(*types)))}, opset=g.opset(9))


@maker("CastLike")
def cast_like(g, op):
    types = [F32, F64, np.bool_] + SMALL
    x = g.values(g.dims(), g.pick(*types))
    return Case(op, [np.abs(x) if x.dtype != np.bool_ else x, g.values(g.dims(), g.pick(*types))], opset=g.opset(15))


@maker("ConstantOfShape")
def constant_of_shape(g, op):
    value = numpy_helper.from_array(np.array([3], g.pick(F32, I64, np.uint8, np.bool_)))
    return Case(op, [g.ints(g.dims())], {"value": g.pick(None, value)}, opset=g.opset(9), constant={0} if g.chance() else ())


@maker("Where")
def where(g, op):
    out, dtype = g.dims(), g.pick(F32, I64, np.uint8, I32)
    return Case(op, [g.values(g.broadcastable(out), np.bool_)] + [g.values(g.broadcastable(out), dtype) for _ in range(2)], opset=g.opset(9))


@maker("PRelu")
def prelu(g, op):
    out = g.dims(1)
    return Case(op, [g.values(out, F32, 0.2), g.values(g.broadcastable(out))], opset=g.opset())


@maker("Dropout")
def dropout(g, op):
    opset = g.opset()
    return Case(op, [g.values(g.dims())], {"ratio": 0.25} if opset < 12 else {}, outputs=1 if opset < 12 else g.int(1, 2), opset=opset)


@maker("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum",
       "ReduceSumSquare")
def reduce(g, op):
    opset, dims = g.opset(), g.dims()
    types = [F32, F32, F64, I32, I64] + ([np.int8, np.uint8] if op in ("ReduceMax", "ReduceMin") and opset >= 12 else [])
    x = g.values(dims, g.pick(*types) if op not in ("ReduceLogSum", "ReduceLogSumExp") else F32, 0.1)
    x = np.abs(x) + x.dtype.type(1) if op == "ReduceLogSum" else x
    axes = g.axes(len(dims), 1) if dims and g.chance(0.8) else None
    attributes = {"keepdims": g.pick(None, 0, 1)}
    if opset < (13 if op == "ReduceSum" else 18):
        return Case(op, [x], dict(attributes, axes=axes), opset=opset)
    if g.chance(0.3):
        attributes["noop_with_empty_axes"], axes = g.int(0, 1), g.pick(axes, [], None)
    return Case(op, [x] + ([] if axes is None else [g.ints(axes)]), attributes, opset=opset, constant={1} if g.chance() else ())


@maker("ArgMax", "ArgMin")
def arg(g, op):
    opset, dims = g.opset(), g.dims(1)
    attributes = {"axis": g.pick(None, g.axis(len(dims)) if opset > 10 else g.int(0, len(dims) - 1)), "keepdims": g.pick(None, 0, 1)}
    if opset >= 12:
        attributes["select_last_index"] = g.pick(None, 0, 1)
    return Case(op, [g.values(dims, g.pick(F32, I32))], attributes, opset=opset)


@maker("Softmax", "LogSoftmax", "Hardmax")
def softmax(g, op):
    opset, dims = g.opset(), g.dims(1)
    axis = g.pick(None, g.axis(len(dims)) if opset > 10 else g.int(0, len(dims) - 1))
    if axis is None and opset < 13 and len(dims) < 2:
        axis = 0
    return Case(op, [g.values(dims, g.pick(F32, F32, F64), 0.1)], {"axis": axis}, opset=opset)


@maker("TopK")
def top_k(g, op):
    opset, dims = g.opset(), [d or 1 for d in g.dims(1)]
    axis = g.axis(len(dims)) if opset > 10 else g.int(0, len(dims) - 1)
    k, x = g.int(0 if opset > 9 else 1, dims[axis]), g.r.permutation(int(np.prod(dims))).reshape(dims).astype(F32)
    if opset < 10:
        return Case(op, [x], {"axis": axis, "k": k}, 2, opset)
    extra = {"largest": g.int(0, 1)} if opset > 10 else {}
    return Case(op, [x, g.ints([k])], dict(extra, axis=axis), 2, opset)


@maker("CumSum")
def cumsum(g, op):
    dims = g.dims(1)
    return Case(op, [g.values(dims, g.pick(F32, F64, I32, I64)), np.array(g.axis(len(dims)), g.pick(I32, I64))],
                {"exclusive": g.pick(None, 1), "reverse": g.pick(None, 1)}, opset=g.opset(11))


@maker("MaxPool", "AveragePool", "LpPool")
def pool(g, op):
    opset, n = g.opset(), g.int(1, 3)
    kernel = [g.int(1, 3) for _ in range(n)]
    x = g.values([g.int(1, 2), g.size()] + [g.int(1, 7) for _ in range(n)])
    attributes = {"kernel_shape": kernel, "strides": g.pick(None, [g.int(1, 3) for _ in range(n)])}
    if g.chance(0.3):
        attributes["auto_pad"] = g.pick("SAME_UPPER", "SAME_LOWER", "VALID")
    elif g.chance():
        attributes["pads"] = [g.int(0, k - 1) for k in kernel + kernel]
    if opset >= (18 if op == "LpPool" else 10):
        attributes["ceil_mode"] = g.pick(None, 1)
    if opset >= {"MaxPool": 10, "AveragePool": 19, "LpPool": 18}[op] and g.chance(0.3):
        attributes["dilations"] = [g.int(1, 2) for _ in range(n)]
    if op == "AveragePool":
        attributes["count_include_pad"] = g.pick(None, 1)
    if op == "LpPool":
        attributes["p"] = g.pick(None, 1, 3)
    outputs = 1
    if op == "MaxPool" and opset > 7:
        outputs, attributes["storage_order"] = g.int(1, 2), g.pick(None, 1)
    return Case(op, [x], attributes, outputs, opset)


@maker("LpNormalization", "MeanVarianceNormalization")
def line_norm(g, op):
    x = g.values(g.dims(1, 4), g.pick(F32, F32, F64) if op == "LpNormalization" else F32)
    if op == "LpNormalization":
        return Case(op, [x], {"axis": g.pick(None, g.axis(x.ndim)), "p": g.pick(None, 1)}, opset=g.opset())
    return Case(op, [x], {"axes": g.axes(x.ndim, 1)}, opset=max(g.opset(), 9))


@maker("Det")
def det(g, op):
    n = g.pick(1, 2, 3, 5, 9, 20)
    return Case(op, [g.values([g.int(1, 3)] * g.int(0, 2) + [n, n])], opset=max(g.opset(), 11))


@maker("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def global_pool(g, op):
    return Case(op, [g.values(g.dims(3, 5))], {"p": g.pick(1, 3)} if op == "GlobalLpPool" and g.chance() else {}, opset=g.opset())


@maker("Conv", "ConvTranspose")
def conv(g, op):
    n, group = g.int(1, 3), g.pick(1, 1, 2, 3)
    each_in, each_out = g.size(), g.size()
    kernel = [g.int(1, 3) for _ in range(n)]
    x = g.values([g.int(1, 2), group * each_in] + [g.int(g.pick(1, 3), 7 if n > 2 else g.most + 2) for _ in range(n)])
    shape = [group * each_out, each_in] if op == "Conv" else [group * each_in, each_out]
    inputs = [x, g.values(shape + kernel)] + ([g.values([group * each_out])] if g.chance() else [])
    attributes = {"group": group, "kernel_shape": g.pick(None, kernel), "strides": g.pick(None, [g.int(1, 3) for _ in range(n)]),
                  "dilations": g.pick(None, None, [g.int(1, 2) for _ in range(n)])}
    if g.chance(0.3):
        attributes["auto_pad"] = g.pick("SAME_UPPER", "SAME_LOWER", "VALID")
    elif g.chance():
        attributes["pads"] = [g.int(0, g.pick(2, 2, 4)) for _ in range(2 * n)]
    if op == "ConvTranspose" and attributes["strides"] and g.chance(0.4):
        attributes["output_padding"] = [g.int(0, s - 1) for s in attributes["strides"]]
    return Case(op, inputs, attributes, opset=g.opset(), constant={1, 2} if g.chance() else ())


@maker("Gemm")
def gemm(g, op):
    m, n, k, ta, tb = g.size(), g.size(), g.size(), g.int(0, 1), g.int(0, 1)
    opset = g.opset()
    dtype = g.pick(F32, F32, F64)
    inputs = [g.values([k, m] if ta else [m, k], dtype), g.values([n, k] if tb else [k, n], dtype)]
    if opset < 11 or g.chance():
        inputs.append(g.values(g.broadcastable([m, n]), dtype))
    return Case(op, inputs, {"transA": ta, "transB": tb, "alpha": g.pick(None, 0.5), "beta": g.pick(None, 2.0, 0.0)}, opset=opset)


@maker("MatMul")
def mat_mul(g, op):
    m, n, k, batch, dtype = g.size(), g.size(), g.size(), g.dims(0, 2), g.pick(F32, F32, F64, I32)
    a = [k] if g.chance(0.15) else g.broadcastable(batch) + [m, k]
    b = [k] if g.chance(0.15) else g.broadcastable(batch) + [k, n]
    return Case(op, [g.values(a, dtype), g.values(b, dtype)], opset=g.opset(9))


@maker("BatchNormalization")
def batch_norm(g, op):
    opset, dims = g.opset(), g.pick(g.dims(2, 5), g.dims(2, 5), [g.int(1, 5)])
    opset, channels = max(opset, 9 if len(dims) < 2 else 7), dims[1] if len(dims) > 1 else 1
    parts = [g.values([channels]) for _ in range(3)] + [np.abs(g.values([channels])) + F32(1)]
    return Case(op, [g.values(dims)] + parts, {"epsilon": g.pick(None, 0.25)}, opset=opset)


@maker("InstanceNormalization")
def instance_norm(g, op):
    dims = g.dims(3, 5)
    return Case(op, [g.values(dims), g.values([dims[1]]), g.values([dims[1]])], {"epsilon": g.pick(None, 0.25)}, opset=g.opset())


@maker("LayerNormalization")
def layer_norm(g, op):
    dims = [d or 1 for d in g.dims(1)]
    axis = g.axis(len(dims))
    shape = lambda: dims[axis:] if axis < 0 and g.chance() else g.broadcastable(dims)
    inputs = [g.values(dims), g.values(shape())] + ([g.values(shape())] if g.chance() else [])
    return Case(op, inputs, {"axis": axis, "epsilon": 0.25}, opset=g.opset(17))


@maker("LRN")
def lrn(g, op):
    return Case(op, [g.values(g.dims(3, 4))], {"size": g.pick(1, 3, 5), "alpha": g.pick(None, 0.5), "bias": g.pick(None, 2.0)}, opset=g.opset())
