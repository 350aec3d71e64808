#include "engine/kernels/pool.h"

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "engine/kernels/kernel_table.h"
#include "engine/kernels/reference/pool.h"
#include "tests/support/guarded_buffer.h"
#include "tests/support/kernel_tasks.h"
#include "tests/support/tested_kernels.h"

namespace pool_test {
using namespace svengine::kernels;
using namespace svengine::tests;

namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

int64_t volume(const Extent& e) { return e.depth * e.height * e.width; }

/// Plain [planes][size] with planes = batch * channels, or blocked.
struct Layout {
  int64_t batch, channels, size, lanes;
  bool blocked;
  int64_t blocks() const { return (channels + lanes - 1) / lanes; }
  size_t floats() const { return static_cast<size_t>(batch * (blocked ? blocks() * lanes : channels) * size); }
  size_t at(size_t plain) const {
    if (!blocked) return plain;
    const int64_t q = int64_t(plain) % size, plane = int64_t(plain) / size;
    const int64_t n = plane / channels, c = plane % channels;
    return static_cast<size_t>(((n * blocks() + c / lanes) * size + q) * lanes + c % lanes);
  }
};

std::vector<float> random_floats(size_t count) {
  std::mt19937 random(static_cast<unsigned>(count));
  std::uniform_real_distribution<float> uniform(-2, 2);
  std::vector<float> values(count);
  for (float& x : values) x = uniform(random);
  return values;
}

bool agrees(float got, double want, double error) {
  if (std::isnan(want)) return std::isnan(got);
  return static_cast<double>(got) == want || std::fabs(got - want) <= error;
}

void check_values(const Layout& out, const GuardedBuffer<float>& got, const ReferencePool& want) {
  CHECK(got.intact());
  for (size_t i = 0; i < want.output.size(); ++i) {
    if (agrees(got[out.at(i)], want.output[i], want.error[i])) continue;
    INFO("output " << i << " got " << got[out.at(i)] << " want " << want.output[i] << " within " << want.error[i]);
    FAIL("wrong");
  }
}

/// Runs a kernel whole and in parts on `input` and compares it with the oracle.
template <class Args>
void check_kernel(const TaskKernel<Args>& kernel, Args args, const std::vector<float>& input, const Layout& in, const Layout& out,
                  const ReferencePool& want) {
  GuardedBuffer<float> from(in.floats()), to(out.floats()), again(out.floats());
  for (float& x : from) x = 0;
  for (size_t i = 0; i < input.size(); ++i) from[in.at(i)] = input[i];
  args.input = from.data();
  args.output = to.data();
  run_tasks(kernel, args, 1);
  check_values(out, to, want);
  args.output = again.data();
  run_tasks(kernel, args, 5);
  CHECK(same_values(to.data(), again.data(), to.size()));
}

std::string describe(const KernelTable& set, const PoolArgs& a) {
  const PoolShape& s = a.shape;
  const auto text = [](const Extent& e) {
    return std::to_string(e.depth) + "x" + std::to_string(e.height) + "x" + std::to_string(e.width) + " ";
  };
  return std::string(set.name) + (a.blocked ? " blocked" : " plain") + " kind " + std::to_string(int(a.kind)) + " channels " +
         std::to_string(s.channels) + " in " + text(s.in) + "out " + text(s.out) + "kernel " + text(s.kernel) + "stride " +
         text(s.stride) + "dilation " + text(s.dilation) + "pad " + text(s.pad);
}

void check_indices(const KernelTable& set, PoolArgs args, const std::vector<float>& input) {
  for (bool column_major : {false, true}) {
    args.column_major_indices = column_major;
    const ReferencePool want = reference_pool(args, input.data());
    GuardedBuffer<float> from(input.size()), to(want.output.size());
    GuardedBuffer<int64_t> indices(want.output.size());
    std::copy(input.begin(), input.end(), from.begin());
    args.input = from.data(), args.output = to.data(), args.indices = indices.data();
    run_tasks(set.pool->window, args, 3);
    CHECK(to.intact());
    CHECK(indices.intact());
    for (size_t i = 0; i < want.output.size(); ++i) {
      if (agrees(to[i], want.output[i], 0) && indices[i] == want.indices[i]) continue;
      INFO("output " << i << " got " << to[i] << " at " << indices[i] << " want " << want.output[i] << " at " << want.indices[i]);
      FAIL("wrong");
    }
  }
}

void check_input(const PoolShape& shape, const std::vector<float>& input) {
  for (const KernelTable* set : tested_kernel_sets()) {
    for (PoolKind kind : {PoolKind::kMax, PoolKind::kAverage, PoolKind::kLp}) {
      for (int variant = 0; variant < 3; ++variant) {
        PoolArgs args;
        args.kind = kind;
        args.shape = shape;
        args.count_padding = variant == 1;
        args.power = variant + 1;
        const ReferencePool want = reference_pool(args, input.data());
        for (bool blocked : {false, true}) {
          args.blocked = blocked;
          INFO(describe(*set, args) << " variant " << variant);
          const Layout in{shape.batch, shape.channels, volume(shape.in), set->lanes, blocked};
          const Layout out{shape.batch, shape.channels, volume(shape.out), set->lanes, blocked};
          check_kernel(set->pool->window, args, input, in, out, want);
          if (kind == PoolKind::kMax && !blocked) check_indices(*set, args, input);
        }
      }
    }
  }
}

void check(const PoolShape& shape) {
  check_input(shape, random_floats(static_cast<size_t>(shape.batch * shape.channels * volume(shape.in))));
}

/// Output size as ONNX rounds it; rounding up drops a window that would start in the padding at the end.
int64_t out_size(int64_t in, int64_t kernel, int64_t stride, int64_t dilation, int64_t pad, int64_t pad_end, bool ceil) {
  const int64_t span = in + pad + pad_end - (kernel - 1) * dilation - 1;
  int64_t out = (span + (ceil ? stride - 1 : 0)) / stride + 1;
  if (ceil && (out - 1) * stride >= in + pad) --out;
  return out;
}

PoolShape shape_of(int64_t channels, Extent in, Extent kernel, Extent stride, Extent pad, bool ceil = false, Extent dilation = {},
                   int64_t more_at_end = 0) {
  PoolShape s;
  s.batch = 2, s.channels = channels, s.in = in, s.kernel = kernel, s.stride = stride, s.dilation = dilation, s.pad = s.pad_end = pad;
  s.pad_end.width += more_at_end;
  s.out = {out_size(in.depth, kernel.depth, stride.depth, dilation.depth, pad.depth, s.pad_end.depth, ceil),
           out_size(in.height, kernel.height, stride.height, dilation.height, pad.height, s.pad_end.height, ceil),
           out_size(in.width, kernel.width, stride.width, dilation.width, pad.width, s.pad_end.width, ceil)};
  return s;
}

}  // namespace

TEST_CASE("windows in two dimensions") {
  for (int64_t kernel : {2, 3, 5})
    for (int64_t stride : {1, 2, 3}) {
      check(shape_of(5, {1, 9, 21}, {1, kernel, kernel}, {1, stride, stride}, {0, 0, 0}));
      check(shape_of(19, {1, 11, 10}, {1, kernel, kernel}, {1, stride, stride}, {0, kernel / 2, kernel / 2}));
    }
  check(shape_of(16, {1, 4, 40}, {1, 1, 3}, {1, 1, 1}, {0, 0, 1}));
  check(shape_of(3, {1, 40, 4}, {1, 4, 2}, {1, 3, 1}, {0, 2, 0}));
}

TEST_CASE("rounding up, dilation, uneven padding") {
  check(shape_of(4, {1, 10, 35}, {1, 3, 3}, {1, 2, 2}, {0, 0, 0}, true));
  check(shape_of(4, {1, 7, 8}, {1, 3, 3}, {1, 3, 3}, {0, 1, 1}, true));
  check(shape_of(4, {1, 9, 20}, {1, 2, 3}, {1, 1, 1}, {0, 1, 1}, false, {1, 3, 2}));
  check(shape_of(4, {1, 5, 5}, {1, 3, 3}, {1, 1, 2}, {0, 1, 1}, false, {}, 2));
}

TEST_CASE("one and three dimensions, tiny images") {
  check(shape_of(3, {1, 1, 37}, {1, 1, 4}, {1, 1, 1}, {0, 0, 0}));
  check(shape_of(3, {1, 1, 37}, {1, 1, 2}, {1, 1, 2}, {0, 0, 1}));
  check(shape_of(6, {4, 5, 6}, {2, 3, 2}, {2, 1, 1}, {0, 1, 1}));
  check(shape_of(2, {3, 3, 18}, {3, 3, 3}, {1, 2, 2}, {1, 1, 1}, true));
  check(shape_of(17, {1, 1, 1}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}));
  check(shape_of(1, {1, 2, 2}, {1, 5, 5}, {1, 1, 1}, {0, 2, 2}));
}

TEST_CASE("rows of several lines, and what is too wide for one") {
  for (const auto& [stride, dilation] : {std::pair{1, 1}, {2, 1}, {2, 3}, {3, 2}, {7, 10}})
    check(shape_of(1, {1, 2, 5001}, {1, 2, 3}, {1, 1, stride}, {0, 0, 1}, stride == 2, {1, 1, dilation}));
  check(shape_of(1, {1, 3, 4200}, {1, 2, 3}, {1, 1, 4000}, {0, 0, 0}));  // not even a vector's columns are near enough
  check(shape_of(1, {1, 1, 5001}, {1, 1, 2}, {1, 1, 5}, {0, 0, 0}, false, {1, 1, 4100}));
  check(shape_of(1, {1, 1, 4203}, {1, 1, 4200}, {1, 1, 3}, {0, 0, 2}));
}

TEST_CASE("equal maxima, NaN and infinities") {
  const PoolShape shape = shape_of(3, {1, 6, 20}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1});
  std::vector<float> input = random_floats(static_cast<size_t>(shape.batch * shape.channels * volume(shape.in)));
  for (size_t i = 0; i < input.size(); ++i) input[i] = std::round(input[i]);
  check_input(shape, input);
  for (size_t i = 0; i < input.size(); i += 31) input[i] = kNaN;
  for (size_t i = 7; i < input.size(); i += 41) input[i] = -std::numeric_limits<float>::infinity();
  for (const KernelTable* set : tested_kernel_sets()) {
    PoolArgs args;
    args.shape = shape;
    check_indices(*set, args, input);
    args.blocked = true;
    const ReferencePool want = reference_pool(args, input.data());
    check_kernel(set->pool->window, args, input, {shape.batch, shape.channels, volume(shape.in), set->lanes, true},
                 {shape.batch, shape.channels, volume(shape.out), set->lanes, true}, want);
  }
}

TEST_CASE("global pooling") {
  for (int64_t size : {1, 7, 49, 64, 200, 401})
    for (const KernelTable* set : tested_kernel_sets())
      for (PoolKind kind : {PoolKind::kMax, PoolKind::kAverage, PoolKind::kLp})
        for (bool blocked : {false, true}) {
          INFO(set->name << " size " << size << " kind " << int(kind) << " blocked " << blocked);
          GlobalPoolArgs args;
          args.kind = kind, args.blocked = blocked, args.batch = 2, args.channels = 21, args.size = size, args.power = 3;
          const std::vector<float> input = random_floats(static_cast<size_t>(args.batch * args.channels * size));
          check_kernel(set->pool->global, args, input, {args.batch, args.channels, size, set->lanes, blocked},
                       {args.batch, args.channels, 1, set->lanes, blocked}, reference_pool(args, input.data()));
        }
}

TEST_CASE("nothing to pool, no tasks") {
  for (const KernelTable* set : tested_kernel_sets()) {
    PoolArgs args;
    args.shape.batch = 0;
    CHECK(set->pool->window.tasks(args) == 0);
    args.shape.batch = 1;
    args.shape.out.width = 0;
    CHECK(set->pool->window.tasks(args) == 0);
    GlobalPoolArgs global;
    global.channels = 0;
    CHECK(set->pool->global.tasks(global) == 0);
  }
}
}  // namespace pool_test
