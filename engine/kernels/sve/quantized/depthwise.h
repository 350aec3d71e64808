// What both ways to compute a depthwise convolution of bytes share. A task is a line of output pixels and a piece of the channels; a
// piece's lines are neighbours.
#pragma once
#include "engine/kernels/sve/quantized/element.h"
#include "engine/kernels/sve/quantized/epilogue.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

inline constexpr int64_t kPieceChannels = 16 * kLanes;

constexpr int64_t taps_of(const QuantizedWindow& w) { return w.kernel[0] * w.kernel[1] * w.kernel[2]; }
constexpr int64_t channel_pieces(const QuantizedWindow& w) { return (w.channels + kPieceChannels - 1) / kPieceChannels; }
constexpr int64_t depthwise_lines(const QuantizedDepthwiseArgs& args) { return args.batch * args.window.out[0] * args.window.out[1]; }

inline int32_t x_zero_of(const QuantizedDepthwiseArgs& args) {
  if (!args.x_zero) return 0;
  return args.x_signed ? *static_cast<const int8_t*>(args.x_zero) : *static_cast<const uint8_t*>(args.x_zero);
}

struct DepthwiseTask {
  int64_t line, image, z, y;  // of all lines; of the image
  int64_t begin, end;         // channels
};

inline DepthwiseTask depthwise_task(const QuantizedDepthwiseArgs& args, int64_t task) {
  const QuantizedWindow& w = args.window;
  const int64_t lines = depthwise_lines(args), line = task % lines, begin = task / lines * kPieceChannels, end = begin + kPieceChannels;
  return {line, line / w.out[1] / w.out[0], line / w.out[1] % w.out[0], line % w.out[1], begin, end < w.channels ? end : w.channels};
}

/// A line of zero points, which taps outside the image see: bytes of all channels.
inline void fill_outside(const QuantizedDepthwiseArgs& args, uint8_t* outside) {
  for (int64_t c = 0; c < args.window.channels; ++c) outside[c] = static_cast<uint8_t>(x_zero_of(args));
}

/// depthwise_quads.cc: by products of four taps at once, of packed weights that all fit bytes and outputs of bytes.
bool has_quads(const QuantizedDepthwiseArgs& args);
int64_t quads_scratch_bytes(const QuantizedWindow& w);
void depthwise_by_quads(const QuantizedDepthwiseArgs& args, int64_t task_begin, int64_t task_end, void* scratch);

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
