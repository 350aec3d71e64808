// Products of few rows by a B that is read where it lies.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <vector>

#include "engine/kernels/gemm_test_util.h"

namespace gemm_rows_test {
using namespace svengine::kernels;
using namespace svengine::kernels::test;

namespace {

/// The arguments for an instance's operands, of which A is packed only where B is not transposed.
template <class T>
GemmRowsArgsOf<T> rows_args(Instance<T>& x) {
  GemmRowsArgsOf<T> args{.product = x.args, .ldb = x.b.ld, .b_transposed = x.problem.b_transposed, .lda = x.a.ld};
  args.product.b = x.b.data.data();
  args.product.b_stride = x.problem.share_b ? GemmStride{} : x.b.stride;
  if (x.problem.b_transposed) {
    args.product.a = x.a.data.data();
    args.product.a_stride = x.a.stride;
  } else {
    x.gemm.pack_a(x.pack_a, 0, x.gemm.pack_a_tasks(x.pack_a));
  }
  return args;
}

/// Runs tasks [begin, end), and says whether what surrounds the scratch is untouched.
template <class T>
bool run_rows(const Instance<T>& x, const GemmRowsArgsOf<T>& args, int64_t begin, int64_t end) {
  GuardedBuffer<T> scratch(static_cast<size_t>(x.gemm.rows.scratch_bytes(args)) / sizeof(T));
  x.gemm.rows.run(args, begin, end, scratch.data());
  return scratch.intact();
}

/// Compares with the oracle, and with the same tasks one by one, last first, bit by bit.
template <class T>
void check_rows(const KernelTable& set, const Problem& p) {
  INFO(set.name << " m " << p.m << " n " << p.n << " k " << p.k << " transposed " << p.b_transposed << " batch " << p.batch.outer << "x"
                << p.batch.inner << " bias " << int(p.bias) << " residual " << p.residual << p.in_place);
  Instance<T> x(gemm_of<T>(set), p);
  const GemmRowsArgsOf<T> args = rows_args(x);
  std::vector<ReferenceGemm> want;
  for (int64_t o = 0; o < p.batch.outer; ++o)
    for (int64_t i = 0; i < p.batch.inner; ++i) want.push_back(x.expected(o, i, 0, p.m));
  const int64_t tasks = x.gemm.rows.tasks(args);
  const std::vector<T> before(x.c.data.begin(), x.c.data.end());
  CHECK(run_rows(x, args, 0, tasks));
  int64_t wrong = 0;
  for (int64_t matrix = 0; matrix < p.batch.outer * p.batch.inner; ++matrix)
    for (int64_t at = 0; at < p.m * p.n; ++at) {
      const ReferenceGemm& of = want[static_cast<size_t>(matrix)];
      const T got = x.c.data[x.c.offset(matrix / p.batch.inner, matrix % p.batch.inner) + at / p.n * x.c.ld + at % p.n];
      wrong += !(std::fabs(got - of.c[static_cast<size_t>(at)]) <= of.error[static_cast<size_t>(at)]);
    }
  CHECK(wrong == 0);
  CHECK(x.c.gaps_untouched());
  const std::vector<T> whole(x.c.data.begin(), x.c.data.end());
  std::copy(before.begin(), before.end(), x.c.data.begin());
  for (int64_t task = tasks; task-- > 0;) CHECK(run_rows(x, args, task, task + 1));
  CHECK(std::memcmp(whole.data(), x.c.data.data(), whole.size() * sizeof(T)) == 0);
}

}  // namespace

TEMPLATE_TEST_CASE("few rows by a B that is not packed agree with the oracle", "[gemm]", float, double) {
  for (const KernelTable* set : tested_product_sets()) {
    const GemmKernelsOf<TestType>& gemm = gemm_of<TestType>(*set);
    for (bool transposed : {false, true}) {
      for (int64_t m = 1; m <= gemm.panel_rows; ++m)
        for (int64_t n : {1, 9, 37, 401})
          for (int64_t k : {0, 1, 18, 77}) check_rows<TestType>(*set, {.m = m, .n = n, .k = k, .b_transposed = transposed});
      for (int64_t n = 1; n <= 70; ++n) check_rows<TestType>(*set, {.m = 1, .n = n, .k = 33, .b_transposed = transposed});
      check_rows<TestType>(*set, {.m = 1, .n = 645, .k = 1003, .b_transposed = transposed});
      check_rows<TestType>(*set, {.m = std::min(2, gemm.panel_rows), .n = 2999, .k = 203, .b_transposed = transposed});
    }
  }
}

TEMPLATE_TEST_CASE("few rows have batches and every epilogue, B packed or not", "[gemm]", float, double) {
  for (const KernelTable* set : tested_product_sets()) {
    const int64_t m = gemm_of<TestType>(*set).panel_rows;
    for (bool transposed : {false, true}) {
      Problem p{.m = m, .n = 363, .k = 21, .b_transposed = transposed, .batch = {2, 3}, .alpha = 0.125f};
      check_rows<TestType>(*set, p);
      p.share_b = true;
      check_rows<TestType>(*set, p);
      for (GemmBias bias : {GemmBias::kColumn, GemmBias::kRow, GemmBias::kOne})
        for (bool in_place : {false, true})
          for (Activation activation : {Activation::kNone, Activation::kRelu, Activation::kTanh})
            check_rows<TestType>(*set, {.m = (m + 1) / 2,
                                        .n = 363,
                                        .k = 9,
                                        .b_transposed = transposed,
                                        .bias = bias,
                                        .bias_scale = 0.5f,
                                        .residual = !in_place,
                                        .in_place = in_place,
                                        .residual_scale = 3,
                                        .activation = {activation, 0, 0}});
    }
  }
}

TEST_CASE("empty products of few rows have no tasks", "[gemm]") {
  for (const KernelTable* set : tested_product_sets()) {
    GemmRowsArgsOf<float> args;
    for (const auto& [m, n] : {std::pair{0, 0}, {0, 5}, {1, 0}}) {
      args.product.m = m, args.product.n = n, args.product.k = 4;
      CHECK(set->gemm->rows.tasks(args) == 0);
      CHECK(set->gemm->rows.scratch_bytes(args) >= 0);
    }
  }
}
}  // namespace gemm_rows_test
