// Elementwise functions, softmax and layer norm on one core, on data that fits the L1 cache: nanoseconds for an
// element. Their cycles on A64FX are estimated by a64fx_cycles.sh.
//
//   math_bench [--benchmark_filter=exp]
#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/kernels/elementwise.h"
#include "engine/kernels/kernel_table.h"
#include "engine/kernels/norm.h"
#include "engine/kernels/softmax.h"

namespace {

using namespace svengine::kernels;

constexpr int64_t kElements = 4096;  // 16 KiB in, 16 KiB out: half of the smallest L1 cache

std::vector<float> random_floats(int64_t count) {
  std::vector<float> out(static_cast<size_t>(count));
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-4, 4);
  for (float& x : out) x = uniform(random);
  return out;
}

template <class Args>
void measure(benchmark::State& state, const TaskKernel<Args>& kernel, const Args& args, int64_t elements) {
  std::vector<float> scratch(static_cast<size_t>(kernel.scratch_bytes(args) / 4 + 128));
  float* aligned = scratch.data() + (256 - reinterpret_cast<uintptr_t>(scratch.data()) % 256) / 4;
  const int64_t tasks = kernel.tasks(args);
  for (auto _ : state) {
    kernel.run(args, 0, tasks, aligned);
    benchmark::ClobberMemory();
  }
  using benchmark::Counter;
  state.counters["per_element"] =
      Counter(static_cast<double>(elements), Counter::kIsIterationInvariantRate | Counter::kInvert);
}

void unary(benchmark::State& state, const KernelTable& set, UnaryOp op) {
  const std::vector<float> x = random_floats(kElements);
  std::vector<float> y(x.size());
  UnaryArgs args;
  args.op = op, args.x = x.data(), args.y = y.data(), args.n = kElements;
  measure(state, set.elementwise->unary, args, kElements);
}

void softmax(benchmark::State& state, const KernelTable& set, int64_t n) {
  const std::vector<float> x = random_floats(kElements);
  std::vector<float> y(x.size());
  SoftmaxArgs args;
  args.x = x.data(), args.y = y.data(), args.outer = kElements / n,
  args.n = args.x_outer_stride = args.y_outer_stride = n;
  measure(state, set.softmax->softmax, args, args.outer * n);
}

void layer_norm(benchmark::State& state, const KernelTable& set, int64_t n) {
  const std::vector<float> x = random_floats(kElements), scale = random_floats(n), bias = random_floats(n);
  std::vector<float> y(x.size());
  RowNormArgs args;
  args.x = x.data(), args.y = y.data(), args.scale = scale.data(), args.bias = bias.data();
  args.rows = kElements / n, args.n = args.x_stride = args.y_stride = n;
  measure(state, set.norm->layer_norm, args, args.rows * n);
}

const bool registered = [] {
  constexpr std::pair<const char*, UnaryOp> kFunctions[] = {{"exp", UnaryOp::kExp},   {"log", UnaryOp::kLog},
                                                            {"tanh", UnaryOp::kTanh}, {"sigmoid", UnaryOp::kSigmoid},
                                                            {"erf", UnaryOp::kErf},   {"gelu", UnaryOp::kGelu}};
  for (const KernelTable* set : available_kernel_sets()) {
    const auto name = [&](const std::string& what) { return what + "/" + set->name; };
    for (const auto& [what, op] : kFunctions)
      benchmark::RegisterBenchmark(name(what).c_str(),
                                   [=, op = op](benchmark::State& state) { unary(state, *set, op); });
    benchmark::RegisterBenchmark(name("softmax_128").c_str(),
                                 [=](benchmark::State& state) { softmax(state, *set, 128); });
    benchmark::RegisterBenchmark(name("layer_norm_768").c_str(),
                                 [=](benchmark::State& state) { layer_norm(state, *set, 768); });
  }
  return true;
}();

}  // namespace
