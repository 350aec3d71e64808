// MeanVarianceNormalization: (x - mean) / (deviation + 1e-9), both over the given axes (batch and pixels when none are).
#include <algorithm>
#include <cmath>

#include "engine/graph/axes.h"
#include "engine/graph/gradient.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/lowering.h"
#include "engine/ops/samples.h"
#include "engine/ops/tensor/copy_common.h"

namespace svengine::ops {
namespace {

constexpr double kDeviationGuard = 1e-9;  // of the function that ONNX's specification gives

std::vector<int64_t> mean_axes(const Attributes& attributes) { return attributes.get_ints("axes", {0, 2, 3}); }

Status infer_mean_variance(InferContext& c) {
  SV_TRY(require_dtype(c, 0, "X", kRealTypes));
  if (c.shape(0).has_rank()) SV_TRY(normalise_axes(mean_axes(c.attributes()), c.shape(0).rank()));
  c.set(0, c.type(0));
  return {};
}

/// Dimensions and strides of a loop nest.
struct MeanNest {
  Dims dims;
  std::vector<int64_t> strides;

  /// Calls f(offset) for every element, in row-major order.
  template <class F>
  void each(F f) const {
    walk(0, 0, f);
  }
  int64_t offset_of(int64_t index) const {
    int64_t offset = 0;
    for (size_t d = dims.size(); d-- > 0;) {
      offset += index % dims[d] * strides[d];
      index /= dims[d];
    }
    return offset;
  }

 private:
  template <class F>
  void walk(size_t d, int64_t offset, F& f) const {
    if (d == dims.size()) return f(offset);
    for (int64_t i = 0; i < dims[d]; ++i) walk(d + 1, offset + i * strides[d], f);
  }
};

Status lower_mean_variance(LowerContext& c) {
  const Dims dims = c.in_dims(0);
  SV_ASSIGN(const std::vector<int64_t> axes, normalise_axes(mean_axes(c.attributes()), static_cast<int64_t>(dims.size())));
  const std::vector<int64_t> strides = strides_of(dims);
  MeanNest kept, reduced;
  for (size_t d = 0; d < dims.size(); ++d) {
    MeanNest& nest = std::count(axes.begin(), axes.end(), static_cast<int64_t>(d)) ? reduced : kept;
    nest.dims.push_back(dims[d]);
    nest.strides.push_back(strides[d]);
  }
  const Buffer x = c.in(0), y = c.out();
  const int64_t count = element_count(reduced.dims);
  with_type(c.out_type().dtype, [&]<class T>() {
    c.emit("mean_variance_normalization", count ? element_count(kept.dims) : 0,
           [=](const Run& run, int64_t begin, int64_t end) -> const char* {
             for (int64_t task = begin; task < end; ++task) {
               const int64_t start = kept.offset_of(task);
               const T* in = run.get<const T>(x) + start;
               T* out = run.get<T>(y) + start;
               double sum = 0, squares = 0;
               reduced.each([&](int64_t at) { sum += static_cast<double>(in[at]); });
               const double mean = sum / static_cast<double>(count);
               reduced.each([&](int64_t at) {
                 const double d = static_cast<double>(in[at]) - mean;
                 squares += d * d;
               });
               const double scale = 1 / (std::sqrt(squares / static_cast<double>(count)) + kDeviationGuard);
               reduced.each([&](int64_t at) { out[at] = static_cast<T>((static_cast<double>(in[at]) - mean) * scale); });
             }
             return nullptr;
           });
  });
  return {};
}

/// With d = x - mean, s the deviation, S = s + guard: (dy - mean(dy)) / S - d mean(dy d) / (S S s).
Status mean_variance_gradient(GradientContext& c) {
  Value *x = c.input(0), *dy = c.dy();
  const std::vector<int64_t> list = mean_axes(c.attributes());
  Value* axes = c.builder().constant(Tensor::of<int64_t>({static_cast<int64_t>(list.size())}, std::span<const int64_t>(list)));
  const auto mean = [&](Value* v) { return c.op("ReduceMean", {v, axes}); };
  Value* d = c.op("Sub", {x, mean(x)});
  Value* s = c.op("Sqrt", {mean(c.op("Mul", {d, d}))});
  Value* guarded = c.op("Add", {s, c.scalar(kDeviationGuard, x)});
  Value* centred = c.op("Div", {c.op("Sub", {dy, mean(dy)}), guarded});
  Value* slope = c.op("Div", {mean(c.op("Mul", {dy, d})), c.op("Mul", {c.op("Mul", {guarded, guarded}), s})});
  c.set(0, c.op("Sub", {centred, c.op("Mul", {d, slope})}));
  return {};
}

}  // namespace

OpDef define_mean_variance_normalization() {
  return {
      .name = "MeanVarianceNormalization",
      .since = 9,
      .attributes = {{"axes", AttributeKind::kInts, false, integers({0, 2, 3})}},
      .infer = infer_mean_variance,
      .lower = lower_mean_variance,
      .types = {{"T", kRealTypes, {0}}},
      .gradient = mean_variance_gradient,
      .samples = {{.inputs = {f32({2, 3, 5, 7})}},
                  {.inputs = {f32({4, 9})}, .attributes = {{"axes", integers({-1})}}},
                  {.inputs = {any(DType::f64, {3, 4, 5})}, .attributes = {{"axes", integers({0, 2})}}},
                  {.inputs = {f32({0, 3})}, .attributes = {{"axes", integers({1})}}}},
  };
}

}  // namespace svengine::ops
