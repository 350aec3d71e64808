// Backward kernels of activations, gathers and softmax: every length and awkward shapes, at guard pages, against the reference.
#include "engine/kernels/gradient.h"

#include <limits>

#include "engine/kernels/gradient_test_util.h"
#include "tests/support/tested_kernels.h"

namespace gradient_test {
using namespace svengine::kernels;
using namespace svengine::kernels::gradient_test;
using svengine::tests::run_tasks;
using svengine::tests::same_values;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

bool from_result(GradientOf of) { return kSlopeFrom[static_cast<int>(of)] == SlopeFrom::kResult; }

void check_activation(const KernelTable& set, GradientOf of, int64_t n, float range) {
  Buffer dy = random_buffer(n, 1), v = from_result(of) ? random_buffer(n, 2, -1, 1) : random_buffer(n, 2, -range, range),
         dx(static_cast<size_t>(n));
  ActivationGradArgs args{of, dy.data(), v.data(), dx.data(), n, 0.25f, 0.75f};
  run_tasks(set.gradient->activation, args);
  ReferenceGradient want;
  for (int64_t i = 0; i < n; ++i) {
    want.value.push_back(dy[static_cast<size_t>(i)] * reference_slope(of, v[static_cast<size_t>(i)], 0.25, 0.75));
    want.error.push_back(std::fabs(dy[static_cast<size_t>(i)]) * 1.2 * 0x1p-21);
  }
  require_close(dx, want,
                std::string(set.name) + " function " + std::to_string(static_cast<int>(of)) + " length " + std::to_string(n));
  args.dx = dy.data();  // in place
  run_tasks(set.gradient->activation, args);
  REQUIRE(same_values(dy.data(), dx.data(), dx.size()));
}

}  // namespace

TEST_CASE("slopes of activations at every length", "[gradient]") {
  for (const KernelTable* set : tested_kernel_sets())
    for (int of = 0; of < kGradientOfCount; ++of) {
      for (int64_t n = 1; n <= 4 * set->lanes + 1; ++n) check_activation(*set, static_cast<GradientOf>(of), n, 6);
      check_activation(*set, static_cast<GradientOf>(of), 40001, 6);
      check_activation(*set, static_cast<GradientOf>(of), 1000, 60);
    }
}

TEST_CASE("slopes far out are limits, NaN stays NaN", "[gradient]") {
  struct Limit {
    GradientOf of;
    float below, above;
  };
  const Limit limits[] = {{GradientOf::kErf, 0, 0},      {GradientOf::kGelu, 0, 1},     {GradientOf::kGeluTanh, 0, 1},
                          {GradientOf::kSilu, 0, 1},     {GradientOf::kSoftplus, 0, 1}, {GradientOf::kElu, 0, 1},
                          {GradientOf::kHardSwish, 0, 1}};
  for (const KernelTable* set : tested_kernel_sets())
    for (const Limit& l : limits) {
      const float v[] = {-kInfinity, -3e38f, 3e38f, kInfinity, kNaN}, dy[] = {1, 1, 1, 1, 1};
      float dx[5];
      run_tasks(set->gradient->activation, {l.of, dy, v, dx, 5, 1, 0}, 1);
      INFO(set->name << " function " << static_cast<int>(l.of) << ": " << dx[0] << " " << dx[1] << " " << dx[2] << " " << dx[3]);
      CHECK((dx[0] == l.below && dx[1] == l.below && dx[2] == l.above && dx[3] == l.above));
      CHECK(std::isnan(dx[4]));
    }
}

TEST_CASE("an infinite gradient stays out where Relu and Clip are flat", "[gradient]") {
  for (const KernelTable* set : tested_kernel_sets())
    for (const GradientOf of : {GradientOf::kRelu, GradientOf::kClip, GradientOf::kHardSigmoid}) {
      const float v[] = {-1, 0.5f}, dy[] = {kInfinity, 3};
      float dx[2];
      run_tasks(set->gradient->activation, {of, dy, v, dx, 2, 0, 1}, 1);
      CHECK(dx[0] == 0);
    }
}

TEST_CASE("gathered rows go back, repeated ones added up", "[gradient]") {
  struct Shape {
    int64_t outer, extent, inner, count;
  };
  const Shape shapes[] = {{1, 7, 1, 40},     {3, 5, 1, 9}, {2, 4, 33, 11}, {1, 50, 17, 3},
                          {1, 3, 200000, 5}, {2, 1, 6, 4}, {1, 9, 5, 0}};
  for (const KernelTable* set : tested_kernel_sets())
    for (const Shape& s : shapes) {
      std::mt19937 random(5);
      svengine::tests::GuardedBuffer<int64_t> indices(static_cast<size_t>(s.count));
      svengine::tests::GuardedBuffer<int32_t> narrow(static_cast<size_t>(s.count));
      for (size_t i = 0; i < indices.size(); ++i)
        narrow[i] = static_cast<int32_t>(indices[i] = static_cast<int64_t>(random() % (2 * s.extent)) - s.extent);
      Buffer dy = random_buffer(s.outer * s.count * s.inner, 3), dx(static_cast<size_t>(s.outer * s.extent * s.inner));
      GatherGradArgs args{dy.data(), indices.data(), dx.data(), 8, s.outer, s.extent, s.inner, s.count};
      run_tasks(set->gradient->gather, args);
      require_close(dx, reference_gather_grad(args), set->name);
      args.indices = narrow.data(), args.index_bytes = 4;
      run_tasks(set->gradient->gather, args, 2);
      require_close(dx, reference_gather_grad(args), set->name);
    }
}

TEST_CASE("softmax and log-softmax backward", "[gradient]") {
  for (const KernelTable* set : tested_kernel_sets())
    for (const bool log : {false, true})
      for (const int64_t n : {1, 2, 7, 16, 33, 130, 1500})
        for (const int64_t inner : {1, 3, 40}) {
          const int64_t outer = n < 100 ? 5 : 2, count = outer * n * inner;
          Buffer y = log ? random_buffer(count, 1, -6, 0) : random_buffer(count, 1, 0, 1), dy = random_buffer(count, 2),
                 dx(static_cast<size_t>(count));
          SoftmaxGradArgs args{y.data(), dy.data(), dx.data(), outer, n, inner, log};
          run_tasks(set->gradient->softmax, args);
          const std::string what = std::string(set->name) + " n " + std::to_string(n) + " inner " + std::to_string(inner);
          require_close(dx, reference_softmax_grad(args), what);
          args.dx = dy.data();
          run_tasks(set->gradient->softmax, args);
          REQUIRE(same_values(dy.data(), dx.data(), dx.size()));
        }
}
}  // namespace gradient_test
