#include "engine/ops/microsoft/runtime_attention_common.h"

#include <cmath>
#include <limits>

#include "engine/ops/broadcast.h"

namespace svengine::ops {
namespace {

/// True where a key is no padding: of rank 4.
Value* seen_keys(ExpandContext& c, Value* mask, Value* q, Value* k) {
  const Shape& s = mask->type.shape;
  Value* wide = c.cast(mask, DType::i64);
  if (s.rank() == 2) return c.op("Greater", {c.unsqueeze(wide, {1, 2}), c.number(0, DType::i64)});
  if (s.rank() == 3) return c.op("Greater", {c.unsqueeze(wide, {1}), c.number(0, DType::i64)});
  const int64_t batch = q->type.shape[0].value();
  Value* key = c.up_to(c.scalar_of_dim(k, 2));
  const auto of_batch = [&](int64_t first) { return c.unsqueeze(c.slice(wide, 0, first, first + batch), {1, 2, 3}); };
  Value* seen = c.op("Less", {key, of_batch(0)});
  if (s[0].value() == batch) return seen;
  return c.op("And", {seen, c.op("GreaterOrEqual", {key, of_batch(batch)})});
}

}  // namespace

Status check_runtime_mask(const InferContext& c, size_t input, const Dim& batch, const Dim& queries,
                          const Dim& keys, Placeholder placeholder) {
  SV_TRY(require_dtype(c, input, {DType::i32}));
  if (!c.has_input(input) || !c.shape(input).has_rank()) return {};
  const Shape& s = c.shape(input);
  if (placeholder == Placeholder::taken && is_placeholder(s, keys) != std::optional(false) && (!known_different(s[0], batch) || s[0].same(Dim(1))))
    return {};
  bool fits = s.rank() >= 1 && s.rank() <= 3;
  if (fits && s.rank() == 1) fits = !known_different(s[0], batch) || !known_different(s[0], multiply(batch, Dim(2)));
  if (fits && s.rank() > 1) fits = !known_different(s[0], batch) && !known_different(s.back(), keys);
  if (fits && s.rank() == 3) fits = !known_different(s[1], queries);
  if (fits) return {};
  return error("{} is {}, must be [batch] (lengths), [2 * batch] (ends, starts), [batch, keys] or [batch, queries, keys] of {}",
               c.described(input), to_string(s), to_string(Shape{batch, queries, keys}));
}

std::optional<bool> is_placeholder(const Shape& mask, const Dim& keys) {
  if (!mask.has_rank() || mask.rank() != 2 || !mask[1].same(Dim(1))) return false;
  return keys.is_static() ? std::optional(keys.value() != 1) : std::nullopt;
}

Status check_attention_bias(const InferContext& c, size_t input, const Shape& scores) {
  if (!c.has_input(input)) return {};
  SV_TRY(require_rank(c, input, 4));
  if (c.dtype(input) != c.dtype(0))
    return error("attention_bias is {}, must be {} as input 0 is", name_of(c.dtype(input)), name_of(c.dtype(0)));
  const Shape& s = c.shape(input);
  for (size_t d = 0; s.has_rank() && d < 4; ++d)
    if (known_different(s[d], scores[d]) && (d > 1 || s[d].value() != 1))
      return error("attention_bias {} does not broadcast over batch and heads to {}", to_string(s), to_string(scores));
  return {};
}

Value* runtime_bias(ExpandContext& c, const RuntimeMask& m, Value* q, Value* k, Value* past, bool& known) {
  const DType type = wide_type(q->type.dtype);
  const double lowest =
      type == DType::f64 ? std::numeric_limits<double>::lowest() : static_cast<double>(std::numeric_limits<float>::lowest());
  Value* bias = m.bias ? c.cast(m.bias, type) : nullptr;
  const auto filtered = [&](Value* seen, double otherwise) {
    return c.op("Where", {seen, c.number(0, type), c.number(otherwise, type)});
  };
  known = !m.mask || (m.mask->type.shape.has_rank() &&
                      (m.mask->type.shape.rank() != 1 || (m.mask->type.shape.is_static() && q->type.shape[0].is_static())));
  if (!known) return nullptr;
  if (m.mask) bias = sum_of(c, bias, filtered(seen_keys(c, m.mask, q, k), m.filter));
  const Dim& queries = q->type.shape[2];
  if (m.unidirectional && !(queries.is_static() && queries.value() == 1 && (past || k->type.shape[2].same(Dim(1))))) {
    const KeyPositions p{.queries = c.scalar_of_dim(q, 2), .keys = c.scalar_of_dim(k, 2), .offset = past, .causal = true};
    bias = sum_of(c, bias, c.unsqueeze(filtered(allowed_keys(c, p), lowest), {0, 1}));
  }
  return bias;
}

double runtime_scale(const Attributes& attributes, int64_t size) {
  const float scale = attributes.get_float("scale", 0);
  return scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(size));
}

}  // namespace svengine::ops
