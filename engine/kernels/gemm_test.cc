#include "engine/kernels/gemm.h"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "engine/kernels/kernel_table.h"
#include "engine/kernels/reference/gemm.h"
#include "tests/support/guarded_buffer.h"

using namespace svengine::kernels;
using svengine::test::GuardedBuffer;

namespace {

/// Matrices [rows, columns] for every batch index, laid out [outer][rows][inner][columns] as attention heads are: the inner
/// batch lies within a row. Elements between rows stay poison.
struct Matrices {
  int64_t rows, columns;
  GemmBatch batch = {};
  int64_t ld;
  GemmStride stride;
  GuardedBuffer<float> data;

  Matrices(int64_t rows, int64_t columns, GemmBatch batch, int64_t pad)
      : rows(rows), columns(columns), batch(batch), ld(batch.inner * columns + pad), stride{rows * ld, columns},
        data(rows * columns == 0 ? 0 : (batch.outer * rows - 1) * ld + batch.inner * columns) {}

  int64_t offset(int64_t outer, int64_t inner) const { return outer * stride.outer + inner * stride.inner; }
  void fill(std::mt19937& random) {
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (int64_t line = 0; line < (rows * columns == 0 ? 0 : batch.outer * rows); ++line)
      for (int64_t x = 0; x < batch.inner * columns; ++x) data[line * ld + x] = uniform(random);
  }
  bool gaps_untouched() const {
    for (size_t x = 0; x < data.size(); ++x)
      if (static_cast<int64_t>(x) % ld >= batch.inner * columns && !data.poisoned(x)) return false;
    return data.intact();
  }
};

struct Problem {
  int64_t m = 1, n = 1, k = 1;
  bool a_turned = false, b_turned = false;  // stored as [k, m], [n, k]
  GemmBatch batch = {};
  bool share_b = false;
  float alpha = 1;
  GemmBias bias = GemmBias::kNone;
  float bias_scale = 1;
  bool residual = false, in_place = false;
  float residual_scale = 1;
  ActivationArgs activation = {};
  int64_t pad = 3;
};

/// Every buffer of a problem, filled; `args` describes the product of the packed operands.
struct Instance {
  const GemmKernels& gemm;
  Problem problem;
  GemmBatch b_batch;
  Matrices a, b, c, residual;
  GuardedBuffer<float> bias, packed_a, packed_b;
  GemmPackArgs pack_a, pack_b;
  GemmArgs args;

  Instance(const GemmKernels& gemm, const Problem& p)
      : gemm(gemm), problem(p), b_batch(p.share_b ? GemmBatch{} : p.batch),
        a(p.a_turned ? p.k : p.m, p.a_turned ? p.m : p.k, p.batch, p.pad),
        b(p.b_turned ? p.n : p.k, p.b_turned ? p.k : p.n, b_batch, p.pad), c(p.m, p.n, p.batch, p.pad),
        residual(p.m, p.n, p.batch, p.pad + 1),
        bias(p.bias == GemmBias::kRow ? p.m : p.bias == GemmBias::kColumn ? p.n : 1),
        packed_a(p.batch.outer * p.batch.inner * gemm.packed_a_bytes(p.m, p.k) / 4),
        packed_b(b_batch.outer * b_batch.inner * gemm.packed_b_bytes(p.k, p.n) / 4) {
    std::mt19937 random(static_cast<unsigned>(p.m * 10007 + p.n * 101 + p.k));
    a.fill(random);
    b.fill(random);
    residual.fill(random);
    if (p.in_place) c.fill(random);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (float& x : bias) x = uniform(random);
    pack_a = pack_args(a, p.a_turned, p.m, p.batch, packed_a, gemm.packed_a_bytes(p.m, p.k) / 4);
    pack_b = pack_args(b, !p.b_turned, p.n, b_batch, packed_b, gemm.packed_b_bytes(p.k, p.n) / 4);
    args.m = p.m, args.n = p.n, args.k = p.k;
    args.batch = p.batch;
    args.a = packed_a.data(), args.a_stride = pack_a.packed_stride;
    args.b = packed_b.data(), args.b_stride = p.share_b ? GemmStride{} : pack_b.packed_stride;
    args.c = c.data.data(), args.ldc = c.ld, args.c_stride = c.stride;
    args.alpha = p.alpha;
    args.bias_kind = p.bias, args.bias = bias.data(), args.bias_scale = p.bias_scale;
    if (p.residual || p.in_place) {
      Matrices& from = p.in_place ? c : residual;
      args.residual = from.data.data(), args.ld_residual = from.ld, args.residual_stride = from.stride;
    }
    args.residual_scale = p.residual_scale;
    args.activation = p.activation;
  }

  static GemmPackArgs pack_args(Matrices& from, bool depth_major, int64_t extent, GemmBatch batch,
                                GuardedBuffer<float>& packed, int64_t packed_floats) {
    GemmPackArgs pack;
    pack.source = from.data.data(), pack.ld = from.ld, pack.depth_major = depth_major;
    pack.extent = extent, pack.depth = depth_major ? from.rows : from.columns;
    pack.packed = packed.data();
    pack.batch = batch;
    pack.source_stride = from.stride;
    pack.packed_stride = {batch.inner * packed_floats, packed_floats};
    return pack;
  }

  void pack() {
    gemm.pack_a(pack_a, 0, gemm.pack_a_tasks(pack_a));
    gemm.pack_b(pack_b, 0, gemm.pack_b_tasks(pack_b));
  }

  void multiply(int64_t begin, int64_t end) {
    GuardedBuffer<float> scratch(gemm.gemm_scratch_bytes(args) / 4);
    gemm.gemm(args, begin, end, scratch.data());
    CHECK(scratch.intact());
  }

  ReferenceGemm expected(int64_t outer, int64_t inner, int64_t row_begin, int64_t rows) const {
    const Problem& p = problem;
    ReferenceGemmArgs r;
    r.m = rows, r.n = p.n, r.k = p.k;
    r.a_row = p.a_turned ? 1 : a.ld, r.a_depth = p.a_turned ? a.ld : 1;
    r.b_depth = p.b_turned ? 1 : b.ld, r.b_column = p.b_turned ? b.ld : 1;
    r.a = a.data.data() + a.offset(outer, inner) + row_begin * r.a_row;
    r.b = b.data.data() + (p.share_b ? 0 : b.offset(outer, inner));
    r.alpha = p.alpha;
    r.bias_row = p.bias == GemmBias::kRow, r.bias_column = p.bias == GemmBias::kColumn;
    if (p.bias != GemmBias::kNone) r.bias = bias.data() + row_begin * r.bias_row;
    r.bias_scale = p.bias_scale;
    if (args.residual) {
      const Matrices& from = args.residual == args.c ? c : residual;
      r.residual = args.residual + from.offset(outer, inner) + row_begin * from.ld;
      r.ld_residual = from.ld;
    }
    r.residual_scale = p.residual_scale;
    r.activation = p.activation;
    return reference_gemm(r);
  }
};

bool agrees(float got, double want, double error) {
  if (std::isnan(want)) return std::isnan(got);
  if (std::isinf(want)) return got == want;
  return std::fabs(got - want) <= error;
}

/// Elements of C in rows [row_begin, row_begin + rows) of one matrix that are off by more than the stated bound.
int64_t wrong_elements(const Instance& x, int64_t outer, int64_t inner, int64_t row_begin, const ReferenceGemm& want) {
  const int64_t n = x.problem.n;
  int64_t wrong = 0;
  for (size_t at = 0; at < want.c.size(); ++at) {
    const int64_t row = row_begin + static_cast<int64_t>(at) / n;
    const float got = x.c.data[x.c.offset(outer, inner) + row * x.c.ld + static_cast<int64_t>(at) % n];
    if (agrees(got, want.c[at], want.error[at])) continue;
    if (++wrong == 1) UNSCOPED_INFO("first at row " << row << " column " << at % n << ": " << got << " not " << want.c[at]);
  }
  return wrong;
}

/// Packs, multiplies and compares everything with the oracle.
void check(const KernelTable& set, const Problem& p) {
  INFO(set.name << " m " << p.m << " n " << p.n << " k " << p.k << " turned " << p.a_turned << p.b_turned << " batch "
                << p.batch.outer << "x" << p.batch.inner << " bias " << int(p.bias) << " residual " << p.residual
                << p.in_place << " activation " << int(p.activation.kind));
  Instance x(*set.gemm, p);
  x.pack();
  std::vector<ReferenceGemm> want;
  for (int64_t o = 0; o < p.batch.outer; ++o)
    for (int64_t i = 0; i < p.batch.inner; ++i) want.push_back(x.expected(o, i, 0, p.m));
  x.multiply(0, set.gemm->gemm_tasks(x.args));
  for (int64_t o = 0; o < p.batch.outer; ++o)
    for (int64_t i = 0; i < p.batch.inner; ++i)
      CHECK(wrong_elements(x, o, i, 0, want[o * p.batch.inner + i]) == 0);
  CHECK(x.c.gaps_untouched());
  CHECK(x.packed_a.intact());
  CHECK(x.packed_b.intact());
}

std::vector<uint32_t> bits_of(const GuardedBuffer<float>& buffer) {
  std::vector<uint32_t> bits;
  for (float x : buffer) bits.push_back(std::bit_cast<uint32_t>(x));
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

TEST_CASE("packed operands lie as documented, however the tasks are cut", "[gemm]") {
  for (const KernelTable* set : available_kernel_sets()) {
    const GemmKernels& gemm = *set->gemm;
    for (bool turned : {false, true}) {
      for (int64_t extent : {1, 13, 32, 50}) {
        for (int64_t k : {1, 17, 150}) {
          INFO(set->name << " turned " << turned << " extent " << extent << " k " << k);
          Problem p{.m = extent, .n = extent, .k = k, .a_turned = turned, .b_turned = turned, .batch = {2, 3}};
          Instance x(gemm, p);
          x.pack();
          int64_t wrong = 0;
          const int64_t panels = (extent + gemm.panel_rows - 1) / gemm.panel_rows;
          for (int64_t o = 0; o < 2; ++o) {
            for (int64_t i = 0; i < 3; ++i) {
              const float* a = x.packed_a.data() + o * x.args.a_stride.outer + i * x.args.a_stride.inner;
              const float* b = x.packed_b.data() + o * x.args.b_stride.outer + i * x.args.b_stride.inner;
              for (int64_t panel = 0; panel < panels; ++panel) {
                const int64_t first = panel * (extent / panels) + std::min(panel, extent % panels);
                const int64_t end = first + extent / panels + (panel < extent % panels);
                for (int64_t d = 0; d < k; ++d)
                  for (int64_t row = first; row < end; ++row, ++a)
                    wrong += *a != x.a.data[x.a.offset(o, i) + (turned ? d * x.a.ld + row : row * x.a.ld + d)];
              }
              for (int64_t first = 0; first < extent; first += gemm.panel_columns)
                for (int64_t d = 0; d < k; ++d)
                  for (int64_t column = first; column < first + gemm.panel_columns; ++column, ++b)
                    wrong += *b != (column >= extent ? 0
                                    : turned         ? x.b.data[x.b.offset(o, i) + column * x.b.ld + d]
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

TEST_CASE("products of every remainder of a tile agree with the oracle", "[gemm]") {
  for (const KernelTable* set : available_kernel_sets()) {
    const int64_t rows = set->gemm->panel_rows;
    const int64_t columns = set->gemm->panel_columns;
    for (int64_t m = 1; m <= 2 * rows + 1; ++m)
      for (int64_t k : {0, 1, 7, 18}) check(*set, {.m = m, .n = columns + 3, .k = k});
    for (int64_t n = 1; n <= 2 * columns + 1; n += n % 5 == 0 ? 3 : 2)
      check(*set, {.m = rows + 1, .n = n, .k = 5, .a_turned = n % 3 == 0, .b_turned = n % 4 < 2});
  }
}

TEST_CASE("depth beyond a block, rows beyond a group and single rows agree with the oracle", "[gemm]") {
  for (const KernelTable* set : available_kernel_sets()) {
    const int64_t columns = set->gemm->panel_columns;
    for (int64_t m : {1, 2, 14, 30}) check(*set, {.m = m, .n = columns + 3, .k = 1003, .b_turned = m == 2});
    for (int64_t k : {3, 600}) {
      INFO(set->name << " k " << k);
      Problem p{.m = 801, .n = 5 * columns + 1, .k = k, .residual = true};
      Instance x(*set->gemm, p);
      x.pack();
      x.multiply(0, set->gemm->gemm_tasks(x.args));
      for (int64_t row = 0; row < p.m; row += k > 100 ? 89 : 1)
        CHECK(wrong_elements(x, 0, 0, row, x.expected(0, 0, row, 1)) == 0);
      CHECK(x.c.gaps_untouched());
    }
  }
}

TEST_CASE("batches with two strides, shared operands and transposes agree with the oracle", "[gemm]") {
  for (const KernelTable* set : available_kernel_sets())
    for (bool a_turned : {false, true})
      for (bool b_turned : {false, true})
        for (bool share_b : {false, true})
          check(*set, {.m = 19, .n = 37, .k = 21, .a_turned = a_turned, .b_turned = b_turned, .batch = {2, 3},
                       .share_b = share_b, .alpha = 0.125f});
}

TEST_CASE("the epilogue agrees with the oracle for every activation, bias and residual", "[gemm]") {
  for (const KernelTable* set : available_kernel_sets()) {
    for (const ActivationArgs& activation : all_activations()) {
      for (GemmBias bias : {GemmBias::kNone, GemmBias::kColumn, GemmBias::kRow, GemmBias::kOne}) {
        for (int residual : {0, 1, 2}) {
          Problem p{.m = 14, .n = 35, .k = 9, .bias = bias, .residual = residual == 1, .in_place = residual == 2,
                    .activation = activation};
          if (residual > 0) p.alpha = -1.5f, p.bias_scale = 0.5f, p.residual_scale = 3;
          check(*set, p);
        }
      }
      check(*set, {.m = 14, .n = 35, .k = 700, .in_place = true, .activation = activation});
    }
  }
}

TEST_CASE("a bias may change with the batch, as an attention mask does", "[gemm]") {
  for (const KernelTable* set : available_kernel_sets()) {
    Problem p{.m = 5, .n = 11, .k = 4, .batch = {2, 3}, .bias = GemmBias::kColumn};
    Instance x(*set->gemm, p);
    x.pack();
    std::vector<float> mask(22, 0);
    std::fill(mask.begin() + 11, mask.end(), -100.0f);
    x.args.bias = mask.data();
    x.args.bias_stride = {11, 0};
    x.multiply(0, set->gemm->gemm_tasks(x.args));
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

TEST_CASE("NaN and infinity reach exactly the results they belong to", "[gemm]") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (const KernelTable* set : available_kernel_sets()) {
    for (const ActivationArgs& activation : all_activations()) {
      INFO(set->name << " activation " << int(activation.kind));
      Problem p{.m = 15, .n = 37, .k = 6, .bias = GemmBias::kColumn, .activation = activation};
      Instance x(*set->gemm, p);
      x.a.data[3 * x.a.ld + 2] = kNan;
      x.a.data[8 * x.a.ld + 1] = kInfinity;
      x.a.data[9 * x.a.ld + 5] = -kInfinity;
      x.b.data[4 * x.b.ld + 34] = kInfinity;
      x.bias[7] = kNan;
      x.bias[36] = -kInfinity;
      x.pack();
      x.multiply(0, set->gemm->gemm_tasks(x.args));
      CHECK(wrong_elements(x, 0, 0, 0, x.expected(0, 0, 0, p.m)) == 0);
      CHECK(x.c.gaps_untouched());
    }
  }
}

TEST_CASE("results are bitwise the same however the tasks are cut", "[gemm]") {
  for (const KernelTable* set : available_kernel_sets()) {
    for (const Problem& p : {Problem{.m = 1, .n = 100, .k = 777}, Problem{.m = 50, .n = 130, .k = 10, .batch = {2, 2}},
                             Problem{.m = 40, .n = 70, .k = 530, .bias = GemmBias::kColumn, .residual = true},
                             Problem{.m = 230, .n = 99, .k = 300}}) {
      INFO(set->name << " m " << p.m << " n " << p.n << " k " << p.k);
      Instance x(*set->gemm, p);
      x.pack();
      const int64_t tasks = set->gemm->gemm_tasks(x.args);
      x.multiply(0, tasks);
      const auto whole = bits_of(x.c.data);
      for (int64_t longest : {int64_t{1}, int64_t{5}, std::max<int64_t>(tasks / 2, 1)}) {
        x.c.data.refill();
        run_in_pieces(tasks, longest, [&](int64_t begin, int64_t end) { x.multiply(begin, end); });
        CHECK(whole == bits_of(x.c.data));
      }
    }
  }
}

TEST_CASE("ranges of tasks write every element once", "[gemm]") {
  for (const KernelTable* set : available_kernel_sets()) {
    for (const Problem& p : {Problem{.m = 50, .n = 70, .k = 5, .batch = {1, 2}}, Problem{.m = 33, .n = 99, .k = 270}}) {
      INFO(set->name << " m " << p.m << " n " << p.n << " k " << p.k);
      Instance x(*set->gemm, p);
      x.pack();
      size_t written = 0;
      run_in_pieces(set->gemm->gemm_tasks(x.args), 9, [&](int64_t begin, int64_t end) {
        x.c.data.refill();
        x.multiply(begin, end);
        for (size_t at = 0; at < x.c.data.size(); ++at) written += !x.c.data.poisoned(at);
      });
      CHECK(written == static_cast<size_t>(p.batch.outer * p.batch.inner * p.m * p.n));
    }
  }
}

TEST_CASE("empty products have no tasks", "[gemm]") {
  for (const KernelTable* set : available_kernel_sets()) {
    GemmArgs args;
    CHECK(set->gemm->gemm_tasks(args) == 0);
    args.m = 3, args.k = 4;
    CHECK(set->gemm->gemm_tasks(args) == 0);
    GemmPackArgs pack;
    CHECK(set->gemm->pack_a_tasks(pack) == 0);
    CHECK(set->gemm->pack_b_tasks(pack) == 0);
  }
}
