// svengine.LrnGrad: the gradient of LRN. Inputs: dy, x; the attributes are LRN's.
//
//   y = x b^-beta,  b = bias + alpha / size * (sum of x^2 over the window of channels around c)
//   dx[c] = dy[c] b[c]^-beta - 2 alpha beta / size * x[c] * (sum over the channels d whose window holds c of dy[d] x[d]
//   b[d]^(-beta - 1))
#include <algorithm>
#include <cmath>

#include "engine/ops/infer_util.h"
#include "engine/ops/like.h"
#include "engine/ops/lowering.h"

namespace svengine::ops {
namespace {

constexpr int64_t kLrnPixels = 64;  // of a task, in all channels

Status infer_lrn_grad(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kRealTypes));
  SV_TRY(require_same_dtypes(c));
  SV_TRY(require_rank_at_least(c, 1, 2));
  if (c.attributes().get_int("size") < 1) return error("size is {}, needs at least 1", c.attributes().get_int("size"));
  SV_TRY(require_shape(c, 0, c.shape(1)));
  c.set(0, c.type(1));
  return {};
}

template <class T>
struct LrnRules {
  int64_t channels, spatial, size;
  T factor, beta, bias;  // factor: alpha / size
  int64_t first(int64_t c) const { return std::max<int64_t>(0, c - (size - 1) / 2); }
  int64_t last(int64_t c) const { return std::min(channels - 1, c + size / 2); }
  /// The channels whose window holds c.
  int64_t first_holder(int64_t c) const { return std::max<int64_t>(0, c - size / 2); }
  int64_t last_holder(int64_t c) const { return std::min(channels - 1, c + (size - 1) / 2); }
};

/// `count` pixels of one image; dy, x and dx point at the first one. `scale` and `term` have room for them in all channels.
template <class T>
void lrn_gradient_at(const LrnRules<T>& r, const T* dy, const T* x, T* dx, int64_t count, T* scale, T* term) {
  for (int64_t c = 0; c < r.channels; ++c)
    for (int64_t i = 0; i < count; ++i) {
      T squares = 0;
      for (int64_t k = r.first(c); k <= r.last(c); ++k) squares += x[k * r.spatial + i] * x[k * r.spatial + i];
      const T base = r.bias + r.factor * squares;
      scale[c * count + i] = std::pow(base, -r.beta);
      term[c * count + i] = dy[c * r.spatial + i] * x[c * r.spatial + i] * scale[c * count + i] / base;
    }
  for (int64_t c = 0; c < r.channels; ++c)
    for (int64_t i = 0; i < count; ++i) {
      T sum = 0;
      for (int64_t k = r.first_holder(c); k <= r.last_holder(c); ++k) sum += term[k * count + i];
      const int64_t at = c * r.spatial + i;
      dx[at] = dy[at] * scale[c * count + i] - 2 * r.factor * r.beta * x[at] * sum;
    }
}

template <class T>
void emit_lrn_grad(LowerContext& c, const Dims& dims) {
  LrnRules<T> r{};
  r.channels = dims[1];
  r.spatial = element_count(std::span(dims).subspan(2));
  r.size = c.attributes().get_int("size");
  r.factor = static_cast<T>(c.attributes().get_float("alpha", 1e-4f)) / static_cast<T>(r.size);
  r.beta = c.attributes().get_float("beta", 0.75f);
  r.bias = c.attributes().get_float("bias", 1.0f);
  const int64_t chunks = (r.spatial + kLrnPixels - 1) / kLrnPixels;
  c.emit(
      "lrn_grad", dims[0] * chunks,
      [=, dy = c.in(0), x = c.in(1), dx = c.out()](const Run& run, int64_t begin, int64_t end) -> const char* {
        for (int64_t task = begin; task < end; ++task) {
          const int64_t first = task % chunks * kLrnPixels, at = task / chunks * r.channels * r.spatial + first;
          T* scratch = run.scratch<T>();
          lrn_gradient_at(r, run.get<const T>(dy) + at, run.get<const T>(x) + at, run.get<T>(dx) + at,
                          std::min(kLrnPixels, r.spatial - first), scratch, scratch + r.channels * kLrnPixels);
        }
        return nullptr;
      },
      2 * r.channels * kLrnPixels * static_cast<int64_t>(sizeof(T)));
}

Status lower_lrn_grad(LowerContext& c) {
  const Dims dims = c.out_dims();
  if (element_count(dims) == 0) return {};
  if (c.out_type().dtype == DType::f64) emit_lrn_grad<double>(c, dims);
  else emit_lrn_grad<float>(c, dims);
  return {};
}

}  // namespace

OpDef define_lrn_grad() {
  return {
      .name = "LrnGrad",
      .domain = kInternalDomain,
      .inputs = "dy, X",
      .attributes = {{"size", AttributeKind::kInt, true},
                     {"alpha", AttributeKind::kFloat, false, 1e-4f},
                     {"beta", AttributeKind::kFloat, false, 0.75f},
                     {"bias", AttributeKind::kFloat, false, 1.0f}},
      .infer = infer_lrn_grad,
      .lower = lower_lrn_grad,
      .samples = "(float32[2, 9, 5, 3], float32[2, 9, 5, 3]) {size = 4, alpha = 0.1}"
                 "(float64[1, 4, 3], float64[1, 4, 3]) {size = 3}",
  };
}

}  // namespace svengine::ops
