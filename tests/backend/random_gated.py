"""Random nodes of com.microsoft's gates, hyper-connections, routers and packed recurrences of newer language models, for against_runtime.py."""
import numpy as np

from random_language import MICROSOFT, makers, microsoft, normal
from random_nodes import F16, F32, I32, I64


def in_float16(*inputs):
    """Nodes are of float16 now and then: those inputs, as far as they are there."""
    def wrap(f):
        def make(g, op):
            case = f(g, op)
            if g.chance(0.3):
                case.inputs = [x.astype(F16) if i in inputs and x is not None else x for i, x in enumerate(case.inputs)]
            return case
        return make
    return wrap


@makers(MICROSOFT, "ScaledSiLU")
@in_float16(0)
def scaled_silu(g, op):
    scale = g.pick(None, np.array(0.7, F32), np.array(-1.3, F32))
    return microsoft(op, [normal(g, g.dims(1, 4)), scale], {"alpha": g.pick(None, 1.7)})


@makers(MICROSOFT, "GatedAdd")
@in_float16(0, 1, 2)
def gated_add(g, op):
    dims = g.dims(1, 4)
    return microsoft(op, [normal(g, dims), normal(g, dims), normal(g, dims[:-1] + [1])])


@makers(MICROSOFT, "GatedRMSNorm")
@in_float16(0, 1, 2)
def gated_rms_norm(g, op):
    dims, each = g.dims(1, 4), g.int(1, 5)
    dims[-1] = each * g.int(1, 3)
    return microsoft(op, [normal(g, dims), normal(g, [each]), normal(g, dims)],
                     {"activation": g.pick(None, "silu", "swish", "sigmoid"), "epsilon": g.pick(None, 0.1)})


@makers(MICROSOFT, "LinearAttentionGate")
@in_float16(0, 3)
def linear_attention_gate(g, op):
    dims, both = [g.int(1, 3), g.int(1, 4), g.int(1, 5)], g.chance()
    inputs = [normal(g, dims), normal(g, dims[2:]), normal(g, dims[2:]), normal(g, dims) if both else None]
    return microsoft(op, inputs, outputs=2 if both else 1)


def streams(g):
    """Leading dimensions, streams, features, the attribute, and what the streams' dimensions are then."""
    lead, branches, width, flat = g.dims(0, 2), g.int(1, 4), g.int(1, 5), g.chance()
    return lead, branches, width, {"num_branches": branches if flat else None}, lead + ([branches * width] if flat else [branches, width])


@makers(MICROSOFT, "BranchwiseRMSNorm")
@in_float16(0)
def branchwise_rms_norm(g, op):
    lead, branches, width, attributes, dims = streams(g)
    scale = g.pick(None, [branches * width], [branches, width], [width])
    return microsoft(op, [normal(g, dims), None if scale is None else normal(g, scale)], attributes | {"epsilon": g.pick(None, 0.1)})


@makers(MICROSOFT, "HyperConnectionPreMix")
@in_float16(0)
def pre_mix(g, op):
    lead, branches, width, attributes, dims = streams(g)
    gates = g.pick(lead + [branches], lead + [branches, 1], lead + [branches, width], dims)
    return microsoft(op, [normal(g, dims), normal(g, gates)], attributes | {"reduction_scale": g.pick(None, 0.5)})


@makers(MICROSOFT, "HyperConnectionPostMix")
@in_float16(0, 1)
def post_mix(g, op):
    lead, branches, width, attributes, dims = streams(g)
    gates = g.pick(lead + [branches], lead + [branches, 1], lead + [branches, width])
    mix = normal(g, lead + [branches, branches]) if g.chance() else None
    return microsoft(op, [normal(g, dims), normal(g, lead + [width]), normal(g, gates), mix], attributes)


@makers(MICROSOFT, "EngramGate")
@in_float16(0, 1, 2, 3, 4, 5)
def engram_gate(g, op):
    b, s, m, h, both = g.int(1, 2), g.int(1, 4), g.int(1, 3), g.int(1, 6), g.chance()
    inputs = [normal(g, [b, s, m, h]), normal(g, [b, s, m, h]), normal(g, [b, s, h])] + [normal(g, [m, h]) for _ in range(3 if both else 2)]
    return microsoft(op, inputs, {"epsilon": g.pick(None, 0.1)}, outputs=2 if both else 1)


@makers(MICROSOFT, "MRotaryEmbedding")
@in_float16(0, 2, 3)
def multimodal_rotary(g, op):
    b, heads, s, interleaved = g.int(1, 3), g.int(1, 3), g.int(1, 4), g.chance()
    section = [g.int(0, 3) for _ in range(3)]
    if interleaved:
        h, w = g.int(0, 2), g.int(0, 2)
        section = [max(h, w) + g.int(0, 2), h, w]
    half = max(1, sum(section))
    section[0] += half - sum(section)
    flat, part = g.chance(), g.chance(0.3)
    size = 2 * half + (2 * g.int(1, 2) if part else 0)
    x = normal(g, [b, s, heads * size] if flat else [b, heads, s, size])
    return microsoft(op, [x, g.r.integers(0, 9, [3, b, s]).astype(I64), normal(g, [9, half]), normal(g, [9, half])],
                     {"mrope_section": section, "mrope_layout": 1 if interleaved else g.pick(None, 0), "interleaved": g.pick(None, 1),
                      "num_heads": heads if part or flat or g.chance() else None, "rotary_embedding_dim": 2 * half if part else None})


@makers(MICROSOFT, "MoEGroupRouter")
@in_float16(0, 2)
def group_router(g, op):
    if g.chance(0.3):  # all scores, for others to choose
        experts, width = g.int(1, 6), g.pick(None, 256)
        case = microsoft(op, [normal(g, [g.int(1, 4), width or experts]), normal(g, [experts]), None if width is None else 0.1 * normal(g, [experts, width])],
                         {"top_k": 1}, outputs=3)
        case.results[0] = ""
        return case
    groups, size = g.int(1, 4), g.int(1, 5)
    active = g.int(1, groups)
    attributes = {"n_group": groups, "topk_group": active, "top_k": g.int(1, size * active), "group_topk": g.pick(None, 1, 3),
                  "router_sentinel": g.pick(None, -1.0)}
    return microsoft(op, [normal(g, g.dims(1, 2) + [groups * size]), normal(g, [groups * size])], attributes)


def lengths_of(g):
    """Prefix sums of sequences' lengths."""
    return np.cumsum([0] + [g.int(1, 4) for _ in range(g.int(1, 3))]).astype(I32)


@makers(MICROSOFT, "VarlenCausalConvWithState")
@in_float16(0, 1, 3, 4)
def packed_causal_conv(g, op):
    ends, channels, width, dilation, capacity = lengths_of(g), g.int(1, 4), g.int(1, 4), g.int(1, 3), g.pick(0, 0, 2, 8)
    batch = len(ends) - 1
    inputs = [normal(g, [ends[-1], channels]), normal(g, [channels, 1, width]), ends, normal(g, [channels]) if g.chance() else None,
              normal(g, [batch, channels, (width - 1) * dilation]), g.r.integers(-1, 6, [batch]).astype(I32) if capacity else None]
    return microsoft(op, inputs, {"dilation": dilation, "activation": g.pick(None, "silu", "none"), "state_update_capacity": capacity or None},
                     outputs=3 if capacity else 2)


@makers(MICROSOFT, "GatedDeltaNet")
@in_float16(0, 1, 2)
def gated_delta_net(g, op):
    rule = g.pick("linear", "gated", "delta", "gated_delta")
    how = g.pick("ragged", "uniform", "batched")
    ends = lengths_of(g)
    batch, tokens = len(ends) - 1, int(ends[-1])
    if how != "ragged":
        batch, each = g.int(1, 3), g.int(1, 4)
        tokens = batch * each
    lead = [batch, each] if how == "batched" else [tokens]
    heads, repeat, size, value_size = g.int(1, 2), g.int(1, 2), g.pick(2, 4, 6), g.int(1, 5)
    value_heads = heads * repeat
    query, key, value = normal(g, lead + [heads, size]), normal(g, lead + [heads, size]), normal(g, lead + [value_heads, value_size])
    if g.chance(0.3):
        parts = [x.reshape(lead + [-1]) for x in (query, key, value)]
        query, key, value = np.concatenate(parts, -1), None, None
    gate, by_element = g.pick(None, None, "softplus", "sigmoid", "qwen", "kda"), g.chance()
    decay = -g.r.random(lead + [value_heads] + ([size] if by_element else [])).astype(F32)
    beta = g.r.random(lead + [value_heads]).astype(F32)
    bias = g.pick([value_heads], [value_heads, size], [value_heads * size]) if by_element else [value_heads]
    has = {"decay": "gated" in rule, "beta": "delta" in rule, "gate": "gated" in rule and gate}
    inputs = [query, key, value, ends if how == "ragged" else None, decay if has["decay"] else None, beta if has["beta"] else None,
              normal(g, [batch, value_heads, value_size, size]) if key is None or how == "uniform" or g.chance() else None,
              normal(g, [value_heads]) if has["gate"] else None, normal(g, bias) if has["gate"] else None]
    attributes = {"update_rule": rule, "qk_l2_norm": 1 if "delta" in rule else g.pick(None, 1), "scale": g.pick(None, 0.3),
                  "gate_activation": gate if has["gate"] else None, "beta_activation": g.pick(None, "sigmoid") if has["beta"] else None,
                  "gate_lower_bound": g.pick(None, -2.0)}
    return microsoft(op, inputs, attributes, outputs=2)


def hash_inputs(g, of, lead, batch, n, heads):
    """ids, multipliers and table sizes; past_ids; offsets, the end of a text and segments."""
    multipliers = (g.r.integers(-50, 2**31 - 1, n) | 1).astype(of) * (of(1) if of is I32 else of(1234567891))
    return ([g.r.integers(-4, 6, lead).astype(of), multipliers, g.r.integers(1, 50, heads).astype(of)],
            [g.r.integers(-4, 6, [batch, n - 1]).astype(of) if g.chance() else None],
            [g.r.integers(0, 100, heads).astype(of) if g.chance() else None, np.array(2, of) if g.chance() else None,
             g.r.integers(0, 2, lead).astype(I32) if g.chance() else None])


@makers(MICROSOFT, "NGramHashMapping")
def n_gram_hash(g, op):
    of, n, each, batch = g.pick(I32, I64), g.int(2, 4), g.int(1, 2), g.int(1, 3)
    first, past, rest = hash_inputs(g, of, [batch, g.int(1, 5)], batch, n, (n - 1) * each)
    return microsoft(op, first + past + rest, {"max_ngram_size": n, "n_head_per_ngram": each, "pad_id": 1, "reset_on_eos": g.pick(None, 1)}, outputs=2)


@makers(MICROSOFT, "VarlenNGramHashMapping")
def packed_n_gram_hash(g, op):
    of, n, each, ends, capacity = g.pick(I32, I64), g.int(2, 4), g.int(1, 2), lengths_of(g), g.pick(None, 3)
    batch = len(ends) - 1
    first, past, rest = hash_inputs(g, of, [ends[-1]], batch, n, (n - 1) * each)
    segmented = rest[2] is not None
    past_segments = g.r.integers(0, 2, [batch, n - 1]).astype(I32) if segmented and past[0] is not None and g.chance() else None
    inputs = first + [ends] + past + rest + [past_segments, g.r.integers(-1, 6, [batch]).astype(I32) if capacity else None]
    case = microsoft(op, inputs, {"max_ngram_size": n, "n_head_per_ngram": each, "pad_id": 1, "reset_on_eos": g.pick(None, 1),
                                  "state_update_capacity": capacity}, outputs=4 if capacity else 3)
    if not segmented:
        case.results[2] = ""
    return case


@makers(MICROSOFT, "DynamicTimeWarping")
def dynamic_time_warping(g, op):
    dims = [g.int(1, 9), g.int(1, 9)]
    costs = g.r.integers(-3, 5, dims).astype(F32) if g.chance() else normal(g, dims)
    return microsoft(op, [costs if g.chance() else costs[None]])


@makers(MICROSOFT, "SparseAttention")
def sparse_attention(g, op):
    b, kv, repeat, d, block = g.int(1, 2), g.int(1, 2), g.int(1, 2), 16 * g.int(1, 2), 16
    heads, blocks = kv * repeat, g.int(1, 3)
    layouts = g.pick(*[n for n in range(1, heads + 1) if heads % n == 0])
    s = g.int(1, blocks * block) if g.chance() else 1
    # Of one length: where they differ, ONNX Runtime 1.32 takes the scores of the shorter ones from the wrong place.
    lengths = np.full([b], s if s > 1 else g.int(2, blocks * block), I32)
    mask = np.tril(g.r.random([layouts, blocks, blocks]) < 0.6) | np.eye(blocks, dtype=bool)
    rows = np.concatenate([np.zeros([layouts, 1]), mask.sum(2).cumsum(1)], 1).astype(I32)
    columns = np.full([layouts, rows[:, -1].max()], -1, I32)
    for layout in range(layouts):
        found = np.nonzero(mask[layout])[1]
        columns[layout, :len(found)] = found
    packed, rotary = g.chance(), g.chance()
    query = normal(g, [b, s, (heads + 2 * kv if packed else heads) * d])
    key, value = (None, None) if packed else (normal(g, [b, s, kv * d]), normal(g, [b, s, kv * d]))
    caches = [normal(g, [b, kv, blocks * block, d]) for _ in range(2)]
    angles = [normal(g, [blocks * block, d // 2]) for _ in range(2)] if rotary else []
    case = microsoft(op, [query, key, value] + caches + [rows, columns, np.array([lengths.max()], I32), lengths] + angles,
                     {"num_heads": heads, "kv_num_heads": kv, "sparse_block_size": block, "scale": g.pick(None, 0.3), "do_rotary": 1 if rotary else None,
                      "rotary_interleaved": g.pick(None, 1)}, outputs=3)
    case.in_place = {1: 3, 2: 4}
    return case


@makers(MICROSOFT, "LinearAttention")
@in_float16(0, 1, 2, 4, 5)
def runtime_linear_attention(g, op):
    rule, b, s = g.pick("linear", "gated", "delta", "gated_delta"), g.int(1, 2), g.int(1, 4)
    q_heads, heads = g.pick((1, 1), (2, 1), (4, 2), (1, 2), (2, 4), (3, 3))
    k_heads = g.pick(*[n for n in range(1, heads + 1) if heads % n == 0])
    size, value_size = g.int(1, 5), g.int(1, 5)
    keys = normal(g, [b, s, k_heads, size])
    keys /= np.sqrt((keys**2).sum(-1, keepdims=True))
    decay = -g.r.random([b, s, heads * g.pick(1, size)]).astype(F32) if "gated" in rule or g.chance(0.2) else None
    beta = g.r.random([b, s, g.pick(1, heads)]).astype(F32) if "delta" in rule or g.chance(0.2) else None
    inputs = [normal(g, [b, s, q_heads * size]), keys.reshape(b, s, -1), normal(g, [b, s, heads * value_size]),
              normal(g, [b, heads, size, value_size]) if g.chance() else None, decay, beta]
    return microsoft(op, inputs, {"q_num_heads": q_heads, "kv_num_heads": heads, "update_rule": rule, "scale": g.pick(None, 0.3)}, outputs=2)


@makers(MICROSOFT, "CausalConvWithState")
@in_float16(0, 1, 2, 3)
def runtime_causal_conv(g, op):
    b, s, width, dilation, last = g.int(1, 2), g.int(1, 5), g.int(1, 4), g.int(1, 3), g.chance()
    channels = [g.int(1, 3) for _ in range(g.int(1, 2) if last else 1)]
    whole, before = int(np.prod(channels)), (width - 1) * dilation
    dims, state = ([b, s] + channels, [b, before] + channels) if last else ([b] + channels + [s], [b] + channels + [before])
    inputs = [normal(g, dims), normal(g, [whole, 1, width]), normal(g, [whole]) if g.chance() else None, normal(g, state) if g.chance() else None]
    return microsoft(op, inputs, {"dilation": dilation if dilation > 1 or g.chance() else None, "channels_last": 1 if last else None,
                                  "activation": g.pick(None, "silu", "swish", "none")}, outputs=2)
