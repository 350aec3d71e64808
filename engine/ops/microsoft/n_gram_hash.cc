// com.microsoft.NGramHashMapping, and VarlenNGramHashMapping of sequences one behind another: rows of embedding tables for the last 2, 3, ..
// max_ngram_size tokens of each place of a text.
//
//     mix_n = id_t m_0 ^ id_{t-1} m_1 ^ ... ^ id_{t-n+1} m_{n-1}        row of head h = mix_n mod size_h + offset_h
//
// in the ids' own arithmetic, modulo as Python has it. Before a text's first token there are past_ids, or eos_token_id or pad_id; so there
// are behind the last end of a text (reset_on_eos) and behind a change of segment_ids.
#include <algorithm>
#include <type_traits>

#include "engine/ops/lowering.h"
#include "engine/ops/microsoft/packed_tokens_common.h"

namespace svengine::ops {
namespace {

constexpr int64_t kMostNgram = 64;  // far beyond what is used; bounds what a node may cost

/// Where both operators have what.
struct HashInputs {
  size_t cumulative, past, offsets, eos, segments, past_segments, capture;
};
constexpr size_t kNoSuchInput = 99;
constexpr HashInputs kHashRows{kNoSuchInput, 3, 4, 5, 6, kNoSuchInput, kNoSuchInput}, kHashPacked{3, 4, 5, 6, 7, 8, 9};
enum HashInput : size_t { kHashIds, kHashMultipliers, kHashSizes };

int64_t orders_of(const Attributes& a) { return a.get_int("max_ngram_size", 2) - 1; }
int64_t heads_of(const Attributes& a) { return orders_of(a) * a.get_int("n_head_per_ngram", 1); }

Status check_hash(const InferContext& c, const HashInputs& at, const Dim& batch) {
  const Attributes& a = c.attributes();
  const int64_t most = a.get_int("max_ngram_size", 0), each = a.get_int("n_head_per_ngram", 0);
  if (most < 2 || most > kMostNgram) return error("max_ngram_size is {}, must be 2 to {}", most, kMostNgram);
  if (each < 1 || each > INT32_MAX / kMostNgram) return error("n_head_per_ngram is {}, must be at least 1", each);
  SV_TRY(require_rank(c, kHashMultipliers, 1));
  const Shape& multipliers = c.shape(kHashMultipliers);
  if (multipliers.has_rank() && multipliers[0].is_static() && multipliers[0].value() < most)
    return error("multipliers has {} elements, needs {}", multipliers[0].value(), most);
  SV_TRY(require_shape(c, kHashSizes, Shape{Dim(heads_of(a))}));
  SV_TRY(require_shape(c, at.offsets, Shape{Dim(heads_of(a))}));
  SV_TRY(require_shape(c, at.past, Shape{batch, Dim(orders_of(a))}));
  SV_TRY(require_shape(c, at.past_segments, Shape{batch, Dim(orders_of(a))}));
  SV_TRY(require_single(c, at.eos));
  return c.has_input(at.segments) ? require_same_shape(c, kHashIds, at.segments) : Status();
}

Status infer_hash(InferContext& c) {
  SV_TRY(require_rank(c, kHashIds, 2));
  const Shape ids = c.shape(0).has_rank() ? c.shape(0) : unknown_dims(2);
  SV_TRY(check_hash(c, kHashRows, ids[0]));
  c.set(0, c.dtype(0), Shape{ids[0], ids[1], Dim(heads_of(c.attributes()))});
  c.set(1, c.dtype(0), Shape{ids[0], Dim(orders_of(c.attributes()))});
  return {};
}

Status infer_packed_hash(InferContext& c) {
  SV_TRY(require_rank(c, kHashIds, 1));
  const Dim tokens = c.shape(0).has_rank() ? c.shape(0)[0] : Dim();
  SV_ASSIGN(const Dim batch, packed_batch(c, kHashPacked.cumulative, tokens));
  SV_TRY(check_hash(c, kHashPacked, batch));
  const Dim orders(orders_of(c.attributes()));
  const int64_t capacity = c.attributes().get_int("state_update_capacity", 0);
  if (capacity < 0 || capacity > 8) return error("state_update_capacity is {}, must be 0 to 8", capacity);
  if ((capacity > 0) != c.has_input(kHashPacked.capture))
    return error("capture_count goes with a state_update_capacity above 0, which is {}", capacity);
  if (capacity == 0 && c.has_output(3)) return error("output state_update needs a state_update_capacity above 0");
  if (c.has_input(kHashPacked.past_segments) && !c.has_input(kHashPacked.segments)) return error("past_segment_ids goes with segment_ids");
  SV_TRY(require_shape(c, kHashPacked.capture, Shape{batch}));
  c.set(0, c.dtype(0), Shape{tokens, Dim(heads_of(c.attributes()))});
  c.set(1, c.dtype(0), Shape{batch, orders});
  c.set(2, DType::i32, Shape{batch, orders});
  c.set(3, c.dtype(0), Shape{batch, Dim(capacity), orders});
  return {};
}

/// One text: `length` tokens, and the `orders` places before them. Place p is that of token p - orders.
template <class T>
struct HashText {
  int64_t orders, length;
  const T *past, *ids;
  const int32_t *past_segments, *segments;
  T fill;       // what is before a text
  const T* end;  // eos_token_id where it resets

  T id(int64_t p) const { return p >= orders ? ids[p - orders] : past ? past[p] : fill; }
  /// That of the text's first token where nothing is known of what was before; 0 where nothing is known at all.
  int32_t segment(int64_t p) const { return !segments ? 0 : p >= orders ? segments[p - orders] : past_segments ? past_segments[p] : segments[0]; }
  /// The first place that the n-gram at p may reach back to.
  int64_t first(int64_t p) const {
    for (int64_t q = p; q > p - orders; --q)
      if ((segments && segment(q) != segment(q - 1)) || (end && id(q - 1) == *end)) return q;
    return p - orders;
  }
};

/// hashes: one for each head. Sums and products wrap, so they are of unsigned numbers.
template <class T>
void hash_token(const HashText<T>& text, int64_t p, const T* multipliers, const T* sizes, const T* offsets, int64_t each, T* hashes) {
  using Unsigned = std::make_unsigned_t<T>;
  const int64_t first = text.first(p);
  Unsigned mix = 0;
  for (int64_t k = 0; k <= text.orders; ++k) {
    const T id = p - k < first ? text.fill : text.id(p - k);
    mix ^= static_cast<Unsigned>(id) * static_cast<Unsigned>(multipliers[k]);
    for (int64_t head = (k - 1) * each; k > 0 && head < k * each; ++head) {
      const T rest = static_cast<T>(static_cast<T>(mix) % sizes[head]);
      const auto row = static_cast<Unsigned>(rest < 0 ? rest + sizes[head] : rest);
      hashes[head] = static_cast<T>(offsets ? row + static_cast<Unsigned>(offsets[head]) : row);
    }
  }
}

struct HashStep {
  HashInputs at;
  int64_t batch, tokens, orders, each, capacity;
  bool resets;
  int64_t pad;
  std::vector<Buffer> in = {};
  Buffer hashes = {}, present = {}, present_segments = {}, update = {};

  Buffer input(size_t i) const { return i < in.size() ? in[i] : Buffer(); }
  /// Where text b begins and ends, -1 where `cumulative` is not what it should be.
  std::pair<int64_t, int64_t> range(const Run& run, int64_t b) const {
    const auto* bounds = run.get<const int32_t>(input(at.cumulative));  // none: the texts are rows of one length
    if (!bounds) return {b * (tokens / batch), (b + 1) * (tokens / batch)};
    const bool whole = bounds[0] == 0 && bounds[batch] == tokens && bounds[b] >= 0 && bounds[b] < bounds[b + 1] && bounds[b + 1] <= tokens;
    return whole ? std::pair<int64_t, int64_t>(bounds[b], bounds[b + 1]) : std::pair<int64_t, int64_t>(-1, -1);
  }
};

template <class T>
void put_states(const HashStep& s, const Run& run, int64_t b, const HashText<T>& text) {
  if (T* present = run.get<T>(s.present))
    for (int64_t i = 0; i < s.orders; ++i) present[b * s.orders + i] = text.id(text.length + i);
  if (auto* segments = run.get<int32_t>(s.present_segments))
    for (int64_t i = 0; i < s.orders; ++i) segments[b * s.orders + i] = text.segment(text.length + i);
  T* update = run.get<T>(s.update);
  if (!update) return;
  const int64_t wanted = run.get<const int32_t>(s.input(s.at.capture))[b], taken = std::clamp<int64_t>(wanted, 0, std::min(s.capacity, text.length));
  for (int64_t n = 0; n < s.capacity; ++n)
    for (int64_t i = 0; i < s.orders; ++i) update[(b * s.capacity + n) * s.orders + i] = n < taken ? text.id(n + 1 + i) : static_cast<T>(s.pad);
}

template <class T>
const char* hash_texts(const HashStep& s, const Run& run, int64_t begin, int64_t end) {
  const auto* sizes = run.get<const T>(s.input(kHashSizes));
  if (std::any_of(sizes, sizes + s.orders * s.each, [](T n) { return n <= 0; })) return "vocab_sizes must be above 0";
  const T *past = run.get<const T>(s.input(s.at.past)), *eos = run.get<const T>(s.input(s.at.eos));
  const auto *segments = run.get<const int32_t>(s.input(s.at.segments)), *past_segments = run.get<const int32_t>(s.input(s.at.past_segments));
  for (int64_t b = begin; b < end; ++b) {
    const auto [from, to] = s.range(run, b);
    if (from < 0) return "cumulative_sequence_length must begin with 0, grow, and end with the number of tokens";
    const HashText<T> text{s.orders, to - from, past ? past + b * s.orders : nullptr, run.get<const T>(s.input(kHashIds)) + from,
                           past_segments ? past_segments + b * s.orders : nullptr, segments ? segments + from : nullptr,
                           eos ? *eos : static_cast<T>(s.pad), s.resets ? eos : nullptr};
    for (int64_t i = 0; i < text.length; ++i)
      hash_token(text, s.orders + i, run.get<const T>(s.input(kHashMultipliers)), sizes, run.get<const T>(s.input(s.at.offsets)), s.each,
                 run.get<T>(s.hashes) + (from + i) * s.orders * s.each);
    put_states(s, run, b, text);
  }
  return nullptr;
}

Status lower_hash_of(LowerContext& c, const HashInputs& at) {
  const Attributes& a = c.attributes();
  HashStep s{.at = at,
             .batch = c.has_input(at.cumulative) ? c.in_dims(at.cumulative)[0] - 1 : c.in_dims(kHashIds)[0],
             .tokens = element_count(c.in_dims(kHashIds)),
             .orders = orders_of(a),
             .each = a.get_int("n_head_per_ngram", 1),
             .capacity = a.get_int("state_update_capacity", 0),
             .resets = a.get_int("reset_on_eos", 0) != 0,
             .pad = a.get_int("pad_id", 0)};
  for (size_t i = 0; i < c.input_count(); ++i) s.in.push_back(c.in(i));
  s.hashes = c.out(0);
  if (c.has_output(1)) s.present = c.out(1);
  if (c.has_output(2)) s.present_segments = c.out(2);
  if (c.has_output(3)) s.update = c.out(3);
  const bool wide = c.in_type(0).dtype == DType::i64;
  c.emit("n_gram_hash", s.batch, [s, wide](const Run& run, int64_t begin, int64_t end) {
    return wide ? hash_texts<int64_t>(s, run, begin, end) : hash_texts<int32_t>(s, run, begin, end);
  });
  return {};
}

std::vector<AttributeDef> hash_attributes() {
  return {{"max_ngram_size", AttributeKind::kInt, true},
          {"n_head_per_ngram", AttributeKind::kInt, true},
          {"pad_id", AttributeKind::kInt, true},
          {"reset_on_eos", AttributeKind::kInt, false, 0}};
}

}  // namespace

OpDef define_microsoft_n_gram_hash_mapping() {
  return {
      .name = "NGramHashMapping",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "input_ids, multipliers, vocab_sizes, past_ids?, head_offsets?, eos_token_id?, segment_ids?",
      .outputs = {1, 2},
      .attributes = hash_attributes(),
      .infer = infer_hash,
      .lower = [](LowerContext& c) { return lower_hash_of(c, kHashRows); },
      .types = {{"M", kIndexTypes, {0, 1, 2, 3, 4, 5}}, {"S", {DType::i32}, {6}}},
      .samples = "(int64[2, 5] 0 to 9, int64[3]{7919, 104729, 1299709}, int64[4]{11, 13, 17, 19}, int64[2, 2] 0 to 9, int64[4]{0, 11, 24, 41}, "
                 "int64[]{3}, int32[2, 5] 0 to 2) {max_ngram_size = 3, n_head_per_ngram = 2, pad_id = 1, reset_on_eos = 1} 2"
                 "(int32[1, 4] -9 to 9, int32[2]{2147483647, 5}, int32[1]{11}) {max_ngram_size = 2, n_head_per_ngram = 1, pad_id = 0}",
  };
}

OpDef define_microsoft_varlen_n_gram_hash_mapping() {
  OpDef op{
      .name = "VarlenNGramHashMapping",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "input_ids, multipliers, vocab_sizes, cumulative_sequence_length, past_ids?, head_offsets?, eos_token_id?, segment_ids?, "
                "past_segment_ids?, capture_count?",
      .outputs = {1, 4},
      .attributes = hash_attributes(),
      .infer = infer_packed_hash,
      .lower = [](LowerContext& c) { return lower_hash_of(c, kHashPacked); },
      .types = {{"M", kIndexTypes, {0, 1, 2, 4, 5, 6}}, {"S", {DType::i32}, {3, 7, 8, 9}}},
      .samples = "(int64[7] 0 to 9, int64[3]{7919, 104729, 1299709}, int64[4]{11, 13, 17, 19}, int32[4]{0, 2, 3, 7}, int64[3, 2] 0 to 9, -, "
                 "int64[1]{3}, int32[7] 0 to 2, int32[3, 2] 0 to 2, int32[3]{1, 2, 3}) {max_ngram_size = 3, n_head_per_ngram = 2, pad_id = 1, "
                 "reset_on_eos = 1, state_update_capacity = 2} 4"
                 "(int32[3] 0 to 9, int32[2]{3, 5}, int32[1]{11}, int32[2]{0, 3}) {max_ngram_size = 2, n_head_per_ngram = 1, pad_id = 0}",
  };
  op.attributes.push_back({"state_update_capacity", AttributeKind::kInt, false, 0});
  return op;
}

}  // namespace svengine::ops
