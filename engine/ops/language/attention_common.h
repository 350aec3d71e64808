// What the attention operators of ai.onnx and com.microsoft are made of: nodes that the pass `attention` finds and makes one of.
#pragma once
#include <functional>

#include "engine/graph/expand.h"
#include "engine/ops/infer_util.h"

namespace svengine::ops {


/// float32 for narrower types, else the type itself: what attention is computed in.
DType wide_type(DType type);

/// [B, L, heads * size] as [B, heads, L, size], and back.
Value* split_heads(ExpandContext& c, Value* v, int64_t heads);
Value* merge_heads(ExpandContext& c, Value* v);

/// Two values that may be absent (null): their sum, or logical and.
Value* sum_of(ExpandContext& c, Value* a, Value* b);
Value* both_of(ExpandContext& c, Value* a, Value* b);
/// 0 where `allowed`, else minus infinity.
Value* bias_of(ExpandContext& c, Value* allowed, DType type);

/// Which keys a query may see by its position, as a bool value that broadcasts to [B, 1, queries, keys]; null: all.
struct KeyPositions {
  Value* queries = nullptr;  // int64 scalar: their number
  Value* keys = nullptr;     // likewise
  Value* offset = nullptr;   // int64, a scalar or [B, 1, 1, 1]: the position of the first query among the keys. Null: 0
  bool causal = false;
  int64_t left = -1, right = -1;  // keys before and after a query's position that it sees; -1: all
};
Value* allowed_keys(ExpandContext& c, const KeyPositions& p);

struct AttentionProduct {
  Value *q = nullptr, *k = nullptr, *v = nullptr;  // [B, heads, length, size]; query heads are a multiple of kv_heads
  int64_t q_heads = 0, kv_heads = 0;
  double scale = 1, softcap = 0;
  Value* bias = nullptr;    // of rank 4, broadcasts to [B, q_heads, queries, keys], of type wide_type(q). Null: none
  bool empty_rows = false;  // a row of bias may be all minus infinity: then y is 0
  DType softmax_type = DType::undefined;  // undefined: as computed
  /// What becomes of the scores before the Softmax and of the probabilities behind it, [B, q_heads, queries, keys] of softmax_type.
  std::function<Value*(Value*)> modify_scores = {}, modify_probabilities = {};
};
/// All of the type that is computed in, [B, q_heads, queries, ...].
struct AttentionParts {
  Value *y = nullptr, *raw = nullptr, *capped = nullptr, *biased = nullptr, *probabilities = nullptr;
};
/// y = softmax(cap(scale q k') + bias) v. Parts that nobody reads are dropped by `dead`. Unset where shapes are needed that are
/// not known: a bias with several query heads for a head of keys.
AttentionParts attend(ExpandContext& c, const AttentionProduct& p);

}  // namespace svengine::ops
