// Backward passes of windows: odd sizes, strides, dilations and padding in one to three dimensions, against the reference.
#include "engine/kernels/window_grad.h"

#include "engine/kernels/gradient_test_util.h"
#include "tests/support/tested_kernels.h"

namespace window_grad_test {
using namespace svengine::kernels;
using namespace svengine::kernels::gradient_test;
using svengine::tests::run_tasks;
using svengine::tests::same_values;

namespace {

int64_t volume(const Extent& e) { return e.depth * e.height * e.width; }

int64_t output_size(int64_t in, int64_t kernel, int64_t stride, int64_t dilation, int64_t pad, int64_t pad_end) {
  return (in + pad + pad_end - (kernel - 1) * dilation - 1) / stride + 1;
}

PoolShape shape_of(int64_t planes, Extent in, Extent kernel, Extent stride, Extent dilation, Extent pad, Extent pad_end) {
  PoolShape s{1, planes, in, {}, kernel, stride, dilation, pad, pad_end};
  s.out = {output_size(in.depth, kernel.depth, stride.depth, dilation.depth, pad.depth, pad_end.depth),
           output_size(in.height, kernel.height, stride.height, dilation.height, pad.height, pad_end.height),
           output_size(in.width, kernel.width, stride.width, dilation.width, pad.width, pad_end.width)};
  return s;
}

std::vector<PoolShape> shapes() {
  const Extent one{1, 1, 1}, none{0, 0, 0};
  std::vector<PoolShape> all = {
      shape_of(3, {1, 9, 7}, {1, 3, 3}, {1, 2, 2}, one, {0, 1, 1}, {0, 1, 1}),
      shape_of(5, {1, 5, 33}, {1, 3, 3}, one, one, {0, 1, 1}, {0, 1, 1}),
      shape_of(2, {1, 1, 70}, {1, 1, 4}, {1, 1, 3}, one, none, none),
      shape_of(2, {1, 12, 50}, {1, 2, 2}, {1, 2, 2}, one, none, none),
      shape_of(4, {1, 10, 19}, {1, 3, 2}, one, {1, 2, 3}, {0, 2, 1}, {0, 3, 2}),
      shape_of(2, {4, 5, 6}, {2, 3, 2}, {1, 2, 1}, one, {1, 0, 1}, {0, 1, 0}),
      shape_of(3, {1, 2, 3}, {1, 2, 3}, one, one, {0, 4, 5}, {0, 5, 4}),  // windows that see nothing but padding
      shape_of(1, {1, 64, 41}, {1, 7, 7}, {1, 2, 2}, one, {0, 3, 3}, {0, 3, 3}),
  };
  all[1].batch = 2;
  return all;
}

std::string label(const KernelTable* set, size_t i) { return std::string(set->name) + " shape " + std::to_string(i); }

/// Plain planes to blocks, padding lanes set to 3, or back.
Buffer relaid(const Buffer& from, const PoolShape& s, int64_t size, int64_t lanes, bool to_blocks) {
  const int64_t blocks = (s.channels + lanes - 1) / lanes;
  Buffer to(static_cast<size_t>(s.batch * (to_blocks ? blocks * lanes : s.channels) * size));
  for (float& v : to) v = 3;
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t c = 0; c < s.channels; ++c)
      for (int64_t i = 0; i < size; ++i) {
        const auto plain = static_cast<size_t>((n * s.channels + c) * size + i);
        const auto blocked = static_cast<size_t>(((n * blocks + c / lanes) * size + i) * lanes + c % lanes);
        to[to_blocks ? blocked : plain] = from[to_blocks ? plain : blocked];
      }
  return to;
}

/// What the blocked kernel makes of plain operands.
Buffer blocked_pool_grad(const KernelTable* set, PoolGradArgs args, const Buffer& x, const Buffer& dy) {
  const PoolShape& s = args.shape;
  const Buffer x_blocks = relaid(x, s, volume(s.in), set->lanes, true), dy_blocks = relaid(dy, s, volume(s.out), set->lanes, true);
  Buffer dx(x_blocks.size());
  args.blocked = true, args.x = x_blocks.data(), args.dy = dy_blocks.data(), args.dx = dx.data();
  run_tasks(set->gradient->pool, args);
  REQUIRE(dx.intact());
  return relaid(dx, s, volume(s.in), set->lanes, false);
}

}  // namespace

TEST_CASE("images to columns and back", "[gradient]") {
  for (const KernelTable* set : tested_kernel_sets()) {
    size_t i = 0;
    for (const PoolShape& s : shapes()) {
      const int64_t planes = s.batch * s.channels, count = planes * volume(s.kernel) * volume(s.out);
      Buffer x = random_buffer(planes * volume(s.in), 1), columns(static_cast<size_t>(count)), dx(x.size());
      const UnfoldArgs unfold{s, x.data(), columns.data()};
      run_tasks(set->gradient->unfold, unfold);
      const std::vector<float> want = reference_unfold(unfold);
      INFO(label(set, i));
      REQUIRE((same_values(columns.data(), want.data(), want.size()) && columns.intact()));
      Buffer gradient = random_buffer(count, 2);
      const FoldArgs fold{s, gradient.data(), dx.data()};
      run_tasks(set->gradient->fold, fold);
      require_close(dx, reference_fold(fold), label(set, i++));
    }
  }
}

TEST_CASE("pooling backward", "[gradient]") {
  for (const KernelTable* set : tested_kernel_sets()) {
    size_t i = 0;
    for (const PoolShape& s : shapes()) {
      const int64_t planes = s.batch * s.channels;
      Buffer x = random_buffer(planes * volume(s.in), 1), dy = random_buffer(planes * volume(s.out), 2), dx(x.size());
      PoolGradArgs args{PoolKind::kMax, s, false, false, x.data(), dy.data(), dx.data()};
      run_tasks(set->gradient->pool, args);
      require_close(dx, reference_pool_grad(args), "max " + label(set, i));
      require_close(blocked_pool_grad(set, args, x, dy), reference_pool_grad(args), "blocked max " + label(set, i));
      for (float& v : x) v = static_cast<float>(static_cast<int>(v));  // many ties: the first wins
      run_tasks(set->gradient->pool, args, 2);
      require_close(dx, reference_pool_grad(args), "max with ties " + label(set, i));
      x[x.size() / 2] = std::numeric_limits<float>::quiet_NaN();
      run_tasks(set->gradient->pool, args);
      require_close(dx, reference_pool_grad(args), "max with NaN " + label(set, i));
      require_close(blocked_pool_grad(set, args, x, dy), reference_pool_grad(args), "blocked max with NaN " + label(set, i));
      if (i++ == 6) continue;  // an average over no input at all
      args.kind = PoolKind::kAverage, args.x = nullptr;
      for (const bool padding : {false, true}) {
        args.count_padding = padding;
        run_tasks(set->gradient->pool, args);
        require_close(dx, reference_pool_grad(args), "average " + label(set, i));
        require_close(blocked_pool_grad(set, args, x, dy), reference_pool_grad(args), "blocked average " + label(set, i));
      }
    }
  }
}
}  // namespace window_grad_test
