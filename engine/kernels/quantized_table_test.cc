#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "engine/kernels/kernel_table.h"
#include "engine/kernels/quantized.h"
#include "tests/support/guarded_buffer.h"

using namespace svengine::kernels;
using svengine::tests::GuardedBuffer;

namespace {

/// In place of x, or beside it; tasks last first.
void check_table(int64_t count, bool in_place) {
  std::mt19937 random(static_cast<unsigned>(count));
  GuardedBuffer<uint8_t> table(256);
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<uint8_t>(random());
  std::vector<uint8_t> x(static_cast<size_t>(count)), want(x.size());
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint8_t>(i < 256 ? i : random()), want[i] = table[x[i]];
  for (const QuantizedVariant& set : quantized_variants()) {
    INFO(set.name << " count " << count << " in place " << in_place);
    GuardedBuffer<uint8_t> from(x.size()), to(x.size());
    std::copy(x.begin(), x.end(), from.data());
    GuardedBuffer<uint8_t>& y = in_place ? from : to;
    const ByteTableArgs args{count, from.data(), y.data(), table.data()};
    for (int64_t task = set.kernels->table.tasks(args); task > 0; --task) set.kernels->table.run(args, task - 1, task, nullptr);
    CHECK(std::equal(want.begin(), want.end(), y.data()));
    CHECK(y.intact());
  }
}

}  // namespace

TEST_CASE("every byte is looked up in a table of 256, whatever the number of elements", "[quantized]") {
  for (int64_t count : {1, 15, 31, 32, 63, 64, 65, 127, 129, 255, 256, 257, 511, 1000, 32768, 70001})
    for (bool in_place : {false, true}) check_table(count, in_place);
}
