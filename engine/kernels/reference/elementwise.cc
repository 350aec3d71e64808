#include "engine/kernels/reference/elementwise.h"

#include <cmath>
#include <numbers>

namespace svengine::kernels {

namespace {

// Comparisons are written so that NaN stays NaN.
double at_least(double x, double low) { return x < low ? low : x; }
double at_most(double x, double high) { return x > high ? high : x; }

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return at_least(x, 0) + std::log1p(std::exp(-std::fabs(x))); }

double round_half_to_even(double x) {
  const double below = std::floor(x), rest = x - below;
  if (rest == 0.5) return std::copysign(std::fmod(below, 2) == 0 ? below : below + 1, x);  // -0.5 gives -0
  return rest < 0.5 ? below : rest > 0.5 ? std::copysign(below + 1, x) : x;                // the last for infinity and NaN
}

double rectifier(UnaryOp op, double x, double alpha, double beta) {
  switch (op) {
    case UnaryOp::kClip: return at_most(at_least(x, alpha), beta);
    case UnaryOp::kRelu: return at_least(x, 0);
    case UnaryOp::kLeakyRelu: return x < 0 ? alpha * x : x;
    case UnaryOp::kThresholdedRelu: return x > alpha ? x : 0;
    case UnaryOp::kElu: return x > 0 ? x : alpha * std::expm1(x);
    case UnaryOp::kSelu: return x > 0 ? beta * x : beta * alpha * std::expm1(x);
    case UnaryOp::kCelu: return x > 0 ? x : alpha * std::expm1(x / alpha);
    case UnaryOp::kHardSigmoid: return at_most(at_least(alpha * x + beta, 0), 1);
    case UnaryOp::kHardSwish: return x * at_most(at_least(x / 6 + 0.5, 0), 1);
    case UnaryOp::kSoftsign: return x / (1 + std::fabs(x));
    // x/2 (1 + erf(x / sqrt 2)) without its cancellation; infinity times 0 is NaN in both
    case UnaryOp::kGelu: return x * (0.5 * std::erfc(-x / std::numbers::sqrt2));
    case UnaryOp::kGeluTanh: return x * sigmoid(2 * std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x));
    case UnaryOp::kSilu: return x * sigmoid(x);
    case UnaryOp::kMish: return x * std::tanh(softplus(x));
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
    case UnaryOp::kErf: return std::erf(x);
    case UnaryOp::kSin: return std::sin(x);
    case UnaryOp::kCos: return std::cos(x);
    case UnaryOp::kTan: return std::tan(x);
    case UnaryOp::kAsin: return std::asin(x);
    case UnaryOp::kAcos: return std::acos(x);
    case UnaryOp::kAtan: return std::atan(x);
    case UnaryOp::kSinh: return std::sinh(x);
    case UnaryOp::kCosh: return std::cosh(x);
    case UnaryOp::kTanh: return std::tanh(x);
    case UnaryOp::kAsinh: return std::asinh(x);
    case UnaryOp::kAcosh: return std::acosh(x);
    case UnaryOp::kAtanh: return std::atanh(x);
    case UnaryOp::kSigmoid: return sigmoid(x);
    case UnaryOp::kSoftplus: return softplus(x);
    case UnaryOp::kIsNaN: return std::isnan(x);
    case UnaryOp::kIsInf: return std::isinf(x);
    case UnaryOp::kNot: return x == 0;
    default: return rectifier(op, x, alpha, beta);
  }
}

double reference_binary(BinaryOp op, double a, double b) {
  const bool unordered = std::isnan(a) || std::isnan(b);
  switch (op) {
    case BinaryOp::kAdd: return a + b;
    case BinaryOp::kSub: return a - b;
    case BinaryOp::kMul: return a * b;
    case BinaryOp::kDiv: return a / b;
    case BinaryOp::kPow: return std::pow(a, b);
    case BinaryOp::kMin: return unordered ? NAN : std::fmin(a, b);
    case BinaryOp::kMax: return unordered ? NAN : std::fmax(a, b);
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
