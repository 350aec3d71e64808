#include "engine/kernels/reference/quantized.h"

#include <algorithm>
#include <cmath>

namespace svengine::kernels {
namespace {

struct Tap {
  bool inside;
  int64_t pixel;  // of all images
};

/// Tap number `tap` of output pixel `row` of all images.
Tap tap_of(const QuantizedWindow& w, int64_t row, int64_t tap) {
  int64_t out[3], at[3];
  for (int i = 2; i >= 0; --i) out[i] = row % w.out[i], row /= w.out[i];
  for (int i = 2; i >= 0; --i) at[i] = tap % w.kernel[i], tap /= w.kernel[i];
  int64_t pixel = row;
  for (int i = 0; i < 3; ++i) {
    const int64_t x = out[i] * w.strides[i] - w.pads[i] + at[i] * w.dilations[i];
    if (x < 0 || x >= w.in[i]) return {false, 0};
    pixel = pixel * w.in[i] + x;
  }
  return {true, pixel};
}

}  // namespace

int32_t quantized_at(const void* bytes, bool is_signed, int64_t at) {
  if (!bytes) return 0;
  return is_signed ? static_cast<const int8_t*>(bytes)[at] : static_cast<const uint8_t*>(bytes)[at];
}

int32_t reference_quantized_a(const QuantizedGemmArgs& args, int64_t row, int64_t d) {
  const int32_t zero = quantized_at(args.a_zero, args.a_signed, row * args.a_zero_step);
  if (!args.windows) return quantized_at(args.a, args.a_signed, row * args.lda + d) - zero;
  const Tap tap = tap_of(args.window, row, d / args.window.channels);
  if (!tap.inside) return 0;
  return quantized_at(args.a, args.a_signed, tap.pixel * args.window.pixel_bytes + d % args.window.channels) - zero;
}

int32_t reference_quantized_b(const QuantizedPackArgs& args, int64_t d, int64_t column) {
  const int64_t at = args.column_major ? column * args.ld + d : d * args.ld + column;
  return quantized_at(args.source, args.is_signed, at) - quantized_at(args.zero, args.is_signed, column * args.zero_step);
}

void reference_quantized_store(const QuantizedEpilogue& e, uint32_t sum, int64_t row, int64_t column, void* c, int64_t at) {
  if (e.bias) sum += static_cast<uint32_t>(e.bias[row * e.bias_ld + column]);
  const int32_t exact = static_cast<int32_t>(sum);
  if (e.output == QuantizedOutput::kInt32) {
    static_cast<int32_t*>(c)[at] = exact;
    return;
  }
  float scale = e.scale ? e.scale[column * e.scale_step] : 1.0f;
  if (e.row_scale) scale *= e.row_scale[row];
  float x = static_cast<float>(exact) * scale;
  if (e.output == QuantizedOutput::kFloat32) {
    if (e.shift) x += e.shift[column];
    static_cast<float*>(c)[at] = std::min(std::max(x, e.low), e.high);
    return;
  }
  const float zero = static_cast<float>(e.zero);
  const int32_t y = static_cast<int32_t>(std::nearbyint(std::fmin(std::fmax(x, e.low - zero), e.high - zero))) + e.zero;
  static_cast<uint8_t*>(c)[at] = static_cast<uint8_t>(y);
}

uint32_t reference_depthwise_sum(const QuantizedDepthwiseArgs& args, int64_t pixel, int64_t channel) {
  const QuantizedWindow& w = args.window;
  const int32_t zero = quantized_at(args.x_zero, args.x_signed, 0);
  uint32_t sum = 0;
  for (int64_t t = 0; t < w.kernel[0] * w.kernel[1] * w.kernel[2]; ++t) {
    const Tap tap = tap_of(w, pixel, t);
    if (!tap.inside) continue;
    const int32_t x = quantized_at(args.x, args.x_signed, tap.pixel * w.pixel_bytes + channel) - zero;
    sum += static_cast<uint32_t>(x) * static_cast<uint32_t>(args.w[t * w.channels + channel]);
  }
  return sum;
}

}  // namespace svengine::kernels
