#include "engine/ops/microsoft/packed_tokens_common.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace svengine::ops {

Result<Dim> packed_batch(const InferContext& c, size_t cumulative, const Dim& tokens) {
  SV_TRY(require_rank(c, cumulative, 1));
  if (!c.has_input(cumulative) || !c.shape(cumulative).has_rank() || !c.shape(cumulative)[0].is_static()) return Dim();
  const int64_t ends = c.shape(cumulative)[0].value();
  if (ends < 2)
    return error("{} has {} elements, needs one more than there are sequences, of which there must be one at least", c.described(cumulative),
                 ends);
  const auto known = c.integers(cumulative);
  if (!known) return Dim(ends - 1);
  if (known->front() != 0 || std::adjacent_find(known->begin(), known->end(), std::greater_equal<int64_t>()) != known->end() ||
      known_different(Dim(known->back()), tokens))
    return error("{} must begin with 0, grow, and end with the number of tokens", c.described(cumulative));
  return Dim(ends - 1);
}

PackedTokens::PackedTokens(ExpandContext& c, Value* cumulative, Value* tokens) : c_(c) {
  Value* bounds = c.cast(cumulative, DType::i64);
  Value *begins = c.slice(bounds, 0, 0, -1), *ends = c.slice(bounds, 0, 1, std::numeric_limits<int64_t>::max());
  lengths_ = c.op("Sub", {ends, begins});
  Value* longest = c.op("ReduceMax", {lengths_, c.ints({0})}, make_attributes({{"keepdims", int64_t{0}}}));
  Value* step = c.up_to(longest);
  valid_ = c.op("Less", {step, c.unsqueeze(lengths_, {1})});
  rows_ = c.op("Where", {valid_, c.op("Add", {step, c.unsqueeze(begins, {1})}), c.number(0, DType::i64)});
  // A row's sequence is the number of sequences that have ended before it.
  Value* row = c.up_to(c.scalar_of_dim(tokens, 0));
  Value* ended = c.cast(c.op("GreaterOrEqual", {c.unsqueeze(row, {1}), ends}), DType::i64);
  Value* sequence = c.op("ReduceSum", {ended, c.ints({1})}, make_attributes({{"keepdims", int64_t{0}}}));
  Value* within = c.op("Sub", {row, c.op("Gather", {begins, sequence})});
  places_ = c.op("Add", {c.op("Mul", {sequence, longest}), within});
}

Value* PackedTokens::padded(Value* v) const {
  if (!v) return nullptr;
  Value* all = c_.op("Gather", {v, rows_});
  return all ? c_.op("Where", {c_.unsqueeze(valid_, {2}), all, c_.number(0, all->type.dtype)}) : nullptr;
}

Value* PackedTokens::packed(Value* v, int64_t width) const { return c_.op("Gather", {c_.reshape(v, {-1, width}), places_}); }

}  // namespace svengine::ops
