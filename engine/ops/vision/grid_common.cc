#include "engine/ops/vision/grid_common.h"

#include "engine/ops/infer_util.h"
#include "engine/ops/nn/window_common.h"
#include "engine/ops/vision/sampling_common.h"

namespace svengine::ops {

std::vector<AttributeDef> grid_attributes() {
  return {{"mode", AttributeKind::kString, false, "linear"},
          {"padding_mode", AttributeKind::kString, false, "zeros"},
          {"align_corners", AttributeKind::kInt, false, 0}};
}

Result<GridRules> grid_rules(const Attributes& attributes) {
  GridRules rules;
  const std::string mode = attributes.get_string("mode", "linear"), padding = attributes.get_string("padding_mode", "zeros");
  if (mode != "nearest" && mode != "linear" && mode != "cubic")
    return error("mode is '{}', needs nearest, linear or cubic", mode);
  if (padding != "zeros" && padding != "border" && padding != "reflection")
    return error("padding_mode is '{}', needs zeros, border or reflection", padding);
  rules.mode = mode == "nearest" ? GridMode::kNearest : mode == "linear" ? GridMode::kLinear : GridMode::kCubic;
  rules.padding = padding == "zeros"    ? GridPadding::kZeros
                  : padding == "border" ? GridPadding::kBorder
                                        : GridPadding::kReflection;
  rules.align_corners = attributes.get_int("align_corners") != 0;
  return rules;
}

Result<Shape> grid_output(const Shape& x, const Shape& grid) {
  SV_TRY(check_spatial_rank(x, "X"));
  SV_TRY(check_spatial_rank(grid, "grid"));
  if (x.has_rank() && grid.has_rank() && x.rank() != grid.rank())
    return error("grid {} is of rank {}, X {} is of rank {}", to_string(grid), grid.rank(), to_string(x), x.rank());
  const int64_t rank = x.has_rank() ? x.rank() : grid.rank();
  if (rank < 0) return Shape();
  Shape out = unknown_dims(rank);
  if (x.has_rank()) {
    out.set(0, x[0]);
    out.set(1, x[1]);
    for (size_t i = 2; i < x.dims().size(); ++i)
      if (x[i].is_static() && x[i].value() == 0) return error("X {} has no pixels to sample", to_string(x));
    if (product(x, 2, x.dims().size()).is_static() && product(x, 2, x.dims().size()).value() >= kMostSampled)
      return unimplemented("planes of X {} have more elements than the {} that can be addressed", to_string(x), kMostSampled);
  }
  if (!grid.has_rank()) return out;
  if (x.has_rank() && known_different(x[0], grid[0]))
    return error("grid {} has {} images, X {} has {}", to_string(grid), grid[0].value(), to_string(x), x[0].value());
  if (known_different(grid.back(), rank - 2))
    return error("the last dimension of grid {} is {}, needs {}: a coordinate for each spatial dimension", to_string(grid),
                 grid.back().value(), rank - 2);
  out.set(0, x.has_rank() ? merge(x[0], grid[0]) : grid[0]);
  for (size_t i = 2; i < out.dims().size(); ++i) out.set(i, grid[i - 1]);
  return out;
}

GridShape grid_shape(const Dims& x, const Dims& grid) {
  GridShape s;
  s.batch = x[0], s.channels = x[1];
  s.axes = x.size() - 2;
  s.plane = element_count(std::span(x).subspan(2));
  s.positions = element_count(std::span(grid).subspan(1, s.axes));
  std::copy(x.begin() + 2, x.end(), s.in);
  return s;
}

}  // namespace svengine::ops
