// Every convolution of ResNet-50 v1.5 at batch 1 (with bias and ReLU), and some depthwise and grouped ones, on one core, as a
// share of the multiply-add peak, and the gradients of their weights where these have kernels. Borders are counted as if they were
// computed.
//
//   conv_bench [--benchmark_filter=conv/avx512]      forward; weights/avx512: gradients
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>

#include "bench/fma_peak.h"
#include "bench/operands.h"
#include "engine/base/round.h"
#include "engine/kernels/conv.h"
#include "engine/kernels/gradient.h"
#include "engine/kernels/kernel_table.h"

namespace {

using namespace svengine::kernels;
using svengine::bench::Buffer;

/// On huge pages, as the engine's arenas are.
Buffer random_floats(int64_t count) { return svengine::bench::random_floats(count, svengine::bench::Pages::kHuge); }

struct Layer {
  int64_t in, out, size, kernel, stride, groups;
};

constexpr Layer kLayers[] = {
    {3, 64, 224, 7, 2, 1},     {64, 64, 56, 1, 1, 1},     {64, 64, 56, 3, 1, 1},    {64, 256, 56, 1, 1, 1},
    {256, 64, 56, 1, 1, 1},    {256, 128, 56, 1, 1, 1},   {128, 128, 56, 3, 2, 1},  {256, 512, 56, 1, 2, 1},
    {128, 128, 28, 3, 1, 1},   {128, 512, 28, 1, 1, 1},   {512, 128, 28, 1, 1, 1},  {512, 256, 28, 1, 1, 1},
    {256, 256, 28, 3, 2, 1},   {512, 1024, 28, 1, 2, 1},  {256, 256, 14, 3, 1, 1},  {256, 1024, 14, 1, 1, 1},
    {1024, 256, 14, 1, 1, 1},  {1024, 512, 14, 1, 1, 1},  {512, 512, 14, 3, 2, 1},  {1024, 2048, 14, 1, 2, 1},
    {512, 512, 7, 3, 1, 1},    {512, 2048, 7, 1, 1, 1},   {2048, 512, 7, 1, 1, 1},
    {32, 32, 112, 3, 1, 32},   {96, 96, 112, 3, 2, 96},   {144, 144, 56, 3, 1, 144},  // MobileNetV2
    {384, 384, 14, 3, 1, 384}, {960, 960, 7, 3, 1, 960},  {128, 128, 56, 3, 1, 32},   // and ResNeXt
    {512, 512, 14, 3, 1, 32},  {576, 576, 14, 3, 1, 576}, {256, 256, 56, 3, 1, 32},
};

ConvShape shape_of(const Layer& l) {
  ConvShape s;
  const int64_t pad = l.kernel / 2, out = (l.size + 2 * pad - l.kernel) / l.stride + 1;
  s.in_channels = l.in, s.out_channels = l.out, s.groups = l.groups;
  s.in = {1, l.size, l.size}, s.out = {1, out, out}, s.kernel = {1, l.kernel, l.kernel};
  s.stride = {1, l.stride, l.stride}, s.pad = {0, pad, pad};
  return s;
}

struct Operands {
  ConvArgs args;
  Buffer input, weights, bias, output, packed, workspace, scratch;

  Operands(const KernelTable& set, const Layer& l) {
    const ConvShape s = shape_of(l);
    const auto blocked = [&](int64_t channels) { return svengine::round_up(channels, int64_t{set.lanes}); };
    args.shape = s;
    args.kind = set.conv->choose(s, false);
    input = random_floats(blocked(l.in) * l.size * l.size);
    weights = random_floats(l.out * l.in / l.groups * l.kernel * l.kernel);
    bias = random_floats(blocked(l.out));
    output = random_floats(blocked(l.out) * s.out.height * s.out.width);
    const ConvPacking packing = set.conv->packing(s, args.kind);
    packed = random_floats(set.conv->packed_bytes(packing) / 4);
    set.conv->pack(packing, weights.get(), packed.get(), 0, set.conv->pack_tasks(packing));
    args.input = input.get(), args.weights = packed.get(), args.bias = bias.get(), args.output = output.get();
    args.activation.kind = Activation::kRelu;
    workspace = random_floats(set.conv->workspace_bytes(args) / 4);
    args.workspace = workspace.get();
    scratch = random_floats(set.conv->scratch_bytes(args) / 4);
  }
};

void convolution(benchmark::State& state, const KernelTable& set, const Layer& l) {
  const Operands x(set, l);
  const int64_t prepare_tasks = set.conv->prepare_tasks(x.args), tasks = set.conv->tasks(x.args);
  double peak = 0;
  int64_t samples = 0;
  for (auto _ : state) {
    set.conv->prepare(x.args, 0, prepare_tasks);
    set.conv->run(x.args, 0, tasks, x.scratch.get());
    benchmark::ClobberMemory();
    if (samples++ % 16 == 0) {  // so often that peak and convolution see the same clock frequency
      state.PauseTiming();
      peak += svengine::bench::fma_peak(set.name);
      state.ResumeTiming();
    }
  }
  const ConvExtent& out = x.args.shape.out;
  const double flops = 2.0 * static_cast<double>(l.in / l.groups * l.out * l.kernel * l.kernel * out.height * out.width);
  state.counters["flops"] = benchmark::Counter(flops, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["peak"] = peak / static_cast<double>((samples + 15) / 16);
}

/// The kernels of conv_grad.h take this layer.
bool has_weight_kernel(const KernelTable& set, const Layer& l) {
  return l.groups == 1 || (l.in == l.out && set.lanes % (l.in / l.groups) == 0);
}

void weight_gradient(benchmark::State& state, const KernelTable& set, const Layer& l) {
  const ConvWeightGradKernels& kernels = set.gradient->conv_weights;
  const auto blocked = [&](int64_t channels) { return svengine::round_up(channels, int64_t{set.lanes}); };
  ConvWeightGradArgs args;
  args.shape = shape_of(l);
  const ConvExtent& out = args.shape.out;
  const Buffer input = random_floats(blocked(l.in) * l.size * l.size), dy = random_floats(blocked(l.out) * out.height * out.width);
  const Buffer dw = random_floats(l.out * l.in / l.groups * l.kernel * l.kernel), sums = random_floats(kernels.sums_bytes(args) / 4);
  const Buffer scratch = random_floats(kernels.sums.scratch_bytes(args) / 4);
  args.input = input.get(), args.dy = dy.get(), args.dw = dw.get();
  if (kernels.sums_bytes(args) > 0) args.sums = sums.get();
  for (auto _ : state) {
    kernels.sums.run(args, 0, kernels.sums.tasks(args), scratch.get());
    kernels.finish.run(args, 0, kernels.finish.tasks(args), scratch.get());
    benchmark::ClobberMemory();
  }
  const double flops = 2.0 * static_cast<double>(l.in / l.groups * l.out * l.kernel * l.kernel * out.height * out.width);
  state.counters["flops"] = benchmark::Counter(flops, benchmark::Counter::kIsIterationInvariantRate);
}

const bool registered = [] {
  for (const KernelTable* set : available_kernel_sets())
    for (const Layer& l : kLayers) {
      const std::string layer = std::string(set->name) + "/" + std::to_string(l.in) + "-" + std::to_string(l.out) + "@" +
                               std::to_string(l.size) + "/" + std::to_string(l.kernel) + "x" + std::to_string(l.kernel) + "/s" +
                               std::to_string(l.stride) + "/g" + std::to_string(l.groups);
      benchmark::RegisterBenchmark(("conv/" + layer).c_str(), [=](benchmark::State& state) { convolution(state, *set, l); });
      if (has_weight_kernel(*set, l))
        benchmark::RegisterBenchmark(("weights/" + layer).c_str(), [=](benchmark::State& state) { weight_gradient(state, *set, l); });
    }
  return true;
}();

}  // namespace
