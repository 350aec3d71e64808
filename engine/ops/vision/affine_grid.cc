// AffineGrid: for every pixel of an image (2-D or 3-D) where an affine map sends it, in coordinates from -1 to 1.
#include <algorithm>

#include "engine/graph/gradient.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/element_step.h"
#include "engine/ops/infer_util.h"

namespace svengine::ops {
namespace {

Status infer_affine_grid(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kRealTypes));
  SV_TRY(require_dtype(c, 1, {DType::i64}));
  SV_TRY(require_rank(c, 0, 3));
  SV_TRY(require_rank(c, 1, 1));
  const auto size = c.integers(1);
  if (!size) {
    const Dim entries = c.shape(1).has_rank() ? c.shape(1)[0] : Dim();
    if (entries.is_static() && entries.value() != 4 && entries.value() != 5)
      return error("size has {} entries, needs 4 (N, C, H, W) or 5 (N, C, D, H, W)", entries.value());
    c.set(0, c.dtype(0), entries.is_static() ? unknown_dims(entries.value()) : Shape());
    return {};
  }
  if (size->size() != 4 && size->size() != 5)
    return error("size has {} entries, needs 4 (N, C, H, W) or 5 (N, C, D, H, W)", size->size());
  const auto spatial = static_cast<int64_t>(size->size()) - 2;
  const Shape& theta = c.shape(0);
  if (theta.has_rank()) {
    if (known_different(theta[0], (*size)[0]) || known_different(theta[1], spatial) || known_different(theta[2], spatial + 1))
      return error("theta is {}, needs {}x{}x{} for that size", svengine::to_string(theta), (*size)[0], spatial, spatial + 1);
  }
  std::vector<Dim> out{(*size)[0]};
  for (size_t i = 0; i < size->size(); ++i) {
    if ((*size)[i] < 0) return error("size {} is negative", (*size)[i]);
    if (i >= 2) out.push_back((*size)[i]);
  }
  out.push_back(spatial);
  c.set(0, c.dtype(0), Shape(std::move(out)));
  return {};
}

/// Pixel i of n: its centre, or with aligned corners from edge to edge (one pixel alone in the middle, as in PyTorch).
double grid_coordinate(int64_t i, int64_t n, bool align_corners) {
  const auto at = static_cast<double>(i), count = static_cast<double>(n);
  if (!align_corners) return (2 * at + 1) / count - 1;
  return n > 1 ? 2 * at / (count - 1) - 1 : 0;
}

/// Coordinates of the innermost axis that are computed at a time.
constexpr int64_t kAffineRun = 256;

/// The map of `count` pixels of a row, whose coordinates are x and, behind it, at[1] and at[2].
template <class T, int kSpatial>
void affine_run(const T* map, const double (&at)[3], const double* x, int64_t count, T* y) {
  for (int64_t i = 0; i < count; ++i)
    for (int r = 0; r < kSpatial; ++r) {
      const T* row = map + r * (kSpatial + 1);
      double sum = static_cast<double>(row[kSpatial]) + static_cast<double>(row[0]) * x[i];
      for (int d = 1; d < kSpatial; ++d) sum += static_cast<double>(row[d]) * at[d];
      y[i * kSpatial + r] = static_cast<T>(sum);
    }
}

/// Pixels [begin, end) of all images.
template <class T, int kSpatial>
void affine_pixels(const T* theta, T* y, const Dims& sizes, bool align, int64_t begin, int64_t end) {
  const int64_t pixels = element_count(sizes), width = sizes.back();
  int64_t known = -1, known_count = 0;  // what x holds
  double x[kAffineRun];
  for (int64_t i = begin; i < end;) {
    const int64_t first = i % width, count = std::min({width - first, end - i, kAffineRun});
    double at[3] = {};
    int64_t rest = i % pixels / width;
    for (int d = 1; d < kSpatial; ++d) {
      const int64_t n = sizes[static_cast<size_t>(kSpatial - 1 - d)];
      at[d] = grid_coordinate(rest % n, n, align);
      rest /= n;
    }
    if (first != known || count > known_count) {
      for (int64_t k = 0; k < count; ++k) x[k] = grid_coordinate(first + k, width, align);
      known = first, known_count = count;
    }
    affine_run<T, kSpatial>(theta + i / pixels * kSpatial * (kSpatial + 1), at, x, count, y + i * kSpatial);
    i += count;
  }
}

Status lower_affine_grid(LowerContext& c) {
  const Dims out = c.out_dims(), sizes(out.begin() + 1, out.end() - 1);
  const bool align = c.attributes().get_int("align_corners") != 0;
  const Buffer theta = c.in(0), y = c.out();
  with_type(c.out_type().dtype, [&]<class T>() {
    emit_elements(c, "affine_grid", out[0] * element_count(sizes), [=](const Run& run, int64_t begin, int64_t end) {
      const auto fill = sizes.size() == 2 ? affine_pixels<T, 2> : affine_pixels<T, 3>;
      fill(run.get<const T>(theta), run.get<T>(y), sizes, align, begin, end);
    });
  });
  return {};
}

/// The grid is theta times (x, y, 1) of every pixel; these are the grid of the identity, with a column of ones.
Status affine_grid_gradient(GradientContext& c) {
  const Shape& theta = c.input(0)->type.shape;
  if (!theta.has_rank() || !theta[1].is_static())
    return error("theta is {}: its gradient needs to know how many dimensions there are", svengine::to_string(theta));
  const int64_t n = theta[1].value();
  std::vector<float> identity(static_cast<size_t>(n * (n + 1)));
  for (int64_t i = 0; i < n; ++i) identity[static_cast<size_t>(i * (n + 2))] = 1;
  Value* one = c.builder().integers({1});
  Value* rest = c.op("Slice", {c.input(1), one, c.builder().integers({9})});
  Value* size = c.op("Concat", {one, rest}, make_attributes({{"axis", int64_t{0}}}));
  Value* unit = c.builder().constant(Tensor::of<float>({1, n, n + 1}, std::span<const float>(identity)));
  Value* grid = c.op("AffineGrid", {c.op("CastLike", {unit, c.dy()}), size}, c.attributes());
  Value* places = c.op("Reshape", {grid, c.builder().integers({-1, n})});
  const int64_t widths[] = {0, 0, 0, 1};
  Value* pads = c.builder().constant(Tensor::of<int64_t>({4}, std::span<const int64_t>(widths)));
  Value* points = c.op("Pad", {places, pads, c.scalar(1, c.dy())});
  Value* flat = c.op("Reshape", {c.dy(), c.builder().integers({0, -1, n})});
  Value* transposed = c.op("Transpose", {flat}, make_attributes({{"perm", std::vector<int64_t>{0, 2, 1}}}));
  c.set(0, c.op("MatMul", {transposed, points}));
  return {};
}

}  // namespace

OpDef define_affine_grid() {
  return {
      .name = "AffineGrid",
      .since = 20,
      .inputs = "theta, size",
      .attributes = {{"align_corners", AttributeKind::kInt, false, 0}},
      .infer = infer_affine_grid,
      .lower = lower_affine_grid,
      .types = {{"T1", kRealTypes, {0}}, {"T2", DTypeSet{DType::i64}, {1}}},
      .gradient = affine_grid_gradient,
      .traits = {.shape_inputs = {1}},
      .samples = "(float32[2, 2, 3], int64[4]{2, 3, 5, 6})"
                 "(float32[2, 2, 3], int64[4]{2, 1, 4, 1}) {align_corners = 1}"
                 "(float32[1, 3, 4], int64[5]{1, 2, 3, 4, 5}) {align_corners = 1}"
                 "(float64[2, 3, 4], int64[5]{2, 2, 2, 3, 1})"
                 "(float32[1, 2, 3], int64[4]{1, 1, 0, 2})",
  };
}

}  // namespace svengine::ops
