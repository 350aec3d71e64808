// What Slice and its gradient share: the bounds, clamped as ONNX says: forwards to [0, size], backwards the start to [0, size - 1] and
// the end to [-1, size - 1].
#pragma once
#include <vector>

#include "engine/graph/op_def.h"
#include "engine/ops/lowering.h"

namespace svengine::ops {

/// Elements start, start + step, ... of an axis, `count` of them.
struct Range {
  int64_t start = 0, step = 1, count = 0;
};
Range range_in(int64_t size, int64_t start, int64_t end, int64_t step);

/// Entry i of each list is about axis axes[i].
struct Bounds {
  std::vector<int64_t> starts, ends, axes, steps;
};

/// Axes default to the first ones and steps to 1; the four must be of one length.
Result<Bounds> complete(Bounds b, bool has_axes, bool has_steps, int64_t rank);

/// From inputs 1 to 4 of a node: starts, ends, axes, steps. Fails when one of them is not known.
Result<Bounds> known_bounds(const LowerContext& c, int64_t rank);

}  // namespace svengine::ops
