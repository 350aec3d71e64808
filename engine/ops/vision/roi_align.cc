// RoiAlign: regions of images, each averaged (or its maximum taken) over a grid of bins from interpolated samples.
#include "engine/graph/gradient.h"
#include "engine/ops/vision/roi_common.h"

namespace svengine::ops {
namespace {

constexpr int64_t kRoiBins = 64;     // of a task
constexpr int64_t kRoiSamples = 16;  // of every bin, in the tables at once
constexpr double kMostBlockedRegion = 1 << 22;  // elements of one region's output, which a thread holds in blocks

/// Until opset 15 regions were not shifted by half a pixel.
Status canonicalize_roi_align(CanonicalizeContext& c) {
  if (c.opset() < 16) c.attributes().set("coordinate_transformation_mode", std::string("output_half_pixel"));
  return {};
}

Status infer_roi_align(InferContext& c) {
  SV_ASSIGN(const RoiRules rules, roi_rules(c.attributes()));
  SV_TRY(require_dtype(c, 0, kRealTypes));
  SV_ASSIGN(Shape out, roi_output(c, 0, rules));
  c.set(0, c.dtype(0), std::move(out));
  return {};
}

/// Taps of the samples from `sample` on, as many as the tables hold, of the bins from `first` on.
template <class T>
void fill_roi_tables(const SampleTables<T>& tables, const RoiRules& rules, const Region<T>& region, int64_t height, int64_t width,
                     int64_t first, int64_t sample, T factor) {
  for (int64_t i = 0; i < tables.taps / 4; ++i)
    for (int64_t j = 0; j < tables.count; ++j)
      roi_taps(tables, i * 4, j, region.row_of((first + j) / rules.columns, sample + i),
               region.column_of((first + j) % rules.columns, sample + i), height, width, factor);
}

struct RoiShape {
  int64_t images, channels, height, width, regions;
  int64_t block = 0;  // channels of a block of X, 0: planes

  int64_t stored_channels() const { return block ? (channels + block - 1) / block * block : channels; }
};

/// Elements of X, in every channel, that all samples together read; of an adaptive grid about as many as of PyTorch's usual one.
double sampled_elements(const Node& node) {
  const Shape& out = node.output()->type.shape;
  const auto ratio = static_cast<double>(node.attributes.get_int("sampling_ratio"));
  return static_cast<double>(out[0].value() * out[2].value() * out[3].value()) * 4 * (ratio > 0 ? ratio * ratio : 4);
}

/// In blocks an element of all channels of a block is one vector, on planes every lane is an element found by itself.
bool can_block_roi_align(const Node& node, int block) {
  const Shape &x = node.input(0)->type.shape, &out = node.output()->type.shape;
  if (!x.is_static() || !out.is_static()) return false;
  const double stored = static_cast<double>(x[1].value()) + block;
  return stored * static_cast<double>(out[2].value()) * static_cast<double>(out[3].value()) < kMostBlockedRegion;
}

/// A reorder passes over all of X twice; few samples are found sooner.
bool roi_align_reads_plain(const Node& node, size_t) {
  const Shape& x = node.input(0)->type.shape;
  return sampled_elements(node) < 2 * static_cast<double>(x[2].value() * x[3].value());
}

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
    fill_roi_tables(tables, rules, region, s.height, s.width, first, sample, factor);
    gather_samples(data, tables, x, plane, y + first, bins, s.channels, sample > 0, !rules.average);
  }
}

/// A region of blocked X: all bins in blocks of channels, behind the tables in the thread's scratch, and reordered from there.
void align_blocked_region(const Run& run, const kernels::DataKernels& data, const RoiRules& rules, const RoiShape& s,
                          const Region<float>& region, const float* x, float* y) {
  const int64_t bins = rules.rows * rules.columns, samples = region.samples();
  float* blocks = reinterpret_cast<float*>(run.scratch<std::byte>() + sample_scratch_bytes<float>(kRoiBins * kRoiSamples * 4));
  if (samples == 0) return void(std::fill_n(y, s.channels * bins, 0.0f));
  const float factor = rules.average ? 1 / static_cast<float>(samples) : 1;
  for (int64_t first = 0; first < bins; first += kRoiBins)
    for (int64_t sample = 0; sample < samples; sample += kRoiSamples) {
      const int64_t count = std::min(kRoiBins, bins - first), now = std::min(kRoiSamples, samples - sample);
      const SampleTables<float> tables = tables_in<float>(run, now * 4, count);
      fill_roi_tables(tables, rules, region, s.height, s.width, first, sample, factor);
      const kernels::WeightedGatherArgs args{.x = x,
                                             .y = blocks + first * s.block,
                                             .channels = s.channels,
                                             .count = count,
                                             .x_stride = s.height * s.width * s.block,
                                             .y_stride = bins * s.block,
                                             .taps = tables.taps,
                                             .index = tables.index,
                                             .weight = tables.weight,
                                             .accumulate = sample > 0,
                                             .blocked = true,
                                             .largest = !rules.average};
      data.weighted_gather.run(args, 0, data.weighted_gather.tasks(args), nullptr);
    }
  const kernels::ReorderArgs plain{
      .src = blocks, .dst = y, .batch = 1, .channels = s.channels, .spatial = bins, .plain_batch_stride = s.channels * bins};
  data.from_blocked.run(plain, 0, data.from_blocked.tasks(plain), nullptr);
}

constexpr const char* kNoImage = "a batch index is not that of an image";
constexpr const char* kBadRegion = "a region is not finite, or has more than 16384 elements along a side of a bin";

void lower_blocked_roi_align(LowerContext& c, const RoiRules& rules, const RoiShape& s) {
  c.emit(
      "roi_align_blocked", s.regions,
      [=, data = c.kernels().data, x = c.in(0), rois = c.in(1), images = c.in(2), y = c.out()](const Run& run, int64_t begin,
                                                                                               int64_t end) -> const char* {
        for (int64_t roi = begin; roi < end; ++roi) {
          const int64_t image = run.get<const int64_t>(images)[roi];
          if (image < 0 || image >= s.images) return kNoImage;
          const Region<float> region(rules, run.get<const float>(rois) + roi * 4);
          if (!region.valid) return kBadRegion;
          align_blocked_region(run, *data, rules, s, region,
                               run.get<const float>(x) + image * s.stored_channels() * s.height * s.width,
                               run.get<float>(y) + roi * s.channels * rules.rows * rules.columns);
        }
        return nullptr;
      },
      sample_scratch_bytes<float>(kRoiBins * kRoiSamples * 4) +
          s.stored_channels() * rules.rows * rules.columns * static_cast<int64_t>(sizeof(float)));
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
          if (image < 0 || image >= s.images) return kNoImage;
          const Region<T> region(rules, run.get<const T>(rois) + roi * 4);
          if (!region.valid) return kBadRegion;
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
  const RoiShape s{x[0], x[1], x[2], x[3], c.in_dims(1)[0], c.in_type(0).block};
  if (s.block) {
    lower_blocked_roi_align(c, rules, s);
    return {};
  }
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

}  // namespace

OpDef define_roi_align() {
  return {
      .name = "RoiAlign",
      .since = 10,
      .inputs = "X, rois, batch_indices",
      .attributes = roi_align_attributes(),
      .canonicalize = canonicalize_roi_align,
      .infer = infer_roi_align,
      .lower = lower_roi_align,
      .gradient = roi_align_gradient,
      .blocked = {.mode = BlockedMode::prefers,
                  .can_block = can_block_roi_align,
                  .reads_plain = roi_align_reads_plain,
                  .writes_plain = true},
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[2, 5, 9, 11], float32[3, 4]{-3.0, 1.0, 15.0, 17.0, 4.0, 4.0, 9.5, 7.0, 2.0, 3.0, 2.0, 3.0}, int64[3]{1, 0, 1}) "
                 R"({mode = "avg", coordinate_transformation_mode = "half_pixel", sampling_ratio = 0, output_height = 3, output_width = 4, )"
                 "spatial_scale = 0.5}"
                 "(float32[2, 5, 9, 11], float32[3, 4]{-3.0, 1.0, 15.0, 17.0, 4.0, 4.0, 9.5, 7.0, 2.0, 3.0, 2.0, 3.0}, int64[3]{1, 0, 1}) "
                 R"({mode = "avg", coordinate_transformation_mode = "output_half_pixel", sampling_ratio = 2, output_height = 9, )"
                 "output_width = 8, spatial_scale = 0.5}"
                 "(float32[2, 5, 9, 11], float32[3, 4]{-3.0, 1.0, 15.0, 17.0, 4.0, 4.0, 9.5, 7.0, 2.0, 3.0, 2.0, 3.0}, int64[3]{1, 0, 1}) "
                 R"({mode = "avg", coordinate_transformation_mode = "half_pixel", sampling_ratio = 5, output_height = 3, output_width = 1, )"
                 "spatial_scale = 0.5}"
                 "(float32[2, 5, 9, 11], float32[3, 4]{-3.0, 1.0, 15.0, 17.0, 4.0, 4.0, 9.5, 7.0, 2.0, 3.0, 2.0, 3.0}, int64[3]{1, 0, 1}) "
                 R"({mode = "max", coordinate_transformation_mode = "half_pixel", sampling_ratio = 2, output_height = 1, output_width = 1, )"
                 "spatial_scale = 0.5}"
                 "(float32[2, 5, 9, 11], float32[3, 4]{-3.0, 1.0, 15.0, 17.0, 4.0, 4.0, 9.5, 7.0, 2.0, 3.0, 2.0, 3.0}, int64[3]{1, 0, 1}) "
                 R"({mode = "max", coordinate_transformation_mode = "output_half_pixel", sampling_ratio = 0, output_height = 2, )"
                 "output_width = 2, spatial_scale = 0.5}"
                 "(float64[2, 5, 9, 11], float64[3, 4]{-3.0, 1.0, 15.0, 17.0, 4.0, 4.0, 9.5, 7.0, 2.0, 3.0, 2.0, 3.0}, int64[3]{1, 0, 1}) "
                 R"({mode = "avg", coordinate_transformation_mode = "half_pixel", sampling_ratio = 5, output_height = 2, output_width = 1, )"
                 "spatial_scale = 0.5}",
  };
}

}  // namespace svengine::ops
