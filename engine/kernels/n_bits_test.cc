// Products with weights of a few bits, and weights that become floats.
#include "engine/kernels/n_bits.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "engine/kernels/kernel_table.h"
#include "engine/kernels/quantized.h"
#include "engine/kernels/reference/n_bits.h"
#include "tests/support/guarded_buffer.h"

namespace n_bits_test {
using namespace svengine::kernels;
using svengine::tests::GuardedBuffer;

namespace {

enum class Zeros { kNone, kBytes, kFloats };

struct Problem {
  int64_t m, n, k, bits, block;
  Zeros zeros;
  bool bias;
};

/// Levels as a file has them, factors by column and block, and all of it as kernels read it.
struct Weights {
  Problem p;
  int64_t blocks = n_bits_blocks(p.k, p.block), row = blocks * p.block * p.bits / 8;
  GuardedBuffer<uint8_t> source{static_cast<size_t>(p.n * row)};
  std::vector<float> scale = std::vector<float>(static_cast<size_t>(p.n * blocks)), zero = scale;
  GuardedBuffer<uint32_t> levels{static_cast<size_t>(n_bits_level_bytes(p.k, p.n, p.bits) / 4)};
  GuardedBuffer<float> scales{static_cast<size_t>(n_bits_factors(p.k, p.n, p.block))}, float_zeros{scales.size()};
  GuardedBuffer<uint8_t> zeros{scales.size()};

  Weights(const Problem& problem, std::mt19937& random) : p(problem) {
    for (uint8_t& x : source) x = static_cast<uint8_t>(random() >> 8);
    std::uniform_real_distribution<float> factor(0.001f, 0.1f);
    for (size_t i = 0; i < scale.size(); ++i) {
      scale[i] = factor(random);
      zero[i] = p.zeros == Zeros::kNone ? static_cast<float>(1 << (p.bits - 1)) : static_cast<float>(random() % (1u << p.bits));
      if (p.zeros == Zeros::kFloats) zero[i] += factor(random);
    }
    std::fill(scales.begin(), scales.end(), 0.0f), std::fill(float_zeros.begin(), float_zeros.end(), 0.0f);
    std::fill(zeros.begin(), zeros.end(), uint8_t{0});
    for (int64_t c = 0; c < p.n; ++c)
      for (int64_t b = 0; b < blocks; ++b) {
        const auto to = static_cast<size_t>((c / kNBitsColumns * blocks + b) * kNBitsColumns + c % kNBitsColumns),
                   from = static_cast<size_t>(c * blocks + b);
        scales[to] = scale[from], float_zeros[to] = zero[from], zeros[to] = static_cast<uint8_t>(zero[from]);
      }
    pack_n_bits(matrix(), source.data(), levels.data(), 0, n_bits_panels(p.n));
  }
  NBitsMatrix matrix() const {
    return {p.k, p.n, p.bits, p.block, levels.data(), scales.data(), p.zeros == Zeros::kBytes ? zeros.data() : nullptr,
            p.zeros == Zeros::kFloats ? float_zeros.data() : nullptr};
  }
  float at(int64_t d, int64_t c) const {
    const uint32_t level = source[static_cast<size_t>(c * row + d * p.bits / 8)] >> (d * p.bits % 8) & ((1u << p.bits) - 1);
    const auto factor = static_cast<size_t>(c * blocks + d / p.block);
    return (static_cast<float>(level) - zero[factor]) * scale[factor];
  }
};

void fill(GuardedBuffer<float>& values, std::mt19937& random) {
  std::uniform_real_distribution<float> number(-2, 2);
  for (float& x : values) x = number(random);
}

/// All tasks in pieces of random length, the last ones first.
bool run_in_pieces(const TaskKernel<NBitsRowsArgs>& kernel, const NBitsRowsArgs& args, std::mt19937& random) {
  GuardedBuffer<uint8_t> scratch(static_cast<size_t>(kernel.scratch_bytes(args) + 255) / 256 * 256);
  for (int64_t end = kernel.tasks(args); end > 0;) {
    const int64_t begin = std::max<int64_t>(end - 1 - static_cast<int64_t>(random() % 3), 0);
    kernel.run(args, begin, end, scratch.data());
    end = begin;
  }
  return scratch.intact();
}

/// What rounding makes of rows, in memory of exactly that size.
struct Rounded {
  GuardedBuffer<int8_t> numbers;
  GuardedBuffer<float> scales;
  GuardedBuffer<int32_t> sums, rounded;
  NBitsRoundArgs args;

  Rounded(const Problem& p, const float* a, int64_t lda)
      : numbers(static_cast<size_t>(p.m * n_bits_number_bytes(p.k))),
        scales(static_cast<size_t>(p.m * n_bits_groups(p.k, p.block))),
        sums(scales.size()),
        rounded(static_cast<size_t>(p.m)),
        args{p.m, p.k, p.block, a, lda, numbers.data(), scales.data(), sums.data(), rounded.data()} {}
  bool intact() const { return numbers.intact() && scales.intact() && sums.intact() && rounded.intact(); }
  NBitsRounded result() const { return {numbers.data(), scales.data(), sums.data(), rounded.data()}; }
};

template <class T>
bool equal_bits(const GuardedBuffer<T>& a, const GuardedBuffer<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

/// Rounds A; the numbers are the reference's, and near A.
void check_rounding(const QuantizedVariant& set, const Problem& p, Rounded& x) {
  Rounded want(p, x.args.a, x.args.lda);
  for (int64_t r = 0; r < p.m; ++r) reference_n_bits_round(want.args, r);
  for (int64_t task = set.kernels->n_bits.round.tasks(x.args); task > 0; --task) set.kernels->n_bits.round.run(x.args, task - 1, task, nullptr);
  CHECK(x.intact());
  CHECK(equal_bits(x.rounded, want.rounded));
  int64_t wrong = 0;
  for (int64_t r = 0; r < p.m; ++r) {
    if (!x.rounded[static_cast<size_t>(r)]) continue;
    const int64_t groups = n_bits_groups(p.k, p.block), bytes = n_bits_number_bytes(p.k);
    CHECK(std::memcmp(x.numbers.data() + r * bytes, want.numbers.data() + r * bytes, static_cast<size_t>(bytes)) == 0);
    CHECK(std::memcmp(x.scales.data() + r * groups, want.scales.data() + r * groups, static_cast<size_t>(groups) * 4) == 0);
    CHECK(std::memcmp(x.sums.data() + r * groups, want.sums.data() + r * groups, static_cast<size_t>(groups) * 4) == 0);
    NBitsRowsArgs args;
    args.b.k = p.k, args.b.block = p.block, args.rounded = x.result(), args.a = x.args.a, args.lda = x.args.lda;
    for (int64_t d = 0; d < p.k; ++d) {
      const double scale = x.scales[static_cast<size_t>(r * groups + d / n_bits_group(p.block))];
      wrong += !(std::fabs(reference_n_bits_a(args, r, d) - double{x.args.a[r * x.args.lda + d]}) <= 0.51 * scale);
    }
  }
  CHECK(wrong == 0);
}

/// Rows of A as they are, or rounded to integers first; then it is those that the oracle multiplies.
void check_rows(const Problem& p, bool rounds = false, float special = 0) {
  std::mt19937 random(static_cast<unsigned>(p.m * 131 + p.n * 17 + p.k));
  const Weights w(p, random);
  const int64_t lda = p.k + 3, ldc = p.n + 2;
  GuardedBuffer<float> a(static_cast<size_t>((p.m - 1) * lda + p.k)), bias(static_cast<size_t>(p.n));
  fill(a, random), fill(bias, random);
  if (special != 0) a[static_cast<size_t>(p.m / 2 * lda + p.k / 2)] = special;
  for (const QuantizedVariant& set : quantized_variants()) {
    INFO(set.name << " m " << p.m << " n " << p.n << " k " << p.k << " bits " << p.bits << " block " << p.block << " zeros " << int(p.zeros));
    GuardedBuffer<float> c(static_cast<size_t>((p.m - 1) * ldc + p.n)), again(c.size());
    NBitsRowsArgs args{p.m, w.matrix(), a.data(), lda, c.data(), ldc, p.bias ? bias.data() : nullptr, {}};
    Rounded rounded(p, a.data(), lda);
    if (rounds) check_rounding(set, p, rounded), args.rounded = rounded.result();
    const TaskKernel<NBitsRowsArgs>& kernel = set.kernels->n_bits.rows;
    GuardedBuffer<uint8_t> scratch(static_cast<size_t>(kernel.scratch_bytes(args) + 255) / 256 * 256);
    kernel.run(args, 0, kernel.tasks(args), scratch.data());
    CHECK((c.intact() && scratch.intact()));
    args.c = again.data();
    CHECK(run_in_pieces(kernel, args, random));
    CHECK(std::memcmp(c.data(), again.data(), c.size() * 4) == 0);
    int64_t wrong = 0;
    for (int64_t r = 0; r < p.m; ++r)
      for (int64_t column = 0; column < p.n; ++column) {
        double sum = p.bias ? bias[static_cast<size_t>(column)] : 0, size = std::fabs(sum);
        for (int64_t d = 0; d < p.k; ++d) {
          const double term = reference_n_bits_a(args, r, d) * w.at(d, column);
          sum += term, size += std::fabs(term);
        }
        const double bound = size * (8 + std::sqrt(static_cast<double>(p.k))) * 0x1p-24;
        const double got = c[static_cast<size_t>(r * ldc + column)];
        wrong += !(got == static_cast<float>(sum) || std::fabs(got - sum) <= bound || (std::isnan(got) && std::isnan(sum)));
      }
    CHECK(wrong == 0);
  }
}

/// A piece of the weights as floats: the same bits on every kernel set.
void check_unpacked(const Problem& p, int64_t begin, int64_t end, int64_t column, int64_t columns) {
  std::mt19937 random(static_cast<unsigned>(p.n * 17 + p.k));
  const Weights w(p, random);
  const int64_t ld = columns + 16;
  for (const QuantizedVariant& set : quantized_variants()) {
    INFO(set.name << " n " << p.n << " k " << p.k << " bits " << p.bits << " block " << p.block << " zeros " << int(p.zeros));
    GuardedBuffer<float> to(static_cast<size_t>((end - begin - 1) * ld + columns));
    set.kernels->n_bits.unpack({w.matrix(), begin, end, column, columns, to.data(), ld});
    CHECK(to.intact());
    int64_t wrong = 0;
    for (int64_t d = begin; d < end; ++d)
      for (int64_t c = column; c < column + columns; ++c)
        wrong += to[static_cast<size_t>((d - begin) * ld + c - column)] != (c < p.n ? w.at(d, c) : 0.0f);
    CHECK(wrong == 0);
  }
}

}  // namespace

TEST_CASE("few rows times weights of a few bits match the oracle in double precision") {
  for (const int64_t bits : {2, 4, 8})
    for (const Zeros zeros : {Zeros::kNone, Zeros::kBytes, Zeros::kFloats})
      for (const int64_t m : {1, 2, 4, 5, 9}) {
        check_rows({m, 1, 1, bits, 16, zeros, false});
        check_rows({m, 17, 37, bits, 16, zeros, true});
        check_rows({m, 31, 129, bits, 32, zeros, m % 2 == 0});
        check_rows({m, 48, 256, bits, 128, zeros, true});
        check_rows({m, 16, 95, bits, 1 << 12, zeros, false});
      }
}

TEST_CASE("rows of integers times weights of 4 bits match the oracle in double precision") {
  for (const Zeros zeros : {Zeros::kNone, Zeros::kBytes})
    for (const int64_t m : {1, 3, 5}) {
      check_rows({m, 1, 1, 4, 16, zeros, false}, true);
      check_rows({m, 17, 37, 4, 16, zeros, true}, true);
      check_rows({m, 31, 129, 4, 32, zeros, false}, true);
      check_rows({m, 48, 533, 4, 256, zeros, true}, true);
    }
}

TEST_CASE("a row that has no integers is multiplied as it is") {
  const float infinite = std::numeric_limits<float>::infinity();
  for (const float special : {infinite, -infinite, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::max(), 1e30f})
    for (const int64_t m : {1, 6}) check_rows({m, 17, 65, 4, 16, Zeros::kBytes, true}, true, special);
  for (const QuantizedVariant& set : quantized_variants()) {
    const Problem p{2, 1, 33, 4, 16, Zeros::kNone, false};
    std::vector<float> a(66, 0.0f);
    a[40] = 1e-30f;  // so small that the scale's inverse has no float
    Rounded x(p, a.data(), 33);
    check_rounding(set, p, x);
    CHECK((x.rounded[0] == 1 && x.rounded[1] == 0));
  }
}

TEST_CASE("weights of a few bits become floats") {
  for (const int64_t bits : {2, 4, 8})
    for (const Zeros zeros : {Zeros::kNone, Zeros::kBytes, Zeros::kFloats}) {
      check_unpacked({0, 1, 1, bits, 16, zeros, false}, 0, 1, 0, 16);
      check_unpacked({0, 37, 101, bits, 16, zeros, false}, 48, 101, 16, 32);
      check_unpacked({0, 37, 101, bits, 64, zeros, false}, 16, 80, 32, 32);
      check_unpacked({0, 32, 300, bits, 128, zeros, false}, 0, 300, 0, 48);
    }
}

TEST_CASE("an infinity in a row meets the weights, not what they are made of") {
  const float infinite = std::numeric_limits<float>::infinity();
  std::mt19937 random(3);
  const Weights w({1, 16, 64, 4, 32, Zeros::kBytes, false}, random);
  for (const QuantizedVariant& set : quantized_variants()) {
    std::vector<float> a(64, 0.5f), c(16);
    a[21] = infinite;
    NBitsRowsArgs args{1, w.matrix(), a.data(), 64, c.data(), 16, nullptr, {}};
    set.kernels->n_bits.rows.run(args, 0, set.kernels->n_bits.rows.tasks(args), nullptr);
    for (int64_t i = 0; i < 16; ++i) {
      const float weight = w.at(21, i), got = c[static_cast<size_t>(i)];
      CHECK((weight == 0 ? std::isnan(got) : got == (weight > 0 ? infinite : -infinite)));
    }
  }
}
}  // namespace n_bits_test
