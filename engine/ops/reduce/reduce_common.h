// Operators that reduce some dimensions of a tensor to one number each.
#pragma once
#include "engine/graph/gradient.h"
#include "engine/kernels/reduce.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/lowering.h"

namespace svengine::ops {

bool keeps_dims(const Attributes& attributes);

/// The shape that is left of `in` over these axes (none: all, unless noop_with_empty_axes says none) with the node's keepdims.
Result<Shape> reduced_shape(const Attributes& attributes, const Shape& in, const std::vector<int64_t>& axes);

/// Attribute axes became an input.
Status canonicalize_reduce(CanonicalizeContext& c);

/// Axes: all of them when none are given, unless noop_with_empty_axes says none. keepdims leaves dimensions of 1.
Status infer_reduce(InferContext& c);

Status emit_reduce(LowerContext& c, kernels::ReduceOp op);

/// Output 0 is input 0 reduced over the dimensions marked in `reduced`, which may be none.
Status emit_reduction(LowerContext& c, kernels::ReduceOp op, const std::vector<bool>& reduced, size_t output = 0);

/// The kernel's steps, from dense `in` of these dimensions to `out`: of float32, float64, int32 or int64.
Status emit_reduction_steps(LowerContext& c, kernels::ReduceOp op, const Dims& dims, const std::vector<bool>& reduced, DType type, Buffer in,
                            Buffer out);

/// For gradients: a value of the node's output shape with the reduced dimensions as 1s again, so that it broadcasts to the input.
Value* kept_dims(GradientContext& c, Value* value);

/// ReduceMax and ReduceMin: the gradient goes to the elements that are the result, in equal shares (as in PyTorch).
Status reduced_extremum_gradient(GradientContext& c);

/// The OpDef of such an operator.
OpDef reduce_op(const char* name, Status (*infer)(InferContext&), Status (*lower)(LowerContext&));

template <kernels::ReduceOp kOp>
OpDef reduction(const char* name) {
  return reduce_op(
      name, infer_reduce, [](LowerContext& c) { return emit_reduce(c, kOp); });
}

/// ArgMax and ArgMin.
OpDef arg_reduction(const char* name, Status (*lower)(LowerContext&));
Status emit_arg_reduce(LowerContext& c, bool largest);

}  // namespace svengine::ops
