#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "engine/kernels/kernel_table.h"
#include "engine/kernels/norm.h"
#include "tests/support/guarded_buffer.h"
#include "tests/support/kernel_tasks.h"
#include "tests/support/tested_kernels.h"

namespace norm_f64_test {
using namespace svengine::kernels;
using namespace svengine::tests;

namespace {

using Buffer = GuardedBuffer<double>;
using Wide = long double;

Buffer random_doubles(int64_t n, unsigned seed, double mean = 0, double deviation = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(mean, deviation);
  Buffer buffer(static_cast<size_t>(n));
  for (double& v : buffer) v = normal(random);
  return buffer;
}

struct Line {
  Wide mean = 0, variance = 0;
};
Line moments(const double* x, int64_t n) {
  Line line;
  for (int64_t i = 0; i < n; ++i) line.mean += x[i];
  line.mean /= n;
  for (int64_t i = 0; i < n; ++i) line.variance += (x[i] - line.mean) * (x[i] - line.mean);
  line.variance /= n;
  return line;
}

/// Against norm.h's formula in long double, within `bound` of a result's size.
void check(const KernelTable& set, const GroupNormArgsF64& args, double bound) {
  const int64_t channels = args.channels / args.groups, n = channels * args.spatial;
  for (int64_t line = 0; line < args.batch * args.groups; ++line) {
    const Line m = moments(args.x + line * n, n);
    const Wide inv_std = 1 / std::sqrt(m.variance + args.epsilon);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t c = line % args.groups * channels + i / args.spatial;
      const Wide scale = args.scale ? args.scale[c] : 1, bias = args.bias ? args.bias[c] : 0;
      const Wide want = (args.x[line * n + i] - m.mean) * inv_std * scale + bias, got = args.y[line * n + i];
      INFO(set.name << " n " << n << " spatial " << args.spatial << " element " << i << " got " << static_cast<double>(got) << " want "
                    << static_cast<double>(want));
      REQUIRE(std::fabs(got - want) <= bound * (std::fabs(want) + std::fabs(bias) + std::fabs(scale)));
    }
    if (args.mean) REQUIRE(std::fabs(args.mean[line] - m.mean) <= 0x1p-23L * std::fabs(m.mean) + bound);
    if (args.inv_std) REQUIRE(std::fabs(args.inv_std[line] - inv_std) <= 0x1p-23L * inv_std);
  }
}

}  // namespace

TEST_CASE("group and instance norm of doubles") {
  for (const KernelTable* set : tested_kernel_sets())
    for (const int64_t spatial : {1, 5, 16, 49, 100})
      for (const int64_t groups : {1, 2, 6}) {
        const int64_t batch = 3, channels = 6, total = batch * channels * spatial;
        if (channels / groups * spatial == 1) continue;  // the next case
        const Buffer x = random_doubles(total, 5, 0.5, 2), scale = random_doubles(channels, 6), bias = random_doubles(channels, 7);
        Buffer y(static_cast<size_t>(total)), in_place(y.size());
        std::copy(x.begin(), x.end(), in_place.begin());
        GuardedBuffer<float> mean(static_cast<size_t>(batch * groups)), inv_std(mean.size());
        GroupNormArgsF64 args{x.data(), y.data(), scale.data(), bias.data(), mean.data(), inv_std.data(), batch, channels, groups, spatial};
        run_tasks(set->norm->group_norm_f64, args);
        check(*set, args, 4e-15);
        args.x = args.y = in_place.data();
        run_tasks(set->norm->group_norm_f64, args, 1);
        REQUIRE(std::equal(y.begin(), y.end(), in_place.begin()));
        REQUIRE((y.intact() && in_place.intact() && mean.intact() && inv_std.intact()));
      }
}

TEST_CASE("layer norm of doubles at every length up to many vectors, with and without parameters") {
  for (const KernelTable* set : tested_kernel_sets()) {
    std::vector<int64_t> lengths{255, 1000, 5003};
    for (int64_t n = 1; n <= 4 * set->lanes + 1; ++n) lengths.push_back(n);
    for (const int64_t n : lengths) {
      const Buffer x = random_doubles(3 * n, 8), scale = random_doubles(n, 9), bias = random_doubles(n, 10);
      for (const int with : {0, 1, 2, 3}) {
        Buffer y(static_cast<size_t>(3 * n));
        GroupNormArgsF64 args{x.data(), y.data()};
        if (with & 1) args.scale = scale.data();
        if (with & 2) args.bias = bias.data();
        args.batch = 3, args.channels = n, args.spatial = 1;
        run_tasks(set->norm->group_norm_f64, args);
        check(*set, args, 4e-15);
        REQUIRE(y.intact());
      }
    }
  }
}

TEST_CASE("the variance of doubles survives a mean that is large beside it") {
  for (const KernelTable* set : tested_kernel_sets()) {
    constexpr int64_t kLength = 3000;
    const Buffer x = random_doubles(kLength, 11, 1e9, 1);
    Buffer y(kLength);
    GroupNormArgsF64 args{x.data(), y.data()};
    args.batch = 1, args.channels = kLength, args.spatial = 1;
    run_tasks(set->norm->group_norm_f64, args);
    check(*set, args, 4e-7);  // the mean has 1e9 * 2^-52 of error, in a plain sum of doubles more
  }
}

TEST_CASE("norms of doubles: NaN and infinity make their line NaN, and no other") {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  for (const KernelTable* set : tested_kernel_sets())
    for (const int64_t spatial : {1, 3})
      for (const int64_t n : {2, 5, 40})
        for (const double value : {kInf, -kInf, std::numeric_limits<double>::quiet_NaN()}) {
          Buffer x = random_doubles(5 * n * spatial, 31), y(x.size());
          GuardedBuffer<float> mean(5), inv_std(5);
          x[2 * n * spatial + n / 2] = value;
          GroupNormArgsF64 args{x.data(), y.data(), nullptr, nullptr, mean.data(), inv_std.data()};
          args.batch = 5, args.channels = n, args.spatial = spatial;
          run_tasks(set->norm->group_norm_f64, args);
          INFO(set->name << " n " << n << " value " << value << " mean " << mean[2]);
          REQUIRE((std::isnan(value) ? std::isnan(mean[2]) : mean[2] == static_cast<float>(value)));
          for (int64_t i = 0; i < 5 * n * spatial; ++i) REQUIRE(std::isnan(y[i]) == (i / (n * spatial) == 2));
        }
}
}  // namespace norm_f64_test
