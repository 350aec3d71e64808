// Sequences of different lengths in one tensor, one behind another, [tokens, ...], as com.microsoft's operators for servers have them:
// sequence b is the rows from cumulative[b] on and before cumulative[b + 1].
//
//     cumulative [0, 2, 5]      rows a0 a1 b0 b1 b2      padded   a0 a1 -
//                                                                 b0 b1 b2
#pragma once
#include "engine/ops/microsoft/microsoft_common.h"

namespace svengine::ops {

/// The number of sequences; an error where `cumulative`, int32 [batch + 1], cannot be what it is for that many tokens.
Result<Dim> packed_batch(const InferContext& c, size_t cumulative, const Dim& tokens);

class PackedTokens {
 public:
  /// `tokens` has the rows.
  PackedTokens(ExpandContext& c, Value* cumulative, Value* tokens);

  /// [tokens, width] as [batch, longest, width], with zeros behind the ends of sequences; and back.
  Value* padded(Value* v) const;
  Value* packed(Value* v, int64_t width) const;
  /// int64 [batch].
  Value* lengths() const { return lengths_; }

 private:
  ExpandContext& c_;
  Value *lengths_, *valid_, *rows_, *places_;  // valid and rows: of each padded element; places: of each row among the padded ones
};

}  // namespace svengine::ops
