// Depthwise convolution of channels-last bytes: vectors run over channels, a tile is kPixels neighbours of an output line.
//
// Where the bytes of every tap of every pixel lie is found once for a tile, taps outside the image being a line of zero points; the
// channels are then one loop without a branch:
//
//                    taps
//   pixels   p0 -> [ptr ptr ptr ...]      for each vector of channels: for each tap: load w, and for each pixel
//            p1 -> [ptr ptr ptr ...]        sum[p] += w * extended(ptr[tap][p] + channel)
#include "engine/kernels/sve/quantized/element.h"
#include "engine/kernels/sve/quantized/epilogue.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

// 7 x 7, 14 x 14, ... are most images. Seven sums, two vectors of operands: any machine has registers for them.
constexpr int kDepthwisePixels = 7;
constexpr int64_t kChannelVectors = 16;  // of a task

int64_t taps_of(const QuantizedWindow& w) { return w.kernel[0] * w.kernel[1] * w.kernel[2]; }
int64_t channel_pieces(const QuantizedWindow& w) { return (w.channels + kChannelVectors * kLanes - 1) / (kChannelVectors * kLanes); }
int64_t x_zero_of(const QuantizedDepthwiseArgs& args) {
  if (!args.x_zero) return 0;
  return args.x_signed ? *static_cast<const int8_t*>(args.x_zero) : *static_cast<const uint8_t*>(args.x_zero);
}

/// Of one output line: image, and the first of its pixels.
struct Line {
  int64_t image, z, y;
};

Line line_of(const QuantizedWindow& w, int64_t index) {
  return {index / w.out[1] / w.out[0], index / w.out[1] % w.out[0], index % w.out[1]};
}

/// found[tap * kDepthwisePixels + p] for pixels [first, first + count); those that are not there repeat the last.
void find_taps(const QuantizedDepthwiseArgs& args, const Line& line, int64_t first, int64_t count, const uint8_t* outside,
               const uint8_t** found) {
  const QuantizedWindow& w = args.window;
  for (int64_t kd = 0; kd < w.kernel[0]; ++kd)
    for (int64_t kh = 0; kh < w.kernel[1]; ++kh) {
      const int64_t z = line.z * w.strides[0] - w.pads[0] + kd * w.dilations[0];
      const int64_t y = line.y * w.strides[1] - w.pads[1] + kh * w.dilations[1];
      const bool inside = z >= 0 && z < w.in[0] && y >= 0 && y < w.in[1];
      const uint8_t* source = static_cast<const uint8_t*>(args.x);
      if (inside) source += ((line.image * w.in[0] + z) * w.in[1] + y) * w.in[2] * w.pixel_bytes;
      for (int64_t kw = 0; kw < w.kernel[2]; ++kw)
        for (int64_t p = 0; p < kDepthwisePixels; ++p) {
          const int64_t pixel = first + (p < count ? p : count - 1);
          const int64_t x = pixel * w.strides[2] - w.pads[2] + kw * w.dilations[2];
          *found++ = inside && x >= 0 && x < w.in[2] ? source + x * w.pixel_bytes : outside;
        }
    }
}

struct Channels {
  int64_t begin, end;
};

template <bool kSigned, QuantizedOutput kOutput>
void sum_tile(const QuantizedDepthwiseArgs& args, const uint8_t* const* found, Channels range, const Finish& finish, int64_t pixel,
              int64_t count) {
  const vb all = svptrue_b32();
  const int64_t taps = taps_of(args.window), channels = args.window.channels;
  const vi zero = svdup_s32(static_cast<int32_t>(x_zero_of(args)));
  for (int64_t c = range.begin; c < range.end; c += kLanes) {
    const vb exists = svwhilelt_b32(c, range.end);
    vi sums[kDepthwisePixels];
    const vi start = svmls_x(all, bias_at(exists, args.epilogue, c), vi(svld1(exists, args.w + taps * channels + c)), zero);
    SVENGINE_UNROLL
    for (int p = 0; p < kDepthwisePixels; ++p) sums[p] = start;
    const int32_t* w = args.w + c;
    const uint8_t* const* at = found;
    for (int64_t tap = 0; tap < taps; ++tap, w += channels, at += kDepthwisePixels) {
      const vi weight = svld1(exists, w);
      SVENGINE_UNROLL
      for (int p = 0; p < kDepthwisePixels; ++p) {
        vi x;
        if constexpr (kSigned)
          x = svld1sb_s32(exists, reinterpret_cast<const int8_t*>(at[p]) + c);
        else
          x = svld1ub_s32(exists, at[p] + c);
        sums[p] = svmla_x(all, sums[p], x, weight);
      }
    }
    const vf scale = scale_at(exists, args.epilogue, c), shift = shift_at(exists, args.epilogue, c);
    SVENGINE_UNROLL
    for (int p = 0; p < kDepthwisePixels; ++p)
      if (p < count) store_sums<kOutput>(exists, args.epilogue, finish, sums[p], scale, shift, args.y, (pixel + p) * channels + c);
  }
}

}  // namespace

int64_t depthwise_tasks(const QuantizedDepthwiseArgs& args) noexcept {
  return args.batch * args.window.out[0] * args.window.out[1] * channel_pieces(args.window);
}

int64_t depthwise_scratch_bytes(const QuantizedDepthwiseArgs& args) noexcept {
  return taps_of(args.window) * kDepthwisePixels * int64_t{sizeof(void*)} + (args.window.channels + 255) / 256 * 256;
}

void depthwise_run(const QuantizedDepthwiseArgs& args, int64_t task_begin, int64_t task_end, void* scratch) noexcept {
  const QuantizedWindow& w = args.window;
  const uint8_t** found = static_cast<const uint8_t**>(scratch);
  uint8_t* outside = reinterpret_cast<uint8_t*>(found + taps_of(w) * kDepthwisePixels);
  for (int64_t c = 0; c < w.channels; ++c) outside[c] = static_cast<uint8_t>(x_zero_of(args));
  const Finish finish = finish_of(args.epilogue);
  const int64_t pieces = channel_pieces(w), piece = kChannelVectors * kLanes;
  for (int64_t task = task_begin; task < task_end; ++task) {
    const int64_t index = task / pieces, begin = task % pieces * piece;
    const Channels range{begin, begin + piece < w.channels ? begin + piece : w.channels};
    for (int64_t x = 0; x < w.out[2]; x += kDepthwisePixels) {
      const int64_t count = w.out[2] - x < kDepthwisePixels ? w.out[2] - x : kDepthwisePixels;
      find_taps(args, line_of(w, index), x, count, outside, found);
      dispatch_output(args.epilogue.output, [&]<QuantizedOutput kOutput>() {
        if (args.x_signed)
          sum_tile<true, kOutput>(args, found, range, finish, index * w.out[2] + x, count);
        else
          sum_tile<false, kOutput>(args, found, range, finish, index * w.out[2] + x, count);
      });
    }
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
