// A tensor as lines along one axis: element l of line (o, i) is at (o count + l) inner + i.
#pragma once
#include "engine/graph/axes.h"
#include "tools/emit/context.h"

namespace svengine::tool::emit {

struct Lines {
  int64_t outer = 1, count = 1, inner = 1;
};

/// Of dimensions along an axis in [0, rank).
inline Lines lines_along(const Dims& dims, size_t axis) {
  const std::span<const int64_t> all(dims);
  return {element_count(all.first(axis)), dims[axis], element_count(all.subspan(axis + 1))};
}

/// Of input 0 along attribute axis; a scalar is a line of one. With attribute coerced the lines are all dimensions from the axis on.
inline Result<Lines> lines_of(const NodeContext& c, int64_t default_axis = -1) {
  const Dims dims = c.in_dims(0);
  const auto rank = static_cast<int64_t>(dims.size());
  int64_t axis = c.attributes().get_int("axis", default_axis);
  const bool coerced = c.attributes().get_int("coerced") != 0;
  if (rank == 0 || (coerced && axis == rank)) return Lines{element_count(dims), 1, 1};
  SV_ASSIGN(axis, normalise_axis(axis, rank));
  const auto at = static_cast<size_t>(axis);
  if (coerced) return Lines{element_count(std::span(dims).first(at)), element_count(std::span(dims).subspan(at)), 1};
  return lines_along(dims, at);
}

}  // namespace svengine::tool::emit
