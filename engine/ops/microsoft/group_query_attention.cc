// com.microsoft.GroupQueryAttention: causal attention with a cache, several query heads to a head of keys, and rotary embedding.
//
// seqlens_k holds, for every sample, how many keys it has after this step, less one; total_sequence_length the most of them. New
// keys and values go into the cache behind the sample's old ones, of which there are none where all keys are new (the first
// prompt).
#include "engine/ops/microsoft/group_query_common.h"
#include "engine/ops/microsoft/quantized_cache_common.h"

namespace svengine::ops {
namespace {

Status check_group_query(const InferContext& c) {
  SV_TRY(require_dtype(c, kGqQuery, kRealTypes));
  for (const size_t i : {kGqKey, kGqValue, kGqCos, kGqSin, kGqBias, kGqSink, kGqQueryNorm, kGqKeyNorm})
    if (c.has_input(i) && c.dtype(i) != c.dtype(0))
      return error("{} is {}, must be {} as query is", c.described(i), name_of(c.dtype(i)), name_of(c.dtype(0)));
  SV_ASSIGN(const CacheFormat format, cache_format(c.attributes()));
  const DType cached = format.bits ? format.type() : c.dtype(0);
  for (const size_t i : {kGqPastKey, kGqPastValue})
    if (c.has_input(i) && c.dtype(i) != cached)
      return error("{} is {}, must be {}", i == kGqPastKey ? "past_key" : "past_value", name_of(c.dtype(i)), name_of(cached));
  const int64_t shown = c.attributes().get_int("qk_output", 0);
  if (shown < 0 || shown > 2) return error("qk_output is {}, must be 0 (none), 1 (before the Softmax) or 2 (behind it)", shown);
  if (shown == 0 && c.has_output(3)) return error("output_qk is asked for, but qk_output is 0");
  SV_TRY(require_rank(c, kGqQuery, 3));
  SV_TRY(require_dtype(c, kGqLengths, {DType::i32}));
  SV_TRY(require_dtype(c, kGqTotal, {DType::i32}));
  SV_TRY(require_single(c, kGqTotal));
  SV_TRY(require_dtype(c, kGqPositions, {DType::i64}));
  if (c.has_input(kGqKey) != c.has_input(kGqValue))
    return error("key and value must be given together, or query holds all three");
  if (c.has_input(kGqPastKey) != c.has_input(kGqPastValue)) return error("past_key and past_value must be given together");
  if (c.has_input(kGqQueryNorm) != c.has_input(kGqKeyNorm))
    return error("q_norm_weight and k_norm_weight must be given together");
  if (c.attributes().get_int("do_rotary", 0) && (!c.has_input(kGqCos) || !c.has_input(kGqSin)))
    return error("do_rotary needs cos_cache and sin_cache");
  return {};
}

struct GroupQuerySizes {
  int64_t heads, kv_heads;
  Dim batch, queries, size, past, present;
};

Result<GroupQuerySizes> group_query_sizes(const InferContext& c) {
  GroupQuerySizes s;
  s.heads = c.attributes().get_int("num_heads", 0), s.kv_heads = c.attributes().get_int("kv_num_heads", 0);
  if (s.heads < 1 || s.kv_heads < 1 || s.heads % s.kv_heads != 0)
    return error("num_heads {} must be a multiple of kv_num_heads {}, both at least 1", s.heads, s.kv_heads);
  s.past = Dim(0);
  SV_ASSIGN(const CacheFormat format, cache_format(c.attributes()));
  if (c.shape(0).has_rank()) {
    s.batch = c.shape(0)[0], s.queries = c.shape(0)[1];
    const int64_t parts = c.has_input(kGqKey) ? s.heads : s.heads + 2 * s.kv_heads;
    if (c.shape(0)[2].is_static()) {
      if (c.shape(0)[2].value() % parts != 0) return error("query {} cannot be cut into {} heads", to_string(c.shape(0)), parts);
      s.size = Dim(c.shape(0)[2].value() / parts);
    }
  }
  for (const size_t i : {kGqKey, kGqValue}) {
    SV_TRY(require_rank(c, i, 3));
    if (c.has_input(i) && c.shape(i).has_rank() &&
        (known_different(c.shape(i)[0], s.batch) || known_different(c.shape(i)[1], s.queries) ||
         known_different(c.shape(i)[2], multiply(Dim(s.kv_heads), s.size))))
      return error("{} is {}, needs {}", i == kGqKey ? "key" : "value", to_string(c.shape(i)),
                   to_string(Shape{s.batch, s.queries, multiply(Dim(s.kv_heads), s.size)}));
  }
  for (const size_t i : {kGqPastKey, kGqPastValue}) {
    if (!c.has_input(i)) continue;
    SV_TRY(require_rank(c, i, 4));
    s.past = c.shape(i).has_rank() ? merge(c.shape(i)[2], i == kGqPastKey ? Dim() : s.past) : Dim();
    const Shape wanted{s.batch, Dim(s.kv_heads), s.past, format.width(s.size)};
    for (size_t d = 0; c.shape(i).has_rank() && d < 4; ++d)
      if (known_different(c.shape(i)[d], wanted[d]))
        return error("{} is {}, needs {}", i == kGqPastKey ? "past_key" : "past_value", to_string(c.shape(i)), to_string(wanted));
  }
  if (format.bits == 4 && s.size.is_static() && s.size.value() % 2 != 0)
    return error("heads of {} elements do not fill bytes with 4 bits each", s.size.value());
  SV_TRY(check_cache_scale(c, format, kGqKeyScale, Dim(s.kv_heads), s.size));
  SV_TRY(check_cache_scale(c, format, kGqValueScale, Dim(s.kv_heads), s.size));
  SV_TRY(require_rank(c, kGqSink, 1));
  if (c.has_input(kGqSink) && c.shape(kGqSink).has_rank() && known_different(c.shape(kGqSink)[0], Dim(s.heads)))
    return error("head_sink is {}, needs an element for each of {} heads", to_string(c.shape(kGqSink)), s.heads);
  SV_TRY(require_rank(c, kGqLengths, 1));
  if (c.shape(kGqLengths).has_rank() && known_different(c.shape(kGqLengths)[0], s.batch))
    return error("seqlens_k has {} elements, needs one for each of {} in the batch", c.shape(kGqLengths)[0].value(),
                 s.batch.value());
  SV_TRY(check_chunked(c, s.batch, s.past));
  const bool slides = c.attributes().get_int("sliding_window_cache", 0) != 0;
  const auto total = c.integers(kGqTotal);
  if (total && !slides && s.queries.is_static() && (*total)[0] < s.queries.value())
    return error("total_sequence_length is {}, must be at least the {} of query", (*total)[0], s.queries.value());
  if (slides) s.present = s.past;
  else if (total && s.past.is_static()) s.present = Dim(std::max((*total)[0], s.past.value()));
  return s;
}

Status infer_group_query(InferContext& c) {
  SV_TRY(check_group_query(c));
  SV_ASSIGN(const GroupQuerySizes s, group_query_sizes(c));
  const auto total = c.integers(kGqTotal);
  const Shape scores{s.batch, Dim(s.heads), s.queries, total ? Dim((*total)[0]) : Dim()};
  SV_TRY(check_attention_bias(c, kGqBias, scores));
  SV_ASSIGN(const CacheFormat format, cache_format(c.attributes()));
  c.set(0, c.dtype(0), Shape{s.batch, s.queries, multiply(Dim(s.heads), s.size)});
  for (size_t i = 1; i < 3; ++i) c.set(i, format.bits ? format.type() : c.dtype(0), Shape{s.batch, Dim(s.kv_heads), s.present, format.width(s.size)});
  c.set(3, c.dtype(0), scores);
  return {};
}

/// [B, S]: where each query stands.
Value* query_positions(ExpandContext& c, const GroupQuery& g) {
  if (c.has_input(kGqPositions)) {
    if (g.chunk || g.total != g.queries) return c.input(kGqPositions);
    // Of a first prompt only the first element counts.
    Value* first = c.slice(c.reshape(c.input(kGqPositions), {-1}), 0, 0, 1);
    Value* row = c.op("Add", {c.up_to(whole(c, g.queries)), first});
    return c.op("Expand", {row, c.ints({g.batch, g.queries})});
  }
  Value* row = c.up_to(whole(c, g.queries));
  return c.op("Add", {c.unsqueeze(g.old_keys, {1}), row});
}

/// One of query, key and value, cut into heads, normalised and rotated.
Value* group_query_part(ExpandContext& c, const GroupQuery& g, Value* v, int64_t heads, size_t norm) {
  v = split_heads(c, v, heads);
  const bool query = norm == kGqQueryNorm;
  if (norm && c.has_input(norm)) {
    const float shared = c.attributes().get_float("qk_norm_epsilon", 1e-6f);
    v = c.op("RMSNormalization", {v, c.input(norm)},
             make_attributes({{"axis", int64_t{-1}},
                              {"epsilon", c.attributes().get_float(query ? "q_norm_epsilon" : "k_norm_epsilon", shared)}}));
  }
  if (!norm || !c.attributes().get_int("do_rotary", 0)) return v;
  const auto half = c.dim(kGqCos, 1);
  const int64_t rotated = half && 2 * *half < g.size ? 2 * *half : 0;
  return c.op(
      "RotaryEmbedding", {v, c.input(kGqCos), c.input(kGqSin), query_positions(c, g)},
      make_attributes({{"interleaved", c.attributes().get_int("rotary_interleaved", 0)}, {"rotary_embedding_dim", rotated}}));
}

/// The cache with the new rows behind each sample's old ones.
Value* present_cache(ExpandContext& c, const GroupQuery& g, size_t past, Value* fresh) {
  const int64_t length = std::max(g.past, g.total), old = g.total - g.queries;
  Value* cache = c.input(past);
  if (g.uniform()) {
    std::vector<Value*> parts;
    if (old > 0 && cache) parts.push_back(g.past == old ? cache : c.slice(cache, 2, 0, old));
    parts.push_back(fresh);
    if (length > g.total) parts.push_back(c.slice(cache, 2, g.total, length));
    return parts.size() == 1 ? fresh : c.concat(std::move(parts), 2);
  }
  if (!cache) return c.op("Pad", {fresh, c.ints({0, 0, 0, 0, 0, 0, length - g.queries, 0})});
  if (length > g.past) cache = c.op("Pad", {cache, c.ints({0, 0, 0, 0, 0, 0, length - g.past, 0})});
  return c.op("TensorScatter", {cache, fresh, g.old_keys}, make_attributes({{"axis", int64_t{2}}}));
}

/// Which keys each query may see, [queries, keys], or for each sample [batch, 1, queries, keys]. Null: all.
Value* keys_seen(ExpandContext& c, const GroupQuery& g) {
  if (g.chunk) return g.chunk->seen;
  KeyPositions p{.queries = whole(c, g.queries),
                 .keys = whole(c, g.total),
                 .offset = nullptr,
                 .causal = c.attributes().get_int("causal", 1) != 0};
  p.offset = g.uniform() ? whole(c, g.total - g.queries) : c.unsqueeze(g.old_keys, {1, 2, 3});
  // A window of n keys is the query's own and n - 1 before it.
  if (const int64_t window = c.attributes().get_int("local_window_size", -1); window > 0) p.left = window - 1;
  if (g.uniform() && g.queries == 1) p.causal = false;  // it sees all keys
  return allowed_keys(c, p);
}

/// What each query may not see, and attention_bias.
Value* group_query_bias(ExpandContext& c, const GroupQuery& g, Value* seen) {
  const DType type = wide_type(c.dtype(0));
  Value* bias = bias_of(c, seen, type);
  if (g.chunk) return sum_of(c, bias, g.chunk->bias);
  if (bias && g.uniform()) bias = c.unsqueeze(bias, {0, 1});
  return sum_of(c, bias, c.has_input(kGqBias) ? c.cast(c.input(kGqBias), type) : nullptr);
}

/// A sink takes part in the Softmax, but has no value: a last key whose score is head_sink, or 0 with smooth_softmax, and whose value is
/// of zeros. So it is attention as any other.
void add_sink(ExpandContext& c, const GroupQuery& g, AttentionProduct& p) {
  const DType type = wide_type(c.dtype(0));
  Value* zeros = c.op("Expand", {c.number(0, c.dtype(0)), c.ints({g.batch, g.kv_heads, 1, g.size})});
  p.k = c.concat({p.k, zeros}, 2), p.v = c.concat({p.v, zeros}, 2);
  if (p.bias) p.bias = c.op("Pad", {p.bias, c.ints({0, 0, 0, 0, 0, 0, 0, 1})});
  if (!c.has_input(kGqSink)) return;
  Value* sink = c.cast(c.reshape(c.input(kGqSink), {1, g.heads, 1, 1}), type);
  p.bias = sum_of(c, p.bias, c.op("Pad", {sink, c.ints({0, 0, 0, g.keys(), 0, 0, 0, 0})}));
}

/// output_qk: the scores, 0 where keys are not seen, or the probabilities.
Value* shown_scores(ExpandContext& c, const GroupQuery& g, const AttentionParts& parts, Value* seen) {
  const bool scores = c.attributes().get_int("qk_output", 0) == 1;
  Value* all = scores ? parts.biased : parts.probabilities;
  if (all) all = c.slice(all, 3, 0, g.total);  // without a sink
  if (all && scores && seen) all = c.op("Where", {seen, all, c.number(0, all->type.dtype)});
  return c.cast(all, c.dtype(0));
}

struct CachedPart {
  Value *present, *used;
};

/// New keys or values in the cache, and what attention reads of it.
CachedPart cached_part(ExpandContext& c, const GroupQuery& g, const CacheFormat& format, Value* fresh, size_t past, size_t scale) {
  const auto restored = [&](Value* v) { return restored_cache(c, format, v, c.input(scale), g.kv_heads, g.size, c.dtype(0)); };
  fresh = quantized_cache(c, format, fresh, c.input(scale), g.kv_heads, g.size);
  if (g.chunk) {
    Value* all = c.concat({c.input(past), fresh}, 2);
    return {present_of_chunk(c, *g.chunk, all), restored(all)};
  }
  Value* present = present_cache(c, g, past, fresh);
  return {present, restored(std::max(g.past, g.total) > g.total ? c.slice(present, 2, 0, g.total) : present)};
}

Status expand_group_query(ExpandContext& c) {
  for (const Value* v : c.node().inputs())
    if (v && !v->type.shape.is_static()) return {};
  const Value* given = c.input(kGqTotal);
  if (!given || !given->is_constant()) return {};
  GroupQuery g;
  g.heads = c.attributes().get_int("num_heads", 1), g.kv_heads = c.attributes().get_int("kv_num_heads", 1);
  g.batch = *c.dim(0, 0), g.queries = *c.dim(0, 1);
  g.size = *c.dim(0, 2) / (c.has_input(kGqKey) ? g.heads : g.heads + 2 * g.kv_heads);
  g.past = c.has_input(kGqPastKey) ? *c.dim(kGqPastKey, 2) : 0;
  g.total = given->constant().as_int64s()[0];
  if (is_chunked(c.node())) g.chunk = chunked_keys(c, g);
  if (!c.has_input(kGqPastKey) && g.total > g.queries)
    return error("total_sequence_length is {} for {} new keys, but there is no past_key", g.total, g.queries);
  Value* lengths = c.cast(c.input(kGqLengths), DType::i64);
  if (g.chunk) g.old_keys = g.chunk->old_keys;
  else if (g.uniform()) g.old_keys = c.op("Expand", {c.ints({g.total - g.queries}), c.ints({g.batch})});
  else g.old_keys = c.op("Sub", {lengths, c.number(static_cast<double>(g.queries - 1), DType::i64)});
  Value *q = c.input(kGqQuery), *k = c.input(kGqKey), *v = c.input(kGqValue);
  if (!k) {
    const Node* parts = c.builder().node("", "Split", {q, c.ints({g.heads * g.size, g.kv_heads * g.size, g.kv_heads * g.size})},
                                         3, make_attributes({{"axis", int64_t{2}}}));
    if (!parts) return {};
    q = parts->output(0), k = parts->output(1), v = parts->output(2);
  }
  AttentionProduct p;
  p.q_heads = g.heads, p.kv_heads = g.kv_heads;
  p.scale = runtime_scale(c.attributes(), g.size), p.softcap = c.attributes().get_float("softcap", 0);
  p.q = group_query_part(c, g, q, g.heads, kGqQueryNorm);
  SV_ASSIGN(const CacheFormat format, cache_format(c.attributes()));
  const CachedPart keys = cached_part(c, g, format, group_query_part(c, g, k, g.kv_heads, kGqKeyNorm), kGqPastKey, kGqKeyScale);
  const CachedPart values = cached_part(c, g, format, group_query_part(c, g, v, g.kv_heads, 0), kGqPastValue, kGqValueScale);
  if (!c.builder().status().ok()) return {};
  p.k = keys.used, p.v = values.used;
  Value* seen = keys_seen(c, g);
  p.bias = group_query_bias(c, g, seen);
  if (c.has_input(kGqSink) || c.attributes().get_int("smooth_softmax", 0) == 1) add_sink(c, g, p);
  if (!c.builder().status().ok()) return {};
  const AttentionParts result = attend(c, p);
  c.set(0, merge_heads(c, c.cast(result.y, c.dtype(0))));
  c.set(1, keys.present), c.set(2, values.present);
  if (c.has_output(3)) c.set(3, shown_scores(c, g, result, seen));
  return {};
}

}  // namespace

OpDef define_microsoft_group_query_attention() {
  OpDef op{
      .name = "GroupQueryAttention",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "query, key?, value?, past_key?, past_value?, seqlens_k, total_sequence_length, cos_cache?, sin_cache?, position_ids?, "
                "attention_bias?, head_sink?, k_scale?, v_scale?, q_norm_weight?, k_norm_weight?, query_seqlens?",
      .outputs = {1, 4},
      .attributes = {{"num_heads", AttributeKind::kInt, true},
                     {"kv_num_heads", AttributeKind::kInt, true},
                     {"scale", AttributeKind::kFloat},
                     {"softcap", AttributeKind::kFloat},
                     {"causal", AttributeKind::kInt, false, 1},
                     {"local_window_size", AttributeKind::kInt, false, -1},
                     {"smooth_softmax", AttributeKind::kInt, false, -1},
                     {"sliding_window_cache", AttributeKind::kInt, false, 0},
                     {"qk_output", AttributeKind::kInt, false, 0},
                     {"qk_norm_epsilon", AttributeKind::kFloat, false, 1e-6f},
                     {"k_quant_type", AttributeKind::kString, false, "NONE"},
                     {"v_quant_type", AttributeKind::kString, false, "NONE"}},
      .expand = expand_group_query,
      .infer = infer_group_query,
      .traits = {.shape_inputs = {kGqTotal}},
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[2, 3, 16], float32[2, 3, 8], float32[2, 3, 8], float32[2, 2, 2, 4], float32[2, 2, 2, 4], int32[2]{4, 3}, "
                 "int32[1]{5}) {num_heads = 4, kv_num_heads = 2} 3"
                 "(float32[1, 1, 4], float32[1, 1, 4], float32[1, 1, 4], float32[1, 1, 3, 4], float32[1, 1, 3, 4], int32[1]{3}, "
                 "int32[1]{4}, float32[8, 2], float32[8, 2]) {num_heads = 1, kv_num_heads = 1, do_rotary = 1, local_window_size = 2} 3"
                 "(float32[2, 3, 16], float32[2, 3, 8], float32[2, 3, 8], float32[2, 2, 0, 4], float32[2, 2, 0, 4], int32[2]{2, 2}, "
                 "int32[1]{3}, float32[8, 2], float32[8, 2], int64[2, 3] 0 to 8, float32[1, 4, 3, 3], float32[4]) {num_heads = 4, "
                 "kv_num_heads = 2}"
                 "(float32[1, 2, 12], float32[1, 2, 12], float32[1, 2, 12], float32[1, 3, 2, 4], float32[1, 3, 2, 4], int32[1]{3}, "
                 "int32[1]{4}) {num_heads = 3, kv_num_heads = 3, smooth_softmax = 1, qk_output = 2} 4"
                 "(float32[1, 2, 8], float32[1, 2, 8], float32[1, 2, 8], int8[1, 1, 3, 8] -128 to 128, int8[1, 1, 3, 8] -128 to 128, int32[1]{4}, "
                 "int32[1]{5}, -, -, -, -, -, float32[1]{0.05}, float32[1]{0.04}) {num_heads = 1, kv_num_heads = 1, k_quant_type = "
                 R"("PER_TENSOR", v_quant_type = "PER_TENSOR", kv_cache_bit_width = 8, qk_output = 1} 4)"
                 "(float32[1, 1, 16], float32[1, 1, 8], float32[1, 1, 8], uint8[1, 2, 3, 2] 0 to 256, uint8[1, 2, 3, 2] 0 to 256, int32[1]{3}, "
                 "int32[1]{4}, -, -, -, -, -, float32[1, 2, 1, 4] 0.1 to 0.5, float32[1, 2, 1, 4] 0.1 to 0.5) {num_heads = 4, kv_num_heads = 2, "
                 R"(k_quant_type = "PER_CHANNEL", v_quant_type = "PER_CHANNEL", kv_cache_bit_width = 4} 3)"
                 "(float32[1, 2, 8], float32[1, 2, 8], float32[1, 2, 8], float32[1, 1, 4, 8], float32[1, 1, 4, 8], int32[1]{6}, int32[1]{7}) "
                 "{num_heads = 1, kv_num_heads = 1, sliding_window_cache = 1, local_window_size = 3} 3"
                 "(float32[2, 3, 8], float32[2, 3, 8], float32[2, 3, 8], float32[2, 1, 6, 8], float32[2, 1, 6, 8], int32[2]{2, 3}, int32[1]{6}, "
                 "-, -, -, -, -, -, -, -, -, int32[2]{2, 1}) {num_heads = 1, kv_num_heads = 1} 3",
  };
  for (const char* name : {"do_rotary", "rotary_interleaved", "kv_cache_bit_width"}) op.attributes.push_back({name, AttributeKind::kInt});
  for (const char* name : {"q_norm_epsilon", "k_norm_epsilon"}) op.attributes.push_back({name, AttributeKind::kFloat});
  return op;
}

}  // namespace svengine::ops
