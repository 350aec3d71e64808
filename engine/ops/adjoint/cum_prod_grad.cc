// svengine.CumProdGrad: the gradient of CumProd's x. Inputs: dy, x, axis; the attributes are CumProd's. Without divisions, so that
// elements may be 0: with P_k the product of what comes before k,
//
//   dx_k = P_k S_k,   S_k = dy_k + x_(k+1) S_(k+1)         exclusive: S_k = dy_(k+1) + x_(k+1) S_(k+1)
#include <vector>

#include "engine/graph/axes.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/like.h"
#include "engine/ops/lowering.h"

namespace svengine::ops {
namespace {

Status infer_cum_prod_grad(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kRealTypes));
  SV_TRY(require_dtype(c, 1, {c.dtype(0)}));
  SV_TRY(require_dtype(c, 2, kIndexTypes));
  SV_TRY(require_single(c, 2));
  c.set(0, c.type(1));
  if (!c.shape(1).has_rank()) return {};
  SV_TRY(require_rank_at_least(c, 1, 1));
  if (const auto axis = c.integers(2)) SV_TRY(normalise_axis(axis->at(0), c.shape(1).rank()));
  return require_shape(c, 0, c.shape(1));
}

/// One line of n elements, `step` apart, from its first one on (its last, and a negative step, where products run backwards).
template <class T>
void cum_prod_line(const T* dy, const T* x, T* dx, int64_t n, int64_t step, bool exclusive) {
  double sum = 0;  // S; double, as the products of the forward pass are
  for (int64_t k = n - 1; k >= 0; --k) {
    const double behind = k + 1 < n ? static_cast<double>(x[(k + 1) * step]) * sum : 0;
    const double own = !exclusive ? static_cast<double>(dy[k * step]) : k + 1 < n ? static_cast<double>(dy[(k + 1) * step]) : 0;
    sum = own + behind;
    dx[k * step] = static_cast<T>(sum);
  }
  double before = 1;
  for (int64_t k = 0; k < n; ++k) {
    dx[k * step] = static_cast<T>(static_cast<double>(dx[k * step]) * before);
    before *= static_cast<double>(x[k * step]);
  }
}

template <class T>
void emit_cum_prod_grad(LowerContext& c, int64_t lines, int64_t n, int64_t inner) {
  const bool exclusive = c.attributes().get_int("exclusive") != 0, reverse = c.attributes().get_int("reverse") != 0;
  c.emit("cum_prod_grad", n ? lines : 0,
         [=, dy = c.in(0), x = c.in(1), dx = c.out()](const Run& run, int64_t begin, int64_t end) -> const char* {
           const int64_t step = reverse ? -inner : inner;
           for (int64_t task = begin; task < end; ++task) {
             const int64_t at = task / inner * n * inner + task % inner + (reverse ? (n - 1) * inner : 0);
             cum_prod_line(run.get<const T>(dy) + at, run.get<const T>(x) + at, run.get<T>(dx) + at, n, step, exclusive);
           }
           return nullptr;
         });
}

Status lower_cum_prod_grad(LowerContext& c) {
  const Dims dims = c.in_dims(1);
  if (!c.constant(2)) return error("input 2 (axis) is not known when the node is planned");
  SV_ASSIGN(const int64_t axis, normalise_axis(c.constant(2)->as_int64s().at(0), static_cast<int64_t>(dims.size())));
  const std::span<const int64_t> all(dims);
  const auto a = static_cast<size_t>(axis);
  const int64_t inner = element_count(all.subspan(a + 1)), lines = element_count(all.first(a)) * inner;
  if (c.out_type().dtype == DType::f64) emit_cum_prod_grad<double>(c, lines, dims[a], inner);
  else emit_cum_prod_grad<float>(c, lines, dims[a], inner);
  return {};
}

}  // namespace

OpDef define_cum_prod_grad() {
  return {
      .name = "CumProdGrad",
      .domain = kInternalDomain,
      .inputs = "dy, x, axis",
      .attributes = {{"exclusive", AttributeKind::kInt, false, 0}, {"reverse", AttributeKind::kInt, false, 0}},
      .infer = infer_cum_prod_grad,
      .lower = lower_cum_prod_grad,
      .traits = {.shape_inputs = {2}},
      .samples = "(float32[3, 21], float32[3, 21], int64[]{1})"
                 "(float32[2, 5, 3], float32[2, 5, 3], int64[]{1}) {exclusive = 1, reverse = 1}"
                 "(float64[2, 4], float64[2, 4], int64[]{1})",
  };
}

}  // namespace svengine::ops
