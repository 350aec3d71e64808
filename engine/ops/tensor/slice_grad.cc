// svengine.SliceGrad: a tensor of zeros with input 0 where Slice would have taken it from. Inputs 1 to 4 are Slice's; input 5 has
// the shape of what was sliced.
#include "engine/graph/gradient.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/like.h"
#include "engine/ops/tensor/fill_common.h"
#include "engine/ops/tensor/slice_common.h"

namespace svengine::ops {
namespace {

constexpr size_t kSliceGradLike = 5;

Status infer_slice_grad(InferContext& c) {
  SV_ASSIGN(Shape shape, like_shape(c, kSliceGradLike));
  c.set(0, c.dtype(0), std::move(shape));
  return {};
}

Status lower_slice_grad(LowerContext& c) {
  const Dims in = c.in_dims(0), out = c.out_dims();
  const size_t element = size_of(c.out_type().dtype);
  SV_ASSIGN(const Bounds b, known_bounds(c, static_cast<int64_t>(out.size())));
  CopyView view{.dims = in, .in_strides = strides_of(in), .out_strides = strides_of(out)};
  Dims taken = out;
  for (size_t i = 0; i < b.axes.size(); ++i) {
    const auto axis = static_cast<size_t>(b.axes[i]);
    const Range r = range_in(out[axis], b.starts[i], b.ends[i], b.steps[i]);
    taken[axis] = r.count;
    view.out_offset += r.start * view.out_strides[axis];
    view.out_strides[axis] *= r.count <= 1 ? 1 : r.step;
  }
  if (taken != in)
    return error("dy is {}, the slice of {} is {}", svengine::to_string(Shape::of(in)), svengine::to_string(Shape::of(out)),
                 svengine::to_string(Shape::of(taken)));
  emit_fill(c, c.out(), element_count(out), element, 0);
  if (element_count(in) > 0) emit_copy(c, "slice_grad", std::move(view));
  return {};
}

/// Linear in dy: the transpose is what was taken.
Status slice_grad_gradient(GradientContext& c) {
  std::vector<Value*> inputs = {c.dy()};
  for (size_t i = 1; i < kSliceGradLike && i < c.node().inputs().size(); ++i) inputs.push_back(c.input(i));
  c.set(0, c.op("Slice", std::move(inputs)));
  return {};
}

}  // namespace

OpDef define_slice_grad() {
  return {
      .name = "SliceGrad",
      .domain = kInternalDomain,
      .inputs = "dy, starts, ends, axes?, steps?, data?",
      .attributes = {shape_attribute()},
      .infer = infer_slice_grad,
      .lower = lower_slice_grad,
      .cost = movement_cost,
      .gradient = slice_grad_gradient,
      .traits = {.shape_inputs = {1, 2, 3, 4}, .shape_only_input = kSliceGradLike, .linear_input = 0},
      .samples = "(float32[6, 2], int64[2]{1, -3}, int64[2]{100, -1}) {shape = [7, 9]}"
                 "(float32[3, 7, 5], int64[1]{-1}, int64[1]{-9223372036854775808}, int64[1]{1}, int64[1]{-3}) {shape = [3, 20, 5]}",
  };
}

}  // namespace svengine::ops
