#include "engine/ops/nn/softmax_common.h"

#include "engine/graph/axes.h"
#include "engine/graph/transposed_node.h"
#include "engine/ops/adjoint/wide_gradients.h"
#include "engine/ops/infer_util.h"

namespace svengine::ops {
namespace {

constexpr int kSingleAxisOpset = 13;

Status canonicalize_softmax(CanonicalizeContext& c) {
  if (c.opset() >= kSingleAxisOpset) return {};
  if (!c.attributes().has("axis")) c.attributes().set("axis", int64_t{1});
  c.attributes().set("coerced", int64_t{1});
  return {};
}

Status infer_softmax(InferContext& c) {
  if (c.shape(0).has_rank()) {
    const int64_t axis = c.attributes().get_int("axis", -1), rank = c.shape(0).rank();
    // Coerced, the axis may be the rank: lines of one element.
    if (!(c.attributes().get_int("coerced") && axis == rank) && !(rank == 0 && (axis == 0 || axis == -1)))
      SV_TRY(normalise_axis(axis, rank));
  }
  c.set(0, c.dtype(0), c.shape(0));
  return {};
}

}  // namespace

Status lower_softmax(LowerContext& c, wide::SoftmaxKind kind, const kernels::TaskKernel<kernels::SoftmaxArgs>& softmax) {
  const Dims dims = c.in_dims(0);
  const bool coerced = c.attributes().get_int("coerced") != 0;
  int64_t axis = c.attributes().get_int("axis", -1);
  if (axis < 0) axis += static_cast<int64_t>(dims.size());
  kernels::SoftmaxArgs args;
  args.outer = args.n = args.inner = 1;
  for (int64_t i = 0; i < static_cast<int64_t>(dims.size()); ++i)
    (i < axis ? args.outer : i == axis || coerced ? args.n : args.inner) *= dims[static_cast<size_t>(i)];
  if (wide::is_wide(c)) {
    wide::emit_softmax(c, kind, args.outer, args.n, args.inner, c.out());
    return {};
  }
  args.x_outer_stride = args.y_outer_stride = args.n * args.inner;
  static constexpr const char* kNames[] = {"softmax", "log_softmax", "hardmax"};
  c.emit(kNames[static_cast<int>(kind)], softmax.tasks(args),
         [=, run_softmax = softmax.run, in = c.in(0), out = c.out()](const Run& run, int64_t begin, int64_t end) -> const char* {
           kernels::SoftmaxArgs one = args;
           one.x = run.get<const float>(in);
           one.y = run.get<float>(out);
           run_softmax(one, begin, end, run.scratch<void>());
           return nullptr;
         },
         softmax.scratch_bytes(args));
  return {};
}

Status set_softmax_gradient(GradientContext& c, bool log) {
  if (wide::is_wide_gradient(c)) return wide::set_softmax_gradient(c, log);
  Attributes attributes = c.attributes();
  attributes.set("log", int64_t{log});
  c.set(0, c.internal("SoftmaxGrad", {c.output(), c.dy()}, std::move(attributes)));
  return {};
}

namespace {

std::optional<TransposedNode> transposed_softmax(const Node& node, const Permutation& perm) {
  return node.attributes.get_int("coerced") ? std::nullopt : transposed_along_axis(node, perm, 1, -1);
}

}  // namespace

OpDef softmax_like(const char* name, Status (*lower)(LowerContext&)) {
  return {
      .name = name,
      .inputs = "input",
      .attributes = {{"axis", AttributeKind::kInt, false, -1}, internal_attribute("coerced", AttributeKind::kInt, 0)},
      .canonicalize = canonicalize_softmax,
      .infer = infer_softmax,
      .lower = lower,
      .types = {{"T", kRealTypes, {0}}},
      .traits = {.transposed = transposed_softmax},
      .tolerance = {.rtol = 1e-6, .atol = 1e-7},
      .samples = "(float32[7, 33] -8 to 8)"
                 "(float32[3, 5, 19]) {axis = 1}"
                 "(float32[2, 3, 4]) {axis = 1, coerced = 1}"
                 "(float64[3, 5, 19] -8 to 8) {axis = 1}"
                 "(float16[3, 19] -8 to 8)"
                 "(bfloat16[3, 19] -8 to 8)",
  };
}

}  // namespace svengine::ops
