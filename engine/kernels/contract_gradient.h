// The contracts of gradient.h's families as functions; contract.h says what they are for.
#pragma once
#include "engine/kernels/contract.h"
#include "engine/kernels/gradient.h"

namespace svengine::kernels {

const char* violation(const ActivationGradArgs& args) noexcept;
const char* violation(const GatherGradArgs& args) noexcept;
const char* violation(const UnfoldArgs& args) noexcept;
const char* violation(const FoldArgs& args) noexcept;
/// Of the kernel `sums`, which reads the images.
const char* violation(const ConvWeightGradArgs& args) noexcept;
/// Of the kernel `finish`, which has what `sums` left.
const char* finish_violation(const ConvWeightGradArgs& args) noexcept;
const char* violation(const PoolGradArgs& args) noexcept;
const char* violation(const RowNormGradArgs& args) noexcept;
const char* violation(const ChannelGradSumsArgs& args) noexcept;
const char* violation(const ChannelGradArgs& args) noexcept;
const char* violation(const SoftmaxGradArgs& args) noexcept;
const char* violation(const CrossEntropyArgs& args) noexcept;
const char* violation(const CrossEntropyGradArgs& args) noexcept;
const char* violation(const OptimizerArgs& args) noexcept;
const char* violation(const LayerwiseArgs& args) noexcept;
/// Of the kernel `layerwise_norms`, which writes no weights.
const char* norms_violation(const LayerwiseArgs& args) noexcept;

}  // namespace svengine::kernels
