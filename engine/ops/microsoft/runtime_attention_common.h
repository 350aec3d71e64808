// What com.microsoft's attention operators share: masks that are a large negative number instead of minus infinity, and lengths
// in place of masks.
#pragma once
#include <optional>

#include "engine/ops/microsoft/microsoft_common.h"

namespace svengine::ops {

struct RuntimeMask {
  Value* mask = nullptr;   // of key padding: lengths [B], ends and starts [2 B], or 0 and 1 of rank 2 or 3. Null: none
  double filter = -10000;  // what is added where the mask is 0
  bool unidirectional = false;
  Value* bias = nullptr;  // attention_bias
};

/// A mask's shape for a batch, queries and keys, which may be unknown. Where there may be a placeholder, it is [batch, 1] or [1, 1].
enum class Placeholder : uint8_t { refused, taken };
Status check_runtime_mask(const InferContext& c, size_t input, const Dim& batch, const Dim& queries,
                          const Dim& keys, Placeholder placeholder);

/// Of an input that must be fed though there is nothing to mask, as ONNX Runtime takes it: [batch, 1] or [1, 1] in place of [batch, keys]. Unknown
/// while the number of keys is, if the mask's is known to be 1.
std::optional<bool> is_placeholder(const Shape& mask, const Dim& keys);
Status check_attention_bias(const InferContext& c, size_t input, const Shape& scores);

/// The bias of scores [B, heads, queries, keys] of q and k, of rank 4; null when there is none. `past` as in KeyPositions.
/// `known` is false where shapes are needed that are not known.
Value* runtime_bias(ExpandContext& c, const RuntimeMask& m, Value* q, Value* k, Value* past, bool& known);

/// Queries, keys and values beside one another, [batch, tokens, 2 qk + v], and the node's inputs with what else Attention takes.
struct MergedProduct {
  Value* all = nullptr;
  int64_t qk = 0, v = 0;  // hidden sizes
  size_t mask = 3, past = 4;
  Value* bias = nullptr;  // attention_bias
};
/// Cuts them into heads, attends, and sets outputs 0 (y) and 1 (present). Sets nothing where shapes are needed that are not known.
Status attend_merged(ExpandContext& c, const MergedProduct& merged);

/// attribute scale, or 1 / sqrt(size).
double runtime_scale(const Attributes& attributes, int64_t size);

}  // namespace svengine::ops
