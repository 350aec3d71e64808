// Sums and products of two quantised values, and the range that quantisation needs: a task is a piece of the elements.
#include "engine/kernels/sve/quantized/element.h"

#include "engine/kernels/sve/quantized/dot.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

constexpr int64_t kPiece = 8192;  // elements of a task

template <bool kSigned>
inline vi load_bytes(vb some, const void* from, int64_t at) {
  if constexpr (kSigned)
    return svld1sb_s32(some, static_cast<const int8_t*>(from) + at);
  else
    return svld1ub_s32(some, static_cast<const uint8_t*>(from) + at);
}

template <bool kSigned>
inline void store_bytes(vb some, void* to, int64_t at, vi x) {
  if constexpr (kSigned)
    svst1b(some, static_cast<int8_t*>(to) + at, x);
  else
    svst1b(some, static_cast<uint8_t*>(to) + at, vu(svreinterpret_u32(x)));
}

/// round_half_even(x) + zero, x bounded before by low and high, which are less the zero point. NaN becomes low.
inline vi round_within(vf x, vf low, vf high, vi zero) {
  const vb all = svptrue_b32();
  return svadd_x(all, sve_bytes::rounded(svminnm_x(all, svmaxnm_x(all, x, low), high)), zero);
}

template <bool kSigned, bool kMultiply, bool kRepeats>
void combine_range(const QuantizedBinaryArgs& given, int64_t begin, int64_t end) {
  const QuantizedBinaryArgs args = given;  // which stores cannot change
  const vb all = svptrue_b32();
  const vi a_zero = svdup_s32(args.a_zero), b_zero = svdup_s32(args.b_zero), zero = svdup_s32(args.zero);
  const vf a_scale = svdup_f32(args.a_scale), b_scale = svdup_f32(args.b_scale);
  const vf low = svdup_f32(static_cast<float>(args.low - args.zero)), high = svdup_f32(static_cast<float>(args.high - args.zero));
  vf b = svdup_f32(0.0f);
  if constexpr (kRepeats) {
    const int32_t one = kSigned ? int32_t{*static_cast<const int8_t*>(args.b)} : int32_t{*static_cast<const uint8_t*>(args.b)};
    b = svdup_f32(static_cast<float>(one - args.b_zero));
    if constexpr (!kMultiply) b = svmul_x(all, b, b_scale);
  }
  const auto step = [&](vb some, int64_t i) __attribute__((always_inline)) {
    const vf a = svcvt_f32_x(all, vi(svsub_x(all, load_bytes<kSigned>(some, args.a, i), a_zero)));
    vf other = b;
    if constexpr (!kRepeats) {
      other = svcvt_f32_x(all, vi(svsub_x(all, load_bytes<kSigned>(some, args.b, i), b_zero)));
      if constexpr (!kMultiply) other = svmul_x(all, other, b_scale);
    }
    vf x;
    if constexpr (kMultiply) x = svmul_x(all, svmul_x(all, a, other), a_scale);
    else x = svadd_x(all, svmul_x(all, a, a_scale), other);
    store_bytes<kSigned>(some, args.y, i, round_within(x, low, high, zero));
  };
  int64_t i = begin;
  for (; i + kLanes <= end; i += kLanes) step(all, i);  // without a mask, which bytes are slow under
  if (i < end) step(svwhilelt_b32(i, end), i);
}

template <bool kSigned, bool kMultiply>
void combine(const QuantizedBinaryArgs& args, int64_t begin, int64_t end) {
  args.b_repeats ? combine_range<kSigned, kMultiply, true>(args, begin, end) : combine_range<kSigned, kMultiply, false>(args, begin, end);
}

}  // namespace

int64_t quantized_binary_tasks(const QuantizedBinaryArgs& args) noexcept { return (args.count + kPiece - 1) / kPiece; }

int64_t quantized_range_tasks(const QuantizedRangeArgs& args) noexcept { return (args.count + kPiece - 1) / kPiece; }

void quantized_range_run(const QuantizedRangeArgs& args, int64_t task_begin, int64_t task_end, void*) noexcept {
  constexpr int kChains = 4;
  const vb all = svptrue_b32();
  for (int64_t task = task_begin; task < task_end; ++task) {
    const int64_t end = (task + 1) * kPiece < args.count ? (task + 1) * kPiece : args.count;
    vf low[kChains], high[kChains];
    SVENGINE_UNROLL
    for (int u = 0; u < kChains; ++u) low[u] = high[u] = svdup_f32(0.0f);
    for (int64_t i = task * kPiece; i < end; i += kChains * kLanes) {
      SVENGINE_UNROLL
      for (int u = 0; u < kChains; ++u) {
        const vf x = svld1(svwhilelt_b32(i + u * kLanes, end), args.x + i + u * kLanes);  // 0 where there is none
        low[u] = svminnm_x(all, low[u], x), high[u] = svmaxnm_x(all, high[u], x);
      }
    }
    args.low[task] = svminnmv(all, vf(svminnm_x(all, vf(svminnm_x(all, low[0], low[1])), vf(svminnm_x(all, low[2], low[3])))));
    args.high[task] = svmaxnmv(all, vf(svmaxnm_x(all, vf(svmaxnm_x(all, high[0], high[1])), vf(svmaxnm_x(all, high[2], high[3])))));
  }
}

void quantized_binary_run(const QuantizedBinaryArgs& args, int64_t task_begin, int64_t task_end, void*) noexcept {
  const int64_t begin = task_begin * kPiece, end = task_end * kPiece < args.count ? task_end * kPiece : args.count;
  if (args.is_signed) args.multiply ? combine<true, true>(args, begin, end) : combine<true, false>(args, begin, end);
  else args.multiply ? combine<false, true>(args, begin, end) : combine<false, false>(args, begin, end);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
