// Products of 8-bit integers on one core beside those of float32 of the same shape, B packed beforehand in both, A packed in the time.
//
//   quantized_bench [--benchmark_filter=avx512]
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>

#include "bench/operands.h"
#include "engine/kernels/gemm.h"
#include "engine/kernels/kernel_table.h"
#include "engine/kernels/quantized.h"

namespace {

using namespace svengine::kernels;
using svengine::bench::Buffer;
using svengine::bench::random_floats;

struct Shape {
  int64_t m, n, k;
  const char* what;
};
constexpr Shape kShapes[] = {{768, 768, 768, "square"},      {128, 768, 768, "bert_projection"}, {128, 3072, 768, "bert_up"},
                             {128, 768, 3072, "bert_down"},  {1, 1000, 1280, "classifier"},      {3136, 24, 144, "pointwise_56"},
                             {784, 192, 32, "pointwise_28"}, {196, 96, 576, "pointwise_14"},     {49, 1280, 320, "pointwise_7"}};

void set_counters(benchmark::State& state, const Shape& s) {
  state.counters["ops"] = benchmark::Counter(2.0 * static_cast<double>(s.m * s.n * s.k), benchmark::Counter::kIsIterationInvariantRate);
}

void of_floats(benchmark::State& state, const GemmKernels& gemm, const Shape& s) {
  const Buffer a = random_floats(s.m * s.k), b = random_floats(s.k * s.n), c = random_floats(s.m * s.n);
  const Buffer packed_a = random_floats(gemm.packed_a_bytes(s.m, s.k) / 4), packed_b = random_floats(gemm.packed_b_bytes(s.k, s.n) / 4);
  GemmPackArgs pack_a, pack_b;
  pack_a.source = a.get(), pack_a.ld = s.k, pack_a.extent = s.m, pack_a.depth = s.k, pack_a.packed = packed_a.get();
  pack_b.source = b.get(), pack_b.ld = s.n, pack_b.extent = s.n, pack_b.depth = s.k, pack_b.packed = packed_b.get(),
  pack_b.depth_major = true;
  GemmArgs args;
  args.m = s.m, args.n = s.n, args.k = s.k, args.a = packed_a.get(), args.b = packed_b.get(), args.c = c.get(), args.ldc = s.n;
  const Buffer scratch = random_floats(gemm.gemm_scratch_bytes(args) / 4 + 1);
  gemm.pack_b(pack_b, 0, gemm.pack_b_tasks(pack_b));
  for (auto _ : state) {
    gemm.pack_a(pack_a, 0, gemm.pack_a_tasks(pack_a));
    gemm.gemm(args, 0, gemm.gemm_tasks(args), scratch.get());
    benchmark::ClobberMemory();
  }
  set_counters(state, s);
}

void of_bytes(benchmark::State& state, const QuantizedKernels& kernels, const Shape& s) {
  const Buffer a = random_floats(s.m * s.k / 4 + 1), b = random_floats(s.k * s.n / 4 + 1), c = random_floats(s.m * s.n / 4 + 1);
  const Buffer packed = random_floats(kernels.packed_bytes(s.k, s.n) / 4);
  const uint8_t zero = 117;
  const float scale = 1e-4f;
  QuantizedPackArgs pack;
  pack.source = b.get(), pack.ld = s.n, pack.is_signed = true, pack.k = s.k, pack.n = s.n, pack.packed = packed.get();
  kernels.pack(pack, 0, kernels.pack_tasks(pack));
  QuantizedGemmArgs args;
  args.m = s.m, args.n = s.n, args.k = s.k, args.a = a.get(), args.lda = s.k, args.a_zero = &zero, args.b = packed.get(), args.c = c.get(),
  args.ldc = s.n;
  args.epilogue.output = QuantizedOutput::kUint8, args.epilogue.scale = &scale, args.epilogue.high = 255, args.epilogue.zero = 128;
  const Buffer scratch = random_floats(kernels.gemm.scratch_bytes(args) / 4 + 1);
  for (auto _ : state) {
    kernels.gemm.run(args, 0, kernels.gemm.tasks(args), scratch.get());
    benchmark::ClobberMemory();
  }
  set_counters(state, s);
}

}  // namespace

int main(int argc, char** argv) {
  for (const Shape& shape : kShapes) {
    for (const KernelTable* set : available_kernel_sets())
      benchmark::RegisterBenchmark((std::string("float32/") + set->name + "/" + shape.what).c_str(),
                                   [=](benchmark::State& state) { of_floats(state, *set->gemm, shape); });
    for (const QuantizedVariant& set : quantized_variants())
      if (std::string(set.name) != "reference")
        benchmark::RegisterBenchmark((std::string("int8/") + set.name + "/" + shape.what).c_str(),
                                     [=](benchmark::State& state) { of_bytes(state, *set.kernels, shape); });
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
