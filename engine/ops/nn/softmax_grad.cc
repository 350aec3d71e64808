// svengine.SoftmaxGrad: the gradient of Softmax, or with log = 1 of LogSoftmax, from its result and that one's gradient.
#include "engine/kernels/gradient.h"
#include "engine/graph/axes.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/kernel_step.h"

namespace svengine::ops {
namespace {

Status infer_softmax_grad(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kSingleTypes));
  SV_TRY(require_dtype(c, 1, {c.dtype(0)}));
  SV_TRY(require_same_shape(c, 0, 1));
  c.set(0, c.type(0));
  return {};
}

Status lower_softmax_grad(LowerContext& c) {
  const Dims dims = c.in_dims(0);
  const auto rank = static_cast<int64_t>(dims.size());
  SV_ASSIGN(const int64_t axis, normalise_axis(c.attributes().get_int("axis", -1), rank));
  const bool coerced = c.attributes().get_int("coerced") != 0;
  kernels::SoftmaxGradArgs args;
  args.log = c.attributes().get_int("log") != 0;
  args.outer = args.n = args.inner = 1;
  for (int64_t i = 0; i < rank; ++i)
    (i < axis ? args.outer : i == axis || coerced ? args.n : args.inner) *= dims[static_cast<size_t>(i)];
  emit_kernel(c, args.log ? "log_softmax_grad" : "softmax_grad", c.kernels().gradient->softmax, args,
              [y = c.in(0), dy = c.in(1), dx = c.out()](kernels::SoftmaxGradArgs& a, const Run& run) {
                a.y = run.get<const float>(y);
                a.dy = run.get<const float>(dy);
                a.dx = run.get<float>(dx);
              });
  return {};
}

/// With p = e^y, log-softmax has dx = dy - p sum(dy), whose transpose is w - sum(p w). Softmax's own, y (dy - sum(y dy)), is symmetric.
Status softmax_grad_gradient(GradientContext& c) {
  if (c.attributes().get_int("log") == 0) {
    c.set(1, c.internal("SoftmaxGrad", {c.input(0), c.dy()}, c.attributes()));
    return {};
  }
  const Shape& shape = c.input(0)->type.shape;
  if (!shape.has_rank()) return error("the rank of y has to be known");
  SV_ASSIGN(const int64_t axis, normalise_axis(c.attributes().get_int("axis", -1), shape.rank()));
  std::vector<int64_t> axes{axis};
  if (c.attributes().get_int("coerced") != 0)
    for (int64_t i = axis + 1; i < shape.rank(); ++i) axes.push_back(i);
  Value* product = c.op("Mul", {c.op("Exp", {c.input(0)}), c.dy()});
  c.set(1, c.op("Sub", {c.dy(), c.op("ReduceSum", {product, c.builder().constant(Tensor::of<int64_t>({static_cast<int64_t>(axes.size())}, axes))})}));
  return {};
}

}  // namespace

OpDef define_softmax_grad() {
  return {
      .name = "SoftmaxGrad",
      .domain = kInternalDomain,
      .inputs = "y, dy",
      .attributes = {{"axis", AttributeKind::kInt, false, -1},
                     {"coerced", AttributeKind::kInt, false, 0},
                     {"log", AttributeKind::kInt, false, 0}},
      .infer = infer_softmax_grad,
      .lower = lower_softmax_grad,
      .gradient = softmax_grad_gradient,
      .traits = {.may_overwrite = true, .linear_input = 1},
      .samples = "(float32[7, 33], float32[7, 33])"
                 "(float32[3, 5, 19], float32[3, 5, 19]) {axis = 1, log = 1}",
  };
}

}  // namespace svengine::ops
