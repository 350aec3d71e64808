// svengine.GatherGrad: the gradient of Gather's data. Inputs: dy, Gather's indices, and the data for its shape. Slices that were
// gathered several times get the sum, in the order of the indices.
#include "engine/kernels/gradient.h"
#include "engine/graph/axes.h"
#include "engine/ops/adjoint/wide_gradients.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/like.h"
#include "engine/ops/tensor/index_common.h"
#include "engine/ops/wide/wide.h"

namespace svengine::ops {
namespace {

constexpr size_t kGatherGradLike = 2;

Status infer_gather_grad(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kRealTypes));
  SV_TRY(require_dtype(c, 1, kIndexTypes));
  SV_ASSIGN(Shape shape, like_shape(c, kGatherGradLike));
  if (shape.has_rank()) {
    SV_ASSIGN(const int64_t axis, normalise_axis(c.attributes().get_int("axis"), shape.rank()));
    SV_TRY(check_indices(c, 1, {&shape[static_cast<size_t>(axis)], 1}));
    if (const Shape& indices = c.shape(1); indices.has_rank()) {
      std::vector<Dim> wanted(shape.dims().begin(), shape.dims().begin() + axis);
      wanted.insert(wanted.end(), indices.dims().begin(), indices.dims().end());
      wanted.insert(wanted.end(), shape.dims().begin() + axis + 1, shape.dims().end());
      SV_TRY(require_shape(c, 0, Shape(std::move(wanted))));
    }
  }
  c.set(0, c.dtype(0), std::move(shape));
  return {};
}

Status lower_gather_grad(LowerContext& c) {
  const Dims data = c.out_dims();
  SV_ASSIGN(const int64_t axis, normalise_axis(c.attributes().get_int("axis"), static_cast<int64_t>(data.size())));
  const std::span<const int64_t> dims(data);
  const auto a = static_cast<size_t>(axis);
  SV_TRY(emit_index_check(c, 1, {data[a]}));
  if (wide::is_wide(c)) {
    wide::emit_gather_grad(c, element_count(dims.first(a)), data[a], element_count(dims.subspan(a + 1)));
    return {};
  }
  kernels::GatherGradArgs args;
  args.index_bytes = static_cast<int32_t>(size_of(c.in_type(1).dtype));
  args.outer = element_count(dims.first(a));
  args.extent = data[a];
  args.inner = element_count(dims.subspan(a + 1));
  args.count = element_count(c.in_dims(1));
  emit_kernel(c, "gather_grad", c.kernels().gradient->gather, args,
              [dy = c.in(0), indices = c.in(1), dx = c.out()](kernels::GatherGradArgs& g, const Run& run) {
                g.dy = run.get<const float>(dy);
                g.indices = run.get<const void>(indices);
                g.dx = run.get<float>(dx);
              });
  return {};
}

Status gather_grad_gradient(GradientContext& c) {
  c.set(0, c.op("Gather", {c.dy(), c.input(1)}, make_attributes({{"axis", c.attributes().get_int("axis")}})));
  return {};
}

}  // namespace

OpDef define_gather_grad() {
  return {
      .name = "GatherGrad",
      .domain = kInternalDomain,
      .inputs = "dy, indices, data?",
      .attributes = {{"axis", AttributeKind::kInt, false, 0}, shape_attribute()},
      .infer = infer_gather_grad,
      .lower = lower_gather_grad,
      .gradient = gather_grad_gradient,
      .traits = {.shape_only_input = kGatherGradLike, .linear_input = 0},
      .samples = "(float32[2, 3, 33], int64[2, 3] -13 to 13) {shape = [13, 33]}"
                 "(float32[3, 4, 2], int32[4] 0 to 5) {axis = 1, shape = [3, 5, 2]}"
                 "(float32[2, 40], int64[40] 0 to 7) {axis = -1, shape = [2, 7]}"
                 "(float64[2, 4, 3], int64[4] -5 to 5) {axis = 1, shape = [2, 5, 3]}",
  };
}

}  // namespace svengine::ops
