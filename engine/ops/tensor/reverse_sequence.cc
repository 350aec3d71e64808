// ReverseSequence: of every batch entry the first sequence_lens[b] time steps in reverse order, the rest as they are.
#include <algorithm>
#include <cstring>

#include "engine/graph/gradient.h"
#include "engine/ops/evaluate_strings.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/tensor/copy_common.h"

namespace svengine::ops {
namespace {

Status infer_reverse_sequence(InferContext& c) {
  SV_TRY(require_rank_at_least(c, 0, 2));
  SV_TRY(require_dtype(c, 1, {DType::i64}));
  SV_TRY(require_rank(c, 1, 1));
  const int64_t batch = c.attributes().get_int("batch_axis", 1), time = c.attributes().get_int("time_axis", 0);
  if ((batch != 0 || time != 1) && (batch != 1 || time != 0))
    return error("batch_axis is {} and time_axis {}, need to be 0 and 1, or 1 and 0", batch, time);
  const Shape &in = c.shape(0), &lengths = c.shape(1);
  if (in.has_rank() && lengths.has_rank() && known_different(in[static_cast<size_t>(batch)], lengths[0]))
    return error("{} lengths for a batch of {}", lengths[0].value(), in[static_cast<size_t>(batch)].value());
  c.set(0, c.dtype(0), in);
  return {};
}

/// A time step, which may be one element.
void copy_step(std::byte* to, const std::byte* from, int64_t bytes) {
  switch (bytes) {
    case 1: *to = *from; return;
    case 4: std::memcpy(to, from, 4); return;
    case 8: std::memcpy(to, from, 8); return;
    default: std::memcpy(to, from, static_cast<size_t>(bytes));
  }
}

const char* check_reversed_length(int64_t length, int64_t steps) {
  return length < 0 || length > steps ? "a sequence length is negative or above the number of time steps" : nullptr;
}

Status check_reversed_lengths(LowerContext& c) {
  const Dims dims = c.in_dims(0);
  const auto time = static_cast<size_t>(c.attributes().get_int("time_axis", 0));
  c.emit("check_lengths", 1, [steps = dims[time], batch = dims[1 - time], lengths = c.in(1)](const Run& run, int64_t, int64_t) -> const char* {
    for (int64_t b = 0; b < batch; ++b)
      if (const char* problem = check_reversed_length(run.get<const int64_t>(lengths)[b], steps)) return problem;
    return nullptr;
  });
  return {};
}

Status lower_reverse_sequence(LowerContext& c) {
  const Dims dims = c.in_dims(0);
  const int64_t rows = dims[0], columns = dims[1];
  const int64_t bytes = element_count(std::span<const int64_t>(dims).subspan(2)) * static_cast<int64_t>(size_of(c.out_type().dtype));
  const bool time_first = c.attributes().get_int("time_axis", 0) == 0;
  const int64_t steps = time_first ? rows : columns;
  c.emit("reverse_sequence", rows * columns,
         [=, in = c.in(0), lengths = c.in(1), out = c.out()](const Run& run, int64_t begin, int64_t end) -> const char* {
           if (begin == end) return nullptr;
           int64_t row = begin / columns, column = begin % columns;
           for (int64_t task = begin; task < end; ++task, row += ++column == columns, column = column == columns ? 0 : column) {
             const int64_t time = time_first ? row : column, batch = time_first ? column : row;
             const int64_t length = run.get<int64_t>(lengths)[batch];
             if (const char* problem = check_reversed_length(length, steps)) return problem;
             const int64_t from = time < length ? length - 1 - time : time;
             const int64_t source = time_first ? from * columns + batch : batch * columns + from;
             copy_step(run.get<std::byte>(out) + task * bytes, run.get<std::byte>(in) + source * bytes, bytes);
           }
           return nullptr;
         });
  return {};
}

Status reverse_sequence_gradient(GradientContext& c) {
  c.set(0, c.op("ReverseSequence", {c.dy(), c.input(1)}, c.attributes()));
  return {};
}

}  // namespace

OpDef define_reverse_sequence() {
  return {
      .name = "ReverseSequence",
      .since = 10,
      .inputs = "input, sequence_lens",
      .attributes = {{"batch_axis", AttributeKind::kInt, false, 1}, {"time_axis", AttributeKind::kInt, false, 0}},
      .infer = infer_reverse_sequence,
      .lower = lower_reverse_sequence,
      .check_values = check_reversed_lengths,
      .evaluate = evaluate_strings,
      .types = {{"T", kAllTypes, {0}}, {"sequence_lens", DTypeSet{DType::i64}, {1}}},
      .kernel_types = kDenseTypes,
      .cost = movement_cost,
      .gradient = reverse_sequence_gradient,
      .traits = {.moves_elements = always},
      .samples = "(float32[5, 3, 7], int64[3]{2, 5, 1})"
                 "(float32[2, 6], int64[2]{0, 4}) {batch_axis = 0, time_axis = 1}",
  };
}

}  // namespace svengine::ops
