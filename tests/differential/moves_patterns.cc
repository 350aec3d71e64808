#include <cmath>

#include "engine/graph/builder.h"
#include "tests/differential/moves.h"
#include "tests/support/random_tensor.h"

namespace svengine::differential {
namespace {

Attributes last_axis(GraphMaker& m, double usual = 0.85) {
  return make_attributes({{"axis", m.choose.chance(usual) ? int64_t{-1} : int64_t{0}}});
}

Value* matrix(GraphMaker& m) { return m.real_of_rank(static_cast<size_t>(m.choose.between(1, 4))); }

/// A dense layer with weights as PyTorch writes them, or not, and perhaps an activation.
Value* dense_layer(GraphMaker& m, Value* x, int64_t outputs, const char* activation) {
  const int64_t inputs = m.dims(x).back();
  Value* y = nullptr;
  if (m.choose.chance(0.7))
    y = m.add("Gemm", {x, m.weight({outputs, inputs}), m.weight({outputs})}, make_attributes({{"transB", int64_t{1}}}));
  else
    y = m.add("MatMul", {x, m.weight({inputs, outputs})});
  return y && activation ? m.add(activation, {y}) : y;
}

/// Mean over the last axis, in one of the ways that exporters write it.
Value* mean(GraphMaker& m, Value* x) {
  return m.add("ReduceMean", {x, m.integers({m.choose.chance(0.9) ? -1 : 0})}, make_attributes({{"keepdims", int64_t{1}}}));
}

Value* square(GraphMaker& m, Value* x) {
  switch (m.choose.below(3)) {
    case 0:
      return m.add("Mul", {x, x});
    case 1:
      return m.add("Pow", {x, m.scalar(m.choose.chance(0.9) ? 2.0f : 3.0f)});
    default:
      return m.add("Mul", {x, m.choose.chance(0.9) ? x : m.real_of(m.dims(x))});
  }
}

/// One of Q, K, V as [batch, heads, length, size]: given so, or cut out of [batch, length, heads * size].
Value* heads_of(GraphMaker& m, const Dims& dims, bool from_rows) {
  if (!from_rows) return m.real_of(dims);
  Value* rows = m.real_of({dims[0], dims[2], dims[1] * dims[3]});
  Value* cut = m.add("Reshape", {rows, m.integers({dims[0], dims[2], dims[1], dims[3]})});
  return m.add("Transpose", {cut}, make_attributes({{"perm", std::vector<int64_t>{0, 2, 1, 3}}}));
}

Value* scaled(GraphMaker& m, Value* scores, float size) {
  if (!scores || m.choose.chance(0.2)) return scores;
  const float factor = 1 / std::sqrt(size);
  if (m.choose.chance(0.5)) return m.add("Mul", {scores, m.scalar(factor)});
  return m.add("Div", {scores, m.choose.chance(0.8) ? m.scalar(1 / factor) : m.real_of(m.broadcast_of(m.dims(scores)))});
}

}  // namespace

void add_product(GraphMaker& m) {
  Value* a = matrix(m);
  const Dims dims = m.dims(a);
  const int64_t k = dims.empty() ? 1 : dims.back(), n = m.size();
  Value* b = nullptr;
  if (m.choose.chance(0.7))
    b = m.choose.chance(0.8) ? m.weight({k, n}) : m.leaf(m.real(), {k, n});
  else if (m.choose.chance(0.2))
    b = m.real_of({k});
  else if (dims.size() > 2)
    b = m.real_of([&] {
      Dims d = m.broadcast_of(Dims(dims.begin(), dims.end() - 2));
      d.push_back(k), d.push_back(n);
      return d;
    }());
  else
    b = m.leaf(m.real(), {m.size(), k, n});
  Value* y = nullptr;
  if (dims.size() == 2 && m.choose.chance(0.35)) {
    Attributes attributes;
    if (m.choose.chance(0.3)) attributes.set("alpha", 0.5f);
    if (m.choose.chance(0.3)) attributes.set("beta", m.choose.of({0.0f, 2.0f}));
    if (m.choose.chance(0.3)) attributes.set("transB", int64_t{1}), b = m.weight({n, k});
    std::vector<Value*> inputs{a, b};
    if (m.choose.chance(0.7)) inputs.push_back(m.real_of(m.broadcast_of({dims[0], n})));
    y = m.add("Gemm", inputs, attributes);
  } else {
    if (m.choose.chance(0.15) && dims.size() >= 2) a = m.add("Transpose", {a});
    y = m.add("MatMul", {a, b});
  }
  if (!y) return;
  if (m.choose.chance(0.5)) y = m.add("Add", {y, m.choose.chance(0.5) ? m.weight({n}) : m.real_of(m.broadcast_of(m.dims(y)))});
  if (y && m.choose.chance(0.2)) y = m.add("Mul", {y, m.scalar(0.5f)});
  if (y && m.choose.chance(0.2)) y = m.add("Add", {y, m.real_of(m.dims(y))});
  if (y && m.choose.chance(0.5)) m.add(m.choose.of<const char*>({"Relu", "Gelu", "Tanh", "Sigmoid", "HardSwish", "Erf"}), {y});
}

/// Layers one after the other, of rows enough for pass dense_chain or a few too little; sometimes branches that a Concat joins.
void add_dense_layers(GraphMaker& m) {
  Value* x = m.leaf(m.real(), {m.choose.between(30, 70), m.size()});
  const char* activation = m.choose.of<const char*>({nullptr, "Relu", "Tanh", "Sigmoid", "LeakyRelu"});
  for (int64_t layers = m.choose.between(0, 3); x && layers > 0; --layers) x = dense_layer(m, x, m.size(), activation);
  if (!x || m.choose.chance(0.5)) return;
  std::vector<Value*> parts;
  const int64_t hidden = m.size(), outputs = m.choose.between(1, 3), depth = m.choose.between(1, 2);
  for (int64_t branches = m.choose.between(2, 5); branches > 0; --branches) {
    Value* part = depth == 2 ? dense_layer(m, x, hidden, activation) : x;
    if (part) part = dense_layer(m, part, outputs, m.choose.chance(0.1) ? "Relu" : nullptr);
    if (!part) return;
    parts.push_back(part);
  }
  m.add("Concat", parts, make_attributes({{"axis", int64_t{1}}}));
}

void add_layer_norm(GraphMaker& m) {
  Value* x = m.real_of_rank(static_cast<size_t>(m.choose.between(2, 4)));
  const int64_t n = m.dims(x).back();
  if (m.choose.chance(0.25)) {
    const Attributes axis = last_axis(m, 0.95);
    m.add("LayerNormalization", {x, m.weight({n}), m.choose.chance(0.7) ? m.weight({n}) : nullptr}, axis);
    return;
  }
  Value* centred = m.add("Sub", {x, mean(m, x)});
  if (!centred) return;
  Value* variance = mean(m, square(m, m.choose.chance(0.9) ? centred : x));
  if (!variance) return;
  Value* epsilon = m.choose.chance(0.9) ? m.scalar(1e-5f) : m.leaf(m.real(), {n}, 0.1, 1);
  Value* deviation = m.add("Sqrt", {m.add("Add", {variance, epsilon})});
  if (!deviation) return;
  Value* y =
      m.choose.chance(0.7) ? m.add("Div", {centred, deviation}) : m.add("Mul", {centred, m.add("Reciprocal", {deviation})});
  const auto parameter = [&] { return m.choose.chance(0.8) ? m.weight({n}) : m.real_of(m.broadcast_of(m.dims(x))); };
  if (y && m.choose.chance(0.85)) y = m.add("Mul", {y, parameter()});
  if (y && m.choose.chance(0.85)) m.add("Add", {y, parameter()});
}

void add_gelu(GraphMaker& m) {
  Value* x = matrix(m);
  const float root = m.choose.chance(0.9) ? std::sqrt(2.0f) : 1.5f, half = m.choose.chance(0.9) ? 0.5f : 0.4f;
  if (m.choose.chance(0.4)) {  // by tanh
    Value* inner = m.add("Add", {x, m.add("Mul", {m.add("Pow", {x, m.scalar(3)}), m.scalar(0.044715f)})});
    Value* t = m.add("Tanh", {m.add("Mul", {inner, m.scalar(0.7978845608f)})});
    Value* plus = m.add("Add", {t, m.scalar(1)});
    m.add("Mul", {m.add("Mul", {x, m.scalar(half)}), plus});
    return;
  }
  Value* erf = m.add("Erf", {m.choose.chance(0.5) ? m.add("Div", {x, m.scalar(root)}) : m.add("Mul", {x, m.scalar(1 / root)})});
  Value* plus = m.add("Add", {erf, m.scalar(m.choose.chance(0.95) ? 1.0f : 0.9f)});
  Value* other = m.choose.chance(0.9) ? x : m.real_of(m.broadcast_of(m.dims(x)));
  if (m.choose.chance(0.5))
    m.add("Mul", {m.add("Mul", {other, plus}), m.scalar(half)});
  else
    m.add("Mul", {m.add("Mul", {other, m.scalar(half)}), plus});
}

void add_attention(GraphMaker& m) {
  const int64_t batch = m.choose.between(1, 2), heads = m.choose.between(1, 3), size = m.choose.of<int64_t>({1, 4, 8, 16, 5});
  const int64_t queries = m.choose.between(1, 12), keys = m.choose.chance(0.5) ? queries : m.choose.between(1, 20);
  const bool rows = m.choose.chance(0.5);
  Value* q = heads_of(m, {batch, heads, queries, size}, rows);
  Value* k = heads_of(m, {batch, heads, keys, size}, rows);
  Value* v = keys == queries && m.choose.chance(0.1) ? k : heads_of(m, {batch, heads, keys, size}, rows);
  if (!q || !k || !v) return;
  Value* transposed = m.add("Transpose", {k}, make_attributes({{"perm", std::vector<int64_t>{0, 1, 3, 2}}}));
  if (!transposed) return;
  if (m.choose.chance(0.2)) q = m.add("Mul", {q, m.scalar(0.3f)});
  Value* scores = scaled(m, m.add("MatMul", {q, transposed}), static_cast<float>(size));
  if (scores && m.choose.chance(0.5)) {
    const Dims mask = m.choose.chance(0.6) ? Dims{m.choose.chance(0.5) ? batch : 1, 1, m.choose.chance(0.5) ? queries : 1, keys}
                                           : m.broadcast_of(m.dims(scores));
    scores = m.add("Add", {scores, m.leaf(m.real(), mask, -4, 0)});
  }
  Value* weights = m.add("Softmax", {scores}, last_axis(m, 0.95));
  Value* out = m.add("MatMul", {weights, v});
  if (!out || !rows || m.choose.chance(0.3)) return;
  Value* back = m.add("Transpose", {out}, make_attributes({{"perm", std::vector<int64_t>{0, 2, 1, 3}}}));
  m.add("Reshape", {back, m.integers({batch, queries, heads * size})});
}

namespace {

DType byte_type(GraphMaker& m) { return m.choose.chance(0.5) ? DType::u8 : DType::i8; }

/// Any byte, mostly known.
Value* byte_number(GraphMaker& m, DType type) {
  const double low = type == DType::u8 ? 0 : -128;
  if (m.choose.chance(0.1)) return m.leaf(type, {}, low, low + 256);
  return m.constant(tests::random_tensor_of(type, {}, static_cast<uint64_t>(m.choose.between(1, 999)), low, low + 256));
}

/// Mostly by one known number.
Value* parameter(GraphMaker& m) {
  if (m.choose.chance(0.1)) return m.leaf(DType::f32, m.choose.chance(0.5) ? Dims{1} : Dims{}, 0.01, 0.2);
  return m.constant(Tensor::scalar(static_cast<float>(m.choose.uniform(0.005, 0.1))));
}

Value* as_real(GraphMaker& m, Value* bytes) { return m.add("DequantizeLinear", {bytes, parameter(m), byte_number(m, bytes->type.dtype)}); }

Value* some_function(GraphMaker& m, Value* x, Value* other) {
  if (m.choose.chance(0.5))
    return m.add(m.choose.of<const char*>({"Sigmoid", "Tanh", "HardSwish", "Relu", "LeakyRelu", "Exp", "Log", "Abs", "Softplus"}), {x});
  const char* op = m.choose.of<const char*>({"Add", "Mul", "Sub", "Max", "Min"});  // no quotients: the sign of a zero is not settled
  if (m.choose.chance(0.4)) return m.add(op, {x, other});
  return m.add(
      op, {x, m.choose.chance(0.8) ? m.constant(Tensor::scalar(static_cast<float>(m.choose.between(-2, 3)))) : m.real_of(m.broadcast_of(m.dims(x)))});
}

}  // namespace

void add_byte_function(GraphMaker& m) {
  const auto is_bytes = [&](const Value& v) { return (v.type.dtype == DType::u8 || v.type.dtype == DType::i8) && !m.dims(&v).empty(); };
  Value* bytes = m.choose.chance(0.4) ? m.existing(is_bytes) : nullptr;
  if (!bytes) {
    const DType type = byte_type(m);
    bytes = m.leaf(type, {m.size(), m.choose.between(1, 90)}, type == DType::u8 ? 0 : -128, type == DType::u8 ? 256 : 128);
  }
  Value* first = as_real(m, bytes);
  Value* x = first;
  for (int64_t i = m.choose.between(0, 4); x && i > 0; --i) {
    x = some_function(m, x, m.choose.chance(0.8) ? first : as_real(m, bytes));
    if (x && m.choose.chance(0.2))
      if (Value* between = m.add("QuantizeLinear", {x, parameter(m), byte_number(m, byte_type(m))})) x = as_real(m, between);
  }
  if (x) m.add("QuantizeLinear", {x, parameter(m), byte_number(m, byte_type(m))});
}

}  // namespace svengine::differential
