// Conversion between element types.
//
// Half-precision formats are only ever widened to float exactly, or rounded from it; where the source does not fit a float
// it is first rounded to odd (the last bit set when anything was cut off), so that the second rounding errs nowhere.
// Blocks of kBlock floats on the stack lie between the two halves of such a conversion.
#include "engine/kernels/sve/elementwise/parts.h"
#include "engine/kernels/sve/elementwise/scalar.h"
#include "engine/kernels/sve/elementwise/walk.h"
#include "engine/kernels/sve/reduction_loops.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise {
namespace {

constexpr int64_t kBlock = 512;

struct Bool {  // a bool byte: distinct from uint8_t as a target
  uint8_t byte;
};
template <class T>
inline constexpr bool kIsBool = false;
template <>
inline constexpr bool kIsBool<Bool> = true;

constexpr double kWordEnd = 0x1p31;  // of 32-bit integers

template <class To, class From>
constexpr bool is_narrowed() {
  if constexpr (kIsBool<To>)
    return false;
  else
    return scalar::kIsFloat<From> && !scalar::kIsFloat<To> && sizeof(To) == 1;
}
template <class To, class From>
inline constexpr bool kIsNarrowed = is_narrowed<To, From>();

/// Truncates; saturates at the limits of T, a 32- or 64-bit integer; NaN gives 0.
template <class T, class F>
T truncate(F x) {
  constexpr F kEnd = scalar::kIsSigned<T> ? F(uint64_t(1) << (sizeof(T) * 8 - 1)) : F(2) * F(uint64_t(1) << (sizeof(T) * 8 - 1));
  constexpr F kBegin = scalar::kIsSigned<T> ? -kEnd : F(0);
  constexpr T kHighest = scalar::kIsSigned<T> ? T(~(uint64_t(1) << (sizeof(T) * 8 - 1))) : T(-1);
  constexpr T kLowest = T(scalar::kIsSigned<T> ? uint64_t(1) << (sizeof(T) * 8 - 1) : 0);
  const bool inside = x > kBegin && x < kEnd;
  const T inner = T(inside ? x : F(0));
  return x >= kEnd ? kHighest : x <= kBegin ? kLowest : inner;  // all comparisons with NaN are false
}

template <class To, class From>
To convert(From x) {
  if constexpr (kIsBool<To>) {
    return {uint8_t(x != From(0))};
  } else if constexpr (scalar::kIsFloat<From> && !scalar::kIsFloat<To>) {
    if constexpr (sizeof(To) >= 4) return truncate<To>(x);
    else return To(truncate<int64_t>(x));
  } else {
    return To(x);
  }
}

/// Reals to integers of a byte, which have the low bits of the whole numbers: in 32 bits where no number of a block has more.
template <class To, class From>
void to_narrow(const From* from, To* to, int64_t n) {
  for (int64_t first = 0; first < n; first += kBlock) {
    const int64_t last = smaller(n, first + kBlock);
    int32_t outside = 0;
    for (int64_t i = first; i < last; ++i) outside |= !(from[i] > From(-kWordEnd) && from[i] < From(kWordEnd));
    if (outside) {
      for (int64_t i = first; i < last; ++i) to[i] = convert<To>(from[i]);
      continue;
    }
#pragma GCC ivdep
    for (int64_t i = first; i < last; ++i) to[i] = To(int32_t(from[i]));
  }
}

template <class To, class From>
[[gnu::flatten]] void convert_all(const void* x, void* y, int64_t n) noexcept {
  const From* from = static_cast<const From*>(x);
  To* to = static_cast<To*>(y);
  if constexpr (kIsNarrowed<To, From>) return to_narrow(from, to, n);
#pragma GCC ivdep  // y is x with elements of the same size or overlaps nothing
  for (int64_t i = 0; i < n; ++i) to[i] = convert<To>(from[i]);
}

using ConvertFunction = void (*)(const void* x, void* y, int64_t n) noexcept;

template <class From>
ConvertFunction find_to(DType to) {
  switch (to) {
    case DType::f32: return convert_all<float, From>;
    case DType::f64: return convert_all<double, From>;
    case DType::boolean: return convert_all<Bool, From>;
    case DType::i8: return convert_all<int8_t, From>;
    case DType::u8: return convert_all<uint8_t, From>;
    case DType::i16: return convert_all<int16_t, From>;
    case DType::u16: return convert_all<uint16_t, From>;
    case DType::i32: return convert_all<int32_t, From>;
    case DType::u32: return convert_all<uint32_t, From>;
    case DType::i64: return convert_all<int64_t, From>;
    case DType::u64: return convert_all<uint64_t, From>;
    default: return nullptr;
  }
}

ConvertFunction find_convert(DType from, DType to) {
  switch (from) {
    case DType::f32: return find_to<float>(to);
    case DType::f64: return find_to<double>(to);
    case DType::i8: return find_to<int8_t>(to);
    case DType::u8: return find_to<uint8_t>(to);
    case DType::i16: return find_to<int16_t>(to);
    case DType::u16: return find_to<uint16_t>(to);
    case DType::i32: return find_to<int32_t>(to);
    case DType::u32: return find_to<uint32_t>(to);
    case DType::i64: return find_to<int64_t>(to);
    case DType::u64: return find_to<uint64_t>(to);
    default: return nullptr;
  }
}

void half_to_float(const void* x, float* y, int64_t n) {
  const uint16_t* from = static_cast<const uint16_t*>(x);
  for_each_vector<4>(n, [=](int64_t i, vb p) SVENGINE_INLINE_LAMBDA {
    const vu bits = svld1uh_u32(p, from + i);
    const vf v = svcvt_f32_x(p, svreinterpret_f16(bits));
    svst1(p, y + i, v);
  });
}
void float_to_half(const float* x, void* y, int64_t n) {
  uint16_t* to = static_cast<uint16_t*>(y);
  for_each_vector<4>(n, [=](int64_t i, vb p) SVENGINE_INLINE_LAMBDA {
    const vf v = svld1(p, x + i);
    svst1h(p, to + i, svreinterpret_u32(svcvt_f16_x(p, v)));
  });
}
void bfloat_to_float(const void* x, float* y, int64_t n) {
  const uint16_t* from = static_cast<const uint16_t*>(x);
  uint32_t* bits = reinterpret_cast<uint32_t*>(y);
  for (int64_t i = 0; i < n; ++i) bits[i] = uint32_t(from[i]) << 16;
}
void float_to_bfloat(const float* x, void* y, int64_t n) {
  uint16_t* to = static_cast<uint16_t*>(y);
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t bits = __builtin_bit_cast(uint32_t, x[i]);
    const uint32_t nearest = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    to[i] = uint16_t((bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : nearest);  // NaN stays NaN
  }
}

/// The double as a float rounded to odd. Overflow and NaN as in an ordinary conversion.
float to_odd(double x) {
  const float nearest = float(x);
  const double back = double(nearest);
  uint32_t bits = __builtin_bit_cast(uint32_t, nearest);
  if (back == x || back != back || __builtin_fabsf(nearest) == __builtin_inff()) return nearest;
  if (__builtin_fabs(back) > __builtin_fabs(x)) --bits;  // towards zero
  return __builtin_bit_cast(float, bits | 1);
}
/// Integers of 54 bits and more lose their lowest twelve, which leave a mark if they were not 0: the rest fits a double.
template <class T>
double marked(T x) {
  if constexpr (sizeof(T) < 8) {
    return double(x);
  } else {
    const bool fits = x < T(1) << 53 && (!scalar::kIsSigned<T> || x > -(T(1) << 53));
    return double(fits ? x : T((x >> 12 | T((x & 0xfff) != 0)) << 12));
  }
}
template <class T>
void to_odd_floats(const void* x, float* y, int64_t n) {
  const T* from = static_cast<const T*>(x);
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (scalar::kIsFloat<T>) y[i] = to_odd(from[i]);
    else y[i] = to_odd(marked(from[i]));
  }
}

/// Any type to floats that a further rounding to half precision turns into the nearest half of the source.
void to_floats(DType from, const void* x, float* y, int64_t n) {
  switch (from) {
    case DType::f16: return half_to_float(x, y, n);
    case DType::bf16: return bfloat_to_float(x, y, n);
    case DType::f64: return to_odd_floats<double>(x, y, n);
    case DType::i32: return to_odd_floats<int32_t>(x, y, n);
    case DType::u32: return to_odd_floats<uint32_t>(x, y, n);
    case DType::i64: return to_odd_floats<int64_t>(x, y, n);
    case DType::u64: return to_odd_floats<uint64_t>(x, y, n);
    default: return find_convert(from, DType::f32)(x, y, n);  // the others fit a float
  }
}
void from_floats(DType to, const float* x, void* y, int64_t n) {
  if (to == DType::f16) return float_to_half(x, y, n);
  if (to == DType::bf16) return float_to_bfloat(x, y, n);
  find_convert(DType::f32, to)(x, y, n);
}

/// Bytes of bools, which may be any where they are true, become 0 and 1 first: as bytes, of which a vector has most.
void from_bools(DType to, const char* x, char* y, int64_t n) {
  const int64_t to_bytes = element_bytes(to);
  if (to_bytes == 1) return convert_all<Bool, uint8_t>(x, y, n);
  uint8_t block[kBlock];
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t count = smaller(kBlock, n - i);
    convert_all<Bool, uint8_t>(x + i, block, count);
    if (const ConvertFunction convert = find_to<uint8_t>(to)) {
      convert(block, y + i * to_bytes, count);
      continue;
    }
    float floats[kBlock];
    to_floats(DType::u8, block, floats, count);
    from_floats(to, floats, y + i * to_bytes, count);
  }
}

}  // namespace

int64_t cast_tasks(const CastArgs& args) noexcept { return divide_up(args.n, kElementwiseTask); }

void cast_run(const CastArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const int64_t first = begin * kElementwiseTask, n = smaller(end * kElementwiseTask, args.n) - first;
  if (n <= 0) return;
  const int64_t from_bytes = element_bytes(args.from), to_bytes = element_bytes(args.to);
  const char* x = static_cast<const char*>(args.x) + first * from_bytes;
  char* y = static_cast<char*>(args.y) + first * to_bytes;
  if (args.from == args.to) {
    if (x != y) __builtin_memcpy(y, x, size_t(n * from_bytes));
    return;
  }
  if (args.from == DType::boolean) return from_bools(args.to, x, y, n);
  if (const ConvertFunction convert = find_convert(args.from, args.to)) return convert(x, y, n);
  float block[kBlock];
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t count = smaller(kBlock, n - i);
    to_floats(args.from, x + i * from_bytes, block, count);
    from_floats(args.to, block, y + i * to_bytes, count);
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise
