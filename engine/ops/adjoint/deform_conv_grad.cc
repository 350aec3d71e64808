// svengine.DeformConvGrad: the gradients of DeformConv's X, W, offset and mask. Inputs: dy, X, W, offset and, where there is one, mask;
// outputs: one for each but dy; the attributes are DeformConv's. With columns[i, k] = mask[k] X[i] interpolated at a place (deform_conv.cc)
//
//   dcolumns = W' dy,   dW = sum over images of dy columns',   dmask = sum over i of dcolumns X[i] interpolated,
//   dX gets dcolumns mask at the four neighbours, doffset = sum over i of dcolumns mask (the interpolation's slopes)
//
// An image's channels of one offset group are a task, for dW an input channel is.
#include <algorithm>
#include <cmath>

#include "engine/ops/infer_util.h"
#include "engine/ops/like.h"
#include "engine/ops/nn/conv_common.h"
#include "engine/ops/nn/window_common.h"
#include "engine/ops/vision/deform_common.h"

namespace svengine::ops {
namespace {

enum DeformGradInput : size_t { kDeformDy, kDeformX, kDeformW, kDeformOffset, kDeformMask };

Status infer_deform_conv_grad(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kRealTypes));
  SV_TRY(require_same_dtypes(c));
  for (const size_t i : {kDeformDy, kDeformX, kDeformW, kDeformOffset, kDeformMask}) SV_TRY(require_rank(c, i, 4));
  for (size_t i = 1; i < c.input_count(); ++i)
    if (c.has_input(i)) c.set(i - 1, c.type(i));
  const Shape &x = c.shape(kDeformX), &w = c.shape(kDeformW), &offset = c.shape(kDeformOffset);
  if (!x.is_static() || !w.is_static() || !offset.is_static()) return {};
  if (x[2].value() > 0 && x[3].value() >= kMostSampled / x[2].value())
    return unimplemented("planes of X {} have more elements than the {} that can be addressed", to_string(x), kMostSampled);
  const int64_t group = c.attributes().get_int("group", 1), offsets = c.attributes().get_int("offset_group", 1);
  if (group < 1 || offsets < 1 || w[0].value() % group != 0 || x[1].value() % offsets != 0 || x[1].value() % group != 0 ||
      w[1].value() != x[1].value() / group)
    return error("X {} and W {} do not fit each other in {} groups and {} offset groups", to_string(x), to_string(w), group, offsets);
  SV_ASSIGN(const std::vector<Dim> out, window_output(c.attributes(), x, std::span(w.dims()).subspan(2)));
  const Dim maps = multiply(multiply(w[2], w[3]), Dim(offsets));
  SV_TRY(require_shape(c, kDeformDy, Shape{x[0], w[0], out[0], out[1]}));
  SV_TRY(require_shape(c, kDeformOffset, Shape{x[0], multiply(maps, Dim(2)), out[0], out[1]}));
  if (!c.has_input(kDeformMask)) return {};
  return require_shape(c, kDeformMask, Shape{x[0], maps, out[0], out[1]});
}

/// The four neighbours of a place and their weights; the slopes of the interpolated value along y and x.
template <class T>
struct Neighbours {
  int32_t index[4];
  T weight[4];
  T down, right;

  Neighbours(const DeformShape& s, Place<T> at) {
    const SampleTables<T> tables{4, 1, index, weight};
    bilinear_taps(tables, 0, 0, at.y, at.x, s.conv.in.height, s.conv.in.width, T(1));
    const bool outside = std::all_of(index, index + 4, [](int32_t i) { return i < 0; });  // and maybe not finite
    down = outside ? T(0) : at.y - std::floor(at.y), right = outside ? T(0) : at.x - std::floor(at.x);
  }
  T value(const T* x, int corner) const { return index[corner] < 0 ? T(0) : x[index[corner]]; }
  T sum(const T* x) const {
    T total = 0;
    for (int i = 0; i < 4; ++i) total += weight[i] * value(x, i);
    return total;
  }
  T slope_y(const T* x) const { return (1 - right) * (value(x, 2) - value(x, 0)) + right * (value(x, 3) - value(x, 1)); }
  T slope_x(const T* x) const { return (1 - down) * (value(x, 1) - value(x, 0)) + down * (value(x, 3) - value(x, 2)); }
};

/// dcolumns of input channel `channel` of an image and one tap: columns[positions]. dy: of the image.
template <class T>
void column_gradient(const DeformShape& s, int64_t channel, int64_t tap, const T* w, const T* dy, T* columns) {
  const int64_t outs = s.group_outs(), group = channel / s.group_ins(), within = channel % s.group_ins();
  std::fill_n(columns, s.positions, T(0));
  for (int64_t out = group * outs; out < (group + 1) * outs; ++out) {
    const T weight = w[(out * s.group_ins() + within) * s.taps + tap];
    for (int64_t p = 0; p < s.positions; ++p) columns[p] += weight * dy[out * s.positions + p];
  }
}

/// What one task reads and writes, at the first element of its image's offset group; mask may be null.
template <class T>
struct DeformTask {
  const T *dy, *x, *w, *offset, *mask;
  T *dx, *d_offset, *d_mask;
};

template <class T>
void deform_tap(const DeformShape& s, const DeformTask<T>& t, int64_t first_channel, int64_t tap, T* columns) {
  const T *offsets = t.offset + tap * 2 * s.positions, *mask = t.mask ? t.mask + tap * s.positions : nullptr;
  T *d_offset = t.d_offset + tap * 2 * s.positions, *d_mask = t.d_mask ? t.d_mask + tap * s.positions : nullptr;
  std::fill_n(d_offset, 2 * s.positions, T(0));
  if (d_mask) std::fill_n(d_mask, s.positions, T(0));
  for (int64_t c = 0; c < s.map_channels(); ++c) {
    column_gradient(s, first_channel + c, tap, t.w, t.dy, columns);
    const T* x = t.x + c * s.plane;
    T* dx = t.dx + c * s.plane;
    for (int64_t p = 0; p < s.positions; ++p) {
      const Neighbours<T> n(s, deformed_place(s, tap, p, offsets));
      const T scaled = mask ? columns[p] * mask[p] : columns[p];
      for (int i = 0; i < 4; ++i)
        if (n.index[i] >= 0) dx[n.index[i]] += n.weight[i] * scaled;
      d_offset[p] += scaled * n.slope_y(x);
      d_offset[s.positions + p] += scaled * n.slope_x(x);
      if (d_mask) d_mask[p] += columns[p] * n.sum(x);
    }
  }
}

template <class T>
void emit_deform_data(LowerContext& c, const DeformShape& s) {
  c.emit(
      "deform_conv_grad", s.conv.batch * s.offset_groups,
      [=, dy = c.in(kDeformDy), x = c.in(kDeformX), w = c.in(kDeformW), offset = c.in(kDeformOffset),
       mask = c.has_input(kDeformMask) ? c.in(kDeformMask) : Buffer{}, dx = c.out(0), d_offset = c.out(2),
       d_mask = c.has_output(3) ? c.out(3) : Buffer{}](const Run& run, int64_t begin, int64_t end) -> const char* {
        for (int64_t task = begin; task < end; ++task) {
          const int64_t image = task / s.offset_groups, channel = task % s.offset_groups * s.map_channels();
          const int64_t data = (image * s.conv.in_channels + channel) * s.plane, map = task * s.taps * s.positions;
          DeformTask<T> t;
          t.dy = run.get<const T>(dy) + image * s.conv.out_channels * s.positions;
          t.x = run.get<const T>(x) + data, t.dx = run.get<T>(dx) + data, t.w = run.get<const T>(w);
          t.offset = run.get<const T>(offset) + 2 * map, t.d_offset = run.get<T>(d_offset) + 2 * map;
          t.mask = mask ? run.get<const T>(mask) + map : nullptr, t.d_mask = d_mask ? run.get<T>(d_mask) + map : nullptr;
          std::fill_n(t.dx, s.map_channels() * s.plane, T(0));
          for (int64_t tap = 0; tap < s.taps; ++tap) deform_tap(s, t, channel, tap, run.scratch<T>());
        }
        return nullptr;
      },
      s.positions * static_cast<int64_t>(sizeof(T)));
}

/// dW of one input channel.
template <class T>
void emit_deform_weights(LowerContext& c, const DeformShape& s) {
  c.emit(
      "deform_conv_grad_weights", s.conv.in_channels * s.taps,
      [=, dy = c.in(kDeformDy), x = c.in(kDeformX), offset = c.in(kDeformOffset),
       mask = c.has_input(kDeformMask) ? c.in(kDeformMask) : Buffer{}, dw = c.out(1)](const Run& run, int64_t begin,
                                                                                      int64_t end) -> const char* {
        for (int64_t task = begin; task < end; ++task) {
          const int64_t channel = task / s.taps, tap = task % s.taps, outs = s.group_outs(), group = channel / s.group_ins();
          T* column = run.scratch<T>();
          T* to = run.get<T>(dw) + (group * outs * s.group_ins() + channel % s.group_ins()) * s.taps + tap;
          for (int64_t out = 0; out < outs; ++out) to[out * s.group_ins() * s.taps] = 0;
          for (int64_t image = 0; image < s.conv.batch; ++image) {
            const int64_t map = ((image * s.offset_groups + channel / s.map_channels()) * s.taps + tap) * s.positions;
            const T *offsets = run.get<const T>(offset) + 2 * map, *factors = mask ? run.get<const T>(mask) + map : nullptr;
            const T* plane = run.get<const T>(x) + (image * s.conv.in_channels + channel) * s.plane;
            for (int64_t p = 0; p < s.positions; ++p)
              column[p] = Neighbours<T>(s, deformed_place(s, tap, p, offsets)).sum(plane) * (factors ? factors[p] : T(1));
            for (int64_t out = 0; out < outs; ++out) {
              const T* from = run.get<const T>(dy) + (image * s.conv.out_channels + group * outs + out) * s.positions;
              T sum = 0;
              for (int64_t p = 0; p < s.positions; ++p) sum += from[p] * column[p];
              to[out * s.group_ins() * s.taps] += sum;
            }
          }
        }
        return nullptr;
      },
      s.positions * static_cast<int64_t>(sizeof(T)));
}

template <class T>
void emit_deform_conv_grad(LowerContext& c, const DeformShape& s) {
  emit_deform_data<T>(c, s);
  emit_deform_weights<T>(c, s);
}

Status lower_deform_conv_grad(LowerContext& c) {
  SV_ASSIGN(const DeformShape s, deform_shape(c.attributes(), c.in_dims(kDeformX), c.in_dims(kDeformW)));
  if (c.out_type().dtype == DType::f64) emit_deform_conv_grad<double>(c, s);
  else emit_deform_conv_grad<float>(c, s);
  return {};
}

/// Three times the forward pass: dcolumns, dW, and the places.
Cost deform_conv_grad_cost(const Node& node) {
  Cost cost = conv_grad_cost(node, node.input(kDeformDy)->type, node.input(kDeformW)->type);
  cost.flops *= 3;
  return cost;
}

}  // namespace

OpDef define_deform_conv_grad() {
  return {
      .name = "DeformConvGrad",
      .domain = kInternalDomain,
      .inputs = "dy, X, W, offset, mask?",
      .outputs = {3, 4},
      .attributes = deform_conv_attributes(),
      .infer = infer_deform_conv_grad,
      .lower = lower_deform_conv_grad,
      .cost = deform_conv_grad_cost,
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[2, 3, 6, 5], float32[2, 4, 6, 5], float32[3, 4, 3, 3], float32[2, 18, 6, 5], float32[2, 9, 6, 5] 0 to 1) "
                 "{pads = [1, 1, 1, 1]} 4"
                 "(float32[1, 6, 3, 4], float32[1, 4, 7, 7], float32[6, 2, 3, 2], float32[1, 24, 3, 4]) {group = 2, offset_group = 2, "
                 "strides = [2, 2], pads = [0, 1, 0, 1]} 3"
                 "(float64[1, 2, 3, 3], float64[1, 2, 4, 4], float64[2, 2, 2, 2], float64[1, 8, 3, 3]) 3",
  };
}

}  // namespace svengine::ops
