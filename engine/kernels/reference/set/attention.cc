// Attention by its formula, one query at a time: scores, their softmax, the weighted sum of values. Nothing is packed.
#include "engine/kernels/attention.h"

#include <Eigen/Core>
#include <cmath>

#include "engine/kernels/reference/set/tasks.h"

namespace svengine::kernels::reference {
namespace {

/// A vector of floats whose neighbours are `step` apart.
using Strided = Eigen::Map<const Eigen::VectorXf, 0, Eigen::InnerStride<>>;
using Wide = Eigen::Map<Eigen::VectorXd>;

int64_t nothing(const AttentionArgs&) noexcept { return 0; }
void pack_nothing(const AttentionArgs&, int64_t, int64_t, void*) noexcept {}

int64_t queries(const AttentionArgs& args) { return args.value_size > 0 ? args.batch * args.heads * args.queries : 0; }
int64_t scratch_bytes(const AttentionArgs& args) noexcept { return (args.keys + args.value_size) * int64_t(sizeof(double)); }

/// NaN if there is one.
double maximum(const Wide& scores) {
  double most = scores[0];
  for (const double s : scores)
    if (std::isnan(s) || s > most) most = s;
  return most;
}

void attend(const AttentionArgs& args, int64_t b, int64_t h, int64_t i, Wide scores, Wide sums) {
  const auto head = [&](const float* x, const AttentionStride& s) { return x + b * s.batch + h * s.head; };
  const Strided q(head(args.q, args.q_stride) + i * args.q_stride.row, args.size, Eigen::InnerStride<>(1));
  const float *keys = head(args.k, args.k_stride), *values = head(args.v, args.v_stride);
  const float* mask = args.mask ? head(args.mask, args.mask_stride) + i * args.mask_stride.row : nullptr;
  const int64_t between_keys = args.k_transposed ? 1 : args.k_stride.row, along_key = args.k_transposed ? args.k_stride.row : 1;
  for (int64_t j = 0; j < args.keys; ++j) {
    const Strided k(keys + j * between_keys, args.size, Eigen::InnerStride<>(along_key));
    scores[j] = args.scale * q.cast<double>().dot(k.cast<double>()) + (mask ? double{mask[j]} : 0);
  }
  sums.setZero();
  if (args.keys > 0) {
    const double most = maximum(scores);
    for (double& s : scores) s = std::exp(s - most);
    const double total = scores.sum();
    for (int64_t j = 0; j < args.keys; ++j)
      sums +=
          scores[j] / total * Strided(values + j * args.v_stride.row, args.value_size, Eigen::InnerStride<>(1)).cast<double>();
  }
  float* y = args.y + b * args.y_stride.batch + h * args.y_stride.head + i * args.y_stride.row;
  for (int64_t d = 0; d < args.value_size; ++d) y[d] = static_cast<float>(sums[d]);
}

void attend_range(const AttentionArgs& args, int64_t begin, int64_t end, void* scratch) {
  double* numbers = static_cast<double*>(scratch);
  for (int64_t item = begin; item < end; ++item) {
    const int64_t head = item / args.queries;
    attend(args, head / args.heads, head % args.heads, item % args.queries, Wide(numbers, args.keys),
           Wide(numbers + args.keys, args.value_size));
  }
}

}  // namespace

extern const AttentionKernels attention_kernels;
constinit const AttentionKernels attention_kernels{
    1, nothing, nothing, {nothing, nothing, pack_nothing}, by_items<AttentionArgs, queries, attend_range, 1>(scratch_bytes)};

}  // namespace svengine::kernels::reference
