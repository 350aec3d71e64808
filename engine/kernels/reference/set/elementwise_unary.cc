// Functions of one operand: those of floats by the oracle's formulas, those of integers exactly.
#include <cmath>
#include <type_traits>

#include "engine/kernels/reference/elementwise.h"
#include "engine/kernels/reference/set/elementwise.h"
#include "engine/kernels/reference/set/tasks.h"
#include "engine/kernels/reference/set/types.h"

namespace svengine::kernels::reference {
namespace {

bool of_all_numbers(UnaryOp op) {
  return op == UnaryOp::kIdentity || op == UnaryOp::kAbs || op == UnaryOp::kNeg || op == UnaryOp::kSign || op == UnaryOp::kClip ||
         op == UnaryOp::kRelu;
}
bool gives_bool(UnaryOp op) { return op == UnaryOp::kIsNaN || op == UnaryOp::kIsInf; }

uint8_t detected(const UnaryArgs& args, double x) {
  if (args.op == UnaryOp::kIsNaN) return std::isnan(x);
  return std::isinf(x) && (x > 0 ? args.detect_positive : args.detect_negative);
}

template <class T>
void of_floats(const UnaryArgs& args, int64_t begin, int64_t end) {
  const T* x = static_cast<const T*>(args.x);
  const double alpha = static_cast<T>(args.alpha), beta = static_cast<T>(args.beta);
  for (int64_t i = begin; i < end; ++i) {
    if (gives_bool(args.op))
      static_cast<uint8_t*>(args.y)[i] = detected(args, double{x[i]});
    else
      static_cast<T*>(args.y)[i] = static_cast<T>(reference_unary(args.op, double{x[i]}, alpha, beta));
  }
}

/// min(max(x, low), high), where unsigned types take `high` as unsigned.
template <class T>
T clipped(T x, int64_t low, int64_t high) {
  using Wide = __int128;
  const Wide most = std::is_signed_v<T> ? Wide{high} : Wide{static_cast<uint64_t>(high)};
  return static_cast<T>(std::min(std::max(Wide{x}, Wide{low}), most));
}

template <class T>
T of_integer(const UnaryArgs& args, T x) {
  const T negative = static_cast<T>(0 - static_cast<uint64_t>(x));
  switch (args.op) {
    case UnaryOp::kAbs:
      return x < T(0) ? negative : x;
    case UnaryOp::kNeg:
      return negative;
    case UnaryOp::kSign:
      return x > T(0) ? T(1) : x < T(0) ? T(-1) : T(0);
    case UnaryOp::kClip:
      return clipped(x, args.low, args.high);
    case UnaryOp::kRelu:
      return std::max(x, T(0));
    case UnaryOp::kBitwiseNot:
      return static_cast<T>(~x);
    default:
      return x;
  }
}

}  // namespace

int64_t unary_items(const UnaryArgs& args) { return args.n; }

void unary_range(const UnaryArgs& args, int64_t begin, int64_t end, void*) {
  visit_type(args.type, [&]<class T>(T) {
    if constexpr (std::is_floating_point_v<T>) {
      of_floats<T>(args, begin, end);
    } else {
      const T* x = static_cast<const T*>(args.x);
      T* y = static_cast<T*>(args.y);
      for (int64_t i = begin; i < end; ++i) {
        if constexpr (std::is_integral_v<T>)
          y[i] = of_integer(args, x[i]);
        else if constexpr (std::is_same_v<T, Bool>)
          y[i] = args.op == UnaryOp::kNot ? Bool{x[i].value == 0} : x[i];
        else
          y[i] = x[i];
      }
    }
  });
}

bool has_unary(UnaryOp op, DType type) noexcept {
  switch (type) {
    case DType::f32:
    case DType::f64:
      return op != UnaryOp::kNot && op != UnaryOp::kBitwiseNot;
    case DType::boolean:
      return op == UnaryOp::kIdentity || op == UnaryOp::kNot;
    case DType::f16:
    case DType::bf16:
      return op == UnaryOp::kIdentity;
    default:
      return of_all_numbers(op) || op == UnaryOp::kBitwiseNot;
  }
}

}  // namespace svengine::kernels::reference
