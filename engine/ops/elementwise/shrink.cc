// Shrink: x + bias below -lambd, x - bias above lambd, else 0.
#include "engine/base/whole.h"
#include "engine/graph/gradient.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/element_step.h"
#include "engine/ops/infer_util.h"

namespace svengine::ops {
namespace {

constexpr DTypeSet kShrinkTypes = kNumericTypes | DTypeSet{DType::bf16};

Status infer_shrink(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kShrinkTypes));
  c.set(0, c.type(0));
  return {};
}

/// Integers are compared and shifted as real numbers, and the result truncated, within their type's limits: attributes are real.
template <class T>
T shrink(T x, float bias, float lambd) {
  using Real = std::conditional_t<std::is_same_v<T, float>, float, double>;
  const auto v = static_cast<Real>(x);
  const auto shifted = [](Real to) {
    if constexpr (std::is_integral_v<T>) return whole_within_limits<T>(to);
    else return static_cast<T>(to);
  };
  if (v < -lambd) return shifted(v + bias);
  if (v > lambd) return shifted(v - bias);
  return T{0};  // of NaN, too
}

Status lower_shrink(LowerContext& c) {
  const float bias = c.attributes().get_float("bias", 0), lambd = c.attributes().get_float("lambd", 0.5f);
  const Buffer x = c.in(0), y = c.out();
  with_type(c.out_type().dtype, [&]<class T>() {
    emit_elements(c, "shrink", element_count(c.out_dims()), [=](const Run& run, int64_t begin, int64_t end) {
      const T* in = run.get<const T>(x);
      T* out = run.get<T>(y);
      for (int64_t i = begin; i < end; ++i) out[i] = shrink(in[i], bias, lambd);
    });
  });
  return {};
}

Status shrink_gradient(GradientContext& c) {
  Value* lambd = c.scalar(c.attributes().get_float("lambd", 0.5f), c.input(0));
  Value* kept = c.op("Greater", {c.op("Abs", {c.input(0)}), lambd});
  c.set(0, c.op("Where", {kept, c.dy(), c.scalar(0, c.dy())}));
  return {};
}

}  // namespace

OpDef define_shrink() {
  return {
      .name = "Shrink",
      .since = 9,
      .inputs = "input",
      .attributes = {{"bias", AttributeKind::kFloat, false, 0.0f}, {"lambd", AttributeKind::kFloat, false, 0.5f}},
      .infer = infer_shrink,
      .lower = lower_shrink,
      .types = {{"T", kNumericTypes - DTypeSet{DType::bf16}, {0}}},
      .gradient = shrink_gradient,
      .traits = {.may_overwrite = true},
      .samples = "(float32[3, 37])"
                 "(float32[5]) {bias = 1.5, lambd = 1.0}"
                 "(float64[2, 3]) {bias = 0.25}"
                 "(int32[19] -9 to 9) {bias = 1.0, lambd = 2.0}"
                 "(int8[] -9 to 9)"
                 "(uint16[4] 0 to 9) {bias = 1.0, lambd = 2.0}"
                 "(int64[0, 2])",
  };
}

}  // namespace svengine::ops
