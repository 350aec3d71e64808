// svengine.GridSampleGrad: the gradients of GridSample's X and, where there is a second output, of its grid. Inputs: dy, X, grid;
// the attributes are GridSample's.
#include "engine/ops/infer_util.h"
#include "engine/ops/like.h"
#include "engine/ops/tensor/fill_common.h"
#include "engine/ops/vision/grid_common.h"

namespace svengine::ops {
namespace {

constexpr int64_t kGradChannels = 8;     // of a task; their positions are computed once
constexpr int64_t kGradPositions = 256;  // of a task

Status infer_grid_sample_grad(InferContext& c) {
  SV_TRY(grid_rules(c.attributes()));
  SV_TRY(require_dtype(c, 0, kRealTypes));
  SV_TRY(require_same_dtypes(c));
  SV_ASSIGN(const Shape out, grid_output(c.shape(1), c.shape(2)));
  SV_TRY(require_shape(c, 0, out));
  c.set(0, c.type(1));
  c.set(1, c.type(2));
  return {};
}

template <class T>
void emit_image_gradient(LowerContext& c, const GridRules& rules, const GridShape& s) {
  emit_fill(c, c.out(0), s.batch * s.channels * s.plane, sizeof(T), 0);
  const int64_t parts = (s.channels + kGradChannels - 1) / kGradChannels;
  c.emit("grid_sample_grad", s.batch * parts,
         [=, dy = c.in(0), grid = c.in(2), dx = c.out(0)](const Run& run, int64_t begin, int64_t end) -> const char* {
           for (int64_t task = begin; task < end; ++task) {
             const int64_t image = task / parts, first = task % parts * kGradChannels,
                           last = std::min(first + kGradChannels, s.channels);
             const T* at = run.get<const T>(grid) + image * s.positions * static_cast<int64_t>(s.axes);
             for (int64_t j = 0; j < s.positions; ++j, at += s.axes) {
               const GridPosition<T> position(rules, s, at);
               position.for_each(s, [&](int64_t, int64_t place, const int64_t* along) {
                 if (place < 0) return;
                 const T weight = position.weight(s, along);
                 for (int64_t plane = image * s.channels + first; plane < image * s.channels + last; ++plane)
                   run.get<T>(dx)[plane * s.plane + place] += weight * run.get<const T>(dy)[plane * s.positions + j];
               });
             }
           }
           return nullptr;
         });
}

template <class T>
void emit_grid_gradient(LowerContext& c, const GridRules& rules, const GridShape& s) {
  const int64_t chunks = (s.positions + kGradPositions - 1) / kGradPositions;
  c.emit("grid_sample_grad_grid", s.batch * chunks,
         [=, dy = c.in(0), x = c.in(1), grid = c.in(2), dgrid = c.out(1)](const Run& run, int64_t begin,
                                                                          int64_t end) -> const char* {
           for (int64_t task = begin; task < end; ++task) {
             const int64_t image = task / chunks, first = task % chunks * kGradPositions,
                           last = std::min(first + kGradPositions, s.positions);
             for (int64_t j = first; j < last; ++j) {
               const int64_t at = (image * s.positions + j) * static_cast<int64_t>(s.axes);
               const GridPosition<T> position(rules, s, run.get<const T>(grid) + at);
               double sum[3] = {};
               position.for_each(s, [&](int64_t, int64_t place, const int64_t* along) {
                 if (place < 0) return;
                 double products = 0;  // of this element with dy, over channels
                 for (int64_t plane = image * s.channels; plane < (image + 1) * s.channels; ++plane)
                   products += double{run.get<const T>(x)[plane * s.plane + place]} *
                               double{run.get<const T>(dy)[plane * s.positions + j]};
                 for (size_t a = 0; a < s.axes; ++a) sum[a] += products * double{position.slope(s, along, a)};
               });
               for (size_t a = 0; a < s.axes; ++a)
                 run.get<T>(dgrid)[at + static_cast<int64_t>(s.axes - 1 - a)] = static_cast<T>(sum[a]);
             }
           }
           return nullptr;
         });
}

template <class T>
void emit_grid_sample_grad(LowerContext& c, const GridRules& rules, const GridShape& s) {
  emit_image_gradient<T>(c, rules, s);
  if (c.has_output(1)) emit_grid_gradient<T>(c, rules, s);
}

Status lower_grid_sample_grad(LowerContext& c) {
  SV_ASSIGN(const GridRules rules, grid_rules(c.attributes()));
  const GridShape s = grid_shape(c.in_dims(1), c.in_dims(2));
  if (c.out_type().dtype == DType::f64) emit_grid_sample_grad<double>(c, rules, s);
  else emit_grid_sample_grad<float>(c, rules, s);
  return {};
}

}  // namespace

OpDef define_grid_sample_grad() {
  return {
      .name = "GridSampleGrad",
      .domain = kInternalDomain,
      .inputs = "dy, X, grid",
      .outputs = {1, 2},
      .attributes = grid_attributes(),
      .infer = infer_grid_sample_grad,
      .lower = lower_grid_sample_grad,
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[2, 9, 4, 5], float32[2, 9, 5, 7], float32[2, 4, 5, 2] -1.2 to 1.2) 2"
                 R"((float32[1, 2, 2, 3, 2], float32[1, 2, 3, 4, 5], float32[1, 2, 3, 2, 3] -1.2 to 1.2) {mode = "cubic", )"
                 R"(padding_mode = "border"} 2)",
  };
}

}  // namespace svengine::ops
