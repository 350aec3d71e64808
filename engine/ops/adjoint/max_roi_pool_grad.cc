// svengine.MaxRoiPoolGrad: the gradient of MaxRoiPool's X. Inputs: dy, X, rois; the attributes are MaxRoiPool's. Every bin gives its
// gradient to the first element that is its maximum.
#include <cmath>

#include "engine/ops/infer_util.h"
#include "engine/ops/like.h"
#include "engine/ops/lowering.h"
#include "engine/ops/vision/max_roi_pool_common.h"

namespace svengine::ops {
namespace {

Status infer_max_roi_pool_grad(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kRealTypes));
  SV_TRY(require_dtype(c, 1, {c.dtype(0)}));
  SV_TRY(require_dtype(c, 2, {c.dtype(0)}));
  SV_ASSIGN(const Shape out, max_roi_pool_output(c, 1));
  SV_TRY(require_shape(c, 0, out));
  c.set(0, c.type(1));
  return {};
}

/// One plane of an image from all regions; dy is that of this channel in the first region.
template <class T>
const char* max_roi_plane(const MaxRoiPool& p, int64_t image, int64_t regions, const T* rois, const T* dy, const T* x, T* dx) {
  const int64_t bins = p.rows * p.columns;
  std::fill_n(dx, p.height * p.width, T(0));
  for (int64_t roi = 0; roi < regions; ++roi, rois += 5) {
    if (const char* problem = p.check(rois)) return problem;
    if (static_cast<int64_t>(rois[0]) != image) continue;
    for (int64_t bin = 0; bin < bins; ++bin)
      if (const int64_t at = p.largest(p.bin_of(rois, bin), x); at >= 0) dx[at] += dy[roi * p.channels * bins + bin];
  }
  return nullptr;
}

template <class T>
void emit_max_roi_pool_grad(LowerContext& c, const MaxRoiPool& p) {
  c.emit("max_roi_pool_grad", p.images * p.channels,
         [=, regions = c.in_dims(2)[0], dy = c.in(0), x = c.in(1), rois = c.in(2), dx = c.out()](const Run& run, int64_t begin,
                                                                                                int64_t end) -> const char* {
           const int64_t plane = p.height * p.width, bins = p.rows * p.columns;
           for (int64_t task = begin; task < end; ++task)
             if (const char* problem = max_roi_plane(p, task / p.channels, regions, run.get<const T>(rois),
                                                     run.get<const T>(dy) + task % p.channels * bins,
                                                     run.get<const T>(x) + task * plane, run.get<T>(dx) + task * plane))
               return problem;
           return nullptr;
         });
}

Status lower_max_roi_pool_grad(LowerContext& c) {
  if (element_count(c.out_dims()) == 0) return {};
  const MaxRoiPool p = max_roi_pool_of(c.attributes(), c.out_dims());
  if (c.out_type().dtype == DType::f64) emit_max_roi_pool_grad<double>(c, p);
  else emit_max_roi_pool_grad<float>(c, p);
  return {};
}

}  // namespace

OpDef define_max_roi_pool_grad() {
  return {
      .name = "MaxRoiPoolGrad",
      .domain = kInternalDomain,
      .inputs = "dy, X, rois",
      .attributes = {{"pooled_shape", AttributeKind::kInts, true}, {"spatial_scale", AttributeKind::kFloat, false, 1.0f}},
      .infer = infer_max_roi_pool_grad,
      .lower = lower_max_roi_pool_grad,
      .samples = "(float32[3, 3, 2, 3], float32[2, 3, 9, 7], float32[3, 5]{1.0, 2.0, 1.0, 11.0, 13.0, 0.0, -4.0, 0.0, 3.0, 5.0, 1.0, 30.0, "
                 "30.0, 40.0, 40.0}) {pooled_shape = [2, 3], spatial_scale = 0.5}",
  };
}

}  // namespace svengine::ops
