#include "engine/graph/axes.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace svengine {

Result<int64_t> normalise_axis(int64_t axis, int64_t rank, const char* what) {
  if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
  if (rank == 0) return error("{} {} of a scalar, which has none", what, axis);
  return error("{} {} is outside [{}, {}] for rank {}", what, axis, -rank, rank - 1, rank);
}

Result<std::vector<int64_t>> normalise_axes(std::span<const int64_t> axes, int64_t rank, const char* what) {
  std::vector<int64_t> out;
  for (int64_t axis : axes) {
    SV_ASSIGN(const int64_t a, normalise_axis(axis, rank, what));
    if (std::find(out.begin(), out.end(), a) != out.end()) return error("{} names axis {} twice", what, a);
    out.push_back(a);
  }
  return out;
}

std::vector<int64_t> every_axis(int64_t count) {
  std::vector<int64_t> out(static_cast<size_t>(count));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

std::vector<int64_t> matrix_transpose(int64_t rank) {
  std::vector<int64_t> out = every_axis(rank);
  std::swap(out.end()[-1], out.end()[-2]);
  return out;
}

}  // namespace svengine
