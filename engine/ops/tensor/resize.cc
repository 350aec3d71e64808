// Resize: the input sampled on a finer or coarser grid, by the nearest element or by linear or cubic interpolation.
//
// Nearest is one table look-up for each axis. Linear and cubic are done one axis after the other: along an axis every output is
// a weighted sum of a few inputs, the taps, whose places and weights depend on nothing but the position.
#include <algorithm>
#include <cmath>

#include "engine/kernels/data_prepare.h"
#include "engine/ops/elementwise/unary_common.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/tensor/map_common.h"
#include "engine/ops/tensor/resize_common.h"

namespace svengine::ops {
namespace {

using kernels::ResizeAxis;
using kernels::ResizeCoordinate;
using kernels::ResizeNearest;

constexpr int64_t kLongestAxis = int64_t{1} << 26;  // there is a table entry for every position

/// Opset 10 had no region, no sizes, and one way of finding coordinates.
Status canonicalize(CanonicalizeContext& c) {
  if (c.opset() >= 11) return {};
  canonicalize_upsample(c, c.node().input(1));
  return {};
}

Status infer(InferContext& c) {
  SV_TRY(check_resize(c));
  const Shape& in = c.shape(0);
  if (!in.has_rank()) {
    c.set(0, c.dtype(0), Shape());
    return {};
  }
  SV_ASSIGN(const auto axes, resize_axes(c.node(), in));
  Shape out = in;
  for (const AxisScale& a : axes) out[a.axis] = a.out;
  c.set(0, c.dtype(0), std::move(out));
  return {};
}

ResizeNearest rounding_of(const Attributes& attributes) {
  const std::string name = attributes.text("nearest_mode", "round_prefer_floor");
  if (name == "round_prefer_ceil") return ResizeNearest::kRoundPreferCeil;
  if (name == "floor") return ResizeNearest::kFloor;
  return name == "ceil" ? ResizeNearest::kCeil : ResizeNearest::kRoundPreferFloor;
}

/// tf_half_pixel_for_nn, of opsets 11 and 12: (j + 0.5) / scale, half a pixel to the right of half_pixel.
std::vector<int32_t> shifted_map(const ResizeAxis& axis, ResizeNearest rounding) {
  std::vector<int32_t> map;
  for (int64_t j = 0; j < axis.out; ++j) {
    const double x = (static_cast<double>(j) + 0.5) / axis.scale;
    double at = std::floor(x);
    if (rounding == ResizeNearest::kCeil) at = std::ceil(x);
    if (rounding == ResizeNearest::kRoundPreferFloor) at = std::ceil(x - 0.5);
    if (rounding == ResizeNearest::kRoundPreferCeil) at = std::floor(x + 0.5);
    map.push_back(static_cast<int32_t>(std::clamp(at, 0.0, static_cast<double>(axis.in - 1))));
  }
  return map;
}

Status lower_nearest(LowerContext& c, const std::vector<AxisScale>& axes) {
  const Dims in = c.in_dims(0);
  std::vector<std::vector<int32_t>> maps;
  for (size_t i = 0; i < in.size(); ++i) {
    const auto scaled = std::find_if(axes.begin(), axes.end(), [i](const AxisScale& a) { return a.axis == i; });
    if (in[i] > kLongestAxis) return error("axis {} is longer than the {} that can be resized", i, kLongestAxis);
    if (scaled == axes.end()) {
      maps.push_back(kernels::pad_map(kernels::PadMode::kConstant, in[i], 0, 0));
      continue;
    }
    SV_ASSIGN(const ResizeAxis axis, kernel_axis(c.attributes(), *scaled));
    const bool shifted = c.attributes().text("coordinate_transformation_mode") == "tf_half_pixel_for_nn";
    maps.push_back(shifted ? shifted_map(axis, rounding_of(c.attributes())) : kernels::nearest_map(axis, rounding_of(c.attributes())));
  }
  const Tensor outside = scalar_of(c.out_type().dtype, c.attributes().real("extrapolation_value"));
  return emit_map(c, "resize_nearest", maps, c.table({outside.raw(), outside.byte_size()}));
}

kernels::ResampleTables tables_of(const Attributes& attributes, const ResizeAxis& axis) {
  const bool antialias = attributes.integer("antialias") != 0;
  if (attributes.text("mode") == "linear") return kernels::linear_tables(axis, antialias);
  return kernels::cubic_tables(axis, attributes.real("cubic_coeff_a", -0.75f), attributes.integer("exclude_outside") != 0, antialias);
}

/// One axis of `dims`, which becomes the new size there.
Buffer emit_resample(LowerContext& c, Buffer from, Dims& dims, const AxisScale& scaled, const ResizeAxis& axis, Buffer to) {
  const kernels::ResampleTables tables = tables_of(c.attributes(), axis);
  const std::span<const int64_t> all(dims);
  kernels::ResampleArgs args;
  args.outer = element_count(all.first(scaled.axis));
  args.in = axis.in;
  args.out = axis.out;
  args.inner = element_count(all.subspan(scaled.axis + 1));
  args.taps = tables.taps;
  args.outside = c.attributes().real("extrapolation_value");
  dims[scaled.axis] = axis.out;
  if (!to) to = c.temporary(element_count(dims) * 4);
  emit_kernel(c, "resize_" + c.attributes().text("mode"), c.kernels().data->resample, args,
              [from, to, index = c.table(std::as_bytes(std::span(tables.index))), weight = c.table(std::as_bytes(std::span(tables.weight)))](
                  kernels::ResampleArgs& a, const Run& run) {
                a.x = run.get<float>(from);
                a.y = run.get<float>(to);
                a.index = run.get<int32_t>(index);
                a.weight = run.get<float>(weight);
              });
  return to;
}

Status lower_interpolated(LowerContext& c, std::vector<AxisScale> axes) {
  Dims dims = c.in_dims(0);
  const DType type = c.in_type(0).dtype;
  std::erase_if(axes, [](const AxisScale& a) { return a.unchanged; });
  Buffer at = converted(c, c.in(0), type, DType::f32, element_count(dims));
  if (axes.empty()) {
    emit_copy(c, "copy", flat_view(element_count(dims)));
    return {};
  }
  for (const AxisScale& a : axes) {
    if (dims[a.axis] > kLongestAxis) return error("axis {} is longer than the {} that can be resized", a.axis, kLongestAxis);
    SV_ASSIGN(const ResizeAxis axis, kernel_axis(c.attributes(), a));
    const bool last = &a == &axes.back() && type == DType::f32;
    at = emit_resample(c, at, dims, a, axis, last ? c.out() : Buffer{});
  }
  if (type != DType::f32) emit_cast(c, at, DType::f32, c.out(), type, element_count(dims));
  return {};
}

Status lower(LowerContext& c) {
  if (element_count(c.out_dims()) == 0) return {};
  SV_ASSIGN(std::vector<AxisScale> axes, resize_axes(c.node(), c.in_type(0).shape));
  for (const AxisScale& a : axes)
    if (a.out.value() > kLongestAxis) return error("axis {} gets longer than the {} that is supported", a.axis, kLongestAxis);
  if (c.attributes().text("mode", "nearest") == "nearest") return lower_nearest(c, axes);
  return lower_interpolated(c, std::move(axes));
}

}  // namespace

OpDef define_resize() {
  const SampleInput none = fixed(Tensor::of<float>({0}, {})), x = f32({1, 2, 5, 7});
  const SampleInput scales = fixed(Tensor::of<float>({4}, {1, 1, 2, 0.6f}));
  return {
      .name = "Resize",
      .since = 10,
      .inputs = {1, 4},
      .attributes = resize_attributes(),
      .canonicalize = canonicalize,
      .infer = infer,
      .lower = lower,
      .shape_inputs = {1, 2, 3},
      .samples = {{.inputs = {x, none, scales}},
                  {.inputs = {x, none, scales}, .attributes = {{"mode", text("linear")}}},
                  {.inputs = {x, none, none, ints({1, 2, 9, 3})},
                   .attributes = {{"mode", text("linear")}, {"coordinate_transformation_mode", text("align_corners")}}},
                  {.inputs = {x, none, scales}, .attributes = {{"mode", text("cubic")}, {"exclude_outside", integer(1)}}}},
  };
}

}  // namespace svengine::ops
