// svengine.RoiAlignGrad: the gradient of RoiAlign's X. Inputs: dy, X, rois, batch_indices; the attributes are RoiAlign's. A
// maximum gives its gradient to the first element that has it.
#include "engine/ops/like.h"
#include "engine/ops/samples.h"
#include "engine/ops/tensor/fill_common.h"
#include "engine/ops/vision/roi_common.h"

namespace svengine::ops {
namespace {

constexpr int64_t kRoiGradChannels = 8;  // of a task

Status infer_roi_align_grad(InferContext& c) {
  SV_ASSIGN(const RoiRules rules, roi_rules(c.attributes()));
  SV_TRY(require_dtype(c, 0, "dy", {DType::f32}));
  SV_TRY(require_dtype(c, 1, "X", {DType::f32}));
  SV_ASSIGN(const Shape out, roi_output(c, 1, rules));
  SV_TRY(require_shape(c, 0, out, "dy"));
  c.set(0, c.type(1));
  return {};
}

struct RoiGradShape {
  int64_t channels, height, width, parts;
};

/// One bin of the channels from `first` to `last`: dx and x are those of its image, dy of its region.
void bin_gradient(const RoiRules& rules, const RoiGradShape& s, const Region<float>& region, int64_t bin, int64_t first,
                  int64_t last, const float* dy, const float* x, float* dx) {
  const int64_t plane = s.height * s.width, bins = rules.rows * rules.columns;
  int32_t index[4];
  float weight[4];
  const SampleTables<float> tables{4, 1, index, weight};
  float most[kRoiGradChannels], most_weight[kRoiGradChannels];
  int32_t most_index[kRoiGradChannels];
  const float factor = rules.average ? 1 / static_cast<float>(region.samples()) : 1;
  for (int64_t sample = 0; sample < region.samples(); ++sample) {
    roi_taps(tables, 0, 0, region.row_of(bin / rules.columns, sample), region.column_of(bin % rules.columns, sample), s.height,
             s.width, factor);
    for (int t = 0; t < 4; ++t)
      for (int64_t c = first; c < last; ++c) {
        if (rules.average) {
          if (index[t] >= 0) dx[c * plane + index[t]] += weight[t] * dy[c * bins + bin];
          continue;
        }
        const float value = index[t] < 0 ? 0 : weight[t] * x[c * plane + index[t]];
        if ((sample == 0 && t == 0) || value > most[c - first])
          most[c - first] = value, most_index[c - first] = index[t], most_weight[c - first] = weight[t];
      }
  }
  if (rules.average || region.samples() == 0) return;
  for (int64_t c = first; c < last; ++c)
    if (most_index[c - first] >= 0) dx[c * plane + most_index[c - first]] += most_weight[c - first] * dy[c * bins + bin];
}

Status lower_roi_align_grad(LowerContext& c) {
  SV_ASSIGN(const RoiRules rules, roi_rules(c.attributes()));
  const Dims x = c.out_dims();
  if (element_count(x) == 0) return {};
  emit_fill(c, c.out(), element_count(x), 4, 0);
  const RoiGradShape s{x[1], x[2], x[3], (x[1] + kRoiGradChannels - 1) / kRoiGradChannels};
  c.emit("roi_align_grad", x[0] * s.parts,
         [=, regions = c.in_dims(2)[0], dy = c.in(0), in = c.in(1), rois = c.in(2), images = c.in(3), dx = c.out()](
             const Run& run, int64_t begin, int64_t end) -> const char* {
           const int64_t plane = s.height * s.width, bins = rules.rows * rules.columns;
           for (int64_t task = begin; task < end; ++task) {
             const int64_t image = task / s.parts, first = task % s.parts * kRoiGradChannels, at = image * s.channels * plane;
             for (int64_t roi = 0; roi < regions; ++roi) {
               if (run.get<const int64_t>(images)[roi] != image) continue;
               const Region<float> region(rules, run.get<const float>(rois) + roi * 4);
               if (!region.valid) return "a region is not finite, or has more than 16384 elements along a side of a bin";
               for (int64_t bin = 0; bin < bins; ++bin)
                 bin_gradient(rules, s, region, bin, first, std::min(first + kRoiGradChannels, s.channels),
                              run.get<const float>(dy) + roi * s.channels * bins, run.get<const float>(in) + at,
                              run.get<float>(dx) + at);
             }
           }
           return nullptr;
         });
  return {};
}

}  // namespace

OpDef define_roi_align_grad() {
  const SampleInput rois = fixed(Tensor::of<float>({3, 4}, {-3, 1, 15, 17, 4, 4, 9.5f, 7, 2, 3, 2, 3}));
  const SampleInput images = fixed(Tensor::of<int64_t>({3}, {1, 0, 1}));
  return {
      .name = "RoiAlignGrad",
      .domain = kInternalDomain,
      .inputs = {4, 4},
      .attributes = roi_align_attributes(),
      .infer = infer_roi_align_grad,
      .lower = lower_roi_align_grad,
      .samples = {{.inputs = {f32({3, 9, 2, 3}), f32({2, 9, 5, 7}), rois, images},
                   .attributes = {{"output_height", integer(2)}, {"output_width", integer(3)}}},
                  {.inputs = {f32({3, 2, 2, 2}), f32({2, 2, 5, 7}), rois, images},
                   .attributes = {{"output_height", integer(2)}, {"output_width", integer(2)}, {"mode", text("max")}}}},
  };
}

}  // namespace svengine::ops
