// What becomes of 32-bit sums: scaled, bounded, rounded, stored as the output's type.
#pragma once
#include "engine/kernels/quantized.h"
#include "engine/kernels/sve/quantized/dot.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

/// The same for all sums of a call.
struct Finish {
  vf low, high;  // integers: less the zero point, so that they bound what is rounded
  vi zero;
};

inline Finish finish_of(const QuantizedEpilogue& e) {
  const float shift = e.output == QuantizedOutput::kFloat32 ? 0.0f : static_cast<float>(e.zero);
  return {svdup_f32(e.low - shift), svdup_f32(e.high - shift), svdup_s32(e.zero)};
}

/// Stores elements [at, at + kLanes) of which those in `exists` are there.
template <QuantizedOutput kOutput>
inline __attribute__((always_inline)) void store_sums(vb exists, const QuantizedEpilogue& e, const Finish& finish, vi sums, vf scale,
                                                      vf shift, void* c, int64_t at) {
  const vb all = svptrue_b32();
  if constexpr (kOutput == QuantizedOutput::kInt32) {
    svst1(exists, static_cast<int32_t*>(c) + at, sums);
    return;
  }
  vf x = svmul_x(all, svcvt_f32_x(all, sums), scale);
  if constexpr (kOutput == QuantizedOutput::kFloat32) {
    if (e.shift) x = svadd_x(all, x, shift);
    svst1(exists, static_cast<float*>(c) + at, vf(svmin_x(all, svmax_x(all, x, finish.low), finish.high)));
    return;
  }
  x = svminnm_x(all, svmaxnm_x(all, x, finish.low), finish.high);
  const vi y = svadd_x(all, sve_bytes::rounded(x), finish.zero);
  if constexpr (kOutput == QuantizedOutput::kInt8) svst1b(exists, static_cast<int8_t*>(c) + at, y);
  if constexpr (kOutput == QuantizedOutput::kUint8) svst1b(exists, static_cast<uint8_t*>(c) + at, vu(svreinterpret_u32(y)));
}

/// Calls f.template operator()<output>().
template <class F>
inline __attribute__((always_inline)) void dispatch_output(QuantizedOutput output, const F& f) {
  if (output == QuantizedOutput::kInt32) return f.template operator()<QuantizedOutput::kInt32>();
  if (output == QuantizedOutput::kFloat32) return f.template operator()<QuantizedOutput::kFloat32>();
  if (output == QuantizedOutput::kInt8) return f.template operator()<QuantizedOutput::kInt8>();
  f.template operator()<QuantizedOutput::kUint8>();
}

/// Of columns [first, first + kLanes) of which those in `exists` are there.
inline vi bias_at(vb exists, const QuantizedEpilogue& e, int64_t first) {
  return e.bias ? vi(svld1(exists, e.bias + first)) : vi(svdup_s32(0));
}
inline vf scale_at(vb exists, const QuantizedEpilogue& e, int64_t first) {
  if (!e.scale) return svdup_f32(1.0f);
  return e.scale_step ? vf(svld1(exists, e.scale + first)) : vf(svdup_f32(*e.scale));
}
inline vf shift_at(vb exists, const QuantizedEpilogue& e, int64_t first) {
  return e.shift ? vf(svld1(exists, e.shift + first)) : vf(svdup_f32(0.0f));
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
