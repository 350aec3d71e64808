// Good models, and what becomes of them.
#include "importers/onnx/import.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "engine/graph/passes/pass.h"
#include "engine/ops/registry.h"
#include "importers/onnx/export.h"
#include "importers/onnx/import_test_util.h"
#include "importers/onnx/old_forms.h"
#include "importers/onnx/onnx_file.h"

namespace import_test {
using namespace svengine;
using namespace svengine::tests;

TEST_CASE("a graph comes with its nodes, types and what the file says of itself") {
  ModelProto proto = relu_model();
  proto.set_producer_name("hand\x1b");
  proto.set_producer_version("1");
  proto.set_doc_string("doc");
  auto* entry = proto.add_metadata_props();
  entry->set_key("k");
  entry->set_value("v");
  const Result<Model> model = import_proto(proto);
  REQUIRE(model.ok());
  CHECK(model->ir_version == 8);
  REQUIRE(model->opsets.size() == 1);
  CHECK(model->opsets[0].version == 17);
  CHECK(model->producer_name == "hand\\x1b");
  CHECK(model->doc == "doc");
  CHECK(model->metadata == std::vector<std::pair<std::string, std::string>>{{"k", "v"}});
  const Graph& g = model->graph;
  CHECK(g.name == "g");
  REQUIRE(g.inputs().size() == 1);
  CHECK(to_string(g.inputs()[0]->type) == "float32[1x3]");
  REQUIRE(g.outputs().size() == 1);
  CHECK(g.outputs()[0]->name() == "y");
  CHECK(to_string(g.outputs()[0]->type) == "float32[1x3]");
  REQUIRE(g.nodes().size() == 1);
  CHECK(describe(*g.nodes().front()) == "node 'relu' (Relu)");
}

TEST_CASE("all IR versions and opsets are read, newer ones with a warning") {
  for (int64_t ir = 1; ir <= 14; ++ir) CHECK(import_proto(relu_model(17, ir))->warnings.empty());
  for (int64_t opset = 1; opset <= 28; ++opset) CHECK(import_proto(relu_model(opset))->warnings.empty());
  ModelProto first = relu_model(1, 2);
  first.clear_opset_import();
  CHECK(import_proto(first).ok());
  CHECK(import_proto(relu_model(17, 99))->warnings ==
        std::vector<std::string>{"has IR version 99, newer than 14, the newest known: what it adds is not read"});
  CHECK(import_proto(relu_model(31))->warnings ==
        std::vector<std::string>{"needs opset 31 of ai.onnx, newer than 28, the newest known: its operators are taken as those of 28"});
}

TEST_CASE("dimensions are numbers, names or unknown, and declared outputs refine what inference cannot know") {
  ModelProto proto = empty_model();
  add_input(proto, "x", {-1, 3});
  proto.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_param("N");
  add_input(proto, "s", {2}, DType::i64);
  add_node(proto, "Reshape", {"x", "s"}, {"m"});
  add_node(proto, "Relu", {"m"}, {"y"});
  set_type(proto.mutable_graph()->add_value_info(), "m", {-1, 5});
  set_type(proto.mutable_graph()->add_output(), "y", {4, 5});
  const Result<Model> model = import_proto(proto);
  REQUIRE(model.ok());
  CHECK(to_string(model->graph.inputs()[0]->type) == "float32[Nx3]");
  CHECK(to_string(find_value(model->graph, "m")->type) == "float32[?x5]");
  CHECK(to_string(model->graph.outputs()[0]->type) == "float32[4x5]");
}

TEST_CASE("a declared shape that contradicts the nodes is a warning, or with `strict` an error; an output's other type is an error") {
  ModelProto proto = relu_model();
  add_node(proto, "Relu", {"y"}, {"z"}, "second");
  set_type(proto.mutable_graph()->add_value_info(), "y", {9, 9, 9}, DType::i8);
  CHECK(import_proto(proto)->warnings ==
        std::vector<std::string>{"value 'y' is declared as int8[9x9x9], but is float32[1x3]; what the nodes give counts"});
  CHECK(problem_of(import_proto(proto, {.strict = true})) ==
        "m.onnx: node 'relu' (Relu): value 'y': is declared as int8[9x9x9], but is float32[1x3]");
  set_type(proto.mutable_graph()->add_output(), "z", {4});
  CHECK_THAT(import_proto(proto)->warnings.at(0), Catch::Matchers::Contains("but is float32[1x3] (and 1 more contradictions); what"));
  ModelProto shape = relu_model();
  set_type(shape.mutable_graph()->mutable_output(0), "y", {1, 4});
  const Result<Model> model = import_proto(shape);
  CHECK(model->warnings == std::vector<std::string>{"output 'y' is declared as float32[1x4], but is float32[1x3]; what the nodes give counts"});
  CHECK(to_string(model->graph.outputs()[0]->type) == "float32[1x3]");
  CHECK(problem_of(import_proto(shape, {.strict = true})) == "m.onnx: output 'y': is declared as float32[1x4], but is float32[1x3]");
  ModelProto type = relu_model();
  set_type(type.mutable_graph()->mutable_output(0), "y", {1, 3}, DType::i64);
  CHECK(problem_of(type) == "m.onnx: output 'y': is declared as int64[1x3], but is float32[1x3]");
}

TEST_CASE("vectors of more dimensions are read as vectors where ONNX Runtime does, with a warning, or with `strict` an error") {
  ModelProto proto = empty_model(17, 8);
  add_input(proto, "x", {2, 3});
  add_input(proto, "chosen", {2, 3}, DType::boolean);
  add_initializer(proto, "scales", {1, 4}, {1, 1, 1.5f, 2});
  add_input(proto, "image", {1, 1, 4, 4});
  add_node(proto, "Compress", {"x", "chosen"}, {"y"}, "masked");
  add_node(proto, "Resize", {"image", "", "scales"}, {"z"});
  for (const char* name : {"y", "z"}) proto.mutable_graph()->add_output()->set_name(name);
  const Result<Model> model = import_proto(proto, {.ops = &all_ops()});
  if (!model.ok()) FAIL(model.error().message());
  CHECK(to_string(find_value(model->graph, "y")->type) == "float32[?]");
  CHECK(to_string(find_value(model->graph, "z")->type) == "float32[1x1x6x8]");
  CHECK(model->warnings == std::vector<std::string>{"node 'masked' (Compress): input 1 has shape 2x3 and is read as a vector"});
  CHECK(problem_of(import_proto(proto, {.ops = &all_ops(), .strict = true})) ==
        "m.onnx: node 'masked' (Compress): input 1 has shape 2x3 and is read as a vector; ONNX wants a vector or one number");
}

TEST_CASE("initializers and Constant nodes are constants, also when the file lists them as inputs") {
  ModelProto proto = empty_model(17, 3);
  add_input(proto, "w", {2});
  add_input(proto, "x", {2});
  add_initializer(proto, "w", {2}, {1, 2});
  fill_raw(add_attribute(add_node(proto, "Constant", {}, {"c"}), "value", AttributeProto::TENSOR)->mutable_t(), {2}, {3, 4});
  add_node(proto, "Add", {"x", "w"}, {"a"});
  add_node(proto, "Add", {"a", "c"}, {"y"});
  add_output(proto, "y");
  const Result<Model> model = import_proto(proto);
  REQUIRE(model.ok());
  CHECK(model->graph.inputs().size() == 1);
  CHECK(model->graph.nodes().size() == 2);
  CHECK(values_of<float>(find_value(model->graph, "w")->constant()) == std::vector<float>{1, 2});
  CHECK(values_of<float>(find_value(model->graph, "c")->constant()) == std::vector<float>{3, 4});

  const Result<Model> open = import_proto(proto, {.inputs_instead_of_initializers = {"w"}});
  REQUIRE(open.ok());
  REQUIRE(open->graph.inputs().size() == 2);
  CHECK(open->graph.inputs()[0]->name() == "w");
  CHECK(problem_of(import_proto(proto, {.inputs_instead_of_initializers = {"q"}})) ==
        "m.onnx: 'q' is to be an input instead of an initializer, but there is no such initializer");
}

TEST_CASE("absent inputs and outputs keep their places, trailing ones go") {
  ModelProto proto = empty_model();
  add_input(proto, "x", {2});
  add_input(proto, "hi", {});
  add_node(proto, "Clip", {"x", "", "hi"}, {"c"});
  add_node(proto, "Clip", {"c", "", ""}, {"d"});
  add_node(proto, "TopK", {"d"}, {"y", "", ""});
  add_output(proto, "y");
  const Result<Model> model = import_proto(proto);
  REQUIRE(model.ok());
  const auto nodes = model->graph.snapshot();
  CHECK(nodes[0]->inputs().size() == 3);
  CHECK(nodes[0]->input(1) == nullptr);
  CHECK(nodes[1]->inputs().size() == 1);
  CHECK(nodes[2]->outputs().size() == 1);
}

TEST_CASE("old forms become canonical, and what that makes does not take an output's name") {
  ModelProto proto = empty_model(11);
  add_input(proto, "x", {1, 3});
  AttributeProto* axes = add_attribute(add_node(proto, "Squeeze", {"x"}, {"s"}, "sq"), "axes", AttributeProto::INTS);
  axes->add_ints(0);
  add_node(proto, "Relu", {"s"}, {"sq.axes"});
  add_output(proto, "sq.axes");
  const Result<Model> model = import_proto(proto);
  REQUIRE(model.ok());
  const Node* squeeze = model->graph.snapshot()[0];
  REQUIRE(squeeze->inputs().size() == 2);
  CHECK(squeeze->input(1)->constant().as_int64s() == std::vector<int64_t>{0});
  CHECK(squeeze->attributes.empty());
  CHECK(model->graph.outputs()[0]->name() == "sq.axes");
  CHECK(squeeze->input(1)->name() != "sq.axes");
  CHECK(to_string(model->graph.outputs()[0]->type) == "float32[3]");
}

TEST_CASE("operators of other domains are taken when they are known and imported") {
  ModelProto proto = relu_model();
  proto.mutable_graph()->mutable_node(0)->set_op_type("Gelu");
  proto.mutable_graph()->mutable_node(0)->set_domain("com.microsoft");
  CHECK(problem_of(import_proto(proto, {.strict = true})) ==
        "m.onnx: not supported: Gelu of com.microsoft: the model does not import this domain (node 'relu')");
  const Result<Model> lenient = import_proto(proto);
  REQUIRE(lenient.ok());
  CHECK(lenient->warnings == std::vector<std::string>{"does not import com.microsoft, whose operators it uses (node 'relu'): they are taken as "
                                                      "those of opset 28, the newest known"});
  auto* import = proto.add_opset_import();
  import->set_domain("com.microsoft");
  import->set_version(1);
  CHECK(import_proto(proto, {.strict = true})->warnings.empty());
  ModelProto named = relu_model();
  named.mutable_graph()->mutable_node(0)->set_domain("ai.onnx");
  CHECK(import_proto(named).ok());
}

TEST_CASE("ONNX Runtime's Range, Pad and GatherND are ai.onnx's from import on") {
  ModelProto proto = empty_model();
  proto.add_opset_import()->set_domain("com.microsoft");
  proto.mutable_opset_import(1)->set_version(1);
  add_input(proto, "n", {}, DType::i64);
  add_input(proto, "x", {2, 3});
  add_input(proto, "p", {1, 4}, DType::i64);
  add_input(proto, "i", {5, 2}, DType::i32);
  add_node(proto, "Range", {"n", "n"}, {"r"})->set_domain("com.microsoft");
  add_node(proto, "Pad", {"x", "p"}, {"q"})->set_domain("com.microsoft");
  add_node(proto, "GatherND", {"x", "i"}, {"g"})->set_domain("com.microsoft");
  for (const char* name : {"r", "q", "g"}) add_output(proto, name);
  const Result<Model> model = import_proto(proto, {.ops = &all_ops(), .strict = true});
  INFO((model.ok() ? "" : model.error().message()));
  REQUIRE(model.ok());
  for (const auto& node : model->graph.nodes()) CHECK(std::string_view(node->op().domain).empty());
  const auto& outputs = model->graph.outputs();
  CHECK(outputs[0]->producer()->input(2)->constant().as_int64s() == std::vector<int64_t>{1});
  CHECK(to_string(outputs[1]->producer()->input(1)->type) == "int64[4]");
  CHECK(to_string(outputs[2]->type) == "float32[5]");
}

TEST_CASE("operators of a domain that is not imported are of its newest opset") {
  ModelProto proto = relu_model();
  proto.mutable_opset_import(0)->set_domain("com.microsoft");
  proto.mutable_opset_import(0)->set_version(1);
  const Result<Model> model = import_proto(proto);
  REQUIRE(model.ok());
  CHECK_THAT(model->warnings.at(0), Catch::Matchers::Contains("does not import ai.onnx, whose operators it uses"));
  proto.mutable_graph()->mutable_node(0)->set_op_type("Squeeze");  // axes are an input since opset 13
  add_attribute(proto.mutable_graph()->mutable_node(0), "axes", AttributeProto::INTS)->add_ints(0);
  CHECK_THAT(problem_of(proto), Catch::Matchers::Contains("'axes'"));
}

TEST_CASE("a Softmax of before opset 13 may have no elements, in today's operators too") {
  for (const std::vector<int64_t>& dims : std::vector<std::vector<int64_t>>{{2, 3, 0}, {2, 0, 4}, {0, 3, 4}, {2, 3, -1}, {2, 3, 4}}) {
    ModelProto proto = empty_model(11);
    add_input(proto, "x", dims);
    add_node(proto, "Softmax", {"x"}, {"y"});
    add_output(proto, "y");
    Result<Model> model = import_proto(proto, {.ops = &all_ops()});
    REQUIRE(model.ok());
    Graph& graph = model->graph;
    REQUIRE(onnx::replace_old_forms(graph, all_ops()).ok());
    CHECK(export_model(graph, {.opset = 17}).ok());
    const Status folded = fold_constants(graph, {.ops = all_ops()});  // Reshape sees the shape then
    INFO((folded.ok() ? "" : folded.error().message()));
    REQUIRE(folded.ok());
    CHECK(graph.outputs()[0]->type.shape.concrete() == graph.inputs()[0]->type.shape.concrete());
  }
}

TEST_CASE("LayerNormalization is read in opsets before the specification's, as ONNX Runtime's optimiser writes it") {
  for (const int64_t opset : {1, 7, 13, 16, 17}) {
    ModelProto proto = relu_model(opset);
    proto.mutable_graph()->mutable_node(0)->set_op_type("LayerNormalization");
    proto.mutable_graph()->mutable_node(0)->add_input("scale");
    add_initializer(proto, "scale", {3}, {1, 2, 3});
    const Result<Model> model = import_proto(proto, {.ops = &all_ops()});
    INFO((model.ok() ? "" : model.error().message()));
    REQUIRE(model.ok());
    CHECK(model->warnings.empty());
    CHECK(export_model(model->graph, {.opset = 17}).ok());
    const auto older = export_model(model->graph, {.opset = 16});
    REQUIRE_FALSE(older.ok());
    CHECK_THAT(older.error().message(), Catch::Matchers::Contains("exists in opsets 17 to 28, not in 16"));
  }
}

TEST_CASE("a graph may return inputs and constants") {
  ModelProto proto = relu_model();
  add_initializer(proto, "w", {1}, {5});
  add_output(proto, "x");
  add_output(proto, "w");
  const Result<Model> model = import_proto(proto);
  REQUIRE(model.ok());
  CHECK(model->graph.outputs()[1]->is_input());
  CHECK(model->graph.outputs()[2]->is_constant());
}

TEST_CASE("an output that is listed twice is two outputs, with names of their own") {
  ModelProto proto = relu_model();
  add_initializer(proto, "w", {1}, {5});
  for (const char* name : {"x", "w", "x", "y", "w", "y_1"}) add_output(proto, name);
  add_node(proto, "Relu", {"w"}, {"y_1"}, "other");
  const Result<Model> model = import_proto(proto, {.ops = &all_ops(), .strict = true});
  REQUIRE(model.ok());
  std::vector<std::string> names;
  for (const Value* v : model->graph.outputs()) names.push_back(v->name());
  CHECK(names == std::vector<std::string>{"y", "x", "w", "x_1", "y_2", "w_1", "y_1"});
  const auto& outputs = model->graph.outputs();
  CHECK(outputs[3]->producer()->input(0) == outputs[1]);
  CHECK(outputs[4]->producer()->input(0) == outputs[0]);
  CHECK(outputs[5]->producer()->input(0) == outputs[2]);
  CHECK(to_string(outputs[4]->type) == "float32[1x3]");
  CHECK(model->warnings == std::vector<std::string>{"output 'x' is listed twice; here it is called 'x_1'"});
}

TEST_CASE("all kinds of attributes are read") {
  ModelProto proto = relu_model();
  NodeProto* node = proto.mutable_graph()->mutable_node(0);
  node->set_op_type("Scale");
  add_attribute(node, "factor", AttributeProto::FLOAT)->set_f(0.5f);
  add_attribute(node, "mode", AttributeProto::STRING)->set_s("fast");
  add_attribute(node, "offset", AttributeProto::INT);  // proto3 writers leave out a 0
  AttributeProto* pads = add_attribute(node, "pads", AttributeProto::UNDEFINED);  // no type, but one value
  pads->add_ints(-3);
  fill_raw(add_attribute(node, "table", AttributeProto::TENSOR)->mutable_t(), {2}, {1, 2});
  const Result<Model> model = import_proto(proto);
  REQUIRE(model.ok());
  const Attributes& a = model->graph.nodes().front()->attributes;
  CHECK(a.get_float("factor") == 0.5f);
  CHECK(a.get_string("mode") == "fast");
  CHECK(a.get_int("offset", 7) == 0);
  CHECK(a.get_ints("pads") == std::vector<int64_t>{-3});
  CHECK(values_of<float>(*a.get<Tensor>("table")) == std::vector<float>{1, 2});
}

TEST_CASE("sequences, optionals and maps are declared with what they hold") {
  ModelProto proto = relu_model();
  const auto declare = [&](const char* name) {
    ValueInfoProto* info = proto.mutable_graph()->add_input();
    info->set_name(name);
    return info->mutable_type();
  };
  TypeProto* held = declare("o")->mutable_optional_type()->mutable_elem_type()->mutable_sequence_type()->mutable_elem_type();
  held->mutable_tensor_type()->set_elem_type(TensorProto::STRING);
  TypeProto* map = declare("m");
  map->mutable_map_type()->set_key_type(TensorProto::INT64);
  map->mutable_map_type()->mutable_value_type()->mutable_tensor_type()->set_elem_type(TensorProto::FLOAT);
  const Result<Model> model = import_proto(proto);
  REQUIRE(model.ok());
  CHECK(to_string(model->graph.inputs()[1]->type) == "optional(sequence(string[?]))");
  CHECK(to_string(model->graph.inputs()[2]->type) == "map(int64, float32[?])");
}

TEST_CASE("sparse initializers become dense") {
  ModelProto proto = relu_model();
  const auto add_sparse = [&](const std::vector<int64_t>& indices, const std::vector<int64_t>& shape) {
    SparseTensorProto* sparse = proto.mutable_graph()->add_sparse_initializer();
    fill_raw(sparse->mutable_values(), {2}, {5, 7});
    sparse->mutable_values()->set_name(fmt::format("w{}", proto.graph().sparse_initializer_size()));
    sparse->mutable_indices()->set_data_type(TensorProto::INT64);
    for (const int64_t d : shape) sparse->mutable_indices()->add_dims(d);
    for (const int64_t i : indices) sparse->mutable_indices()->add_int64_data(i);
    sparse->add_dims(2);
    sparse->add_dims(3);
    add_output(proto, sparse->values().name());
  };
  add_sparse({1, 3}, {2});
  add_sparse({0, 2, 1, 1}, {2, 2});
  const Result<Model> model = import_proto(proto);
  REQUIRE(model.ok());
  CHECK(values_of<float>(find_value(model->graph, "w1")->constant()) == std::vector<float>{0, 5, 0, 7, 0, 0});
  CHECK(values_of<float>(find_value(model->graph, "w2")->constant()) == std::vector<float>{0, 0, 5, 0, 7, 0});
  add_sparse({0, 6}, {2});
  CHECK(problem_of(proto) == "m.onnx: initializer: index 6 is outside a tensor of 6 elements");
  proto.mutable_graph()->mutable_sparse_initializer(2)->set_dims(0, int64_t{1} << 40);
  CHECK_THAT(problem_of(proto), Catch::Matchers::Contains("has more than 2048 MiB when it is made dense"));
}

TEST_CASE("weights lie in the mapped file, which the graph keeps alive") {
  const std::string path = fmt::format("{}/svengine_import_{}.onnx", std::filesystem::temp_directory_path().string(), getpid());
  ModelProto proto = empty_model();
  add_input(proto, "x", {5000});
  std::vector<float> values(5000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  add_initializer(proto, "w", {5000}, values);
  add_node(proto, "Add", {"x", "w"}, {"y"});
  add_output(proto, "y");
  std::ofstream(path, std::ios::binary) << proto.SerializeAsString();
  Graph graph;
  {
    Result<Model> model = import_onnx(path, {.ops = &test_ops()});
    REQUIRE(model.ok());
    CHECK(model->path == path);
    graph = std::move(model->graph);
  }
  std::filesystem::remove(path);
  CHECK(values_of<float>(find_value(graph, "w")->constant()) == values);
}
}  // namespace import_test
