// com.microsoft.MultiHeadAttention and DecoderMaskedMultiHeadAttention: attention of projected queries to projected keys and
// values, or to those of an encoder, which come cut into heads already. Where past_sequence_length is given, past and present are buffers of
// one length, of which it says how much is used.
#include "engine/ops/microsoft/runtime_attention_common.h"

namespace svengine::ops {
namespace {

/// Where the inputs are.
struct MultiHeadInputs {
  size_t bias, mask, attention_bias, past_key, past_value, past_length, indirection;
  size_t beam_width;  // which cache_indirection says, too; MultiHeadAttention takes no input of that number
};
constexpr MultiHeadInputs kMultiHead{3, 4, 5, 6, 7, 8, 9, 10}, kDecoder{10, 3, 4, 5, 6, 7, 9, 8};

struct MultiHeadSizes {
  Dim batch, queries, new_keys, past, size, value_size;
  std::optional<Dim> buffer;  // the length of past and present, where they are buffers
  Dim keys() const { return add(past, new_keys); }
  Dim present() const { return buffer ? *buffer : keys(); }
};

Dim head_of(const Dim& hidden, int64_t heads) { return hidden.is_static() ? Dim(hidden.value() / heads) : Dim(); }

Status check_multi_head_inputs(const InferContext& c, const MultiHeadInputs& at) {
  SV_TRY(require_dtype(c, 0, kRealTypes));
  for (const size_t i : {size_t{1}, size_t{2}, at.bias, at.attention_bias, at.past_key, at.past_value})
    if (c.has_input(i) && c.dtype(i) != c.dtype(0))
      return error("{} is {}, must be {} as query is", c.described(i), name_of(c.dtype(i)), name_of(c.dtype(0)));
  SV_TRY(require_dtype(c, at.past_length, {DType::i32}));
  SV_TRY(require_single(c, at.past_length));
  SV_TRY(require_dtype(c, at.beam_width, {DType::i32}));
  SV_TRY(require_single(c, at.beam_width));
  if (c.has_input(at.past_length) && !c.has_input(at.past_key)) return error("past_sequence_length goes with past_key and past_value");
  if (c.attributes().get_int("past_present_share_buffer", 0) != 0 && c.has_input(at.past_key) && !c.has_input(at.past_length))
    return error("past_present_share_buffer needs past_sequence_length");
  SV_TRY(require_dtype(c, at.indirection, {DType::i32}));
  SV_TRY(require_rank(c, at.indirection, 3));
  if (c.has_input(at.indirection) && !c.has_input(at.past_length)) return error("cache_indirection goes with past_sequence_length");
  if (!c.has_input(1) || !c.has_input(2))
    return unimplemented("key and value are absent: packed queries, keys and values are not supported");
  if (c.attributes().get_int("num_heads", 0) < 1)
    return error("num_heads is {}, must be at least 1", c.attributes().get_int("num_heads", 0));
  SV_TRY(require_rank(c, 0, 3));
  SV_TRY(require_rank(c, at.bias, 1));
  for (const size_t i : {at.past_key, at.past_value}) SV_TRY(require_rank(c, i, 4));
  if (c.has_input(at.past_key) != c.has_input(at.past_value)) return error("past_key and past_value must be given together");
  for (size_t i = 1; i < 3; ++i)
    if (c.shape(i).has_rank() && c.shape(i).rank() != 3 && c.shape(i).rank() != 4)
      return unimplemented("{} is {}, needs rank 3, or 4 where it is cut into heads (packed keys and values are not supported)",
                           i == 1 ? "key" : "value", to_string(c.shape(i)));
  return {};
}

Result<MultiHeadSizes> multi_head_sizes(const InferContext& c, const MultiHeadInputs& at) {
  const int64_t heads = c.attributes().get_int("num_heads", 1);
  MultiHeadSizes s;
  s.past = Dim(0);
  if (c.shape(0).has_rank()) s.batch = c.shape(0)[0], s.queries = c.shape(0)[1], s.size = head_of(c.shape(0)[2], heads);
  for (size_t i = 0; i < 3; ++i) {
    const Shape& x = c.shape(i);
    if (!x.has_rank()) continue;
    const bool cut = x.rank() == 4;
    if (known_different(x[0], s.batch)) return error("query, key and value need the same first dimension");
    if (cut && known_different(x[1], Dim(heads)))
      return error("{} has {} heads, needs {}", i == 1 ? "key" : "value", x[1].value(), heads);
    if (!cut && x[2].is_static() && x[2].value() % heads != 0)
      return error("{} {} cannot be cut into {} heads", c.described(i), to_string(x), heads);
    if (i == 0) continue;
    const Dim length = cut ? x[2] : x[1], size = cut ? x[3] : head_of(x[2], heads);
    if (known_different(s.new_keys, length)) return error("key and value are of different length");
    s.new_keys = merge(s.new_keys, length);
    if (i == 2)
      s.value_size = size;
    else if (known_different(size, s.size))
      return error("heads of query have {} elements, those of key {}", s.size.value(), size.value());
  }
  if (!c.has_input(at.past_key)) return s;
  s.past = c.shape(at.past_key).has_rank() ? c.shape(at.past_key)[2] : Dim();
  for (const size_t i : {at.past_key, at.past_value}) {
    const Shape wanted{s.batch, Dim(heads), s.past, i == at.past_key ? s.size : s.value_size};
    for (size_t d = 0; c.shape(i).has_rank() && d < 4; ++d)
      if (known_different(c.shape(i)[d], wanted[d]))
        return error("{} is {}, needs {}", i == at.past_key ? "past_key" : "past_value", to_string(c.shape(i)),
                     to_string(wanted));
  }
  if (c.has_input(at.indirection) && c.shape(at.indirection).has_rank()) {
    const Shape& beams = c.shape(at.indirection);
    if (known_different(multiply(beams[0], beams[1]), s.batch))
      return error("cache_indirection is {}, needs [batch, beams, positions] of {} sequences", to_string(beams), s.batch.value());
    if (beams[2].is_static() && s.past.is_static() && beams[2].value() < s.past.value())
      return error("cache_indirection is {}, needs {} positions", to_string(beams), s.past.value());
  }
  if (!c.has_input(at.past_length)) return s;
  s.buffer = s.past;
  const auto used = c.integers(at.past_length);
  s.past = used ? Dim(used->front()) : Dim();
  const Dim after = s.keys();
  if ((used && used->front() < 0) || (after.is_static() && s.buffer->is_static() && after.value() > s.buffer->value()))
    return error("past_sequence_length is {}: with {} new keys it does not fit past_key of length {}", used->front(), s.new_keys.value(),
                 s.buffer->value());
  return s;
}

template <const MultiHeadInputs& kAt>
Status infer_multi_head(InferContext& c) {
  SV_TRY(check_multi_head_inputs(c, kAt));
  SV_ASSIGN(const MultiHeadSizes s, multi_head_sizes(c, kAt));
  const Dim heads(c.attributes().get_int("num_heads", 1));
  const Shape scores{s.batch, heads, s.queries, s.keys()};
  if (c.has_input(kAt.bias) && c.shape(kAt.bias).has_rank()) {
    const Dim wanted = multiply(heads, add(add(s.size, s.size), s.value_size));
    if (known_different(c.shape(kAt.bias)[0], wanted))
      return error("bias has {} elements, needs {}", c.shape(kAt.bias)[0].value(), wanted.value());
  }
  SV_TRY(check_runtime_mask(c, kAt.mask, s.batch, s.queries, s.keys(), Placeholder::refused));
  SV_TRY(check_attention_bias(c, kAt.attention_bias, scores));
  c.set(0, c.dtype(0), Shape{s.batch, s.queries, multiply(heads, s.value_size)});
  c.set(1, c.dtype(0), Shape{s.batch, heads, s.present(), s.size});
  c.set(2, c.dtype(0), Shape{s.batch, heads, s.present(), s.value_size});
  c.set(3, c.dtype(0), scores);
  return {};
}

/// Input i with its part of the bias, cut into heads; null where sizes are not known.
Value* projected(ExpandContext& c, const MultiHeadInputs& at, size_t i, int64_t heads) {
  Value* v = c.input(i);
  if (v->type.shape.rank() == 4) return v;
  if (c.has_input(at.bias)) {
    const auto hidden = c.dim(0, 2), of_value = c.shape(2).rank() == 3 ? c.dim(2, 2) : c.dim(0, 2);
    if (!hidden || !of_value) return nullptr;
    const int64_t first = static_cast<int64_t>(i) * *hidden;
    v = c.op("Add", {v, c.slice(c.input(at.bias), 0, first, first + (i == 2 ? *of_value : *hidden))});
  }
  return split_heads(c, v, heads);
}

struct PresentPart {
  Value *present, *used;
};

/// [sequences, heads, used, size] of a cache: at each position the beam of the same prompt that cache_indirection [batch, beams, positions] says.
Value* of_beams(ExpandContext& c, Value* cache, size_t indirection, int64_t used) {
  const int64_t batch = *c.dim(indirection, 0), beams = *c.dim(indirection, 1), sequences = batch * beams;
  std::vector<int32_t> first, places;
  for (int64_t i = 0; i < batch; ++i) first.push_back(static_cast<int32_t>(i * beams));
  for (int64_t i = 0; i < sequences; ++i)
    for (int64_t t = 0; t < used; ++t) places.push_back(static_cast<int32_t>(t));
  Value* firsts = c.builder().constant(Tensor::of<int32_t>({batch, 1, 1}, std::span<const int32_t>(first)));
  Value* rows = c.reshape(c.op("Add", {c.slice(c.input(indirection), 2, 0, used), firsts}), {sequences, used, 1});
  Value* where = c.concat({rows, c.builder().constant(Tensor::of<int32_t>({sequences, used, 1}, std::span<const int32_t>(places)))}, 2);
  Value* by_position = c.transpose(c.slice(cache, 2, 0, used), {0, 2, 1, 3});
  return c.transpose(c.op("GatherND", {by_position, c.cast(where, DType::i64)}), {0, 2, 1, 3});
}

/// New keys or values behind those of input `past`: of the first `used` of its rows, which are known then, or of all.
PresentPart behind_past(ExpandContext& c, const MultiHeadInputs& at, size_t past, std::optional<int64_t> used, Value* fresh) {
  if (!c.has_input(past)) return {fresh, fresh};
  Value* all = c.concat({used ? c.slice(c.input(past), 2, 0, *used) : c.input(past), fresh}, 2);
  if (!used) return {all, all};
  const int64_t end = *used + fresh->type.shape[2].value();
  Value* present = c.concat({all, c.slice(c.input(past), 2, end, *c.dim(past, 2))}, 2);
  if (!c.has_input(at.indirection) || *used == 0) return {present, all};
  return {present, c.concat({of_beams(c, c.input(past), at.indirection, *used), fresh}, 2)};
}

template <const MultiHeadInputs& kAt>
Status expand_multi_head(ExpandContext& c) {
  for (size_t i = 0; i < c.node().inputs().size(); ++i)
    if (c.has_input(i) && !c.shape(i).has_rank()) return {};
  for (size_t i = 1; i < 3; ++i)  // products would repeat a batch of one
    if (c.has_input(i) && !c.shape(i)[0].same(c.shape(0)[0])) return {};
  const auto hidden = c.dim(0, 2);
  if (!hidden) return {};
  AttentionProduct p;
  p.q_heads = p.kv_heads = c.attributes().get_int("num_heads", 1);
  p.scale = runtime_scale(c.attributes(), *hidden / p.q_heads);
  p.q = projected(c, kAt, 0, p.q_heads), p.k = projected(c, kAt, 1, p.q_heads), p.v = projected(c, kAt, 2, p.q_heads);
  if (!p.q || !p.k || !p.v) return {};
  Value* past = nullptr;
  std::optional<int64_t> used;
  if (const Value* given = c.input(kAt.past_length)) {
    const bool known = c.dim(kAt.past_key, 2) && c.dim(kAt.past_value, 2) && p.k->type.shape[2].is_static() && p.v->type.shape[2].is_static();
    const bool beams_known = !c.has_input(kAt.indirection) || (c.dim(kAt.indirection, 0) && c.dim(kAt.indirection, 1));
    if (!given->is_constant() || !known || !beams_known) return {};
    used = given->constant().as_int64s()[0];
    past = c.builder().constant(Tensor::scalar(*used));
  } else if (c.has_input(kAt.past_key)) {
    past = c.scalar_of_dim(c.input(kAt.past_key), 2);
  }
  const PresentPart keys = behind_past(c, kAt, kAt.past_key, used, p.k), values = behind_past(c, kAt, kAt.past_value, used, p.v);
  p.k = keys.used, p.v = values.used;
  if (!c.builder().status().ok()) return {};
  RuntimeMask m{c.input(kAt.mask), c.attributes().get_float("mask_filter_value", -10000.0f),
                c.attributes().get_int("unidirectional", 0) != 0, c.input(kAt.attention_bias)};
  bool known = true;
  p.bias = runtime_bias(c, m, p.q, p.k, past, known);
  if (!known || !c.builder().status().ok()) return {};
  const AttentionParts result = attend(c, p);
  c.set(0, merge_heads(c, c.cast(result.y, c.dtype(0))));
  c.set(1, keys.present), c.set(2, values.present);
  c.set(3, c.has_output(3) ? c.cast(result.raw, c.dtype(0)) : nullptr);
  return {};
}

template <const MultiHeadInputs& kAt>
OpDef multi_head_op(const char* name, OpInputs inputs) {
  return {.name = name,
          .domain = kMicrosoftDomain,
          .until = 1,
          .inputs = inputs,
          .outputs = {1, 4},
          .attributes = {{"num_heads", AttributeKind::kInt, true},
                         {"scale", AttributeKind::kFloat},
                         {"mask_filter_value", AttributeKind::kFloat, false, -10000.0f}},
          .expand = expand_multi_head<kAt>,
          .infer = infer_multi_head<kAt>,
          .traits = {.shape_inputs = {kAt.past_length}},
          .tolerance = {.rtol = 1e-5, .atol = 1e-5}};
}

}  // namespace

OpDef define_microsoft_multi_head_attention() {
  OpDef op = multi_head_op<kMultiHead>(
      "MultiHeadAttention",
      "query, key?, value?, bias?, key_padding_mask?, attention_bias?, past_key?, past_value?, past_sequence_length?, cache_indirection?");
  op.attributes.push_back({"unidirectional", AttributeKind::kInt, false, 0});
  op.samples = "(float32[2, 3, 8], float32[2, 4, 8], float32[2, 4, 6], float32[22]) {num_heads = 2}"
               "(float32[2, 3, 8], float32[2, 3, 8], float32[2, 3, 8], float32[24], int32[2]{2, 5}, float32[1, 2, 3, 5], "
               "float32[2, 2, 2, 4], float32[2, 2, 2, 4]) {num_heads = 2, unidirectional = 1} 3"
               "(float32[1, 1, 4], float32[1, 2, 3, 2], float32[1, 2, 3, 2]) {num_heads = 2}"
               "(float32[2, 2, 8], float32[2, 2, 8], float32[2, 2, 8], -, -, -, float32[2, 2, 5, 4], float32[2, 2, 5, 4], int32[1]{2}) "
               "{num_heads = 2, unidirectional = 1} 3";
  return op;
}

OpDef define_microsoft_decoder_masked_multi_head_attention() {
  OpDef op = multi_head_op<kDecoder>("DecoderMaskedMultiHeadAttention",
                                  "query, key?, value?, mask_index?, attention_bias?, past_key?, past_value?, past_sequence_length?, beam_width?, "
                                  "cache_indirection?, bias?");
  for (const char* name : {"past_present_share_buffer", "output_qk"}) op.attributes.push_back({name, AttributeKind::kInt});
  op.samples = "(float32[2, 1, 8], float32[2, 1, 8], float32[2, 1, 8]) {num_heads = 2} 3"
               "(float32[2, 1, 8], float32[2, 1, 8], float32[2, 1, 8], -, -, float32[2, 2, 5, 4], float32[2, 2, 5, 4], int32[1]{4}) "
               "{num_heads = 2, past_present_share_buffer = 1} 3"
               "(float32[4, 1, 8], float32[4, 1, 8], float32[4, 1, 8], -, -, float32[4, 2, 5, 4], float32[4, 2, 5, 4], int32[1]{3}, int32[1]{2}, "
               "int32[2, 2, 5] 0 to 1) {num_heads = 2, past_present_share_buffer = 1} 3";
  return op;
}

}  // namespace svengine::ops
