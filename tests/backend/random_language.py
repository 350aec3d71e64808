"""Random nodes of attention, norms and com.microsoft's fused operators, for against_runtime.py."""
import numpy as np

from random_nodes import F32, I32, I64, MAKERS, Case

MICROSOFT = "com.microsoft"


def makers(domain, *ops):
    def add(f):
        for op in ops:
            MAKERS[f"{domain}.{op}" if domain else op] = lambda g, key, op=op: f(g, op)
        return f
    return add


def microsoft(op, inputs, attributes=None, outputs=1, constant=()):
    while inputs and inputs[-1] is None:
        inputs.pop()
    return Case(op, inputs, attributes, outputs, 21, constant, MICROSOFT)


def normal(g, dims, dtype=F32):
    return g.r.standard_normal(dims).astype(dtype)


@makers("", "Attention")
def attention(g, op):
    opset = g.int(23, 24)
    b, kv, group, l, s, d, dv = g.int(1, 2), g.int(1, 2), g.int(1, 3), g.int(1, 4), g.int(1, 5), 2 * g.int(1, 4), g.int(1, 5)
    h, flat, past = kv * group, g.chance(), g.pick(None, None, g.int(0, 3))
    total = s + (past or 0)
    if past is not None:
        dv = d
    heads = {"q_num_heads": h, "kv_num_heads": kv} if flat else {}
    shape = (lambda n, length, size: [b, length, n * size]) if flat else (lambda n, length, size: [b, n, length, size])
    inputs = [normal(g, shape(h, l, d)), normal(g, shape(kv, s, d)), normal(g, shape(kv, s, dv)), None]
    if g.chance():
        dims = g.pick([l, total], [b, 1, l, total], [b, h, l, total], [1, h, l, total])
        inputs[3] = g.r.random(dims) < 0.7 if g.chance() else normal(g, dims)
    if past is not None:
        inputs += [normal(g, [b, kv, past, d]), normal(g, [b, kv, past, dv])]
    elif opset == 24 and not flat and g.chance(0.3):
        inputs += [None, None, g.r.integers(1, total + 1, [b]).astype(I64)]
    while inputs[-1] is None:
        inputs.pop()
    attributes = dict(heads, scale=g.pick(None, 0.3), softcap=g.pick(None, None, 1.5), is_causal=g.pick(None, 1))
    return Case(op, inputs, attributes, 3 if past is not None else 1, opset)


@makers("", "RotaryEmbedding")
def rotary(g, op):
    b, h, s, d = g.int(1, 3), g.int(1, 3), g.int(1, 4), 2 * g.int(1, 4)
    part = g.pick(None, 2 * g.int(1, d // 2))
    half, flat, ids = (part or d) // 2, g.chance(), g.chance()
    cache = [9, half] if ids else [b, s, half]
    inputs = [normal(g, [b, s, h * d] if flat else [b, h, s, d]), normal(g, cache), normal(g, cache)]
    if ids:
        inputs.append(g.r.integers(0, 9, [b, s]).astype(I64))
    return Case(op, inputs, {"interleaved": g.pick(None, 1), "rotary_embedding_dim": part, "num_heads": h if flat else None}, opset=23)


@makers("", "RMSNormalization")
def rms(g, op):
    dims = g.dims(1, 4)
    axis = g.axis(len(dims))
    return Case(op, [normal(g, dims), normal(g, dims[axis:])], {"axis": axis, "epsilon": g.pick(None, 0.1)}, opset=23)


@makers("", "GroupNormalization")
def group_norm(g, op):
    groups, each = g.int(1, 3), g.int(1, 3)
    dims = [g.int(1, 2), groups * each] + [g.int(1, 4) for _ in range(g.int(1, 3))]
    opset = g.pick(18, 21)
    n = groups if opset == 18 else groups * each
    return Case(op, [normal(g, dims), normal(g, [n]), normal(g, [n])], {"num_groups": groups, "epsilon": g.pick(None, 0.1)}, opset=opset)


@makers("", "TensorScatter")
def tensor_scatter(g, op):
    dims = [g.int(1, 3) for _ in range(g.int(2, 4))]
    axis = g.int(1, len(dims) - 1)
    dims[axis] = g.int(1, 6)
    update = list(dims)
    update[axis] = g.int(1, dims[axis])
    circular = g.chance()
    indices = g.r.integers(0, dims[axis] if circular else dims[axis] - update[axis] + 1, [dims[0]]).astype(I64)
    attributes = {"axis": axis - g.pick(0, len(dims)), "mode": "circular" if circular else None}
    return Case(op, [normal(g, dims), normal(g, update), indices], attributes, opset=24)


@makers(MICROSOFT, "FusedMatMul", "TransposeMatMul")
def fused_mat_mul(g, op):
    batch, m, k, n = [g.int(1, 3) for _ in range(g.int(0, 2))], g.int(1, 5), g.int(1, 5), g.int(1, 5)
    attributes = {"alpha": g.pick(None, 0.5)}

    def operand(rows, columns, letter):
        dims = batch + [rows, columns]
        if g.chance():
            attributes["trans" + letter] = 1
            dims = batch + [columns, rows]
        if op == "FusedMatMul" and batch and g.chance():
            attributes["transBatch" + letter] = 1
            dims = [dims[-2]] + dims[:-2] + [dims[-1]]
        return normal(g, dims)

    return microsoft(op, [operand(m, k, "A"), operand(k, n, "B")], attributes)


@makers(MICROSOFT, "FusedGemm")
def fused_gemm(g, op):
    m, k, n, ta, tb = g.int(1, 5), g.int(1, 5), g.int(1, 5), g.int(0, 1), g.int(0, 1)
    c = g.pick(None, normal(g, [n]), normal(g, [m, 1]), normal(g, [m, n]))
    activation = g.pick("Relu", "Tanh", "LeakyRelu", "Sigmoid")
    return microsoft(op, [normal(g, [k, m] if ta else [m, k]), normal(g, [n, k] if tb else [k, n]), c],
                     {"transA": ta, "transB": tb, "alpha": g.pick(None, 0.5), "beta": g.pick(None, 2.0), "activation": activation,
                      "activation_alpha": 0.2 if activation == "LeakyRelu" else None})


@makers(MICROSOFT, "FusedConv")
def fused_conv(g, op):
    group, each, filters = g.int(1, 2), g.int(1, 3), g.int(1, 3)
    x, w = normal(g, [g.int(1, 2), group * each, 5, 6]), normal(g, [group * filters, each, 3, 2])
    bias = g.pick(None, normal(g, [group * filters]))
    activation = g.pick("Relu", "LeakyRelu", "Clip", "HardSigmoid", "Tanh")
    parameters = {"LeakyRelu": [0.1], "Clip": [-0.5, 1.0], "HardSigmoid": [0.3, 0.4]}.get(activation)
    z = normal(g, [x.shape[0], group * filters, 3, 5]) if g.chance() else None
    return microsoft(op, [x, w, bias, z], {"group": group, "activation": activation, "activation_params": parameters})


@makers(MICROSOFT, "SkipLayerNormalization", "SkipSimplifiedLayerNormalization")
def skip_norm(g, op):
    b, s, h = g.int(1, 3), g.int(1, 4), g.int(1, 9)
    skip = g.pick([b, s, h], [b, s, h], [1, s, h], [s, h])
    inputs = [normal(g, [b, s, h]), normal(g, skip), normal(g, [h])]
    if op[4] == "L":
        inputs.append(g.pick(None, normal(g, [h])))
    inputs.append(g.pick(None, normal(g, [h])))
    case = microsoft(op, inputs, {"epsilon": g.pick(None, 0.01)})
    if g.chance():
        case.results = ["y0", "", "", "y3"]
    return case


@makers("", "SimplifiedLayerNormalization")
def simplified(g, op):
    dims = [g.int(1, 3), g.int(1, 4), g.int(1, 9)]
    return Case(op, [normal(g, dims), normal(g, dims[-1:])], {"axis": -1, "epsilon": g.pick(None, 0.1)}, opset=17)


@makers(MICROSOFT, "Gelu", "FastGelu", "BiasGelu", "QuickGelu")
def gelu(g, op):
    h = g.int(1, 20)
    bias = op == "BiasGelu" or (op == "FastGelu" and g.chance())
    return microsoft(op, [normal(g, [g.int(1, 3), g.int(1, 3), h])] + ([normal(g, [h])] if bias else []),
                     {"alpha": g.pick(None, 1.0) if op == "QuickGelu" else None})


@makers(MICROSOFT, "BiasSoftmax")
def bias_softmax(g, op):
    dims = [g.int(1, 3) for _ in range(4)]
    inner = g.int(0, 1)
    bias = [dims[0], 1, 1, dims[3]] if inner else [1, 1] + dims[2:]
    return microsoft(op, [normal(g, dims), normal(g, bias)], {"axis": 3, "is_inner_broadcast": inner})


@makers(MICROSOFT, "EmbedLayerNormalization")
def embed(g, op):
    b, s, h = g.int(1, 3), g.int(1, 4), 4 * g.int(1, 3)
    segments, mask, positions = g.chance(), g.chance(), g.chance(0.3)
    inputs = [g.r.integers(0, 7, [b, s]).astype(I32), g.r.integers(0, 2, [b, s]).astype(I32) if segments else None,
              normal(g, [7, h]), normal(g, [6, h]),
              normal(g, [2, h]) if segments else None, normal(g, [h]), normal(g, [h]),
              g.r.choice([0, 1, 1, 2], [b, s]).astype(I32) if mask else None,
              g.r.integers(0, 6, [b, s]).astype(I32) if positions else None]
    case = microsoft(op, inputs, {}, 2)
    return case


@makers(MICROSOFT, "Attention")
def merged_attention(g, op):
    b, s, n, d, hidden = g.int(1, 3), g.int(1, 4), g.int(1, 3), g.int(1, 4), g.int(1, 6)
    past = g.pick(None, None, g.int(1, 3))
    total = s + (past or 0)
    sizes = None if past or g.chance() else [n * d, n * d, n * g.int(1, 4)]
    columns = sum(sizes) if sizes else 3 * n * d
    masks = [None, g.r.integers(0, 2, [b, total]).astype(I32), g.r.integers(0, 2, [b, s, total]).astype(I32)]
    if not past:
        masks += [g.r.integers(1, total + 1, [b]).astype(I32)]
    mask = masks[g.int(0, len(masks) - 1)]
    inputs = [normal(g, [b, s, hidden]), normal(g, [hidden, columns]), normal(g, [columns]), mask,
              normal(g, [2, b, n, past, d]) if past else None,
              normal(g, [g.pick(1, b), g.pick(1, n), s, total]) if g.chance(0.3) else None]
    attributes = {"num_heads": n, "unidirectional": g.pick(None, 1), "scale": g.pick(None, 0.7), "qkv_hidden_sizes": sizes}
    return microsoft(op, inputs, attributes, 2 if past else 1)


@makers(MICROSOFT, "MultiHeadAttention")
def multi_head(g, op):
    b, l, s, n, d, dv = g.int(1, 3), g.int(1, 4), g.int(1, 4), g.int(1, 3), g.int(1, 4), g.int(1, 4)
    past = g.pick(None, None, g.int(1, 3))
    if past:
        dv, s = d, l
    total = s + (past or 0)
    cut = not past and g.chance(0.3)
    key, value = ([b, n, s, d], [b, n, s, dv]) if cut else ([b, s, n * d], [b, s, n * dv])
    bias = normal(g, [n * (2 * d + dv)]) if g.chance() and not cut else None
    mask = g.pick(None, g.r.integers(0, 2, [b, total]).astype(I32), g.r.integers(1, total + 1, [b]).astype(I32) if not past else None)
    inputs = [normal(g, [b, l, n * d]), normal(g, key), normal(g, value), bias, mask,
              normal(g, [g.pick(1, b), g.pick(1, n), l, total]) if g.chance(0.3) else None]
    if past:
        buffers = g.chance(0.3)
        rows = total + g.int(0, 2) if buffers else past
        inputs += [normal(g, [b, n, rows, d]), normal(g, [b, n, rows, d])] + ([np.array([past], I32)] if buffers else [])
    attributes = {"num_heads": n, "unidirectional": g.pick(None, 1) if l == s else None, "scale": g.pick(None, 0.7)}
    return microsoft(op, inputs, attributes, 3 if past else 1)


@makers(MICROSOFT, "DecoderMaskedMultiHeadAttention")
def decoder_masked(g, op):
    prompts, beams, n, d, past = g.int(1, 3), g.int(1, 3), g.int(1, 3), 2 * g.int(1, 4), g.int(1, 3)
    rows, b = past + g.int(1, 3), prompts * beams
    inputs = [normal(g, [b, 1, n * d]) for _ in range(3)] + [None, None] + [normal(g, [b, n, rows, d]) for _ in range(2)] + [np.array([past], I32)]
    if g.chance():
        inputs += [np.array([beams], I32), g.r.integers(0, beams, [prompts, beams, rows]).astype(I32)]
    case = microsoft(op, inputs, {"num_heads": n, "past_present_share_buffer": 1}, 3)
    case.in_place = {1: 5, 2: 6}
    return case


@makers(MICROSOFT, "GroupQueryAttention")
def group_query(g, op):
    b, kv, group, d = g.int(1, 3), g.int(1, 2), g.int(1, 3), 16
    first = g.chance()
    s = g.int(1, 4) if first else g.pick(1, 1, 2) if b == 1 else 1
    n, rotary, packed = kv * group, g.chance(), g.chance(0.3)
    ragged = not first and g.chance()
    if first:
        old, total = np.zeros(b, int), s
        past = 0
    else:
        old = g.r.integers(1, 6, b) if ragged else np.full(b, g.int(1, 3))
        total = int(old.max()) + s
        past = g.pick(int(old.max()), total)
    lengths = (old + s - 1).astype(I32)
    q, k = normal(g, [b, s, n * d]), normal(g, [b, s, kv * d])
    inputs = [normal(g, [b, s, (n + 2 * kv) * d]), None, None] if packed else [q, k, normal(g, [b, s, kv * d])]
    inputs += [normal(g, [b, kv, past, d]), normal(g, [b, kv, past, d]), lengths, np.array(total, I32)]
    if rotary:
        inputs += [normal(g, [12, d // 2]), normal(g, [12, d // 2])]
    if g.chance(0.3):
        inputs += [None] * (11 - len(inputs)) + [normal(g, [n])]  # head_sink
    attributes = {"smooth_softmax": g.pick(None, None, 1), "num_heads": n, "kv_num_heads": kv, "do_rotary": int(rotary) or None, "rotary_interleaved": g.pick(None, 1) if rotary else None,
                  "local_window_size": g.pick(None, None, 2), "softcap": g.pick(None, 1.5), "scale": g.pick(None, 0.7)}
    bits, shown = g.pick(0, 0, 4, 8), g.pick(None, None, 1, 2)
    if bits:
        how = g.pick("PER_TENSOR", "PER_CHANNEL")
        for i in (3, 4):
            numbers = [b, kv, past, d if bits == 8 else d // 2]
            inputs[i] = g.r.integers(-128, 128, numbers).astype(np.int8) if bits == 8 else g.r.integers(0, 256, numbers).astype(np.uint8)
        scales = [g.r.uniform(0.1, 0.5, [1] if how == "PER_TENSOR" else [1, kv, 1, d]).astype(F32) / (10 if bits == 8 else 1) for _ in range(2)]
        inputs += [None] * (12 - len(inputs)) + scales
        attributes |= {"k_quant_type": how, "v_quant_type": how, "kv_cache_bit_width": bits}
    case = microsoft(op, inputs, attributes | {"qk_output": shown}, 4 if shown else 3, {6} if g.chance() else ())
    if ragged:  # what is behind a cache's last key ONNX Runtime makes 0 or leaves: nobody reads it, so only the first output is compared
        case.compared = ["y0"]
    return case


@makers(MICROSOFT, "GroupQueryAttention of chunks")
def group_query_of_chunks(g, op):
    """Rows behind a sample's own are unspecified, so there are none in the chunk, and the caches are not compared."""
    b, kv, group, d, slides, given = g.int(1, 3), g.int(1, 2), g.int(1, 2), 16, g.chance(), g.chance()
    s = g.int(1, 4) if not slides or given or b == 1 else 1
    window, old = g.int(1, 4), g.r.integers(0, 9, b)
    total = int(old.max()) + s
    rows = window + g.int(0, 3) if slides else total + g.int(0, 2)
    inputs = [normal(g, [b, s, kv * group * d]), normal(g, [b, s, kv * d]), normal(g, [b, s, kv * d]), normal(g, [b, kv, rows, d]),
              normal(g, [b, kv, rows, d]), (old + s - 1).astype(I32), np.array(total if slides else rows, I32)] + [None] * 10
    if g.chance():
        inputs[7:9] = [normal(g, [24, d // 2]), normal(g, [24, d // 2])]
    if g.chance(0.3):
        inputs[10] = normal(g, [g.pick(1, b), g.pick(1, kv * group), s, int(inputs[6])])
    if g.chance(0.3):
        inputs[11] = normal(g, [kv * group])
    if given or not slides:
        inputs[16] = np.full([b], s, I32)
    attributes = {"num_heads": kv * group, "kv_num_heads": kv, "do_rotary": int(inputs[7] is not None) or None, "softcap": g.pick(None, 1.5),
                  "sliding_window_cache": 1 if slides else None, "local_window_size": window if slides or g.chance() else None}
    case = microsoft("GroupQueryAttention", inputs, attributes, 3)
    case.compared = ["y0"]
    return case


@makers(MICROSOFT, "RotaryEmbedding")
def runtime_rotary(g, op):
    b, h, s, d = g.int(1, 3), g.int(1, 3), g.int(1, 4), 2 * g.int(1, 4)
    flat = g.chance()
    part = 2 * g.int(1, d // 2) if g.chance(0.3) else None
    half = (part or d) // 2
    ids = g.pick(np.array([g.int(0, 4)], I64), g.r.integers(0, 9, [b, s]).astype(I64))
    return microsoft(op, [normal(g, [b, s, h * d] if flat else [b, h, s, d]), ids, normal(g, [9, half]), normal(g, [9, half])],
                     {"interleaved": g.pick(None, 1), "rotary_embedding_dim": part, "num_heads": h if part else None})
