// What com.microsoft.GroupQueryAttention is made of.
#pragma once
#include <optional>

#include "engine/ops/microsoft/runtime_attention_common.h"

namespace svengine::ops {

enum GroupQueryInput : size_t {
  kGqQuery,
  kGqKey,
  kGqValue,
  kGqPastKey,
  kGqPastValue,
  kGqLengths,
  kGqTotal,
  kGqCos,
  kGqSin,
  kGqPositions,
  kGqBias,
  kGqSink,
  kGqKeyScale,
  kGqValueScale,
  kGqQueryNorm,
  kGqKeyNorm,
  kGqQueryLengths
};

/// Where keys stand that are in no order of positions: those of the cache and then the new ones, `past + queries` of them.
struct ChunkedKeys {
  Value* old_keys = nullptr;      // int64 [B]: how many keys each sample had
  Value* seen = nullptr;          // bool [B, 1, queries, keys]
  Value* bias = nullptr;          // attention_bias for these keys; null: none
  Value* present_rows = nullptr;  // int64 [B, length, 1]: which key each row of the present cache is
};

/// All sizes are known where this is used.
struct GroupQuery {
  int64_t batch, queries, heads, kv_heads, size, past, total;
  Value* old_keys;  // int64 [B]: how many keys each sample had
  std::optional<ChunkedKeys> chunk = {};
  /// They are all `total - queries`, for there is but one sample, or nothing is old.
  bool uniform() const { return !chunk && (batch == 1 || total == queries); }
  int64_t keys() const { return chunk ? past + queries : total; }
};

/// An int64 scalar.
Value* whole(ExpandContext& c, int64_t n);

/// Caches that hold the last keys alone (sliding_window_cache), and chunks of queries that are padded to one length (query_seqlens).
bool is_chunked(const Node& node);
Status check_chunked(const InferContext& c, const Dim& batch, const Dim& past);
ChunkedKeys chunked_keys(ExpandContext& c, const GroupQuery& g);
/// Of the cache and the new keys, [B, heads, past + queries, size], the present cache.
Value* present_of_chunk(ExpandContext& c, const ChunkedKeys& chunk, Value* all);

}  // namespace svengine::ops
