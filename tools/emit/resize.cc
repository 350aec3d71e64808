// Resize: by the nearest element, and by weighted sums along one axis after the other.
#include <algorithm>
#include <vector>

#include "engine/ops/tensor/resize_common.h"
#include "tools/emit/lines.h"
#include "tools/emit/moves.h"
#include "tools/emit/table.h"

namespace svengine::tool::emit {
namespace {

Result<std::vector<ops::AxisScale>> changed_axes(const NodeContext& c) {
  SV_ASSIGN(std::vector<ops::AxisScale> axes, ops::resize_axes(c.node(), c.node().input(0)->type.shape));
  std::erase_if(axes, [](const ops::AxisScale& a) { return a.unchanged; });
  return axes;
}

std::string outside_of(const NodeContext& c) { return c_number(c.attributes().get_float("extrapolation_value"), c.out_type()); }

Status emit_nearest(NodeContext& c, const std::vector<ops::AxisScale>& axes) {
  std::vector<std::vector<int32_t>> maps;
  for (const int64_t size : c.in_dims(0)) {
    maps.emplace_back();
    for (int64_t i = 0; i < size; ++i) maps.back().push_back(static_cast<int32_t>(i));
  }
  for (const ops::AxisScale& axis : axes) {
    SV_ASSIGN(const kernels::ResizeAxis known, ops::kernel_axis(c.attributes(), axis));
    maps[axis.axis] = ops::nearest_places(c.attributes(), known);
  }
  emit_mapped(c, maps, outside_of(c));
  return {};
}

/// Lines of `from` become lines of as many elements as the tables are for, in `to`.
void emit_resampled(NodeContext& c, const Lines& lines, const kernels::ResampleTables& tables, const std::string& from, const std::string& to) {
  Code& code = c.code();
  const DType type = c.out_type();
  const auto count = static_cast<int64_t>(tables.index.size()) / tables.taps;
  const std::vector<double> single(tables.weight.begin(), tables.weight.end());
  const std::string index = c.array(std::span<const int32_t>(tables.index));
  const std::string weight = type == DType::f32 ? c.array(std::span<const float>(tables.weight))
                                                : c.array(std::span<const double>(tables.exact.empty() ? single : tables.exact));
  const bool has_outside = std::any_of(tables.index.begin(), tables.index.end(), [](int32_t i) { return i < 0; });
  code.loop("o", lines.outer);
  code.loop("j", count);
  code.loop("i", lines.inner);
  code.line("{} sum = 0;", c_type(type));
  code.loop("t", tables.taps);
  code.line("const ptrdiff_t at = {}[t * {} + j];", index, count);
  code.line("sum += {}[t * {} + j] * {}[(o * {} + {}) * {} + i];", weight, count, from, lines.count, has_outside ? "(at < 0 ? 0 : at)" : "at",
            lines.inner);
  code.close();
  code.line("{}[(o * {} + j) * {} + i] = {};", to, count, lines.inner,
            has_outside ? fmt::format("{}[j] < 0 ? {} : sum", index, outside_of(c)) : "sum");
  code.close(3);
}

}  // namespace

Status emit_resize(NodeContext& c) {
  SV_ASSIGN(const std::vector<ops::AxisScale> axes, changed_axes(c));
  if (axes.empty() || c.attributes().get_string("mode", "nearest") == "nearest") return emit_nearest(c, axes);
  Dims dims = c.in_dims(0);
  std::string from = c.in(0);
  for (const ops::AxisScale& axis : axes) {
    SV_ASSIGN(const kernels::ResizeAxis known, ops::kernel_axis(c.attributes(), axis));
    const Lines lines = lines_along(dims, axis.axis);
    dims[axis.axis] = known.out;
    const std::string to = &axis == &axes.back() ? c.out() : c.temporary(c.out_type(), element_count(dims));
    emit_resampled(c, lines, ops::resize_tables(c.attributes(), known), from, to);
    from = to;
  }
  return {};
}

}  // namespace svengine::tool::emit
