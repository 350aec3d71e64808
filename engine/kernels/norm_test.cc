#include "engine/kernels/norm.h"

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "engine/kernels/kernel_table.h"
#include "engine/kernels/reference/activation.h"
#include "engine/kernels/reference/norm.h"
#include "tests/support/guarded_buffer.h"
#include "tests/support/kernel_tasks.h"
#include "tests/support/tested_kernels.h"

namespace norm_test {
using namespace svengine::kernels;
using namespace svengine::tests;

namespace {

using Buffer = GuardedBuffer<float>;
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

template <class F>
void for_every_set(const F& f) {
  REQUIRE(!tested_kernel_sets().empty());
  for (const KernelTable* set : tested_kernel_sets()) f(*set);
}

Buffer random_buffer(int64_t count, unsigned seed, float center = 0, float spread = 1) {
  Buffer buffer(static_cast<size_t>(count));
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(center - spread, center + spread);
  for (float& v : buffer) v = uniform(random);
  return buffer;
}

std::vector<double> wide(const float* x, int64_t n) {
  return x ? std::vector<double>(x, x + n) : std::vector<double>();
}

// Within `relative` of the largest wanted magnitude of the line and of each value's own.
void require_close(const float* got, const std::vector<double>& want, double relative, const std::string& what) {
  for (size_t i = 0; i < want.size(); ++i) {
    if (std::isnan(want[i]) ? std::isnan(got[i])
                            : std::fabs(got[i] - want[i]) <= relative * std::max(1.0, std::fabs(want[i])))
      continue;
    INFO(what << " element " << i << " got " << got[i] << " want " << want[i]);
    FAIL("wrong");
  }
}

struct RowCase {
  int64_t rows, n;
  bool residual = false, sum = false, scale = true, bias = true;
  float center = 0;
  enum { kApart, kOnX, kOnResidual } y = kApart;
};

void check_rows(const KernelTable& set, const RowCase& c, bool rms) {
  const int64_t gap = c.n % 3, stride = c.n + gap, total = c.rows * stride - gap;
  Buffer x = random_buffer(total, 1, c.center), residual = random_buffer(c.residual ? total : 0, 2);
  Buffer scale = random_buffer(c.n, 3), bias = random_buffer(c.n, 4);
  Buffer y(total), sum(total), mean(c.rows), inv_std(c.rows);
  std::vector<double> t = wide(x.data(), total);
  if (c.residual)
    for (int64_t i = 0; i < total; ++i) t[i] = x[i] + residual[i];  // rounded to float
  RowNormArgs args{.x = x.data(),
                   .residual = c.residual ? residual.data() : nullptr,
                   .sum = c.sum ? sum.data() : nullptr,
                   .y = c.y == RowCase::kOnX          ? x.data()
                        : c.y == RowCase::kOnResidual ? residual.data()
                                                      : y.data(),
                   .scale = c.scale ? scale.data() : nullptr,
                   .bias = c.bias ? bias.data() : nullptr,
                   .mean = mean.data(),
                   .inv_std = inv_std.data(),
                   .rows = c.rows,
                   .n = c.n,
                   .x_stride = stride,
                   .residual_stride = stride,
                   .sum_stride = stride,
                   .y_stride = stride};
  run_tasks(rms ? set.norm->rms_norm : set.norm->layer_norm, args, 2);
  for (int64_t row = 0; row < c.rows; ++row) {
    const std::vector<double> line(t.begin() + row * stride, t.begin() + row * stride + c.n);
    const auto reference = rms ? reference_rms_norm : reference_layer_norm;
    const std::string what = std::string(set.name) + (rms ? " rms" : " layer") + " n " + std::to_string(c.n) +
                             " center " + std::to_string(c.center);
    require_close(args.y + row * stride, reference(line, wide(args.scale, c.n), wide(args.bias, c.n), args.epsilon),
                  1e-6, what);
    const ReferenceMoments m = reference_moments(line);
    if (!rms) {
      REQUIRE(std::fabs(mean[row] - m.mean) <= 1e-6 * (1 + std::fabs(c.center)) / 8);
      REQUIRE(std::fabs(inv_std[row] * std::sqrt(m.variance + args.epsilon) - 1) <= 1e-6);
    }
    if (c.sum) require_close(sum.data() + row * stride, line, 0, what);
  }
  if (args.y == y.data() && c.rows > 1 && gap) REQUIRE(y.poisoned(c.n));
  REQUIRE((y.intact() && x.intact() && sum.intact() && mean.intact() && inv_std.intact()));
}

}  // namespace

TEST_CASE("layer and RMS norm at every length up to many vectors") {
  for_every_set([](const KernelTable& set) {
    for (bool rms : {false, true}) {
      for (int64_t n = 2; n <= 4 * set.lanes + 1; ++n) check_rows(set, {2, n}, rms);
      for (int64_t n : {128, 768, 1023, 4097}) check_rows(set, {3, n}, rms);
      check_rows(set, {40, 600, true, true}, rms);
      check_rows(set, {5, 77, true, false}, rms);
      check_rows(set, {5, 77, true, true, true, false}, rms);
      check_rows(set, {5, 77, false, true, false, true}, rms);
      check_rows(set, {5, 77, false, false, false, false, 0, RowCase::kOnX}, rms);
      check_rows(set, {5, 77, true, false, true, true, 0, RowCase::kOnX}, rms);
      check_rows(set, {5, 77, true, true, true, true, 0, RowCase::kOnResidual}, rms);
    }
  });
}

TEST_CASE("layer norm keeps its accuracy far from zero and on long lines") {
  for_every_set([](const KernelTable& set) {
    check_rows(set, {2, 768, false, false, true, true, 1e4f}, false);
    check_rows(set, {1, 30011, false, false, true, true, -3e3f}, false);
    check_rows(set, {1, 200003, false, false, false, false, 1}, false);
  });
}

TEST_CASE("layer norm of a constant line is its bias, and NaN stays in its line") {
  for_every_set([](const KernelTable& set) {
    Buffer x(3 * 50), y(3 * 50), bias = random_buffer(50, 9);
    for (size_t i = 0; i < 150; ++i) x[i] = i < 50 ? 0.1f : static_cast<float>(i);
    x[70] = kNaN;
    run_tasks(
        set.norm->layer_norm,
        RowNormArgs{
            .x = x.data(), .y = y.data(), .bias = bias.data(), .rows = 3, .n = 50, .x_stride = 50, .y_stride = 50});
    for (int64_t i = 0; i < 50; ++i) {
      REQUIRE(y[i] == bias[i]);
      REQUIRE(std::isnan(y[50 + i]));
      REQUIRE(std::isfinite(y[100 + i]));
    }
  });
}

TEST_CASE("the mean of what holds an infinity is that infinity, wherever it stands") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for_every_set([](const KernelTable& set) {
    for (const int64_t n : {1, 5, 40})
      for (const int64_t at : {int64_t{0}, n / 2, n - 1})
        for (const float value : {kInfinity, -kInfinity, kNaN}) {
          Buffer x = random_buffer(5 * n, 31), y(5 * n), mean(5), inv_std(5);
          x[2 * n + at] = value;
          const auto same = [&](float got) { return std::isnan(value) ? std::isnan(got) : got == value; };
          RowNormArgs rows{.x = x.data(), .y = y.data(), .mean = mean.data(), .inv_std = inv_std.data(), .rows = 5, .n = n};
          rows.x_stride = rows.y_stride = n;
          run_tasks(set.norm->layer_norm, rows);
          INFO(set.name << " n " << n << " at " << at << " value " << value << " mean " << mean[2]);
          REQUIRE((same(mean[2]) && std::isnan(inv_std[2]) && std::isnan(y[2 * n]) && std::isfinite(mean[1] + mean[3])));
          GroupNormArgs groups{x.data(), y.data(), nullptr, nullptr, mean.data(), inv_std.data(), 1, 5, 5, n};
          run_tasks(set.norm->group_norm, groups);
          REQUIRE((same(mean[2]) && std::isnan(inv_std[2]) && std::isnan(y[2 * n])));
          Buffer moments(15);
          run_tasks(set.norm->channel_moments, ChannelMomentsArgs{x.data(), moments.data(), 1, 5, n});
          REQUIRE((same(moments[2] + moments[5 + 2]) && std::isnan(moments[10 + 2])));
          const int64_t lanes = set.lanes;
          Buffer blocked = random_buffer(n * lanes, 32), blocked_moments(3 * lanes);
          blocked[at * lanes + 2] = value;
          run_tasks(set.norm->channel_moments, ChannelMomentsArgs{blocked.data(), blocked_moments.data(), 1, lanes, n, true});
          REQUIRE((same(blocked_moments[2] + blocked_moments[lanes + 2]) && std::isnan(blocked_moments[2 * lanes + 2])));
        }
  });
}

TEST_CASE("group and instance norm") {
  for_every_set([](const KernelTable& set) {
    for (int64_t spatial : {1, 5, 16, 49, 100})
      for (int64_t groups : {1, 2, 6}) {
        const int64_t batch = 3, channels = 6, total = batch * channels * spatial;
        Buffer x = random_buffer(total, 5, 2), y(total), scale = random_buffer(channels, 6),
               bias = random_buffer(channels, 7);
        Buffer mean(batch * groups), inv_std(batch * groups);
        GroupNormArgs args{x.data(),       y.data(), scale.data(), bias.data(), mean.data(),
                           inv_std.data(), batch,    channels,     groups,      spatial};
        const std::vector<double> want = reference_group_norm(args);
        run_tasks(set.norm->group_norm, args);
        require_close(y.data(), want, 2e-6, set.name);
        args.y = x.data();
        run_tasks(set.norm->group_norm, args, 1);
        REQUIRE(same_values(x.data(), y.data(), y.size()));
        REQUIRE((y.intact() && mean.intact() && inv_std.intact()));
      }
  });
}

TEST_CASE("channel scale and shift with every activation, plain and blocked") {
  for_every_set([](const KernelTable& set) {
    for (int64_t channels : {1, 3, 8, 16, 19})
      for (int64_t spatial : {1, 7, 16, 50}) {
        const int64_t lanes = set.lanes, blocks = (channels + lanes - 1) / lanes, batch = 2;
        for (int kind = 0; kind < kActivationCount; ++kind) {
          const ActivationArgs activation{static_cast<Activation>(kind), kind == int(Activation::kClip) ? -0.5f : 0.1f,
                                          0.5f};
          Buffer scale = random_buffer(channels, 1), shift = random_buffer(channels, 2);
          for (int variant = 0; variant < 4; ++variant) {
            const bool blocked = variant % 2, added = variant / 2;
            const int64_t total = batch * (blocked ? blocks * lanes : channels) * spatial;
            Buffer x = random_buffer(total, 3, 0, 3), residual = random_buffer(added ? total : 0, 4), y(total);
            ChannelAffineArgs args{x.data(), y.data(), scale.data(), shift.data(), batch, channels, spatial, blocked, activation};
            args.residual = added ? residual.data() : nullptr;
            run_tasks(set.norm->channel_affine, args);
            for (int64_t i = 0; i < total; ++i) {
              const int64_t c = blocked ? i / (spatial * lanes) % blocks * lanes + i % lanes : i / spatial % channels;
              const double normed = c < channels ? std::fma(double{x[i]}, double{scale[c]}, double{shift[c]}) : 0;
              const double want = reference_activation(normed + (added ? residual[i] : 0), activation);
              INFO(set.name << " activation " << kind << " x " << x[i]);
              REQUIRE(std::fabs(y[i] - want) <= 1e-6 * std::max(1.0, std::fabs(want)));
            }
            REQUIRE(y.intact());
            if (!added) continue;
            args.y = residual.data();
            run_tasks(set.norm->channel_affine, args, 1);
            REQUIRE(same_values(residual.data(), y.data(), y.size()));
          }
        }
      }
  });
}

namespace {

/// The moments of every image and channel, of values around 50: laid out as the kernel reads them.
void check_moments(const KernelTable& set, int64_t channels, int64_t spatial, bool blocked) {
  const int64_t lanes = set.lanes, batch = 3, stored = blocked ? (channels + lanes - 1) / lanes * lanes : channels;
  const Buffer x = random_buffer(batch * stored * spatial, 11, 50);
  Buffer moments(static_cast<size_t>(batch * 3 * stored));
  run_tasks(set.norm->channel_moments, ChannelMomentsArgs{x.data(), moments.data(), batch, channels, spatial, blocked});
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t c = 0; c < channels; ++c) {
      std::vector<double> values;
      for (int64_t i = 0; i < spatial; ++i)
        values.push_back(x[blocked ? ((b * stored + c / lanes * lanes) * spatial) + i * lanes + c % lanes
                                   : (b * channels + c) * spatial + i]);
      const ReferenceMoments want = reference_moments(values);
      const auto got = [&](int64_t part) -> double { return moments[(b * 3 + part) * stored + c]; };
      INFO(set.name << " channel " << c << " of " << channels << " spatial " << spatial << " blocked " << blocked);
      REQUIRE(std::fabs(got(0) + got(1) - want.mean) <= 1e-9 * std::fabs(want.mean));
      REQUIRE(std::fabs(got(2) - want.variance) <= 1e-6 * want.variance);
    }
  REQUIRE(moments.intact());
}

}  // namespace

TEST_CASE("channel moments, plain and blocked") {
  for_every_set([](const KernelTable& set) {
    for (int64_t channels : {1, 5, 16, 21})
      for (int64_t spatial : {1, 3, 16, 130, 1000})
        for (bool blocked : {false, true}) check_moments(set, channels, spatial, blocked);
  });
}

TEST_CASE("local response norm") {
  for_every_set([](const KernelTable& set) {
    for (int64_t size : {1, 2, 3, 5})
      for (int64_t spatial : {1, 17, 100}) {
        const int64_t total = 2 * 7 * spatial;
        Buffer x = random_buffer(total, 21, 0, 20), y(total);
        LocalResponseArgs args{x.data(), y.data(), 2, 7, spatial, size, 0.5f, 0.75f, 2};
        run_tasks(set.norm->local_response, args);
        require_close(y.data(), reference_local_response(args), 2e-6, set.name);
        REQUIRE(y.intact());
      }
  });
}
}  // namespace norm_test
