// What Resize and its predecessor Upsample have in common: reading and checking inputs and attributes.
#pragma once
#include "engine/kernels/data_prepare.h"
#include "engine/ops/element.h"
#include "engine/ops/infer_util.h"

namespace svengine::ops {

std::vector<AttributeDef> resize_attributes();

/// The nearest_mode that canonical nodes get for Upsample and Resize of opset 10, which had no such attribute: rounded down where an
/// axis grows, up where it shrinks (ONNX's test for opset 10, and ONNX Runtime). Files may not say it.
inline constexpr const char* kBeforeOpset11 = "before opset 11";

/// Upsample, and Resize of opset 10: `scales` becomes input 2, and the coordinates are found by division.
void canonicalize_upsample(CanonicalizeContext& c, Value* scales);

/// Types and attributes.
Status check_resize(const InferContext& c);

/// A resized axis: as many as scales, or sizes, were given.
struct AxisScale {
  size_t axis = 0;
  Dim in, out;
  double scale = 1;
  bool scale_is_float = false;  // as of kernels::ResizeAxis
  double roi_begin = 0, roi_end = 1;
  bool unchanged = false;  // every output is the input at the same place
};

/// The axes, for an input of known rank. Sizes are unknown while inputs are.
Result<std::vector<AxisScale>> resize_axes(const Node& node, const Shape& in);

/// The same for the kernels' table makers.
Result<kernels::ResizeAxis> kernel_axis(const Attributes& attributes, const AxisScale& axis);

inline constexpr int64_t kLongestAxis = int64_t{1} << 26;  // there is a table entry for every position

/// Mode nearest: for each output the place of its input; -1: the extrapolation value.
std::vector<int32_t> nearest_places(const Attributes& attributes, const kernels::ResizeAxis& axis);
/// Any mode: every output as a weighted sum of inputs.
kernels::ResampleTables resize_tables(const Attributes& attributes, const kernels::ResizeAxis& axis);

}  // namespace svengine::ops
