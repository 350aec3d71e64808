// The engine's MaxPool of bytes, which a MaxPool between quantised values by the same numbers becomes: the largest byte is the largest
// value. Images are [N, C, spatial...], or channels last, as quantised convolutions want them: then a pixel's channels are compared at once.
#include <algorithm>
#include <array>
#include <limits>

#include "engine/base/round.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/lowering.h"
#include "engine/ops/nn/window_common.h"
#include "engine/ops/quantized/integer_product_common.h"

namespace svengine::ops {
namespace {

/// [N, C, spatial...] of a shape of either layout.
Result<Shape> channels_first(const InferContext& c) {
  const Shape& x = c.shape(0);
  if (!x.has_rank() || !c.attributes().get_int("channels_last")) return x;
  std::vector<Dim> dims{x[0], x.back()};
  dims.insert(dims.end(), x.dims().begin() + 1, x.dims().end() - 1);
  return Shape(std::move(dims));
}

Status infer_bytes_max_pool(InferContext& c) {
  SV_TRY(require_bytes(c, 0));
  SV_TRY(check_spatial_rank(c.shape(0), "X"));
  SV_ASSIGN(const Shape x, channels_first(c));
  Shape out;
  if (x.has_rank()) {
    SV_ASSIGN(const std::vector<Dim> spatial, window_output(c.attributes(), x, {}));
    std::vector<Dim> dims{x[0]};
    const bool last = c.attributes().get_int("channels_last") != 0;
    if (!last) dims.push_back(x[1]);
    dims.insert(dims.end(), spatial.begin(), spatial.end());
    if (last) dims.push_back(x[1]);
    out = Shape(std::move(dims));
  }
  c.set(0, c.dtype(0), out);
  return {};
}

/// Images [images, depth, height, width, channels]. Channels first are images of one channel each.
struct BytesPool {
  int64_t images = 0, channels = 1;
  std::array<int64_t, 3> in, out, kernel, strides, dilations, pads;
};

/// The taps of a window from `begin` on that meet the image: [first, last).
struct Taps {
  int64_t first, last;
};
Taps taps_inside(const BytesPool& p, size_t axis, int64_t begin) {
  const int64_t step = p.dilations[axis];
  return {begin < 0 ? ceil_div(-begin, step) : 0, std::min(p.kernel[axis], begin < p.in[axis] ? ceil_div(p.in[axis] - begin, step) : 0)};
}

/// The pixels that a window reads, one after the other: f(offset of the pixel's channels).
template <class F>
void for_each_pixel(const BytesPool& p, int64_t image, const std::array<int64_t, 3>& begin, const F& f) {
  const Taps deep = taps_inside(p, 0, begin[0]), high = taps_inside(p, 1, begin[1]), wide = taps_inside(p, 2, begin[2]);
  for (int64_t i = deep.first; i < deep.last; ++i)
    for (int64_t j = high.first; j < high.last; ++j)
      for (int64_t k = wide.first; k < wide.last; ++k) {
        const int64_t d = begin[0] + i * p.dilations[0], h = begin[1] + j * p.dilations[1], w = begin[2] + k * p.dilations[2];
        f((((image * p.in[0] + d) * p.in[1] + h) * p.in[2] + w) * p.channels);
      }
}

/// `kCount` channels, in registers: compilers make a vector of a loop whose length they know.
template <int kCount, class T>
void max_of_pixel(const BytesPool& p, const T* x, T* y, int64_t image, const std::array<int64_t, 3>& begin) {
  T most[kCount];
  std::fill_n(most, kCount, std::numeric_limits<T>::lowest());  // what no pixel reaches
  for_each_pixel(p, image, begin, [&](int64_t offset) {
    const T* from = x + offset;
    for (int c = 0; c < kCount; ++c) most[c] = most[c] < from[c] ? from[c] : most[c];
  });
  std::copy_n(most, kCount, y);
}

/// One row of the output.
template <class T>
void max_of_row(const BytesPool& p, const T* x, T* y, int64_t row) {
  constexpr int kMany = 64, kSome = 16;
  const int64_t high = row % p.out[1], deep = row / p.out[1] % p.out[0], image = row / (p.out[0] * p.out[1]);
  for (int64_t wide = 0; wide < p.out[2]; ++wide) {
    const std::array<int64_t, 3> begin{deep * p.strides[0] - p.pads[0], high * p.strides[1] - p.pads[1], wide * p.strides[2] - p.pads[2]};
    T* to = y + (row * p.out[2] + wide) * p.channels;
    int64_t c = 0;
    for (; c + kMany <= p.channels; c += kMany) max_of_pixel<kMany>(p, x + c, to + c, image, begin);
    for (; c + kSome <= p.channels; c += kSome) max_of_pixel<kSome>(p, x + c, to + c, image, begin);
    for (; c < p.channels; ++c) max_of_pixel<1>(p, x + c, to + c, image, begin);
  }
}

template <class T>
void emit_bytes_max_pool(LowerContext& c, const BytesPool& p) {
  const Buffer x = c.in(0), y = c.out();
  const int64_t rows = element_count(c.out_dims()) > 0 ? p.images * p.out[0] * p.out[1] : 0;
  c.emit("max_pool_bytes", rows, [=](const Run& run, int64_t begin, int64_t end) -> const char* {
    for (int64_t row = begin; row < end; ++row) max_of_row(p, run.get<const T>(x), run.get<T>(y), row);
    return nullptr;
  });
}

Status lower_bytes_max_pool(LowerContext& c) {
  const Dims x = c.in_dims(0);
  const bool last = c.attributes().get_int("channels_last") != 0;
  const Dims spatial = last ? Dims(x.begin() + 1, x.end() - 1) : Dims(x.begin() + 2, x.end());
  SV_ASSIGN(const Window w, window_of(c.attributes(), spatial, {}));
  SV_TRY(check_padded(w));
  const BytesPool p{.images = last ? x[0] : x[0] * x[1],
                    .channels = last ? x.back() : 1,
                    .in = to_three(w.in, 1),
                    .out = to_three(w.out, 1),
                    .kernel = to_three(w.kernel, 1),
                    .strides = to_three(w.strides, 1),
                    .dilations = to_three(w.dilations, 1),
                    .pads = to_three(w.pads_begin, 0)};
  if (c.in_type(0).dtype == DType::i8) emit_bytes_max_pool<int8_t>(c, p);
  else emit_bytes_max_pool<uint8_t>(c, p);
  return {};
}

}  // namespace

OpDef define_bytes_max_pool() {
  return {
      .name = "BytesMaxPool",
      .domain = kInternalDomain,
      .inputs = "X",
      .attributes = window_attributes({{"channels_last", AttributeKind::kInt, false, 0}}, true, true),
      .infer = infer_bytes_max_pool,
      .lower = lower_bytes_max_pool,
      .samples = "(uint8[2, 5, 9, 7] 0 to 256) {kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]}"
                 "(int8[2, 9, 8, 19] -128 to 128) {kernel_shape = [3, 2], strides = [2, 3], ceil_mode = 1, channels_last = 1}"
                 "(int8[1, 3, 17] -128 to 128) {kernel_shape = [4], dilations = [3]}"
                 R"((uint8[1, 3, 4, 5, 2] 0 to 256) {kernel_shape = [2, 2, 2], auto_pad = "SAME_UPPER", channels_last = 1})",
  };
}

}  // namespace svengine::ops
