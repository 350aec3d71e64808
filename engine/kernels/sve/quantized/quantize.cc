// From floats to quantised elements and back: a task is a piece of the elements.
#include "engine/kernels/sve/quantized/dot.h"
#include "engine/kernels/sve/quantized/element.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

constexpr int64_t kPiece = 8192;  // elements of a task
constexpr int kTogether = 4;      // vectors without a mask: bytes under one are slow on x86-64

template <QuantizedType kType>
struct Element {
  typedef uint8_t Type;
  static constexpr int32_t kLow = 0, kHigh = 255;
  static inline vi load(vb some, const void* x, int64_t at) { return svld1ub_s32(some, static_cast<const Type*>(x) + at); }
  static inline void store(vb some, void* y, int64_t at, vi v) { svst1b(some, static_cast<Type*>(y) + at, vu(svreinterpret_u32(v))); }
};
template <>
struct Element<QuantizedType::kInt8> {
  typedef int8_t Type;
  static constexpr int32_t kLow = -128, kHigh = 127;
  static inline vi load(vb some, const void* x, int64_t at) { return svld1sb_s32(some, static_cast<const Type*>(x) + at); }
  static inline void store(vb some, void* y, int64_t at, vi v) { svst1b(some, static_cast<Type*>(y) + at, v); }
};
template <>
struct Element<QuantizedType::kUint16> {
  typedef uint16_t Type;
  static constexpr int32_t kLow = 0, kHigh = 65535;
  static inline vi load(vb some, const void* x, int64_t at) { return svld1uh_s32(some, static_cast<const Type*>(x) + at); }
  static inline void store(vb some, void* y, int64_t at, vi v) { svst1h(some, static_cast<Type*>(y) + at, vu(svreinterpret_u32(v))); }
};
template <>
struct Element<QuantizedType::kInt16> {
  typedef int16_t Type;
  static constexpr int32_t kLow = -32768, kHigh = 32767;
  static inline vi load(vb some, const void* x, int64_t at) { return svld1sh_s32(some, static_cast<const Type*>(x) + at); }
  static inline void store(vb some, void* y, int64_t at, vi v) { svst1h(some, static_cast<Type*>(y) + at, v); }
};
template <>
struct Element<QuantizedType::kInt32> {
  typedef int32_t Type;
  static inline vi load(vb some, const void* x, int64_t at) { return svld1(some, static_cast<const Type*>(x) + at); }
};

/// What elements are scaled and shifted by: the same for all, or with kEach read for a vector of them.
struct Grid {
  vi zero;
  vf scale;
};
template <QuantizedType kType, bool kEach, class Args>
inline __attribute__((always_inline)) Grid grid_at(vb some, const Args& args, int64_t at) {
  Grid grid{svdup_s32(0), {}};
  if constexpr (kEach) {
    if (args.zero) grid.zero = Element<kType>::load(some, args.zero, at);
    grid.scale = svld1(some, args.scale + at);
  } else {
    if (args.zero) grid.zero = svdup_s32(static_cast<int32_t>(*static_cast<const typename Element<kType>::Type*>(args.zero)));
    grid.scale = svdup_f32(*args.scale);
  }
  return grid;
}

/// Calls f(predicate, place, grid) for every vector of [begin, end), with all lanes where that is known.
template <QuantizedType kType, bool kEach, class Args, class F>
inline __attribute__((always_inline)) void for_vectors(const Args& args, int64_t begin, int64_t end, const F& f) {
  const vb all = svptrue_b32();
  Grid grid = grid_at<kType, false>(all, args, 0);
  int64_t i = begin;
  for (; i + kTogether * kLanes <= end; i += kTogether * kLanes) {
    SVENGINE_UNROLL
    for (int u = 0; u < kTogether; ++u) {
      const int64_t at = i + u * kLanes;
      if constexpr (kEach) grid = grid_at<kType, true>(all, args, at);
      f(all, at, grid);
    }
  }
  for (; i < end; i += kLanes) {
    const vb some = svwhilelt_b32(i, end);
    if constexpr (kEach) grid = grid_at<kType, true>(some, args, i);
    f(some, i, grid);
  }
}

template <QuantizedType kType, bool kEach>
void quantize_range(const QuantizeArgs& given, int64_t begin, int64_t end) {
  const QuantizeArgs args = given;  // which stores cannot change
  for_vectors<kType, kEach>(args, begin, end, [&](vb some, int64_t at, const Grid& grid) __attribute__((always_inline)) {
    const vb every = svptrue_b32();
    const vf offset = svcvt_f32_x(every, grid.zero);
    const vf low = svsubr_x(every, offset, static_cast<float>(Element<kType>::kLow)),
             high = svsubr_x(every, offset, static_cast<float>(Element<kType>::kHigh));
    const vf x = svdiv_x(every, vf(svld1(some, args.x + at)), grid.scale);
    const vi level = sve_bytes::rounded(svminnm_x(every, svmaxnm_x(every, x, low), high));
    Element<kType>::store(some, args.y, at, svadd_x(every, level, grid.zero));
  });
}

template <QuantizedType kType, bool kEach>
void dequantize_range(const DequantizeArgs& given, int64_t begin, int64_t end) {
  const DequantizeArgs args = given;
  for_vectors<kType, kEach>(args, begin, end, [&](vb some, int64_t at, const Grid& grid) __attribute__((always_inline)) {
    const vb every = svptrue_b32();
    const vi x = svsub_x(every, Element<kType>::load(some, args.x, at), grid.zero);
    svst1(some, args.y + at, vf(svmul_x(every, svcvt_f32_x(every, x), grid.scale)));
  });
}

/// Calls f.template operator()<type, each>().
template <class F>
inline void dispatch_type(QuantizedType type, bool each, const F& f) {
  const auto both = [&]<QuantizedType kType>() __attribute__((always_inline)) {
    each ? f.template operator()<kType, true>() : f.template operator()<kType, false>();
  };
  switch (type) {
    case QuantizedType::kUint8: return both.template operator()<QuantizedType::kUint8>();
    case QuantizedType::kInt8: return both.template operator()<QuantizedType::kInt8>();
    case QuantizedType::kUint16: return both.template operator()<QuantizedType::kUint16>();
    case QuantizedType::kInt16: return both.template operator()<QuantizedType::kInt16>();
    case QuantizedType::kInt32: return both.template operator()<QuantizedType::kInt32>();
  }
}

template <class Args>
int64_t piece_end(const Args& args, int64_t task_end) {
  return task_end * kPiece < args.count ? task_end * kPiece : args.count;
}

}  // namespace

int64_t quantize_tasks(const QuantizeArgs& args) noexcept { return (args.count + kPiece - 1) / kPiece; }
int64_t dequantize_tasks(const DequantizeArgs& args) noexcept { return (args.count + kPiece - 1) / kPiece; }

void quantize_run(const QuantizeArgs& args, int64_t task_begin, int64_t task_end, void*) noexcept {
  const int64_t begin = task_begin * kPiece, end = piece_end(args, task_end);
  dispatch_type(args.type, args.step != 0, [&]<QuantizedType kType, bool kEach>() {
    if constexpr (kType != QuantizedType::kInt32) quantize_range<kType, kEach>(args, begin, end);
  });
}

void dequantize_run(const DequantizeArgs& args, int64_t task_begin, int64_t task_end, void*) noexcept {
  const int64_t begin = task_begin * kPiece, end = piece_end(args, task_end);
  dispatch_type(args.type, args.step != 0, [&]<QuantizedType kType, bool kEach>() { dequantize_range<kType, kEach>(args, begin, end); });
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
