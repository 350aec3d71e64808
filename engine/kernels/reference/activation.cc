#include "engine/kernels/reference/activation.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace svengine::kernels {

namespace {

// Comparisons are written so that NaN stays NaN.
double at_least(double x, double low) { return x < low ? low : x; }
double at_most(double x, double high) { return x > high ? high : x; }

/// The largest |slope| anywhere.
double steepest(const ActivationArgs& args) {
  switch (args.kind) {
    case Activation::kLeakyRelu:
      return std::max(1.0, std::fabs(double{args.alpha}));
    case Activation::kHardSigmoid:
      return std::fabs(double{args.alpha});
    case Activation::kHardSwish:
      return 1.5;  // at x = 3
    case Activation::kSigmoid:
      return 0.25;
    case Activation::kGelu:
    case Activation::kGeluTanh:
      return 1.13;  // at x = sqrt 2
    case Activation::kSilu:
      return 1.1;  // at x = 2.4
    case Activation::kNone:
    case Activation::kRelu:
    case Activation::kClip:
    case Activation::kTanh:
      return 1;
  }
  return 0;
}

bool only_selects(Activation kind) {
  return kind == Activation::kNone || kind == Activation::kRelu || kind == Activation::kClip;
}

}  // namespace

double reference_activation(double x, const ActivationArgs& args) {
  const double alpha = args.alpha;
  const double beta = args.beta;
  switch (args.kind) {
    case Activation::kNone:
      return x;
    case Activation::kRelu:
      return at_least(x, 0);
    case Activation::kClip:
      return at_most(at_least(x, alpha), beta);
    case Activation::kLeakyRelu:
      return x < 0 ? alpha * x : x;
    case Activation::kHardSigmoid:
      return at_most(at_least(alpha * x + beta, 0), 1);
    case Activation::kHardSwish:
      return x * at_most(at_least(x / 6 + 0.5, 0), 1);
    case Activation::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kGelu:
      return x / 2 * (1 + std::erf(x / std::numbers::sqrt2));
    case Activation::kGeluTanh:
      return x / 2 * (1 + std::tanh(std::sqrt(2 * std::numbers::inv_pi) * (x + 0.044715 * x * x * x)));
    case Activation::kSilu:
      return x * (1 / (1 + std::exp(-x)));
  }
  return x;
}

double activation_error_bound(double x, double result, double argument_error, const ActivationArgs& args) {
  const double carried = argument_error * steepest(args);
  if (only_selects(args.kind)) return carried;
  return carried + 8 * 0x1p-24 * std::max({1.0, std::fabs(x), std::fabs(result)});
}

}  // namespace svengine::kernels
