#include "engine/kernels/attention.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "engine/kernels/kernel_table.h"
#include "engine/kernels/reference/attention.h"
#include "tests/support/guarded_buffer.h"
#include "tests/support/kernel_tasks.h"
#include "tests/support/tested_kernels.h"

namespace attention_test {
using namespace svengine::kernels;
using namespace svengine::tests;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

enum class Mask { kNone, kKeys, kQueries, kFull };

struct Case {
  int64_t batch, heads, queries, keys, size, value_size;
  Mask mask = Mask::kNone;
  bool length_first = false;  // [batch, length, heads, size] instead of [batch, heads, length, size]
  bool k_transposed = false;  // [batch, heads, size, length]
  float range = 1;
};

std::string to_string(const Case& c) {
  std::string text = std::to_string(c.batch) + "x" + std::to_string(c.heads) + " queries " + std::to_string(c.queries);
  text += " keys " + std::to_string(c.keys) + " size " + std::to_string(c.size) + " value size " + std::to_string(c.value_size);
  text += " mask " + std::to_string(static_cast<int>(c.mask)) + (c.length_first ? " length first" : "");
  return text + (c.k_transposed ? " k transposed" : "");
}

AttentionStride strides(const Case& c, int64_t length, int64_t size) {
  if (c.length_first) return {length * c.heads * size, size, c.heads * size};
  return {c.heads * length * size, length * size, size};
}

struct Data {
  GuardedBuffer<float> q, k, v, mask;
  AttentionArgs args;

  explicit Data(const Case& c)
      : q(static_cast<size_t>(c.batch * c.heads * c.queries * c.size)),
        k(static_cast<size_t>(c.batch * c.heads * c.keys * c.size)),
        v(static_cast<size_t>(c.batch * c.heads * c.keys * c.value_size)),
        mask(mask_size(c)) {
    std::mt19937 random(static_cast<unsigned>(c.queries * 131 + c.keys));
    std::uniform_real_distribution<float> uniform(-c.range, c.range);
    for (auto* buffer : {&q, &k, &v})
      for (float& x : *buffer) x = uniform(random);
    for (float& x : mask) x = random() % 3 == 0 ? -10000.0f : random() % 5 == 0 ? -kInf : uniform(random);
    for (size_t i = 0; i < mask.size(); i += static_cast<size_t>(c.keys)) mask[i] = 0;  // every query has a key
    args.batch = c.batch, args.heads = c.heads, args.queries = c.queries, args.keys = c.keys;
    args.size = c.size, args.value_size = c.value_size;
    args.q = q.data(), args.k = k.data(), args.v = v.data();
    args.q_stride = strides(c, c.queries, c.size), args.k_stride = strides(c, c.keys, c.size);
    args.v_stride = strides(c, c.keys, c.value_size), args.y_stride = strides(c, c.queries, c.value_size);
    args.k_transposed = c.k_transposed;
    if (c.k_transposed) args.k_stride = {c.heads * c.keys * c.size, c.keys * c.size, c.keys};
    args.scale = 0.35f;
    args.mask = c.mask == Mask::kNone ? nullptr : mask.data();
    if (c.mask == Mask::kKeys) args.mask_stride = {c.keys, 0, 0};
    if (c.mask == Mask::kQueries) args.mask_stride = {0, 0, c.keys};
    if (c.mask == Mask::kFull) args.mask_stride = {c.heads * c.queries * c.keys, c.queries * c.keys, c.keys};
  }

  static size_t mask_size(const Case& c) {
    const int64_t rows[] = {0, c.batch, c.queries, c.batch * c.heads * c.queries};
    return static_cast<size_t>(rows[static_cast<int>(c.mask)] * c.keys);
  }

  /// One head as dense rows of doubles.
  static std::vector<double> dense(const float* x, const AttentionStride& s, int64_t b, int64_t h, int64_t rows, int64_t columns,
                                   int64_t along = 1) {
    std::vector<double> out;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) out.push_back(x[b * s.batch + h * s.head + i * s.row + j * along]);
    return out;
  }

  std::vector<double> wanted(int64_t b, int64_t h) const {
    AttentionStride k_rows = args.k_stride;
    if (args.k_transposed) k_rows.row = 1;
    const int64_t along = args.k_transposed ? args.k_stride.row : 1;
    std::vector<double> masks;
    if (args.mask) masks = dense(args.mask, args.mask_stride, b, h, args.queries, args.keys);
    return reference_attention(dense(args.q, args.q_stride, b, h, args.queries, args.size),
                               dense(args.k, k_rows, b, h, args.keys, args.size, along),
                               dense(args.v, args.v_stride, b, h, args.keys, args.value_size), masks, args.queries, args.keys, args.size,
                               args.value_size, double{args.scale});
  }
};

GuardedBuffer<float> run(const KernelTable& set, AttentionArgs args, int64_t parts) {
  const AttentionKernels& kernels = *set.attention;
  GuardedBuffer<float> k(static_cast<size_t>(kernels.packed_k_bytes(args) / 4));
  GuardedBuffer<float> v(static_cast<size_t>(kernels.packed_v_bytes(args) / 4));
  GuardedBuffer<float> y(static_cast<size_t>(args.batch * args.heads * args.queries * args.value_size));
  args.packed_k = k.data(), args.packed_v = v.data(), args.y = y.data();
  run_tasks(kernels.pack, args, parts);
  run_tasks(kernels.attention, args, parts);
  REQUIRE(k.intact());
  REQUIRE(v.intact());
  REQUIRE(y.intact());
  return y;
}

/// Scores lose some units of their largest term, weights and products a few more: relative to the largest |v| and score.
void check(const KernelTable& set, const Case& c) {
  const Data data(c);
  const GuardedBuffer<float> y = run(set, data.args, 5), once = run(set, data.args, 1);
  INFO(set.name << ' ' << to_string(c));
  REQUIRE(same_values(y.data(), once.data(), y.size()));
  const double largest_score = 0.35 * static_cast<double>(c.size) * c.range * c.range;
  const double tolerance = (4 + largest_score) * 2e-7 * c.range;
  for (int64_t b = 0; b < c.batch; ++b)
    for (int64_t h = 0; h < c.heads; ++h) {
      const std::vector<double> want = data.wanted(b, h);
      const std::vector<double> got = Data::dense(y.data(), data.args.y_stride, b, h, c.queries, c.value_size);
      for (size_t i = 0; i < want.size(); ++i) {
        if (std::fabs(got[i] - want[i]) <= tolerance) continue;
        INFO("batch " << b << " head " << h << " element " << i << " got " << got[i] << " want " << want[i]);
        FAIL("wrong");
      }
    }
}

template <class F>
void for_every_set(const F& f) {
  REQUIRE(!tested_kernel_sets().empty());
  for (const KernelTable* set : tested_kernel_sets()) f(*set);
}

}  // namespace

TEST_CASE("attention at every number of queries and keys around a block") {
  for_every_set([](const KernelTable& set) {
    const int64_t block = set.attention->block_queries;
    for (int64_t queries = 1; queries <= 2 * block + 1; queries += queries < block ? 1 : 7) check(set, {1, 1, queries, 9, 5, 7});
    for (int64_t keys = 1; keys <= 40; ++keys) check(set, {1, 2, 3, keys, 8, 4, keys % 2 ? Mask::kKeys : Mask::kNone});
    for (int64_t size = 1; size <= 3 * set.lanes + 1; size += 3) check(set, {1, 1, 6, 13, size, size + 1});
  });
}

TEST_CASE("attention with masks and layouts") {
  for_every_set([](const KernelTable& set) {
    for (Mask mask : {Mask::kNone, Mask::kKeys, Mask::kQueries, Mask::kFull})
      for (bool length_first : {false, true})
        for (bool k_transposed : {false, true}) check(set, {2, 3, 37, 29, 16, 24, mask, length_first, k_transposed});
    check(set, {1, 2, 70, 384, 64, 64, Mask::kKeys, true});
    check(set, {1, 1, 5, 1000, 8, 40, Mask::kFull, true, false, 4});
  });
}

TEST_CASE("attention without keys is zero") {
  for_every_set([](const KernelTable& set) {
    for (float x : run(set, Data({1, 2, 5, 0, 4, 6}).args, 2)) REQUIRE(x == 0);
  });
}

TEST_CASE("attention gives NaN to the queries that have it, and to no other") {
  for_every_set([](const KernelTable& set) {
    for (float bad : {kNaN, kInf, -kInf}) {
      const Case c{1, 1, 40, 20, 8, 16, Mask::kQueries};
      Data data(c);
      for (int64_t j = 0; j < c.keys; ++j)
        if (bad < 0 || j == 11) data.mask[static_cast<size_t>(17 * c.keys + j)] = bad;  // one is enough, but for -infinity
      const GuardedBuffer<float> y = run(set, data.args, 3);
      for (int64_t i = 0; i < c.queries; ++i)
        for (int64_t d = 0; d < c.value_size; ++d) {
          INFO(set.name << " with " << bad << " query " << i);
          REQUIRE(std::isnan(y[static_cast<size_t>(i * c.value_size + d)]) == (i == 17));
        }
    }
  });
}
}  // namespace attention_test
