// svengine.ResizeGrad: the gradient of Resize's x. Inputs: dy, Resize's roi, scales and sizes, and x for its shape; the attributes are
// Resize's. Resizing is linear in x and goes axis by axis, so its gradient is resampling too, by the tables transposed.
#include <algorithm>

#include "engine/graph/gradient.h"
#include "engine/ops/like.h"
#include "engine/ops/tensor/copy_common.h"
#include "engine/ops/tensor/resample_common.h"
#include "engine/ops/tensor/resize_common.h"
#include "engine/ops/wide/wide.h"

namespace svengine::ops {
namespace {

constexpr size_t kResizeGradLike = 4;

Status lower_resize_grad(LowerContext& c) {
  const Dims out = c.out_dims();
  if (element_count(out) == 0) return {};
  SV_ASSIGN(std::vector<AxisScale> axes, resize_axes(c.node(), Shape::of(out)));
  Dims dims = c.in_dims(0);
  if (dims.size() != out.size()) return error("dy {} and data {} are of different ranks", svengine::to_string(dims), svengine::to_string(out));
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] != out[i] && std::none_of(axes.begin(), axes.end(), [&](const AxisScale& a) { return a.axis == i && !a.unchanged; }))
      return error("axis {} of dy has {} elements, data has {} and it is not resized", i, dims[i], out[i]);
  std::erase_if(axes, [](const AxisScale& a) { return a.unchanged; });
  for (const AxisScale& a : axes)
    if (a.out.value() != dims[a.axis] || std::max(a.in.value(), a.out.value()) > kLongestAxis)
      return error("axis {} of dy has {} elements, resizing {} gives {}", a.axis, dims[a.axis], a.in.value(), a.out.value());
  if (axes.empty()) {
    emit_copy(c, "copy", flat_view(element_count(dims)));
    return {};
  }
  Buffer at = c.in(0);
  for (const AxisScale& a : axes) {
    SV_ASSIGN(const kernels::ResizeAxis axis, kernel_axis(c.attributes(), a));
    const kernels::ResampleTables tables = transposed_tables(resize_tables(c.attributes(), axis), axis.in, axis.out);
    const Buffer to = &a == &axes.back() ? c.out() : Buffer{};
    at = wide::is_wide(c) ? wide::emit_resample(c, "resize_grad_f64", tables, 0, at, dims, a.axis, axis.in, to)
                          : emit_resample(c, "resize_grad", tables, 0, at, dims, a.axis, axis.in, to);
  }
  return {};
}

/// Linear in dy: the transpose resizes.
Status resize_grad_gradient(GradientContext& c) {
  std::vector<Value*> inputs = {c.dy()};
  for (size_t i = 1; i < kResizeGradLike && i < c.node().inputs().size(); ++i) inputs.push_back(c.input(i));
  Attributes attributes = c.attributes();
  attributes.erase("shape");
  c.set(0, c.op("Resize", std::move(inputs), std::move(attributes)));
  return {};
}

std::vector<AttributeDef> resize_grad_attributes() {
  std::vector<AttributeDef> all = resize_attributes();
  all.push_back(shape_attribute());
  return all;
}

}  // namespace

OpDef define_resize_grad() {
  return {
      .name = "ResizeGrad",
      .domain = kInternalDomain,
      .inputs = "dy, roi?, scales?, sizes?, X?",
      .attributes = resize_grad_attributes(),
      .infer = [](InferContext& c) { return infer_gradient_like(c, kResizeGradLike); },
      .lower = lower_resize_grad,
      .gradient = resize_grad_gradient,
      .traits = {.shape_inputs = {1, 2, 3}, .shape_only_input = kResizeGradLike, .linear_input = 0},
      .samples = "(float32[1, 2, 10, 4], float32[0]{}, float32[4]{1.0, 1.0, 2.0, 0.6}) {shape = [1, 2, 5, 7]}"
                 R"((float32[1, 2, 10, 4], float32[0]{}, float32[4]{1.0, 1.0, 2.0, 0.6}) {shape = [1, 2, 5, 7], mode = "linear"})",
  };
}

}  // namespace svengine::ops
