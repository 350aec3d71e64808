#include "engine/ops/tensor/resize_common.h"

#include <algorithm>
#include <cmath>

#include "engine/graph/axes.h"

namespace svengine::ops {
namespace {

using kernels::ResizeCoordinate;

constexpr std::pair<const char*, ResizeCoordinate> kCoordinates[] = {
    {"half_pixel", ResizeCoordinate::kHalfPixel},
    {"half_pixel_symmetric", ResizeCoordinate::kHalfPixelSymmetric},
    {"pytorch_half_pixel", ResizeCoordinate::kPytorchHalfPixel},
    {"align_corners", ResizeCoordinate::kAlignCorners},
    {"asymmetric", ResizeCoordinate::kAsymmetric},
    {"tf_crop_and_resize", ResizeCoordinate::kTfCropAndResize},
    {"tf_half_pixel_for_nn", ResizeCoordinate::kTfHalfPixelForNn},
};

constexpr double kMostSize = 0x1p48;
constexpr double kWholeFloats = 0x1p24;  // below it float32 has all whole numbers
constexpr double kMostWeights = 0x1p28;  // of antialiasing, in one axis' table
constexpr double kFarthestRoi = 0x1p30;  // in lengths of the axis

constexpr size_t kRoi = 1, kScales = 2, kSizes = 3;

Status check_choice(const Attributes& attributes, const char* name, std::initializer_list<const char*> allowed) {
  const std::string value = attributes.get_string(name, *allowed.begin());
  for (const char* a : allowed)
    if (value == a) return {};
  std::string list;
  for (const char* a : allowed) list += fmt::format("{}{}", list.empty() ? "" : ", ", a);
  return error("{} is '{}', needs one of {}", name, value, list);
}

/// Exporters write an empty tensor for an input that is not there.
bool is_given(const Node& node, size_t i) {
  const Value* v = node.input(i);
  return v && !(v->type.shape.rank() == 1 && v->type.shape[0].is_static() && v->type.shape[0].value() == 0);
}

/// Given, and known not to be empty, which would be the same as absent.
bool is_surely_given(const Node& node, size_t i) {
  return is_given(node, i) && node.input(i)->type.shape.rank() == 1 && node.input(i)->type.shape[0].is_static();
}

/// The elements of a known input.
std::optional<std::vector<double>> numbers(const Node& node, size_t i) {
  const Value* v = node.input(i);
  if (!v || !v->is_constant()) return std::nullopt;
  std::vector<double> out;
  for (int64_t k = 0; k < v->constant().count(); ++k) out.push_back(number_at(v->constant().type(), v->constant().raw(), k));
  return out;
}

/// Of an input that may be known by its shape alone. One that is empty is as one that is not there, unless its elements are asked for.
Status check_length(const Node& node, size_t i, const char* what, size_t needed, size_t axes) {
  const Value* v = node.input(i);
  if (!v || (!v->is_constant() && !is_surely_given(node, i))) return {};
  const int64_t length = v->is_constant() ? v->constant().count() : v->type.shape[0].value();
  if (length == static_cast<int64_t>(needed)) return {};
  return error("{} has {} elements, needs {} for {} axes", what, length, needed, axes);
}

Result<std::vector<int64_t>> named_axes(const Attributes& attributes, int64_t rank) {
  if (const auto* given = attributes.get<std::vector<int64_t>>("axes")) return normalise_axes(*given, rank);
  return every_axis(rank);
}

/// ONNX's text multiplies by the region's part of the axis as well; its inference and reference and ONNX Runtime do not, so no file can mean it.
/// Sizes are products in float32, as in ONNX Runtime: 40 elements by 3.3 are 132, which is what PyTorch has when it writes 3.3, and not the 131
/// that ONNX's inference makes of 3.29999995. Beyond what float32 counts in whole numbers they are exact.
Status apply_scales(std::vector<AxisScale>& axes, const std::vector<double>& scales) {
  for (size_t i = 0; i < axes.size(); ++i) {
    AxisScale& a = axes[i];
    if (!(scales[i] > 0) || !std::isfinite(scales[i])) return error("scale {} of axis {} is not a positive number", scales[i], a.axis);
    a.scale = scales[i];
    if (a.in.is_static()) {
      const double in = static_cast<double>(a.in.value()), exact = in * a.scale;
      a.scale_is_float = std::max(in, exact) < kWholeFloats;
      const double out = std::floor(a.scale_is_float ? static_cast<double>(static_cast<float>(exact)) : exact);
      if (!(out >= 0 && out <= kMostSize)) return error("axis {} of {} elements scaled by {} gives {}", a.axis, a.in.value(), a.scale, out);
      a.out = static_cast<int64_t>(out);
    } else if (a.scale == 1) {
      a.out = a.in;
    }
  }
  return {};
}

/// One scale for all axes, the smallest or the largest that the sizes ask for.
Status keep_ratio(std::vector<AxisScale>& axes, bool largest) {
  if (std::any_of(axes.begin(), axes.end(), [](const AxisScale& a) { return !a.in.is_static(); })) {
    for (AxisScale& a : axes) a.out = Dim();
    return {};
  }
  double scale = axes[0].scale;
  for (const AxisScale& a : axes) scale = largest ? std::max(scale, a.scale) : std::min(scale, a.scale);
  for (AxisScale& a : axes) {
    a.scale = scale;
    const double size = std::floor(scale * static_cast<double>(a.in.value()) + 0.5);
    if (!(size <= kMostSize)) return error("size {} of axis {}, in the ratio of the others, is out of range", size, a.axis);
    a.out = static_cast<int64_t>(size);
  }
  return {};
}

Status apply_sizes(std::vector<AxisScale>& axes, const std::vector<double>& sizes, const std::string& policy) {
  for (size_t i = 0; i < axes.size(); ++i) {
    AxisScale& a = axes[i];
    if (!(sizes[i] >= 1 && sizes[i] <= kMostSize)) return error("size {} of axis {} is out of range", sizes[i], a.axis);
    a.out = static_cast<int64_t>(sizes[i]);
    if (a.in.is_static() && a.in.value() > 0) a.scale = sizes[i] / static_cast<double>(a.in.value());
  }
  return policy != "stretch" && !axes.empty() ? keep_ratio(axes, policy == "not_smaller") : Status();
}

kernels::ResizeNearest rounding_of(const Attributes& attributes, double scale) {
  const std::string name = attributes.get_string("nearest_mode", "round_prefer_floor");
  if (name == kBeforeOpset11) return scale < 1 ? kernels::ResizeNearest::kCeil : kernels::ResizeNearest::kFloor;
  if (name == "round_prefer_ceil") return kernels::ResizeNearest::kRoundPreferCeil;
  if (name == "floor") return kernels::ResizeNearest::kFloor;
  return name == "ceil" ? kernels::ResizeNearest::kCeil : kernels::ResizeNearest::kRoundPreferFloor;
}

}  // namespace

std::vector<AttributeDef> resize_attributes() {
  return {{"mode", AttributeKind::kString, false, "nearest"},
          {"coordinate_transformation_mode", AttributeKind::kString, false, "half_pixel"},
          {"nearest_mode", AttributeKind::kString, false, "round_prefer_floor"},
          {"cubic_coeff_a", AttributeKind::kFloat, false, -0.75f},
          {"exclude_outside", AttributeKind::kInt, false, 0},
          {"extrapolation_value", AttributeKind::kFloat, false, 0.0f},
          {"antialias", AttributeKind::kInt, false, 0},
          {"axes", AttributeKind::kInts},
          {"keep_aspect_ratio_policy", AttributeKind::kString, false, "stretch"}};
}

void canonicalize_upsample(CanonicalizeContext& c, Value* scales) {
  c.set_input(kScales, scales);
  c.set_input(kRoi, nullptr);
  c.attributes().set("coordinate_transformation_mode", std::string("asymmetric"));
  c.attributes().set("nearest_mode", std::string(kBeforeOpset11));
}

Status check_resize(const InferContext& c) {
  const Attributes& attributes = c.attributes();
  SV_TRY(check_choice(attributes, "mode", {"nearest", "linear", "cubic"}));
  SV_TRY(check_choice(attributes, "coordinate_transformation_mode",
                      {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize",
                       "tf_half_pixel_for_nn"}));
  if (attributes.get_string("nearest_mode") != kBeforeOpset11)
    SV_TRY(check_choice(attributes, "nearest_mode", {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}));
  SV_TRY(check_choice(attributes, "keep_aspect_ratio_policy", {"stretch", "not_larger", "not_smaller"}));
  SV_TRY(require_dtype(c, 0, kStoredTypes));
  for (size_t i = kRoi; i <= kSizes; ++i) SV_TRY(require_rank(c, i, 1));
  const bool none = !is_given(c.node(), kScales) && !is_given(c.node(), kSizes);
  const bool both = is_surely_given(c.node(), kScales) && is_surely_given(c.node(), kSizes);
  if (none || both) return error("needs either scales or sizes");
  return {};
}

Result<std::vector<AxisScale>> resize_axes(const Node& node, const Shape& in) {
  const bool crop = node.attributes.get_string("coordinate_transformation_mode") == "tf_crop_and_resize";
  SV_ASSIGN(const std::vector<int64_t> which, named_axes(node.attributes, in.rank()));
  std::vector<AxisScale> axes;
  for (int64_t axis : which) axes.push_back({.axis = static_cast<size_t>(axis), .in = in[static_cast<size_t>(axis)], .out = {}});
  const bool by_size = is_given(node, kSizes) && !is_surely_given(node, kScales);
  const auto values = numbers(node, by_size ? kSizes : kScales), roi = numbers(node, kRoi);
  if (crop && !is_given(node, kRoi)) return error("tf_crop_and_resize needs input 1 (roi)");
  SV_TRY(check_length(node, by_size ? kSizes : kScales, by_size ? "sizes" : "scales", axes.size(), axes.size()));
  if (crop) SV_TRY(check_length(node, kRoi, "roi", 2 * axes.size(), axes.size()));
  if (!values || (crop && !roi)) return axes;
  if (crop) {
    for (size_t i = 0; i < axes.size(); ++i) {
      axes[i].roi_begin = (*roi)[i];
      axes[i].roi_end = (*roi)[axes.size() + i];
      if (!(std::fabs(axes[i].roi_begin) <= kFarthestRoi && std::fabs(axes[i].roi_end) <= kFarthestRoi))
        return error("roi {} to {} of axis {} is not within 2^30 lengths of the axis", axes[i].roi_begin, axes[i].roi_end, axes[i].axis);
    }
  }
  if (by_size) SV_TRY(apply_sizes(axes, *values, node.attributes.get_string("keep_aspect_ratio_policy", "stretch")));
  else SV_TRY(apply_scales(axes, *values));
  // Where no axis changes its size PyTorch and ONNX Runtime copy, whatever the scales: 5 elements by 1.1 are the same 5.
  const bool copies = !crop && std::all_of(axes.begin(), axes.end(), [](const AxisScale& a) { return a.in.is_static() && a.in.same(a.out); });
  for (AxisScale& a : axes) {
    if (copies) a.scale = 1;
    if (a.in.is_static() && a.in.value() == 0 && a.out.is_static() && a.out.value() > 0)
      return error("axis {} is empty and cannot become {} elements", a.axis, a.out.value());
    a.unchanged = a.scale == 1 && a.in.same(a.out) && (!crop || (a.roi_begin == 0 && a.roi_end == 1));
  }
  return axes;
}

Result<kernels::ResizeAxis> kernel_axis(const Attributes& attributes, const AxisScale& axis) {
  kernels::ResizeAxis out;
  out.in = axis.in.value();
  out.out = axis.out.value();
  out.scale = axis.scale;
  out.scale_is_float = axis.scale_is_float;
  out.roi_begin = axis.roi_begin;
  out.roi_end = axis.roi_end;
  const std::string name = attributes.get_string("coordinate_transformation_mode", "half_pixel");
  for (const auto& [n, coordinate] : kCoordinates)
    if (name == n) out.coordinate = coordinate;
  if (attributes.get_int("antialias") != 0 && out.scale < 1 && 4 / out.scale * static_cast<double>(out.out) > kMostWeights)
    return unimplemented("axis {}: antialiasing by a scale of {} reads too many elements for each of {}", axis.axis, out.scale, out.out);
  return out;
}

std::vector<int32_t> nearest_places(const Attributes& attributes, const kernels::ResizeAxis& axis) {
  return kernels::nearest_map(axis, rounding_of(attributes, axis.scale));
}

kernels::ResampleTables resize_tables(const Attributes& attributes, const kernels::ResizeAxis& axis) {
  const bool antialias = attributes.get_int("antialias") != 0;
  const std::string mode = attributes.get_string("mode", "nearest");
  if (mode == "nearest") return {1, nearest_places(attributes, axis), std::vector<float>(static_cast<size_t>(axis.out), 1.0f)};
  if (mode == "linear") return kernels::linear_tables(axis, antialias);
  return kernels::cubic_tables(axis, attributes.get_float("cubic_coeff_a", -0.75f), attributes.get_int("exclude_outside") != 0, antialias);
}

}  // namespace svengine::ops
