// svengine.SumTo: input 0, which has the shape that input 1 broadcasts to, summed over everything that broadcasting repeats; the
// result has input 1's shape. What an operand of a broadcasting operator gets for a gradient.
#include "engine/ops/like.h"
#include "engine/ops/reduce/reduce_common.h"
#include "engine/ops/tensor/copy_common.h"

namespace svengine::ops {
namespace {

/// Dimension i of `in` is one that broadcasting a tensor of shape `out` repeats.
bool repeats(const Shape& in, const Shape& out, size_t i) {
  const size_t missing = in.dims().size() - out.dims().size();
  return i < missing || (out[i - missing] == Dim(1) && !(in[i] == Dim(1)));
}

Status infer_sum_to(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kNumericTypes));
  SV_ASSIGN(Shape shape, like_shape(c, 1));
  const Shape& in = c.shape(0);
  if (in.has_rank() && shape.has_rank()) {
    if (in.rank() < shape.rank()) return error("x {} is of a lower rank than {}", to_string(in), to_string(shape));
    const size_t missing = in.dims().size() - shape.dims().size();
    for (size_t i = missing; i < in.dims().size(); ++i)
      if (known_different(in[i], shape[i - missing]) && shape[i - missing].value() != 1)
        return error("{} does not broadcast to x {}", to_string(shape), to_string(in));
  }
  c.set(0, c.dtype(0), std::move(shape));
  return {};
}

Status lower_sum_to(LowerContext& c) {
  const Shape &in = c.in_type(0).shape, &out = c.out_type().shape;
  std::vector<bool> reduced;
  for (size_t i = 0; i < in.dims().size(); ++i) reduced.push_back(repeats(in, out, i));
  return emit_reduction(c, kernels::ReduceOp::kSum, reduced);
}

Status sum_to_gradient(GradientContext& c) {
  c.set(0, c.expand_to(c.dy(), c.input(0)));
  return {};
}

}  // namespace

OpDef define_sum_to() {
  return {
      .name = "SumTo",
      .domain = kInternalDomain,
      .inputs = "x, like?",
      .attributes = {shape_attribute()},
      .infer = infer_sum_to,
      .lower = lower_sum_to,
      .gradient = sum_to_gradient,
      .traits = {.is_identity = keeps_type, .shape_only_input = 1},
      .samples = "(float32[2, 3, 5, 7], float32[3, 1, 1])"
                 "(float32[2, 3, 5], float32[])"
                 "(float32[4, 17]) {shape = [1, 17]}"
                 "(float32[4, 17], float32[4, 17])",
  };
}

}  // namespace svengine::ops
