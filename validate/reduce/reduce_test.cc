#include "validate/reduce/reduce.h"

#include <iterator>

#include "validate/reduce/ddmin.h"
#include "validate/reduce/reduce_test_util.h"
#include "validate/reduce/reference.h"

namespace svengine::validate::reduce_test {
namespace {

using namespace svengine::tests;

std::vector<int> numbers(int count) {
  std::vector<int> out;
  for (int i = 0; i < count; ++i) out.push_back(i);
  return out;
}

bool has(const std::vector<int>& list, int i) { return std::find(list.begin(), list.end(), i) != list.end(); }

TEST_CASE("ddmin leaves what is needed, however it is spread") {
  int tests = 0;
  const auto both = [&](const std::vector<int>& part) -> Result<bool> { return ++tests, has(part, 3) && has(part, 60) && has(part, 61); };
  CHECK(must(ddmin(numbers(100), both)) == std::vector<int>{3, 60, 61});
  const auto one = [&](const std::vector<int>& part) -> Result<bool> { return ++tests, has(part, 700); };
  tests = 0;
  CHECK(must(halve(numbers(1000), one)) == std::vector<int>{700});
  CHECK(tests <= 20);
  CHECK(must(bisect_range(numbers(1000), one)) == std::vector<int>{700});
  CHECK(must(bisect_range(numbers(100), both)).size() == 59);
  const auto broken = [](const std::vector<int>&) -> Result<bool> { return error("no"); };
  CHECK_FALSE(ddmin(numbers(4), broken).ok());
  CHECK_FALSE(halve(numbers(4), broken).ok());
}

TEST_CASE("a wrong weight is cut out against a reference of other names") {
  const ReduceFolder folder;
  ModelProto reference = chain(40);
  for (NodeProto& node : *reference.mutable_graph()->mutable_node()) {
    node.clear_name();
    for (std::string& name : *node.mutable_input()) name = name[0] == 'w' || name == "x" ? name : "r_" + name;
    for (std::string& name : *node.mutable_output()) name = name == "y" ? name : "r_" + name;
  }
  const std::string good = save(reference, folder / "good.onnx");
  onnx::OnnxFile file = opened(save(chain(40, 23), folder / "bad.onnx"));
  const Recording recording = must(record_other(file, {"x"}, {input()}, good, one_thread(), folder / "values"));
  const FaultCheck check = differs_from_recording(recording, one_thread(), {});
  const ReduceReport report = must(reduce_model(file, recording, check, {.scratch = folder / "candidate", .write_data = false}));
  CHECK(report.nodes_before == 81);
  CHECK(report.nodes_after == 1);
  CHECK(report.complete);
  CHECK(report.operators == std::vector<std::string>{"Mul"});
  CHECK(report.inputs == std::vector<std::string>{"t22"});
  CHECK(report.outputs == std::vector<std::string>{"m23"});
  REQUIRE(save_reduced(file, report, folder / "out").ok());
  const onnx::OnnxFile reduced = opened(folder / "out/reduced.onnx");
  REQUIRE(reduced.model().graph().node_size() == 1);
  CHECK(reduced.model().graph().initializer_size() == 1);
  CHECK(reduced.model().graph().input(0).type().tensor_type().shape().dim(1).dim_value() == 4);
  CHECK(std::filesystem::exists(folder / "out/test_data_set_0/input_0.pb"));
  CHECK(std::filesystem::exists(folder / "out/test_data_set_0/output_0.pb"));
  CHECK(import_onnx(folder / "out/reduced.onnx").ok());
}

TEST_CASE("a model without the fault is not reduced") {
  const ReduceFolder folder;
  const std::string path = save(chain(4), folder / "m.onnx");
  onnx::OnnxFile file = opened(path);
  const Recording recording = must(Recording::make(path, computed_names(file.model()), {input()}, one_thread(), folder / "values"));
  const Result<ReduceReport> report =
      reduce_model(file, recording, differs_from_recording(recording, one_thread(), {}), {.scratch = folder / "candidate"});
  REQUIRE_FALSE(report.ok());
  CHECK(report.error().message().find("does not have the fault") != std::string::npos);
}

TEST_CASE("a command tells whether the fault is there") {
  const ReduceFolder folder;
  const ReduceReport report = must(by_command(folder, chain(30), {.command = "grep -q mul11 {} && grep -q tanh17 {}"}));
  CHECK(report.operators == std::vector<std::string>{"Mul", "Tanh"});
  CHECK(report.inputs == std::vector<std::string>{"t10", "m17"});
  CHECK(report.without_data.empty());
  const auto problem = [&](const CommandCheck& check) { return by_command(folder, chain(3), check).error().message(); };
  CHECK(problem({.command = "exit 3; "}).find("exited with 3") != std::string::npos);
  CHECK(problem({.command = "kill -9 $$; "}).find("signal 9") != std::string::npos);
  CHECK(problem({.command = "sleep 30; ", .timeout = 0.05}).find("within 0.05 s") != std::string::npos);
}

TEST_CASE("candidates have their test data beside them") {
  const ReduceFolder folder;
  const ReduceReport report = must(by_command(
      folder, chain(6), {.command = "d=$(dirname {})/test_data_set_0; test -s $d/input_0.pb -a -s $d/output_0.pb && grep -q mul4 {}"}));
  CHECK(report.nodes_after == 1);
}

TEST_CASE("time that is up leaves the smallest so far") {
  const ReduceFolder folder;
  const ReduceReport report = must(by_command(folder, chain(30), {.command = "sleep 0.02; grep -q mul11"}, 0.001));
  CHECK_FALSE(report.complete);
  CHECK(report.nodes_after == 61);
}

TEST_CASE("attributes, optional inputs and outputs that do not matter go") {
  const ReduceFolder folder;
  ModelProto model = empty_model();
  add_input(model, "x", {1, 4});
  add_initializer(model, "low", {}, {-1});
  add_initializer(model, "high", {}, {1});
  add_node(model, "Clip", {"x", "low", "high"}, {"c"}, "clip");
  NodeProto* node = add_node(model, "Softmax", {"c"}, {"y"}, "soft");
  add_attribute(node, "axis", AttributeProto::INT)->set_i(1);
  set_type(model.mutable_graph()->add_output(), "y", {1, 4});
  set_type(model.mutable_graph()->add_output(), "c", {1, 4});
  const ReduceReport report = must(by_command(folder, model, {.command = "grep -q clip {} && grep -q soft {}"}));
  CHECK(report.nodes_after == 2);
  CHECK(report.dropped_attributes == 1);
  CHECK(report.dropped_inputs == 2);
  CHECK(report.dropped_outputs == 1);
}

TEST_CASE("what an opset requires stays, though newer ones do without") {
  const ReduceFolder folder;
  ModelProto model = empty_model();
  model.mutable_opset_import(0)->set_version(9);
  add_input(model, "x", {1, 4});
  add_initializer(model, "w", {4, 1}, {1, 2, 3, 4});
  add_initializer(model, "c", {1}, {1});
  add_node(model, "Gemm", {"x", "w", "c"}, {"y"}, "gemm");
  set_type(model.mutable_graph()->add_output(), "y", {1, 1});
  CHECK(must(by_command(folder, model, {.command = "grep -q gemm {}"})).dropped_inputs == 0);
  model.mutable_opset_import(0)->set_version(11);
  CHECK(must(by_command(folder, model, {.command = "grep -q gemm {}"})).dropped_inputs == 1);
}

TEST_CASE("inputs become weights") {
  const ReduceFolder folder;
  const std::string path = save(chain(6), folder / "m.onnx");
  onnx::OnnxFile file = opened(path);
  const Recording recording = must(Recording::make(path, computed_names(file.model()), {input()}, one_thread(), folder / "values"));
  const FaultCheck check = fault_by_command({.command = "grep -q tanh3"});
  const ReduceReport report = must(reduce_model(file, recording, check, {.scratch = folder / "candidate", .freeze = true, .exact = true}));
  CHECK(report.inputs.empty());
  CHECK(report.frozen_inputs == 1);
  REQUIRE(save_reduced(file, report, folder / "out").ok());
  const Model reduced = must(import_onnx(folder / "out/reduced.onnx"));
  const auto session = must(Session::create(Graph(reduced.graph.clone()), one_thread()));
  const Tensor got = must(session->run({})).at(0);
  const Tensor expected = must(recording.tensor("t3"));
  CHECK(values_of<float>(got) == values_of<float>(expected));
}

TEST_CASE("parts of a model keep bodies' values, functions and declared types") {
  ModelProto model = empty_model();
  add_input(model, "c", {}, DType::boolean), add_input(model, "x", {2});
  add_node(model, "Exp", {"x"}, {"e"}, "exp");
  NodeProto* node = add_node(model, "If", {"c"}, {"y"}, "if");
  for (const char* name : {"then_branch", "else_branch"}) {
    GraphProto* body = add_attribute(node, name, AttributeProto::GRAPH)->mutable_g();
    NodeProto* n = body->add_node();
    n->set_op_type("F"), n->set_domain("acme"), n->add_input("e"), n->add_output("i");
    body->add_output()->set_name("i");
  }
  for (const char* name : {"F", "G"}) {
    FunctionProto* function = model.add_functions();
    function->set_domain("acme"), function->set_name(name), function->add_input("a"), function->add_output("b");
  }
  set_type(model.mutable_graph()->add_output(), "y", {2});
  set_type(model.mutable_graph()->add_value_info(), "e", {2});
  const Cutter cutter(model, [&](const std::string& name) -> std::optional<ValueInfoProto> {
    if (name == "e") return model.graph().value_info(0);
    return std::nullopt;
  });
  const CutModel cut = must(cutter.cut({.nodes = {1}}));
  CHECK(cut.inputs == std::vector<std::string>{"c", "e"});
  CHECK(cut.model.functions_size() == 1);
  CHECK(must(cutter.cut({.nodes = {0}})).outputs == std::vector<std::string>{"e"});
  CHECK_FALSE(cutter.cut({.nodes = {0}, .dropped_outputs = {"e"}}).ok());
  const Cutter blind(model, [](const std::string&) { return std::optional<ValueInfoProto>(); });
  CHECK_FALSE(blind.cut({.nodes = {1}}).ok());
}

}  // namespace
}  // namespace svengine::validate::reduce_test
