"""Random nodes of com.microsoft's operators that generate text, around small language models, for against_runtime.py.

The models are of one layer: what a token becomes is a table's row; its keys and values are that, cut into heads; a token looks at the sum of
what it may look at. That is enough for every input of a body to matter.
"""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

from random_language import MICROSOFT, makers, microsoft, normal
from random_nodes import F32, I32, I64

FLOAT, INT32 = TensorProto.FLOAT, TensorProto.INT32
PLACES = 40


class Body:
    """A graph that is built node by node."""

    def __init__(self, g, heads, size, vocabulary):
        self.g, self.heads, self.size, self.vocabulary = g, heads, size, vocabulary
        self.nodes, self.constants, self.inputs, self.outputs = [], [], [], []

    def input(self, name, kind, dims):
        self.inputs.append(helper.make_tensor_value_info(name, kind, dims))
        return name

    def output(self, name, kind, dims):
        self.outputs.append(helper.make_tensor_value_info(name, kind, dims))

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def add(self, op, *inputs, name=None, **attributes):
        name = name or f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], **attributes))
        return name

    def axes(self, *values):
        return self.constant(np.array(values, I64))

    def rows(self, tokens, count):
        return self.add("Gather", self.constant(normal(self.g, [count, self.heads * self.size])), tokens)

    def in_heads(self, x, scale=1.0, name=None):
        """[B, S, heads * size] to [B, heads, S, size]."""
        cut = self.add("Reshape", x, self.axes(0, 0, self.heads, self.size))
        turned = self.add("Transpose", cut, perm=[0, 2, 1, 3])
        return self.add("Mul", turned, self.constant(np.array(scale, F32)), name=name)

    def logits(self, x, context, name):
        """x [B, S, heads * size]; context [B, heads, size]."""
        flat = self.add("Reshape", context, self.axes(0, 1, self.heads * self.size))
        h = self.add("Add", x, self.add("Tanh", flat))
        return self.add("MatMul", h, self.constant(normal(self.g, [self.heads * self.size, self.vocabulary])), name=name)

    def graph(self, name):
        return helper.make_graph(self.nodes, name, self.inputs, self.outputs, self.constants)


def behind_past(b, past, new, axis, used, name):
    """The present, and of it what is there: all of it, or in a whole cache the first positions, of which the past has so many."""
    if not used:
        return b.add("Concat", past, new, name=name, axis=axis)
    first = b.add("Cast", used, to=TensorProto.INT64)
    end = b.add("Add", first, b.add("Shape", new, start=axis, end=axis + 1))
    before = b.add("Slice", past, b.axes(0), first, b.axes(axis))
    behind = b.add("Slice", past, end, b.add("Shape", past, start=axis, end=axis + 1), b.axes(axis))
    return b.add("Slice", b.add("Concat", before, new, behind, name=name, axis=axis), b.axes(0), end, b.axes(axis))


def gpt(g, heads, size, vocabulary, whole_caches=False):
    """`whole_caches`: the past is a buffer of all positions, into which those of this step are written."""
    b = Body(g, heads, size, vocabulary)
    ids = b.input("input_ids", INT32, ["batch", "sequence"])
    positions = b.input("position_ids", INT32, ["batch", "sequence"])
    mask = b.input("attention_mask", INT32, ["batch", "total"])
    past = b.input("past_0", FLOAT, [2, "batch", heads, "past", size])
    x = b.add("Add", b.rows(ids, vocabulary), b.rows(positions, PLACES))
    pair = b.add("Concat", b.add("Unsqueeze", b.in_heads(x), b.axes(0)), b.add("Unsqueeze", b.in_heads(x, -0.7), b.axes(0)), axis=0)
    used = b.input("past_sequence_length", INT32, [1]) if whole_caches else None
    present = behind_past(b, past, pair, 3, used, "present_0")
    there = b.add("Unsqueeze", b.add("Cast", mask, to=FLOAT), b.axes(0, 2, 4))
    seen = b.add("ReduceSum", b.add("Mul", present, there), b.axes(0, 3), keepdims=0)
    b.logits(x, seen, "logits")
    b.output("logits", FLOAT, ["batch", "sequence", vocabulary])
    b.output("present_0", FLOAT, [2, "batch", heads, "total", size])
    return b.graph("decoder")


def self_attention(b, x, pasts, names):
    key = b.in_heads(x, name=None if pasts else names[0])
    value = b.in_heads(x, -0.6, name=None if pasts else names[1])
    if pasts:
        key, value = (behind_past(b, p, new, 2, None, n) for p, new, n in zip(pasts, (key, value), names))
    for n in names:
        b.output(n, FLOAT, ["batch", b.heads, "total", b.size])
    return b.add("ReduceSum", b.add("Add", key, b.add("Mul", value, value)), b.axes(2), keepdims=0)


def cross_attention(b, keys, values, mask):
    both = b.add("Sub", keys, b.add("Mul", values, b.constant(np.array(0.5, F32))))
    if mask:
        both = b.add("Mul", both, b.add("Unsqueeze", b.add("Cast", mask, to=FLOAT), b.axes(1, 3)))
    return b.add("ReduceSum", both, b.axes(2), keepdims=0)


def encoder(g, heads, size, vocabulary, speech, takes_step):
    b = Body(g, heads, size, vocabulary)
    if speech:
        features = b.input("encoder_input_ids", FLOAT, ["batch", 3, "source"])
        hidden = b.add("MatMul", b.add("Transpose", features, perm=[0, 2, 1]), b.constant(normal(g, [3, heads * size])))
        mask = None
    else:
        hidden = b.rows(b.input("encoder_input_ids", INT32, ["batch", "source"]), vocabulary)
        mask = b.input("encoder_attention_mask", INT32, ["batch", "source"])
        # Every input of a body has to be read for ONNX Runtime to keep it.
        hidden = b.add("Mul", hidden, b.add("Unsqueeze", b.add("Cast", mask, to=FLOAT), b.axes(2)))
    cross = [b.in_heads(hidden, name="present_key_cross_0"), b.in_heads(hidden, 1.5, name="present_value_cross_0")]
    if takes_step:
        x = b.rows(b.input("decoder_input_ids", INT32, ["batch", "begin"]), vocabulary)
        b.add("Identity", hidden, name="encoder_hidden_states")
        b.output("logits", FLOAT, ["batch", "begin", vocabulary])
        b.output("encoder_hidden_states", FLOAT, ["batch", "source", heads * size])
        own = self_attention(b, x, None, ["present_key_self_0", "present_value_self_0"])
        b.logits(x, b.add("Add", own, cross_attention(b, *cross, mask)), "logits")
    for n in ("present_key_cross_0", "present_value_cross_0"):
        b.output(n, FLOAT, ["batch", heads, "source", size])
    return b.graph("encoder")


def decoder(g, heads, size, vocabulary, speech, has_states):
    """Not with whole caches: ONNX Runtime's kernel for processors tells such a decoder of encoder-decoders that 1 position is used, in every step."""
    b = Body(g, heads, size, vocabulary)
    x = b.rows(b.input("input_ids", INT32, ["batch", 1]), vocabulary)
    mask = None if speech else b.input("encoder_attention_mask", INT32, ["batch", "source"])
    states = b.input("encoder_hidden_states", FLOAT, ["batch", "source", heads * size]) if has_states else None
    pasts = [b.input(n, FLOAT, ["batch", heads, "past", size]) for n in ("past_key_self_0", "past_value_self_0")]
    cross = [b.input(n, FLOAT, ["batch", heads, "source", size]) for n in ("past_key_cross_0", "past_value_cross_0")]
    b.output("logits", FLOAT, ["batch", 1, vocabulary])
    own = self_attention(b, x, pasts, ["present_key_self_0", "present_value_self_0"])
    seen = b.add("Add", own, cross_attention(b, *cross, mask))
    if states:
        summed = b.add("ReduceSum", states, b.axes(1), keepdims=0)
        seen = b.add("Add", seen, b.add("Mul", b.add("Reshape", summed, b.axes(0, heads, size)), b.constant(np.array(0.0, F32))))
    b.logits(x, seen, "logits")
    return b.graph("decoder")


class Settings:
    """What all nodes have: sizes, tokens, and inputs that are there now and then."""

    def __init__(self, g):
        self.batch, self.length, self.heads, self.size = g.int(1, 3), g.int(1, 4), g.int(1, 2), g.int(1, 4)
        self.vocabulary = g.int(3, 12)
        self.pad, self.end = g.int(0, self.vocabulary - 1), g.int(0, self.vocabulary - 1)
        self.attributes = {"eos_token_id": self.end, "pad_token_id": self.pad, "no_repeat_ngram_size": g.pick(None, None, 1, 2, 3)}

    def tokens(self, g, length):
        ids = g.r.integers(0, self.vocabulary, [self.batch, length]).astype(I32)
        if g.chance():
            ids[:, : g.int(0, length - 1)] = self.pad
        return ids

    def mask(self, g, dims):
        return (g.r.random(dims) < 0.8).astype(I32)


def one(value, dtype=I32):
    return np.array([value], dtype)


@makers(MICROSOFT, "GreedySearch", "Sampling")
def greedy(g, op):
    s = Settings(g)
    most = s.length + g.int(1, 8)
    inputs = [s.tokens(g, s.length), one(most), g.pick(None, one(g.int(0, most - 1))), g.pick(None, one(1.3, F32)),
              g.pick(None, s.mask(g, [s.vocabulary])), g.pick(None, s.mask(g, [s.batch, s.vocabulary])), g.pick(None, s.mask(g, [s.batch, s.length]))]
    attributes = dict(s.attributes, decoder=gpt(g, s.heads, s.size, s.vocabulary, g.chance(0.3)))
    if g.chance(0.3):
        attributes["init_decoder"] = gpt(g, s.heads, s.size, s.vocabulary, len(attributes["decoder"].input) == 5)
    if op == "GreedySearch":
        return some_go_on(microsoft(op, inputs, attributes), s)
    inputs += [g.pick(None, s.mask(g, [s.batch, s.vocabulary])), one(g.int(0, 1000))]
    attributes |= {"temperature": g.pick(None, 0.7, 2.0), "top_p": g.pick(None, 0.3, 0.9), "custom": g.pick(None, 1), "presence_penalty": g.pick(None, 0.4),
                   "min_tokens_to_keep": g.pick(None, 1, 2), "filter_value": g.pick(None, -50.0)}
    return some_go_on(microsoft(op, inputs, attributes), s)  # it makes no filtered_logits


def some_go_on(case, s):
    """Behind the last token of all sequences is whatever lay in ONNX Runtime's memory."""
    case.is_defined = lambda outputs: not (outputs[0][:, s.length:-1] == s.pad).all(axis=0).any()
    return case


def beams(g, s, begin):
    most, count = begin + g.int(1, 8), g.int(1, 4)
    least = g.pick(0, g.int(0, most - 1), most - 1)  # ONNX Runtime refuses nodes without min_length or length_penalty
    inputs = [None, one(most), one(least), one(count), one(g.int(1, count)), one(g.pick(1.0, 0.6, 2.0), F32),
              g.pick(None, one(1.3, F32)), g.pick(None, s.mask(g, [s.vocabulary])), g.pick(None, s.mask(g, [s.batch, s.vocabulary]))]
    # Scores of steps that are not made are whatever lay in ONNX Runtime's memory.
    outputs = 3 if least == most - 1 and g.chance() else 2
    return inputs, outputs


def stopping(g, s):
    """Without early_stopping ONNX Runtime compares what has ended of one prompt with what goes on of another."""
    early = s.batch > 1 or g.chance()
    return {"early_stopping": 1} if early else {}


@makers(MICROSOFT, "BeamSearch")
def beam_search(g, op):
    s = Settings(g)
    sizes = (s.heads, s.size, s.vocabulary)
    attributes = s.attributes | stopping(g, s)
    if g.chance():
        inputs, outputs = beams(g, s, s.length)
        attributes["decoder"] = gpt(g, *sizes)
    else:
        inputs, outputs = beams(g, s, 1)
        inputs[1] = inputs[1] + 1
        steps = g.chance(0.7)
        attributes |= {"model_type": 1, "decoder_start_token_id": g.int(0, s.vocabulary - 1), "encoder": encoder(g, *sizes, False, steps),
                       "decoder": decoder(g, *sizes, False, steps and g.chance())}
        outputs = 2
    inputs[0] = s.tokens(g, s.length)
    inputs.append(g.pick(None, s.mask(g, [s.batch, s.length])))
    return microsoft(op, inputs, attributes, outputs)


@makers(MICROSOFT, "BifurcationDetector")
def bifurcation(g, op):
    tokens, length, least = g.int(2, 4), g.int(1, 8), g.int(1, 2)
    first = g.int(0, length)
    draw = lambda count: g.r.integers(0, tokens, count).astype(I64)
    source, predicted = draw(length), draw(length + 1 - first)
    if g.chance():
        predicted[:-1] = source[first:]
    inputs = [source, draw(g.int(1, 4)), np.array([first]), predicted if g.chance(0.7) else None]
    return microsoft(op, inputs, {"min_ngram_size": least, "max_ngram_size": least + g.int(0, 2)}, 2)


@makers(MICROSOFT, "WhisperBeamSearch")
def whisper(g, op):
    s = Settings(g)
    begin, times = g.int(1, 3), g.chance()
    if times:  # tokens: text, end, start, translate, transcribe, start_of_lm, no_timestamps, then timestamps
        s.vocabulary = 20
        s.end = 4
        s.attributes["eos_token_id"] = 4
    sizes = (s.heads, s.size, s.vocabulary)
    inputs, outputs = beams(g, s, begin)
    inputs[1] = inputs[1] + 1
    inputs[0] = normal(g, [s.batch, 3, g.int(1, 4)])
    given = g.r.integers(0, s.vocabulary, [s.batch, begin]).astype(I32)
    if times:
        given[:] = g.pick(5, 7)
    inputs += [None, given, one(1) if times else None, None, None, g.pick(None, one(0.8, F32))]
    attributes = dict(s.attributes, **stopping(g, s), encoder=encoder(g, *sizes, True, True), decoder=decoder(g, *sizes, True, g.chance()),
                      decoder_start_token_id=5, model_type=2)
    if times:
        attributes |= {"translate_token_id": 6, "transcribe_token_id": 7, "start_of_lm_token_id": 8, "no_timestamps_token_id": 9,
                       "beginning_timestamp_token_id": 10}
    return microsoft(op, inputs, attributes, 2)
