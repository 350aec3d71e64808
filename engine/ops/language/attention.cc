// Attention: softmax(cap(scale Q K') + mask) V for every head, with a cache of keys and values, several query heads to a head of
// keys, causal and windowed masks. Made of products and a Softmax, which the pass `attention` makes one kernel of.
#include <cmath>
#include <limits>

#include "engine/ops/broadcast.h"
#include "engine/ops/language/attention_common.h"

namespace svengine::ops {
namespace {

enum AttentionInput : size_t { kQuery, kKey, kValue, kMask, kPastKey, kPastValue, kLengths };
constexpr DTypeSet kAttentionMasks = kRealTypes | kIntegerTypes | kBool;

/// Heads, and the sizes of what is attended to, of 3-D or 4-D inputs; unknown dimensions where they are.
struct AttentionSizes {
  Dim batch, q_heads, kv_heads, queries, new_keys, size, value_size, past;
  Dim keys() const { return add(past, new_keys); }
};

/// Dimension 2 of a 3-D input cut into heads.
Result<Dim> head_size(const Shape& s, int64_t heads, const char* what) {
  if (!s[2].is_static()) return Dim();
  if (s[2].value() % heads != 0) return error("{} of shape {} cannot be cut into {} heads", what, to_string(s), heads);
  return Dim(s[2].value() / heads);
}

Result<AttentionSizes> flat_attention_sizes(const InferContext& c) {
  const int64_t q_heads = c.attributes().get_int("q_num_heads", 0), kv_heads = c.attributes().get_int("kv_num_heads", 0);
  if (q_heads < 1 || kv_heads < 1)
    return error("3-D inputs need attributes q_num_heads and kv_num_heads of at least 1; they are {} and {}", q_heads, kv_heads);
  AttentionSizes s;
  s.batch = c.shape(kQuery)[0], s.queries = c.shape(kQuery)[1], s.new_keys = merge(c.shape(kKey)[1], c.shape(kValue)[1]);
  s.q_heads = Dim(q_heads), s.kv_heads = Dim(kv_heads);
  SV_ASSIGN(s.size, head_size(c.shape(kQuery), q_heads, "Q"));
  SV_ASSIGN(const Dim k, head_size(c.shape(kKey), kv_heads, "K"));
  SV_ASSIGN(s.value_size, head_size(c.shape(kValue), kv_heads, "V"));
  if (known_different(s.size, k)) return error("heads of Q have {} elements, those of K {}", s.size.value(), k.value());
  s.past = Dim(0);
  return s;
}

Result<AttentionSizes> attention_sizes(const InferContext& c) {
  AttentionSizes s;
  const Shape &q = c.shape(kQuery), &k = c.shape(kKey), &v = c.shape(kValue);
  if (q.rank() == 3) {
    SV_ASSIGN(s, flat_attention_sizes(c));
  } else {
    s = {q[0], q[1], merge(k[1], v[1]), q[2], merge(k[2], v[2]), merge(q[3], k[3]), v[3], Dim(0)};
    if (known_different(q[3], k[3])) return error("Q {} and K {} need the same last dimension", to_string(q), to_string(k));
    if (known_different(k[1], v[1])) return error("K {} and V {} need the same number of heads", to_string(k), to_string(v));
  }
  const size_t rows = q.rank() == 3 ? 1 : 2;
  if (known_different(k[rows], v[rows])) return error("K {} and V {} are of different length", to_string(k), to_string(v));
  if (known_different(q[0], k[0]) || known_different(q[0], v[0]))
    return error("Q {}, K {} and V {} need the same first dimension", to_string(q), to_string(k), to_string(v));
  if (s.q_heads.is_static() && s.kv_heads.is_static() && s.q_heads.value() != 0 &&
      (s.kv_heads.value() == 0 || s.q_heads.value() % s.kv_heads.value() != 0))
    return error("{} heads of Q cannot share {} heads of K and V: it must be a multiple", s.q_heads.value(), s.kv_heads.value());
  if (c.has_input(kPastKey)) s.past = c.shape(kPastKey).has_rank() ? c.shape(kPastKey)[2] : Dim();
  return s;
}

Status check_past(const InferContext& c, const AttentionSizes& s) {
  for (const size_t i : {size_t{kPastKey}, size_t{kPastValue}}) {
    if (!c.has_input(i) || !c.shape(i).has_rank()) continue;
    const Shape wanted{s.batch, s.kv_heads, s.past, i == kPastKey ? s.size : s.value_size};
    for (size_t d = 0; d < 4; ++d)
      if (known_different(c.shape(i)[d], wanted[d]))
        return error("{} is {}, needs {}", i == kPastKey ? "past_key" : "past_value", to_string(c.shape(i)), to_string(wanted));
  }
  return {};
}

/// Aligned at the last dimension with [batch, heads, queries, keys]; the keys may be fewer.
Status check_mask(const InferContext& c, const AttentionSizes& s) {
  if (!c.has_input(kMask) || !c.shape(kMask).has_rank()) return {};
  const Shape& mask = c.shape(kMask);
  const Shape scores{s.batch, s.q_heads, s.queries, s.keys()};
  bool fits = mask.rank() >= 1 && mask.rank() <= 4;
  for (size_t i = 1; fits && i <= mask.dims().size(); ++i) {
    const Dim &m = mask[mask.dims().size() - i], &d = scores[4 - i];
    if (!m.is_static() || !d.is_static()) continue;
    fits = i == 1 ? m.value() <= d.value() : m.value() == d.value() || m.value() == 1;
  }
  if (fits) return {};
  return error("attn_mask {} does not broadcast to {} (batch, heads, queries, keys; of keys it may have fewer)", to_string(mask),
               to_string(scores));
}

Status check_attention_attributes(const InferContext& c) {
  const auto number = [&](const char* name, int64_t otherwise) { return c.attributes().get_int(name, otherwise); };
  for (const char* name : {"left_window_size", "right_window_size"})
    if (number(name, -1) < -1) return error("{} is {}, must be -1 (no limit) or more", name, number(name, -1));
  const int64_t mode = number("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3) return error("qk_matmul_output_mode is {}, must be 0 to 3", mode);
  SV_TRY(dtype_attribute(c.attributes(), "softmax_precision", DType::f32, kRealTypes));
  if (c.has_input(kPastKey) != c.has_input(kPastValue)) return error("past_key and past_value must be given together");
  if (c.has_output(1) != c.has_output(2)) return error("present_key and present_value must be asked for together");
  if (c.has_input(kLengths) && c.has_input(kPastKey))
    return error("nonpad_kv_seqlen cannot be given together with past_key and past_value");
  return {};
}

Status check_attention_inputs(const InferContext& c) {
  for (size_t i = 0; i < 3; ++i) SV_TRY(require_dtype(c, i, kRealTypes));
  if (c.dtype(kQuery) != c.dtype(kKey))
    return error("Q is {} and K {}: they must be of one type", name_of(c.dtype(kQuery)), name_of(c.dtype(kKey)));
  for (const size_t i : {size_t{kPastKey}, size_t{kPastValue}}) {
    SV_TRY(require_rank(c, i, 4));
    const size_t same = i == kPastKey ? kKey : kValue;
    if (c.has_input(i) && c.dtype(i) != c.dtype(same))
      return error("{} is {}, must be {} as {} is", c.described(i), name_of(c.dtype(i)), name_of(c.dtype(same)), c.described(same));
  }
  SV_TRY(require_dtype(c, kMask, kAttentionMasks));
  SV_TRY(require_dtype(c, kLengths, {DType::i64}));
  SV_TRY(require_rank(c, kLengths, 1));
  if (c.has_input(kLengths) && c.shape(kLengths).has_rank() && c.shape(kQuery).has_rank() &&
      known_different(c.shape(kLengths)[0], c.shape(kQuery)[0]))
    return error("nonpad_kv_seqlen has {} elements, needs one for each of {} in the batch", c.shape(kLengths)[0].value(),
                 c.shape(kQuery)[0].value());
  return check_attention_attributes(c);
}

Status infer_onnx_attention(InferContext& c) {
  SV_TRY(check_attention_inputs(c));
  const DType q = c.dtype(kQuery), v = c.dtype(kValue);
  const DType types[] = {q, q, v, q};
  for (size_t i = 0; i < 4; ++i) c.set(i, types[i], i == 0 ? Shape() : unknown_dims(4));
  for (size_t i = 0; i < 3; ++i) {
    if (!c.shape(i).has_rank()) return {};
    const int64_t rank = c.shape(i).rank();
    if (rank != c.shape(0).rank() || (rank != 3 && rank != 4))
      return error("Q, K and V must all be of rank 3 or all of rank 4; they are {}, {} and {}", to_string(c.shape(0)),
                   c.shape(1).has_rank() ? to_string(c.shape(1)) : "?", c.shape(2).has_rank() ? to_string(c.shape(2)) : "?");
  }
  SV_ASSIGN(const AttentionSizes s, attention_sizes(c));
  SV_TRY(check_past(c, s));
  SV_TRY(check_mask(c, s));
  if (c.shape(0).rank() == 3)
    c.set(0, q, Shape{s.batch, s.queries, multiply(s.q_heads, s.value_size)});
  else
    c.set(0, q, Shape{s.batch, s.q_heads, s.queries, s.value_size});
  c.set(1, q, Shape{s.batch, s.kv_heads, s.keys(), s.size});
  c.set(2, v, Shape{s.batch, s.kv_heads, s.keys(), s.value_size});
  c.set(3, q, Shape{s.batch, s.q_heads, s.queries, s.keys()});
  return {};
}

/// attn_mask with as many keys as there are; null where that cannot be told yet.
Value* padded_mask(ExpandContext& c, const Dim& keys) {
  Value* mask = c.input(kMask);
  const Dim have = mask->type.shape.back();
  if (have.same(keys)) return mask;
  if (!have.is_static() || !keys.is_static()) return nullptr;
  std::vector<int64_t> pads(mask->type.shape.dims().size() * 2, 0);
  pads.back() = keys.value() - have.value();
  const bool boolean = mask->type.dtype == DType::boolean;
  Value* fill = boolean ? c.builder().constant(Tensor::scalar(false))
                        : c.number(-std::numeric_limits<double>::infinity(), mask->type.dtype);
  return c.op("Pad", {mask, c.ints(std::move(pads)), fill});
}

/// Of the keys' positions: what the causal mask, the window and nonpad_kv_seqlen leave. Null: all.
Value* allowed_by_position(ExpandContext& c, Value* q, Value* k) {
  KeyPositions p;
  p.causal = c.attributes().get_int("is_causal", 0) != 0;
  p.left = c.attributes().get_int("left_window_size", -1), p.right = c.attributes().get_int("right_window_size", -1);
  Value* lengths = c.has_input(kLengths) ? c.unsqueeze(c.input(kLengths), {1, 2, 3}) : nullptr;
  // One query and its own key behind all others: it sees all that are before it.
  const Dim &queries = q->type.shape[2], &keys = c.shape(kKey)[c.shape(kKey).dims().size() - 2];
  if (!lengths && queries.is_static() && queries.value() == 1 && keys.is_static() && keys.value() == 1)
    p.causal = false, p.right = -1;
  p.queries = c.scalar_of_dim(q, 2), p.keys = c.scalar_of_dim(k, 2);
  if (lengths)
    p.offset = c.op("Sub", {lengths, p.queries});
  else if (c.has_input(kPastKey))
    p.offset = c.scalar_of_dim(c.input(kPastKey), 2);
  Value* allowed = allowed_keys(c, p);
  if (!lengths) return allowed;
  return both_of(c, allowed, c.op("Less", {c.up_to(p.keys), lengths}));
}

/// What is added to the scores, of rank 4. False: not known yet.
bool add_masks(ExpandContext& c, AttentionProduct& p) {
  const DType type = wide_type(p.q->type.dtype);
  Value* allowed = allowed_by_position(c, p.q, p.k);
  Value* mask = c.has_input(kMask) ? padded_mask(c, p.k->type.shape[2]) : nullptr;
  if (c.has_input(kMask) && !mask) return false;
  p.empty_rows = mask || c.has_input(kLengths) || c.attributes().get_int("left_window_size", -1) >= 0 ||
                 c.attributes().get_int("right_window_size", -1) >= 0;
  if (mask && mask->type.dtype == DType::boolean) allowed = both_of(c, allowed, mask), mask = nullptr;
  p.bias = sum_of(c, bias_of(c, allowed, type), mask ? c.cast(mask, type) : nullptr);
  if (!p.bias) return true;
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < 4 - p.bias->type.shape.rank(); ++i) axes.push_back(i);
  if (!axes.empty()) p.bias = c.unsqueeze(p.bias, std::move(axes));
  return true;
}

Status expand_attention(ExpandContext& c) {
  for (size_t i = 0; i < 6; ++i)
    if (c.has_input(i) && !c.shape(i).has_rank()) return {};
  const bool flat = c.shape(kQuery).rank() == 3;
  for (const size_t i : {kQuery, kKey, kValue})  // a Reshape does not find the size of heads where there is no element
    if (flat && !c.dim(i, 2)) return {};
  AttentionProduct p;
  const bool has_scale = c.attributes().has("scale");
  if ((!flat && (!c.dim(kQuery, 1) || !c.dim(kKey, 1))) || (!has_scale && !c.dim(kQuery, -1))) return {};
  p.q_heads = flat ? c.attributes().get_int("q_num_heads", 1) : *c.dim(kQuery, 1);
  p.kv_heads = flat ? c.attributes().get_int("kv_num_heads", 1) : *c.dim(kKey, 1);
  const int64_t size = c.dim(kQuery, -1).value_or(0) / (flat ? p.q_heads : 1);
  p.scale = has_scale ? c.attributes().get_float("scale", 1) : 1 / std::sqrt(static_cast<double>(size));
  p.softcap = c.attributes().get_float("softcap", 0);
  p.q = flat ? split_heads(c, c.input(kQuery), p.q_heads) : c.input(kQuery);
  p.k = flat ? split_heads(c, c.input(kKey), p.kv_heads) : c.input(kKey);
  p.v = flat ? split_heads(c, c.input(kValue), p.kv_heads) : c.input(kValue);
  if (c.has_input(kPastKey)) p.k = c.concat({c.input(kPastKey), p.k}, 2), p.v = c.concat({c.input(kPastValue), p.v}, 2);
  if (!c.builder().status().ok()) return {};
  const DType type = c.dtype(kQuery),
              precision = c.attributes().get_dtype("softmax_precision", type);
  if (precision != type && wide_type(type) == type) p.softmax_type = precision;
  if (precision == DType::f64) p.softmax_type = precision;
  if (!add_masks(c, p) || !c.builder().status().ok()) return {};
  Value *const k = p.k, *const v = p.v;
  if (p.q_heads == 0) p.k = c.slice(k, 1, 0, 0), p.v = c.slice(v, 1, 0, 0), p.kv_heads = 0;  // no query head shares the keys
  const AttentionParts parts = attend(c, p);
  if (!parts.y) return {};
  Value* const qk[] = {parts.raw, parts.capped, parts.biased, parts.probabilities};
  Value* y = c.cast(parts.y, type);
  c.set(0, flat ? merge_heads(c, y) : y);
  c.set(1, k), c.set(2, v);
  c.set(3, c.has_output(3) ? c.cast(qk[c.attributes().get_int("qk_matmul_output_mode", 0)], type) : nullptr);
  return {};
}

AttributeDef attention_int(const char* name, AttributeDefault otherwise = {}) {
  return {name, AttributeKind::kInt, false, otherwise};
}

}  // namespace

OpDef define_attention() {
  return {
      .name = "Attention",
      .since = 23,
      .until = 28,
      .inputs = "Q, K, V, attn_mask?, past_key?, past_value?, nonpad_kv_seqlen?",
      .outputs = {1, 4},
      .attributes = {attention_int("is_causal", int64_t{0}),
                     attention_int("q_num_heads"),
                     attention_int("kv_num_heads"),
                     attention_int("qk_matmul_output_mode", int64_t{0}),
                     attention_int("softmax_precision"),
                     attention_int("left_window_size", int64_t{-1}),
                     attention_int("right_window_size", int64_t{-1}),
                     {"scale", AttributeKind::kFloat},
                     {"softcap", AttributeKind::kFloat, false, 0.0f}},
      .expand = expand_attention,
      .infer = infer_onnx_attention,
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[2, 3, 4, 8], float32[2, 3, 6, 8], float32[2, 3, 6, 5])"
                 "(float32[1, 1, 1, 1], float32[1, 1, 1, 1], float32[1, 1, 1, 1]) {is_causal = 1} 4"
                 "(float32[2, 0, 4, 8], float32[2, 2, 6, 8], float32[2, 2, 6, 5]) 3"
                 "(float32[2, 4, 24], float32[2, 5, 12], float32[2, 5, 0]) {q_num_heads = 4, kv_num_heads = 2}"
                 "(float32[2, 4, 24], float32[2, 5, 12], float32[2, 5, 16], float32[4, 5]) {q_num_heads = 4, kv_num_heads = 2, "
                 "softcap = 2.0, scale = 0.5}"
                 "(float32[2, 4, 2, 8], float32[2, 2, 1, 8], float32[2, 2, 1, 8], bool[2, 3]{1, 0, 1, 1, 1, 0}, float32[2, 2, 3, 8], "
                 "float32[2, 2, 3, 8]) {is_causal = 1, qk_matmul_output_mode = 3} 4"
                 "(float32[2, 4, 3, 8], float32[2, 2, 6, 8], float32[2, 2, 6, 8], float32[4, 3, 5]) {left_window_size = 2, "
                 "right_window_size = 1}",
  };
}

}  // namespace svengine::ops
