#include "validate/reduce/shrink.h"

#include "importers/onnx/import.h"
#include "validate/reduce/edit_graph.h"
#include "validate/reduce/reduce_test_util.h"

namespace shrink_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

NodeProto* inner(GraphProto* body, const char* op, const std::vector<std::string>& inputs, const std::string& output, const char* name) {
  NodeProto* node = body->add_node();
  node->set_op_type(op), node->set_name(name), node->add_output(output);
  for (const std::string& input : inputs) node->add_input(input);
  return node;
}

GraphProto* body_of(NodeProto* node, const char* name) {
  GraphProto* body = add_attribute(node, name, AttributeProto::GRAPH)->mutable_g();
  body->set_name(name);
  return body;
}

/// y = c ? tanh(exp(relu(x))) : neg(x), c a constant.
ModelProto branches() {
  ModelProto model = empty_model();
  add_input(model, "x", {1, 4});
  add_node(model, "ReduceSum", {"x"}, {"s"}, "sum");
  add_node(model, "Cast", {"s"}, {"flag"}, "cast");
  add_attribute(model.mutable_graph()->mutable_node(1), "to", AttributeProto::INT)->set_i(TensorProto::BOOL);
  add_node(model, "Squeeze", {"flag"}, {"c"}, "squeeze");
  NodeProto* node = add_node(model, "If", {"c"}, {"y"}, "if");
  GraphProto* yes = body_of(node, "then_branch");
  inner(yes, "Relu", {"x"}, "r", "relu"), inner(yes, "Exp", {"r"}, "e", "exp"), inner(yes, "Tanh", {"e"}, "t", "tanh");
  yes->add_output()->set_name("t");
  GraphProto* no = body_of(node, "else_branch");
  inner(no, "Neg", {"x"}, "n", "neg");
  no->add_output()->set_name("n");
  set_type(model.mutable_graph()->add_output(), "y", {1, 4});
  return model;
}

/// y, ys = 5 times x = tanh(exp(x) * w), each also stacked.
ModelProto loop() {
  ModelProto model = empty_model();
  add_input(model, "x", {1, 4});
  add_initializer(model, "w", {4}, {1, 2, 3, 4});
  TensorProto* trips = model.mutable_graph()->add_initializer();
  trips->set_name("trips"), trips->set_data_type(TensorProto::INT64), trips->add_int64_data(5);
  NodeProto* node = add_node(model, "Loop", {"trips", "", "x"}, {"y", "ys"}, "loop");
  GraphProto* body = body_of(node, "body");
  set_type(body->add_input(), "i", {}, DType::i64);
  set_type(body->add_input(), "go", {}, DType::boolean);
  set_type(body->add_input(), "v", {1, 4});
  inner(body, "Exp", {"v"}, "e", "exp"), inner(body, "Mul", {"e", "w"}, "m", "mul"), inner(body, "Tanh", {"m"}, "t", "tanh");
  inner(body, "Identity", {"go"}, "on", "on");
  for (const char* name : {"on", "t", "m"}) body->add_output()->set_name(name);
  set_type(model.mutable_graph()->add_output(), "y", {1, 4});
  set_type(model.mutable_graph()->add_output(), "ys", {5, 1, 4});
  return model;
}

std::vector<std::string> operators_of(const GraphProto& graph) {
  std::vector<std::string> out;
  for (const NodeProto& node : graph.node()) out.push_back(node.op_type());
  return out;
}

std::vector<Tensor> run(const ModelProto& model, const ReduceFolder& folder) {
  const Model imported = must(import_onnx(save(model, folder / "run.onnx")));
  const auto session = must(Session::create(imported.graph.clone(), one_thread()));
  std::vector<Tensor> inputs;
  for (const Session::Port& port : session->inputs())
    inputs.push_back(Tensor::of<float>({1, port.type.shape[1].value()}, std::vector<float>{.5f, -.25f, .75f, 1}));
  return must(session->run(inputs));
}

}  // namespace

TEST_CASE("a body becomes nodes of the graph around it") {
  const ReduceFolder folder;
  ModelProto model = branches();
  const std::vector<float> expected = values_of<float>(run(model, folder).at(0));  // the sum is not 0
  CHECK_FALSE(inline_body(*model.mutable_graph(), 0, "then_branch", 17));
  CHECK_FALSE(inline_body(*model.mutable_graph(), 3, "body", 17));
  REQUIRE(inline_body(*model.mutable_graph(), 3, "then_branch", 17));
  drop_unread(*model.mutable_graph());
  CHECK(operators_of(model.graph()) == std::vector<std::string>{"Relu", "Exp", "Tanh"});
  CHECK(values_of<float>(run(model, folder).at(0)) == expected);

  for (const int opset : {17, 11}) {
    ModelProto loops = loop();
    loops.mutable_opset_import(0)->set_version(opset);
    ModelProto once = loops;
    once.mutable_graph()->mutable_initializer(1)->set_int64_data(0, 1);
    ValueInfoProto* stacked = once.mutable_graph()->mutable_output(1);
    stacked->clear_type();
    set_type(stacked, "ys", {1, 1, 4});
    const std::vector<Tensor> one_trip = run(once, folder);
    REQUIRE(inline_body(*once.mutable_graph(), 0, "body", opset));
    drop_unread(*once.mutable_graph());
    CHECK(operators_of(once.graph()) == std::vector<std::string>{"Exp", "Mul", "Tanh", "Unsqueeze"});
    const std::vector<Tensor> inlined = run(once, folder);
    CHECK(values_of<float>(inlined.at(0)) == values_of<float>(one_trip.at(0)));
    CHECK(inlined.at(1).dims() == one_trip.at(1).dims());
    CHECK(values_of<float>(inlined.at(1)) == values_of<float>(one_trip.at(1)));
  }
}

TEST_CASE("nodes are passed by") {
  ModelProto model = chain(2);  // mul0 tanh0 mul1 tanh1 last
  REQUIRE(bypass(*model.mutable_graph(), {2}));
  CHECK(operators_of(model.graph()) == std::vector<std::string>{"Mul"});
  CHECK(model.graph().node(0).input(0) == "x");
  CHECK(model.graph().output(0).name() == "m1");
  ModelProto constant = empty_model();
  add_node(constant, "Constant", {}, {"k"}, "k"), add_node(constant, "Relu", {"k"}, {"y"}, "relu");
  set_type(constant.mutable_graph()->add_output(), "y", {1});
  CHECK_FALSE(bypass(*constant.mutable_graph(), {1}));
}

TEST_CASE("what has the fault within a body is all that is left") {
  const ReduceFolder folder;
  const ReduceReport report = must(by_command(folder, branches(), {.command = "grep -q Exp {}"}));
  CHECK(report.operators == std::vector<std::string>{"Exp"});
  CHECK(report.shrunk.inlined_bodies == 1);
  CHECK_FALSE(report.exact);
  const ReduceReport trip = must(by_command(folder, loop(), {.command = "grep -q Mul {}"}));
  CHECK(trip.operators == std::vector<std::string>{"Mul"});
}

TEST_CASE("nodes of a body go where the body has to stay") {
  const ReduceFolder folder;
  onnx::OnnxFile file = opened(save(loop(), folder / "m.onnx"));
  const Recording recording = must(Recording::make(file.path(), computed_names(file.model()), {input()}, one_thread(), folder / "values"));
  const FaultCheck check = fault_by_command({.command = "grep -q Loop {} && grep -q Tanh {}"});
  const ReduceReport report = must(reduce_model(file, recording, check, {.scratch = folder / "candidate"}));
  CHECK(report.operators == std::vector<std::string>{"Loop"});
  CHECK(report.shrunk.bypassed_nodes == 1);  // the others that go leave the body's outputs to copies of its inputs
  for (const AttributeProto& attribute : file.model().graph().node(0).attribute())
    CHECK(operators_of(attribute.g()) == std::vector<std::string>{"Tanh", "Identity", "Identity"});
  const ReduceReport branch = must(by_command(folder, branches(), {.command = "grep -q If {} && grep -q Exp {}"}));
  CHECK(branch.shrunk.bypassed_nodes >= 2);
}

TEST_CASE("sizes and weights become small where the fault stays") {
  const ReduceFolder folder;
  const std::string path = save(chain(3), folder / "m.onnx");
  onnx::OnnxFile file = opened(path);
  const Recording recording = must(Recording::make(path, computed_names(file.model()), {input()}, one_thread(), folder / "values"));
  const FaultCheck check = fault_by_command({.command = "grep -q mul1"});
  const ReduceReport report = must(reduce_model(file, recording, check, {.scratch = folder / "candidate"}));
  CHECK(report.shrunk.shrunk_sizes == 1);
  REQUIRE(save_reduced(file, report, folder / "out").ok());
  const Model reduced = must(import_onnx(folder / "out/reduced.onnx", {.strict = true}));
  CHECK(reduced.graph.inputs().at(0)->type.shape[1].value() == 1);
  const auto session = must(Session::create(reduced.graph.clone(), one_thread()));
  const Tensor x = must(report.data.tensor(report.inputs.at(0)));
  CHECK(x.dims() == Dims{1, 1});
  CHECK(values_of<float>(must(session->run({must(x.aligned_copy())})).at(0)) == values_of<float>(must(report.data.tensor("m1"))));
}

TEST_CASE("weights that do not matter are one element, or zeros") {
  const ReduceFolder folder;
  ModelProto model = empty_model();
  add_input(model, "x", {1, 4});
  add_initializer(model, "b", {4}, {1, 2, 3, 4});
  add_initializer(model, "w", {4, 4}, std::vector<float>(16, 2));
  add_node(model, "MatMul", {"x", "w"}, {"m"}, "product");
  add_node(model, "Add", {"m", "b"}, {"y"}, "bias");
  set_type(model.mutable_graph()->add_output(), "y", {1, 4});
  // The check needs the size: the model's file says the input's dimension 4 as bytes 08 04.
  const ReduceReport report =
      must(by_command(folder, model, {.command = "grep -q product {} && grep -q bias {} && LC_ALL=C grep -qaP '\\x02\\x08\\x04' {}"}));
  CHECK(report.operators == std::vector<std::string>{"MatMul", "Add"});
  CHECK(report.shrunk.shrunk_weights + report.shrunk.zeroed_weights == 2);
}

TEST_CASE("a reference of recorded values takes no model that computes something else") {
  const ReduceFolder folder;
  const std::string path = save(chain(3), folder / "m.onnx");
  onnx::OnnxFile file = opened(path);
  const Recording recording = must(Recording::make(path, computed_names(file.model()), {input()}, one_thread(), folder / "values"));
  const FaultCheck check = differs_from_recording(recording, one_thread(), {});
  Candidate candidate{path, {"x"}, {"y"}, true, &recording};
  CHECK_FALSE(must(check(candidate)));
  candidate.exact = false;
  CHECK_FALSE(must(check(candidate)));
  CHECK_FALSE(must(differs_between(one_thread(), one_thread(), {})(candidate)));
}
}  // namespace shrink_test
