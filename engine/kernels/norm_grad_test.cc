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

void check_channels(const KernelTable& set, int64_t batch, int64_t channels, int64_t spatial) {
  const int64_t count = batch * channels * spatial;
  Buffer x = random_buffer(count, 1), dy = random_buffer(count, 2), mean = random_buffer(channels, 3),
         spread = random_buffer(channels, 4, 0.5f, 2);
  Buffer dscale(static_cast<size_t>(channels)), dbias(static_cast<size_t>(channels)), dx(x.size());
  const ChannelGradSumsArgs sums{x.data(),     dy.data(), mean.data(), spread.data(), dscale.data(),
                                 dbias.data(), batch,     channels,    spatial};
  run_tasks(set.gradient->channel_sums, sums);
  const std::string what = std::string(set.name) + " batch " + std::to_string(batch) + " spatial " + std::to_string(spatial);
  const ReferenceChannelGradSums want = reference_channel_grad_sums(sums);
  require_close(dscale, want.dscale, what + " dscale");
  require_close(dbias, want.dbias, what + " dbias");
  // dx = a dy + b x + k.
  const ChannelGradArgs args{x.data(), dy.data(), dx.data(), mean.data(), spread.data(), dscale.data(), batch, channels, spatial};
  run_tasks(set.gradient->channel, args);
  ReferenceGradient line;
  for (int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(i), c = static_cast<size_t>(i / spatial % channels);
    const double a = double(mean[c]) * dy[at], b = double(spread[c]) * x[at], k = dscale[c];
    line.value.push_back(a + b + k);
    line.error.push_back(3 * 0x1p-24 * (std::fabs(a) + std::fabs(b) + std::fabs(k)));
  }
  require_close(dx, line, what + " dx");
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
    for (const int64_t spatial : {1, 2, 15, 16, 49, 65, 1000}) check_channels(*set, 3, 5, spatial);
    check_channels(*set, 1, 1, 20000);
    check_channels(*set, 40, 19, 1);
  }
}
