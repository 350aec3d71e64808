// oneDNN's convolutions (Debian's libdnnl) on ResNet-50's layers, batch 1, with bias and ReLU, on one core: what
// conv_bench is to be compared with. Layouts are those that oneDNN chooses; weights are reordered beforehand.
//
//   OMP_NUM_THREADS=1 onednn_conv_bench
#include <benchmark/benchmark.h>

#include <algorithm>
#include <dnnl.hpp>
#include <string>
#include <unordered_map>

namespace {

struct Layer {
  dnnl_dim_t in, out, size, kernel, stride;
};

constexpr Layer kLayers[] = {
    {3, 64, 224, 7, 2},    {64, 64, 56, 1, 1},    {64, 64, 56, 3, 1},    {64, 256, 56, 1, 1},   {256, 64, 56, 1, 1},
    {256, 128, 56, 1, 1},  {128, 128, 56, 3, 2},  {256, 512, 56, 1, 2},  {128, 128, 28, 3, 1},  {128, 512, 28, 1, 1},
    {512, 128, 28, 1, 1},  {512, 256, 28, 1, 1},  {256, 256, 28, 3, 2},  {512, 1024, 28, 1, 2}, {256, 256, 14, 3, 1},
    {256, 1024, 14, 1, 1}, {1024, 256, 14, 1, 1}, {1024, 512, 14, 1, 1}, {512, 512, 14, 3, 2},  {1024, 2048, 14, 1, 2},
    {512, 512, 7, 3, 1},   {512, 2048, 7, 1, 1},  {2048, 512, 7, 1, 1},
};

using Format = dnnl::memory::format_tag;

dnnl::memory::desc described(const dnnl::memory::dims& dims, Format format) {
  return {dims, dnnl::memory::data_type::f32, format};
}

/// Memory of that form, filled with a small number.
dnnl::memory filled(const dnnl::memory::desc& desc, const dnnl::engine& engine) {
  dnnl::memory memory(desc, engine);
  auto* floats = static_cast<float*>(memory.get_data_handle());
  std::fill(floats, floats + desc.get_size() / sizeof(float), 0.01f);
  return memory;
}

void convolution(benchmark::State& state, const Layer& l) {
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  const dnnl_dim_t pad = l.kernel / 2, out = (l.size + 2 * pad - l.kernel) / l.stride + 1;
  dnnl::primitive_attr attributes;
  dnnl::post_ops relu;
  relu.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
  attributes.set_post_ops(relu);
  const dnnl::convolution_forward::desc wanted(
      dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_auto,
      described({1, l.in, l.size, l.size}, Format::any), described({l.out, l.in, l.kernel, l.kernel}, Format::any),
      described({l.out}, Format::x), described({1, l.out, out, out}, Format::any), {l.stride, l.stride}, {pad, pad},
      {pad, pad});
  const dnnl::convolution_forward::primitive_desc chosen(wanted, attributes, engine);
  const dnnl::convolution_forward run(chosen);
  const std::unordered_map<int, dnnl::memory> operands = {{DNNL_ARG_SRC, filled(chosen.src_desc(), engine)},
                                                          {DNNL_ARG_WEIGHTS, filled(chosen.weights_desc(), engine)},
                                                          {DNNL_ARG_BIAS, filled(chosen.bias_desc(), engine)},
                                                          {DNNL_ARG_DST, filled(chosen.dst_desc(), engine)}};
  for (auto _ : state) {
    run.execute(stream, operands);
    stream.wait();
  }
  const double flops = 2.0 * static_cast<double>(l.in * l.out * l.kernel * l.kernel * out * out);
  state.counters["flops"] = benchmark::Counter(flops, benchmark::Counter::kIsIterationInvariantRate);
  state.SetLabel(chosen.impl_info_str());
}

const bool registered = [] {
  for (const Layer& l : kLayers) {
    const std::string name = "onednn/" + std::to_string(l.in) + "-" + std::to_string(l.out) + "@" +
                             std::to_string(l.size) + "/" + std::to_string(l.kernel) + "x" + std::to_string(l.kernel) +
                             "/s" + std::to_string(l.stride);
    benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) { convolution(state, l); });
  }
  return true;
}();

}  // namespace
