// Rows of a convolution's input, copied with their borders.
#pragma once
#include "engine/kernels/sve/window.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

inline float* fill_zeros(float* to, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes) svst1(svwhilelt_b32(i, count), to + i, svdup_f32(0.0f));
  return to + count;
}

inline float* copy(const float* from, float* to, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes) {
    const vb some = svwhilelt_b32(i, count);
    svst1(some, to + i, svld1(some, from + i));
  }
  return to + count;
}

/// `width` pixels of `floats` each, the first of which lies `pad` before the row of `in_width` pixels at `row` (behind its first
/// when negative); zeros where the row has none. Where the next row begins.
inline float* copy_row(const float* row, int64_t in_width, int64_t pad, int64_t width, int64_t floats, float* to) {
  const int64_t left = window::smaller(window::larger(pad, 0), width);
  const int64_t skipped = left - pad;  // pixels of the row before the first used: 0 or crop
  const int64_t copied = window::larger(window::smaller(width - left, in_width - skipped), 0);
  to = fill_zeros(to, left * floats);
  to = copy(row + skipped * floats, to, copied * floats);
  return fill_zeros(to, (width - left - copied) * floats);
}

/// TBL's indices that interleave kChannels vectors, one of each channel, into kChannels vectors of pixels; kLanes gives zero.
template <int kChannels>
struct InterleavingIndices {
  uint32_t at[kChannels][kChannels][kLanes];  // [vector of the result][channel][lane]

  constexpr InterleavingIndices() : at{} {
    for (int i = 0; i < kChannels * kLanes; ++i)
      for (int channel = 0; channel < kChannels; ++channel)
        at[i / kLanes][channel][i % kLanes] = i % kChannels == channel ? uint32_t(i / kChannels) : uint32_t(kLanes);
  }
};

/// The channels of as many pixels as there are lanes, side by side.
template <int kChannels>
inline __attribute__((always_inline)) void interleave(const vf (&x)[kChannels], vf (&y)[kChannels]) {
  if constexpr (kChannels == 1) {
    y[0] = x[0];
  } else if constexpr (kChannels == 2) {
    y[0] = svzip1(x[0], x[1]), y[1] = svzip2(x[0], x[1]);
  } else if constexpr (kChannels == 4) {
    const vf even[2] = {svzip1(x[0], x[2]), svzip2(x[0], x[2])}, odd[2] = {svzip1(x[1], x[3]), svzip2(x[1], x[3])};
    SVENGINE_UNROLL
    for (int i = 0; i < 4; ++i) y[i] = i % 2 ? svzip2(even[i / 2], odd[i / 2]) : svzip1(even[i / 2], odd[i / 2]);
  } else {
    static constexpr InterleavingIndices<kChannels> kIndices;
    SVENGINE_UNROLL
    for (int i = 0; i < kChannels; ++i) {
      vu sum = svdup_u32(0);
      SVENGINE_UNROLL
      for (int channel = 0; channel < kChannels; ++channel) {
        const vf lanes = svtbl(x[channel], svld1(svptrue_b32(), kIndices.at[i][channel]));
        sum = svorr_x(svptrue_b32(), sum, svreinterpret_u32(lanes));
      }
      y[i] = svreinterpret_f32(sum);
    }
  }
}

/// `count` pixels of kChannels rows, channel_step apart, to [pixel][channel].
template <int kChannels>
inline float* copy_interleaved(const float* from, int64_t channel_step, int64_t count, float* to) {
  for (int64_t i = 0; i < count; i += kLanes) {
    const vb some = svwhilelt_b32(i, count);
    vf x[kChannels], y[kChannels];
    SVENGINE_UNROLL
    for (int channel = 0; channel < kChannels; ++channel) x[channel] = svld1(some, from + channel * channel_step + i);
    interleave(x, y);
    SVENGINE_UNROLL
    for (int v = 0; v < kChannels; ++v) {
      const int64_t at = i * kChannels + v * kLanes;
      svst1(svwhilelt_b32(at, count * kChannels), to + at, y[v]);
    }
  }
  return to + count * kChannels;
}

/// copy_row of the rows of one to four channels, channel_step apart, whose pixels come side by side: [pixel][channel].
inline float* interleave_row(const float* row, int64_t channels, int64_t channel_step, int64_t in_width, int64_t pad, int64_t width, float* to) {
  const int64_t left = window::smaller(window::larger(pad, 0), width);
  const int64_t skipped = left - pad;
  const int64_t copied = window::larger(window::smaller(width - left, in_width - skipped), 0);
  to = fill_zeros(to, left * channels);
  to = channels == 1   ? copy_interleaved<1>(row + skipped, channel_step, copied, to)
       : channels == 2 ? copy_interleaved<2>(row + skipped, channel_step, copied, to)
       : channels == 3 ? copy_interleaved<3>(row + skipped, channel_step, copied, to)
                       : copy_interleaved<4>(row + skipped, channel_step, copied, to);
  return fill_zeros(to, (width - left - copied) * channels);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
