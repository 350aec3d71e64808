// Selection, progressions, and the loop nests of broadcasting.
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "engine/kernels/elementwise.h"
#include "engine/kernels/elementwise_test_util.h"
#include "engine/kernels/kernel_table.h"
#include "engine/kernels/reference/elementwise.h"
#include "tests/support/guarded_buffer.h"
#include "tests/support/kernel_tasks.h"
#include "tests/support/tested_kernels.h"

namespace elementwise_select_test {
using svengine::DType;
using namespace svengine::kernels;
using namespace svengine::kernels::elementwise_test;
using svengine::tests::run_tasks;

namespace {

template <class T>
void check_where(const KernelTable* set, const std::vector<Dims>& shapes) {
  std::mt19937 random(8);
  const Dims output = common_shape(shapes);
  GuardedBuffer<uint8_t> condition(static_cast<size_t>(volume(shapes[0])));
  for (uint8_t& c : condition) c = random() % 3 == 0 ? 0 : static_cast<uint8_t>(random() % 2 ? 1 : 0x80);
  const GuardedBuffer<T> x = filled<T>(volume(shapes[1]), random), y = filled<T>(volume(shapes[2]), random);
  GuardedBuffer<T> result(static_cast<size_t>(volume(output)));
  WhereArgs args{condition.data(), x.data(), y.data(), result.data(), sizeof(T), broadcast_of(output, shapes)};
  run_tasks(set->elementwise->where, args);
  reference_broadcast(output, shapes, [&](int64_t i, const std::vector<int64_t>& at) {
    const T want = condition[static_cast<size_t>(at[0])] ? x[static_cast<size_t>(at[1])] : y[static_cast<size_t>(at[2])];
    if (result[static_cast<size_t>(i)] == want) return;
    INFO(set->name << " bytes " << sizeof(T) << " element " << i);
    FAIL("not what the reference says");
  });
  REQUIRE(result.intact());
}

}  // namespace

TEST_CASE("selection with every operand broadcast in turn", "[elementwise]") {
  const std::vector<std::vector<Dims>> all = {
      {{77}, {77}, {77}},          {{77}, {1}, {77}},          {{77}, {77}, {}},
      {{77}, {1}, {1}},            {{1}, {77}, {77}},          {{4, 1}, {4, 33}, {33}},
      {{2, 1, 3, 3}, {}, {2, 4, 3, 3}}, {{3, 1, 5}, {4, 1}, {1, 5}}, {{0, 3}, {3}, {1}},
      {{20000}, {20000}, {1}},
  };
  for (const KernelTable* set : tested_kernel_sets()) {
    for (const auto& shapes : all) {
      check_where<uint8_t>(set, shapes);
      check_where<int16_t>(set, shapes);
      check_where<int32_t>(set, shapes);
      check_where<int64_t>(set, shapes);
    }
  }
}

TEST_CASE("progressions", "[elementwise]") {
  for (const KernelTable* set : tested_kernel_sets()) {
    const int64_t n = kElementwiseTask + 9;
    GuardedBuffer<float> floats(static_cast<size_t>(n));
    GuardedBuffer<int64_t> longs(static_cast<size_t>(n));
    GuardedBuffer<int32_t> ints(static_cast<size_t>(n));
    RangeArgs args;
    args.y = floats.data(), args.n = n, args.start = -1.5, args.delta = 0.1;
    run_tasks(set->elementwise->range, args);
    args.type = DType::i64, args.y = longs.data(), args.integer_start = 10, args.integer_delta = -3;
    run_tasks(set->elementwise->range, args);
    args.type = DType::i32, args.y = ints.data();
    run_tasks(set->elementwise->range, args);
    for (int64_t i = 0; i < n; ++i) {
      const size_t at = static_cast<size_t>(i);
      const volatile double product = static_cast<double>(i) * 0.1;  // rounded: a fused multiply-add would differ
      const bool right = floats[at] == static_cast<float>(-1.5 + product) && longs[at] == 10 - 3 * i && ints[at] == 10 - 3 * i;
      if (!right) FAIL(set->name << " element " << i);
    }
    CHECK((floats.intact() && longs.intact() && ints.intact()));
  }
}

TEST_CASE("loop nests drop dimensions of one and merge neighbours", "[elementwise]") {
  const Broadcast alike = broadcast_of({2, 3, 4, 5}, {{2, 3, 4, 5}, {2, 3, 4, 5}});
  CHECK(alike.rank == 1);
  CHECK(alike.size[0] == 120);
  const Broadcast channel = broadcast_of({2, 3, 4, 5}, {{2, 3, 4, 5}, {3, 1, 1}});
  REQUIRE(channel.rank == 3);
  CHECK(channel.size[2] == 20);
  CHECK(channel.stride[1][0] == 0);
  CHECK(channel.stride[1][1] == 1);
  CHECK(channel.stride[1][2] == 0);
  const Dims ones(12, 1), deep = {2, 2, 2, 2, 2, 2, 2, 2, 2}, comb = {2, 1, 2, 1, 2, 1, 2, 1, 2};
  CHECK(broadcast_of(ones, {ones}).rank == 1);
  const int64_t* operands[] = {deep.data(), comb.data()};
  const int ranks[] = {9, 9};
  Broadcast result;
  CHECK_FALSE(make_broadcast(deep.data(), 9, operands, ranks, 2, &result));
}
}  // namespace elementwise_select_test
