// Activations in double precision: the oracle of every kernel that ends in one.
#pragma once
#include "engine/kernels/activation.h"

namespace svengine::kernels {

/// The formula of activation.h. NaN gives NaN.
double reference_activation(double x, const ActivationArgs& args);

/// How far float results of an activation may lie from reference_activation(exact argument) when the kernel's argument
/// lies within `argument_error` of the exact one: that error times the largest slope, and rounding of the activation
/// itself (8 units in the last place of the larger of 1, |x| and |result|, which covers 1 + erf and 1 + tanh close to
/// -1).
/// `unit` is half a unit in the last place of 1: by default floats'.
double activation_error_bound(double x, double result, double argument_error, const ActivationArgs& args, double unit = 0x1p-24);

}  // namespace svengine::kernels
