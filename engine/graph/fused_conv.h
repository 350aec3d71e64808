// Inputs of svengine.FusedConv behind X, W and B, for the passes that make it and the operator.
#pragma once
#include <cstddef>

namespace svengine {

inline constexpr size_t kConvResidual = 3;

/// One float64 factor per output channel, for constant weights: a folded batch normalisation. The product exists in packed layout only, so
/// that a network's weights are in memory once.
inline constexpr size_t kConvWeightScale = 4;

}  // namespace svengine
