// Det: the determinant of each square matrix, by elimination with partial pivoting in double.
#include <algorithm>
#include <cmath>

#include "engine/graph/gradient.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/lowering.h"

namespace svengine::ops {
namespace {

Status infer_det(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kRealTypes));
  SV_TRY(require_rank_at_least(c, 0, 2));
  const Shape& x = c.shape(0);
  if (!x.has_rank()) {
    c.set(0, c.dtype(0), Shape());
    return {};
  }
  const size_t rank = x.dims().size();
  if (known_different(x[rank - 1], x[rank - 2]))
    return error("X is {}: the last two dimensions must be equal", svengine::to_string(x));
  c.set(0, c.dtype(0), Shape(std::vector<Dim>(x.dims().begin(), x.dims().end() - 2)));
  return {};
}

constexpr int64_t kDetPanel = 4;  // columns that are eliminated before the rest of the matrix follows, which is read and written once for all of them

/// Brings the row with the largest element of column k to row k; whether that was another.
bool exchange_pivot(double* a, int64_t n, int64_t k) {
  int64_t pivot = k;
  for (int64_t r = k + 1; r < n; ++r)
    if (std::fabs(a[r * n + k]) > std::fabs(a[pivot * n + k])) pivot = r;
  if (pivot != k) std::swap_ranges(a + k * n, a + (k + 1) * n, a + pivot * n);
  return pivot != k;
}

/// Takes kRows pivot rows, n apart, times their factors from a row, elements [first, n), one after the other.
template <int kRows>
void eliminate(double* __restrict row, const double* __restrict pivots, const double* factor, int64_t first, int64_t n) {
  double f[kRows];
  std::copy_n(factor, kRows, f);
  for (int64_t j = first; j < n; ++j) {
    double value = row[j];
    for (int i = 0; i < kRows; ++i) value -= f[i] * pivots[i * n + j];
    row[j] = value;
  }
}

/// Columns [first, last) of rows below the diagonal become factors, and the result is multiplied by their pivots; false where one is 0. Other columns
/// only follow exchanges of rows.
bool eliminate_panel(double* a, int64_t n, int64_t first, int64_t last, double& result) {
  for (int64_t k = first; k < last; ++k) {
    if (exchange_pivot(a, n, k)) result = -result;
    const double d = a[k * n + k];
    if (d == 0) return false;
    result *= d;
    for (int64_t r = k + 1; r < n; ++r) {
      const double f = a[r * n + k] /= d;
      for (int64_t j = k + 1; j < last; ++j) a[r * n + j] -= f * a[k * n + j];
    }
  }
  return true;
}

/// Destroys a, which is n x n.
double determinant(double* a, int64_t n) {
  double result = 1;
  for (int64_t first = 0; first < n; first += kDetPanel) {
    const int64_t last = std::min(n, first + kDetPanel);
    if (!eliminate_panel(a, n, first, last, result)) return 0;
    if (last == n) break;
    for (int64_t r = first + 1; r < last; ++r)
      for (int64_t k = first; k < r; ++k) eliminate<1>(a + r * n, a + k * n, a + r * n + k, last, n);
    for (int64_t r = last; r < n; ++r) eliminate<kDetPanel>(a + r * n, a + first * n, a + r * n + first, last, n);
  }
  return result;
}

Status lower_det(LowerContext& c) {
  const int64_t n = c.in_dims(0).back(), matrices = element_count(c.out_dims());
  const Buffer x = c.in(0), y = c.out();
  if (n > int64_t{1} << 20) return error("matrices of {} rows are larger than this operator works on", n);
  with_type(c.out_type().dtype, [&]<class T>() {
    c.emit(
        "det", matrices,
        [=](const Run& run, int64_t begin, int64_t end) -> const char* {
          double* work = run.scratch<double>();
          for (int64_t i = begin; i < end; ++i) {
            const T* in = run.get<const T>(x) + i * n * n;
            std::copy(in, in + n * n, work);
            run.get<T>(y)[i] = static_cast<T>(determinant(work, n));
          }
          return nullptr;
        },
        n * n * 8);
  });
  return {};
}

Status set_det_gradient(GradientContext& c) {
  c.set(0, c.internal("DetGrad", {c.dy(), c.input(0)}));
  return {};
}

}  // namespace

OpDef define_det() {
  return {
      .name = "Det",
      .since = 11,
      .inputs = "X",
      .infer = infer_det,
      .lower = lower_det,
      .types = {{"T", kRealTypes, {0}}},
      .gradient = set_det_gradient,
      .samples = "(float32[2, 2])"
                 "(float32[3, 2, 5, 5])"
                 "(float32[2, 19, 19])"
                 "(float64[4, 3, 3])"
                 "(float32[2, 0, 0])"
                 "(float32[0, 1, 1])",
  };
}

}  // namespace svengine::ops
