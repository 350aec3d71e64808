#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "engine/kernels/kernel_table.h"
#include "engine/kernels/quantized.h"
#include "tests/support/guarded_buffer.h"

namespace quantized_integer_gemm_test {
using namespace svengine::kernels;
using svengine::tests::GuardedBuffer;

namespace {

struct Sizes {
  int64_t m, n, k;
};

/// Any numbers, so that sums wrap; rows of C lie apart.
template <class U>
void check_product(Sizes s, bool a_transposed, bool b_transposed) {
  std::mt19937_64 random(static_cast<unsigned>(s.m * 1000 + s.n * 10 + s.k));
  GuardedBuffer<U> a(static_cast<size_t>(s.m * s.k)), b(static_cast<size_t>(s.k * s.n));
  for (U& x : a) x = static_cast<U>(random());
  for (U& x : b) x = static_cast<U>(random());
  IntegerGemmArgs args{.m = s.m, .n = s.n, .k = s.k, .element_bytes = sizeof(U), .a = a.data(), .b = b.data(), .ldc = s.n + 3};
  args.a_row = a_transposed ? 1 : s.k, args.a_depth = a_transposed ? s.m : 1;
  args.b_depth = b_transposed ? 1 : s.n, args.b_column = b_transposed ? s.k : 1;
  std::vector<U> want(static_cast<size_t>((s.m - 1) * args.ldc + s.n), U(77));
  for (int64_t i = 0; i < s.m; ++i)
    for (int64_t j = 0; j < s.n; ++j) {
      U sum = 0;
      for (int64_t d = 0; d < s.k; ++d) sum += a[i * args.a_row + d * args.a_depth] * b[d * args.b_depth + j * args.b_column];
      want[static_cast<size_t>(i * args.ldc + j)] = sum;
    }
  for (const QuantizedVariant& set : quantized_variants()) {
    INFO(set.name << " " << s.m << " x " << s.n << " x " << s.k << " transposed " << a_transposed << b_transposed << " bytes " << sizeof(U));
    GuardedBuffer<U> c(want.size());
    std::fill(c.begin(), c.end(), U(77));
    args.c = c.data();
    const auto& kernel = set.kernels->integer_gemm;
    GuardedBuffer<uint8_t> scratch(static_cast<size_t>(kernel.scratch_bytes(args) + 255) / 256 * 256);
    for (int64_t task = kernel.tasks(args); task > 0; --task) kernel.run(args, task - 1, task, scratch.data());
    CHECK(std::equal(want.begin(), want.end(), c.data()));
    CHECK((c.intact() && scratch.intact()));
  }
}

}  // namespace

TEST_CASE("products of whole numbers wrap, whatever their sizes and how they lie", "[quantized]") {
  constexpr Sizes kSizes[] = {{1, 1, 1},    {1, 300, 7},   {2, 65, 20},  {3, 31, 1},    {4, 32, 128}, {5, 33, 129},
                              {12, 16, 5},  {13, 17, 300}, {97, 40, 9},  {200, 70, 33}, {7, 9, 0}};
  for (const Sizes s : kSizes)
    for (bool a_transposed : {false, true})
      for (bool b_transposed : {false, true}) {
        check_product<uint32_t>(s, a_transposed, b_transposed);
        check_product<uint64_t>(s, a_transposed, b_transposed);
      }
}
}  // namespace quantized_integer_gemm_test
