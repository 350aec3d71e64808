// svengine.RoiAlignGrad: the gradient of RoiAlign's X. Inputs: dy, X, rois, batch_indices; the attributes are RoiAlign's. A
// maximum gives its gradient to the first element that has it.
#include "engine/ops/like.h"
#include "engine/ops/tensor/fill_common.h"
#include "engine/ops/vision/roi_common.h"

namespace svengine::ops {
namespace {

constexpr int64_t kRoiGradChannels = 8;  // of a task

Status infer_roi_align_grad(InferContext& c) {
  SV_ASSIGN(const RoiRules rules, roi_rules(c.attributes()));
  SV_TRY(require_dtype(c, 0, kRealTypes));
  SV_TRY(require_dtype(c, 1, {c.dtype(0)}));
  SV_TRY(require_dtype(c, 2, {c.dtype(0)}));
  SV_ASSIGN(const Shape out, roi_output(c, 1, rules));
  SV_TRY(require_shape(c, 0, out));
  c.set(0, c.type(1));
  return {};
}

struct RoiGradShape {
  int64_t channels, height, width, parts;
};

/// One bin of the channels from `first` to `last`: dx and x are those of its image, dy of its region.
template <class T>
void bin_gradient(const RoiRules& rules, const RoiGradShape& s, const Region<T>& region, int64_t bin, int64_t first,
                  int64_t last, const T* dy, const T* x, T* dx) {
  const int64_t plane = s.height * s.width, bins = rules.rows * rules.columns;
  int32_t index[4];
  T weight[4];
  const SampleTables<T> tables{4, 1, index, weight};
  T most[kRoiGradChannels], most_weight[kRoiGradChannels];
  int32_t most_index[kRoiGradChannels];
  const T factor = rules.average ? 1 / static_cast<T>(region.samples()) : T(1);
  for (int64_t sample = 0; sample < region.samples(); ++sample) {
    roi_taps(tables, 0, 0, region.row_of(bin / rules.columns, sample), region.column_of(bin % rules.columns, sample), s.height,
             s.width, factor);
    for (int tap = 0; tap < 4; ++tap)
      for (int64_t c = first; c < last; ++c) {
        if (rules.average) {
          if (index[tap] >= 0) dx[c * plane + index[tap]] += weight[tap] * dy[c * bins + bin];
          continue;
        }
        const T value = index[tap] < 0 ? T(0) : weight[tap] * x[c * plane + index[tap]];
        if ((sample == 0 && tap == 0) || value > most[c - first])
          most[c - first] = value, most_index[c - first] = index[tap], most_weight[c - first] = weight[tap];
      }
  }
  if (rules.average || region.samples() == 0) return;
  for (int64_t c = first; c < last; ++c)
    if (most_index[c - first] >= 0) dx[c * plane + most_index[c - first]] += most_weight[c - first] * dy[c * bins + bin];
}

template <class T>
void emit_roi_align_grad(LowerContext& c, const RoiRules& rules) {
  const Dims x = c.out_dims();
  emit_fill(c, c.out(), element_count(x), sizeof(T), 0);
  const RoiGradShape s{x[1], x[2], x[3], (x[1] + kRoiGradChannels - 1) / kRoiGradChannels};
  c.emit("roi_align_grad", x[0] * s.parts,
         [=, regions = c.in_dims(2)[0], dy = c.in(0), in = c.in(1), rois = c.in(2), images = c.in(3), dx = c.out()](
             const Run& run, int64_t begin, int64_t end) -> const char* {
           const int64_t plane = s.height * s.width, bins = rules.rows * rules.columns;
           for (int64_t task = begin; task < end; ++task) {
             const int64_t image = task / s.parts, first = task % s.parts * kRoiGradChannels, at = image * s.channels * plane;
             for (int64_t roi = 0; roi < regions; ++roi) {
               if (run.get<const int64_t>(images)[roi] != image) continue;
               const Region<T> region(rules, run.get<const T>(rois) + roi * 4);
               if (!region.valid) return "a region is not finite, or has more than 16384 elements along a side of a bin";
               for (int64_t bin = 0; bin < bins; ++bin)
                 bin_gradient(rules, s, region, bin, first, std::min(first + kRoiGradChannels, s.channels),
                              run.get<const T>(dy) + roi * s.channels * bins, run.get<const T>(in) + at,
                              run.get<T>(dx) + at);
             }
           }
           return nullptr;
         });
}

Status lower_roi_align_grad(LowerContext& c) {
  SV_ASSIGN(const RoiRules rules, roi_rules(c.attributes()));
  if (element_count(c.out_dims()) == 0) return {};
  if (c.out_type().dtype == DType::f64) emit_roi_align_grad<double>(c, rules);
  else emit_roi_align_grad<float>(c, rules);
  return {};
}

}  // namespace

OpDef define_roi_align_grad() {
  return {
      .name = "RoiAlignGrad",
      .domain = kInternalDomain,
      .inputs = "dy, X, rois, batch_indices",
      .attributes = roi_align_attributes(),
      .infer = infer_roi_align_grad,
      .lower = lower_roi_align_grad,
      .samples = "(float32[3, 9, 2, 3], float32[2, 9, 5, 7], float32[3, 4]{-3.0, 1.0, 15.0, 17.0, 4.0, 4.0, 9.5, 7.0, 2.0, 3.0, 2.0, 3.0}, "
                 "int64[3]{1, 0, 1}) {output_height = 2, output_width = 3}"
                 "(float32[3, 2, 2, 2], float32[2, 2, 5, 7], float32[3, 4]{-3.0, 1.0, 15.0, 17.0, 4.0, 4.0, 9.5, 7.0, 2.0, 3.0, 2.0, 3.0}, "
                 R"(int64[3]{1, 0, 1}) {output_height = 2, output_width = 2, mode = "max"})",
  };
}

}  // namespace svengine::ops
