#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "engine/kernels/kernel_table.h"
#include "engine/kernels/quantized.h"
#include "tests/support/guarded_buffer.h"

namespace quantized_table_test {
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

void check_sum(int64_t outer, int64_t n, int64_t inner, bool is_signed) {
  std::mt19937 random(static_cast<unsigned>(outer + n + inner));
  GuardedBuffer<uint8_t> x(static_cast<size_t>(outer * n * inner));
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint8_t>(random() % 4 == 0 ? 0xff : random() % 4 == 0 ? 0x80 : random());
  std::vector<int64_t> want(static_cast<size_t>(outer * inner), 0);
  for (int64_t i = 0; i < outer * n * inner; ++i)
    want[static_cast<size_t>(i / (n * inner) * inner + i % inner)] += is_signed ? int64_t{static_cast<int8_t>(x[size_t(i)])} : int64_t{x[size_t(i)]};
  for (const QuantizedVariant& set : quantized_variants()) {
    INFO(set.name << " " << outer << " x " << n << " x " << inner << " signed " << is_signed);
    GuardedBuffer<int64_t> sums(want.size());
    const ByteSumArgs args{outer, n, inner, x.data(), is_signed, sums.data()};
    for (int64_t task = set.kernels->sum.tasks(args); task > 0; --task) set.kernels->sum.run(args, task - 1, task, nullptr);
    CHECK(std::equal(want.begin(), want.end(), sums.data()));
    CHECK(sums.intact());
  }
}

}  // namespace

TEST_CASE("bytes are summed up along rows and columns", "[quantized]") {
  for (bool is_signed : {false, true}) {
    for (int64_t n : {0, 1, 31, 49, 64, 65, 255, 256, 257, 3136, 40000}) check_sum(3, n, 1, is_signed);
    for (int64_t inner : {2, 15, 17, 32, 64, 65, 100, 128}) check_sum(2, 49, inner, is_signed);
    check_sum(1, (int64_t{1} << 20) + 77, 1, is_signed);
    check_sum(1, (int64_t{1} << 20) + 3, 2, is_signed);
    check_sum(2, 0, 5, is_signed), check_sum(700, 49, 1, is_signed);
  }
}

TEST_CASE("every byte is looked up in a table of 256, whatever the number of elements", "[quantized]") {
  for (int64_t count : {1, 15, 31, 32, 63, 64, 65, 127, 129, 255, 256, 257, 511, 1000, 32768, 70001})
    for (bool in_place : {false, true}) check_table(count, in_place);
}

TEST_CASE("B is packed to the same bytes, whether its rows or its columns lie in a row", "[quantized]") {
  std::mt19937 random(7);
  for (const QuantizedVariant& set : quantized_variants())
    for (int64_t n : {1, 7, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 100, 128, 130})
      for (int64_t k : {1, 3, 4, 5, 8, 37})
        for (bool is_signed : {false, true}) {
          INFO(set.name << " " << k << " x " << n << " signed " << is_signed);
          GuardedBuffer<uint8_t> rows(static_cast<size_t>(k * n)), columns(rows.size()), zeros(static_cast<size_t>(n));
          for (uint8_t& z : zeros) z = static_cast<uint8_t>(random());
          for (int64_t d = 0; d < k; ++d)
            for (int64_t c = 0; c < n; ++c) rows[d * n + c] = columns[c * k + d] = static_cast<uint8_t>(random());
          const auto bytes = static_cast<size_t>(set.kernels->packed_bytes(k, n));
          GuardedBuffer<uint8_t> of_rows(bytes), of_columns(bytes), in_one(bytes);
          QuantizedPackArgs args{rows.data(), n, false, is_signed, k, n, zeros.data(), 1, of_rows.data()};
          for (int64_t task = set.kernels->pack_tasks(args); task > 0; --task) set.kernels->pack(args, task - 1, task);
          args.packed = in_one.data();
          set.kernels->pack(args, 0, set.kernels->pack_tasks(args));
          args.source = columns.data(), args.ld = k, args.column_major = true, args.packed = of_columns.data();
          set.kernels->pack(args, 0, set.kernels->pack_tasks(args));
          REQUIRE(std::equal(of_rows.begin(), of_rows.end(), of_columns.begin()));
          REQUIRE(std::equal(of_rows.begin(), of_rows.end(), in_one.begin()));
          REQUIRE((of_rows.intact() && of_columns.intact() && in_one.intact()));
        }
}
}  // namespace quantized_table_test
