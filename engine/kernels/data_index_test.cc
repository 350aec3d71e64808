// Gathers and scatters: negative indices, duplicates, bad indices.
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "engine/kernels/data.h"
#include "engine/kernels/kernel_table.h"
#include "engine/kernels/reference/data.h"
#include "tests/support/guarded_buffer.h"
#include "tests/support/kernel_tasks.h"
#include "tests/support/tested_kernels.h"

namespace data_index_test {
using svengine::DType;
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
  for (int64_t i = 0; i < count; ++i) buffer[i] = static_cast<T>(i % 251);
  return buffer;
}

template <class Index>
GuardedBuffer<Index> random_indices(int64_t count, int64_t extent, unsigned seed) {
  GuardedBuffer<Index> indices(static_cast<size_t>(count));
  std::mt19937 random(seed);
  for (Index& i : indices) i = static_cast<Index>(static_cast<int64_t>(random() % (2 * extent)) - extent);
  return indices;
}

template <class T, class Index>
void check_gather(const KernelTable& set, int64_t outer, int64_t extent, int64_t inner, int64_t count) {
  const GuardedBuffer<T> data = counted<T>(outer * extent * inner);
  const GuardedBuffer<Index> indices = random_indices<Index>(count, extent, 1);
  GuardedBuffer<T> y(static_cast<size_t>(outer * count * inner));
  int64_t error = kNoBadIndex;
  run_tasks(set.data->gather, GatherArgs{data.data(), indices.data(), y.data(), sizeof(T), sizeof(Index), outer, extent,
                                         inner, count, &error});
  for (int64_t i = 0; i < outer * count * inner; ++i) {
    const int64_t o = i / (count * inner), k = i / inner % count,
                  index = indices[k] < 0 ? indices[k] + extent : indices[k];
    if (y[i] != data[(o * extent + index) * inner + i % inner]) FAIL(set.name << " gather at " << i);
  }
  REQUIRE(error == kNoBadIndex);
  REQUIRE(y.intact());
}

template <class T, class Index>
void check_elements(const KernelTable& set, std::vector<int64_t> data_extent, std::vector<int64_t> index_extent,
                    int axis) {
  GatherElementsArgs args{.element_bytes = sizeof(T),
                          .index_bytes = sizeof(Index),
                          .rank = static_cast<int32_t>(data_extent.size()),
                          .axis = axis};
  std::copy(data_extent.begin(), data_extent.end(), args.data_extent);
  std::copy(index_extent.begin(), index_extent.end(), args.index_extent);
  const int64_t data_count = count_of(args.data_extent, args.rank), count = count_of(args.index_extent, args.rank);
  GuardedBuffer<T> data = counted<T>(data_count), y(count), want(count);
  const GuardedBuffer<Index> indices = random_indices<Index>(count, data_extent[axis], 2);
  int64_t error = kNoBadIndex;
  args.data = data.data(), args.indices = indices.data(), args.error = &error, args.y = want.data();
  reference_gather_elements(args);
  args.y = y.data();
  run_tasks(set.data->gather_elements, args);
  REQUIRE(same_values(y.data(), want.data(), y.size()));
  REQUIRE((y.intact() && error == kNoBadIndex));
  for (ScatterOp op : {ScatterOp::kSet, ScatterOp::kAdd, ScatterOp::kMul, ScatterOp::kMax, ScatterOp::kMin}) {
    if (op != ScatterOp::kSet && sizeof(T) < 4) continue;
    ScatterElementsArgs scatter{.indices = indices.data(),
                                .op = op,
                                .element_bytes = sizeof(T),
                                .index_bytes = sizeof(Index),
                                .rank = args.rank,
                                .axis = axis};
    scatter.type = std::is_same_v<T, float>     ? DType::f32
                   : std::is_same_v<T, double>  ? DType::f64
                   : std::is_same_v<T, int32_t> ? DType::i32
                                                : DType::i64;
    std::copy(data_extent.begin(), data_extent.end(), scatter.data_extent);
    std::copy(index_extent.begin(), index_extent.end(), scatter.index_extent);
    scatter.error = &error;
    GuardedBuffer<T> updates = counted<T>(count), got = counted<T>(data_count), expected = counted<T>(data_count);
    for (T& u : updates) u = static_cast<T>(static_cast<int64_t>(u) % 2 + 1);
    scatter.updates = updates.data(), scatter.y = expected.data();
    reference_scatter_elements(scatter);
    scatter.y = got.data();
    run_tasks(set.data->scatter_elements, scatter);
    INFO(set.name << " scatter op " << int(op) << " axis " << axis);
    REQUIRE(same_values(got.data(), expected.data(), got.size()));
    REQUIRE((got.intact() && error == kNoBadIndex));
  }
}

template <class T>
void check_nd(const KernelTable& set, int64_t batch, std::vector<int64_t> extent, int64_t slice, int64_t count) {
  const int32_t depth = static_cast<int32_t>(extent.size());
  const int64_t slices = count_of(extent.data(), depth);
  GuardedBuffer<T> data = counted<T>(batch * slices * slice), y(batch * count * slice), want(batch * count * slice);
  GuardedBuffer<int64_t> indices(batch * count * depth);
  std::mt19937 random(4);
  for (size_t i = 0; i < indices.size(); ++i)
    indices[i] = static_cast<int64_t>(random() % (2 * extent[i % depth])) - extent[i % depth];
  int64_t error = kNoBadIndex;
  GatherNdArgs args{data.data(), indices.data(), want.data(), sizeof(T), 8, depth, batch, count, slice, {}, &error};
  std::copy(extent.begin(), extent.end(), args.extent);
  reference_gather_nd(args);
  args.y = y.data();
  run_tasks(set.data->gather_nd, args);
  REQUIRE(same_values(y.data(), want.data(), y.size()));
  REQUIRE((y.intact() && error == kNoBadIndex));
  for (ScatterOp op : {ScatterOp::kSet, ScatterOp::kAdd, ScatterOp::kMul}) {
    ScatterNdArgs scatter{.indices = indices.data(),
                          .updates = want.data(),
                          .op = op,
                          .element_bytes = sizeof(T),
                          .index_bytes = 8,
                          .depth = depth,
                          .count = batch * count,
                          .slice = slice,
                          .error = &error};
    std::copy(extent.begin(), extent.end(), scatter.extent);
    GuardedBuffer<T> got = counted<T>(slices * slice), expected = counted<T>(slices * slice);
    scatter.y = expected.data();
    reference_scatter_nd(scatter);
    scatter.y = got.data();
    run_tasks(set.data->scatter_nd, scatter);
    REQUIRE(same_values(got.data(), expected.data(), got.size()));
    REQUIRE((got.intact() && error == kNoBadIndex));
  }
}

}  // namespace

TEST_CASE("gather slices") {
  for_every_set([](const KernelTable& set) {
    for (int64_t inner : {1, 2, 15, 16, 33, 70}) {
      check_gather<float, int64_t>(set, 3, 5, inner, 11);
      check_gather<uint8_t, int32_t>(set, 1, 9, inner, 4);
      check_gather<double, int32_t>(set, 2, 1, inner, 3);
    }
    check_gather<float, int64_t>(set, 2, 100, 768, 70);  // an embedding
    check_gather<uint16_t, int64_t>(set, 2, 3, 4, 0);
  });
}

TEST_CASE("gather and scatter elements along every axis") {
  for_every_set([](const KernelTable& set) {
    for (int axis = 0; axis < 3; ++axis) {
      check_elements<float, int64_t>(set, {4, 5, 37}, {3, 5, 20}, axis);
      check_elements<int64_t, int32_t>(set, {4, 5, 6}, {4, 2, 6}, axis);
      check_elements<uint8_t, int32_t>(set, {2, 7, 3}, {2, 3, 3}, axis);
    }
    check_elements<float, int64_t>(set, {3, 5}, {40, 5}, 0);  // many duplicates
    check_elements<int32_t, int64_t>(set, {17}, {200}, 0);
    check_elements<double, int64_t>(set, {9000, 2}, {9000, 2}, 1);  // several tasks
  });
}

TEST_CASE("gather and scatter slices by index tuples") {
  for_every_set([](const KernelTable& set) {
    check_nd<float>(set, 1, {4, 5}, 7, 30);
    check_nd<float>(set, 1, {6}, 3000, 9);
    check_nd<float>(set, 1, {2, 3, 4}, 1, 50);
    GuardedBuffer<float> data = counted<float>(2 * 3 * 4), y(2 * 2 * 4);
    GuardedBuffer<int32_t> indices(4);
    const int32_t values[] = {2, 0, -1, 1};
    std::copy(values, values + 4, indices.begin());
    int64_t error = kNoBadIndex;
    run_tasks(set.data->gather_nd, GatherNdArgs{data.data(), indices.data(), y.data(), 4, 4, 1, 2, 2, 4, {3}, &error});
    const int64_t rows[] = {2, 0, 5, 4};
    for (int64_t i = 0; i < 16; ++i) REQUIRE(y[i] == data[rows[i / 4] * 4 + i % 4]);
  });
}

TEST_CASE("an index out of range is reported, the first of several, and never followed") {
  for_every_set([](const KernelTable& set) {
    GuardedBuffer<float> data = counted<float>(12), y(12);
    GuardedBuffer<int64_t> indices(6);
    for (int64_t bad : {int64_t{3}, int64_t{-4}, INT64_MAX, INT64_MIN}) {
      const int64_t values[] = {0, -3, bad, 2, bad, 1};
      std::copy(values, values + 6, indices.begin());
      int64_t error = kNoBadIndex;
      run_tasks(set.data->gather, GatherArgs{data.data(), indices.data(), y.data(), 4, 8, 1, 3, 2, 6, &error}, 2);
      REQUIRE(error == 2);
      for (int64_t i = 0; i < 2; ++i) {
        REQUIRE(y[2 + i] == data[i]);
        REQUIRE(y[4 + i] == 0);
        REQUIRE(y[10 + i] == data[2 + i]);
      }
      error = kNoBadIndex;
      GatherElementsArgs elements{data.data(), indices.data(), y.data(), 4, 8, 2, 0, {3, 2}, {3, 2}, &error};
      run_tasks(set.data->gather_elements, elements);
      REQUIRE(error == 2);
      REQUIRE(y[2] == 0);
      error = kNoBadIndex;
      run_tasks(set.data->gather_nd,
                GatherNdArgs{data.data(), indices.data(), y.data(), 4, 8, 1, 1, 6, 2, {3}, &error});
      REQUIRE(error == 2);
      error = kNoBadIndex;
      GuardedBuffer<float> target = counted<float>(6);
      run_tasks(set.data->scatter_elements, ScatterElementsArgs{target.data(),
                                                                indices.data(),
                                                                data.data(),
                                                                ScatterOp::kSet,
                                                                DType::f32,
                                                                4,
                                                                8,
                                                                2,
                                                                0,
                                                                {3, 2},
                                                                {3, 2},
                                                                &error});
      REQUIRE((error == 2 && target.intact()));
      error = kNoBadIndex;
      run_tasks(
          set.data->scatter_nd,
          ScatterNdArgs{
              target.data(), indices.data(), data.data(), ScatterOp::kAdd, DType::f32, 4, 8, 1, 6, 2, {3}, &error});
      REQUIRE((error == 2 && target.intact()));
    }
  });
}
}  // namespace data_index_test
