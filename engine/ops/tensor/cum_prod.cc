// CumProd: running products along an axis; exclusive ones leave the element itself out, reverse ones run from the end.
#include "engine/graph/gradient.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/tensor/cumulative_common.h"

namespace svengine::ops {
namespace {

Status lower_cum_prod(LowerContext& c) {
  SV_ASSIGN(const Cumulation cut, cumulation_of(c));
  const int64_t n = cut.n, inner = cut.inner;
  const bool exclusive = cut.exclusive, reverse = cut.reverse;
  const Buffer x = c.in(0), y = c.out();
  with_type(c.out_type().dtype, [&]<class T>() {
    // Products of floats in double; integers wrap, which unsigned ones do by definition.
    using Factor = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;
    c.emit("cum_prod", n ? cut.outer * inner : 0, [=](const Run& run, int64_t begin, int64_t end) -> const char* {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t start = task / inner * n * inner + task % inner;
        Factor product = 1;
        for (int64_t k = 0; k < n; ++k) {
          const int64_t at = start + (reverse ? n - 1 - k : k) * inner;
          const auto factor = static_cast<Factor>(run.get<const T>(x)[at]);
          if (!exclusive) product *= factor;
          run.get<T>(y)[at] = static_cast<T>(product);
          if (exclusive) product *= factor;
        }
      }
      return nullptr;
    });
  });
  return {};
}

Status cum_prod_gradient(GradientContext& c) {
  c.set(0, c.internal("CumProdGrad", {c.dy(), c.input(0), c.input(1)}, c.attributes()));
  return {};
}

}  // namespace

OpDef define_cum_prod() {
  return {
      .name = "CumProd",
      .since = 26,
      .inputs = "x, axis",
      .attributes = {{"exclusive", AttributeKind::kInt, false, 0}, {"reverse", AttributeKind::kInt, false, 0}},
      .infer = infer_cumulative,
      .lower = lower_cum_prod,
      .types = {{"T", kWideTypes, {0}}, {"T2", kIndexTypes, {1}}},
      .gradient = cum_prod_gradient,
      .traits = {.shape_inputs = {1}},
      .samples = "(float32[3, 21], int64[]{-1})"
                 "(float32[5, 7], int32[]{0}) {exclusive = 1, reverse = 1}"
                 "(float64[2, 3, 4], int64[]{1}) {reverse = 1}"
                 "(int64[2, 3, 4] -9 to 9, int64[]{1})"
                 "(uint32[9] 0 to 9, int64[]{0}) {exclusive = 1}"
                 "(int32[0, 2], int64[]{0})",
  };
}

}  // namespace svengine::ops
