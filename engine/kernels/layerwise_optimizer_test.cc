// LARS and LAMB at lengths around vectors and tasks, in place and beside, against the formulas in double.
#include "engine/kernels/layerwise_optimizer.h"

#include "engine/kernels/gradient_test_util.h"
#include "tests/support/tested_kernels.h"

namespace layerwise_optimizer_test {
using namespace svengine::kernels;
using namespace svengine::kernels::gradient_test;
using svengine::tests::run_tasks;
using svengine::tests::same_values;

namespace {

double norm(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v * v;
  return std::sqrt(sum);
}

struct Want {
  std::vector<double> x, v, h;
};

Want reference(const LayerwiseArgs& a) {
  Want out;
  std::vector<double> weights, updates;
  for (int64_t i = 0; i < a.n; ++i) {
    const double x = a.x[i], g = a.g[i];
    weights.push_back(x);
    if (a.rule == LayerwiseRule::kLars) {
      updates.push_back(g);
      continue;
    }
    out.v.push_back(double(a.momentum) * a.v[i] + double(a.share) * g);
    out.h.push_back(double(a.h_momentum) * a.h[i] + double(a.h_share) * g * g);
    updates.push_back(a.v_scale * out.v.back() / (a.h_scale * std::sqrt(out.h.back()) + a.epsilon) + double(a.decay) * x);
  }
  const bool lars = a.rule == LayerwiseRule::kLars;
  const double size = norm(weights), divisor = norm(updates) + (lars ? a.decay * size : 0);
  const double ratio = a.adapt && size > 0 && divisor > 0 ? a.trust * size / divisor : 1;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (lars) out.v.push_back(double(a.momentum) * a.v[i] + a.rate * ratio * (updates[i] + double(a.decay) * weights[i]));
    out.x.push_back(weights[i] - (lars ? out.v[i] : a.rate * ratio * updates[i]));
  }
  return out;
}

ReferenceGradient with_error(const std::vector<double>& values) {
  ReferenceGradient out{values, {}};
  for (const double v : values) out.error.push_back(16 * 0x1p-24 * (4 + std::fabs(v)));
  return out;
}

/// `zeros`: weights, or gradients, that are all 0.
void check(const KernelTable& set, LayerwiseArgs args, int64_t n, const char* zeros = "") {
  const auto size = static_cast<size_t>(n);
  const bool lamb = args.rule == LayerwiseRule::kLamb;
  Buffer x = random_buffer(n, 1), g = random_buffer(n, 2), v = random_buffer(n, 3), h = random_buffer(n, 4, 0, 3), x_new(size),
         v_new(size), h_new(size), partials(static_cast<size_t>(layerwise_partials(n)));
  if (*zeros) std::fill_n(std::string(zeros) == "weights" ? x.data() : g.data(), n, 0.0f);
  args.n = n, args.x = x.data(), args.g = g.data(), args.v = v.data(), args.h = lamb ? h.data() : nullptr;
  args.x_new = x_new.data(), args.v_new = v_new.data(), args.h_new = lamb ? h_new.data() : nullptr;
  args.partials = partials.data();
  const Want want = reference(args);
  const auto step = [&](int64_t parts) {
    run_tasks(set.gradient->layerwise_norms, args, parts);
    run_tasks(set.gradient->layerwise_step, args, parts);
  };
  step(3);
  const std::string what = std::string(set.name) + (lamb ? " LAMB" : " LARS") + " length " + std::to_string(n) + " " + zeros;
  require_close(x_new, with_error(want.x), what + " x");
  require_close(v_new, with_error(want.v), what + " v");
  if (lamb) require_close(h_new, with_error(want.h), what + " h");
  REQUIRE(partials.intact());
  args.x_new = x.data(), args.v_new = v.data(), args.h_new = lamb ? h.data() : nullptr;
  step(1);
  REQUIRE(same_values(x.data(), x_new.data(), size));
  REQUIRE(same_values(v.data(), v_new.data(), size));
  if (lamb) REQUIRE(same_values(h.data(), h_new.data(), size));
}

}  // namespace

TEST_CASE("layer-wise optimiser steps", "[gradient]") {
  LayerwiseArgs lars{.rate = 0.5f, .decay = 0.01f, .trust = 0.02f, .momentum = 0.9f}, lamb;
  lamb = {.rule = LayerwiseRule::kLamb, .rate = 0.1f, .decay = 0.01f, .momentum = 0.9f, .share = 0.1f, .v_scale = 1.25f};
  lamb.h_momentum = 0.99f, lamb.h_share = 0.01f, lamb.h_scale = 1.5f, lamb.epsilon = 0.1f;
  LayerwiseArgs plain[] = {lars, lamb};
  plain[0].adapt = plain[1].adapt = false;
  for (const KernelTable* set : tested_kernel_sets()) {
    for (const int64_t n : {1, 2, 7, 8, 15, 16, 17, 33, 64, 65, 16384, 16385, 40001})
      for (const LayerwiseArgs& args : {lars, lamb}) check(*set, args, n);
    for (const LayerwiseArgs& args : {lars, lamb, plain[0], plain[1]})
      for (const char* zeros : {"", "weights", "gradients"}) check(*set, args, 77, zeros);
  }
}
}  // namespace layerwise_optimizer_test
