// Det: the determinant of each square matrix, by elimination with partial pivoting in double.
#include <cmath>

#include "engine/graph/gradient.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/lowering.h"
#include "engine/ops/samples.h"

namespace svengine::ops {
namespace {

Status infer_det(InferContext& c) {
  SV_TRY(require_dtype(c, 0, "X", kRealTypes));
  SV_TRY(require_rank_at_least(c, 0, "X", 2));
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

/// Destroys a, which is n x n.
double determinant(double* a, int64_t n) {
  double result = 1;
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t r = k + 1; r < n; ++r)
      if (std::fabs(a[r * n + k]) > std::fabs(a[pivot * n + k])) pivot = r;
    const double d = a[pivot * n + k];
    if (d == 0) return 0;
    if (pivot != k) {
      std::swap_ranges(a + k * n, a + (k + 1) * n, a + pivot * n);
      result = -result;
    }
    result *= d;
    for (int64_t r = k + 1; r < n; ++r) {
      const double f = a[r * n + k] / d;
      for (int64_t j = k + 1; j < n; ++j) a[r * n + j] -= f * a[k * n + j];
    }
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
      .infer = infer_det,
      .lower = lower_det,
      .types = {{"T", kRealTypes, {0}}},
      .gradient = set_det_gradient,
      .samples = {{.inputs = {f32({2, 2})}}, {.inputs = {f32({3, 2, 5, 5})}}, {.inputs = {any(DType::f64, {4, 3, 3})}},
                  {.inputs = {f32({2, 0, 0})}}, {.inputs = {f32({0, 1, 1})}}},
  };
}

}  // namespace svengine::ops
