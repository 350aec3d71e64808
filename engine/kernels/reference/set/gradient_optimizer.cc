// Steps of optimisers, by the formulas of optimizer.h and layerwise_optimizer.h.
#include <cmath>

#include "engine/kernels/reference/set/gradient.h"
#include "engine/kernels/reference/set/tasks.h"

namespace svengine::kernels::reference {
namespace {

void step(const OptimizerArgs& args, int64_t i) {
  const double x = args.x[i], d = args.g[i] + double{args.decay} * x;
  switch (args.rule) {
    case OptimizerRule::kSgd: {
      double update = d;
      if (args.v) {
        const double v = double{args.momentum} * args.v[i] + args.share * d;
        args.v_new[i] = static_cast<float>(v);
        update = args.nesterov ? d + args.momentum * v : v;
      }
      args.x_new[i] = static_cast<float>(x - args.rate * update);
      return;
    }
    case OptimizerRule::kAdam: {
      const double v = double{args.momentum} * args.v[i] + args.share * d;
      const double h = double{args.h_momentum} * args.h[i] + args.h_share * d * d;
      args.v_new[i] = static_cast<float>(v);
      args.h_new[i] = static_cast<float>(h);
      args.x_new[i] =
          static_cast<float>(args.after * (args.before * x - args.rate * v / (args.h_scale * std::sqrt(h) + args.epsilon)));
      return;
    }
    case OptimizerRule::kAdagrad: {
      const double h = args.h[i] + d * d;
      args.h_new[i] = static_cast<float>(h);
      args.x_new[i] = static_cast<float>(x - args.rate * d / (std::sqrt(h) + args.epsilon));
      return;
    }
  }
}

double lamb_update(const LayerwiseArgs& args, double x, double v, double h) {
  return args.v_scale * v / (args.h_scale * std::sqrt(h) + args.epsilon) + args.decay * x;
}

/// r of layerwise_optimizer.h, from the partial sums of all tasks.
double trust_ratio(const LayerwiseArgs& args) {
  if (!args.adapt) return 1;
  double squares[2] = {0, 0};
  for (int64_t i = 0; i < layerwise_partials(args.n); ++i) squares[i % 2] += double{args.partials[i]};
  const double x = std::sqrt(squares[0]), other = std::sqrt(squares[1]);
  const double divisor = args.rule == LayerwiseRule::kLars ? other + args.decay * x : other;
  if (x == 0 || divisor == 0) return 1;
  return args.rule == LayerwiseRule::kLars ? args.trust * x / divisor : x / divisor;
}

}  // namespace

int64_t optimizer_items(const OptimizerArgs& args) { return args.n; }

void optimizer_range(const OptimizerArgs& args, int64_t begin, int64_t end, void*) {
  for (int64_t i = begin; i < end; ++i) step(args, i);
}

int64_t layerwise_tasks(const LayerwiseArgs& args) noexcept { return layerwise_partials(args.n) / 2; }

void layerwise_norms(const LayerwiseArgs& args, int64_t begin, int64_t end, void*) noexcept {
  for (int64_t task = begin; task < end; ++task) {
    double squares[2] = {0, 0};
    for (int64_t i = task * kElementwiseTask; i < std::min(args.n, (task + 1) * kElementwiseTask); ++i) {
      const double x = args.x[i];
      double other = args.g[i];
      if (args.rule == LayerwiseRule::kLamb) {
        const double g = args.g[i], v = double{args.momentum} * args.v[i] + args.share * g;
        const double h = double{args.h_momentum} * args.h[i] + args.h_share * g * g;
        args.v_new[i] = static_cast<float>(v);
        args.h_new[i] = static_cast<float>(h);
        other = lamb_update(args, x, v, h);
      }
      squares[0] += x * x;
      squares[1] += other * other;
    }
    args.partials[2 * task] = static_cast<float>(squares[0]);
    args.partials[2 * task + 1] = static_cast<float>(squares[1]);
  }
}

void layerwise_step(const LayerwiseArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const double ratio = trust_ratio(args);
  for (int64_t i = begin * kElementwiseTask; i < std::min(args.n, end * kElementwiseTask); ++i) {
    const double x = args.x[i];
    double update;
    if (args.rule == LayerwiseRule::kLars) {
      update = double{args.momentum} * args.v[i] + args.rate * ratio * (args.g[i] + double{args.decay} * x);
      args.v_new[i] = static_cast<float>(update);
    } else {
      update = args.rate * ratio * lamb_update(args, x, args.v_new[i], args.h_new[i]);
    }
    args.x_new[i] = static_cast<float>(x - update);
  }
}

}  // namespace svengine::kernels::reference
