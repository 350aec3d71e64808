// Bodies of control flow, which see the graphs around them, and functions of the model, which are expanded.
#include <catch2/catch.hpp>

#include <unistd.h>

#include <filesystem>

#include "engine/graph/capture_constants.h"
#include "engine/ops/registry.h"
#include "importers/onnx/export.h"
#include "importers/onnx/export_body.h"
#include "importers/onnx/export_node.h"
#include "importers/onnx/import_test_util.h"

namespace bodies_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

Result<Model> import_all(const ModelProto& model) { return import_proto(model, {.ops = &all_ops()}); }

NodeProto* add_node_to(GraphProto* graph, const std::string& op, const std::vector<std::string>& inputs, const std::string& output) {
  NodeProto* node = graph->add_node();
  node->set_op_type(op);
  for (const std::string& i : inputs) node->add_input(i);
  node->add_output(output);
  return node;
}

/// if c: op(inputs) else Relu(x), as a node of `graph`; gives the then branch.
GraphProto* add_if(GraphProto* graph, const std::string& output) {
  NodeProto* node = add_node_to(graph, "If", {"c"}, output);
  GraphProto* yes = add_attribute(node, "then_branch", AttributeProto::GRAPH)->mutable_g();
  GraphProto* no = add_attribute(node, "else_branch", AttributeProto::GRAPH)->mutable_g();
  add_node_to(no, "Relu", {"x"}, "r");
  no->add_output()->set_name("r");
  return yes;
}

ModelProto model_with_condition() {
  ModelProto model = empty_model();
  add_input(model, "c", {}, DType::boolean);
  add_input(model, "x", {3});
  add_input(model, "y", {3});
  add_initializer(model, "w", {3}, {1, 2, 3});
  return model;
}

const Node* only_if(const Graph& graph) {
  for (const auto& node : graph.nodes())
    if (node->op().name == std::string_view("If")) return node.get();
  return nullptr;
}

FunctionProto* add_function(ModelProto& model, const std::string& name, const std::vector<std::string>& inputs, const std::string& output) {
  FunctionProto* f = model.add_functions();
  f->set_domain("local");
  f->set_name(name);
  for (const std::string& i : inputs) f->add_input(i);
  f->add_output(output);
  *f->add_opset_import() = model.opset_import(0);
  return f;
}

NodeProto* add_to(FunctionProto* f, const std::string& op, const std::vector<std::string>& inputs, const std::string& output,
                  const std::string& domain = {}) {
  NodeProto* node = f->add_node();
  node->set_op_type(op);
  node->set_domain(domain);
  for (const std::string& i : inputs) node->add_input(i);
  node->add_output(output);
  return node;
}

}  // namespace

TEST_CASE("captured values are inputs behind the node's own, constants are the body's") {
  ModelProto model = model_with_condition();
  GraphProto* yes = add_if(model.mutable_graph(), "z");
  add_node_to(yes, "Add", {"y", "w"}, "s");
  yes->add_output()->set_name("s");
  add_output(model, "z");
  const auto imported = import_all(model);
  if (!imported.ok()) FAIL(imported.error().message());
  const Node* node = only_if(imported->graph);
  REQUIRE(node);
  CHECK(node->attributes.get_int("captured") == 2);
  REQUIRE(node->inputs().size() == 3);
  CHECK(node->input(1)->name() == "y");
  CHECK(node->input(2)->name() == "x");
  for (const char* branch : {"then_branch", "else_branch"})
    CHECK((*node->attributes.get<Subgraph>(branch))->inputs().size() == 2);
  CHECK(to_string(node->output()->type) == "float32[3]");
}

TEST_CASE("what functions give back of their arguments, or twice, are outputs with names of their own") {
  ModelProto model = relu_model();
  FunctionProto* function = add_function(model, "Pass", {"a"}, "a");
  function->add_output("b");
  function->add_output("b");
  add_to(function, "Neg", {"a"}, "b");
  NodeProto* call = add_node(model, "Pass", {"x"}, {"p", "q", "r"});
  call->set_domain("local");
  for (const char* name : {"p", "q", "r", "x"}) add_output(model, name);
  const auto imported = import_all(model);
  if (!imported.ok()) FAIL(imported.error().message());
  CHECK(imported->graph.inputs()[0]->name() == "x");
  std::vector<std::string> names;
  for (const Value* v : imported->graph.outputs()) names.push_back(v->name());
  CHECK(names == std::vector<std::string>{"y", "p", "q", "r", "x"});
}

TEST_CASE("nodes are sorted, bodies' uses of the graph around them counted") {
  ModelProto model = model_with_condition();
  GraphProto* yes = add_if(model.mutable_graph(), "z");
  yes->mutable_node()->Clear();
  add_node_to(yes, "Neg", {"inner"}, "s");  // itself before what it uses
  add_node_to(yes, "Add", {"late", "w"}, "inner");
  yes->add_output()->set_name("s");
  add_node_to(model.mutable_graph(), "Relu", {"later"}, "late");
  add_node_to(model.mutable_graph(), "Relu", {"y"}, "later");
  add_output(model, "z");
  const auto imported = import_all(model);
  if (!imported.ok()) FAIL(imported.error().message());
  std::vector<std::string> names;
  for (const auto& node : imported->graph.nodes()) names.push_back(node->output()->name());
  CHECK(names == std::vector<std::string>{"later", "late", "z"});
  const Graph& branch = **only_if(imported->graph)->attributes.get<Subgraph>("then_branch");
  CHECK(branch.nodes().front()->output()->name() == "inner");
  const std::string first = "a body of node 'If_0' (If) uses 'late' of node 'Relu_1' (Relu), which comes later; ";
  CHECK(imported->warnings == std::vector<std::string>{first + "nodes are sorted into the order of computation, in which ONNX wants them"});
  CHECK(problem_of(import_proto(model, {.ops = &all_ops(), .strict = true})) == "m.onnx: " + first + "ONNX wants nodes in the order of computation");
}

TEST_CASE("nodes that are in order stay so, though others could come before them") {
  ModelProto model = relu_model();
  add_node(model, "Relu", {"y"}, {"a"});
  add_node(model, "Relu", {"x"}, {"b"});
  add_node(model, "Add", {"c", "a"}, {"d"});
  add_node(model, "Relu", {"b"}, {"c"});
  add_node(model, "Relu", {"x"}, {"e"});
  const auto imported = import_all(model);
  REQUIRE(imported.ok());
  std::vector<std::string> names;
  for (const auto& node : imported->graph.nodes()) names.push_back(node->output()->name());
  CHECK(names == std::vector<std::string>{"y", "a", "b", "c", "d", "e"});
}

TEST_CASE("nodes whose bodies need each other's results are a cycle") {
  ModelProto model = model_with_condition();
  GraphProto* yes = add_if(model.mutable_graph(), "z");
  yes->mutable_node()->Clear();
  yes->add_output()->set_name("late");
  add_node_to(model.mutable_graph(), "Relu", {"z"}, "late");
  add_output(model, "z");
  CHECK(problem_of(import_all(model)) == "m.onnx: a body of node 'If_0' (If) uses 'late' of node 'Relu_1' (Relu), which needs it in turn: a cycle");
  model.mutable_graph()->mutable_node()->RemoveLast();
  yes->mutable_output(0)->set_name("z");
  CHECK(problem_of(import_all(model)) == "m.onnx: node 'If_0' (If) uses its own output 'z': a cycle");
}

TEST_CASE("a constant that a body captures is exported as an initializer around it") {
  ModelProto model = model_with_condition();
  GraphProto* yes = add_if(model.mutable_graph(), "z");
  add_node_to(yes, "Add", {"x", "w"}, "sum");
  yes->add_output()->set_name("sum");
  add_output(model, "z");
  auto imported = import_all(model);
  REQUIRE(imported.ok());
  CHECK(only_if(imported->graph)->attributes.get_int("captured") == 1);
  capture_shared_constants(imported->graph);
  CHECK(only_if(imported->graph)->attributes.get_int("captured") == 2);
  CHECK(only_if(imported->graph)->input(2)->name() == "w");
  const std::string path = fmt::format("/tmp/svengine_captured_{}.onnx", getpid());
  REQUIRE(export_onnx(imported->graph, {}, path).ok());
  const auto again = import_onnx(path, {.ops = &all_ops()});
  std::filesystem::remove(path);
  if (!again.ok()) FAIL(again.error().message());
  CHECK(only_if(again->graph)->attributes.get_int("captured") == 1);
}

TEST_CASE("bodies in bodies capture through all of them, and names in bodies may shadow") {
  ModelProto model = model_with_condition();
  GraphProto* outer = add_if(model.mutable_graph(), "z");
  add_node_to(outer, "Relu", {"y"}, "local");
  GraphProto* inner = add_if(outer, "t");
  add_node_to(inner, "Add", {"y", "local"}, "local2");
  TensorProto* shadow = inner->add_initializer();
  shadow->set_name("w");
  fill_raw(shadow, {3}, {7, 7, 7});
  add_node_to(inner, "Add", {"local2", "w"}, "s");
  inner->add_output()->set_name("s");
  outer->add_output()->set_name("t");
  add_output(model, "z");
  const auto imported = import_all(model);
  if (!imported.ok()) FAIL(imported.error().message());
  const Node* node = only_if(imported->graph);
  REQUIRE(node);
  CHECK(node->attributes.get_int("captured") == 3);  // y, c, x
  const Node* nested = only_if(**node->attributes.get<Subgraph>("then_branch"));
  REQUIRE(nested);
  CHECK(nested->attributes.get_int("captured") == 3);  // y, local, x
  const Graph& body = **nested->attributes.get<Subgraph>("then_branch");
  bool found = false;
  body.for_each_value([&](Value& v) { found = found || (v.is_constant() && v.constant().count() == 3 && v.constant().data<float>()[0] == 7); });
  CHECK(found);
}

TEST_CASE("a branch that cannot be right is kept until it is known to be taken; two of them are refused") {
  ModelProto model = model_with_condition();
  add_initializer(model, "four", {4}, {1, 2, 3, 4});
  GraphProto* yes = add_if(model.mutable_graph(), "z");
  add_node_to(yes, "Add", {"y", "four"}, "s");  // of three and four elements
  add_node_to(yes, "Relu", {"s"}, "t");
  yes->add_output()->set_name("t");
  add_output(model, "z");
  const auto imported = import_all(model);
  if (!imported.ok()) FAIL(imported.error().message());
  const Node* node = only_if(imported->graph);
  REQUIRE(node);
  CHECK(to_string(node->output()->type) == "float32[3]");  // what the other branch gives
  GraphProto* no = model.mutable_graph()->mutable_node(0)->mutable_attribute(1)->mutable_g();
  no->mutable_node(0)->set_op_type("Add");
  no->mutable_node(0)->add_input("four");
  const std::string problem = problem_of(import_all(model));
  CHECK(problem.find("then_branch") != std::string::npos);
  CHECK(problem.find("(Add)") != std::string::npos);
}

TEST_CASE("the type of an Optional without an input is read and written again") {
  ModelProto model = model_with_condition();
  NodeProto* node = add_node_to(model.mutable_graph(), "Optional", {}, "o");
  onnx_proto::TypeProto* type = add_attribute(node, "type", AttributeProto::TYPE_PROTO)->mutable_tp();
  type->mutable_sequence_type()->mutable_elem_type()->mutable_tensor_type()->set_elem_type(static_cast<int>(DType::i32));
  add_node_to(model.mutable_graph(), "OptionalHasElement", {"o"}, "z");
  add_output(model, "z");
  const auto imported = import_all(model);
  if (!imported.ok()) FAIL(imported.error().message());
  const Node& optional = *imported->graph.nodes().front();
  const Type& given = optional.output()->type;
  REQUIRE(given.dtype == DType::optional);
  REQUIRE(given.element);
  REQUIRE(given.element->dtype == DType::sequence);
  CHECK(given.element->element->dtype == DType::i32);
  const auto written = svengine::onnx::export_node(optional, kNewestOpset, svengine::onnx::NameScope(imported->graph));
  if (!written.ok()) FAIL(written.error().message());
  REQUIRE(written->attribute_size() == 1);
  CHECK(written->attribute(0).tp().sequence_type().elem_type().tensor_type().elem_type() == static_cast<int>(DType::i32));
}

TEST_CASE("a body that uses what nobody computes, or nests too deep, is refused") {
  ModelProto model = model_with_condition();
  GraphProto* yes = add_if(model.mutable_graph(), "z");
  add_node_to(yes, "Relu", {"nothing"}, "s");
  yes->add_output()->set_name("s");
  add_output(model, "z");
  const std::string problem = problem_of(import_all(model));
  CHECK(problem.find("then_branch") != std::string::npos);
  CHECK(problem.find("'nothing'") != std::string::npos);
  ModelProto deep = model_with_condition();
  GraphProto* graph = deep.mutable_graph();
  for (int i = 0; i < 40; ++i) {
    GraphProto* next = add_if(graph, fmt::format("z{}", i));
    if (i) graph->add_output()->set_name(fmt::format("z{}", i));
    graph = next;
  }
  CHECK(problem_of(import_all(deep)).find("nested more than 16 deep") != std::string::npos);
}

TEST_CASE("functions are expanded, with references to attributes, defaults and functions in functions") {
  ModelProto model = empty_model();
  OperatorSetIdProto* local = model.add_opset_import();
  local->set_domain("local");
  local->set_version(1);
  add_input(model, "x", {3});
  FunctionProto* leaky = add_function(model, "Leaky", {"a"}, "b");
  leaky->add_attribute("slope");
  add_to(leaky, "LeakyRelu", {"a"}, "b")->add_attribute()->set_ref_attr_name("slope");
  leaky->mutable_node(0)->mutable_attribute(0)->set_name("alpha");
  FunctionProto* twice = add_function(model, "Twice", {"a"}, "b");
  AttributeProto* preset = twice->add_attribute_proto();
  preset->set_name("s");
  preset->set_type(AttributeProto::FLOAT);
  preset->set_f(0.25f);
  AttributeProto* passed = add_to(twice, "Leaky", {"a"}, "m", "local")->add_attribute();
  passed->set_name("slope");
  passed->set_ref_attr_name("s");
  add_to(twice, "Leaky", {"m"}, "b", "local");
  add_node(model, "Twice", {"x"}, {"y"}, "call")->set_domain("local");
  add_output(model, "y");
  const auto imported = import_all(model);
  if (!imported.ok()) FAIL(imported.error().message());
  REQUIRE(imported->graph.nodes().size() == 2);
  const Node& first = *imported->graph.nodes().front();
  CHECK(first.name().find("call/") == 0);
  CHECK(first.attributes.get_float("alpha") == 0.25f);
  CHECK_FALSE(imported->graph.nodes().back()->attributes.has("alpha"));
  CHECK(imported->graph.outputs()[0]->name() == "y");
}

TEST_CASE("functions that call themselves, or each other far too often, are refused") {
  ModelProto endless = empty_model();
  add_input(endless, "x", {3});
  add_to(add_function(endless, "F", {"a"}, "b"), "F", {"a"}, "b", "local");
  add_node(endless, "F", {"x"}, {"y"})->set_domain("local");
  add_output(endless, "y");
  CHECK(problem_of(import_all(endless)).find("nested more than 16 deep") != std::string::npos);
  ModelProto laughs = empty_model();
  add_input(laughs, "x", {3});
  for (int i = 0; i < 12; ++i) {
    FunctionProto* f = add_function(laughs, fmt::format("F{}", i), {"a"}, "b");
    for (int j = 0; j < 10; ++j)
      add_to(f, i ? fmt::format("F{}", i - 1) : "Relu", {"a"}, j ? fmt::format("b{}", j) : "b", i ? "local" : "");
  }
  add_node(laughs, "F11", {"x"}, {"y"})->set_domain("local");
  add_output(laughs, "y");
  CHECK(problem_of(import_all(laughs)).find("more than 262144 nodes") != std::string::npos);
}
}  // namespace bodies_test
