#include "engine/ops/quantized/counted_inputs.h"

#include "engine/ops/infer_util.h"

namespace svengine::ops {
namespace {

/// `count` elements may be one, `each`, or `each` for every matrix of `operand`.
Status check_count(const InferContext& c, size_t input, size_t operand, const Dim& each) {
  if (!c.has_input(input) || !c.shape(input).is_static() || !each.is_static()) return {};
  const int64_t count = element_count(*c.shape(input).concrete());
  if (count == 1 || count == each.value()) return {};
  const Shape& of = c.shape(operand);
  if (!of.is_static()) return {};
  int64_t all = each.value();
  for (size_t i = 0; i + 2 < static_cast<size_t>(of.rank()); ++i) all *= of[i].value();
  if (count == all) return {};
  return error("{} has {} elements, needs 1 or {}, one for each row or column of input {}, {}", c.described(input), count, each.value(), operand,
               to_string(of));
}

Status check_bias(const InferContext& c, size_t input, const Dim& columns) {
  if (!c.has_input(input)) return {};
  SV_TRY(require_rank(c, input, 1));
  const Shape& bias = c.shape(input);
  if (!bias.has_rank() || !known_different(bias[0], columns)) return {};
  return error("bias has {} elements, needs {}, one for each column of the result", bias[0].value(), columns.value());
}

}  // namespace

Status check_counts(const InferContext& c, const CountedInputs& inputs) {
  const Shape &a = c.shape(inputs.a), &b = c.shape(inputs.b);
  for (size_t i : inputs.single)
    if (c.has_input(i) && c.shape(i).is_static() && element_count(*c.shape(i).concrete()) != 1)
      return error("{} of shape {} needs one element", c.described(i), to_string(c.shape(i)));
  if (a.has_rank() && a.rank() > 0) {
    const auto rank = static_cast<size_t>(a.rank());
    const Dim rows = rank == 1 ? Dim(1) : a[rank - (inputs.a_transposed ? 1 : 2)];
    for (size_t i : inputs.of_rows) SV_TRY(check_count(c, i, inputs.a, rows));
  }
  if (b.has_rank() && b.rank() > 0) {
    const auto rank = static_cast<size_t>(b.rank());
    const Dim columns = rank == 1 ? Dim(1) : b[rank - (inputs.b_transposed ? 2 : 1)];
    for (size_t i : inputs.of_columns) SV_TRY(check_count(c, i, inputs.b, columns));
    for (size_t i : inputs.biases) SV_TRY(check_bias(c, i, columns));
  }
  return {};
}

}  // namespace svengine::ops
