// Range: start, start + delta, ... before limit. The number of elements depends on the values, so all three are known when
// the node is planned, and so is the result.
#include <cmath>

#include "engine/base/round.h"
#include "engine/ops/element.h"
#include "engine/ops/elementwise/unary_common.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/tensor/copy_common.h"

namespace svengine::ops {
namespace {


double number_of(const Tensor& t) { return number_at(t.type(), t.raw(), 0); }

int64_t integer_of(const Tensor& t) { return t.type() == DType::i64 ? t.as_int64s()[0] : static_cast<int64_t>(number_of(t)); }

constexpr int64_t kMostElements = int64_t{1} << 48;

/// How many steps lead from start to limit; integers of 64 bits are not all doubles.
uint64_t whole_steps(int64_t start, int64_t limit, int64_t delta) {
  if (limit == start || (limit > start) != (delta > 0)) return 0;
  const auto from = static_cast<uint64_t>(start), to = static_cast<uint64_t>(limit), step = static_cast<uint64_t>(delta);
  return delta > 0 ? ceil_div(to - from, step) : ceil_div(from - to, 0 - step);
}

Result<int64_t> count_of(const Tensor& start, const Tensor& limit, const Tensor& delta) {
  if (number_of(delta) == 0) return error("delta is 0");
  const double n = kRealTypes.has(start.type()) ? std::ceil((number_of(limit) - number_of(start)) / number_of(delta))
                                                : static_cast<double>(whole_steps(integer_of(start), integer_of(limit), integer_of(delta)));
  if (!(n < static_cast<double>(kMostElements))) return error("start, limit and delta give {} elements, more than 2^48", n);
  return n > 0 ? static_cast<int64_t>(n) : 0;
}

Status infer_range(InferContext& c) {
  SV_TRY(dtype_attribute(c.attributes(), "stash_type", DType::f32, kRealTypes));
  for (size_t i = 0; i < 3; ++i) {
    SV_TRY(require_single(c, i));
  }
  const Tensor *start = c.constant(0), *limit = c.constant(1), *delta = c.constant(2);
  if (!start || !limit || !delta) {
    c.set(0, c.dtype(0), unknown_dims(1));
    return {};
  }
  SV_ASSIGN(const int64_t n, count_of(*start, *limit, *delta));
  c.set(0, c.dtype(0), Shape{Dim(n)});
  return {};
}

Status lower_range(LowerContext& c) {
  for (size_t i = 0; i < 3; ++i)
    if (!c.constant(i)) return error("{} is not known when the node is planned", c.node().op().inputs.described(i));
  const Tensor &start = *c.constant(0), &delta = *c.constant(2);
  kernels::RangeArgs args;
  args.type = start.type();
  args.n = c.out_dims()[0];
  if (kRealTypes.has(start.type())) {
    args.start = number_of(start);
    args.delta = number_of(delta);
  } else {
    args.integer_start = integer_of(start);
    args.integer_delta = integer_of(delta);
  }
  emit_kernel(c, "range", c.kernels().elementwise->range, args,
              [out = c.out()](kernels::RangeArgs& a, const Run& run) { a.y = run.get<void>(out); });
  return {};
}

}  // namespace

OpDef define_range() {
  return {
      .name = "Range",
      .since = 11,
      .inputs = "start, limit, delta",
      // In which type narrow floats are summed up; here start + i * delta is computed in double and rounded once, whatever it says.
      .attributes = {{"stash_type", AttributeKind::kInt, false, 1}},
      .infer = infer_range,
      .lower = lower_range,
      .types = {{"T", kRealTypes | kIndexTypes | DTypeSet{DType::i16}, {0, 1, 2}}},
      .cost = movement_cost,
      .traits = {.shape_inputs = {0, 1, 2}},
      .samples = "(int64[]{0}, int64[]{19}, int64[]{1})"
                 "(int32[]{10}, int32[]{4}, int32[]{-2})"
                 "(float32[]{1.0}, float32[]{5.0}, float32[]{0.75})",
  };
}

}  // namespace svengine::ops
