// Optimiser steps at every length, in place and beside, against the formulas in double.
#include "engine/kernels/optimizer.h"

#include "engine/kernels/gradient_test_util.h"
#include "tests/support/tested_kernels.h"

namespace optimizer_test {
using namespace svengine::kernels;
using namespace svengine::kernels::gradient_test;
using svengine::tests::run_tasks;
using svengine::tests::same_values;

namespace {

struct DType {
  double x, v, h;
};

DType reference(const OptimizerArgs& a, double x, double g, double v, double h) {
  const double d = g + double(a.decay) * x;
  if (a.rule == OptimizerRule::kAdagrad) return {x - a.rate * d / (std::sqrt(h + d * d) + a.epsilon), v, h + d * d};
  if (a.rule == OptimizerRule::kAdam) {
    const double first = double(a.momentum) * v + double(a.share) * d,
                 second = double(a.h_momentum) * h + double(a.h_share) * d * d;
    return {a.after * (a.before * x - a.rate * first / (a.h_scale * std::sqrt(second) + a.epsilon)), first, second};
  }
  if (!a.v) return {x - a.rate * d, v, h};
  const double next = double(a.momentum) * v + double(a.share) * d;
  return {x - a.rate * (a.nesterov ? d + a.momentum * next : next), next, h};
}

void check(const KernelTable& set, OptimizerArgs args, int64_t n, bool with_v) {
  const bool has_h = args.rule != OptimizerRule::kSgd,
             has_v = args.rule == OptimizerRule::kAdam || (args.rule == OptimizerRule::kSgd && with_v);
  const auto size = static_cast<size_t>(n);
  Buffer x = random_buffer(n, 1), g = random_buffer(n, 2), v = random_buffer(n, 3), h = random_buffer(n, 4, 0, 3), x_new(size),
         v_new(size), h_new(size);
  args.n = n, args.x = x.data(), args.g = g.data(), args.v = has_v ? v.data() : nullptr, args.h = has_h ? h.data() : nullptr;
  args.x_new = x_new.data(), args.v_new = v_new.data(), args.h_new = h_new.data();
  run_tasks(set.gradient->optimizer, args);
  ReferenceGradient want_x, want_v, want_h;
  for (size_t i = 0; i < size; ++i) {
    const DType e = reference(args, x[i], g[i], v[i], h[i]);
    for (auto [want, value] : {std::pair{&want_x, e.x}, {&want_v, e.v}, {&want_h, e.h}}) {
      want->value.push_back(value);
      want->error.push_back(8 * 0x1p-24 * (4 + std::fabs(value)));
    }
  }
  const std::string what =
      std::string(set.name) + " rule " + std::to_string(static_cast<int>(args.rule)) + " length " + std::to_string(n);
  require_close(x_new, want_x, what + " x");
  if (has_v) require_close(v_new, want_v, what + " v");
  if (has_h) require_close(h_new, want_h, what + " h");
  args.x_new = x.data(), args.v_new = v.data(), args.h_new = h.data();
  run_tasks(set.gradient->optimizer, args);
  REQUIRE(same_values(x.data(), x_new.data(), size));
  if (has_v) REQUIRE(same_values(v.data(), v_new.data(), size));
}

}  // namespace

TEST_CASE("optimiser steps", "[gradient]") {
  OptimizerArgs sgd{.rate = 0.1f, .decay = 0.01f, .momentum = 0.9f, .share = 0.75f}, nesterov = sgd, adam = sgd, adagrad = sgd;
  nesterov.nesterov = true;
  adam.rule = OptimizerRule::kAdam;
  adam.h_momentum = 0.99f, adam.h_share = 0.01f, adam.h_scale = 1.5f, adam.epsilon = 0.1f, adam.before = 0.95f, adam.after = 0.5f;
  adagrad.rule = OptimizerRule::kAdagrad, adagrad.epsilon = 0.1f;
  for (const KernelTable* set : tested_kernel_sets())
    for (const int64_t n : {1, 2, 7, 8, 15, 16, 17, 33, 64, 65, 40001}) {
      for (const OptimizerArgs& args : {sgd, nesterov, adam, adagrad}) check(*set, args, n, true);
      check(*set, sgd, n, false);
    }
}
}  // namespace optimizer_test
