"""A decoder of GPT-2 small's shape with a cache of keys and values, random weights, as an exporter writes it:

    python3 bench/decoder_model.py FILE.onnx [--layers 12] [--width 768] [--heads 12] [--words 50257] [--generate GreedySearch|BeamSearch]

Inputs: input_ids and position_ids [batch, tokens], past.L.key and past.L.value [batch, heads, past, size]. Outputs: logits, present.L.*.
With --generate it is the body of that operator of com.microsoft, which goes on from 16 tokens by --tokens more, following --beams beams; beside it
there are its inputs, FILE.npz, for compare_models.py.
"""
import argparse
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Writer:
    def __init__(self):
        self.nodes, self.weights, self.random = [], [], np.random.default_rng(1)

    def weight(self, name, array):
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def draw(self, name, *dims):
        return self.weight(name, (self.random.standard_normal(dims) * 0.02).astype(np.float32))

    def number(self, name, value, dtype=np.float32):
        return self.weight(name, np.array(value, dtype))

    def op(self, kind, inputs, name, outputs=None, **attributes):
        outputs = outputs or [name]
        self.nodes.append(helper.make_node(kind, inputs, outputs, name=name, **attributes))
        return outputs[0]

    def norm(self, x, name, width):
        scale = self.weight(f"{name}.weight", np.ones(width, np.float32))
        bias = self.weight(f"{name}.bias", np.zeros(width, np.float32))
        return self.op("LayerNormalization", [x, scale, bias], name, axis=-1, epsilon=1e-5)

    def dense(self, x, name, rows, columns):
        product = self.op("MatMul", [x, self.draw(f"{name}.weight", rows, columns)], f"{name}.product")
        return self.op("Add", [product, self.draw(f"{name}.bias", columns)], name)


def attention(w, x, name, layer, width, heads):
    size = width // heads
    qkv = w.dense(x, f"{name}.c_attn", width, 3 * width)
    parts = [f"{name}.{p}" for p in "qkv"]
    w.op("Split", [qkv, w.weight(f"{name}.sizes", np.array([width] * 3))], f"{name}.split", parts, axis=2)
    cut = w.weight(f"{name}.cut", np.array([0, 0, heads, size]))
    q, k, v = [w.op("Transpose", [w.op("Reshape", [p, cut], f"{p}.cut")], f"{p}.heads", perm=[0, 2, 1, 3]) for p in parts]
    k = w.op("Concat", [f"past.{layer}.key", k], f"present.{layer}.key", axis=2)
    v = w.op("Concat", [f"past.{layer}.value", v], f"present.{layer}.value", axis=2)
    scores = w.op("MatMul", [q, w.op("Transpose", [k], f"{name}.k.turned", perm=[0, 1, 3, 2])], f"{name}.scores")
    scores = w.op("Div", [scores, w.number(f"{name}.root", np.sqrt(size))], f"{name}.scaled")
    y = w.op("MatMul", [w.op("Softmax", [scores], f"{name}.softmax", axis=-1), v], f"{name}.context")
    y = w.op("Transpose", [y], f"{name}.turned", perm=[0, 2, 1, 3])
    y = w.op("Reshape", [y, w.weight(f"{name}.joined", np.array([0, 0, width]))], f"{name}.merged")
    return w.dense(y, f"{name}.c_proj", width, width)


def feed_forward(w, x, name, width):
    h = w.dense(x, f"{name}.c_fc", width, 4 * width)
    cube = w.op("Pow", [h, w.number(f"{name}.three", 3.0)], f"{name}.cube")
    inner = w.op("Add", [h, w.op("Mul", [cube, w.number(f"{name}.small", 0.044715)], f"{name}.part")], f"{name}.inner")
    tanh = w.op("Tanh", [w.op("Mul", [inner, w.number(f"{name}.root", np.sqrt(2 / np.pi))], f"{name}.arg")], f"{name}.tanh")
    gate = w.op("Add", [tanh, w.number(f"{name}.one", 1.0)], f"{name}.gate")
    h = w.op("Mul", [w.op("Mul", [h, w.number(f"{name}.half", 0.5)], f"{name}.halved"), gate], f"{name}.gelu")
    return w.dense(h, f"{name}.c_proj", 4 * width, width)


def layers_of(w, layers, width, heads, words):
    """From tokens and places, and each layer's past, to logits and each layer's present."""
    x = w.op("Add", [w.op("Gather", [w.draw("wte", words, width), "input_ids"], "tokens"),
                     w.op("Gather", [w.draw("wpe", 1024, width), "position_ids"], "positions")], "embedding")
    for i in range(layers):
        x = w.op("Add", [attention(w, w.norm(x, f"h.{i}.ln_1", width), f"h.{i}.attn", i, width, heads), x], f"h.{i}.residual")
        x = w.op("Add", [x, feed_forward(w, w.norm(x, f"h.{i}.ln_2", width), f"h.{i}.mlp", width)], f"h.{i}.out")
    w.op("MatMul", [w.norm(x, "ln_f", width), w.op("Transpose", ["wte"], "wte.turned", perm=[1, 0])], "logits")


def decoder(layers, width, heads, words):
    w = Writer()
    layers_of(w, layers, width, heads, words)
    ids = [helper.make_tensor_value_info(n, TensorProto.INT64, ["batch", "tokens"]) for n in ("input_ids", "position_ids")]

    def caches(what, length):
        return [helper.make_tensor_value_info(f"{what}.{i}.{part}", TensorProto.FLOAT, ["batch", heads, length, width // heads])
                for i in range(layers) for part in ("key", "value")]

    logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", "tokens", words])
    graph = helper.make_graph(w.nodes, "decoder", ids + caches("past", "past"), [logits] + caches("present", "total"), w.weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def body(layers, width, heads, words):
    """The decoder as com.microsoft's operators want it: int32, a mask that this one does not need, and a layer's keys and values in one tensor."""
    w, info, size = Writer(), helper.make_tensor_value_info, width // heads
    for i in range(layers):
        for n, part in enumerate(("key", "value")):
            w.op("Gather", [f"past_{i}", w.number(f"past.{i}.{part}.at", n, np.int64)], f"past.{i}.{part}", axis=0)
    layers_of(w, layers, width, heads, words)
    first = w.number("first", [0], np.int64)
    for i in range(layers):
        parts = [w.op("Unsqueeze", [f"present.{i}.{part}", first], f"present.{i}.{part}.one") for part in ("key", "value")]
        w.op("Concat", parts, f"present_{i}", axis=0)
    inputs = [info(n, TensorProto.INT32, ["batch", "tokens"]) for n in ("input_ids", "position_ids")]
    inputs.append(info("attention_mask", TensorProto.INT32, ["batch", "total"]))
    inputs += [info(f"past_{i}", TensorProto.FLOAT, [2, "batch", heads, "past", size]) for i in range(layers)]
    outputs = [info("logits", TensorProto.FLOAT, ["batch", "tokens", words])]
    outputs += [info(f"present_{i}", TensorProto.FLOAT, [2, "batch", heads, "total", size]) for i in range(layers)]
    return helper.make_graph(w.nodes, "decoder", inputs, outputs, w.weights)


def generator(op, tokens, beams, graph):
    """No sequence ends before the last token."""
    w, prompt = Writer(), 16
    inputs = ["prompt", w.number("max_length", [prompt + tokens], np.int32), w.number("min_length", [prompt + tokens - 1], np.int32)]
    shape = [1, prompt + tokens]
    if op == "BeamSearch":
        inputs += [w.number("num_beams", [beams], np.int32), w.number("num_return_sequences", [1], np.int32), w.number("length_penalty", [1])]
        shape.insert(1, 1)
    w.op(op, inputs, "sequences", domain="com.microsoft", decoder=graph, eos_token_id=0, pad_token_id=0)
    ports = [helper.make_tensor_value_info(n, TensorProto.INT32, dims) for n, dims in (("prompt", [1, prompt]), ("sequences", shape))]
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(helper.make_graph(w.nodes, "generator", ports[:1], ports[1:], w.weights), opset_imports=opsets, ir_version=8), {
        "prompt": np.arange(1, prompt + 1, dtype=np.int32)[None]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--heads", type=int, default=12)
    parser.add_argument("--words", type=int, default=50257)
    parser.add_argument("--generate", choices=["GreedySearch", "BeamSearch"])
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--beams", type=int, default=4)
    options = parser.parse_args()
    sizes = options.layers, options.width, options.heads, options.words
    if not options.generate:
        onnx.save(decoder(*sizes), options.file)
        return
    model, inputs = generator(options.generate, options.tokens, options.beams, body(*sizes))
    onnx.save(model, options.file)
    np.savez(pathlib.Path(options.file).with_suffix(".npz"), **inputs)


if __name__ == "__main__":
    main()
