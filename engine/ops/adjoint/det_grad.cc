// svengine.DetGrad: the gradient of Det's X. Inputs: dy, X. dX = dy times the cofactors of X, which singular matrices have, too.
//
// With complete pivoting P X Q = L U, and adjugates multiply in reverse order: adj(X) = det(P) det(Q) Q adj(U) L^-1 P. Of U with
// corner u, last column v above it, and U1 the rest, which pivoting leaves singular only where the rank is n - 2 or less and all cofactors
// are 0:
//
//   adj(U) = det(U1) [u U1^-1, -U1^-1 v; 0, 1]
#include <cmath>
#include <numeric>
#include <utility>

#include "engine/ops/infer_util.h"
#include "engine/ops/like.h"
#include "engine/ops/lowering.h"

namespace svengine::ops {
namespace {

Status infer_det_grad(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kRealTypes));
  SV_TRY(require_dtype(c, 1, {c.dtype(0)}));
  SV_TRY(require_rank_at_least(c, 1, 2));
  c.set(0, c.type(1));
  const Shape& x = c.shape(1);
  if (!x.has_rank()) return {};
  if (known_different(x.dims().end()[-1], x.dims().end()[-2])) return error("X is {}: the last two dimensions must be equal", to_string(x));
  return require_shape(c, 0, Shape(std::vector<Dim>(x.dims().begin(), x.dims().end() - 2)));
}

/// An n x n matrix with the permutations that elimination brings about.
struct DetWork {
  int64_t n;
  double* a;                // X, then L below and U from the diagonal on
  double* column;           // of adj(U) L^-1
  int64_t *rows, *columns;  // row i of P X Q is row rows[i] of X

  double& at(int64_t i, int64_t j) const { return a[i * n + j]; }
  static int64_t bytes(int64_t n) { return (n * n + n) * 8 + 2 * n * 8; }
};

/// Returns det(P) det(Q). Stops where nothing but zeros is left.
double eliminate(const DetWork& w) {
  double sign = 1;
  std::iota(w.rows, w.rows + w.n, 0);
  std::iota(w.columns, w.columns + w.n, 0);
  for (int64_t k = 0; k < w.n; ++k) {
    int64_t row = k, column = k;
    for (int64_t i = k; i < w.n; ++i)
      for (int64_t j = k; j < w.n; ++j)
        if (std::fabs(w.at(i, j)) > std::fabs(w.at(row, column))) row = i, column = j;
    if (row != k) std::swap_ranges(w.a + k * w.n, w.a + (k + 1) * w.n, w.a + row * w.n), std::swap(w.rows[k], w.rows[row]), sign = -sign;
    if (column != k) {
      for (int64_t i = 0; i < w.n; ++i) std::swap(w.at(i, k), w.at(i, column));
      std::swap(w.columns[k], w.columns[column]);
      sign = -sign;
    }
    if (w.at(k, k) == 0) break;
    for (int64_t i = k + 1; i < w.n; ++i) {
      w.at(i, k) /= w.at(k, k);
      for (int64_t j = k + 1; j < w.n; ++j) w.at(i, j) -= w.at(i, k) * w.at(k, j);
    }
  }
  return sign;
}

/// w.column := adj(U) L^-1 e_j, where `minor` is det(U1).
void solve_column(const DetWork& w, int64_t j, double minor) {
  const int64_t last = w.n - 1;
  double* y = w.column;
  for (int64_t i = 0; i < w.n; ++i) {
    y[i] = i == j;
    for (int64_t k = j; k < i; ++k) y[i] -= w.at(i, k) * y[k];
  }
  // U1 z = u y - v y_last
  for (int64_t i = 0; i < last; ++i) y[i] = w.at(last, last) * y[i] - w.at(i, last) * y[last];
  for (int64_t i = last - 1; i >= 0; --i) {
    for (int64_t k = i + 1; k < last; ++k) y[i] -= w.at(i, k) * y[k];
    y[i] /= w.at(i, i);
  }
  for (int64_t i = 0; i < w.n; ++i) y[i] *= minor;
}

/// dx := dy cof(x); the cofactors are the adjugate's transpose.
template <class T>
void det_gradient(const DetWork& w, T dy, const T* x, T* dx) {
  std::copy(x, x + w.n * w.n, w.a);
  const double sign = eliminate(w);
  double minor = sign * static_cast<double>(dy);
  for (int64_t k = 0; k + 1 < w.n; ++k) minor *= w.at(k, k);
  if (minor == 0) {
    std::fill(dx, dx + w.n * w.n, T(0));
    return;
  }
  for (int64_t j = 0; j < w.n; ++j) {
    solve_column(w, j, minor);
    for (int64_t i = 0; i < w.n; ++i) dx[w.rows[j] * w.n + w.columns[i]] = static_cast<T>(w.column[i]);
  }
}

template <class T>
void emit_det_grad(LowerContext& c, int64_t n, int64_t matrices) {
  c.emit(
      "det_grad", n ? matrices : 0,
      [=, dy = c.in(0), x = c.in(1), dx = c.out()](const Run& run, int64_t begin, int64_t end) -> const char* {
        double* numbers = run.scratch<double>();
        auto* places = reinterpret_cast<int64_t*>(numbers + n * n + n);
        const DetWork work{n, numbers, numbers + n * n, places, places + n};
        for (int64_t i = begin; i < end; ++i)
          det_gradient(work, run.get<const T>(dy)[i], run.get<const T>(x) + i * n * n, run.get<T>(dx) + i * n * n);
        return nullptr;
      },
      DetWork::bytes(n));
}

Status lower_det_grad(LowerContext& c) {
  const int64_t n = c.in_dims(1).back(), matrices = element_count(c.in_dims(0));
  if (n > int64_t{1} << 20) return error("matrices of {} rows are larger than this operator works on", n);
  if (c.out_type().dtype == DType::f64) emit_det_grad<double>(c, n, matrices);
  else emit_det_grad<float>(c, n, matrices);
  return {};
}

}  // namespace

OpDef define_det_grad() {
  return {
      .name = "DetGrad",
      .domain = kInternalDomain,
      .inputs = "dy, X",
      .infer = infer_det_grad,
      .lower = lower_det_grad,
      .samples = "(float32[3], float32[3, 5, 5])"
                 "(float32[2], float32[2, 1, 1])"
                 "(float64[2], float64[2, 4, 4])",
  };
}

}  // namespace svengine::ops
