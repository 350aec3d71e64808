// RoiAlign: regions of images, each averaged (or its maximum taken) over a grid of bins from interpolated samples.
#include "engine/graph/gradient.h"
#include "engine/ops/samples.h"
#include "engine/ops/vision/roi_common.h"

namespace svengine::ops {
namespace {

constexpr int64_t kRoiBins = 64;     // of a task
constexpr int64_t kRoiSamples = 16;  // of every bin, in the tables at once

/// Until opset 15 regions were not shifted by half a pixel.
Status canonicalize_roi_align(CanonicalizeContext& c) {
  if (c.opset() < 16) c.attributes().set("coordinate_transformation_mode", std::string("output_half_pixel"));
  return {};
}

Status infer_roi_align(InferContext& c) {
  SV_ASSIGN(const RoiRules rules, roi_rules(c.attributes()));
  SV_TRY(require_dtype(c, 0, "X", kRealTypes));
  SV_ASSIGN(Shape out, roi_output(c, 0, rules));
  c.set(0, c.dtype(0), std::move(out));
  return {};
}

/// The largest product of an element with its weight, so far in y, and that of these samples.
template <class T>
void largest_samples(const SampleTables<T>& tables, const T* x, int64_t x_stride, T* y, int64_t y_stride, int64_t channels,
                     bool begun) {
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t j = 0; j < tables.count; ++j) {
      T most = begun ? y[c * y_stride + j] : T(0);
      for (int64_t t = 0; t < tables.taps; ++t) {
        const int64_t at = t * tables.count + j;
        const T value = tables.index[at] < 0 ? T(0) : tables.weight[at] * x[c * x_stride + tables.index[at]];
        most = t == 0 && !begun ? value : std::max(most, value);
      }
      y[c * y_stride + j] = most;
    }
}

struct RoiShape {
  int64_t images, channels, height, width, regions;
};

/// Bins [first, first + count) of one region, in all channels.
template <class T>
void align_bins(const Run& run, const kernels::DataKernels& data, const RoiRules& rules, const RoiShape& s,
                const Region<T>& region, int64_t first, int64_t count, const T* x, T* y) {
  const int64_t plane = s.height * s.width, bins = rules.rows * rules.columns, samples = region.samples();
  const T factor = rules.average ? T(1) / static_cast<T>(std::max<int64_t>(samples, 1)) : T(1);
  if (samples == 0)
    for (int64_t c = 0; c < s.channels; ++c) std::fill_n(y + c * bins + first, count, T(0));
  for (int64_t sample = 0; sample < samples; sample += kRoiSamples) {
    const int64_t now = std::min(kRoiSamples, samples - sample);
    const SampleTables<T> tables = tables_in<T>(run, now * 4, count);
    for (int64_t i = 0; i < now; ++i)
      for (int64_t j = 0; j < count; ++j)
        roi_taps(tables, i * 4, j, region.row_of((first + j) / rules.columns, sample + i),
                 region.column_of((first + j) % rules.columns, sample + i), s.height, s.width, factor);
    if (rules.average)
      gather_samples(data, tables, x, plane, y + first, bins, s.channels, sample > 0);
    else
      largest_samples(tables, x, plane, y + first, bins, s.channels, sample > 0);
  }
}

template <class T>
void lower_roi_align_of(LowerContext& c, const RoiRules& rules, const RoiShape& s) {
  const int64_t bins = rules.rows * rules.columns, chunks = (bins + kRoiBins - 1) / kRoiBins;
  c.emit(
      "roi_align", s.regions * chunks,
      [=, data = c.kernels().data, x = c.in(0), rois = c.in(1), images = c.in(2), y = c.out()](const Run& run, int64_t begin,
                                                                                               int64_t end) -> const char* {
        for (int64_t task = begin; task < end; ++task) {
          const int64_t roi = task / chunks, first = task % chunks * kRoiBins;
          const int64_t image = run.get<const int64_t>(images)[roi];
          if (image < 0 || image >= s.images) return "a batch index is not that of an image";
          const Region<T> region(rules, run.get<const T>(rois) + roi * 4);
          if (!region.valid) return "a region is not finite, or has more than 16384 elements along a side of a bin";
          align_bins<T>(run, *data, rules, s, region, first, std::min(kRoiBins, bins - first),
                        run.get<const T>(x) + image * s.channels * s.height * s.width, run.get<T>(y) + roi * s.channels * bins);
        }
        return nullptr;
      },
      sample_scratch_bytes<T>(kRoiBins * kRoiSamples * 4));
}

Status lower_roi_align(LowerContext& c) {
  if (element_count(c.out_dims()) == 0) return {};
  SV_ASSIGN(const RoiRules rules, roi_rules(c.attributes()));
  const Dims x = c.in_dims(0);
  const RoiShape s{x[0], x[1], x[2], x[3], c.in_dims(1)[0]};
  switch (c.in_type(0).dtype) {
    case DType::f32:
      lower_roi_align_of<float>(c, rules, s);
      return {};
    case DType::f64:
      lower_roi_align_of<double>(c, rules, s);
      return {};
    default:
      return error("X is {}, its kernels take float32 and float64", to_string(DTypeSet{c.in_type(0).dtype}));
  }
}

/// By X; regions are not learned.
Status roi_align_gradient(GradientContext& c) {
  if (c.wants(0)) c.set(0, c.internal("RoiAlignGrad", {c.dy(), c.input(0), c.input(1), c.input(2)}, c.attributes()));
  return {};
}

Sample roi_sample(DType type, const char* mode, const char* coordinates, int64_t ratio, int64_t height, int64_t width) {
  Sample sample{.inputs = {any(type, {2, 5, 9, 11}), {}, fixed(Tensor::of<int64_t>({3}, {1, 0, 1}))}};
  const Tensor rois = Tensor::of<float>({3, 4}, {-3, 1, 15, 17, 4, 4, 9.5f, 7, 2, 3, 2, 3});
  const Tensor wide = Tensor::of<double>({3, 4}, {-3, 1, 15, 17, 4, 4, 9.5, 7, 2, 3, 2, 3});
  sample.inputs[1] = fixed(type == DType::f64 ? wide : rois);
  sample.attributes = {{"mode", text(mode)},
                       {"coordinate_transformation_mode", text(coordinates)},
                       {"sampling_ratio", integer(ratio)},
                       {"output_height", integer(height)},
                       {"output_width", integer(width)},
                       {"spatial_scale", real(0.5f)}};
  return sample;
}

}  // namespace

OpDef define_roi_align() {
  return {
      .name = "RoiAlign",
      .since = 10,
      .inputs = {3, 3},
      .attributes = roi_align_attributes(),
      .canonicalize = canonicalize_roi_align,
      .infer = infer_roi_align,
      .lower = lower_roi_align,
      .gradient = roi_align_gradient,
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = {roi_sample(DType::f32, "avg", "half_pixel", 0, 3, 4),
                  roi_sample(DType::f32, "avg", "output_half_pixel", 2, 9, 8),
                  roi_sample(DType::f32, "max", "half_pixel", 2, 1, 1),
                  roi_sample(DType::f32, "max", "output_half_pixel", 0, 2, 2),
                  roi_sample(DType::f64, "avg", "half_pixel", 5, 2, 1)},
  };
}

}  // namespace svengine::ops
