#include "engine/kernels/reference/activation.h"

#include "engine/kernels/reference/formulas.h"

namespace svengine::kernels {

namespace {

/// The largest |slope| anywhere.
double steepest(const ActivationArgs& args) {
  [[maybe_unused]] const double alpha = args.alpha, beta = args.beta;
  switch (args.kind) {
    case Activation::kNone: return 1;
#define SVENGINE_FUSED_ACTIVATION(Name, name, from, steepest, ...) \
  case Activation::k##Name: return steepest;
#include "engine/kernels/activation.inc"
  }
  return 0;
}

/// Its result is a bound or its argument: what is accurate to 0 units.
bool only_selects(Activation kind) {
  constexpr auto kFirst = [](double ulp, auto...) { return ulp == 0; };
  switch (kind) {
    case Activation::kNone: return true;
#define SVENGINE_FUSED_ACTIVATION(Name, name, from, steepest, accuracy, ...) \
  case Activation::k##Name: return kFirst accuracy;
#include "engine/kernels/activation.inc"
  }
  return false;
}

}  // namespace

double reference_activation(double x, const ActivationArgs& args) {
  [[maybe_unused]] const double alpha = args.alpha, beta = args.beta;
  switch (args.kind) {
    case Activation::kNone: return x;
#define SVENGINE_FUSED_ACTIVATION(Name, name, from, steepest, accuracy, forward, slope) \
  case Activation::k##Name: return forward;
#include "engine/kernels/activation.inc"
  }
  return x;
}

double activation_error_bound(double x, double result, double argument_error, const ActivationArgs& args, double unit) {
  const double carried = argument_error * steepest(args);
  if (only_selects(args.kind)) return carried;
  return carried + 8 * unit * std::max({1.0, std::fabs(x), std::fabs(result)});
}

}  // namespace svengine::kernels
