#include "engine/kernels/reference/elementwise.h"

#include <cmath>

#include "engine/kernels/reference/formulas.h"

namespace svengine::kernels {

namespace {

double round_half_to_even(double x) {
  const double below = std::floor(x), rest = x - below;
  if (rest == 0.5) return std::copysign(std::fmod(below, 2) == 0 ? below : below + 1, x);  // -0.5 gives -0
  return rest < 0.5 ? below : rest > 0.5 ? std::copysign(below + 1, x) : x;                // the last for infinity and NaN
}

double activation(UnaryOp op, double x, [[maybe_unused]] double alpha, [[maybe_unused]] double beta) {
  switch (op) {
#define SVENGINE_ACTIVATION(Name, name, from, steepest, accuracy, forward, slope) \
  case UnaryOp::k##Name: return forward;
#include "engine/kernels/activation.inc"
    default: return NAN;
  }
}

}  // namespace

double reference_unary(UnaryOp op, double x, double alpha, double beta) {
  switch (op) {
    case UnaryOp::kIdentity: return x;
    case UnaryOp::kAbs: return std::fabs(x);
    case UnaryOp::kNeg: return -x;
    case UnaryOp::kSign: return x > 0 ? 1 : x < 0 ? -1 : x;
    case UnaryOp::kFloor: return std::floor(x);
    case UnaryOp::kCeil: return std::ceil(x);
    case UnaryOp::kRound: return round_half_to_even(x);
    case UnaryOp::kSqrt: return std::sqrt(x);
    case UnaryOp::kReciprocal: return 1 / x;
    case UnaryOp::kExp: return std::exp(x);
    case UnaryOp::kLog: return std::log(x);
    case UnaryOp::kSin: return std::sin(x);
    case UnaryOp::kCos: return std::cos(x);
    case UnaryOp::kTan: return std::tan(x);
    case UnaryOp::kAsin: return std::asin(x);
    case UnaryOp::kAcos: return std::acos(x);
    case UnaryOp::kAtan: return std::atan(x);
    case UnaryOp::kSinh: return std::sinh(x);
    case UnaryOp::kCosh: return std::cosh(x);
    case UnaryOp::kAsinh: return std::asinh(x);
    case UnaryOp::kAcosh: return std::acosh(x);
    case UnaryOp::kAtanh: return std::atanh(x);
    case UnaryOp::kIsNaN: return std::isnan(x);
    case UnaryOp::kIsInf: return std::isinf(x);
    case UnaryOp::kNot: return x == 0;
    default: return activation(op, x, alpha, beta);
  }
}

double reference_binary(BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::kAdd: return a + b;
    case BinaryOp::kSub: return a - b;
    case BinaryOp::kMul: return a * b;
    case BinaryOp::kDiv: return a / b;
    case BinaryOp::kPow: return std::pow(a, b);
    case BinaryOp::kMin: return at_most(a, b);
    case BinaryOp::kMax: return at_least(a, b);
    case BinaryOp::kMod: {
      const double r = std::fmod(a, b);
      return r != 0 && (r < 0) != (b < 0) ? r + b : r;
    }
    case BinaryOp::kFmod: return std::fmod(a, b);
    case BinaryOp::kPRelu: return a < 0 ? a * b : a;
    case BinaryOp::kEqual: return a == b;
    case BinaryOp::kGreater: return a > b;
    case BinaryOp::kLess: return a < b;
    case BinaryOp::kGreaterOrEqual: return a >= b;
    case BinaryOp::kLessOrEqual: return a <= b;
    default: return NAN;
  }
}

void reference_broadcast(const std::vector<int64_t>& output, const std::vector<std::vector<int64_t>>& operands,
                         const std::function<void(int64_t, const std::vector<int64_t>&)>& visit) {
  int64_t count = 1;
  for (const int64_t size : output) count *= size;
  std::vector<int64_t> offsets(operands.size());
  for (int64_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < operands.size(); ++k) {
      int64_t rest = i, stride = 1;
      offsets[k] = 0;
      for (size_t d = 0; d < operands[k].size(); ++d) {  // from the last dimension
        const int64_t size = operands[k][operands[k].size() - 1 - d], of_output = output[output.size() - 1 - d];
        if (size != 1) offsets[k] += rest % of_output * stride;
        stride *= size;
        rest /= of_output;
      }
    }
    visit(i, offsets);
  }
}

}  // namespace svengine::kernels
