"""Random nodes of com.microsoft's MoE and QMoE, CDist, CropAndResize and Tokenizer, for against_runtime.py."""
import numpy as np

from random_language import MICROSOFT, makers, microsoft, normal
from random_nodes import F32, I32


def routing(g):
    """Sizes, and attributes of both operators."""
    tokens, experts, hidden, inner = g.int(1, 6), g.int(2, 9), 8 * g.int(1, 2), 8 * g.int(1, 2)
    attributes = {"k": g.int(1, min(3, experts)), "activation_type": g.pick("relu", "gelu", "silu", "identity", "swiglu"),
                  "normalize_routing_weights": g.pick(None, 1)}
    fused = attributes["activation_type"] == "swiglu"
    if fused:
        attributes |= {"swiglu_fusion": 1, "activation_alpha": g.pick(1.0, 1.702), "activation_beta": g.pick(0.0, 1.0),
                       "swiglu_limit": g.pick(0.5, 7.0)}
    return tokens, experts, hidden, inner, inner * 2 if fused else inner, attributes


def tokens_of(g, tokens, hidden):
    return normal(g, [tokens, hidden] if g.chance() else [1, tokens, hidden])


@makers(MICROSOFT, "MoE")
def moe(g, op):
    tokens, experts, hidden, inner, first, attributes = routing(g)
    inputs = [tokens_of(g, tokens, hidden), normal(g, [tokens, experts]), normal(g, [experts, first, hidden]),
              normal(g, [experts, first]) if g.chance() else None, normal(g, [experts, hidden, inner]),
              normal(g, [experts, hidden]) if g.chance() else None]
    return microsoft(op, inputs, attributes)


@makers(MICROSOFT, "QMoE")
def q_moe(g, op):
    tokens, experts, hidden, inner, first, attributes = routing(g)
    bits = g.pick(4, 8)
    attributes |= {"expert_weight_bits": bits, "normalize_routing_weights": 1}  # ONNX Runtime normalises in any case

    def weights(outs, ins):
        packed = g.r.integers(0, 256, [experts, outs, ins * bits // 8]).astype(np.uint8)
        return packed, g.r.uniform(0.01, 0.1, [experts, outs]).astype(F32)

    w1, s1 = weights(first, hidden)
    w2, s2 = weights(hidden, inner)
    inputs = [tokens_of(g, tokens, hidden), normal(g, [tokens, experts]), w1, s1, normal(g, [experts, first]) if g.chance() else None, w2, s2,
              normal(g, [experts, hidden]) if g.chance() else None]
    return microsoft(op, inputs, attributes, constant=(2, 3, 5, 6))


@makers(MICROSOFT, "CDist")
def c_dist(g, op):
    width, of = g.int(1, 40), g.pick(F32, np.float64)
    return microsoft(op, [normal(g, [g.int(1, 9), width]).astype(of), normal(g, [g.int(1, 9), width]).astype(of)],
                     {"metric": g.pick(None, "euclidean", "sqeuclidean")})


@makers(MICROSOFT, "CropAndResize")
def crop_and_resize(g, op):
    n, boxes = g.int(1, 3), g.int(1, 4)
    inputs = [normal(g, [n, g.int(1, 3), g.int(1, 7), g.int(1, 7)]), g.r.uniform(-0.3, 1.3, [boxes, 4]).astype(F32),
              g.r.integers(0, n, [boxes]).astype(I32), np.array([g.int(1, 4), g.int(1, 4)], I32)]
    return microsoft(op, inputs, {"mode": g.pick(None, "nearest"), "extrapolation_value": g.pick(None, 2.5)})


@makers(MICROSOFT, "Tokenizer")
def tokenizer(g, op):
    texts = ["".join(g.r.choice(list("aab, .é漢 "), g.int(0, 9))) for _ in range(6)]
    dims = g.pick([6], [2, 3], [1, 6])
    how = g.pick({"separators": [""]}, {"separators": [" "]}, {"separators": [",", " "]}, {"separators": ["ab", "[.b]"]}, {"separators": ["a+", " +"]},
                 {"tokenexp": "[a-z]+"}, {"tokenexp": "a|ab"}, {"tokenexp": "."})
    return microsoft(op, [np.array(texts, object).reshape(dims)],
                     how | {"mark": g.pick(0, 1), "pad_value": g.pick("#", ""), "mincharnum": 1 if how == {"separators": [""]} else g.int(1, 3)})
