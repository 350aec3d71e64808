// com.microsoft's CropAndResize, as TensorFlow's: boxes [y1, x1, y2, x2] of images, given as parts of height - 1 and width - 1, sampled at
// crop_height x crop_width points whose first and last lie on the box's edges. Where one point is asked for along an axis, it is the
// box's middle. Points outside of the image are extrapolation_value.
#include <algorithm>
#include <cmath>

#include "engine/graph/gradient.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/lowering.h"

namespace svengine::ops {
namespace {

enum CropInput : size_t { kCropImages, kCropBoxes, kCropBatch, kCropSize };
constexpr int64_t kMostCropped = int64_t{1} << 20;

Status infer_crop_and_resize(InferContext& c) {
  SV_TRY(require_dtype(c, kCropImages, kRealTypes));
  SV_TRY(require_dtype(c, kCropBoxes, {c.dtype(kCropImages)}));
  for (const size_t i : {kCropBatch, kCropSize}) {
    SV_TRY(require_dtype(c, i, {DType::i32}));
    SV_TRY(require_rank(c, i, 1));
  }
  SV_TRY(require_rank(c, kCropImages, 4));
  SV_TRY(require_rank(c, kCropBoxes, 2));
  const std::string mode = c.attributes().get_string("mode", "bilinear");
  if (mode != "bilinear" && mode != "nearest") return error("mode is '{}', must be bilinear or nearest", mode);
  const Shape &x = c.shape(kCropImages), &rois = c.shape(kCropBoxes), &batch = c.shape(kCropBatch), &size = c.shape(kCropSize);
  if (rois.has_rank() && known_different(rois[1], Dim(4))) return error("rois {} need 4 columns: y1, x1, y2, x2", to_string(rois));
  if (size.has_rank() && known_different(size[0], Dim(2))) return error("crop_size {} needs 2 elements: height and width", to_string(size));
  if (rois.has_rank() && batch.has_rank() && known_different(rois[0], batch[0]))
    return error("batch_indices {} need one element for each row of rois {}", to_string(batch), to_string(rois));
  std::vector<Dim> dims{rois.has_rank() ? rois[0] : Dim(), x.has_rank() ? x[1] : Dim(), Dim(), Dim()};
  if (const auto sizes = c.integers(kCropSize); sizes && sizes->size() == 2)
    for (size_t i = 0; i < 2; ++i) {
      if ((*sizes)[i] < 1 || (*sizes)[i] > kMostCropped) return error("crop_size holds {}, needs 1 to {}", (*sizes)[i], kMostCropped);
      dims[2 + i] = Dim((*sizes)[i]);
    }
  c.set(0, c.dtype(kCropImages), Shape(std::move(dims)));
  return {};
}

/// A point along an axis: between two elements, or outside (low < 0).
template <class T>
struct CropPoint {
  int64_t low = -1, high = -1, nearest = -1;
  T part = 0;  // of the way from low to high
};

template <class T>
CropPoint<T> crop_point(T first, T last, int64_t index, int64_t points, int64_t size) {
  const T edge = static_cast<T>(size - 1);
  T at = first * edge;
  if (points == 1) at = T(0.5) * (first + last) * edge;
  else if (index == points - 1) at = last * edge;
  else if (index > 0) at += static_cast<T>(index) * ((last - first) * edge / static_cast<T>(points - 1));
  if (!(at >= 0 && at <= edge)) return {};
  const T below = std::floor(at);
  return {static_cast<int64_t>(below), static_cast<int64_t>(std::ceil(at)), static_cast<int64_t>(std::round(at)), at - below};
}

struct CropSizes {
  int64_t images, channels, height, width, rows, columns;
  bool nearest;
  double outside;
  int64_t plane() const { return height * width; }
  int64_t points() const { return rows * columns; }
};

CropSizes crop_sizes(const Attributes& a, const Dims& x, const Dims& y) {
  const bool nearest = a.get_string("mode", "bilinear") == "nearest";
  return {x[0], x[1], x[2], x[3], y[2], y[3], nearest, static_cast<double>(a.get_float("extrapolation_value", 0))};
}

/// Calls visit(point, y, x) for every point of a box, with what is outside too.
template <class T, class Visit>
void for_each_point(const CropSizes& s, const T* box, Visit visit) {
  for (int64_t r = 0; r < s.rows; ++r) {
    const CropPoint<T> y = crop_point(box[0], box[2], r, s.rows, s.height);
    for (int64_t k = 0; k < s.columns; ++k) visit(r * s.columns + k, y, crop_point(box[1], box[3], k, s.columns, s.width));
  }
}

template <class T>
void crop_box(const CropSizes& s, const T* image, const T* box, T* to) {
  for_each_point(s, box, [&](int64_t point, const CropPoint<T>& y, const CropPoint<T>& x) {
    for (int64_t c = 0; c < s.channels; ++c) {
      const T* from = image + c * s.plane();
      T& out = to[c * s.points() + point];
      const auto between = [&](int64_t row) { return from[row + x.low] + (from[row + x.high] - from[row + x.low]) * x.part; };
      if (y.low < 0 || x.low < 0) out = static_cast<T>(s.outside);
      else if (s.nearest) out = from[y.nearest * s.width + x.nearest];
      else {
        const T top = between(y.low * s.width), bottom = between(y.high * s.width);
        out = top + (bottom - top) * y.part;
      }
    }
  });
}

/// What of dy, one channel of a box, belongs to a plane of its image.
template <class T>
void add_crop_gradient(const CropSizes& s, const T* dy, const T* box, T* plane) {
  for_each_point(s, box, [&](int64_t point, const CropPoint<T>& y, const CropPoint<T>& x) {
    const T g = dy[point];
    if (y.low < 0 || x.low < 0) return;
    if (s.nearest) {
      plane[y.nearest * s.width + x.nearest] += g;
      return;
    }
    plane[y.low * s.width + x.low] += g * (1 - y.part) * (1 - x.part);
    plane[y.low * s.width + x.high] += g * (1 - y.part) * x.part;
    plane[y.high * s.width + x.low] += g * y.part * (1 - x.part);
    plane[y.high * s.width + x.high] += g * y.part * x.part;
  });
}

constexpr const char* kNoImage = "an entry of batch_indices is no image of X";

template <class T>
void lower_crop_of(LowerContext& c) {
  const CropSizes s = crop_sizes(c.attributes(), c.in_dims(kCropImages), c.out_dims());
  c.emit("crop_and_resize", c.out_dims()[0],
         [=, images = c.in(kCropImages), boxes = c.in(kCropBoxes), batch = c.in(kCropBatch), out = c.out()](const Run& run, int64_t begin,
                                                                                                      int64_t end) -> const char* {
           for (int64_t i = begin; i < end; ++i) {
             const int64_t image = run.get<const int32_t>(batch)[i];
             if (image < 0 || image >= s.images) return kNoImage;
             crop_box(s, run.get<const T>(images) + image * s.channels * s.plane(), run.get<const T>(boxes) + i * 4,
                      run.get<T>(out) + i * s.channels * s.points());
           }
           return nullptr;
         });
}

Status lower_crop_and_resize(LowerContext& c) {
  if (element_count(c.out_dims()) == 0) return {};
  if (element_count(c.in_dims(kCropImages)) == 0)
    return error("X of shape {} has no elements to be sampled", to_string(c.in_type(kCropImages).shape));
  if (c.in_type(kCropImages).dtype == DType::f64) lower_crop_of<double>(c);
  else lower_crop_of<float>(c);
  return {};
}

/// By X; boxes are not learned.
Status crop_and_resize_gradient(GradientContext& c) {
  if (!c.wants(kCropImages)) return {};
  const std::vector<Value*> inputs{c.dy(), c.input(kCropImages), c.input(kCropBoxes), c.input(kCropBatch)};
  c.set(kCropImages, c.internal("CropAndResizeGrad", inputs, c.attributes()));
  return {};
}

// svengine.CropAndResizeGrad: dX of dY, X (whose shape is read), rois and batch_indices.
enum CropGradInput : size_t { kCropDy, kCropDyImages, kCropDyBoxes, kCropDyBatch };

Status infer_crop_and_resize_grad(InferContext& c) {
  SV_TRY(require_dtype(c, kCropDy, {DType::f32, DType::f64}));
  for (const size_t i : {kCropDyImages, kCropDyBoxes}) SV_TRY(require_dtype(c, i, {c.dtype(kCropDy)}));
  SV_TRY(require_dtype(c, kCropDyBatch, {DType::i32}));
  for (const size_t i : {kCropDy, kCropDyImages}) SV_TRY(require_rank(c, i, 4));
  SV_TRY(require_rank(c, kCropDyBoxes, 2));
  SV_TRY(require_rank(c, kCropDyBatch, 1));
  const Shape &dy = c.shape(kCropDy), &x = c.shape(kCropDyImages), &rois = c.shape(kCropDyBoxes), &batch = c.shape(kCropDyBatch);
  if (dy.has_rank() && x.has_rank() && known_different(dy[1], x[1]))
    return error("dY {} and X {} have different channels", to_string(dy), to_string(x));
  if (rois.has_rank() && known_different(rois[1], Dim(4))) return error("rois {} need 4 columns: y1, x1, y2, x2", to_string(rois));
  if (dy.has_rank() && ((rois.has_rank() && known_different(rois[0], dy[0])) || (batch.has_rank() && known_different(batch[0], dy[0]))))
    return error("rois {} and batch_indices {} need one row for each box of dY {}", to_string(rois), to_string(batch), to_string(dy));
  c.set(0, c.type(kCropDyImages));
  return {};
}

/// A task for every plane of X, in the order of the boxes.
template <class T>
void lower_crop_grad_of(LowerContext& c) {
  const CropSizes s = crop_sizes(c.attributes(), c.in_dims(kCropDyImages), c.in_dims(kCropDy));
  const int64_t count = c.in_dims(kCropDy)[0];
  c.emit("crop_and_resize_grad", s.images * s.channels,
         [=, dy = c.in(kCropDy), boxes = c.in(kCropDyBoxes), batch = c.in(kCropDyBatch), out = c.out()](const Run& run, int64_t begin,
                                                                                                  int64_t end) -> const char* {
           for (int64_t plane = begin; plane < end; ++plane) {
             T* to = run.get<T>(out) + plane * s.plane();
             std::fill_n(to, s.plane(), T(0));
             for (int64_t i = 0; i < count; ++i) {
               const int64_t image = run.get<const int32_t>(batch)[i];
               if (image < 0 || image >= s.images) return kNoImage;
               if (image == plane / s.channels)
                 add_crop_gradient(s, run.get<const T>(dy) + (i * s.channels + plane % s.channels) * s.points(),
                                   run.get<const T>(boxes) + i * 4, to);
             }
           }
           return nullptr;
         });
}

Status lower_crop_and_resize_grad(LowerContext& c) {
  if (element_count(c.out_dims()) == 0) return {};
  if (c.in_type(kCropDy).dtype == DType::f64) lower_crop_grad_of<double>(c);
  else lower_crop_grad_of<float>(c);
  return {};
}

std::vector<AttributeDef> crop_attributes() {
  return {{"mode", AttributeKind::kString, false, "bilinear"}, {"extrapolation_value", AttributeKind::kFloat, false, 0.0f}};
}

}  // namespace

OpDef define_crop_and_resize_grad() {
  return {
      .name = "CropAndResizeGrad",
      .domain = kInternalDomain,
      .inputs = "dy, X, rois, batch_indices",
      .attributes = crop_attributes(),
      .infer = infer_crop_and_resize_grad,
      .lower = lower_crop_and_resize_grad,
      .samples = "(float32[2, 3, 2, 4], float32[2, 3, 5, 6], float32[2, 4]{0.0, 0.0, 1.0, 1.0, 0.2, 0.9, 0.6, -0.3}, int32[2]{1, 1})"
                 R"((float32[1, 1, 1, 1], float32[1, 1, 1, 1], float32[1, 4] 0 to 1, int32[1]{0}) {mode = "nearest"})",
  };
}

OpDef define_crop_and_resize() {
  return {
      .name = "CropAndResize",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "X, rois, batch_indices, crop_size",
      .attributes = crop_attributes(),
      .infer = infer_crop_and_resize,
      .lower = lower_crop_and_resize,
      .gradient = crop_and_resize_gradient,
      .traits = {.shape_inputs = {3}},
      .samples = "(float32[2, 3, 6, 5], float32[3, 4]{0.0, 0.0, 1.0, 1.0, 0.13, 0.77, 0.71, 0.22, -0.2, 0.3, 1.1, 0.6}, int32[3]{1, 0, 1}, "
                 "int32[2]{3, 4}) {extrapolation_value = 7.0}"
                 "(float32[2, 3, 6, 5], float32[3, 4]{0.0, 0.0, 1.0, 1.0, 0.13, 0.77, 0.71, 0.22, -0.2, 0.3, 1.1, 0.6}, int32[3]{1, 0, 1}, "
                 R"(int32[2]{3, 4}) {mode = "nearest"})"
                 "(float64[1, 1, 1, 1], float64[1, 4]{0.0, 0.0, 1.0, 1.0}, int32[1]{0}, int32[2]{1, 1})",
  };
}

}  // namespace svengine::ops
