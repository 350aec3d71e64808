// svengine.ActivationGrad: dy f'(v), the gradient through an activation f in one pass. v is the function's input or its result,
// whichever kernels/activation_grad.h says for that function.
#include "engine/kernels/gradient.h"
#include "engine/ops/elementwise/binary_common.h"
#include "engine/ops/elementwise/gradient_common.h"
#include "engine/ops/adjoint/wide_gradients.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/wide/wide.h"

namespace svengine::ops {
namespace {

using kernels::GradientOf;

constexpr std::pair<const char*, GradientOf> kFunctions[] = {
#define SVENGINE_ACTIVATION(Name, name, from, ...) SVENGINE_WITH_SLOPE_##from({#name, GradientOf::k##Name}, )
#include "engine/kernels/activation.inc"
};
static_assert(std::size(kFunctions) == kernels::kGradientOfCount);

std::optional<GradientOf> function_of(const Attributes& attributes) {
  const std::string name = attributes.get_string("function");
  for (const auto& [n, of] : kFunctions)
    if (name == n) return of;
  return std::nullopt;
}

Status infer_activation_grad(InferContext& c) {
  if (!function_of(c.attributes()))
    return error("function is '{}', which is none with a gradient kernel", c.attributes().get_string("function"));
  SV_TRY(require_dtype(c, 0, kRealTypes));
  SV_TRY(require_dtype(c, 1, {c.dtype(0)}));
  SV_TRY(require_same_shape(c, 0, 1));
  c.set(0, c.dtype(0), c.shape(0).is_static() ? c.shape(0) : c.shape(1));
  return {};
}

Status lower_activation_grad(LowerContext& c) {
  kernels::ActivationGradArgs args;
  args.of = *function_of(c.attributes());
  args.n = stored_count(c.out_type());
  args.alpha = c.attributes().get_float("alpha");
  args.beta = c.attributes().get_float("beta");
  if (wide::is_wide(c)) {
    wide::emit_activation_grad(c, args.of, double{args.alpha}, double{args.beta});
    return {};
  }
  emit_kernel(c, c.attributes().get_string("function") + "_grad", c.kernels().gradient->activation, args,
              [dy = c.in(0), v = c.in(1), dx = c.out()](kernels::ActivationGradArgs& a, const Run& run) {
                a.dy = run.get<const float>(dy);
                a.v = run.get<const float>(v);
                a.dx = run.get<float>(dx);
              });
  return {};
}

Status activation_grad_gradient(GradientContext& c) {
  c.set(0, c.internal("ActivationGrad", {c.dy(), c.input(1)}, c.attributes()));
  return {};
}

}  // namespace

OpDef define_activation_grad() {
  OpDef op = binary_op("ActivationGrad", "dy, v", infer_activation_grad, lower_activation_grad, true);
  op.domain = kInternalDomain;
  op.canonicalize = nullptr;
  op.gradient = activation_grad_gradient;
  op.traits.linear_input = 0;
  op.attributes = {{"function", AttributeKind::kString, true},
                   {"alpha", AttributeKind::kFloat, false, 0.0f},
                   {"beta", AttributeKind::kFloat, false, 0.0f}};
  op.samples.clear();
  for (const auto& [name, of] : kFunctions)
    op.samples += fmt::format("(float32[2, 3, 5, 7], float32[2, 3, 5, 7] -4 to 4) {{function = \"{}\", alpha = 0.25, beta = 0.5}}", name);
  op.samples += fmt::format("(float64[3, 5], float64[3, 5]) {{function = \"{}\"}}", kFunctions[0].first);
  return op;
}

}  // namespace svengine::ops
