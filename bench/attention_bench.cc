// Attention of BERT-base's shapes on one core, as a share of the multiply-add peak: packing of k and v, and the blocks.
//
//   attention_bench [--benchmark_filter=attention/avx512]
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>

#include "bench/fma_peak.h"
#include "bench/operands.h"
#include "engine/kernels/attention.h"
#include "engine/kernels/kernel_table.h"

namespace {

using namespace svengine::kernels;
using svengine::bench::Buffer;
using svengine::bench::random_floats;

constexpr int64_t kHeads = 12, kSize = 64;

void attention(benchmark::State& state, const KernelTable& set, int64_t length) {
  const int64_t width = kHeads * kSize, total = length * width;
  AttentionArgs args;
  args.heads = kHeads, args.queries = args.keys = length, args.size = args.value_size = kSize;
  args.q_stride = args.k_stride = args.v_stride = args.y_stride = {total, kSize, width};  // as the projections leave it
  args.scale = 0.125f;
  const Buffer q = random_floats(total), k = random_floats(total), v = random_floats(total), y = random_floats(total);
  const Buffer mask = random_floats(length);
  args.q = q.get(), args.k = k.get(), args.v = v.get(), args.y = y.get(), args.mask = mask.get();
  const AttentionKernels& kernels = *set.attention;
  const Buffer packed_k = random_floats(kernels.packed_k_bytes(args) / 4);
  const Buffer packed_v = random_floats(kernels.packed_v_bytes(args) / 4);
  args.packed_k = packed_k.get(), args.packed_v = packed_v.get();
  const Buffer scratch = random_floats(kernels.attention.scratch_bytes(args) / 4);
  double peak = 0;
  int64_t samples = 0;
  for (auto _ : state) {
    kernels.pack.run(args, 0, kernels.pack.tasks(args), nullptr);
    kernels.attention.run(args, 0, kernels.attention.tasks(args), scratch.get());
    benchmark::ClobberMemory();
    if (samples++ % 16 == 0) {  // so often that peak and attention see the same clock frequency
      state.PauseTiming();
      peak += svengine::bench::fma_peak(set.name);
      state.ResumeTiming();
    }
  }
  state.counters["flops"] =
      benchmark::Counter(4.0 * static_cast<double>(length * length * width), benchmark::Counter::kIsIterationInvariantRate);
  state.counters["peak"] = peak / static_cast<double>((samples + 15) / 16);
}

const bool registered = [] {
  for (const KernelTable* set : available_kernel_sets())
    for (int64_t length : {16, 128, 384})
      benchmark::RegisterBenchmark(("attention/" + std::string(set->name) + "/" + std::to_string(length)).c_str(),
                                   [=](benchmark::State& state) { attention(state, *set, length); });
  return true;
}();

}  // namespace
