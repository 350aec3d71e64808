// Depthwise convolution of channels-last bytes, tap by tap: any weights, any output. Vectors run over channels, a tile is kPixels
// neighbours of an output line.
//
// Where the bytes of every tap of every pixel lie is found once for a tile, taps outside the image being a line of zero points; the
// channels are then one loop without a branch:
//
//                    taps
//   pixels   p0 -> [ptr ptr ptr ...]      for each vector of channels: for each tap: load w, and for each pixel
//            p1 -> [ptr ptr ptr ...]        sum[p] += w * extended(ptr[tap][p] + channel)
#include "engine/kernels/sve/quantized/depthwise.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

// 7 x 7, 14 x 14, ... are most images. Seven sums, two vectors of operands: any machine has registers for them.
constexpr int kDepthwisePixels = 7;

/// found[tap * kDepthwisePixels + p] for pixels [first, first + count); those that are not there repeat the last.
void find_taps(const QuantizedDepthwiseArgs& args, const DepthwiseTask& task, int64_t first, int64_t count, const uint8_t* outside,
               const uint8_t** found) {
  const QuantizedWindow& w = args.window;
  for (int64_t kd = 0; kd < w.kernel[0]; ++kd)
    for (int64_t kh = 0; kh < w.kernel[1]; ++kh) {
      const int64_t z = task.z * w.strides[0] - w.pads[0] + kd * w.dilations[0];
      const int64_t y = task.y * w.strides[1] - w.pads[1] + kh * w.dilations[1];
      const bool inside = z >= 0 && z < w.in[0] && y >= 0 && y < w.in[1];
      const uint8_t* source = static_cast<const uint8_t*>(args.x);
      if (inside) source += ((task.image * w.in[0] + z) * w.in[1] + y) * w.in[2] * w.pixel_bytes;
      for (int64_t kw = 0; kw < w.kernel[2]; ++kw)
        for (int64_t p = 0; p < kDepthwisePixels; ++p) {
          const int64_t pixel = first + (p < count ? p : count - 1);
          const int64_t x = pixel * w.strides[2] - w.pads[2] + kw * w.dilations[2];
          *found++ = inside && x >= 0 && x < w.in[2] ? source + x * w.pixel_bytes : outside;
        }
    }
}

template <bool kSigned, QuantizedOutput kOutput>
void sum_tile(const QuantizedDepthwiseArgs& args, const uint8_t* const* found, const DepthwiseTask& task, const Finish& finish,
              int64_t pixel, int64_t count) {
  const vb all = svptrue_b32();
  const int64_t taps = taps_of(args.window), channels = args.window.channels;
  const vi zero = svdup_s32(x_zero_of(args));
  for (int64_t c = task.begin; c < task.end; c += kLanes) {
    const vb exists = svwhilelt_b32(c, task.end);
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

int64_t depthwise_tasks(const QuantizedDepthwiseArgs& args) noexcept { return depthwise_lines(args) * channel_pieces(args.window); }

int64_t depthwise_scratch_bytes(const QuantizedDepthwiseArgs& args) noexcept {
  const int64_t taps = taps_of(args.window) * kDepthwisePixels * int64_t{sizeof(void*)}, quads = quads_scratch_bytes(args.window);
  return (taps < quads ? quads : taps) + (args.window.channels + 255) / 256 * 256;
}

void depthwise_run(const QuantizedDepthwiseArgs& args, int64_t task_begin, int64_t task_end, void* scratch) noexcept {
  if (has_quads(args)) return depthwise_by_quads(args, task_begin, task_end, scratch);
  const QuantizedWindow& w = args.window;
  const uint8_t** found = static_cast<const uint8_t**>(scratch);
  uint8_t* outside = reinterpret_cast<uint8_t*>(found + taps_of(w) * kDepthwisePixels);
  fill_outside(args, outside);
  const Finish finish = finish_of(args.epilogue);
  for (int64_t index = task_begin; index < task_end; ++index) {
    const DepthwiseTask task = depthwise_task(args, index);
    for (int64_t x = 0; x < w.out[2]; x += kDepthwisePixels) {
      const int64_t count = w.out[2] - x < kDepthwisePixels ? w.out[2] - x : kDepthwisePixels;
      find_taps(args, task, x, count, outside, found);
      dispatch_output(args.epilogue.output, [&]<QuantizedOutput kOutput>() {
        if (args.x_signed)
          sum_tile<true, kOutput>(args, found, task, finish, task.line * w.out[2] + x, count);
        else
          sum_tile<false, kOutput>(args, found, task, finish, task.line * w.out[2] + x, count);
      });
    }
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
