"""Random nodes of recurrent networks, Fourier transforms and Einstein sums, for against_runtime.py."""
import numpy as np

from random_language import MICROSOFT, makers, microsoft
from random_nodes import F32, F64, I32, I64, Case, maker

FUNCTIONS = ["Sigmoid", "Tanh", "Relu", "Affine", "LeakyRelu", "ThresholdedRelu", "ScaledTanh", "HardSigmoid", "Elu",
             "Softsign", "Softplus"]
WITH_ALPHA = {"Affine", "LeakyRelu", "ThresholdedRelu", "ScaledTanh", "HardSigmoid", "Elu"}
WITH_BETA = {"Affine", "ScaledTanh", "HardSigmoid"}
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
ACTIVATIONS = {"RNN": 1, "GRU": 2, "LSTM": 3}


def weights(g, dims):
    return (g.r.random(dims) - 0.5).astype(F32)


def activations(g, op, directions):
    names = [g.pick(*FUNCTIONS) for _ in range(ACTIVATIONS[op] * directions)]
    alphas = [round(g.r.random() + 0.1, 2) for name in names if name in WITH_ALPHA]
    betas = [round(g.r.random(), 2) for name in names if name in WITH_BETA]
    return {"activations": names, "activation_alpha": alphas or None, "activation_beta": betas or None}


@maker("RNN", "GRU", "LSTM")
def recurrent(g, op):
    direction = g.pick("forward", "reverse", "bidirectional")
    d, n, steps, batch, ins = 2 if direction == "bidirectional" else 1, g.pick(1, 3, 16, 17, g.int(1, 40)), g.int(1, 6), g.size(), g.size()
    gates, first = GATES[op] * n, d
    inputs = [weights(g, [steps, batch, ins]), weights(g, [d, gates, ins]), weights(g, [d, gates, n])]
    inputs.append(weights(g, [first, 2 * gates]) if g.chance(0.7) else None)
    inputs.append(g.r.integers(1, steps + 1, batch).astype(I32) if g.chance(0.4) else None)
    inputs.append(weights(g, [d, batch, n]) if g.chance() else None)
    if op == "LSTM":
        inputs.append(weights(g, [d, batch, n]) if g.chance() else None)
        inputs.append(weights(g, [d, 3 * n]) if g.chance(0.4) else None)
    while inputs[-1] is None:
        inputs.pop()
    attributes = {"hidden_size": n, "direction": direction, "clip": g.pick(None, None, 0.5)}
    if g.chance(0.4):
        attributes.update(activations(g, op, d))
    if op == "GRU":
        attributes["linear_before_reset"] = g.int(0, 1)
    if op == "LSTM" and g.chance(0.2):
        attributes["input_forget"] = 1
    return Case(op, inputs, attributes, 3 if op == "LSTM" else 2, g.opset(), {i for i in (1, 2, 3) if g.chance()})


@makers(MICROSOFT, "AttnLSTM")
def attention_lstm(g, op):
    direction = g.pick("forward", "reverse", "bidirectional")
    d, n, steps, batch, ins = 2 if direction == "bidirectional" else 1, g.pick(1, 3, 16, 17, g.int(1, 40)), g.int(1, 6), g.int(1, 4), g.int(1, 6)
    places, depth, score, layer = g.int(1, 6), g.int(1, 6), g.int(1, 6), g.pick(None, g.int(1, 6))
    inputs = [weights(g, [steps, batch, ins]), weights(g, [d, 4 * n, ins + (layer or depth)]), weights(g, [d, 4 * n, n])]
    inputs.append(weights(g, [d, 8 * n]) if g.chance(0.7) else None)
    inputs.append(g.r.integers(1, steps + 1, batch).astype(I32) if g.chance(0.4) else None)
    inputs += [weights(g, [d, batch, n]) if g.chance() else None for _ in range(2)]
    inputs.append(weights(g, [d, 3 * n]) if g.chance(0.4) else None)
    inputs += [weights(g, [d, n, score]), weights(g, [d, depth, score]), 4 * weights(g, [d, score]), weights(g, [batch, places, depth])]
    inputs.append(g.r.integers(1, places + 1, batch).astype(I32) if g.chance(0.4) else None)
    inputs.append(weights(g, [d, depth + n, layer]) if layer else None)
    attributes = {"hidden_size": n, "direction": direction, "clip": g.pick(None, None, 0.5), "input_forget": g.pick(None, None, 1)}
    if g.chance(0.4):
        attributes.update(activations(g, "LSTM", d))
    return microsoft(op, inputs, attributes, 3, {i for i in (1, 2, 3) if g.chance()})


@makers(MICROSOFT, "WordConvEmbedding")
def word_conv_embedding(g, op):
    words, most, width, filters, size, characters = g.int(1, 5), g.int(3, 9), g.int(1, 3), g.int(1, 9), g.int(1, 6), g.int(2, 9)
    letters = np.zeros([words, most], I32)
    for row in letters:
        n = g.int(1, most)
        row[:n] = g.r.integers(1, characters, n)
    return microsoft(op, [letters, weights(g, [filters, 1, width, size]), weights(g, [filters]), weights(g, [characters, size])],
                     {"embedding_size": g.pick(None, filters), "conv_window_size": g.pick(None, width), "char_embedding_size": g.pick(None, size)})


@maker("DFT")
def dft(g, op):
    opset, inverse, onesided = g.pick(17, 20), g.chance(0.4), g.chance(0.4)
    dims = g.dims(1, 3)
    axis = g.int(0, len(dims) - 1)
    dims[axis] = g.pick(g.int(1, 20), g.int(1, 70), 64)
    x = g.values([*dims, 1 if onesided or g.chance(0.3) else 2], g.pick(F32, F64))
    length = np.array(g.int(1, 70), g.pick(I32, I64)) if g.chance(0.4) else None
    attributes = {"inverse": int(inverse and not onesided), "onesided": int(onesided)}
    if opset == 17:
        return Case(op, [x] + ([] if length is None else [length]), {**attributes, "axis": axis}, opset=17, constant={1})
    return Case(op, [x, length, np.array(axis, I64)], attributes, opset=20, constant={1, 2})


@maker("STFT")
def stft(g, op):
    dtype, length, onesided = g.pick(F32, F64), g.int(1, 40), g.chance()
    x = g.values([g.size(), length + g.int(0, 50), 1 if onesided or g.chance() else 2], dtype)
    window = g.values([length], dtype) if g.chance(0.6) else None
    size = np.array(length, I64) if window is None or g.chance() else None
    inputs = [x, np.array(g.int(1, 9), I64), window] + ([] if size is None else [size])
    return Case(op, inputs, {"onesided": int(onesided)}, opset=17, constant={1, 3})


@maker("Einsum")
def einsum(g, op):
    letters = list("abcdeF")[: g.int(1, 6)]
    sizes = {c: g.size() for c in letters}
    dots = g.dims(1, 2) if g.chance(0.3) else None
    dtype, terms, inputs = g.pick(F32, F32, F64, I32, I64), [], []
    for _ in range(g.int(1, 3)):
        term = [g.pick(*letters) if g.chance(0.1) else c for c in letters if g.chance(0.6)]
        dims, text = [sizes[c] for c in term], "".join(term)
        if dots is not None:
            dims, text = g.broadcastable(dots) + dims, "..." + text
        if not dims:
            dims, text = [sizes[letters[0]]], letters[0]
        terms.append(text)
        inputs.append(g.values(dims, dtype))
    equation = ",".join(terms)
    if g.chance(0.7):
        used = [c for c in letters if c in equation and g.chance(0.6)]
        g.r.shuffle(used)
        equation += "->" + ("..." if dots is not None else "") + "".join(used)
    return Case(op, inputs, {"equation": equation}, opset=g.opset(12))
