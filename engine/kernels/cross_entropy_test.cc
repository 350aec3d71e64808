// Cross entropy and its gradient: class counts of every tail length, positions side by side, weights, smoothing, ignored labels.
#include "engine/kernels/cross_entropy.h"

#include "engine/kernels/gradient_test_util.h"
#include "tests/support/tested_kernels.h"

namespace cross_entropy_test {
using namespace svengine::kernels;
using namespace svengine::kernels::gradient_test;
using svengine::tests::run_tasks;

namespace {

struct Problem {
  int64_t batch, classes, inner;
  bool weighted, ignoring;
  float smoothing;
};

struct Data {
  Buffer log_p, weights, k;
  std::vector<int64_t> labels;
  CrossEntropyArgs args;

  explicit Data(const Problem& p)
      : log_p(random_buffer(p.batch * p.classes * p.inner, 1, -9, 0)),
        weights(random_buffer(p.classes, 2, 0.5f, 2)),
        k(random_buffer(p.batch * p.inner, 3)) {
    std::mt19937 random(4);
    for (int64_t i = 0; i < p.batch * p.inner; ++i)
      labels.push_back(p.ignoring && random() % 4 == 0 ? -100 : static_cast<int64_t>(random() % p.classes));
    args = {.log_p = log_p.data(), .labels = labels.data(), .class_weights = p.weighted ? weights.data() : nullptr};
    args.batch = p.batch, args.classes = p.classes, args.inner = p.inner;
    args.has_ignore = p.ignoring, args.ignore = -100, args.smoothing = p.smoothing;
  }
  bool ignored(int64_t position) const { return args.has_ignore && labels[static_cast<size_t>(position)] == args.ignore; }
  double weight(int64_t c) const { return args.class_weights ? args.class_weights[c] : 1; }
  double target(int64_t position, int64_t c) const {
    const bool hit = labels[static_cast<size_t>(position)] == c;
    return weight(c) * ((hit ? 1 - double(args.smoothing) : 0) + double(args.smoothing) / static_cast<double>(args.classes));
  }
  int64_t at(int64_t position, int64_t c) const {
    return (position / args.inner * args.classes + c) * args.inner + position % args.inner;
  }
};

void check_forward(const KernelTable& set, Data& d, const std::string& what) {
  const size_t positions = d.labels.size();
  Buffer loss(positions), weight(positions);
  d.args.loss = loss.data(), d.args.weight = weight.data();
  run_tasks(set.gradient->cross_entropy, d.args);
  ReferenceGradient want;
  for (int64_t i = 0; i < static_cast<int64_t>(positions); ++i) {
    double sum = 0, magnitude = 0;
    for (int64_t c = 0; c < d.args.classes && !d.ignored(i); ++c) {
      const double part = -d.target(i, c) * d.args.log_p[d.at(i, c)];
      sum += part, magnitude += std::fabs(part);
    }
    want.value.push_back(sum);
    want.error.push_back(16 * 0x1p-24 * magnitude);
    REQUIRE(weight[static_cast<size_t>(i)] ==
            (d.ignored(i) ? 0.0f : static_cast<float>(d.weight(d.labels[static_cast<size_t>(i)]))));
  }
  require_close(loss, want, what + " loss");
  REQUIRE(weight.intact());
}

void check_backward(const KernelTable& set, const Data& d, bool each, bool of_scores, const std::string& what) {
  Buffer dx(d.log_p.size());
  const CrossEntropyGradArgs args{d.args, d.k.data(), each, of_scores, dx.data()};
  run_tasks(set.gradient->cross_entropy_grad, args, 2);
  ReferenceGradient want{std::vector<double>(dx.size()), std::vector<double>(dx.size())};
  for (int64_t i = 0; i < static_cast<int64_t>(d.labels.size()); ++i) {
    if (d.ignored(i)) continue;
    const double k = d.k[each ? static_cast<size_t>(i) : 0];
    double total = 0;
    for (int64_t c = 0; c < d.args.classes; ++c) total += d.target(i, c);
    for (int64_t c = 0; c < d.args.classes; ++c) {
      const auto at = static_cast<size_t>(d.at(i, c));
      const double p = of_scores ? std::exp(double(d.args.log_p[at])) * total : 0;
      want.value[at] = k * (p - d.target(i, c));
      want.error[at] = 16 * 0x1p-24 * std::fabs(k) * (p + d.target(i, c));
    }
  }
  require_close(dx, want, what + " gradient");
}

}  // namespace

TEST_CASE("cross entropy and its gradient", "[gradient]") {
  std::vector<Problem> problems = {{3, 5, 7, true, true, 0.1f}, {2, 10, 50, true, false, 0},  {4, 3, 1, false, true, 0},
                                   {1, 2, 33, false, true, 0.3f}, {2, 3000, 1, true, true, 0.1f}, {5, 1, 1, false, false, 0}};
  for (int64_t classes = 1; classes <= 65; ++classes)
    problems.push_back({3, classes, 1, classes % 2 == 0, classes % 3 == 0, classes % 5 == 0 ? 0.1f : 0});
  for (const KernelTable* set : tested_kernel_sets())
    for (const Problem& p : problems) {
      Data d(p);
      const std::string what =
          std::string(set->name) + " classes " + std::to_string(p.classes) + " inner " + std::to_string(p.inner);
      check_forward(*set, d, what);
      for (const bool each : {false, true})
        for (const bool of_scores : {false, true}) check_backward(*set, d, each, of_scores, what);
    }
}

TEST_CASE("log-probabilities of any size have a gradient", "[gradient]") {
  for (const KernelTable* set : tested_kernel_sets()) {
    const float log_p[] = {500, -500}, k = 2;
    const int64_t label = 1;
    float dx[2];
    CrossEntropyArgs forward{.log_p = log_p, .labels = &label};
    forward.batch = 1, forward.classes = 2;
    run_tasks(set->gradient->cross_entropy_grad, {forward, &k, false, false, dx}, 1);
    CHECK((dx[0] == 0 && dx[1] == -2));
  }
}
}  // namespace cross_entropy_test
