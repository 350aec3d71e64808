// com.microsoft.Inverse: the inverse of each square matrix, by elimination with partial pivoting in double. That of a singular matrix has
// infinities and NaN, as ONNX Runtime's.
#include <cmath>

#include "engine/graph/gradient.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/lowering.h"
#include "engine/ops/microsoft/microsoft_common.h"

namespace svengine::ops {
namespace {

Status infer_inverse(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kRealTypes));
  SV_TRY(require_rank_at_least(c, 0, 2));
  const Shape& x = c.shape(0);
  if (x.has_rank() && known_different(x.dims().back(), x.dims()[x.dims().size() - 2]))
    return error("X is {}: the last two dimensions must be equal", to_string(x));
  c.set(0, c.dtype(0), x);
  return {};
}

/// Both are n x n; `a` is destroyed.
void invert(double* a, double* inverse, int64_t n) {
  for (int64_t i = 0; i < n * n; ++i) inverse[i] = i % (n + 1) == 0 ? 1 : 0;
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t r = k + 1; r < n; ++r)
      if (std::fabs(a[r * n + k]) > std::fabs(a[pivot * n + k])) pivot = r;
    if (pivot != k) {
      std::swap_ranges(a + k * n, a + (k + 1) * n, a + pivot * n);
      std::swap_ranges(inverse + k * n, inverse + (k + 1) * n, inverse + pivot * n);
    }
    const double d = a[k * n + k];
    for (int64_t j = 0; j < n; ++j) a[k * n + j] /= d, inverse[k * n + j] /= d;
    for (int64_t r = 0; r < n; ++r) {
      const double f = a[r * n + k];
      if (r == k) continue;
      for (int64_t j = k; j < n; ++j) a[r * n + j] -= f * a[k * n + j];
      for (int64_t j = 0; j < n; ++j) inverse[r * n + j] -= f * inverse[k * n + j];
    }
  }
}

Status lower_inverse(LowerContext& c) {
  const Dims dims = c.in_dims(0);
  const int64_t n = dims.back(), matrices = element_count(std::span(dims).first(dims.size() - 2));
  const Buffer x = c.in(0), y = c.out();
  if (n > int64_t{1} << 19) return error("matrices of {} rows are larger than this operator works on", n);
  with_type(c.out_type().dtype, [&]<class T>() {
    c.emit(
        "inverse", matrices,
        [=](const Run& run, int64_t begin, int64_t end) -> const char* {
          double* work = run.scratch<double>();
          double* result = work + n * n;
          for (int64_t i = begin; i < end; ++i) {
            const T* in = run.get<const T>(x) + i * n * n;
            std::copy(in, in + n * n, work);
            invert(work, result, n);
            std::transform(result, result + n * n, run.get<T>(y) + i * n * n, [](double v) { return static_cast<T>(v); });
          }
          return nullptr;
        },
        2 * n * n * 8);
  });
  return {};
}

/// dX = -Y' dY Y'.
Status set_inverse_gradient(GradientContext& c) {
  const int64_t rank = c.input(0)->type.shape.rank();
  std::vector<int64_t> perm;
  for (int64_t i = 0; i < rank; ++i) perm.push_back(i < rank - 2 ? i : 2 * rank - 3 - i);
  Value* transposed = c.op("Transpose", {c.output(0)}, make_attributes({{"perm", perm}}));
  c.set(0, c.op("Neg", {c.op("MatMul", {c.op("MatMul", {transposed, c.dy()}), transposed})}));
  return {};
}

}  // namespace

OpDef define_microsoft_inverse() {
  return {
      .name = "Inverse",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "X",
      .infer = infer_inverse,
      .lower = lower_inverse,
      .types = {{"T", kRealTypes, {0}}},
      .gradient = set_inverse_gradient,
      .tolerance = {.rtol = 1e-4, .atol = 1e-5},
      .samples = "(float32[3, 3]{0.0, 2.0, 1.0, 1.0, 0.0, 3.0, 4.0, -3.0, 8.0})"
                 "(float64[1, 2, 2]{2.0, 1.0, 1.0, 3.0})"
                 "(float32[2, 0, 0])"
                 "(float32[3, 1, 1] 1 to 2)",
  };
}

}  // namespace svengine::ops
