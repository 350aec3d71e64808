// LpNormalization: each vector along an axis divided by its norm, L1 or L2; vectors of zeros stay zeros.
#include <cmath>

#include "engine/graph/axes.h"
#include "engine/graph/gradient.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/lowering.h"
#include "engine/ops/samples.h"

namespace svengine::ops {
namespace {

Status infer_lp_normalization(InferContext& c) {
  SV_TRY(require_dtype(c, 0, "input", kRealTypes));
  SV_TRY(require_rank_at_least(c, 0, "input", 1));
  const int64_t p = c.attributes().get_int("p", 2);
  if (p != 1 && p != 2) return error("p is {}, needs 1 or 2", p);
  if (c.shape(0).has_rank()) SV_TRY(normalise_axis(c.attributes().get_int("axis", -1), c.shape(0).rank()));
  c.set(0, c.type(0));
  return {};
}

Status lower_lp_normalization(LowerContext& c) {
  const Dims dims = c.in_dims(0);
  SV_ASSIGN(const int64_t axis, normalise_axis(c.attributes().get_int("axis", -1), static_cast<int64_t>(dims.size())));
  const std::span<const int64_t> all(dims);
  const auto a = static_cast<size_t>(axis);
  const int64_t outer = element_count(all.first(a)), n = dims[a], inner = element_count(all.subspan(a + 1));
  const bool squares = c.attributes().get_int("p", 2) == 2;
  const Buffer x = c.in(0), y = c.out();
  with_type(c.out_type().dtype, [&]<class T>() {
    c.emit("lp_normalization", outer * inner, [=](const Run& run, int64_t begin, int64_t end) -> const char* {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t start = task / inner * n * inner + task % inner;
        const T* in = run.get<const T>(x) + start;
        T* out = run.get<T>(y) + start;
        double sum = 0;
        for (int64_t i = 0; i < n; ++i) {
          const auto v = static_cast<double>(in[i * inner]);
          sum += squares ? v * v : std::fabs(v);
        }
        const double norm = squares ? std::sqrt(sum) : sum;
        for (int64_t i = 0; i < n; ++i)
          out[i * inner] = norm == 0 ? T{0} : static_cast<T>(static_cast<double>(in[i * inner]) / norm);
      }
      return nullptr;
    });
  });
  return {};
}

/// With y = x / |x|: (dy - g sum(dy y)) / |x|, g being the norm's gradient: y for L2, sign(x) for L1. Vectors of zeros get zeros.
Status lp_normalization_gradient(GradientContext& c) {
  Value *x = c.input(0), *y = c.output();
  const int64_t axis = c.attributes().get_int("axis", -1);
  const bool squares = c.attributes().get_int("p", 2) == 2;
  Value* axes = c.builder().integers({axis});
  Value* norm = c.op(squares ? "ReduceL2" : "ReduceL1", {x, axes});
  Value* along = c.op("ReduceSum", {c.op("Mul", {c.dy(), y}), axes});
  Value* slope = squares ? y : c.op("Sign", {x});
  Value* dx = c.op("Div", {c.op("Sub", {c.dy(), c.op("Mul", {slope, along})}), norm});
  c.set(0, c.op("Where", {c.op("Equal", {norm, c.scalar(0, x)}), c.scalar(0, x), dx}));
  return {};
}

}  // namespace

OpDef define_lp_normalization() {
  return {
      .name = "LpNormalization",
      .attributes = {{"axis", AttributeKind::kInt, false, integer(-1)}, {"p", AttributeKind::kInt, false, integer(2)}},
      .infer = infer_lp_normalization,
      .lower = lower_lp_normalization,
      .types = {{"T", kRealTypes, {0}}},
      .gradient = lp_normalization_gradient,
      .samples = {{.inputs = {f32({3, 37})}},
                  {.inputs = {f32({3, 4, 5})}, .attributes = {{"axis", integer(1)}, {"p", integer(1)}}},
                  {.inputs = {any(DType::f64, {3, 7})}, .attributes = {{"axis", integer(0)}}},
                  {.inputs = {f32({2, 0})}}},
  };
}

}  // namespace svengine::ops
