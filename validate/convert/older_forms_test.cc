// Every node that is made of older ones computes what it did: on the operators' own samples, and on forms of which only an attribute is
// younger.
#include "engine/ops/samples.h"
#include "validate/convert/older_forms.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "engine/ops/registry.h"
#include "importers/onnx/export.h"
#include "importers/onnx/old_forms.h"
#include "importers/onnx/onnx_file.h"
#include "runtime/session.h"
#include "tests/support/random_tensor.h"
#include "validate/compare/compare_tensors.h"
#include "validate/convert/change_type.h"
#include "validate/convert/convert_test_util.h"

namespace older_forms_test {
using namespace svengine;
using namespace svengine::tests;
using Catch::Matchers::Contains;

namespace {

SessionOptions one_thread() {
  SessionOptions options;
  options.topology = detect_topology(1);
  options.optimize = false;
  REQUIRE(choose_kernels(options).ok());
  return options;
}

Tensor tensor_of(const SampleInput& input, const PassContext& context, int seed) {
  if (input.value.defined()) return input.value;
  MutableTensor out = must(Tensor::allocate(DType::f32, input.dims));
  for (size_t i = 0; i < out.data<float>().size(); ++i) {
    const double part = std::abs(std::sin(static_cast<double>(i * 7 + 1) * (seed + 1)));
    out.data<float>()[i] = static_cast<float>(input.low + (input.high - input.low) * part);
  }
  return must(validate::cast(out, input.dtype, context));
}

std::vector<Tensor> run(const Graph& graph, const std::vector<Tensor>& inputs) {
  const auto session = must(Session::create(graph.clone(), one_thread()));
  return must(session->run(inputs));
}

void check_sample(const OpDef& op, const Sample& sample, bool must_change = true) {
  const SessionOptions options = one_thread();
  const PassContext context = pass_context(*options.kernels);
  Graph graph = graph_of(op, sample);
  std::vector<Tensor> inputs;
  for (const SampleInput& input : sample.inputs)
    if (!input.value.defined() && !input.is_absent()) inputs.push_back(tensor_of(input, context, static_cast<int>(inputs.size())));
  const std::vector<Tensor> expected = run(graph, inputs);
  const size_t outputs = graph.outputs().size();
  const Status older = validate::make_older(graph, 13, context);
  INFO(op.name);
  if (!older.ok()) FAIL(older.error().message());
  for (const auto& node : graph.nodes()) CHECK((!must_change || std::string_view(node->op().name) != op.name || &node->op() != &op));
  REQUIRE(graph.outputs().size() == outputs);
  const Status wide = validate::widen_young_types(graph, 13, context.ops);
  if (!wide.ok()) FAIL(wide.error().message());
  const auto exported = export_model(graph, {.opset = 13});
  if (!exported.ok()) FAIL(exported.error().message());
  const std::vector<Tensor> got = run(graph, inputs);
  for (size_t i = 0; i < outputs; ++i) {
    validate::Tolerance tolerance;
    if (expected[i].type() == DType::bf16) tolerance.rtol = 0x1p-6;
    const validate::Comparison comparison = validate::compare(got[i], expected[i], tolerance);
    INFO("output " << i << ": worst " << comparison.worst_abs << ", " << comparison.mismatch);
    CHECK(comparison.passed);
  }
}

const OpDef& operator_of(const char* name) {
  const OpDef* op = all_ops().find("", name);
  REQUIRE(op);
  return *op;
}

SampleInput real(Dims dims) { return {DType::f32, std::move(dims)}; }
SampleInput known(std::vector<int64_t> values) {
  SampleInput out;
  out.value = Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, std::span<const int64_t>(values));
  return out;
}
SampleInput none() { return {DType::undefined, {}}; }

}  // namespace

TEST_CASE("functions become what they are made of") {
  for (const char* name : {"Gelu", "HardSwish", "Mish", "Swish", "LayerNormalization", "RMSNormalization", "GroupNormalization", "CastLike", "SwiGLU",
                           "Trilu", "Attention", "RotaryEmbedding"}) {
    const OpDef& op = operator_of(name);
    REQUIRE_FALSE(op.samples.empty());
    for (const Sample& sample : samples_of(op)) check_sample(op, sample);
  }
}

TEST_CASE("younger attributes and inputs are said otherwise") {
  const auto numbers = [](std::vector<int64_t> values) { return Attribute(std::move(values)); };
  check_sample(operator_of("Split"), {.inputs = {real({7, 5})}, .attributes = {{"num_outputs", int64_t{3}}}, .outputs = 3}, false);
  check_sample(operator_of("Shape"), {.inputs = {real({2, 3, 4})}, .attributes = {{"start", int64_t{-2}}, {"end", int64_t{9}}}}, false);
  check_sample(operator_of("Pad"), {.inputs = {real({2, 3, 4}), known({1, 2, 0, 3}), none(), known({-1, 0})}}, false);
  check_sample(operator_of("Resize"), {.inputs = {real({1, 2, 4, 6}), none(), none(), known({8, 3})},
                                       .attributes = {{"axes", numbers({2, 3})}, {"mode", std::string("linear")}}}, false);
  check_sample(operator_of("Celu"), {.inputs = {{.dtype = DType::f64, .dims = {7}, .low = -3, .high = 3}}, .attributes = {{"alpha", 0.5f}}});
  check_sample(operator_of("Reshape"), {.inputs = {real({2, 6}), known({3, -1})}, .attributes = {{"allowzero", int64_t{1}}}}, false);
  SampleInput scales;
  scales.value = Tensor::of<float>({1}, {2.5f});
  check_sample(operator_of("Resize"), {.inputs = {real({1, 2, 4, 6}), none(), scales}, .attributes = {{"axes", numbers({-1})}}}, false);
}

TEST_CASE("an image without elements keeps its shape") {
  const Graph image = graph_of(operator_of("GroupNormalization"),
                               {.inputs = {real({2, 6, 5, 0}), real({6}), real({6})}, .attributes = {{"num_groups", int64_t{3}}}});
  Graph older = image.clone();
  REQUIRE(validate::make_older(older, 20, pass_context(*one_thread().kernels)).ok());
  CHECK(older.nodes().size() > 1);
  const std::vector<Tensor> inputs{random_tensor({2, 6, 5, 0}, 1), random_tensor({6}, 2), random_tensor({6}, 3)};
  CHECK(run(older, inputs)[0].dims() == Dims{2, 6, 5, 0});
}

TEST_CASE("younger attributes that change nothing are left out, others refused") {
  const auto written = [](const char* op, const Sample& sample) {
    const auto file = export_model(graph_of(operator_of(op), sample), {.opset = 13});
    return file.ok() ? std::string() : file.error().message();
  };
  using Numbers = std::vector<int64_t>;
  const auto pool = [&](int64_t dilation) {
    return written("AveragePool",
                   {.inputs = {real({1, 1, 6, 6})}, .attributes = {{"kernel_shape", Numbers{2, 2}}, {"dilations", Numbers{1, dilation}}}});
  };
  CHECK(pool(1) == "");
  CHECK_THAT(pool(2), Contains("'dilations' needs opset 19, not 13"));
  const auto mean = [&](std::vector<SampleInput> inputs) {
    return written("ReduceMean", {.inputs = std::move(inputs), .attributes = {{"noop_with_empty_axes", int64_t{1}}}});
  };
  CHECK(mean({real({2, 3}), known({1})}) == "");
  CHECK_THAT(mean({real({2, 3})}), Contains("'noop_with_empty_axes' needs opset 18, not 13"));
}

TEST_CASE("values of attributes are written in the opset's words, or refused") {
  const auto written = [](const char* op, const char* attribute, const char* word, std::vector<SampleInput> inputs, int opset) {
    const Graph graph = graph_of(operator_of(op), {.inputs = std::move(inputs), .attributes = {{attribute, std::string(word)}}});
    const auto file = export_model(graph, {.opset = opset});
    if (!file.ok()) return file.error().message();
    for (const auto& a : file->model().graph().node(0).attribute())
      if (a.name() == attribute) return a.s();
    return std::string("none");
  };
  const std::vector<SampleInput> image = {real({1, 2, 3, 4}), real({1, 2, 2, 2})}, padded = {real({3}), known({1, 2})};
  CHECK(written("GridSample", "mode", "cubic", image, 19) == "bicubic");
  CHECK(written("GridSample", "mode", "linear", image, 16) == "bilinear");
  CHECK(written("GridSample", "mode", "cubic", image, 20) == "cubic");
  CHECK_THAT(written("GridSample", "mode", "linear", {real({1, 2, 3, 4, 5}), real({1, 2, 2, 2, 3})}, 19), Contains("rank 5 needs opset 20"));
  const std::vector<SampleInput> regions = {real({1, 1, 5, 5}), real({1, 4}), known({0})};
  CHECK(written("RoiAlign", "coordinate_transformation_mode", "output_half_pixel", regions, 15) == "none");
  CHECK_THAT(written("RoiAlign", "coordinate_transformation_mode", "half_pixel", regions, 15), Contains("needs opset 16, not 15"));
  CHECK_THAT(written("RoiAlign", "mode", "avg", regions, 15), Contains("needs opset 16, not 15"));  // by default half_pixel
  CHECK(written("Pad", "mode", "wrap", padded, 19) == "wrap");
  CHECK_THAT(written("Pad", "mode", "wrap", padded, 18), Contains("'wrap', which needs opset 19, not 18"));
}

TEST_CASE("the nearest element of before opset 11 is said in today's modes, by two nodes where axes grow and shrink") {
  for (const auto& [factors, nodes] :
       {std::pair(std::vector<float>{1, 2.5f}, 1), std::pair(std::vector<float>{0.6f, 1}, 1), std::pair(std::vector<float>{0.6f, 2.5f}, 2)}) {
    SampleInput scales;
    scales.value = Tensor::of<float>({2}, std::span<const float>(factors));
    Graph graph = graph_of(operator_of("Resize"), {.inputs = {real({5, 7}), none(), scales},
                                                   .attributes = {{"nearest_mode", std::string("before opset 11")},
                                                                  {"coordinate_transformation_mode", std::string("asymmetric")}}});
    const std::vector<Tensor> inputs = {random_tensor({5, 7}, 3)}, expected = run(graph, inputs);
    const Status status = onnx::replace_old_forms(graph, all_ops());
    if (!status.ok()) FAIL(status.error().message());
    CHECK(graph.nodes().size() == static_cast<size_t>(nodes));
    CHECK(export_model(graph, {.opset = 13}).ok());
    CHECK(validate::compare(run(graph, inputs)[0], expected[0], {}).worst_abs == 0);
  }
}

TEST_CASE("a Softmax that took several dimensions as one is reshaped to the shape of its input in opset 13, too") {
  Graph graph = graph_of(operator_of("Softmax"), {.inputs = {real({2, 3, 4})}, .attributes = {{"axis", int64_t{1}}, {"coerced", int64_t{1}}}});
  const std::vector<Tensor> inputs = {random_tensor({2, 3, 4}, 3)}, expected = run(graph, inputs);
  REQUIRE(onnx::replace_old_forms(graph, all_ops()).ok());
  const Status older = validate::make_older(graph, 13, pass_context(*one_thread().kernels));
  if (!older.ok()) FAIL(older.error().message());
  CHECK(export_model(graph, {.opset = 13}).ok());
  CHECK(validate::compare(run(graph, inputs)[0], expected[0], {}).worst_abs < 1e-7);
}

TEST_CASE("DFT's axis becomes the attribute that it was, with its own default value") {
  const auto axis_of = [](std::vector<SampleInput> inputs) {
    const auto file = export_model(graph_of(operator_of("DFT"), {.inputs = std::move(inputs)}), {.opset = 19});
    if (!file.ok()) FAIL(file.error().message());
    CHECK(file->model().graph().node(0).input_size() < 3);
    for (const auto& a : file->model().graph().node(0).attribute())
      if (a.name() == "axis") return a.i();
    return int64_t{99};
  };
  CHECK(axis_of({real({1, 3, 4, 2}), none(), known({1})}) == 1);
  CHECK(axis_of({real({1, 3, 4, 2})}) == -2);
}

TEST_CASE("pads that are computed are put among zeros") {
  const SessionOptions options = one_thread();
  const PassContext context = pass_context(*options.kernels);
  Graph graph;
  Value* x = graph.add_input("x", {DType::f32, Shape::of(Dims{2, 3})});
  Value* pads = graph.add_input("pads", {DType::i64, Shape::of(Dims{2})});
  Node* node = graph.add_node(operator_of("Pad"), "pad", {x, pads, nullptr, graph.add_constant("axes", Tensor::of<int64_t>({1}, {-1}))}, 1);
  REQUIRE(infer_types(*node).ok());
  graph.add_output(node->output());
  const std::vector<Tensor> inputs{Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6}), Tensor::of<int64_t>({2}, {1, 2})};
  const Tensor expected = run(graph, inputs).at(0);
  CHECK(expected.dims() == Dims{2, 6});
  REQUIRE(validate::make_older(graph, 13, context).ok());
  REQUIRE(export_model(graph, {.opset = 13}).ok());
  CHECK(validate::compare(run(graph, inputs).at(0), expected, {}).passed);
}

TEST_CASE("Trilu of a matrix whose size is not known, by a computed diagonal") {
  const SessionOptions options = one_thread();
  const PassContext context = pass_context(*options.kernels);
  for (const int64_t upper : {0, 1}) {
    Graph graph;
    Value* x = graph.add_input("x", {DType::f32, Shape({Dim("R"), Dim("C")})});
    Value* k = graph.add_input("k", {DType::i64, Shape::of(Dims{})});
    Attributes attributes;
    attributes.set("upper", upper);
    Node* node = graph.add_node(operator_of("Trilu"), "trilu", {x, k}, 1, std::move(attributes));
    REQUIRE(infer_types(*node).ok());
    graph.add_output(node->output());
    const std::vector<Tensor> inputs{Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6}), Tensor::scalar<int64_t>(1)};
    const Tensor expected = run(graph, inputs).at(0);
    REQUIRE(validate::make_older(graph, 13, context).ok());
    REQUIRE(export_model(graph, {.opset = 13}).ok());
    CHECK(validate::compare(run(graph, inputs).at(0), expected, {}).passed);
  }
}

TEST_CASE("what the opset has stays as it is") {
  const SessionOptions options = one_thread();
  const PassContext context = pass_context(*options.kernels);
  Graph graph = graph_of(operator_of("Gelu"), {.inputs = {real({4})}});
  REQUIRE(validate::make_older(graph, 20, context).ok());
  REQUIRE(validate::widen_young_types(graph, 20, context.ops).ok());
  REQUIRE(graph.nodes().size() == 1);
  CHECK(std::string_view(graph.nodes().front()->op().name) == "Gelu");
}

TEST_CASE("types that an operator takes later are wider ones between casts") {
  const OpDef& op = operator_of("Relu");  // of int8 since opset 14
  check_sample(op, {.inputs = {{.dtype = DType::i8, .dims = {5}}}}, false);
  const SessionOptions options = one_thread();
  Graph graph = graph_of(op, {.inputs = {{.dtype = DType::i8, .dims = {5}}}});
  REQUIRE(validate::widen_young_types(graph, 13, all_ops()).ok());
  CHECK(graph.nodes().size() == 3);
  CHECK(graph.outputs()[0]->type.dtype == DType::i8);
}

TEST_CASE("extremes of bools are those of integers before opset 20") {
  for (const char* name : {"ReduceMax", "ReduceMin"}) {
    Graph graph = graph_of(operator_of(name), {.inputs = {{.dtype = DType::boolean, .dims = {2, 3}}, known({1})}});
    const std::vector<Tensor> inputs{Tensor::of<bool>({2, 3}, {true, false, true, false, false, true})}, expected = run(graph, inputs);
    REQUIRE(validate::widen_young_types(graph, 13, all_ops()).ok());
    CHECK(graph.nodes().size() == 3);
    CHECK(graph.outputs()[0]->type.dtype == DType::boolean);
    CHECK(validate::compare(run(graph, inputs).at(0), expected.at(0), {}).passed);
  }
}

TEST_CASE("inputs of two types where the opset wants one are both of the wider") {
  SampleInput scale, zero;
  scale.value = Tensor::scalar(0.5f);
  zero.value = Tensor::of<uint8_t>({}, {3});
  Graph graph = graph_of(operator_of("QuantizeLinear"), {.inputs = {{.dtype = DType::bf16, .dims = {5}}, scale, zero}});
  REQUIRE(validate::widen_young_types(graph, 23, all_ops()).ok());
  CHECK(graph.nodes().size() == 1);
  REQUIRE(validate::widen_young_types(graph, 21, all_ops()).ok());
  CHECK(graph.nodes().size() == 2);
  CHECK(graph.outputs()[0]->producer()->input(0)->type.dtype == DType::f32);
}

TEST_CASE("what operators of containers do with others, and copies of containers, are not needed in older opsets") {
  const PassContext context = pass_context(*one_thread().kernels);
  Graph graph;
  Value* x = graph.add_input("x", {DType::f32, Shape::of(Dims{2, 3})});
  const auto add = [&](const char* op, std::vector<Value*> inputs) {
    Node* node = graph.add_node(operator_of(op), op, std::move(inputs), 1);
    REQUIRE(infer_types(*node).ok());
    return node->output();
  };
  graph.add_output(add("OptionalHasElement", {x}));
  graph.add_output(add("OptionalHasElement", {nullptr}));
  Value* list = add("Identity", {add("SequenceConstruct", {add("OptionalGetElement", {x}), x})});
  graph.add_output(add("SequenceLength", {list}));
  const std::vector<Tensor> inputs{random_tensor({2, 3}, 1)}, expected = run(graph, inputs);
  REQUIRE(validate::make_older(graph, 13, context).ok());
  for (const auto& node : graph.nodes()) CHECK_THAT(node->op().name, !Contains("Optional"));
  CHECK(graph.outputs()[2]->producer()->input(0)->producer()->op().name == std::string_view("SequenceConstruct"));
  REQUIRE(export_model(graph, {.opset = 13}).ok());
  const std::vector<Tensor> got = run(graph, inputs);
  for (size_t i = 0; i < got.size(); ++i) CHECK(validate::compare(got[i], expected[i], {}).passed);
}
}  // namespace older_forms_test
