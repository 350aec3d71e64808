// Resize by a scale that makes no whole number of elements: where ONNX and those who compute it have not agreed.
#include <cmath>
#include <string_view>

#include "engine/ops/tensor/resize_common.h"
#include "validate/check/context.h"

namespace svengine::validate {
namespace {

/// What of an axis depends on who computes it; empty: nothing.
std::string what_differs(const Node& node, const ops::AxisScale& axis) {
  if (!axis.scale_is_float || !axis.in.is_static()) return {};
  const auto in = static_cast<double>(axis.in.value());
  const std::string scaled = fmt::format("axis {}: {} elements by {} are ", axis.axis, axis.in.value(), static_cast<float>(axis.scale));
  const double out = static_cast<double>(axis.out.value()), exact = std::floor(in * axis.scale);
  if (out != exact) return fmt::format("{}{} here, in PyTorch and ONNX Runtime, {} in ONNX's inference", scaled, out, exact);
  if (axis.scale < 1 && in * axis.scale - out > 1e-6 && node.attributes.get_string("coordinate_transformation_mode") == "align_corners")
    return fmt::format("{}{}, whose corners are aligned by PyTorch and ONNX Runtime; here, as in ONNX's tests, those of {:.6g}", scaled, out,
                       in * axis.scale);
  return {};
}

}  // namespace

void check_resize(Context& c, const Body& body, int index, const Node& node) {
  if (std::string_view(node.op().name) != "Resize" || !node.input(0) || !node.input(0)->type.shape.has_rank()) return;
  const Result<std::vector<ops::AxisScale>> axes = ops::resize_axes(node, node.input(0)->type.shape);
  for (size_t i = 0; axes.ok() && i < axes->size(); ++i)
    if (const std::string differs = what_differs(node, (*axes)[i]); !differs.empty())
      return c.add("resize-scale", body, index, differs + ". Input sizes, in place of scales, says what is meant");
}

}  // namespace svengine::validate
