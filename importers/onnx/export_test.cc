#include "importers/onnx/export.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <numeric>

#include "engine/base/narrow_float.h"
#include "engine/ops/registry.h"
#include "importers/onnx/import_test_util.h"
#include "importers/onnx/onnx_file.h"
#include "importers/onnx/tensor_file.h"

namespace export_test {
using namespace svengine;
using namespace svengine::tests;
using Catch::Matchers::Contains;

namespace {

/// A path of its own, removed at the end.
struct TemporaryPath {
  ~TemporaryPath() { std::filesystem::remove(path); }
  std::string path = fmt::format("{}/svengine_export_{}", std::filesystem::temp_directory_path().string(), getpid());
};

/// x -> Scale -> Add(big weights) -> Squeeze(axes) -> y.
Graph sample_graph() {
  Graph graph;
  graph.name = "sample";
  Value* x = graph.add_input("x", {DType::f32, Shape{Dim("N"), Dim(5000), Dim()}, 0});
  Attributes attributes;
  attributes.set("factor", 0.5f);
  attributes.set("mode", std::string("fast"));
  attributes.set("offset", int64_t{-3});
  attributes.set("pads", std::vector<int64_t>{1, -2});
  attributes.set("table", Tensor::of<float>({2}, {1, 2}));
  Node* scale = graph.add_node(*test_ops().find("", "Scale"), "scale", {x}, 1, std::move(attributes));
  std::vector<float> values(5000);
  std::iota(values.begin(), values.end(), 0.0f);
  Value* w = graph.add_constant("w", Tensor::of<float>({1, 5000, 1}, std::span<const float>(values)));
  Node* add = graph.add_node(*test_ops().find("", "Add"), "add", {scale->output(), w}, 1);
  Value* axes = graph.add_constant("axes", Tensor::of<int64_t>({1}, {1}));
  Node* squeeze = graph.add_node(*test_ops().find("", "Squeeze"), "squeeze", {add->output(), axes}, 1, {}, nullptr, {"y"});
  for (Node* node : {scale, add, squeeze}) REQUIRE(infer_types(*node).ok());
  graph.add_output(squeeze->output());
  return graph;
}

void check_same(const Graph& a, const Graph& b) {
  CHECK(a.name == b.name);
  REQUIRE(a.nodes().size() == b.nodes().size());
  const auto left = a.snapshot(), right = b.snapshot();
  for (size_t i = 0; i < left.size(); ++i) {
    CHECK(describe(*left[i]) == describe(*right[i]));
    REQUIRE(left[i]->inputs().size() == right[i]->inputs().size());
    for (size_t k = 0; k < left[i]->inputs().size(); ++k) CHECK(left[i]->input(k)->name() == right[i]->input(k)->name());
  }
  CHECK(a.inputs()[0]->type == b.inputs()[0]->type);
  CHECK(a.outputs()[0]->type == b.outputs()[0]->type);
}

}  // namespace

TEST_CASE("what is exported is imported again") {
  const TemporaryPath file;
  const Graph graph = sample_graph();
  const ExportOptions options{.opset = 17, .producer_version = "7", .doc = "d", .metadata = {{"seed", "1"}}};
  REQUIRE(export_onnx(graph, options, file.path).ok());
  const Result<Model> model = import_onnx(file.path, {.ops = &test_ops()});
  REQUIRE(model.ok());
  check_same(graph, model->graph);
  CHECK(model->producer_name == "svengine");
  CHECK(model->producer_version == "7");
  CHECK(model->doc == "d");
  CHECK(model->metadata == options.metadata);
  CHECK(values_of<float>(find_value(model->graph, "w")->constant()) == values_of<float>(find_value(graph, "w")->constant()));
  const Attributes& a = model->graph.nodes().front()->attributes;
  CHECK(a.get_float("factor") == 0.5f);
  CHECK(a.get_string("mode") == "fast");
  CHECK(a.get_int("offset") == -3);
  CHECK(a.get_ints("pads") == std::vector<int64_t>{1, -2});
  CHECK(values_of<float>(*a.get<Tensor>("table")) == std::vector<float>{1, 2});
}

TEST_CASE("constants of packed elements and strings are exported and come back") {
  const TemporaryPath file;
  Graph graph;
  for (const DType type : {DType::i4, DType::u4, DType::i2, DType::u2, DType::f4e2m1, DType::f8e5m2}) {
    MutableTensor t = Tensor::allocate(type, {3, 3}).value();
    for (size_t i = 0; i < 9; ++i) t.data<uint8_t>()[i] = unpacked(type, static_cast<uint8_t>(i * 37));
    graph.add_output(graph.add_constant(std::string(name_of(type)), t));
  }
  graph.add_output(graph.add_constant("text", Tensor::of_strings({2}, {"a", std::string("b\0c", 3)})));
  REQUIRE(export_onnx(graph, {}, file.path).ok());
  const Result<Model> model = import_onnx(file.path, {.ops = &test_ops()});
  if (!model.ok()) FAIL(model.error().message());
  for (const Value* was : graph.outputs()) {
    const Tensor &before = was->constant(), &after = find_value(model->graph, was->name())->constant();
    INFO(was->name());
    REQUIRE(after.type() == before.type());
    REQUIRE(after.dims() == before.dims());
    if (before.type() == DType::string) CHECK(std::equal(before.strings().begin(), before.strings().end(), after.strings().begin()));
    else CHECK(std::memcmp(before.raw(), after.raw(), before.byte_size()) == 0);
  }
}

TEST_CASE("a model can be exported over the file it is mapped from") {
  const TemporaryPath file;
  REQUIRE(export_onnx(sample_graph(), {}, file.path).ok());
  const Result<Model> model = import_onnx(file.path, {.ops = &test_ops()});
  REQUIRE(model.ok());
  REQUIRE(export_onnx(model->graph, {}, file.path).ok());
  const Result<Model> again = import_onnx(file.path, {.ops = &test_ops()});
  REQUIRE(again.ok());
  check_same(model->graph, again->graph);
}

TEST_CASE("values that are no outputs have their types in the file too, within bodies as well") {
  Graph branch = sample_graph();
  const Type carried = branch.inputs()[0]->type;
  Graph graph;
  Value* x = graph.add_input("x", carried);
  Value* condition = graph.add_input("condition", {DType::boolean, Shape{}, 0});
  Attributes attributes;
  attributes.set("captured", int64_t{1});
  attributes.set("then_branch", Subgraph(std::make_shared<const Graph>(branch.clone())));
  attributes.set("else_branch", Subgraph(std::make_shared<const Graph>(std::move(branch))));
  Node* either = graph.add_node(*all_ops().find("", "If"), "if", {condition, x}, 1, std::move(attributes));
  REQUIRE(infer_types(*either).ok());
  Node* relu = graph.add_node(*all_ops().find("", "Relu"), "relu", {either->output()}, 1);
  graph.add_output(relu->output());
  REQUIRE(infer_types(*relu).ok());
  const auto file = export_model(graph, {});
  if (!file.ok()) FAIL(file.error().message());
  const auto names = [](const GraphProto& of) {
    std::vector<std::string> out;
    for (const ValueInfoProto& info : of.value_info()) {
      CHECK(info.type().tensor_type().elem_type() == TensorProto::FLOAT);
      CHECK(info.type().tensor_type().has_shape());
      out.push_back(info.name());
    }
    return out;
  };
  const GraphProto& written = file->model().graph();
  CHECK(names(written) == std::vector<std::string>{either->output()->name()});
  CHECK(names(written.node(0).attribute(0).g()).size() == 2);  // its third node gives its output
}

TEST_CASE("nodes of one name are written with different ones") {
  const TemporaryPath file;
  Graph graph = sample_graph();
  Value* v = graph.outputs()[0];
  for (int i = 0; i < 3; ++i) {
    Node* node = graph.add_node(*test_ops().find("", "Add"), i == 1 ? "same_1" : "same", {v, v}, 1);
    REQUIRE(infer_types(*node).ok());
    v = node->output();
  }
  graph.set_output(0, v);
  REQUIRE(export_onnx(graph, {}, file.path).ok());
  const Model model = import_onnx(file.path, {.ops = &test_ops()}).value();
  std::vector<std::string> names;
  for (const auto& node : model.graph.nodes()) names.push_back(node->name());
  CHECK(names == std::vector<std::string>{"scale", "add", "squeeze", "same", "same_1", "same_2"});
}

TEST_CASE("reductions before opset 18 have axes as an attribute") {
  const TemporaryPath file;
  Graph graph = sample_graph();
  graph.set_op(graph.snapshot()[2], *test_ops().find("", "ReduceMean"));
  graph.snapshot()[2]->attributes.set("noop_with_empty_axes", int64_t{0});
  const auto exported = [&](int opset) {
    REQUIRE(export_onnx(graph, {.opset = opset}, file.path).ok());
    std::ifstream stream(file.path, std::ios::binary);
    ModelProto proto;
    REQUIRE(proto.ParseFromIstream(&stream));
    return proto;
  };
  const ModelProto older = exported(17), newer = exported(18);
  const NodeProto& reduce = older.graph().node(2);
  CHECK(reduce.input_size() == 1);
  REQUIRE(reduce.attribute_size() == 1);
  CHECK(reduce.attribute(0).name() == "axes");
  CHECK(reduce.attribute(0).ints(0) == 1);
  CHECK(older.graph().initializer_size() == 1);
  CHECK(newer.graph().node(2).input_size() == 2);
  CHECK(newer.graph().node(2).attribute(0).name() == "noop_with_empty_axes");
  CHECK(newer.graph().initializer_size() == 2);
}

TEST_CASE("graphs that ONNX cannot hold are refused, and leave the file as it was") {
  const TemporaryPath file;
  std::ofstream(file.path) << "before";
  const auto problem = [&](const Graph& graph, const ExportOptions& options = {}) {
    const Status status = export_onnx(graph, options, file.path);
    REQUIRE_FALSE(status.ok());
    CHECK(std::filesystem::file_size(file.path) == 6);
    return status.error().message();
  };
  Graph internal;
  Value* x = internal.add_input("x", {DType::f32, Shape{Dim(1)}, 0});
  internal.add_output(internal.add_node(*test_ops().find("svengine", "Secret"), "s", {x}, 1)->output());
  CHECK(problem(internal) == "export as ONNX: node 's' (Secret): is not an operator of ONNX, but of svengine; export before optimising");
  Graph blocked;
  x = blocked.add_input("x", {DType::f32, Shape{Dim(1)}, 0});
  Node* relu = blocked.add_node(*test_ops().find("", "Relu"), "r", {x}, 1);
  relu->output()->type = {DType::f32, Shape{Dim(1)}, 16};
  blocked.add_output(relu->output());
  CHECK_THAT(problem(blocked), Contains("blocked layout"));
  Graph young;
  x = young.add_input("x", {DType::f32, Shape{Dim(1)}, 0});
  young.add_output(young.add_node(*test_ops().find("", "Young"), "n", {x}, 1)->output());
  CHECK_THAT(problem(young), Contains("exists in opsets 18 to 28, not in 17"));
  CHECK_THAT(problem(sample_graph(), {.opset = 99}), Contains("opset 99"));
  CHECK_THAT(problem(sample_graph(), {.opset = 12}), Contains("opset 12 is not one of 13 to 28"));
  Graph computed = sample_graph();
  computed.set_op(computed.snapshot()[2], *test_ops().find("", "ReduceMean"));
  computed.set_input(computed.snapshot()[2], 1, computed.add_input("axes_in", {DType::i64, Shape{Dim(1)}, 0}));
  CHECK_THAT(problem(computed), Contains("axes 'axes_in' are computed, which needs opset 18, not 17"));
  Graph coerced = sample_graph();
  coerced.snapshot()[0]->attributes.set("coerced", int64_t{1});
  CHECK_THAT(problem(coerced), Contains("coerces its input"));
  CHECK_THAT(export_onnx(sample_graph(), {}, "/nonexistent/x.onnx").error().message(), Contains("No such file"));
  CHECK_THAT(export_onnx(sample_graph(), {}, "/dev/null").error().message(), Contains("not a regular file"));
}

TEST_CASE("tensors in files of their own") {
  const TemporaryPath file;
  const Tensor tensor = Tensor::of<int64_t>({2, 2}, {1, -2, 3, INT64_MAX});
  REQUIRE(save_tensor_proto(tensor, "t", file.path).ok());
  const Result<TensorFile> back = load_tensor_proto(file.path);
  REQUIRE(back.ok());
  CHECK(back->name == "t");
  CHECK(back->tensor.dims() == Dims{2, 2});
  CHECK(values_of<int64_t>(back->tensor) == values_of<int64_t>(tensor));
  const auto problem = [&](const std::string& bytes) {
    std::ofstream(file.path, std::ios::binary) << bytes;
    const Result<TensorFile> result = load_tensor_proto(file.path);
    REQUIRE_FALSE(result.ok());
    return result.error().message();
  };
  // SequenceProto: name, elem_type 1 (tensor), tensor_values.
  CHECK_THAT(problem(std::string("\x0a\x01s\x10\x01\x1a\x04\x10\x01\x4a\x00", 11)), Contains("sequence or an optional"));
  CHECK_THAT(problem(""), Contains("is empty"));
  CHECK_THAT(problem("hello world"), Contains("no ONNX tensor"));
  CHECK_THAT(problem(std::string("\x42\x01t", 3)), Contains("it has no element type"));
  CHECK_FALSE(load_tensor_proto("/nonexistent.pb").ok());
}
}  // namespace export_test
