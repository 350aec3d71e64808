#include "engine/kernels/data.h"

#include <catch2/catch.hpp>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "engine/kernels/data_prepare.h"
#include "engine/kernels/kernel_table.h"
#include "engine/kernels/reference/data.h"
#include "tests/support/guarded_buffer.h"
#include "tests/support/kernel_tasks.h"
#include "tests/support/tested_kernels.h"

namespace data_test {
using namespace svengine::kernels;
using namespace svengine::tests;

namespace {

template <class F>
void for_every_set(const F& f) {
  REQUIRE(!tested_kernel_sets().empty());
  for (const KernelTable* set : tested_kernel_sets()) f(*set);
}

template <class T>
GuardedBuffer<T> counted(int64_t count) {
  GuardedBuffer<T> buffer(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) buffer[i] = static_cast<T>(i * 2654435761u + 12345);
  return buffer;
}

std::vector<int64_t> row_major(const std::vector<int64_t>& extent) {
  std::vector<int64_t> strides(extent.size());
  int64_t product = 1;
  for (size_t d = extent.size(); d-- > 0;) {
    strides[d] = product;
    product *= extent[d];
  }
  return strides;
}

// Runs one copy as given and collapsed, against the reference. Offsets make negative strides possible.
template <class T>
void check_copy(const KernelTable& set, CopyArgs args, int64_t src_count, int64_t src_offset, int64_t dst_count,
                int64_t dst_offset) {
  const GuardedBuffer<T> src = counted<T>(src_count);
  GuardedBuffer<T> want(static_cast<size_t>(dst_count)), got(static_cast<size_t>(dst_count)),
      merged(static_cast<size_t>(dst_count));
  args.element_bytes = sizeof(T);
  args.src = src.data() + src_offset;
  args.dst = want.data() + dst_offset;
  reference_copy(args);
  args.dst = got.data() + dst_offset;
  run_tasks(set.data->copy, args, 3);
  REQUIRE(same_values(got.data(), want.data(), want.size()));
  REQUIRE(got.intact());
  args.dst = merged.data() + dst_offset;
  const CopyArgs collapsed = collapse_copy(args);
  run_tasks(set.data->copy, collapsed, set.data->copy.tasks(collapsed));
  REQUIRE(same_values(merged.data(), want.data(), want.size()));
  REQUIRE(merged.intact());
}

template <class T>
void check_transpose(const KernelTable& set, const std::vector<int64_t>& extent, const std::vector<int>& order) {
  CopyArgs args;
  args.rank = static_cast<int32_t>(extent.size());
  std::vector<int64_t> out_extent;
  for (int d : order) out_extent.push_back(extent[d]);
  const std::vector<int64_t> src = row_major(extent), dst = row_major(out_extent);
  for (size_t d = 0; d < order.size(); ++d) {
    args.extent[d] = out_extent[d];
    args.src_stride[d] = src[order[d]];
    args.dst_stride[d] = dst[d];
  }
  const int64_t total = std::accumulate(extent.begin(), extent.end(), int64_t{1}, std::multiplies<>());
  INFO(set.name << " element " << sizeof(T) << " transpose of rank " << extent.size() << " first extent " << extent[0]);
  check_copy<T>(set, args, total, 0, total, 0);
}

template <class T>
void check_transposes(const KernelTable& set) {
  for (int64_t m = 1; m <= 2 * set.lanes + 1; m += m < 6 ? 1 : 5)
    for (int64_t n = 1; n <= 2 * set.lanes + 1; n += n < 6 ? 1 : 3) check_transpose<T>(set, {m, n}, {1, 0});
  check_transpose<T>(set, {130, 67}, {1, 0});
  check_transpose<T>(set, {2, 7, 3, 20}, {0, 2, 1, 3});  // attention heads
  check_transpose<T>(set, {2, 7, 3, 20}, {0, 2, 3, 1});
  check_transpose<T>(set, {3, 40, 5}, {2, 1, 0});
  check_transpose<T>(set, {2, 3, 2, 2, 3, 2, 1, 2}, {7, 5, 3, 1, 0, 2, 4, 6});
  check_transpose<T>(set, {1, 3, 50}, {2, 0, 1});  // images to channels last
  check_transpose<T>(set, {50, 3}, {1, 0});        // and back
  for (int64_t n = 2; n <= 9; ++n) {               // few channels, of several images
    check_transpose<T>(set, {2, n, 6 * set.lanes + 5}, {0, 2, 1});
    check_transpose<T>(set, {2, 6 * set.lanes + 5, n}, {0, 2, 1});
    check_transpose<T>(set, {3, 4, 5, n}, {2, 3, 0, 1});  // joined and split lines with gaps between
    check_transpose<T>(set, {n, 12000}, {1, 0});
    check_transpose<T>(set, {12000, n}, {1, 0});
  }
  for (int64_t n : {2, 3, 4})                      // depth to space
    for (int64_t m : {4, 7, 16, 33, 56}) check_transpose<T>(set, {n, n, 3, 2, m}, {2, 3, 0, 4, 1});
}

template <class T>
void check_strided(const KernelTable& set) {
  for (int64_t n = 1; n <= 4 * set.lanes + 1; n += 1 + n / 7)
    for (int64_t stride : {1, 2, -1, -3, 0, 100}) {
      const int64_t span = std::abs(stride) * (n - 1) + 1;
      CopyArgs args;
      args.rank = 2;
      args.extent[0] = 3, args.extent[1] = n;
      args.src_stride[0] = span, args.src_stride[1] = stride;
      args.dst_stride[0] = n + 2, args.dst_stride[1] = 1;
      const int64_t first = stride < 0 ? span - 1 : 0;
      INFO(set.name << " element " << sizeof(T) << " n " << n << " stride " << stride);
      check_copy<T>(set, args, 3 * span, first, 3 * n + 4, 0);
      args.dst_stride[0] = 3 * n, args.dst_stride[1] = -2;  // scattered destinations, gaps kept
      check_copy<T>(set, args, 3 * span, first, 9 * n, 2 * (n - 1));
    }
}

}  // namespace

TEST_CASE("transposition of every element size") {
  for_every_set([](const KernelTable& set) {
    check_transposes<uint8_t>(set);
    check_transposes<uint16_t>(set);
    check_transposes<float>(set);
    check_transposes<int64_t>(set);
  });
}

TEST_CASE("strided, broadcast and reversed rows of every element size") {
  for_every_set([](const KernelTable& set) {
    check_strided<uint8_t>(set);
    check_strided<uint16_t>(set);
    check_strided<int32_t>(set);
    check_strided<double>(set);
  });
}

namespace {

// [outer][repeats][n] of [outer][n], rows of `gap` elements between the outer ones.
template <class T>
void check_repeated(const KernelTable& set) {
  for (int64_t n : {1, 2, 3, 9, 15, 16, 17, 64, 65, 700, 16384, 16385})
    for (int64_t repeats : {1, 2, 3, 7, 40})
      for (int64_t gap : {0, 5}) {
        if (n > 700 && repeats > 3) continue;  // a second of emulation, and no other way of copying
        CopyArgs args;
        args.rank = 3;
        args.extent[0] = 3, args.extent[1] = repeats, args.extent[2] = n;
        args.src_stride[0] = n, args.src_stride[1] = 0, args.src_stride[2] = 1;
        args.dst_stride[0] = repeats * n + gap, args.dst_stride[1] = n, args.dst_stride[2] = 1;
        INFO(set.name << " element " << sizeof(T) << " n " << n << " repeats " << repeats << " gap " << gap);
        check_copy<T>(set, args, 3 * n, 0, 3 * (repeats * n + gap), 0);
      }
}

}  // namespace

TEST_CASE("rows that are repeated, of every element size") {
  for_every_set([](const KernelTable& set) {
    check_repeated<uint8_t>(set);
    check_repeated<uint16_t>(set);
    check_repeated<int32_t>(set);
    check_repeated<double>(set);
  });
}

TEST_CASE("copies of no dimensions, no elements, and of one long row") {
  for_every_set([](const KernelTable& set) {
    CopyArgs args;
    check_copy<float>(set, args, 1, 0, 1, 0);
    args.rank = 2;
    args.extent[0] = 0, args.extent[1] = 5;
    args.src_stride[0] = args.dst_stride[0] = 5, args.src_stride[1] = args.dst_stride[1] = 1;
    check_copy<float>(set, args, 0, 0, 0, 0);
    args.rank = 1;
    args.extent[0] = 40001;
    args.src_stride[0] = args.dst_stride[0] = 1;
    check_copy<float>(set, args, 40001, 0, 40001, 0);
    check_copy<uint8_t>(set, args, 40001, 0, 40001, 0);
  });
}

TEST_CASE("collapsing a copy merges what is contiguous") {
  CopyArgs args;
  args.rank = 4;
  const int64_t extent[] = {2, 1, 3, 4}, stride[] = {12, 99, 4, 1};
  for (int d = 0; d < 4; ++d) args.extent[d] = extent[d], args.src_stride[d] = args.dst_stride[d] = stride[d];
  const CopyArgs merged = collapse_copy(args);
  REQUIRE(merged.rank == 1);
  REQUIRE(merged.extent[0] == 24);
}

TEST_CASE("reorders between plain and blocked layouts") {
  for_every_set([](const KernelTable& set) {
    const int64_t lanes = set.lanes, batch = 2;
    for (int64_t channels : {int64_t{1}, int64_t{3}, lanes - 1, lanes, lanes + 1, 2 * lanes, 2 * lanes + 5})
      for (int64_t spatial : {int64_t{1}, int64_t{7}, lanes, lanes + 3, int64_t{300}})
        for (bool last : {false, true}) {
          const int64_t blocks = (channels + lanes - 1) / lanes, gap = 5;
          const int64_t image = channels * spatial, plain_count = batch * image + gap;
          GuardedBuffer<float> plain(plain_count), blocked(batch * blocks * spatial * lanes), back(plain_count);
          for (int64_t i = 0; i < plain_count; ++i)
            if (i < image || i >= image + gap) plain[i] = static_cast<float>(i + 1);
          ReorderArgs args{plain.data(), blocked.data(), batch, channels, spatial, image + gap, last};
          run_tasks(set.data->to_blocked, args);
          for (int64_t n = 0; n < batch; ++n)
            for (int64_t c = 0; c < blocks * lanes; ++c)
              for (int64_t s = 0; s < spatial; ++s) {
                const float got = blocked[((n * blocks + c / lanes) * spatial + s) * lanes + c % lanes];
                const int64_t at = n * (image + gap) + (last ? s * channels + c : c * spatial + s);
                if (c < channels ? got != plain[at] : got != 0)
                  FAIL(set.name << " channels " << channels << " c " << c << " s " << s);
              }
          REQUIRE(blocked.intact());
          for (float& v : blocked) v = v == 0 ? std::numeric_limits<float>::quiet_NaN() : v;  // padding is not read
          args.src = blocked.data(), args.dst = back.data();
          run_tasks(set.data->from_blocked, args);
          for (int64_t i = 0; i < plain_count; ++i)
            if (i < image || i >= image + gap ? back[i] != plain[i] : !back.poisoned(i))
              FAIL("back " << set.name << " at " << i);
          REQUIRE(back.intact());
        }
  });
}

TEST_CASE("fill, trilu and one-hot") {
  for_every_set([](const KernelTable& set) {
    GuardedBuffer<uint16_t> filled(33001);
    run_tasks(set.data->fill, FillArgs{filled.data(), 2, 33001, 0xbeef1234});
    for (uint16_t v : filled) REQUIRE(v == 0x1234);
    REQUIRE(filled.intact());
    for (int64_t k : {-9, -2, 0, 1, 3, 40})
      for (bool upper : {false, true}) {
        const int64_t rows = 7, columns = 19;
        GuardedBuffer<float> x = counted<float>(2 * rows * columns), y(x.size());
        TriluArgs args{x.data(), y.data(), 4, upper, 2, rows, columns, k};
        run_tasks(set.data->trilu, args);
        for (int64_t i = 0; i < 2 * rows * columns; ++i) {
          const int64_t r = i / columns % rows, c = i % columns;
          REQUIRE(y[i] == ((upper ? c - r >= k : c - r <= k) ? x[i] : 0));
        }
        args.y = x.data();
        run_tasks(set.data->trilu, args, 1);
        REQUIRE(same_values(x.data(), y.data(), x.size()));
      }
    for (int64_t inner : {1, 5}) {
      const int64_t outer = 6, depth = 9;
      GuardedBuffer<int64_t> indices(outer * inner);
      for (size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<int64_t>(i) - 11;
      GuardedBuffer<int32_t> y(outer * depth * inner);
      run_tasks(set.data->one_hot, OneHotArgs{indices.data(), y.data(), 4, 8, outer, depth, inner, 7, 3});
      for (int64_t i = 0; i < outer * depth * inner; ++i) {
        int64_t index = indices[i / (depth * inner) * inner + i % inner];
        if (index < 0) index += depth;
        REQUIRE(y[i] == (index == i / inner % depth ? 7 : 3));
      }
      REQUIRE(y.intact());
    }
  });
}
}  // namespace data_test
