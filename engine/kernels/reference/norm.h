// Normalisations in double precision: the oracle of the norm kernels.
#pragma once
#include <cstdint>
#include <vector>

#include "engine/kernels/norm.h"

namespace svengine::kernels {

struct ReferenceMoments {
  double mean, variance;  // biased variance
};

ReferenceMoments reference_moments(const std::vector<double>& values);

/// (t - mean) / sqrt(var + epsilon) * scale + bias; empty scale or bias are 1 and 0.
std::vector<double> reference_layer_norm(const std::vector<double>& t, const std::vector<double>& scale,
                                         const std::vector<double>& bias, double epsilon);

/// t / sqrt(mean(t^2) + epsilon) * scale + bias.
std::vector<double> reference_rms_norm(const std::vector<double>& t, const std::vector<double>& scale,
                                       const std::vector<double>& bias, double epsilon);

/// What the kernel of the same name computes from args.x, [batch, channels, spatial] in plain layout.
std::vector<double> reference_group_norm(const GroupNormArgs& args);
std::vector<double> reference_local_response(const LocalResponseArgs& args);

}  // namespace svengine::kernels
