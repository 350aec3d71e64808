// MaxRoiPool: the largest element of every bin of a region; bins of whole elements, 0 where a bin has none.
#include "engine/graph/gradient.h"
#include "engine/ops/lowering.h"
#include "engine/ops/samples.h"
#include "engine/ops/vision/max_roi_pool_common.h"

namespace svengine::ops {

Result<Shape> max_roi_pool_output(const InferContext& c, size_t input) {
  SV_TRY(require_rank(c, input, "X", 4));
  SV_TRY(require_rank(c, input + 1, "rois", 2));
  const Shape &x = c.shape(input), &rois = c.shape(input + 1);
  if (rois.has_rank() && known_different(rois[1], 5))
    return error("rois {} need 5 columns: batch index, x1, y1, x2, y2", to_string(rois));
  const std::vector<int64_t> pooled = c.attributes().get_ints("pooled_shape");
  if (pooled.size() != 2) return error("pooled_shape has {} values, needs height and width", pooled.size());
  for (const int64_t size : pooled)
    if (size < 1 || size > 1 << 20) return error("pooled_shape holds {}, needs 1 to {}", size, 1 << 20);
  return Shape{rois.has_rank() ? rois[0] : Dim(), x.has_rank() ? x[1] : Dim(), pooled[0], pooled[1]};
}

MaxRoiPool max_roi_pool_of(const Attributes& attributes, const Dims& x) {
  const std::vector<int64_t> pooled = attributes.get_ints("pooled_shape");
  return {x[0], x[1], x[2], x[3], pooled[0], pooled[1], attributes.get_float("spatial_scale", 1)};
}

namespace {

Status infer_max_roi_pool(InferContext& c) {
  SV_TRY(require_dtype(c, 0, "X", kRealTypes));
  SV_TRY(require_same_dtypes(c));
  SV_ASSIGN(Shape out, max_roi_pool_output(c, 0));
  c.set(0, c.dtype(0), std::move(out));
  return {};
}

template <class T>
void lower_max_roi_pool_of(LowerContext& c) {
  const MaxRoiPool p = max_roi_pool_of(c.attributes(), c.in_dims(0));
  c.emit("max_roi_pool", c.in_dims(1)[0],
         [=, x = c.in(0), rois = c.in(1), y = c.out()](const Run& run, int64_t begin, int64_t end) -> const char* {
           const int64_t bins = p.rows * p.columns, plane = p.height * p.width;
           for (int64_t roi = begin; roi < end; ++roi) {
             const T* region = run.get<const T>(rois) + roi * 5;
             if (const char* problem = p.check(region)) return problem;
             const T* from = run.get<const T>(x) + static_cast<int64_t>(region[0]) * p.channels * plane;
             T* to = run.get<T>(y) + roi * p.channels * bins;
             for (int64_t bin = 0; bin < bins; ++bin) {
               const MaxRoiPool::Bin elements = p.bin_of(region, bin);
               for (int64_t c = 0; c < p.channels; ++c) to[c * bins + bin] = p.maximum(elements, from + c * plane);
             }
           }
           return nullptr;
         });
}

Status lower_max_roi_pool(LowerContext& c) {
  if (element_count(c.out_dims()) == 0) return {};
  switch (c.in_type(0).dtype) {
    case DType::f32:
      lower_max_roi_pool_of<float>(c);
      return {};
    case DType::f64:
      lower_max_roi_pool_of<double>(c);
      return {};
    default:
      return error("X is {}, its kernels take float32 and float64", to_string(DTypeSet{c.in_type(0).dtype}));
  }
}

/// By X; regions are not learned.
Status max_roi_pool_gradient(GradientContext& c) {
  if (c.wants(0)) c.set(0, c.internal("MaxRoiPoolGrad", {c.dy(), c.input(0), c.input(1)}, c.attributes()));
  return {};
}

}  // namespace

OpDef define_max_roi_pool() {
  const std::pair<std::string, Attribute> pooled{"pooled_shape", integers({2, 3})};
  return {
      .name = "MaxRoiPool",
      .inputs = {2, 2},
      .attributes = {{"pooled_shape", AttributeKind::kInts, true}, {"spatial_scale", AttributeKind::kFloat, false, real(1)}},
      .infer = infer_max_roi_pool,
      .lower = lower_max_roi_pool,
      .gradient = max_roi_pool_gradient,
      .samples = {{.inputs = {f32({2, 3, 9, 7}),
                              fixed(Tensor::of<float>({3, 5}, {1, 2, 1, 11, 13, 0, -4, 0, 3, 5, 1, 30, 30, 40, 40}))},
                   .attributes = {pooled, {"spatial_scale", real(0.5f)}}},
                  {.inputs = {f32({1, 1, 1, 1}), fixed(Tensor::of<float>({1, 5}, {0, 0, 0, 1, 1}))}, .attributes = {pooled}},
                  {.inputs = {any(DType::f64, {1, 2, 6, 6}), fixed(Tensor::of<double>({1, 5}, {0, 1, 0, 4, 5}))},
                   .attributes = {pooled}}},
  };
}

}  // namespace svengine::ops
