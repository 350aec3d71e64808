#include "validate/quantize/quantize.h"

#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "importers/onnx/import.h"
#include "validate/quantize/noise.h"
#include "validate/quantize/quantize_test_util.h"

namespace quantize_test {
using namespace svengine;
using namespace svengine::validate;
using namespace svengine::validate::tests;
using Catch::Matchers::Contains;

namespace {

const Dims kInput{1, 3, 8, 8};

double snr_between(const Graph& a, const Graph& b, float scale = 1) {
  RandomSamples samples(kInput, 4, scale);
  ReferenceOutputs expected(session_of(a));
  const auto session = session_of(b);
  const Result<std::vector<OutputNoise>> noise = compare_on_samples(expected, *session, samples);
  REQUIRE(noise.ok());
  return worst_snr(*noise);
}

StaticOptions how(CalibrationMethod method = CalibrationMethod::min_max) {
  StaticOptions out;
  out.calibration.method = method;
  out.calibration.session = one_thread();
  return out;
}

float scale_of(const Graph& graph, const std::string& value) {
  const Value* scale = value_named(graph, value + ".scale");
  REQUIRE(scale);
  return scale->constant().data<float>()[0];
}

}  // namespace

TEST_CASE("batch norms go into weights before they are quantised, and nothing changes") {
  const Graph before = small_network(), after = prepared_network();
  CHECK(operators_of(after) == "Conv Relu MaxPool Conv Add Relu Flatten Gemm");
  CHECK(snr_between(before, after) > 100);
}

TEST_CASE("products, and what lies between them, are of integers") {
  const Graph before = prepared_network();
  Graph after = before.clone();
  RandomSamples samples(kInput);
  const Result<QuantizedCounts> counts = quantize_static(after, samples, how());
  REQUIRE(counts.ok());
  CHECK(counts->products == 3);
  CHECK(counts->left == 0);
  CHECK(counts->values == 6);  // x, relu.y, pool.y, second, relu2.y, flat
  const std::string pair = "QuantizeLinear DequantizeLinear ", weights = "DequantizeLinear DequantizeLinear ";
  CHECK(operators_of(after) == pair + weights + "Conv Relu " + pair + "MaxPool " + pair + weights + "Conv " + pair + "Add Relu " + pair + "Flatten " +
                                   pair + weights + "Gemm");
  CHECK(scale_of(after, "relu.y") == scale_of(after, "pool.y"));
  CHECK(scale_of(after, "relu2.y") == scale_of(after, "flat"));
  CHECK(value_named(after, "relu.y.zero_point")->constant().raw()[0] == std::byte{0});
  CHECK(after.outputs()[0]->name() == "y");
  CHECK(value_named(after, "pool.y")->producer()->op().name == std::string_view("DequantizeLinear"));
  CHECK(snr_between(before, after) > 30);
  CHECK(samples.reads <= 5);  // min-max takes the samples once, and one to know the shapes
}

TEST_CASE("weights of a channel have its own scale, biases that of the sums") {
  Graph graph = prepared_network();
  RandomSamples samples(kInput);
  const Tensor w = value_named(graph, "w2")->constant(), bias = value_named(graph, "b2")->constant();
  REQUIRE(quantize_static(graph, samples, how()).ok());
  const Tensor q = value_named(graph, "w2.quantized")->constant(), scales = value_named(graph, "w2.scale")->constant();
  REQUIRE(scales.count() == 4);
  for (size_t i = 0; i < w.data<float>().size(); ++i) {
    const float scale = scales.data<float>()[i / 36];
    CHECK(std::abs(static_cast<float>(static_cast<int8_t>(q.raw()[i])) * scale - w.data<float>()[i]) <= scale * 0.5001f);
  }
  const Tensor sums = value_named(graph, "b2.quantized")->constant();
  REQUIRE(sums.type() == DType::i32);
  for (size_t i = 0; i < 4; ++i) {
    const float step = scale_of(graph, "pool.y") * scales.data<float>()[i];
    CHECK(value_named(graph, "b2.scale")->constant().data<float>()[i] == step);
    CHECK(std::abs(static_cast<float>(sums.data<int32_t>()[i]) * step - bias.data<float>()[i]) <= step * 0.5001f);
  }
}

TEST_CASE("what is asked for of types, methods and memory is done") {
  const Graph before = prepared_network();
  StaticOptions options = how(GENERATE(CalibrationMethod::percentile, CalibrationMethod::entropy));
  options.insert = {DType::i8, false};
  options.calibration.percentile = 100;
  options.calibration.most_bytes = 1;  // every value in a run of its own
  RandomSamples samples(kInput);
  Graph after = before.clone();
  REQUIRE(quantize_static(after, samples, options).ok());
  CHECK(samples.reads == 1 + 2 * 6 * 4);
  CHECK(value_named(after, "w2.scale")->constant().count() == 1);
  CHECK(value_named(after, "x.zero_point")->constant().type() == DType::i8);
  if (options.calibration.method == CalibrationMethod::percentile) CHECK(snr_between(before, after) > 25);
}

TEST_CASE("nodes are left out by name, by output, by pattern and by operator") {
  const auto quantized = [](NodeSelection nodes) {
    Graph graph = prepared_network();
    RandomSamples samples(kInput);
    StaticOptions options = how();
    options.nodes = std::move(nodes);
    const Result<QuantizedCounts> counts = quantize_static(graph, samples, options);
    return counts.ok() ? std::to_string(counts->products) : counts.error().message();
  };
  CHECK(quantized({{"second"}, {}}) == "2");
  CHECK(quantized({{"y"}, {}}) == "2");
  CHECK_THAT(quantized({{"*s*"}, {}}), Contains("no node is left to quantise"));
  CHECK(quantized({{}, {"Gemm"}}) == "1");
  CHECK_THAT(quantized({{"third"}, {}}), Contains("'third'") && Contains("'first', 'second', 'last'"));
  CHECK_THAT(quantized({{"pool"}, {}}), Contains("a node of MaxPool"));
  CHECK_THAT(quantized({{}, {"Relu"}}), Contains("--only Relu"));
}

TEST_CASE("a tensor that is not finite is named") {
  Graph graph = prepared_network();
  RandomSamples samples(kInput, 2, std::numeric_limits<float>::max());
  const Result<QuantizedCounts> counts = quantize_static(graph, samples, how());
  REQUIRE_FALSE(counts.ok());
  CHECK_THAT(counts.error().message(), Contains("sample 0") && Contains("NaN or infinity"));
  RandomSamples none(kInput, 0);
  CHECK_FALSE(quantize_static(graph, none, how()).ok());
}

TEST_CASE("biases that would not fit make their channel's weights coarser") {
  CHECK(least_scales(Tensor::of<float>({2}, {1e9f, 0}), 1e-3f)[0] == Approx(1e12 / (1 << 30)));
  const Tensor w = Tensor::of<float>({2, 1}, {1e-6f, 1});
  const Result<QuantizedWeights> q = quantize_weights(w, 0, least_scales(Tensor::of<float>({2}, {1e9f, 1}), 1));
  REQUIRE(q.ok());
  const Result<Tensor> bias = quantize_bias(Tensor::of<float>({2}, {1e9f, 1}), 1, q->scales);
  REQUIRE(bias.ok());
  REQUIRE(bias->defined());
  CHECK(static_cast<double>(bias->data<int32_t>()[0]) * static_cast<double>(q->scales[0]) == Approx(1e9));
  CHECK_FALSE(quantize_weights(Tensor::of<float>({1}, {std::nanf("")}), -1).ok());
  CHECK(quantize_weights(Tensor::of<float>({2}, {0, 0}), -1)->scales[0] == 1);
}

TEST_CASE("ranges hold zero, which is exact") {
  for (const Range range : {Range{2, 6}, Range{-6, -2}, Range{-1, 3}, Range{0, 0}})
    for (const DType type : {DType::u8, DType::i8}) {
      const QuantizationParameters p = parameters_for(range, type);
      const int least = type == DType::i8 ? -128 : 0;
      CHECK(p.zero >= least);
      CHECK(p.zero <= least + 255);
      const double low = (least - p.zero) * static_cast<double>(p.scale), high = (least + 255 - p.zero) * static_cast<double>(p.scale);
      CHECK(low <= std::min(range.low, 0.0) + static_cast<double>(p.scale) * 0.51);
      CHECK(high >= std::max(range.high, 0.0) - static_cast<double>(p.scale) * 0.51);
    }
}

TEST_CASE("dynamic quantisation writes integer products of what it may") {
  const Graph before = prepared_network();
  Graph after = before.clone();
  const Result<QuantizedCounts> counts = quantize_dynamic(after, {}, true);
  REQUIRE(counts.ok());
  CHECK(counts->products == 1);
  CHECK(counts->left == 2);
  CHECK(operators_of(after) == "Conv Relu MaxPool Conv Add Relu Flatten DynamicQuantizeLinear MatMulInteger Cast Mul Mul Add");
  CHECK(after.outputs()[0]->name() == "y");
  CHECK(snr_between(before, after) > 35);
  Graph convolutions = before.clone();
  CHECK_FALSE(quantize_dynamic(convolutions, {{}, {"Conv"}}, true).ok());
}

TEST_CASE("what is written is read again, and computes the same") {
  const std::string path = (std::filesystem::temp_directory_path() / fmt::format("svengine_quantized_{}.onnx", getpid())).string();
  Graph graph = prepared_network();
  RandomSamples samples(kInput);
  REQUIRE(quantize_static(graph, samples, how()).ok());
  Model from;
  from.opsets = {{"", 11}};
  from.metadata = {{"key", "kept"}};
  REQUIRE(write_quantized(graph, from, "1", path).ok());
  const Result<Model> back = import_onnx(path);
  std::filesystem::remove(path);
  REQUIRE(back.ok());
  CHECK(back->opsets[0].version == 13);
  CHECK(back->metadata == from.metadata);
  CHECK(snr_between(graph, back->graph) == std::numeric_limits<double>::infinity());
}

TEST_CASE("Softmax of lines, as it was before opset 13, is written as what it is") {
  Graph graph;
  Builder b(graph, all_ops());
  Value* x = b.input("x", DType::f32, Shape{2, 3, 4});
  graph.add_output(b.node("", "Softmax", {x}, 1, make_attributes({{"axis", int64_t{1}}, {"coerced", int64_t{1}}}), "soft", {"y"})->output());
  const Graph before = graph.clone();
  REQUIRE(prepare_for_quantization(graph, one_thread()).ok());
  CHECK(operators_of(graph) == "Flatten Softmax Reshape");
  CHECK(graph.outputs()[0]->name() == "y");
  RandomSamples samples({2, 3, 4});
  ReferenceOutputs expected(session_of(before));
  CHECK(worst_snr(*compare_on_samples(expected, *session_of(graph), samples)) > 100);
}

TEST_CASE("weights that products share are written once") {
  Graph graph;
  Builder b(graph, all_ops());
  Value* x = b.input("x", DType::f32, Shape{2, 6});
  Value* w = b.constant(random_floats({6, 6}, 3), "w");
  Value* y = b.node("", "MatMul", {x, w}, 1, {}, "same", {"y1"})->output();
  graph.add_output(b.node("", "MatMul", {y, w}, 1, {}, "same", {"y2"})->output());
  Graph dynamic = graph.clone();
  RandomSamples samples({2, 6});
  REQUIRE(quantize_static(graph, samples, how()).ok());
  CHECK(operators_of(graph) == "QuantizeLinear DequantizeLinear DequantizeLinear MatMul QuantizeLinear DequantizeLinear MatMul");
  REQUIRE(quantize_dynamic(dynamic, {}, true).ok());
  int constants = 0;
  dynamic.for_each_value([&](Value& v) { constants += v.is_constant() && v.type.dtype == DType::i8 && v.constant().count() == 36; });
  CHECK(constants == 1);
}
}  // namespace quantize_test
