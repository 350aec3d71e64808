"""Random nodes of ai.onnx's operators on strings and bits, of windows, and of those that quantise, for against_runtime.py."""
import ml_dtypes
import numpy as np
from onnx import helper

from random_nodes import F16, F32, F64, I32, I64, SMALL, Case, maker

I8, U8, I16, U16 = np.int8, np.uint8, np.int16, np.uint16
FOURS = [ml_dtypes.int4, ml_dtypes.uint4]
FLOATS8 = [ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2, ml_dtypes.float8_e5m2fnuz]


def texts(g, dims, parts, most=6):
    """Strings of up to `most` of the parts."""
    flat = ["".join(g.pick(*parts) for _ in range(g.int(0, most))) for _ in range(int(np.prod(dims)))]
    return np.array(flat, object).reshape(dims)


@maker("StringConcat")
def string_concat(g, op):
    dims = g.dims()
    parts = [texts(g, g.broadcastable(dims), "ab é漢", 3) for _ in range(2)]
    return Case(op, parts, opset=g.opset(20), constant=g.pick((), (), (0,), (1,)))


WORDS = ["a", "A", "the", "The", "Bc", "bC", "x y", "", "é", "É", "ñandú", "Straße"]


@maker("StringNormalizer")
def string_normalizer(g, op):
    dims = g.pick([g.int(1, 6)], [1, g.int(1, 6)], [g.int(1, 2)])
    words = WORDS if g.chance(0.4) else WORDS[:8]
    x = np.array([g.pick(*words) for _ in range(int(np.prod(dims)))], object).reshape(dims)
    if g.chance(0.03):
        x = x[..., :0]
    stops = [g.pick(*words) for _ in range(g.int(0, 5))] or None
    if g.chance(0.1):
        stops = list(dict.fromkeys(x.reshape(-1))) or None  # all of them: the result has one empty string
    return Case(op, [x], {"case_change_action": g.pick(None, "NONE", "LOWER", "UPPER"), "is_case_sensitive": g.pick(None, 0, 1), "stopwords": stops,
                          "locale": "C.UTF-8"}, opset=g.opset(10))


@maker("StringSplit")
def string_split(g, op):
    delimiter = g.pick(None, "", " ", "a", ",", "ab", "aa", ", ", "é")
    parts = g.pick(["a", "b", ",", " ", ", ", "é"], [" ", " ", "a", "b"], ["a", "a", "b"], ["a"])
    x = texts(g, g.dims(), parts)
    if delimiter:  # ONNX Runtime splits "" into no pieces, where it is one, and white space it takes for spaces alone
        x = np.array([text or "b" for text in x.reshape(-1)], object).reshape(x.shape)
    return Case(op, [x], {"delimiter": delimiter, "maxsplit": g.pick(None, None, 0, 1, 2, 3)}, 2, g.opset(20), (0,) if g.chance(0.2) else ())


@maker("RegexFullMatch")
def regex_full_match(g, op):
    pattern = g.pick("a*", "[ab]+", "a|ab", "(a|b)*b", ".", "..", ".*a.*", "", "a{2,3}", "a?b?c?", "^ab$", "(?i)A+", r"\w+", r"\d+[.]\d*", "[^a]*",
                     r"\s*", "é+", "(ab)+", r"\.a", "a+?b", r"[[:alpha:]]+", r"\ba\b", "(?:a|b){2}", r"a\n", r"\p{L}+", r"[a-c\]]+", "a$|b")
    return Case(op, [texts(g, g.dims(), ["a", "b", "c", "A", ".", "1", "\n", "é", " ", "ab", "]"], 3)], {"pattern": pattern}, opset=g.opset(20))


@maker("TfIdfVectorizer")
def tf_idf(g, op):
    least, skips = g.int(1, 3), g.int(0, 3)
    most, letters, words = g.int(least, 3), g.int(2, 4), g.chance()
    pool, starts, grams = [], [], 0
    for n in range(1, most + 1):
        starts.append(len(pool))
        for gram in {tuple(g.int(1, letters) for _ in range(n)) for _ in range(g.int(0 if n < least else 1, 4))}:
            pool += gram
            grams += 1
    width = grams + (g.int(0, 2) if g.chance(0.3) else 0)
    indexes = [int(i) for i in g.r.permutation(width)[:grams]]
    dims = [g.int(1, 8)] if g.chance() else [g.int(1, 3), g.int(1, 6)]
    x = g.r.integers(0, letters + 1, dims)
    if g.chance(0.03):
        x = x[..., :0]
    names = ["none", "a", "b", "cc", "d"]
    x = np.array([names[i] for i in x.reshape(-1)], object).reshape(x.shape) if words else x.astype(g.pick(I32, I64))
    attributes = {"mode": g.pick("TF", "IDF", "TFIDF"), "min_gram_length": least, "max_gram_length": most, "max_skip_count": skips,
                  "ngram_counts": starts, "ngram_indexes": indexes, "pool_strings": [names[i] for i in pool] if words else None,
                  "pool_int64s": None if words else pool, "weights": [g.int(1, 9) / 4 for _ in range(grams)] if g.chance() else None}
    return Case(op, [x], attributes, opset=g.opset(9))


def whole(g, dims, dtype):
    """All values of an integer type."""
    return np.frombuffer(g.r.bytes(int(np.prod(dims)) * np.dtype(dtype).itemsize), dtype).reshape(dims)


@maker("BitwiseAnd", "BitwiseOr", "BitwiseXor")
def bitwise(g, op):
    dims, dtype = g.dims(), g.pick(*SMALL)
    return Case(op, [whole(g, g.broadcastable(dims), dtype) for _ in range(2)], opset=g.opset(18), constant=g.pick((), (), (1,)))


@maker("BitwiseNot")
def bitwise_not(g, op):
    return Case(op, [whole(g, g.dims(), g.pick(*SMALL))], opset=g.opset(18))


@maker("BlackmanWindow", "HannWindow", "HammingWindow")
def window(g, op):
    size = np.array(g.pick(0, 1, 2, 3, 4, g.int(5, 40), g.int(100, 400)), g.pick(I32, I64))
    of = g.pick(None, None, F32, F64, F16, I32, I64, I8, U8, U16, np.uint32, np.uint64)
    attributes = {"periodic": g.pick(None, 0, 1), "output_datatype": of and helper.np_dtype_to_tensor_dtype(np.dtype(of))}
    case = Case(op, [size], attributes, opset=g.opset(17), constant=g.pick((), (0,)) if size else ())
    case.is_defined = lambda outputs: size != 1 or attributes["periodic"] != 0 or outputs[0].dtype.kind == "f"  # 0 / 0, as an integer
    return case


@maker("MelWeightMatrix")
def mel_weights(g, op):
    length, rate, i, f = g.pick(8, 16, 64, 256, g.int(2, 200)), g.pick(8000, 16000, 44100), g.pick(I32, I64), F32
    low = g.pick(0.0, 0.0, 20.0, 333.0)
    high = low + g.r.uniform(0.05, 0.95) * (rate / 2 - low)
    of = g.pick(None, None, F32, F64, F16, I32, U8)
    return Case(op, [np.array(g.int(1, 20), i), np.array(length, i), np.array(rate, i), np.array(low, f), np.array(high, f)],
                {"output_datatype": of and helper.np_dtype_to_tensor_dtype(np.dtype(of))}, opset=g.opset(17),
                constant=g.pick((), (0, 1), (0, 1, 2, 3, 4)))


@maker("Shrink")
def shrink(g, op):
    dtype = g.pick(F32, F32, F64, F16, *SMALL)
    case = Case(op, [g.values(g.dims(), dtype, 0.4)], {"bias": g.pick(None, 0.5, 1.0, 2.0, -1.5), "lambd": g.pick(None, 0.0, 1.0, 1.5, 3.0, -2.0)},
                opset=g.opset(9))
    case.is_defined = lambda outputs: outputs[0].dtype.kind != "u" or (outputs[0] < 99).all()  # no negative numbers as unsigned ones
    return case


@maker("CenterCropPad")
def center_crop_pad(g, op):
    x = g.values(g.dims(1), g.pick(F32, F64, F16, np.bool_, *SMALL))
    axes = g.axes(x.ndim, 1) if g.chance(0.7) else None
    sizes = g.r.integers(0 if g.chance(0.1) else 1, 8, [x.ndim if axes is None else len(axes)])  # ONNX Runtime refuses int32
    return Case(op, [x, sizes], {"axes": axes}, opset=g.int(18, 24), constant=g.pick((), (1,)))


@maker("CumProd")
def cum_prod(g, op):
    x = g.values(g.dims(1), g.pick(F32, F64, I32, I64, np.uint32, np.uint64, F16), 0.2)
    return Case(op, [x, np.array(g.axis(x.ndim), g.pick(I32, I64))], {"exclusive": g.pick(None, 1), "reverse": g.pick(None, 1)}, opset=26,
                constant=g.pick((), (1,)))


@maker("Swish")
def swish(g, op):
    return Case(op, [g.real(g.dims())], {"alpha": g.pick(None, 0.0, 0.5, 1.702, -1.0)}, opset=24)  # ONNX Runtime has it in this opset only


@maker("BitCast")
def bit_cast(g, op):
    a, b = g.pick(*[pair for kind in ([I8, U8], [I16, U16, F16], [I32, np.uint32, F32], [I64, np.uint64, F64])
                    for pair in [(p, q) for p in kind for q in kind]])
    x = whole(g, g.dims(), a)
    if a in (F16, F32, F64) or b in (F16, F32, F64):  # the payloads of NaNs are not compared
        x = g.values(x.shape, a, 0.4) if a in (F16, F32, F64) else g.values(x.shape, b, 0.4).view(a) if x.ndim else np.array(9, a)
    return Case(op, [x], {"to": helper.np_dtype_to_tensor_dtype(np.dtype(b))}, opset=26)


@maker("DynamicQuantizeLinear")
def dynamic_quantize(g, op):
    dims = g.dims()
    if g.chance(0.4):  # steps of 1 or of a power of two, with halves between them
        x = g.r.integers(-255, 256, dims).astype(F32) / 2
        if x.size:
            x.reshape(-1)[:2] = [-127.0, 128.0][:x.size]
        return Case(op, [x * F32(g.pick(1, 0.25, 2.0 ** 100, 2.0 ** -100))], outputs=3, opset=g.opset(11))
    x = g.r.standard_normal(dims).astype(F32)
    x = g.pick(x, x, np.abs(x), -np.abs(x), np.zeros(dims, F32), np.full(dims, F32(g.pick(3.5, -3.5, 1e-3))), x * F32(1e-41),
               x * F32(1e-38), x * F32(5e37), x + F32(1000))
    case = Case(op, [x], outputs=3, opset=g.opset(11))
    case.is_defined = lambda outputs: outputs[1] >= np.finfo(F32).tiny  # SVEngine takes a denormal scale for 0
    return case


def layout(g, opset):
    """The shape of a value, of its scales, and the attributes that say how they lie."""
    dims = g.dims()
    if not dims or g.chance(0.4):
        return dims, g.pick([], []), {"axis": g.pick(None, 0, 1)} if opset >= 13 and len(dims) > 1 else {}
    axis = g.axis(len(dims)) if opset >= 13 else 0
    if opset >= 21 and g.chance(0.6):
        block, blocks = g.int(1, 4), g.int(1, 3)
        dims[axis] = max(1, block * blocks - g.int(0, block - 1))  # the last block may be cut short
        return dims, [-(-d // block) if i == axis % len(dims) else d for i, d in enumerate(dims)], {"axis": axis, "block_size": block}
    if opset >= 13:
        return dims, [dims[axis]], {"axis": axis}
    return dims, [], {}


def kinds(opset):
    """The quantised types of an opset."""
    out = [U8, U8, I8, I8]
    if opset >= 19:
        out += FLOATS8
    if opset >= 21:
        out += [I16, U16] + FOURS * 2
    return out


def zeros_of(g, dims, of):
    if of in FLOATS8:
        return np.zeros(dims, of)
    low, high = (-8, 7) if of == FOURS[0] else (0, 15) if of == FOURS[1] else (np.iinfo(of).min, np.iinfo(of).max)
    return g.r.integers(low, high + 1, dims).astype(of)


@maker("QuantizeLinear")
def quantize(g, op):
    opset = g.pick(10, 13, 19, 21, 21, 21, 23, 23, 24, 25)
    dims, each, attributes = layout(g, opset)
    of, real = g.pick(*kinds(opset)), g.pick(F32, F32, F16) if opset >= 19 else F32
    exact = real == F16 or g.chance()  # ONNX Runtime divides float16 as float32, ONNX does not
    scales = (2.0 ** g.r.integers(-3, 3, each) if exact else g.r.uniform(0.01, 2, each)).astype(real)
    reach = g.pick(12, 40, 600, 140000 if real == F32 else 600)
    x = (g.r.integers(-reach, reach + 1, dims) / 2 if exact else g.r.standard_normal(dims) * reach).astype(real)
    if g.chance(0.15) and x.size:
        x.reshape(-1)[g.int(0, x.size - 1)] = g.pick(np.inf, -np.inf)
    if of in FLOATS8:
        attributes["saturate"] = g.pick(None, 0, 1) if of != ml_dtypes.float8_e5m2 else None  # of which ONNX Runtime makes NaN, not an infinity
    inputs = [x, scales, zeros_of(g, each, of)]
    if g.chance(0.3) and (of == U8 or opset >= 21):
        inputs.pop()
        attributes["output_dtype"] = None if of == U8 else helper.np_dtype_to_tensor_dtype(np.dtype(of))
    case = Case(op, inputs, attributes, opset=opset, constant={2} if of in FOURS + FLOATS8 and len(inputs) == 3 else g.pick((), (1,)))
    case.stored = of if of in FOURS + FLOATS8 else None
    if attributes.get("saturate") == 0 and of == FLOATS8[0]:  # 464 to 480 is NaN, where ONNX Runtime has 448
        case.is_defined = lambda outputs: not (np.abs(outputs[0].astype(F32)) == 448).any()
    return case


@maker("DequantizeLinear")
def dequantize(g, op):
    opset = g.pick(10, 13, 19, 21, 21, 21, 23, 23, 24, 25)
    dims, each, attributes = layout(g, opset)
    of, real = g.pick(*kinds(opset), I32), g.pick(F32, F32, F16) if opset >= 19 else F32
    scales = g.r.uniform(0.01, 2, each).astype(real)
    if of in FLOATS8:
        x = (g.r.standard_normal(dims) * 4).astype(of)
    else:
        x = g.r.integers(-100000, 100000, dims).astype(I32) if of == I32 and real == F32 else zeros_of(g, dims, I8 if of == I32 else of).astype(of)
    inputs = [x, scales] if of == I32 or g.chance(0.3) else [x, scales, zeros_of(g, each, of)]
    constant = {i for i in (0, 2) if i < len(inputs)} if of in FOURS + FLOATS8 else g.pick(set(), {1}, {1, 2} if len(inputs) == 3 else {0})
    return Case(op, inputs, attributes, opset=opset, constant=constant)
