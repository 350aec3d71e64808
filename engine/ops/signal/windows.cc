// HannWindow, HammingWindow, BlackmanWindow: sums of cosines over a window of `size` points.
//
// w(n) = a0 - a1 cos(2 pi n / N) + a2 cos(4 pi n / N), N being size of a periodic window, else size - 1. Coefficients are those
// of the functions in ONNX's specification; a symmetric window of one point is 0/0 there, and NaN here.
#include <cmath>
#include <numbers>

#include "engine/ops/dispatch.h"
#include "engine/ops/element_step.h"
#include "engine/ops/infer_util.h"

namespace svengine::ops {
namespace {

constexpr DTypeSet kWindowTypes = kNumericTypes | DTypeSet{DType::bf16};
constexpr int64_t kLongestWindow = int64_t{1} << 31;

struct Cosines {
  double a0, a1, a2;
};

Status infer_window(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kIndexTypes));
  SV_TRY(require_single(c, 0));
  SV_ASSIGN(const DType type, dtype_attribute(c.attributes(), "output_datatype", DType::f32, kWindowTypes));
  const auto size = c.integers(0);
  if (!size) {
    c.set(0, type, unknown_dims(1));
    return {};
  }
  const int64_t n = size->at(0);
  if (n < 0 || n > kLongestWindow) return error("size is {}, needs 0 to {}", n, kLongestWindow);
  c.set(0, type, Shape{Dim(n)});
  return {};
}

Status lower_window(LowerContext& c, Cosines w) {
  const Buffer out = c.out();
  const int64_t size = c.out_dims()[0];
  const int64_t period = c.attributes().get_int("periodic", 1) != 0 ? size : size - 1;
  with_type(c.out_type().dtype, [&]<class T>() {
    emit_elements(c, "window", size, [=](const Run& run, int64_t begin, int64_t end) {
      T* y = run.get<T>(out);
      for (int64_t i = begin; i < end; ++i) {
        const double angle = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(period);
        // In this order the middle of a window is 1, and not a little less, which integers would make 0.
        const double v = (-w.a1 * std::cos(angle) + w.a2 * std::cos(2 * angle)) + w.a0;
        if constexpr (std::is_integral_v<T>)
          y[i] = v == v ? static_cast<T>(static_cast<int64_t>(v)) : T{0};
        else
          y[i] = static_cast<T>(v);
      }
    });
  });
  return {};
}

OpDef window_op(const char* name, Status (*lower)(LowerContext&)) {
  return {
      .name = name,
      .since = 17,
      .inputs = "size",
      .attributes = {{"output_datatype", AttributeKind::kInt, false, 1},
                     {"periodic", AttributeKind::kInt, false, 1}},
      .infer = infer_window,
      .lower = lower,
      .traits = {.shape_inputs = {0}},
      .samples = "(int64[]{19})"
                 "(int64[]{19}) {periodic = 0}"
                 "(int64[]{19}) {output_datatype = 11}"
                 "(int64[]{19}) {output_datatype = 10}"
                 "(int32[]{2}) {output_datatype = 6}"
                 "(int32[]{0})",
  };
}

}  // namespace

OpDef define_hann_window() {
  return window_op("HannWindow", [](LowerContext& c) { return lower_window(c, {0.5, 0.5, 0}); });
}

OpDef define_hamming_window() {
  return window_op("HammingWindow", [](LowerContext& c) { return lower_window(c, {25.0 / 46.0, 21.0 / 46.0, 0}); });
}

OpDef define_blackman_window() {
  return window_op("BlackmanWindow", [](LowerContext& c) { return lower_window(c, {0.42, 0.5, 0.08}); });
}

}  // namespace svengine::ops
