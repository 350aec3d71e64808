// Resize: the input sampled on a finer or coarser grid, by the nearest element or by linear or cubic interpolation.
//
// Nearest is one table look-up for each axis. Linear and cubic are done one axis after the other: along an axis every output is
// a weighted sum of a few inputs, the taps, whose places and weights depend on nothing but the position. Integers are summed in
// double and rounded once, at most to their limits, as in ONNX's reference.
#include <algorithm>
#include <cmath>

#include "engine/graph/gradient.h"
#include "engine/graph/transposed_node.h"
#include "engine/kernels/data_prepare.h"
#include "engine/ops/elementwise/unary_common.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/tensor/map_common.h"
#include "engine/ops/tensor/resample_common.h"
#include "engine/ops/tensor/resize_common.h"
#include "engine/ops/wide/wide.h"

namespace svengine::ops {
namespace {

using kernels::ResizeAxis;

/// Opset 10 had no region, no sizes, and one way of finding coordinates. Those after it wrote an empty tensor for an input that is not there.
Status canonicalize_resize(CanonicalizeContext& c) {
  for (size_t i = 1; i < c.node().inputs().size(); ++i)
    if (const Value* v = c.node().input(i); v && v->type.shape.rank() == 1 && v->type.shape[0].same(Dim(0))) c.set_input(i, nullptr);
  if (c.opset() >= 11 && c.attributes().get_string("nearest_mode") == kBeforeOpset11)
    return error("nearest_mode '{}' exists only inside the engine", kBeforeOpset11);
  if (c.opset() >= 11) return {};
  canonicalize_upsample(c, c.node().input(1));
  return {};
}

Status infer_resize(InferContext& c) {
  SV_TRY(check_resize(c));
  const Shape& in = c.shape(0);
  if (!in.has_rank()) {
    c.set(0, c.dtype(0), Shape());
    return {};
  }
  SV_ASSIGN(const auto axes, resize_axes(c.node(), in));
  Shape out = in;
  for (const AxisScale& a : axes) out.set(a.axis, a.out);
  c.set(0, c.dtype(0), std::move(out));
  return {};
}

Status lower_nearest(LowerContext& c, const std::vector<AxisScale>& axes) {
  const Dims in = c.in_dims(0);
  std::vector<std::vector<int32_t>> maps;
  for (size_t i = 0; i < in.size(); ++i) {
    const auto scaled = std::find_if(axes.begin(), axes.end(), [i](const AxisScale& a) { return a.axis == i; });
    if (in[i] > kLongestAxis) return unimplemented("axis {} is longer than the {} that can be resized", i, kLongestAxis);
    if (scaled == axes.end()) {
      maps.push_back(kernels::pad_map(kernels::PadMode::kConstant, in[i], 0, 0));
      continue;
    }
    SV_ASSIGN(const ResizeAxis axis, kernel_axis(c.attributes(), *scaled));
    maps.push_back(nearest_places(c.attributes(), axis));
  }
  const Tensor outside = scalar_of(c.out_type().dtype, c.attributes().get_float("extrapolation_value"));
  return emit_map(c, "resize_nearest", maps, c.table({outside.raw(), outside.byte_size()}));
}

Status lower_interpolated(LowerContext& c, std::vector<AxisScale> axes) {
  Dims dims = c.in_dims(0);
  std::erase_if(axes, [](const AxisScale& a) { return a.unchanged; });
  const DType type = c.in_type(0).dtype;
  const bool in_double = type != DType::f32;
  Buffer at = in_double ? converted(c, c.in(0), type, DType::f64, element_count(dims)) : c.in(0);
  if (axes.empty()) {
    emit_copy(c, "copy", flat_view(element_count(dims)));
    return {};
  }
  const float outside = c.attributes().get_float("extrapolation_value");
  const std::string kernel = "resize_" + c.attributes().get_string("mode");
  for (const AxisScale& a : axes) {
    if (dims[a.axis] > kLongestAxis) return unimplemented("axis {} is longer than the {} that can be resized", a.axis, kLongestAxis);
    SV_ASSIGN(const ResizeAxis axis, kernel_axis(c.attributes(), a));
    const kernels::ResampleTables tables = resize_tables(c.attributes(), axis);
    const Buffer to = &a == &axes.back() && (type == DType::f32 || type == DType::f64) ? c.out() : Buffer{};
    at = in_double ? wide::emit_resample(c, kernel, tables, outside, at, dims, a.axis, axis.out, to)
                   : emit_resample(c, kernel, tables, outside, at, dims, a.axis, axis.out, to);
  }
  if (kIntegerTypes.has(type)) wide::emit_rounded(c, at, c.out(), type, element_count(dims));
  else if (in_double && type != DType::f64) emit_cast(c, at, DType::f64, c.out(), type, element_count(dims));
  return {};
}

Status resize_gradient(GradientContext& c) {
  c.set(0, c.internal("ResizeGrad", {c.dy(), c.input(1), c.input(2), c.input(3), c.input(0)}, c.attributes()));
  return {};
}

Status lower_resize(LowerContext& c) {
  if (element_count(c.out_dims()) == 0) return {};
  SV_ASSIGN(std::vector<AxisScale> axes, resize_axes(c.node(), c.in_type(0).shape));
  for (const AxisScale& a : axes)
    if (a.out.value() > kLongestAxis) return unimplemented("axis {} gets longer than the {} that is supported", a.axis, kLongestAxis);
  if (c.attributes().get_string("mode", "nearest") == "nearest") return lower_nearest(c, axes);
  return lower_interpolated(c, std::move(axes));
}

/// Scales, sizes and regions are those of the same dimensions, in the same order.
std::optional<TransposedNode> transposed_resize(const Node& node, const Permutation& perm) {
  const auto* given = node.attributes.get<std::vector<int64_t>>("axes");
  const auto axes = stored_axes(given ? *given : every_axis(static_cast<int64_t>(perm.size())), perm);
  if (!axes) return std::nullopt;
  TransposedNode out{.inputs = {perm}, .outputs = {perm}, .attributes = node.attributes};
  out.inputs.resize(node.inputs().size());
  out.attributes.set("axes", *axes);
  return out;
}

DTypeSet resize_kernel_types(const Node& node) {
  return node.attributes.get_string("mode", "nearest") == "nearest" ? kDenseTypes : kDenseTypes - kNarrowFloatTypes;
}

}  // namespace

OpDef define_resize() {
  return {
      .name = "Resize",
      .since = 10,
      .inputs = "X, roi?, scales?, sizes?",
      .attributes = resize_attributes(),
      .canonicalize = canonicalize_resize,
      .infer = infer_resize,
      .lower = lower_resize,
      .types = {{"T1", kAllTypes, {0}},
                {"T2", kRealTypes - DTypeSet{DType::bf16}, {1}},
                {"scales", DTypeSet{DType::f32}, {2}},
                {"sizes", DTypeSet{DType::i64}, {3}}},
      .kernel_types_of = resize_kernel_types,
      .gradient = resize_gradient,
      .traits = {.shape_inputs = {1, 2, 3}, .transposed = transposed_resize},
      .samples =
          "(float32[1, 2, 5, 7], float32[0]{}, float32[4]{1.0, 1.0, 2.0, 0.6})"
          R"((float32[1, 2, 5, 7], float32[0]{}, float32[4]{1.0, 1.0, 2.0, 0.6}) {mode = "linear"})"
          R"((float32[1, 2, 5, 7], float32[0]{}, float32[0]{}, int64[4]{1, 2, 9, 3}) {mode = "linear", )"
          R"(coordinate_transformation_mode = "align_corners"})"
          R"((float32[1, 2, 5, 7], float32[0]{}, float32[4]{1.0, 1.0, 2.0, 0.6}) {mode = "cubic", exclude_outside = 1})"
          R"((float64[1, 2, 5, 7], float32[0]{}, float32[4]{1.0, 1.0, 2.0, 0.6}) {mode = "cubic"})"
          R"((uint8[1, 2, 5, 7] 0 to 255, float32[0]{}, float32[4]{1.0, 1.0, 2.0, 0.6}) {mode = "linear"})"
          R"((bfloat16[1, 2, 5, 7], float32[0]{}, float32[4]{1.0, 1.0, 2.0, 0.6}) {mode = "linear"})",
  };
}

}  // namespace svengine::ops
