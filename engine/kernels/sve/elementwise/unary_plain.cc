// Functions of integers, bool and double: plain loops. Identity of every type.
#include "engine/kernels/sve/elementwise/scalar.h"
#include "engine/kernels/sve/elementwise/unary.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise {
namespace {

template <class T>
T magnitude(T x, const UnaryArgs&) {
  if constexpr (scalar::kIsFloat<T>) return __builtin_fabs(x);
  else return x < T(0) ? scalar::subtract(T(0), x) : x;
}
template <class T>
T negated(T x, const UnaryArgs&) {
  if constexpr (scalar::kIsFloat<T>) return -x;
  else return scalar::subtract(T(0), x);
}
template <class T>
T sign(T x, const UnaryArgs&) {
  return x > T(0) ? T(1) : x < T(0) ? T(-1) : T(x + x);  // zeros and NaN stay, flushed denormals do not
}
template <class T>
T relu(T x, const UnaryArgs&) {
  return x < T(0) ? T(0) : x;
}
template <class T>
T clip(T x, const UnaryArgs& args) {
  if constexpr (scalar::kIsFloat<T>) {
    const T above = x < args.alpha ? args.alpha : x;
    return above > args.beta ? args.beta : above;
  } else {
    // The bounds have 64 bits; unsigned types take the high one as unsigned.
    if constexpr (scalar::kIsSigned<T>) {
      const int64_t above = int64_t(x) < args.low ? args.low : int64_t(x);
      return T(above > args.high ? args.high : above);
    } else {
      const uint64_t low = args.low < 0 ? 0 : uint64_t(args.low);
      const uint64_t above = uint64_t(x) < low ? low : uint64_t(x);
      return T(above > uint64_t(args.high) ? uint64_t(args.high) : above);
    }
  }
}
template <class T>
T inverted(T x, const UnaryArgs&) {
  return T(~x);
}
uint8_t logical_not(uint8_t x, const UnaryArgs&) { return x == 0; }
uint8_t is_nan(double x, const UnaryArgs&) { return x != x; }
uint8_t is_inf(double x, const UnaryArgs& args) {
  const double positive = args.detect_positive ? __builtin_inf() : __builtin_nan("");  // nothing equals NaN
  const double negative = args.detect_negative ? -__builtin_inf() : __builtin_nan("");
  return uint8_t(x == positive) | uint8_t(x == negative);
}

/// One C library function of double.
template <double (*F)(double)>
void library(const UnaryArgs& args, int64_t begin, int64_t end) noexcept {
  const double* x = static_cast<const double*>(args.x);
  double* y = static_cast<double*>(args.y);
  for (int64_t i = begin; i < end; ++i) y[i] = F(x[i]);
}
#define SVENGINE_LIBRARY(name) \
  double name##_f64(double x) { return __builtin_##name(x); }
SVENGINE_LIBRARY(floor)
SVENGINE_LIBRARY(ceil)
SVENGINE_LIBRARY(rint)
SVENGINE_LIBRARY(sqrt)
SVENGINE_LIBRARY(asin)
SVENGINE_LIBRARY(acos)
SVENGINE_LIBRARY(atan)
SVENGINE_LIBRARY(sinh)
SVENGINE_LIBRARY(cosh)
SVENGINE_LIBRARY(asinh)
SVENGINE_LIBRARY(acosh)
SVENGINE_LIBRARY(atanh)
#undef SVENGINE_LIBRARY
double reciprocal_f64(double x) { return 1 / x; }

UnaryFunction find_library(UnaryOp op) {
  switch (op) {
    case UnaryOp::kFloor: return library<floor_f64>;
    case UnaryOp::kCeil: return library<ceil_f64>;
    case UnaryOp::kRound: return library<rint_f64>;
    case UnaryOp::kSqrt: return library<sqrt_f64>;
    case UnaryOp::kReciprocal: return library<reciprocal_f64>;
    case UnaryOp::kAsin: return library<asin_f64>;
    case UnaryOp::kAcos: return library<acos_f64>;
    case UnaryOp::kAtan: return library<atan_f64>;
    case UnaryOp::kSinh: return library<sinh_f64>;
    case UnaryOp::kCosh: return library<cosh_f64>;
    case UnaryOp::kAsinh: return library<asinh_f64>;
    case UnaryOp::kAcosh: return library<acosh_f64>;
    case UnaryOp::kAtanh: return library<atanh_f64>;
    default: return nullptr;
  }
}

template <class T, auto F, class Out = T>
[[gnu::flatten]] void loop(const UnaryArgs& args, int64_t begin, int64_t end) noexcept {
  const UnaryArgs local = args;
  const T* x = static_cast<const T*>(args.x);
  Out* y = static_cast<Out*>(args.y);
#pragma GCC ivdep  // y is x or overlaps nothing
  for (int64_t i = begin; i < end; ++i) y[i] = F(x[i], local);
}

template <class T>
void copy(const UnaryArgs& args, int64_t begin, int64_t end) noexcept {
  if (args.x != args.y)
    __builtin_memcpy(static_cast<T*>(args.y) + begin, static_cast<const T*>(args.x) + begin, size_t(end - begin) * sizeof(T));
}

template <class T>
UnaryFunction find_number(UnaryOp op) {
  switch (op) {
    case UnaryOp::kIdentity: return copy<T>;
    case UnaryOp::kAbs: return loop<T, magnitude<T>>;
    case UnaryOp::kNeg: return loop<T, negated<T>>;
    case UnaryOp::kSign: return loop<T, sign<T>>;
    case UnaryOp::kRelu: return loop<T, relu<T>>;
    case UnaryOp::kClip: return loop<T, clip<T>>;
    default: break;
  }
  if constexpr (scalar::kIsFloat<T>) return nullptr;
  else return op == UnaryOp::kBitwiseNot ? loop<T, inverted<T>> : nullptr;
}

UnaryFunction find_f64(UnaryOp op) {
  if (op == UnaryOp::kIsNaN) return loop<double, is_nan, uint8_t>;
  if (op == UnaryOp::kIsInf) return loop<double, is_inf, uint8_t>;
  if (const UnaryFunction f = find_unary_f64(op)) return f;
  const UnaryFunction f = find_number<double>(op);
  return f ? f : find_library(op);
}

UnaryFunction find_bool(UnaryOp op) {
  if (op == UnaryOp::kIdentity) return copy<uint8_t>;
  return op == UnaryOp::kNot ? loop<uint8_t, logical_not> : nullptr;
}

}  // namespace

UnaryFunction find_unary_plain(UnaryOp op, DType type) noexcept {
  switch (type) {
    case DType::f32: return op == UnaryOp::kIdentity ? copy<float> : nullptr;
    case DType::f16:
    case DType::bf16: return op == UnaryOp::kIdentity ? copy<uint16_t> : nullptr;
    case DType::f64: return find_f64(op);
    case DType::boolean: return find_bool(op);
    case DType::i8: return find_number<int8_t>(op);
    case DType::u8: return find_number<uint8_t>(op);
    case DType::i16: return find_number<int16_t>(op);
    case DType::u16: return find_number<uint16_t>(op);
    case DType::i32: return find_number<int32_t>(op);
    case DType::u32: return find_number<uint32_t>(op);
    case DType::i64: return find_number<int64_t>(op);
    case DType::u64: return find_number<uint64_t>(op);
    default: return nullptr;
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise
