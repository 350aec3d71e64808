// Backward passes of layer norm and batch norm against the reference, with sums over blocks of any size.
#include "engine/kernels/norm_grad.h"

#include "engine/kernels/gradient_test_util.h"
#include "tests/support/tested_kernels.h"

namespace norm_grad_test {
using namespace svengine::kernels;
using namespace svengine::kernels::gradient_test;
using svengine::tests::run_tasks;
using svengine::tests::same_values;

namespace {

/// dscale (part 0) or dbias (part 1): the sums of the blocks, added up.
Buffer total(const Buffer& partial, int64_t blocks, int64_t n, int64_t part) {
  Buffer sum(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    double value = 0;
    for (int64_t b = 0; b < blocks; ++b) value += partial[static_cast<size_t>((2 * b + part) * n + i)];
    sum[static_cast<size_t>(i)] = static_cast<float>(value);
  }
  return sum;
}

void check_rows(const KernelTable& set, int64_t rows, int64_t n, int64_t rows_each) {
  Buffer x = random_buffer(rows * n, 1), dy = random_buffer(rows * n, 2), scale = random_buffer(n, 3),
         mean = random_buffer(rows, 4);
  Buffer inv_std = random_buffer(rows, 5, 0.5f, 2), dx(x.size());
  const int64_t blocks = (rows + rows_each - 1) / rows_each;
  Buffer partial(static_cast<size_t>(blocks * 2 * n));
  RowNormGradArgs args{x.data(),  dy.data(),      scale.data(), mean.data(), inv_std.data(),
                       dx.data(), partial.data(), rows,         n,           rows_each};
  RowNormGradArgs sizes;  // what a plan knows
  sizes.rows = rows, sizes.n = n, sizes.rows_each = rows_each;
  REQUIRE(set.gradient->row_norm.scratch_bytes(sizes) == set.gradient->row_norm.scratch_bytes(args));
  run_tasks(set.gradient->row_norm, args);
  const std::string what = std::string(set.name) + " rows " + std::to_string(rows) + " n " + std::to_string(n);
  const ReferenceRowNormGrad want = reference_row_norm_grad(args);
  require_close(dx, want.dx, what + " dx");
  require_close(total(partial, blocks, n, 0), want.dscale, what + " dscale");
  require_close(total(partial, blocks, n, 1), want.dbias, what + " dbias");
  REQUIRE(partial.intact());
  args.dx = dy.data();
  run_tasks(set.gradient->row_norm, args);
  REQUIRE(same_values(dy.data(), dx.data(), dx.size()));
}

/// Where the kernels keep element i of a channel of an image.
struct Planes {
  int64_t channels, spatial, lanes;  // lanes 1: plain
  int64_t stored() const { return (channels + lanes - 1) / lanes * lanes; }
  size_t at(int64_t b, int64_t c, int64_t i) const {
    return static_cast<size_t>((b * stored() + c / lanes * lanes) * spatial + i * lanes + c % lanes);
  }
};

/// The Relu behind a norm: none, seen from the norm, seen from its result, which may get two gradients.
enum class Relu { kNone, kFromNorm, kFromResult, kFromResultOfTwo };

struct ChannelCase {
  int64_t batch, channels, spatial;
  bool blocked;
  Relu relu = Relu::kNone;
};

/// A random problem, and in `passed` what the Relu lets pass.
struct ChannelData {
  Planes planes;
  Buffer x, dy, more, y, mean, inv_std, shift, scale_of_norm, shift_of_norm, sums, dx, masked, passed;

  ChannelData(const ChannelCase& c, int lanes)
      : planes{c.channels, c.spatial, c.blocked ? lanes : 1},
        x(random(c, 1)),
        dy(random(c, 2)),
        more(random(c, 6)),
        y(random(c, 7)),
        mean(random_buffer(c.channels, 3)),
        inv_std(random_buffer(c.channels, 4, 0.5f, 2)),
        shift(random_buffer(c.channels, 5)),
        scale_of_norm(random_buffer(c.channels, 8)),
        shift_of_norm(random_buffer(c.channels, 9)),
        sums(static_cast<size_t>(c.batch * 2 * planes.stored())),
        dx(x.size()),
        masked(x.size()),
        passed(x.size()) {
    y[y.size() / 2] = std::numeric_limits<float>::quiet_NaN();
    if (y.size() > 4) y[1] = 0.0f, y[2] = -0.0f;
    for (size_t i = 0; i < passed.size(); ++i) {
      const auto lanes_each = static_cast<size_t>(planes.lanes), blocks = static_cast<size_t>(planes.stored()) / lanes_each;
      const size_t channel = i / (static_cast<size_t>(c.spatial) * lanes_each) % blocks * lanes_each + i % lanes_each;
      const bool padding = channel >= static_cast<size_t>(c.channels);
      float result = c.relu == Relu::kNone ? 1 : y[i];
      if (c.relu == Relu::kFromNorm) result = padding ? 0 : std::fma(x[i], scale_of_norm[channel], shift_of_norm[channel]);
      passed[i] = result <= 0 ? 0.0f : c.relu == Relu::kFromResultOfTwo ? dy[i] + more[i] : dy[i];
    }
  }
  Buffer random(const ChannelCase& c, unsigned seed) const { return random_buffer(c.batch * planes.stored() * c.spatial, seed); }
};

ChannelGradSumsArgs sums_args(const ChannelCase& c, ChannelData& d) {
  ChannelGradSumsArgs args{d.x.data(), d.dy.data(), d.mean.data(), d.inv_std.data(), d.sums.data(),
                           c.batch,    c.channels,  c.spatial,     c.blocked};
  if (c.relu == Relu::kFromNorm) args.scale = d.scale_of_norm.data(), args.shift = d.shift_of_norm.data();
  if (c.relu == Relu::kFromResult || c.relu == Relu::kFromResultOfTwo) args.y = d.y.data(), args.masked = d.masked.data();
  if (c.relu == Relu::kFromResultOfTwo) args.dy_more = d.more.data();
  return args;
}

/// dx = a dy + b x + k.
ChannelGradArgs dx_args(const ChannelCase& c, ChannelData& d) {
  ChannelGradArgs args{d.x.data(),     d.dy.data(), d.dx.data(), d.mean.data(), d.inv_std.data(),
                       d.shift.data(), c.batch,     c.channels,  c.spatial,     c.blocked};
  if (c.relu == Relu::kFromNorm) args.scale = d.scale_of_norm.data(), args.shift = d.shift_of_norm.data();
  if (c.relu == Relu::kFromResult || c.relu == Relu::kFromResultOfTwo) args.dy = d.masked.data();
  return args;
}

void compare_channel(const ChannelCase& c, const ChannelData& d, int64_t image, int64_t channel) {
  double dscale = 0, dbias = 0, scale_magnitude = 0, bias_magnitude = 0;
  for (int64_t i = 0; i < c.spatial; ++i) {
    const size_t at = d.planes.at(image, channel, i);
    const double product = d.passed[at] * (double(d.x[at]) - d.mean[channel]) * d.inv_std[channel];
    dscale += product, scale_magnitude += std::fabs(product);
    dbias += d.passed[at], bias_magnitude += std::fabs(d.passed[at]);
    const double first = double(d.mean[channel]) * d.passed[at], second = double(d.inv_std[channel]) * d.x[at];
    const double third = d.shift[channel], magnitude = std::fabs(first) + std::fabs(second) + std::fabs(third);
    REQUIRE(std::fabs(d.dx[at] - (first + second + third)) <= 3 * 0x1p-24 * magnitude);
  }
  const int64_t stored = d.planes.stored();
  REQUIRE(std::fabs(d.sums[(image * 2) * stored + channel] - dscale) <= 8 * 0x1p-24 * scale_magnitude);
  REQUIRE(std::fabs(d.sums[(image * 2 + 1) * stored + channel] - dbias) <= 8 * 0x1p-24 * bias_magnitude);
}

void check_channels(const KernelTable& set, const ChannelCase& c) {
  ChannelData d(c, set.lanes);
  ChannelGradSumsArgs sums = sums_args(c, d);
  run_tasks(set.gradient->channel_sums, sums);
  ChannelGradArgs args = dx_args(c, d);
  run_tasks(set.gradient->channel, args);
  INFO(set.name << " batch " << c.batch << " spatial " << c.spatial << " blocked " << c.blocked << " Relu " << int(c.relu));
  for (int64_t b = 0; b < c.batch; ++b)
    for (int64_t channel = 0; channel < c.channels; ++channel) compare_channel(c, d, b, channel);
  if (sums.masked) REQUIRE(same_values(d.masked.data(), d.passed.data(), d.passed.size()));
  REQUIRE((d.sums.intact() && d.dx.intact() && d.masked.intact()));
  // In place.
  if (sums.masked) {
    sums.masked = c.relu == Relu::kFromResultOfTwo ? d.more.data() : d.dy.data();
    run_tasks(set.gradient->channel_sums, sums);
    REQUIRE(same_values(sums.masked, d.passed.data(), d.passed.size()));
  }
  args.dx = sums.masked ? d.masked.data() : d.dy.data();
  run_tasks(set.gradient->channel, args);
  REQUIRE(same_values(args.dx, d.dx.data(), d.dx.size()));
}

}  // namespace

TEST_CASE("layer norm backward", "[gradient]") {
  for (const KernelTable* set : tested_kernel_sets()) {
    for (int64_t n = 1; n <= 4 * set->lanes + 1; n += n < 20 ? 1 : 7) check_rows(*set, 5, n, 2);
    check_rows(*set, 37, 770, 4);
    check_rows(*set, 1, 3000, 1);
    check_rows(*set, 9, 33, 9);
  }
}

TEST_CASE("batch norm backward, with and without a Relu behind it", "[gradient]") {
  for (const KernelTable* set : tested_kernel_sets())
    for (const bool blocked : {false, true})
      for (const Relu relu : {Relu::kNone, Relu::kFromNorm, Relu::kFromResult, Relu::kFromResultOfTwo}) {
        for (const int64_t spatial : {1, 2, 15, 16, 49, 65, 1000}) check_channels(*set, {3, 5, spatial, blocked, relu});
        check_channels(*set, {1, 1, 20000, blocked, relu});
        check_channels(*set, {40, 19, 1, blocked, relu});
      }
}
}  // namespace norm_grad_test
