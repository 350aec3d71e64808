// Matrices, problems and their oracle for tests of packed products.
#pragma once
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "engine/kernels/gemm.h"
#include "engine/kernels/kernel_table.h"
#include "engine/kernels/reference/gemm.h"
#include "tests/support/guarded_buffer.h"
#include "tests/support/tested_kernels.h"

namespace svengine::kernels::test {

/// The kernels of a set for products of T.
template <class T>
const GemmKernelsOf<T>& gemm_of(const KernelTable& set) {
  if constexpr (sizeof(T) == sizeof(double)) return *set.gemm_f64;
  else return *set.gemm;
}

/// Every set that a test covers, and the best one with OpenBLAS's products where this program holds them.
inline std::vector<const KernelTable*> tested_product_sets() {
  std::vector<const KernelTable*> sets(tested_kernel_sets().begin(), tested_kernel_sets().end());
#ifdef SVENGINE_HAVE_OPENBLAS
  const Result<const KernelTable*> openblas = select_kernel_set("openblas");
  INFO((openblas.ok() ? "" : openblas.error().message()));
  REQUIRE(openblas.ok());
  sets.push_back(*openblas);
#endif
  return sets;
}

using svengine::tests::GuardedBuffer;

/// Matrices [rows, columns] for every batch index, laid out [outer][rows][inner][columns] as attention heads are: the
/// inner batch lies within a row. Elements between rows stay poison.
template <class T>
struct Matrices {
  int64_t rows, columns;
  GemmBatch batch = {};
  int64_t ld;
  GemmStride stride;
  GuardedBuffer<T> data;

  Matrices(int64_t rows, int64_t columns, GemmBatch batch, int64_t pad)
      : rows(rows),
        columns(columns),
        batch(batch),
        ld(batch.inner * columns + pad),
        stride{rows * ld, columns},
        data(rows * columns == 0 ? 0 : (batch.outer * rows - 1) * ld + batch.inner * columns) {}

  int64_t offset(int64_t outer, int64_t inner) const { return outer * stride.outer + inner * stride.inner; }
  void fill(std::mt19937& random) {
    std::uniform_real_distribution<T> uniform(-1, 1);
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
  bool a_transposed = false, b_transposed = false;  // stored as [k, m], [n, k]
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
template <class T>
struct Instance {
  const GemmKernelsOf<T>& gemm;
  Problem problem;
  GemmBatch b_batch;
  Matrices<T> a, b, c, residual;
  GuardedBuffer<T> bias, packed_a, packed_b;
  GemmPackArgsOf<T> pack_a, pack_b;
  GemmArgsOf<T> args;

  Instance(const GemmKernelsOf<T>& gemm, const Problem& p)
      : gemm(gemm),
        problem(p),
        b_batch(p.share_b ? GemmBatch{} : p.batch),
        a(p.a_transposed ? p.k : p.m, p.a_transposed ? p.m : p.k, p.batch, p.pad),
        b(p.b_transposed ? p.n : p.k, p.b_transposed ? p.k : p.n, b_batch, p.pad),
        c(p.m, p.n, p.batch, p.pad),
        residual(p.m, p.n, p.batch, p.pad + 1),
        bias(p.bias == GemmBias::kRow      ? p.m
             : p.bias == GemmBias::kColumn ? p.n
                                           : 1),
        packed_a(p.batch.outer * p.batch.inner * gemm.packed_a_bytes(p.m, p.k) / int64_t(sizeof(T))),
        packed_b(b_batch.outer * b_batch.inner * gemm.packed_b_bytes(p.k, p.n) / int64_t(sizeof(T))) {
    std::mt19937 random(static_cast<unsigned>(p.m * 10007 + p.n * 101 + p.k));
    a.fill(random);
    b.fill(random);
    residual.fill(random);
    if (p.in_place) c.fill(random);
    std::uniform_real_distribution<T> uniform(-1, 1);
    for (T& x : bias) x = uniform(random);
    pack_a = pack_args(a, p.a_transposed, p.m, p.batch, packed_a, gemm.packed_a_bytes(p.m, p.k) / int64_t(sizeof(T)));
    pack_b = pack_args(b, !p.b_transposed, p.n, b_batch, packed_b, gemm.packed_b_bytes(p.k, p.n) / int64_t(sizeof(T)));
    args.m = p.m, args.n = p.n, args.k = p.k;
    args.batch = p.batch;
    args.a = packed_a.data(), args.a_stride = pack_a.packed_stride;
    args.b = packed_b.data(), args.b_stride = p.share_b ? GemmStride{} : pack_b.packed_stride;
    args.c = c.data.data(), args.ldc = c.ld, args.c_stride = c.stride;
    args.alpha = p.alpha;
    args.bias_kind = p.bias, args.bias = bias.data(), args.bias_scale = p.bias_scale;
    if (p.residual || p.in_place) {
      Matrices<T>& from = p.in_place ? c : residual;
      args.residual = from.data.data(), args.ld_residual = from.ld, args.residual_stride = from.stride;
    }
    args.residual_scale = p.residual_scale;
    args.activation = p.activation;
  }

  static GemmPackArgsOf<T> pack_args(Matrices<T>& from, bool depth_major, int64_t extent, GemmBatch batch, GuardedBuffer<T>& packed,
                                     int64_t packed_elements) {
    GemmPackArgsOf<T> pack;
    pack.source = from.data.data(), pack.ld = from.ld, pack.depth_major = depth_major;
    pack.extent = extent, pack.depth = depth_major ? from.rows : from.columns;
    pack.packed = packed.data();
    pack.batch = batch;
    pack.source_stride = from.stride;
    pack.packed_stride = {batch.inner * packed_elements, packed_elements};
    return pack;
  }

  void pack() {
    gemm.pack_a(pack_a, 0, gemm.pack_a_tasks(pack_a));
    gemm.pack_b(pack_b, 0, gemm.pack_b_tasks(pack_b));
  }

  /// Whether what surrounds the scratch is untouched.
  bool multiply(int64_t begin, int64_t end) {
    GuardedBuffer<T> scratch(gemm.gemm_scratch_bytes(args) / sizeof(T));
    gemm.gemm(args, begin, end, scratch.data());
    return scratch.intact();
  }

  ReferenceGemm expected(int64_t outer, int64_t inner, int64_t row_begin, int64_t rows) const {
    const Problem& p = problem;
    ReferenceGemmArgs<T> r;
    r.m = rows, r.n = p.n, r.k = p.k;
    r.a_row = p.a_transposed ? 1 : a.ld, r.a_depth = p.a_transposed ? a.ld : 1;
    r.b_depth = p.b_transposed ? 1 : b.ld, r.b_column = p.b_transposed ? b.ld : 1;
    r.a = a.data.data() + a.offset(outer, inner) + row_begin * r.a_row;
    r.b = b.data.data() + (p.share_b ? 0 : b.offset(outer, inner));
    r.alpha = p.alpha;
    r.bias_row = p.bias == GemmBias::kRow, r.bias_column = p.bias == GemmBias::kColumn;
    if (p.bias != GemmBias::kNone) r.bias = bias.data() + row_begin * r.bias_row;
    r.bias_scale = p.bias_scale;
    if (args.residual) {
      const Matrices<T>& from = args.residual == args.c ? c : residual;
      r.residual = args.residual + from.offset(outer, inner) + row_begin * from.ld;
      r.ld_residual = from.ld;
    }
    r.residual_scale = p.residual_scale;
    r.activation = p.activation;
    return reference_gemm(r);
  }
};

}  // namespace svengine::kernels::test
