#include "engine/kernels/gemm.h"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "engine/kernels/gemm_test_util.h"
#include "engine/kernels/kernel_table.h"

namespace gemm_test {
using namespace svengine::kernels;
using namespace svengine::kernels::test;

namespace {

bool agrees(double got, double want, double error) {
  if (std::isnan(want)) return std::isnan(got);
  if (std::isinf(want)) return got == want;
  return std::fabs(got - want) <= error;
}

/// Elements of C in rows [row_begin, row_begin + rows) of one matrix that are off by more than the stated bound.
template <class T>
int64_t wrong_elements(const Instance<T>& x, int64_t outer, int64_t inner, int64_t row_begin, const ReferenceGemm& want) {
  const int64_t n = x.problem.n;
  int64_t wrong = 0;
  for (size_t at = 0; at < want.c.size(); ++at) {
    const int64_t row = row_begin + static_cast<int64_t>(at) / n;
    const T got = x.c.data[x.c.offset(outer, inner) + row * x.c.ld + static_cast<int64_t>(at) % n];
    if (agrees(got, want.c[at], want.error[at])) continue;
    if (++wrong == 1)
      UNSCOPED_INFO("first at row " << row << " column " << at % n << ": " << got << " not " << want.c[at]);
  }
  return wrong;
}

/// Packs, multiplies and compares everything with the oracle.
template <class T = float>
void check(const KernelTable& set, const Problem& p) {
  INFO(set.name << " m " << p.m << " n " << p.n << " k " << p.k << " transposed " << p.a_transposed << p.b_transposed << " batch "
                << p.batch.outer << "x" << p.batch.inner << " bias " << int(p.bias) << " residual " << p.residual
                << p.in_place << " activation " << int(p.activation.kind));
  Instance<T> x(gemm_of<T>(set), p);
  x.pack();
  std::vector<ReferenceGemm> want;
  for (int64_t o = 0; o < p.batch.outer; ++o)
    for (int64_t i = 0; i < p.batch.inner; ++i) want.push_back(x.expected(o, i, 0, p.m));
  CHECK(x.multiply(0, x.gemm.gemm_tasks(x.args)));
  for (int64_t o = 0; o < p.batch.outer; ++o)
    for (int64_t i = 0; i < p.batch.inner; ++i) CHECK(wrong_elements(x, o, i, 0, want[o * p.batch.inner + i]) == 0);
  CHECK(x.c.gaps_untouched());
  CHECK(x.packed_a.intact());
  CHECK(x.packed_b.intact());
}

template <class T>
auto bits_of(const GuardedBuffer<T>& buffer) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  std::vector<Bits> bits;
  for (T x : buffer) bits.push_back(std::bit_cast<Bits>(x));
  return bits;
}

/// All results of [0, tasks) computed in pieces of random length, last piece first.
template <class Run>
void run_in_pieces(int64_t tasks, int64_t longest, const Run& run) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int64_t> length(1, longest);
  for (int64_t end = tasks; end > 0;) {
    const int64_t begin = std::max<int64_t>(end - length(random), 0);
    run(begin, end);
    end = begin;
  }
}

std::vector<ActivationArgs> all_activations() {
  std::vector<ActivationArgs> all;
  for (int kind = 0; kind < kActivationCount; ++kind) {
    ActivationArgs args{Activation{kind}, 0, 0};
    if (args.kind == Activation::kClip) args = {args.kind, -0.75f, 1.5f};
    if (args.kind == Activation::kLeakyRelu) args = {args.kind, 0.1f, 0};
    if (args.kind == Activation::kHardSigmoid) args = {args.kind, 0.2f, 0.5f};
    all.push_back(args);
  }
  return all;
}

}  // namespace

TEMPLATE_TEST_CASE("packed operands lie as documented, however the tasks are cut", "[gemm]", float, double) {
  for (const KernelTable* set : tested_product_sets()) {
    const GemmKernelsOf<TestType>& gemm = gemm_of<TestType>(*set);
    for (bool transposed : {false, true}) {
      for (int64_t extent : {1, 13, 32, 50}) {
        for (int64_t k : {1, 17, 150}) {
          INFO(set->name << " transposed " << transposed << " extent " << extent << " k " << k);
          Problem p{.m = extent, .n = extent, .k = k, .a_transposed = transposed, .b_transposed = transposed, .batch = {2, 3}};
          Instance<TestType> x(gemm, p);
          x.pack();
          int64_t wrong = 0;
          const int64_t panels = (extent + gemm.panel_rows - 1) / gemm.panel_rows;
          for (int64_t o = 0; o < 2; ++o) {
            for (int64_t i = 0; i < 3; ++i) {
              const TestType* a = x.packed_a.data() + o * x.args.a_stride.outer + i * x.args.a_stride.inner;
              const TestType* b = x.packed_b.data() + o * x.args.b_stride.outer + i * x.args.b_stride.inner;
              for (int64_t panel = 0; panel < panels; ++panel) {
                const int64_t first = panel * (extent / panels) + std::min(panel, extent % panels);
                const int64_t end = first + extent / panels + (panel < extent % panels);
                for (int64_t d = 0; d < k; ++d)
                  for (int64_t row = first; row < end; ++row, ++a)
                    wrong += *a != x.a.data[x.a.offset(o, i) + (transposed ? d * x.a.ld + row : row * x.a.ld + d)];
              }
              for (int64_t first = 0; first < extent; first += gemm.panel_columns)
                for (int64_t d = 0; d < k; ++d)
                  for (int64_t column = first; column < first + gemm.panel_columns; ++column, ++b)
                    wrong += *b != (column >= extent ? 0
                                    : transposed         ? x.b.data[x.b.offset(o, i) + column * x.b.ld + d]
                                                     : x.b.data[x.b.offset(o, i) + d * x.b.ld + column]);
            }
          }
          CHECK(wrong == 0);
          const auto a_bits = bits_of(x.packed_a);
          const auto b_bits = bits_of(x.packed_b);
          x.packed_a.refill();
          x.packed_b.refill();
          run_in_pieces(gemm.pack_a_tasks(x.pack_a), 3, [&](int64_t b, int64_t e) { gemm.pack_a(x.pack_a, b, e); });
          run_in_pieces(gemm.pack_b_tasks(x.pack_b), 3, [&](int64_t b, int64_t e) { gemm.pack_b(x.pack_b, b, e); });
          CHECK(a_bits == bits_of(x.packed_a));
          CHECK(b_bits == bits_of(x.packed_b));
        }
      }
    }
  }
}

namespace {

/// Packs one operand with its sums, in three ranges of tasks, and compares: the panels are the same bits as without.
void check_sums(const KernelTable& set, bool of_a, int64_t extent, int64_t depth) {
  const GemmKernels& gemm = *set.gemm;
  Problem p{.m = extent, .n = extent, .k = depth, .a_transposed = true};
  Instance<float> x(gemm, p);
  x.pack();
  GemmPackArgs& args = of_a ? x.pack_a : x.pack_b;
  GuardedBuffer<float>& packed = of_a ? x.packed_a : x.packed_b;
  const auto bits = bits_of(packed);
  packed.refill();
  GuardedBuffer<float> sums(static_cast<size_t>((depth + kGemmPackDepth - 1) / kGemmPackDepth * extent));
  args.sums = sums.data();
  const auto pack = of_a ? gemm.pack_a : gemm.pack_b;
  run_in_pieces((of_a ? gemm.pack_a_tasks : gemm.pack_b_tasks)(args), 3, [&](int64_t b, int64_t e) { pack(args, b, e); });
  INFO(set.name << (of_a ? " A" : " B") << " extent " << extent << " depth " << depth);
  CHECK(bits == bits_of(packed));
  int64_t wrong = 0;
  for (int64_t begin = 0; begin < depth; begin += kGemmPackDepth)
    for (int64_t i = 0; i < extent; ++i) {
      double want = 0, magnitude = 0;
      for (int64_t d = begin; d < std::min(depth, begin + kGemmPackDepth); ++d)
        want += args.source[d * args.ld + i], magnitude += std::fabs(args.source[d * args.ld + i]);
      wrong += !(std::fabs(sums[static_cast<size_t>(begin / kGemmPackDepth * extent + i)] - want) <= 34 * 0x1p-24 * magnitude);
    }
  CHECK(wrong == 0);
  CHECK(sums.intact());
}

}  // namespace

TEST_CASE("packing sums up what it packs, where that is wanted", "[gemm]") {
  for (const KernelTable* set : tested_product_sets())
    for (bool of_a : {false, true})
      for (int64_t extent : {1, 12, 13, 32, 50, 97})
        for (int64_t depth : {1, 3, 17, 128, 129, 300}) check_sums(*set, of_a, extent, depth);
}

TEMPLATE_TEST_CASE("products of every remainder of a tile agree with the oracle", "[gemm]", float, double) {
  for (const KernelTable* set : tested_product_sets()) {
    const int64_t rows = gemm_of<TestType>(*set).panel_rows;
    const int64_t columns = gemm_of<TestType>(*set).panel_columns;
    for (int64_t m = 1; m <= 2 * rows + 1; ++m)
      for (int64_t k : {0, 1, 7, 18}) check<TestType>(*set, {.m = m, .n = columns + 3, .k = k});
    for (int64_t n = 1; n <= 2 * columns + 1; n += n % 5 == 0 ? 3 : 2)
      check<TestType>(*set, {.m = rows + 1, .n = n, .k = 5, .a_transposed = n % 3 == 0, .b_transposed = n % 4 < 2});
  }
}

TEMPLATE_TEST_CASE("depth beyond a block, rows beyond a group and single rows agree with the oracle", "[gemm]", float, double) {
  for (const KernelTable* set : tested_product_sets()) {
    const int64_t columns = gemm_of<TestType>(*set).panel_columns;
    for (int64_t m : {1, 2, 14, 30}) check<TestType>(*set, {.m = m, .n = columns + 3, .k = 1003, .b_transposed = m == 2});
    for (int64_t k : {3, 600}) {
      INFO(set->name << " k " << k);
      Problem p{.m = 801, .n = 5 * columns + 1, .k = k, .residual = true};
      Instance<TestType> x(gemm_of<TestType>(*set), p);
      x.pack();
      CHECK(x.multiply(0, gemm_of<TestType>(*set).gemm_tasks(x.args)));
      for (int64_t row = 0; row<p.m; row += k> 100 ? 89 : 1)
        CHECK(wrong_elements(x, 0, 0, row, x.expected(0, 0, row, 1)) == 0);
      CHECK(x.c.gaps_untouched());
    }
  }
}

TEMPLATE_TEST_CASE("batches with two strides, shared operands and transposes agree with the oracle", "[gemm]", float, double) {
  for (const KernelTable* set : tested_product_sets())
    for (bool a_transposed : {false, true})
      for (bool b_transposed : {false, true})
        for (bool share_b : {false, true})
          check<TestType>(*set, {.m = 19,
                       .n = 37,
                       .k = 21,
                       .a_transposed = a_transposed,
                       .b_transposed = b_transposed,
                       .batch = {2, 3},
                       .share_b = share_b,
                       .alpha = 0.125f});
}

TEMPLATE_TEST_CASE("the epilogue agrees with the oracle for every activation, bias and residual", "[gemm]", float, double) {
  for (const KernelTable* set : tested_product_sets()) {
    for (const ActivationArgs& activation : all_activations()) {
      for (GemmBias bias : {GemmBias::kNone, GemmBias::kColumn, GemmBias::kRow, GemmBias::kOne}) {
        for (int residual : {0, 1, 2}) {
          Problem p{.m = 14,
                    .n = 35,
                    .k = 9,
                    .bias = bias,
                    .residual = residual == 1,
                    .in_place = residual == 2,
                    .activation = activation};
          if (residual > 0) p.alpha = -1.5f, p.bias_scale = 0.5f, p.residual_scale = 3;
          check<TestType>(*set, p);
        }
      }
      check<TestType>(*set, {.m = 14, .n = 35, .k = 700, .in_place = true, .activation = activation});
    }
  }
}

TEMPLATE_TEST_CASE("a bias may change with the batch, as an attention mask does", "[gemm]", float, double) {
  for (const KernelTable* set : tested_product_sets()) {
    Problem p{.m = 5, .n = 11, .k = 4, .batch = {2, 3}, .bias = GemmBias::kColumn};
    Instance<TestType> x(gemm_of<TestType>(*set), p);
    x.pack();
    std::vector<TestType> mask(22, 0);
    std::fill(mask.begin() + 11, mask.end(), -100.0f);
    x.args.bias = mask.data();
    x.args.bias_stride = {11, 0};
    CHECK(x.multiply(0, gemm_of<TestType>(*set).gemm_tasks(x.args)));
    for (int64_t i = 0; i < 3; ++i) {
      for (int64_t row = 0; row < 5; ++row) {
        for (int64_t column = 0; column < 11; ++column) {
          CHECK(std::fabs(x.c.data[x.c.offset(0, i) + row * x.c.ld + column]) < 5);
          CHECK(std::fabs(x.c.data[x.c.offset(1, i) + row * x.c.ld + column] + 100) < 5);
        }
      }
    }
  }
}

TEMPLATE_TEST_CASE("NaN and infinity reach exactly the results they belong to", "[gemm]", float, double) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (const KernelTable* set : tested_product_sets()) {
    for (const ActivationArgs& activation : all_activations()) {
      INFO(set->name << " activation " << int(activation.kind));
      Problem p{.m = 15, .n = 37, .k = 6, .bias = GemmBias::kColumn, .activation = activation};
      Instance<TestType> x(gemm_of<TestType>(*set), p);
      x.a.data[3 * x.a.ld + 2] = kNan;
      x.a.data[8 * x.a.ld + 1] = kInfinity;
      x.a.data[9 * x.a.ld + 5] = -kInfinity;
      x.b.data[4 * x.b.ld + 34] = kInfinity;
      x.bias[7] = kNan;
      x.bias[36] = -kInfinity;
      x.pack();
      CHECK(x.multiply(0, gemm_of<TestType>(*set).gemm_tasks(x.args)));
      CHECK(wrong_elements(x, 0, 0, 0, x.expected(0, 0, 0, p.m)) == 0);
      CHECK(x.c.gaps_untouched());
    }
  }
}

TEMPLATE_TEST_CASE("results are bitwise the same however the tasks are cut", "[gemm]", float, double) {
  for (const KernelTable* set : tested_product_sets()) {
    for (const Problem& p : {Problem{.m = 1, .n = 100, .k = 777}, Problem{.m = 50, .n = 130, .k = 10, .batch = {2, 2}},
                             Problem{.m = 40, .n = 70, .k = 530, .bias = GemmBias::kColumn, .residual = true},
                             Problem{.m = 230, .n = 99, .k = 300}}) {
      INFO(set->name << " m " << p.m << " n " << p.n << " k " << p.k);
      Instance<TestType> x(gemm_of<TestType>(*set), p);
      x.pack();
      const int64_t tasks = gemm_of<TestType>(*set).gemm_tasks(x.args);
      CHECK(x.multiply(0, tasks));
      const auto whole = bits_of(x.c.data);
      for (int64_t longest : {int64_t{1}, int64_t{5}, std::max<int64_t>(tasks / 2, 1)}) {
        x.c.data.refill();
        run_in_pieces(tasks, longest, [&](int64_t begin, int64_t end) { CHECK(x.multiply(begin, end)); });
        CHECK(whole == bits_of(x.c.data));
      }
    }
  }
}

TEMPLATE_TEST_CASE("ranges of tasks write every element once", "[gemm]", float, double) {
  for (const KernelTable* set : tested_product_sets()) {
    for (const Problem& p : {Problem{.m = 50, .n = 70, .k = 5, .batch = {1, 2}}, Problem{.m = 33, .n = 99, .k = 270}}) {
      INFO(set->name << " m " << p.m << " n " << p.n << " k " << p.k);
      Instance<TestType> x(gemm_of<TestType>(*set), p);
      x.pack();
      size_t written = 0;
      run_in_pieces(gemm_of<TestType>(*set).gemm_tasks(x.args), 9, [&](int64_t begin, int64_t end) {
        x.c.data.refill();
        CHECK(x.multiply(begin, end));
        for (size_t at = 0; at < x.c.data.size(); ++at) written += !x.c.data.poisoned(at);
      });
      CHECK(written == static_cast<size_t>(p.batch.outer * p.batch.inner * p.m * p.n));
    }
  }
}

TEST_CASE("empty products have no tasks", "[gemm]") {
  for (const KernelTable* set : tested_product_sets()) {
    GemmArgs args;
    CHECK(set->gemm->gemm_tasks(args) == 0);
    args.m = 3, args.k = 4;
    CHECK(set->gemm->gemm_tasks(args) == 0);
    GemmPackArgs pack;
    CHECK(set->gemm->pack_a_tasks(pack) == 0);
    CHECK(set->gemm->pack_b_tasks(pack) == 0);
  }
}
}  // namespace gemm_test
