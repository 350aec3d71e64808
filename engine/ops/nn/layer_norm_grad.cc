// svengine.LayerNormGrad: the gradients of LayerNormalization's X, Scale and bias. Inputs: dy, X, Scale, and the Mean and
// InvStdDev that the forward pass computed.
#include <algorithm>

#include "engine/base/round.h"
#include "engine/kernels/gradient.h"
#include "engine/kernels/reduce.h"
#include "engine/graph/axes.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/like.h"

namespace svengine::ops {
namespace {

/// Blocks of rows with sums of their own: as many as there is use for threads, few enough that adding them up costs nothing.
constexpr int64_t kBlocks = 64;

Status infer_layer_norm_grad(InferContext& c) {
  for (size_t i = 0; i < 5; ++i) SV_TRY(require_dtype(c, i, kSingleTypes));
  c.set(0, c.type(1));
  c.set(1, c.type(2));
  c.set(2, c.type(2));
  const Shape &x = c.shape(1), &scale = c.shape(2);
  if (!x.has_rank()) return {};
  SV_TRY(require_shape(c, 0, x));
  SV_ASSIGN(const int64_t axis, normalise_axis(c.attributes().get_int("axis", -1), x.rank()));
  const auto at = static_cast<size_t>(axis);
  const Dim rows = product(x, 0, at), columns = product(x, at, x.dims().size());
  if (scale.has_rank() && known_different(product(scale, 0, scale.dims().size()), columns))
    return error("Scale of shape {} does not fit rows of {} elements", to_string(scale), columns.value());
  for (size_t i = 3; i < 5; ++i)
    if (const Shape& s = c.shape(i); s.has_rank() && known_different(product(s, 0, s.dims().size()), rows))
      return error("{} of shape {} is not one for each of {} rows", c.described(i), to_string(s), rows.value());
  return {};
}

/// dscale and dbias from the blocks' sums [blocks][2][n].
void emit_sum(LowerContext& c, Buffer partial, int64_t blocks, int64_t n) {
  kernels::ReduceArgs args;
  args.rank = 2;
  args.extent[0] = blocks, args.extent[1] = 2 * n;
  args.reduced[0] = true;
  const Buffer both = c.temporary(2 * n * 4);
  emit_kernel(c, "layer_norm_grad_sum", c.kernels().reduce->reduce, args,
              [partial, both](kernels::ReduceArgs& a, const Run& run) {
                a.x = run.get<void>(partial);
                a.y = run.get<void>(both);
              });
  c.emit("layer_norm_grad_split", 2,
         [=, scale = c.out(1), bias = c.out(2)](const Run& run, int64_t begin, int64_t end) -> const char* {
           for (int64_t i = begin; i < end; ++i)
             std::copy_n(run.get<float>(both) + i * n, n, run.get<float>(i == 0 ? scale : bias));
           return nullptr;
         });
}

Status lower_layer_norm_grad(LowerContext& c) {
  const Dims dims = c.in_dims(1);
  const std::span<const int64_t> all(dims);
  SV_ASSIGN(const int64_t axis, normalise_axis(c.attributes().get_int("axis", -1), static_cast<int64_t>(dims.size())));
  kernels::RowNormGradArgs args;
  args.rows = element_count(all.first(static_cast<size_t>(axis)));
  args.n = element_count(all.subspan(static_cast<size_t>(axis)));
  args.rows_each = std::max<int64_t>(1, ceil_div(args.rows, kBlocks));
  const int64_t blocks = ceil_div(args.rows, args.rows_each);
  const Buffer partial = c.temporary(std::max<int64_t>(blocks, 1) * 2 * args.n * 4);
  emit_kernel(c, "layer_norm_grad", c.kernels().gradient->row_norm, args,
              [dy = c.in(0), x = c.in(1), scale = c.in(2), mean = c.in(3), inv_std = c.in(4), dx = c.out(), partial](
                  kernels::RowNormGradArgs& a, const Run& run) {
                a.dy = run.get<const float>(dy);
                a.x = run.get<const float>(x);
                a.scale = run.get<const float>(scale);
                a.mean = run.get<const float>(mean);
                a.inv_std = run.get<const float>(inv_std);
                a.dx = run.get<float>(dx);
                a.partial = run.get<float>(partial);
              });
  emit_sum(c, partial, blocks, args.n);
  return {};
}

/// dx = P (scale dy) with P, the projection times 1/std, symmetric: the transpose is scale P w, and P is this operator with a scale of 1.
Status layer_norm_grad_gradient(GradientContext& c) {
  if (c.output_gradient(1) || c.output_gradient(2)) return error("the gradients of Scale and bias are used; only that of X has a gradient");
  Value *x = c.input(1), *scale = c.input(2), *ones = filled_like(c.builder(), scale, 1);
  const Node* projected =
      c.builder().node(kInternalDomain, "LayerNormGrad", {c.dy(), x, ones, c.input(3), c.input(4)}, 3, c.attributes());
  if (!projected) return {};
  c.set(0, c.op("Mul", {projected->output(0), scale}));
  return {};
}

}  // namespace

OpDef define_layer_norm_grad() {
  return {
      .name = "LayerNormGrad",
      .domain = kInternalDomain,
      .inputs = "dy, X, Scale, Mean, InvStdDev",
      .outputs = {3, 3},
      .attributes = {{"axis", AttributeKind::kInt, false, -1}},
      .infer = infer_layer_norm_grad,
      .lower = lower_layer_norm_grad,
      .gradient = layer_norm_grad_gradient,
      .traits = {.linear_input = 0},
      .samples = "(float32[5, 33], float32[5, 33], float32[33], float32[5, 1], float32[5, 1] 0.5 to 2) 3"
                 "(float32[130, 4, 5], float32[130, 4, 5], float32[4, 5], float32[130, 1, 1], float32[130, 1, 1] 0.5 to 2) {axis = 1} 3",
  };
}

}  // namespace svengine::ops
