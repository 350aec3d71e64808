#include "engine/graph/passes/quantized.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "engine/graph/passes/match.h"

namespace svengine {
namespace {

bool is_byte(DType type) { return type == DType::u8 || type == DType::i8; }

float element(const Tensor& floats, int64_t i) {
  float x;
  std::memcpy(&x, floats.raw() + i * 4, 4);
  return x;
}

bool is_finite(const Tensor& floats) {
  for (int64_t i = 0; i < floats.count(); ++i)
    if (!std::isfinite(element(floats, i))) return false;
  return true;
}

/// Quantising by it keeps the order of numbers, and gives back the bytes that were dequantised by it: not by 0, what denormals are
/// flushed to, or what overflows.
bool is_ordinary(float scale) { return scale >= std::numeric_limits<float>::min() && std::isfinite(scale * 256); }

std::optional<QuantizedValue> parameters_of(const Node& node, Value* value) {
  QuantizedValue q{value, node.input(1), node.input(2), node.attributes.get_int("axis", 1)};
  if (!q.scale || !q.scale->is_constant() || q.scale->type.dtype != DType::f32 || q.scale->constant().count() < 1 ||
      !is_finite(q.scale->constant()))
    return std::nullopt;
  if (q.zero &&
      (!q.zero->is_constant() || q.zero->type.dtype != value->type.dtype || q.zero->constant().count() != q.scale->constant().count()))
    return std::nullopt;
  return node.attributes.get_int("block_size") == 0 ? std::optional(q) : std::nullopt;
}

bool same_bytes(const Value* a, const Value* b) {
  if (!a || !b) return a == b;
  const Tensor &x = a->constant(), &y = b->constant();
  return x.type() == y.type() && x.count() == y.count() && std::memcmp(x.raw(), y.raw(), x.byte_size()) == 0;
}

}  // namespace

std::optional<QuantizedValue> dequantized(const Value* value, bool wide) {
  const Node* node = producer_if(value, "DequantizeLinear");
  if (!node || value->type.dtype != DType::f32) return std::nullopt;
  const DType type = node->input(0)->type.dtype;
  if (!(wide ? type == DType::i32 : is_byte(type))) return std::nullopt;
  return parameters_of(*node, node->input(0));
}

std::optional<QuantizedValue> quantized(const Node& node) {
  if (!is_op(&node, "QuantizeLinear") || !is_byte(node.output()->type.dtype) || node.input(0)->type.dtype != DType::f32)
    return std::nullopt;
  const auto q = parameters_of(node, node.output());
  return q && q->is_single() && is_ordinary(element(q->scale->constant(), 0)) ? q : std::nullopt;
}

bool same_quantization(const QuantizedValue& a, const QuantizedValue& b) {
  if (a.value->type.dtype != b.value->type.dtype || !same_bytes(a.scale, b.scale)) return false;
  const double zero_a = a.zero ? number_of(a.zero) : 0, zero_b = b.zero ? number_of(b.zero) : 0;
  return a.is_single() ? zero_a == zero_b : same_bytes(a.zero, b.zero) && a.axis == b.axis;
}

Value* zero_point_of(Graph& graph, const QuantizedValue& q) {
  if (q.zero) return q.zero;
  const uint8_t zero = 0;
  auto bytes = std::make_shared<uint8_t>(zero);
  return graph.add_constant("zero_point", Tensor::wrap(q.value->type.dtype, {}, bytes.get(), bytes));
}

double number_of(const Value* constant) {
  const std::byte* raw = constant->constant().raw();
  if (constant->type.dtype == DType::i8) return static_cast<int8_t>(*raw);
  if (constant->type.dtype == DType::u8) return static_cast<uint8_t>(*raw);
  float f = 0;
  std::memcpy(&f, raw, sizeof f);
  return f;
}

namespace {

int32_t integer_element(const Tensor& integers, int64_t i) {
  int32_t x;
  std::memcpy(&x, integers.raw() + i * 4, 4);
  return x;
}

/// A constant vector, or one that DequantizeLinear makes of int32.
std::optional<std::vector<double>> bias_values(const Value* bias) {
  if (bias->type.shape.rank() != 1) return std::nullopt;
  if (bias->is_constant() && bias->type.dtype == DType::f32) return as_doubles(bias->constant());
  const std::optional<QuantizedValue> q = dequantized(bias, true);
  if (!q || !q->value->is_constant()) return std::nullopt;
  std::vector<double> values(static_cast<size_t>(q->value->constant().count()));
  if (!q->is_single() && q->scale->constant().count() != q->value->constant().count()) return std::nullopt;
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t at = static_cast<int64_t>(i), parameter = q->is_single() ? 0 : at;
    const double zero = q->zero ? integer_element(q->zero->constant(), parameter) : 0;
    values[i] = (integer_element(q->value->constant(), at) - zero) * element(q->scale->constant(), parameter);
  }
  return values;
}

}  // namespace

Value* integer_bias(Graph& graph, const Value* bias, const QuantizedValue& x, const QuantizedValue& w) {
  const std::optional<std::vector<double>> values = bias_values(bias);
  if (!values) return nullptr;
  const auto count = static_cast<int64_t>(values->size());
  if (!w.is_single() && w.scale->constant().count() != count) return nullptr;
  Result<MutableTensor> sums = Tensor::allocate(DType::i32, {count});
  if (!sums.ok()) return nullptr;
  for (int64_t i = 0; i < count; ++i) {
    const double step = number_of(x.scale) * element(w.scale->constant(), w.is_single() ? 0 : i);
    const double rounded = std::nearbyint((*values)[static_cast<size_t>(i)] / step);
    if (!(std::abs(rounded) <= 3 << 29)) return nullptr;  // the products come on top
    sums->data<int32_t>()[static_cast<size_t>(i)] = static_cast<int32_t>(rounded);
  }
  return graph.add_constant(bias->name() + ".int32", *sums);
}

bool is_per(const QuantizedValue& w, int64_t axis) {
  const int64_t rank = w.value->type.shape.rank();
  return w.is_single() || (rank > 0 && (w.axis < 0 ? w.axis + rank : w.axis) == axis);
}

}  // namespace svengine
