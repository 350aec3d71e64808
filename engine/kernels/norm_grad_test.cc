// Backward passes of layer norm and batch norm against the reference, with sums over blocks of any size.
#include "engine/kernels/norm_grad.h"

#include "engine/kernels/gradient_test_util.h"

using namespace svengine::kernels;
using namespace svengine::kernels::gradient_test;
using svengine::test::run_tasks;
using svengine::test::same_values;

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
  Buffer spread = random_buffer(rows, 5, 0.5f, 2), dx(x.size());
  const int64_t blocks = (rows + rows_each - 1) / rows_each;
  Buffer partial(static_cast<size_t>(blocks * 2 * n));
  RowNormGradArgs args{x.data(),  dy.data(),      scale.data(), mean.data(), spread.data(),
                       dx.data(), partial.data(), rows,         n,           rows_each};
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

void check_channels(const KernelTable& set, int64_t batch, int64_t channels, int64_t spatial, bool blocked) {
  const Planes planes{channels, spatial, blocked ? set.lanes : 1};
  const int64_t count = batch * planes.stored() * spatial;
  Buffer x = random_buffer(count, 1), dy = random_buffer(count, 2), mean = random_buffer(channels, 3),
         spread = random_buffer(channels, 4, 0.5f, 2), shift = random_buffer(channels, 5);
  Buffer sums(static_cast<size_t>(batch * 2 * planes.stored())), dx(x.size());
  run_tasks(set.gradient->channel_sums,
            ChannelGradSumsArgs{x.data(), dy.data(), mean.data(), spread.data(), sums.data(), batch, channels, spatial, blocked});
  // dx = a dy + b x + k.
  const ChannelGradArgs args{x.data(),     dy.data(), dx.data(), mean.data(), spread.data(),
                             shift.data(), batch,     channels,  spatial,     blocked};
  run_tasks(set.gradient->channel, args);
  INFO(set.name << " batch " << batch << " spatial " << spatial << " blocked " << blocked);
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t c = 0; c < channels; ++c) {
      double dscale = 0, dbias = 0, scale_magnitude = 0, bias_magnitude = 0;
      for (int64_t i = 0; i < spatial; ++i) {
        const size_t at = planes.at(b, c, i);
        const double product = dy[at] * (double(x[at]) - mean[c]) * spread[c];
        dscale += product, scale_magnitude += std::fabs(product);
        dbias += dy[at], bias_magnitude += std::fabs(dy[at]);
        const double first = double(mean[c]) * dy[at], second = double(spread[c]) * x[at], third = shift[c];
        REQUIRE(std::fabs(dx[at] - (first + second + third)) <=
                3 * 0x1p-24 * (std::fabs(first) + std::fabs(second) + std::fabs(third)));
      }
      REQUIRE(std::fabs(sums[(b * 2) * planes.stored() + c] - dscale) <= 8 * 0x1p-24 * scale_magnitude);
      REQUIRE(std::fabs(sums[(b * 2 + 1) * planes.stored() + c] - dbias) <= 8 * 0x1p-24 * bias_magnitude);
    }
  REQUIRE((sums.intact() && dx.intact()));
}

}  // namespace

TEST_CASE("layer norm backward", "[gradient]") {
  for (const KernelTable* set : available_kernel_sets()) {
    for (int64_t n = 1; n <= 4 * set->lanes + 1; n += n < 20 ? 1 : 7) check_rows(*set, 5, n, 2);
    check_rows(*set, 37, 770, 4);
    check_rows(*set, 1, 3000, 1);
    check_rows(*set, 9, 33, 9);
  }
}

TEST_CASE("batch norm backward", "[gradient]") {
  for (const KernelTable* set : available_kernel_sets()) {
    for (const bool blocked : {false, true}) {
      for (const int64_t spatial : {1, 2, 15, 16, 49, 65, 1000}) check_channels(*set, 3, 5, spatial, blocked);
      check_channels(*set, 1, 1, 20000, blocked);
      check_channels(*set, 40, 19, 1, blocked);
    }
  }
}
