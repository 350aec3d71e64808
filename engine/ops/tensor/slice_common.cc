#include "engine/ops/tensor/slice_common.h"

#include <algorithm>

#include "engine/graph/axes.h"

namespace svengine::ops {

Range range_in(int64_t size, int64_t start, int64_t end, int64_t step) {
  const auto wrapped = [size](int64_t i) { return i < 0 ? i + size : i; };
  if (step > 0) {
    const int64_t first = std::clamp<int64_t>(wrapped(start), 0, size), last = std::clamp<int64_t>(wrapped(end), 0, size);
    return {first, step, last > first ? (last - first - 1) / step + 1 : 0};
  }
  if (size == 0) return {0, step, 0};
  // Backwards a start before the first element is the first one, unlike NumPy's; an end may be before it.
  const int64_t first = std::clamp<int64_t>(wrapped(start), 0, size - 1), last = std::clamp<int64_t>(wrapped(end), -1, size - 1);
  // -INT64_MIN overflows; a step beyond the size takes one element whatever it is.
  const int64_t stride = step < -size ? size + 1 : -step;
  return {first, step, first > last ? (first - last - 1) / stride + 1 : 0};
}

Result<Bounds> complete(Bounds b, bool has_axes, bool has_steps, int64_t rank) {
  const size_t n = b.starts.size();
  if (!has_axes) b.axes = every_axis(static_cast<int64_t>(n));
  if (!has_steps) b.steps.assign(n, 1);
  if (b.ends.size() != n || b.axes.size() != n || b.steps.size() != n)
    return error("starts, ends, axes and steps have {}, {}, {} and {} entries, need equally many", n, b.ends.size(),
                 b.axes.size(), b.steps.size());
  SV_ASSIGN(b.axes, normalise_axes(b.axes, rank));
  if (std::count(b.steps.begin(), b.steps.end(), 0)) return error("a step is 0");
  return b;
}

Result<Bounds> known_bounds(const LowerContext& c, int64_t rank) {
  Bounds given;
  std::vector<int64_t>* const lists[] = {nullptr, &given.starts, &given.ends, &given.axes, &given.steps};
  for (size_t i = 1; i < 5; ++i) {
    if (!c.has_input(i)) continue;
    if (!c.constant(i)) return error("input {} is not known when the node is planned", i);
    *lists[i] = c.constant(i)->as_int64s();
  }
  return complete(given, c.has_input(3), c.has_input(4), rank);
}

}  // namespace svengine::ops
