// Matrix products of packed operands, floats and doubles, on one core, as a share of the multiply-add peak, beside OpenBLAS where it is
// installed. Of complex numbers (`complex`) with everything that is done for operands that are not known before.
//
//   gemm_bench [--benchmark_filter=gemm/avx512]
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>

#include "bench/fma_peak.h"
#include "bench/operands.h"
#include "engine/kernels/gemm.h"
#include "engine/kernels/kernel_table.h"

#ifdef SVENGINE_HAVE_OPENBLAS
#include <cblas.h>
extern "C" void openblas_set_num_threads(int threads);
#endif

namespace {

using namespace svengine::kernels;
using svengine::bench::BufferOf;
using svengine::bench::random_reals;

struct Shape {
  int64_t m, n, k;
  const char* what;
};

constexpr Shape kShapes[] = {
    {768, 768, 768, "square"},     {128, 768, 768, "bert_projection"}, {128, 3072, 768, "bert_up"},
    {128, 768, 3072, "bert_down"}, {16, 3072, 768, "short_up"},    {16, 768, 3072, "short_down"},
    {1, 1000, 2048, "classifier"}, {3136, 64, 64, "pointwise_56"},     {2048, 1024, 1024, "large"},
};

void set_counters(benchmark::State& state, const Shape& shape) {
  state.counters["flops"] = benchmark::Counter(2.0 * static_cast<double>(shape.m * shape.n * shape.k),
                                               benchmark::Counter::kIsIterationInvariantRate);
}

template <class T>
const GemmKernelsOf<T>& gemm_of(const KernelTable& set) {
  if constexpr (sizeof(T) == sizeof(double)) return *set.gemm_f64;
  else return *set.gemm;
}

template <class T>
struct Operands {
  BufferOf<T> a, b, c, bias, packed_a, packed_b, scratch;
  GemmPackArgsOf<T> pack_a, pack_b;
  GemmArgsOf<T> args;

  Operands(const GemmKernelsOf<T>& gemm, const Shape& s)
      : a(random_reals<T>(s.m * s.k)),
        b(random_reals<T>(s.k * s.n)),
        c(random_reals<T>(s.m * s.n)),
        bias(random_reals<T>(s.n)),
        packed_a(random_reals<T>(gemm.packed_a_bytes(s.m, s.k) / int64_t(sizeof(T)))),
        packed_b(random_reals<T>(gemm.packed_b_bytes(s.k, s.n) / int64_t(sizeof(T)))) {
    pack_a.source = a.get(), pack_a.ld = s.k, pack_a.extent = s.m, pack_a.depth = s.k, pack_a.packed = packed_a.get();
    pack_b.source = b.get(), pack_b.ld = s.n, pack_b.extent = s.n, pack_b.depth = s.k, pack_b.packed = packed_b.get();
    pack_b.depth_major = true;
    args.m = s.m, args.n = s.n, args.k = s.k, args.a = packed_a.get(), args.b = packed_b.get();
    args.c = c.get(), args.ldc = s.n, args.bias = bias.get(), args.bias_kind = GemmBias::kColumn;
    args.activation.kind = Activation::kRelu;
    scratch = random_reals<T>(gemm.gemm_scratch_bytes(args) / int64_t(sizeof(T)));
    gemm.pack_a(pack_a, 0, gemm.pack_a_tasks(pack_a));
    gemm.pack_b(pack_b, 0, gemm.pack_b_tasks(pack_b));
  }
};

template <class T>
void product(benchmark::State& state, const KernelTable& set, const Shape& shape) {
  const GemmKernelsOf<T>& gemm = gemm_of<T>(set);
  const Operands<T> x(gemm, shape);
  const int64_t tasks = gemm.gemm_tasks(x.args);
  double peak = 0;
  int64_t samples = 0;
  for (auto _ : state) {
    gemm.gemm(x.args, 0, tasks, x.scratch.get());
    benchmark::ClobberMemory();
    if (samples++ % 16 == 0) {  // so often that peak and product see the same clock frequency
      state.PauseTiming();
      peak += svengine::bench::fma_peak(set.name);
      state.ResumeTiming();
    }
  }
  set_counters(state, shape);
  state.counters["peak"] = peak / static_cast<double>((samples + 15) / 16) * sizeof(float) / sizeof(T);
}

template <class T, bool kA>
void packing(benchmark::State& state, const KernelTable& set, const Shape& shape) {
  const GemmKernelsOf<T>& gemm = gemm_of<T>(set);
  const Operands<T> x(gemm, shape);
  for (auto _ : state) {
    if (kA) gemm.pack_a(x.pack_a, 0, gemm.pack_a_tasks(x.pack_a));
    if (!kA) gemm.pack_b(x.pack_b, 0, gemm.pack_b_tasks(x.pack_b));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * shape.k * (kA ? shape.m : shape.n) * int64_t(sizeof(T)));
}

/// [m, k] x [k, n] complex: the rows of B's 2 x 2 matrices (engine/ops/complex/complex_common.h), packing, and a real product.
template <class T>
void complex_product(benchmark::State& state, const KernelTable& set, const Shape& s) {
  const GemmKernelsOf<T>& gemm = gemm_of<T>(set);
  const Operands<T> x(gemm, {s.m, 2 * s.n, 2 * s.k, s.what});
  const BufferOf<T> b = random_reals<T>(2 * s.k * s.n);
  const int64_t tasks = gemm.gemm_tasks(x.args);
  for (auto _ : state) {
    for (int64_t k = 0; k < s.k; ++k) {
      T *row = x.b.get() + 4 * k * s.n, *other = row + 2 * s.n;
      for (int64_t j = 0; j < 2 * s.n; j += 2) {
        const T re = b.get()[2 * k * s.n + j], im = b.get()[2 * k * s.n + j + 1];
        row[j] = re, row[j + 1] = im, other[j] = -im, other[j + 1] = re;
      }
    }
    gemm.pack_a(x.pack_a, 0, gemm.pack_a_tasks(x.pack_a));
    gemm.pack_b(x.pack_b, 0, gemm.pack_b_tasks(x.pack_b));
    gemm.gemm(x.args, 0, tasks, x.scratch.get());
    benchmark::ClobberMemory();
  }
  set_counters(state, {s.m, 2 * s.n, 2 * s.k, s.what});
}

#ifdef SVENGINE_HAVE_OPENBLAS
template <class T>
void openblas_complex(benchmark::State& state, const Shape& s) {
  openblas_set_num_threads(1);
  const BufferOf<T> a = random_reals<T>(2 * s.m * s.k), b = random_reals<T>(2 * s.k * s.n), c = random_reals<T>(2 * s.m * s.n);
  const int m = static_cast<int>(s.m), n = static_cast<int>(s.n), k = static_cast<int>(s.k);
  const T one[2] = {1, 0}, zero[2] = {0, 0};
  for (auto _ : state) {
    if constexpr (sizeof(T) == sizeof(double))
      cblas_zgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, one, a.get(), k, b.get(), n, zero, c.get(), n);
    else
      cblas_cgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, one, a.get(), k, b.get(), n, zero, c.get(), n);
    benchmark::ClobberMemory();
  }
  set_counters(state, {s.m, 2 * s.n, 2 * s.k, s.what});
}

template <class T>
void openblas(benchmark::State& state, const Shape& s) {
  openblas_set_num_threads(1);
  const BufferOf<T> a = random_reals<T>(s.m * s.k), b = random_reals<T>(s.k * s.n), c = random_reals<T>(s.m * s.n);
  const int m = static_cast<int>(s.m), n = static_cast<int>(s.n), k = static_cast<int>(s.k);
  for (auto _ : state) {
    if constexpr (sizeof(T) == sizeof(double))
      cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a.get(), k, b.get(), n, 0, c.get(), n);
    else
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a.get(), k, b.get(), n, 0, c.get(), n);
    benchmark::ClobberMemory();
  }
  set_counters(state, s);
}
#endif

std::string name_of(const std::string& family, const std::string& set, const Shape& s) {
  return family + "/" + set + "/" + s.what + "/" + std::to_string(s.m) + "x" + std::to_string(s.n) + "x" +
         std::to_string(s.k);
}

template <class T>
void register_all(const std::string& suffix) {
  for (const Shape& shape : kShapes) {
    const auto add = [&](const char* family, const char* set, void (*run)(benchmark::State&, const KernelTable&, const Shape&),
                         const KernelTable& table) {
      benchmark::RegisterBenchmark(name_of(family + suffix, set, shape).c_str(),
                                   [=, &table](benchmark::State& state) { run(state, table, shape); });
    };
    for (const KernelTable* set : available_kernel_sets()) {
      add("gemm", set->name, product<T>, *set);
      add("pack_a", set->name, packing<T, true>, *set);
      add("pack_b", set->name, packing<T, false>, *set);
      add("complex", set->name, complex_product<T>, *set);
    }
#ifdef SVENGINE_HAVE_OPENBLAS
    benchmark::RegisterBenchmark(name_of("gemm" + suffix, "openblas", shape).c_str(),
                                 [=](benchmark::State& state) { openblas<T>(state, shape); });
    benchmark::RegisterBenchmark(name_of("complex" + suffix, "openblas", shape).c_str(),
                                 [=](benchmark::State& state) { openblas_complex<T>(state, shape); });
#endif
  }
}

const bool registered = [] {
  register_all<float>("");
  register_all<double>("_f64");
  return true;
}();

}  // namespace
