// The gradient family's row, and the backward passes of activations, Gather and softmax.
#include "engine/kernels/reference/set/gradient.h"

#include <cmath>

#include "engine/kernels/elementwise.h"
#include "engine/kernels/reference/gradient.h"
#include "engine/kernels/reference/set/tasks.h"
#include "engine/kernels/reference/set/types.h"

namespace svengine::kernels::reference {
namespace {

int64_t activation_items(const ActivationGradArgs& args) { return args.n; }

void activation_range(const ActivationGradArgs& args, int64_t begin, int64_t end, void*) {
  for (int64_t i = begin; i < end; ++i)
    args.dx[i] = static_cast<float>(reference_gradient(args.of, double{args.dy[i]}, double{args.v[i]}, args.alpha, args.beta));
}

/// Rows of dx.
int64_t gather_items(const GatherGradArgs& args) { return args.outer * args.extent; }
int64_t gather_scratch_bytes(const GatherGradArgs& args) noexcept { return args.inner * int64_t(sizeof(double)); }

void gather_range(const GatherGradArgs& args, int64_t begin, int64_t end, void* scratch) {
  double* sums = static_cast<double*>(scratch);
  for (int64_t item = begin; item < end; ++item) {
    const int64_t outer = item / args.extent, row = item % args.extent;
    std::fill(sums, sums + args.inner, 0.0);
    for (int64_t k = 0; k < args.count; ++k) {
      const int64_t index = integer_at(args.indices, args.index_bytes, k);
      if ((index < 0 ? index + args.extent : index) != row) continue;
      for (int64_t i = 0; i < args.inner; ++i) sums[i] += double{args.dy[(outer * args.count + k) * args.inner + i]};
    }
    for (int64_t i = 0; i < args.inner; ++i) args.dx[item * args.inner + i] = static_cast<float>(sums[i]);
  }
}

int64_t softmax_items(const SoftmaxGradArgs& args) { return args.outer * args.inner; }

void softmax_range(const SoftmaxGradArgs& args, int64_t begin, int64_t end, void*) {
  for (int64_t item = begin; item < end; ++item) {
    const int64_t first = item / args.inner * args.n * args.inner + item % args.inner;
    double sum = 0;
    for (int64_t j = 0; j < args.n; ++j) {
      const int64_t at = first + j * args.inner;
      sum += args.log ? double{args.dy[at]} : double{args.dy[at]} * args.y[at];
    }
    for (int64_t j = 0; j < args.n; ++j) {
      const int64_t at = first + j * args.inner;
      const double y = args.y[at], dy = args.dy[at];
      args.dx[at] = static_cast<float>(args.log ? dy - std::exp(y) * sum : y * (dy - sum));
    }
  }
}

}  // namespace

extern const GradientKernels gradient_kernels;
constinit const GradientKernels gradient_kernels{
    .activation = by_items<ActivationGradArgs, activation_items, activation_range, kElementwiseTask>(),
    .gather = by_items<GatherGradArgs, gather_items, gather_range, 16>(gather_scratch_bytes),
    .unfold = by_items<UnfoldArgs, unfold_items, unfold_range, 1>(),
    .fold = by_items<FoldArgs, fold_items, fold_range, 1>(fold_scratch_bytes),
    .conv_weights = {weight_sums_bytes, by_items<ConvWeightGradArgs, weight_sum_items, weight_sum_range, 1>(),
                     by_items<ConvWeightGradArgs, weight_finish_items, weight_finish_range, 1>()},
    .pool = by_items<PoolGradArgs, pool_grad_items, pool_grad_range, 1>(pool_grad_scratch_bytes),
    .row_norm = {row_norm_grad_tasks, row_norm_grad_scratch_bytes, row_norm_grad_run},
    .channel_sums = by_items<ChannelGradSumsArgs, channel_sum_items, channel_sum_range, 1>(),
    .channel = by_items<ChannelGradArgs, channel_grad_items, channel_grad_range, 1>(),
    .softmax = by_items<SoftmaxGradArgs, softmax_items, softmax_range, 1>(),
    .cross_entropy = by_items<CrossEntropyArgs, cross_entropy_items, cross_entropy_range, 16>(),
    .cross_entropy_grad = by_items<CrossEntropyGradArgs, cross_entropy_grad_items, cross_entropy_grad_range, 16>(),
    .optimizer = by_items<OptimizerArgs, optimizer_items, optimizer_range, kElementwiseTask>(),
    .layerwise_norms = {layerwise_tasks, no_scratch<LayerwiseArgs>, layerwise_norms},
    .layerwise_step = {layerwise_tasks, no_scratch<LayerwiseArgs>, layerwise_step}};

}  // namespace svengine::kernels::reference
