"""Random nodes of what the other makers never give, for against_runtime.py: rarer attributes, inputs and outputs. Keys say which."""
import ml_dtypes
import numpy as np

from random_language import MICROSOFT, microsoft, normal
from random_nodes import F16, F32, F64, I32, I64, MAKERS, Case
from random_quantized import I8, U8, integers, scale, zero


def rare(key):
    def add(f):
        MAKERS[key] = lambda g, _: f(g)
        return f
    return add


def sizes(g, count, low, high):
    return [g.int(low, high) for _ in range(count)]


def auto_padded(g, rank):
    """Attributes of a window that auto_pad places."""
    return {"auto_pad": g.pick("SAME_UPPER", "SAME_LOWER", "VALID"), "strides": g.pick(None, sizes(g, rank, 1, 3))}


def q_conv_inputs(g, kernel):
    """QLinearConv's, X with channels first."""
    x = integers(g, [g.int(1, 2), g.int(1, 9)] + sizes(g, len(kernel), 3, 8), U8)
    w = integers(g, [g.int(1, 20), x.shape[1]] + kernel, I8)
    return [x, scale(g), zero(g, U8), w, scale(g), np.array(0, I8), scale(g, (), 0.05, 2), zero(g, U8)]


@rare("Attention with scores")
def attention_scores(g):
    b, kv, group, l, s, d, dv = g.int(1, 2), g.int(1, 2), g.int(1, 2), g.int(1, 4), g.int(1, 5), 2 * g.int(1, 4), g.int(1, 5)
    h = kv * group
    inputs = [normal(g, [b, h, l, d]), normal(g, [b, kv, s, d]), normal(g, [b, kv, s, dv])]
    if g.chance():
        inputs.append(normal(g, g.pick([l, s], [b, 1, l, s], [b, h, l, s])))
    case = Case("Attention", inputs, {"qk_matmul_output_mode": g.pick(None, 0, 1, 2, 3), "softcap": g.pick(None, 1.5), "is_causal": g.pick(None, 1),
                                      "scale": g.pick(None, 0.3), "softmax_precision": g.pick(None, 1)}, 4, g.int(23, 24))
    case.results = ["y0", "", "", "y3"]
    case.is_defined = lambda outputs: (outputs[1] > -1e38).all()  # of keys that are not seen ONNX Runtime shows the lowest number, not -inf
    return case


@rare("BatchNormalization in training")
def batch_norm(g):
    dims = [g.int(1, 3), g.int(1, 4)] + sizes(g, g.int(0, 3), 1, 4)
    parts = [g.values([dims[1]]) for _ in range(3)] + [np.abs(g.values([dims[1]])) + F32(1)]
    return Case("BatchNormalization", [g.values(dims)] + parts, {"training_mode": 1, "momentum": g.pick(None, 0.5), "epsilon": 0.25}, 3,
                g.opset(14))


@rare("LayerNormalization with statistics")
def layer_norm(g):
    dims = sizes(g, g.int(1, 4), 1, 5)
    axis = g.axis(len(dims))
    case = Case("LayerNormalization", [g.values(dims), g.values(dims[axis:])], {"axis": axis, "epsilon": 0.25}, 3, g.opset(17))
    case.results = g.pick(["y0", "y1", "y2"], ["y0", "", "y2"], ["y0", "y1"])
    return case


@rare("LRN by beta")
def lrn(g):
    return Case("LRN", [g.values(g.dims(3, 4))], {"size": g.pick(1, 3, 5), "beta": g.pick(0.5, 1.0, 2.0), "alpha": g.pick(None, 0.5)}, opset=g.opset())


@rare("Dropout with a ratio")
def dropout(g):
    inputs = [g.values(g.dims(), g.pick(F32, F64, F16)), np.array(0.25, g.pick(F32, F64, F16))]
    if g.chance():
        inputs = [inputs[0], g.pick(None, inputs[1]), np.array(False)]
    return Case("Dropout", inputs, {"seed": g.pick(None, 3)}, g.int(1, 2), g.opset(12))


@rare("GatherND of batches")
def gather_nd(g):
    dims = sizes(g, g.int(2, 5), 1, 4)
    batch = g.int(1, len(dims) - 1)
    depth = g.int(1, len(dims) - batch)
    lead = sizes(g, g.int(0, 2), 1, 3)
    at = np.stack([g.r.integers(-d, d, dims[:batch] + lead) for d in dims[batch:batch + depth]], -1).astype(I64)
    return Case("GatherND", [g.values(dims, g.pick(F32, F64, I64, U8)), at], {"batch_dims": batch}, opset=g.opset(12))


@rare("ConvTranspose to a shape")
def conv_transpose(g):
    n, group = g.int(1, 3), g.int(1, 2)
    ins, outs, kernel, strides = group * g.int(1, 3), g.int(1, 3), sizes(g, n, 1, 3), sizes(g, n, 1, 3)
    size = sizes(g, n, 1, 5)
    shape = [max(1, (d - 1) * s + k - g.int(0, 2)) for d, s, k in zip(size, strides, kernel)]
    return Case("ConvTranspose", [g.values([g.int(1, 2), ins] + size), g.values([ins, outs] + kernel)],
                {"group": group, "strides": strides, "output_shape": shape, "auto_pad": g.pick(None, None, "SAME_UPPER", "SAME_LOWER")}, opset=g.opset())


@rare("DeformConv with dilations")
def deform_conv(g):
    kernel, stride, dilation = sizes(g, 2, 1, 3), sizes(g, 2, 1, 2), sizes(g, 2, 1, 2)
    size, pads = sizes(g, 2, 5, 8), sizes(g, 4, 0, 2)
    out = [(size[i] + pads[i] + pads[i + 2] - dilation[i] * (kernel[i] - 1) - 1) // stride[i] + 1 for i in range(2)]
    taps = kernel[0] * kernel[1]
    inputs = [g.values([1, 2] + size), g.values([g.int(1, 3), 2] + kernel), (4 * g.r.random([1, 2 * taps] + out) - 2).astype(F32)]
    return Case("DeformConv", inputs, {"strides": stride, "dilations": dilation, "pads": pads}, opset=g.opset(19))


@rare("MaxUnpool with pads")
def max_unpool(g):
    """Without output_shape: ONNX Runtime takes indices as those of the larger output, not of the pooled image, as the specification has it."""
    n = g.int(1, 3)
    kernel, strides, pads = sizes(g, n, 2, 3), sizes(g, n, 2, 3), sizes(g, 2 * n, 0, 1)
    dims = [1, g.int(1, 2)] + sizes(g, n, 2, 4)
    out = dims[:2] + [(d - 1) * s + k - pads[i] - pads[i + n] for i, (d, s, k) in enumerate(zip(dims[2:], strides, kernel))]
    places = np.resize(g.r.permutation(int(np.prod(out)))[:int(np.prod(dims))], int(np.prod(dims))).reshape(dims).astype(I64)
    return Case("MaxUnpool", [g.values(dims), places], {"kernel_shape": kernel, "strides": strides, "pads": pads}, opset=g.opset(11))


@rare("Resize of axes")
def resize(g):
    """Not of axes out of order or counted from the end, nor of integers by lines: ONNX Runtime has its own answers."""
    opset, dims, axes = g.opset(18), sizes(g, 4, 1, 8), g.pick([2, 3], [2], [3])
    attributes = {"axes": axes, "mode": g.pick("nearest", "linear"), "coordinate_transformation_mode": "half_pixel"}
    scales = np.array([g.pick(0.5, 2.0, 4.0) for _ in axes], F32)
    return Case("Resize", [g.values(dims), None, scales], attributes, opset=opset, constant={2} if g.chance() else ())


@rare("Resize that keeps the ratio")
def resize_ratio(g):
    opset, dims, axes = g.opset(18), sizes(g, 4, 1, 8), g.pick([2, 3], [3], [1, 2, 3])
    attributes = {"axes": axes, "mode": "nearest", "coordinate_transformation_mode": g.pick("half_pixel", "asymmetric"),
                  "keep_aspect_ratio_policy": g.pick("stretch", "not_larger", "not_smaller")}
    return Case("Resize", [g.values(dims), None, None, g.ints(sizes(g, len(axes), 1, 9))], attributes, opset=opset, constant={3} if g.chance() else ())


@rare("Resize of a region")
def resize_region(g):
    """Where an axis keeps its size ONNX Runtime does not look at the region."""
    dims = sizes(g, 2, 1, 2) + sizes(g, 2, 2, 8)
    region = np.concatenate([[0, 0], g.r.uniform(-0.2, 0.4, 2), [1, 1], g.r.uniform(0.5, 1.2, 2)]).astype(F32)
    attributes = {"mode": g.pick("nearest", "linear", "cubic"), "coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": g.pick(None, 2.5)}
    to = [d + g.pick(-1, 1, 2, 4) for d in dims[2:]]
    return Case("Resize", [g.values(dims), region, None, g.ints(dims[:2] + to)], attributes, opset=g.opset(13), constant=g.pick((), (1, 3)))


@rare("ConvInteger by auto_pad")
def conv_integer(g):
    n = g.int(1, 2)
    kernel = sizes(g, n, 1, 3)
    attributes = auto_padded(g, n) | {"kernel_shape": g.pick(None, kernel)}
    inputs = [integers(g, [g.int(1, 2), g.int(1, 9)] + sizes(g, n, 3, 8), U8)]
    return Case("ConvInteger", inputs + [integers(g, [g.int(1, 20), inputs[0].shape[1]] + kernel, U8), zero(g, U8)], attributes, opset=g.opset(10))


@rare("QLinearConv by auto_pad")
def q_linear_conv(g):
    n = g.int(1, 2)
    kernel = sizes(g, n, 1, 3)
    attributes = auto_padded(g, n) | {"kernel_shape": g.pick(None, kernel)}
    return Case("QLinearConv", q_conv_inputs(g, kernel), attributes, opset=g.opset(10))


@rare("com.microsoft.EmbedLayerNormalization with the sum")
def embed(g):
    b, s, h = g.int(1, 3), g.int(1, 4), 4 * g.int(1, 3)
    inputs = [g.r.integers(0, 7, [b, s]).astype(I32), None, normal(g, [7, h]), normal(g, [6, h]), None, normal(g, [h]), normal(g, [h])]
    return microsoft("EmbedLayerNormalization", inputs, {"epsilon": g.pick(None, 0.1), "mask_index_type": g.pick(None, 0)}, 3)


@rare("com.microsoft.FusedConv of windows")
def fused_conv(g):
    x, w = normal(g, [g.int(1, 2), g.int(1, 3)] + sizes(g, 2, 5, 8)), sizes(g, 2, 1, 3)
    attributes = {"pads": g.pick(None, sizes(g, 4, 0, 1)), "strides": g.pick(None, sizes(g, 2, 1, 2)), "dilations": g.pick(None, sizes(g, 2, 1, 2)),
                  "kernel_shape": g.pick(None, w), "activation": g.pick("Relu", "Sigmoid", "Tanh")}
    return microsoft("FusedConv", [x, normal(g, [g.int(1, 20), x.shape[1]] + w)], attributes)


@rare("com.microsoft.NhwcMaxPool rounded up")
def last_max_pool(g):
    """Not auto_pad with dilations, which ONNX Runtime forgets then."""
    kernel = sizes(g, 2, 2, 3)
    how = {"dilations": g.pick(None, sizes(g, 2, 1, 2))} if g.chance() else {"auto_pad": g.pick("SAME_UPPER", "SAME_LOWER", "VALID")}
    attributes = {"kernel_shape": kernel, "strides": g.pick(None, sizes(g, 2, 1, 3)), "ceil_mode": g.pick(None, 1)}
    return microsoft("NhwcMaxPool", [integers(g, [1] + sizes(g, 2, 5, 8) + [g.int(1, 20)], g.pick(U8, I8))], attributes | how)


@rare("com.microsoft.QLinearAveragePool rounded up")
def q_pool(g):
    of = g.pick(U8, I8)
    attributes = {"kernel_shape": sizes(g, 2, 2, 3), "strides": g.pick(None, sizes(g, 2, 1, 3)), "ceil_mode": 1, "channels_last": g.pick(0, 1)}
    return microsoft("QLinearAveragePool", [integers(g, [1] + sizes(g, 3, 4, 8), of), scale(g), zero(g, of), scale(g, (), 0.005, 0.05), zero(g, of)], attributes)


@rare("com.microsoft.QAttention scaled")
def q_attention(g):
    b, s, heads, size, rows = g.int(1, 2), g.int(1, 4), g.int(1, 2), g.int(1, 4), g.int(1, 9)
    hidden = heads * size
    mask = (g.r.random([b, s]) < 0.7).astype(I32)
    inputs = [integers(g, [b, s, rows], U8), integers(g, [rows, 3 * hidden], U8), normal(g, [3 * hidden]), scale(g), scale(g), mask, zero(g, U8), zero(g, U8)]
    return microsoft("QAttention", inputs, {"num_heads": heads, "scale": g.pick(None, 0.3), "mask_filter_value": g.pick(None, -1.0, -20.0)})


@rare("com.microsoft.Attention by mask_filter_value")
def merged_attention(g):
    b, s, n, d, hidden = g.int(1, 3), g.int(1, 4), g.int(1, 3), g.int(1, 4), g.int(1, 6)
    mask = g.pick(g.r.integers(0, 2, [b, s]).astype(I32), g.r.integers(0, 2, [b, s, s]).astype(I32), g.r.integers(1, s + 1, [b]).astype(I32))
    return microsoft("Attention", [normal(g, [b, s, hidden]), normal(g, [hidden, 3 * n * d]), normal(g, [3 * n * d]), mask],
                     {"num_heads": n, "mask_filter_value": g.pick(-1.0, -20.0), "unidirectional": g.pick(None, 1)})


@rare("com.microsoft.MultiHeadAttention by mask_filter_value")
def multi_head(g):
    b, l, s, n, d = g.int(1, 3), g.int(1, 4), g.int(1, 4), g.int(1, 3), g.int(1, 4)
    mask = g.pick(g.r.integers(0, 2, [b, s]).astype(I32), g.r.integers(1, s + 1, [b]).astype(I32))
    return microsoft("MultiHeadAttention", [normal(g, [b, l, n * d]), normal(g, [b, s, n * d]), normal(g, [b, s, n * d]), None, mask],
                     {"num_heads": n, "mask_filter_value": g.pick(-1.0, -20.0), "scale": g.pick(None, 0.7)})


@rare("com.microsoft.ConvTransposeWithDynamicPads with dilations")
def conv_transpose_pads(g):
    strides = sizes(g, 2, 1, 3)
    inputs = [normal(g, [1, 2] + sizes(g, 2, 2, 4)), normal(g, [2, g.int(1, 3)] + sizes(g, 2, 1, 3)), g.r.integers(0, 2, 4).astype(I64)]
    return microsoft("ConvTransposeWithDynamicPads", inputs, {"strides": strides, "dilations": sizes(g, 2, 1, 2), "output_padding": [g.int(0, s - 1) for s in strides]})


@rare("com.microsoft.DecoderMaskedMultiHeadAttention scaled")
def decoder_masked(g):
    b, n, d, past = g.int(1, 3), g.int(1, 3), 2 * g.int(1, 4), g.int(1, 3)
    rows = past + g.int(1, 3)
    inputs = [normal(g, [b, 1, n * d]) for _ in range(3)] + [None, None] + [normal(g, [b, n, rows, d]) for _ in range(2)] + [np.array([past], I32)]
    if g.chance():
        inputs += [None, None, normal(g, [3 * n * d])]
    attributes = {"num_heads": n, "past_present_share_buffer": 1, "scale": g.pick(None, 0.3)}
    case = microsoft("DecoderMaskedMultiHeadAttention", inputs, attributes, 3)
    case.in_place = {1: 5, 2: 6}
    return case


@rare("com.microsoft.FusedGemm with two parameters")
def fused_gemm(g):
    m, k, n = sizes(g, 3, 1, 5)
    attributes = {"activation": "HardSigmoid", "activation_alpha": 0.3, "activation_beta": g.pick(0.4, 0.1)}
    return microsoft("FusedGemm", [normal(g, [m, k]), normal(g, [k, n]), normal(g, [n])], attributes)


@rare("com.microsoft.GroupQueryAttention without order")
def group_query(g):
    b, kv, group, d, s = g.int(1, 2), g.int(1, 2), g.int(1, 2), 16, g.int(1, 4)
    inputs = [normal(g, [b, s, kv * group * d]), normal(g, [b, s, kv * d]), normal(g, [b, s, kv * d]), normal(g, [b, kv, 0, d]), normal(g, [b, kv, 0, d]),
              np.full(b, s - 1, I32), np.array(s, I32)]
    return microsoft("GroupQueryAttention", inputs, {"num_heads": kv * group, "kv_num_heads": kv, "causal": 0}, 3)


@rare("com.microsoft.MatMulNBits of level 1")
def mat_mul_n_bits(g):
    block, k, n = g.pick(16, 32, 64), g.int(1, 100), g.int(1, 20)
    blocks = -(-k // block)
    inputs = [normal(g, [g.int(1, 6), k]), g.r.integers(0, 256, [n, blocks, block // 2]).astype(U8), g.r.uniform(0.01, 0.1, [n, blocks]).astype(F32)]
    return microsoft("MatMulNBits", inputs, {"K": k, "N": n, "bits": 4, "block_size": block, "accuracy_level": 1}, constant=(1, 2))  # others: in float16 or integers


@rare("com.microsoft.FusedConv by auto_pad")
def fused_conv_padded(g):
    attributes = auto_padded(g, 2) | {"activation": g.pick("Relu", "Tanh")}
    inputs = [normal(g, [g.int(1, 2), g.int(1, 3)] + sizes(g, 2, 5, 8))]
    return microsoft("FusedConv", inputs + [normal(g, [g.int(1, 20), inputs[0].shape[1]] + sizes(g, 2, 1, 3))], attributes, constant=g.pick((), (1,)))


@rare("com.microsoft.QLinearConv by auto_pad")
def last_q_linear_conv(g):
    kernel, last = sizes(g, 2, 1, 3), g.int(0, 1)
    x, *others = q_conv_inputs(g, kernel)
    attributes = auto_padded(g, 2) | {"kernel_shape": g.pick(None, kernel), "channels_last": last}
    return microsoft("QLinearConv", [x.transpose(0, 2, 3, 1) if last else x, *others], attributes, constant=(3,))


@rare("com.microsoft.QLinearAveragePool by auto_pad")
def q_pool_padded(g):
    """Of strides up to the kernel's size: beyond, ONNX Runtime's padding is negative here, none in a Conv, and an error in AveragePool."""
    kernel = sizes(g, 2, 1, 3)
    attributes = auto_padded(g, 2) | {"kernel_shape": kernel, "count_include_pad": g.pick(None, 1), "channels_last": g.pick(0, 1),
                                      "strides": g.pick(None, [g.int(1, k) for k in kernel])}
    return microsoft("QLinearAveragePool", [integers(g, [1] + sizes(g, 3, 4, 8), U8), scale(g), zero(g, U8), scale(g, (), 0.005, 0.05), zero(g, U8)], attributes)


@rare("com.microsoft.QLinearGlobalAveragePool of many")
def q_global_pool(g):
    last, of = g.int(0, 1), g.pick(U8, I8)
    inputs = [integers(g, [g.int(1, 2), g.int(1, 40)] + sizes(g, g.int(1, 3), 1, 12), of), scale(g), zero(g, of), scale(g, (), 0.005, 0.05), zero(g, of)]
    return microsoft("QLinearGlobalAveragePool", inputs, {"channels_last": last})


@rare("com.microsoft.GatherBlockQuantized of any axis")
def gather_blocks(g):
    """Of 4 bits: in bytes ONNX Runtime wants axis 0."""
    dims, of = sizes(g, g.int(2, 3), 1, 40), g.pick(ml_dtypes.int4, ml_dtypes.uint4)
    axis, blocked = g.axis(len(dims)), g.axis(len(dims))
    data = g.r.integers(0, 8, dims).astype(of)
    at = g.r.integers(0, dims[axis], sizes(g, g.int(0, 2), 1, 3)).astype(g.pick(I32, I64))
    dims[blocked] = -(-dims[blocked] // 16)
    inputs = [data, at, g.r.uniform(0.01, 0.1, dims).astype(F32)] + ([g.r.integers(0, 8, dims).astype(of)] if g.chance() else [])
    return microsoft("GatherBlockQuantized", inputs, {"gather_axis": axis, "quantize_axis": blocked, "block_size": 16}, constant=(0, 3) + g.pick((), (2,)))
