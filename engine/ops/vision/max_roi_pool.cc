// MaxRoiPool: the largest element of every bin of a region; bins of whole elements, 0 where a bin has none.
#include "engine/graph/gradient.h"
#include "engine/ops/lowering.h"
#include "engine/ops/vision/max_roi_pool_common.h"

namespace svengine::ops {

Result<Shape> max_roi_pool_output(const InferContext& c, size_t input) {
  SV_TRY(require_rank(c, input, 4));
  SV_TRY(require_rank(c, input + 1, 2));
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
  SV_TRY(require_dtype(c, 0, kRealTypes));
  SV_TRY(require_same_dtypes(c));
  SV_ASSIGN(Shape out, max_roi_pool_output(c, 0));
  c.set(0, c.dtype(0), std::move(out));
  return {};
}

/// One region in all channels: maxima of columns in the rows of a row of bins first, of which bins then take theirs.
template <class T>
void pool_region(const MaxRoiPool& p, const T* region, const T* x, T* y, MaxRoiPool::Range* across, T* most) {
  const int64_t plane = p.height * p.width;
  if (plane == 0) return void(std::fill_n(y, p.channels * p.rows * p.columns, T(0)));
  MaxRoiPool::Range all{p.width, 0};
  for (int64_t k = 0; k < p.columns; ++k) {
    across[k] = p.bin_of(region, k).across;
    if (across[k].begin < across[k].end) all = {std::min(all.begin, across[k].begin), std::max(all.end, across[k].end)};
  }
  for (int64_t r = 0; r < p.rows; ++r) {
    const MaxRoiPool::Range down = p.bin_of(region, r * p.columns).down;
    for (int64_t c = 0; c < p.channels; ++c) {
      p.column_maxima(down, all, x + c * plane, most);
      for (int64_t k = 0; k < p.columns; ++k) y[(c * p.rows + r) * p.columns + k] = p.maximum({down, across[k]}, x + c * plane, most);
    }
  }
}

template <class T>
void lower_max_roi_pool_of(LowerContext& c) {
  const MaxRoiPool p = max_roi_pool_of(c.attributes(), c.in_dims(0));
  c.emit(
      "max_roi_pool", c.in_dims(1)[0],
      [=, x = c.in(0), rois = c.in(1), y = c.out()](const Run& run, int64_t begin, int64_t end) -> const char* {
        auto* across = run.scratch<MaxRoiPool::Range>();
        T* most = reinterpret_cast<T*>(across + p.columns);
        for (int64_t roi = begin; roi < end; ++roi) {
          const T* region = run.get<const T>(rois) + roi * 5;
          if (const char* problem = p.check(region)) return problem;
          const T* from = run.get<const T>(x) + static_cast<int64_t>(region[0]) * p.channels * p.height * p.width;
          pool_region(p, region, from, run.get<T>(y) + roi * p.channels * p.rows * p.columns, across, most);
        }
        return nullptr;
      },
      p.columns * static_cast<int64_t>(sizeof(MaxRoiPool::Range)) + std::min(p.width, p.height * p.width) * static_cast<int64_t>(sizeof(T)));
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
  return {
      .name = "MaxRoiPool",
      .inputs = "X, rois",
      .attributes = {{"pooled_shape", AttributeKind::kInts, true}, {"spatial_scale", AttributeKind::kFloat, false, 1.0f}},
      .infer = infer_max_roi_pool,
      .lower = lower_max_roi_pool,
      .gradient = max_roi_pool_gradient,
      .samples = "(float32[2, 3, 9, 7], float32[3, 5]{1.0, 2.0, 1.0, 11.0, 13.0, 0.0, -4.0, 0.0, 3.0, 5.0, 1.0, 30.0, 30.0, 40.0, 40.0}) "
                 "{pooled_shape = [2, 3], spatial_scale = 0.5}"
                 "(float32[1, 2, 7, 37], float32[2, 5]{0.0, 1.0, 0.0, 35.0, 6.0, 0.0, 30.0, 2.0, 36.0, 3.0}) {pooled_shape = [2, 3]}"
                 "(float32[1, 1, 1, 1], float32[1, 5]{0.0, 0.0, 0.0, 1.0, 1.0}) {pooled_shape = [2, 3]}"
                 "(float64[1, 2, 6, 6], float64[1, 5]{0.0, 1.0, 0.0, 4.0, 5.0}) {pooled_shape = [2, 3]}",
  };
}

}  // namespace svengine::ops
