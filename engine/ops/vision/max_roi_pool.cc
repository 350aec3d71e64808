// MaxRoiPool: the largest element of every bin of a region; bins of whole elements, 0 where a bin has none.
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/ops/infer_util.h"
#include "engine/ops/lowering.h"
#include "engine/ops/samples.h"

namespace svengine::ops {
namespace {

Status infer_max_roi_pool(InferContext& c) {
  SV_TRY(require_dtype(c, 0, "X", kRealTypes));
  SV_TRY(require_same_dtypes(c));
  SV_TRY(require_rank(c, 0, "X", 4));
  SV_TRY(require_rank(c, 1, "rois", 2));
  const Shape &x = c.shape(0), &rois = c.shape(1);
  if (rois.has_rank() && known_different(rois[1], 5))
    return error("rois {} need 5 columns: batch index, x1, y1, x2, y2", to_string(rois));
  const std::vector<int64_t> pooled = c.attributes().get_ints("pooled_shape");
  if (pooled.size() != 2) return error("pooled_shape has {} values, needs height and width", pooled.size());
  for (const int64_t size : pooled)
    if (size < 1 || size > 1 << 20) return error("pooled_shape holds {}, needs 1 to {}", size, 1 << 20);
  c.set(0, c.dtype(0), Shape{rois.has_rank() ? rois[0] : Dim(), x.has_rank() ? x[1] : Dim(), pooled[0], pooled[1]});
  return {};
}

struct BinRange {
  int64_t begin, end;
};

/// Elements of bin `i` along one axis of a region that begins at `start`.
template <class T>
BinRange bin_range(int64_t i, T bin, T start, int64_t size) {
  const T most = static_cast<T>(size);
  return {static_cast<int64_t>(std::clamp(std::floor(static_cast<T>(i) * bin) + start, T(0), most)),
          static_cast<int64_t>(std::clamp(std::ceil(static_cast<T>(i + 1) * bin) + start, T(0), most))};
}

template <class T>
void pool_region(const T* x, const Dims& image, const Dims& pooled, const T* roi, double scale, T* y) {
  const auto corner = [&](int i) { return std::round(roi[i] * static_cast<T>(scale)); };
  const T left = corner(1), top = corner(2), width = std::max(corner(3) - left + 1, T(1)),
          height = std::max(corner(4) - top + 1, T(1));
  const T bin_height = height / static_cast<T>(pooled[0]), bin_width = width / static_cast<T>(pooled[1]);
  for (int64_t c = 0; c < image[1]; ++c, x += image[2] * image[3])
    for (int64_t i = 0; i < pooled[0]; ++i)
      for (int64_t j = 0; j < pooled[1]; ++j) {
        const BinRange rows = bin_range(i, bin_height, top, image[2]), columns = bin_range(j, bin_width, left, image[3]);
        T most = rows.begin < rows.end && columns.begin < columns.end ? std::numeric_limits<T>::lowest() : T(0);
        for (int64_t r = rows.begin; r < rows.end; ++r)
          for (int64_t k = columns.begin; k < columns.end; ++k) most = std::max(most, x[r * image[3] + k]);
        *y++ = most;
      }
}

template <class T>
void lower_max_roi_pool_of(LowerContext& c) {
  const Dims image = c.in_dims(0), pooled = c.attributes().get_ints("pooled_shape");
  const double scale = c.attributes().get_float("spatial_scale", 1);
  c.emit("max_roi_pool", c.in_dims(1)[0],
         [=, x = c.in(0), rois = c.in(1), y = c.out()](const Run& run, int64_t begin, int64_t end) -> const char* {
           for (int64_t roi = begin; roi < end; ++roi) {
             const T* region = run.get<const T>(rois) + roi * 5;
             for (int i = 0; i < 5; ++i)
               if (!(std::fabs(static_cast<double>(region[i])) <= 0x1p30 && std::fabs(region[i] * scale) <= 0x1p30))
                 return "a region is not within 2^30 elements of the image";
             if (!(region[0] >= 0 && region[0] < static_cast<T>(image[0]))) return "a batch index is not that of an image";
             pool_region(run.get<const T>(x) + static_cast<int64_t>(region[0]) * image[1] * image[2] * image[3], image, pooled,
                         region, scale, run.get<T>(y) + roi * image[1] * pooled[0] * pooled[1]);
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

}  // namespace

OpDef define_max_roi_pool() {
  const std::pair<std::string, Attribute> pooled{"pooled_shape", integers({2, 3})};
  return {
      .name = "MaxRoiPool",
      .inputs = {2, 2},
      .attributes = {{"pooled_shape", AttributeKind::kInts, true}, {"spatial_scale", AttributeKind::kFloat, false, real(1)}},
      .infer = infer_max_roi_pool,
      .lower = lower_max_roi_pool,
      .samples = {{.inputs = {f32({2, 3, 9, 7}),
                              fixed(Tensor::of<float>({3, 5}, {1, 2, 1, 11, 13, 0, -4, 0, 3, 5, 1, 30, 30, 40, 40}))},
                   .attributes = {pooled, {"spatial_scale", real(0.5f)}}},
                  {.inputs = {f32({1, 1, 1, 1}), fixed(Tensor::of<float>({1, 5}, {0, 0, 0, 1, 1}))}, .attributes = {pooled}},
                  {.inputs = {any(DType::f64, {1, 2, 6, 6}), fixed(Tensor::of<double>({1, 5}, {0, 1, 0, 4, 5}))},
                   .attributes = {pooled}}},
  };
}

}  // namespace svengine::ops
