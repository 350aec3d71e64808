// The kernels of training: backward passes, losses, optimiser steps, one contract header a family.
#pragma once
#include "engine/kernels/activation_grad.h"
#include "engine/kernels/conv_grad.h"
#include "engine/kernels/cross_entropy.h"
#include "engine/kernels/gather_grad.h"
#include "engine/kernels/layerwise_optimizer.h"
#include "engine/kernels/norm_grad.h"
#include "engine/kernels/optimizer.h"
#include "engine/kernels/softmax_grad.h"
#include "engine/kernels/window_grad.h"

namespace svengine::kernels {

struct GradientKernels {
  TaskKernel<ActivationGradArgs> activation;
  TaskKernel<GatherGradArgs> gather;
  TaskKernel<UnfoldArgs> unfold;
  TaskKernel<FoldArgs> fold;
  ConvWeightGradKernels conv_weights;
  TaskKernel<PoolGradArgs> pool;
  TaskKernel<RowNormGradArgs> row_norm;
  TaskKernel<ChannelGradSumsArgs> channel_sums;
  TaskKernel<ChannelGradArgs> channel;
  TaskKernel<SoftmaxGradArgs> softmax;
  TaskKernel<CrossEntropyArgs> cross_entropy;
  TaskKernel<CrossEntropyGradArgs> cross_entropy_grad;
  TaskKernel<OptimizerArgs> optimizer;
  TaskKernel<LayerwiseArgs> layerwise_norms, layerwise_step;
};

}  // namespace svengine::kernels
