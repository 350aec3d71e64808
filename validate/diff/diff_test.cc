#include "validate/diff/diff.h"

#include <chrono>
#include <limits>

#include "importers/onnx/import_test_util.h"
#include "validate/diff/match_nodes.h"

namespace svengine::validate::diff_test {
namespace {

using namespace svengine::tests;

onnx::OnnxFile file_of(const ModelProto& model) {
  const auto owner = std::make_shared<std::string>(model.SerializeAsString());
  Result<onnx::OnnxFile> file = onnx::OnnxFile::parse(std::as_bytes(std::span(owner->data(), owner->size())), owner, "m.onnx");
  REQUIRE(file.ok());
  return std::move(file).value();
}

DiffReport diff(const ModelProto& a, const ModelProto& b, const DiffOptions& options = {}) {
  const onnx::OnnxFile file_a = file_of(a), file_b = file_of(b);
  Result<DiffReport> report = diff_models(file_a, file_b, options);
  if (!report.ok()) FAIL(report.error().message());
  return std::move(report).value();
}

/// "changed node 'c2' attribute 'pads': [1] -> [2]", one line each.
std::vector<std::string> lines(const DiffReport& report) {
  std::vector<std::string> out;
  for (const DiffEntry& d : report.differences)
    out.push_back(fmt::format("{} {} '{}'{}{}", name_of(d.change), d.subject, d.name, d.new_name.empty() ? "" : " now '" + d.new_name + "'",
                              d.property.empty() ? "" : " " + d.property));
  return out;
}

/// x -> `depth` times (Mul by a weight of its own, Relu) -> y, with residuals every third.
ModelProto chain(int depth, const std::string& prefix = "") {
  ModelProto model = empty_model();
  add_input(model, "x", {1, 2});
  std::string at = "x", before = "x";
  for (int i = 0; i < depth; ++i) {
    const std::string n = prefix + std::to_string(i);
    add_initializer(model, "w" + n, {2}, {static_cast<float>(i), 1});
    add_node(model, "Mul", {at, "w" + n}, {"m" + n}, "mul" + n);
    const bool residual = i % 3 == 2;
    add_node(model, residual ? "Add" : "Relu", residual ? std::vector<std::string>{"m" + n, before} : std::vector<std::string>{"m" + n},
             {"r" + n}, "act" + n);
    if (residual) before = "r" + n;
    at = "r" + n;
  }
  add_node(model, "Identity", {at}, {"y"}, "last" + prefix);
  add_output(model, "y");
  return model;
}

NodeProto& node_named(ModelProto& model, const std::string& name) {
  for (NodeProto& node : *model.mutable_graph()->mutable_node())
    if (node.name() == name) return node;
  FAIL("no node " << name);
  return *model.mutable_graph()->mutable_node(0);
}

/// Puts a node behind the one that makes `value`.
void insert_behind(ModelProto& model, const std::string& value, const std::string& op) {
  auto& nodes = *model.mutable_graph()->mutable_node();
  int place = 0;
  while (nodes.Get(place).output(0) != value) ++place;
  for (int i = place + 1; i < nodes.size(); ++i)
    for (std::string& input : *nodes.Mutable(i)->mutable_input())
      if (input == value) input = value + "_new";
  add_node(model, op, {value}, {value + "_new"}, "new_" + value);
  for (int i = nodes.size() - 1; i > place + 1; --i) nodes.SwapElements(i, i - 1);
}

TEST_CASE("a model is equal to itself, whatever order and encoding it has") {
  const ModelProto a = chain(9);
  CHECK(diff(a, a).equal());
  ModelProto b = a;
  TensorProto& weight = *b.mutable_graph()->mutable_initializer(3);
  weight.clear_raw_data();
  weight.add_float_data(3), weight.add_float_data(1);
  b.mutable_graph()->mutable_initializer()->SwapElements(1, 5);
  CHECK(diff(a, b).equal());
}

TEST_CASE("what is only renamed is renamed, and nothing else") {
  const DiffReport report = diff(chain(9), chain(9, "other"));
  CHECK(report.nodes_matched == 19);
  for (const DiffEntry& d : report.differences) CHECK(d.change == Change::renamed);
  CHECK(report.count("node").renamed == 19);
  CHECK(report.count("weight").renamed == 9);
  CHECK(report.count("value").renamed == 18);
  CHECK(diff(chain(9), chain(9, "other"), {.ignored = {DiffClass::names}}).equal());
}

TEST_CASE("new nodes are found where names are numbered and shift") {
  ModelProto b = chain(12, "n");
  insert_behind(b, "rn3", "Relu");
  insert_behind(b, "rn7", "Exp");
  for (int i = 0; i < b.graph().node_size(); ++i)
    b.mutable_graph()->mutable_node(i)->set_name("act" + std::to_string(i));  // names of others
  const DiffReport report = diff(chain(12), b, {.ignored = {DiffClass::names}});
  CHECK(lines(report) == std::vector<std::string>{"added node 'act8'", "changed node 'mul4' now 'act9' input 0", "added node 'act17'",
                                                  "changed node 'mul8' now 'act18' input 0"});
  const DiffReport back = diff(b, chain(12), {.ignored = {DiffClass::names}});
  CHECK(back.count("node").removed == 2);
  CHECK(back.count("node").added == 0);
}

TEST_CASE("operators, attributes, edges and optional inputs") {
  ModelProto a = chain(6), b = chain(6);
  node_named(b, "act3").set_op_type("Tanh");
  add_attribute(&node_named(a, "mul1"), "pads", AttributeProto::INTS)->add_ints(1);
  add_attribute(&node_named(b, "mul1"), "pads", AttributeProto::INTS)->add_ints(2);
  add_attribute(&node_named(b, "mul4"), "mode", AttributeProto::STRING)->set_s("x");
  node_named(b, "act5").set_input(1, "x");
  node_named(b, "act0").add_input("x");
  const DiffReport report = diff(a, b);
  CHECK(lines(report) == std::vector<std::string>{"added node 'act0' input 1", "changed node 'mul1' attribute 'pads'",
                                                  "changed node 'act3' operator", "added node 'mul4' attribute 'mode'",
                                                  "changed node 'act5' input 1"});
  CHECK(report.differences[1].before == "[1]");
  CHECK(report.differences[2].after == "Tanh");
  CHECK(report.differences[4].before == "'r2' of Add 'act2'");
  CHECK(report.differences[4].after == "input 'x'");
}

TEST_CASE("nodes of one operator with nothing else in common do not belong together") {
  const auto line = [](std::initializer_list<const char*> ops, const char* prefix) {
    ModelProto model = empty_model();
    add_input(model, "x", {2});
    std::string at = "x";
    for (const char* op : ops) {
      const std::string next = fmt::format("{}{}", prefix, model.graph().node_size());
      add_node(model, op, {at}, {next});
      at = next;
    }
    add_output(model, at);
    return model;
  };
  const DiffReport report = diff(line({"Exp", "Neg", "Exp", "Tanh"}, "a"), line({"Sin", "Exp", "Abs", "Exp", "Sqrt"}, "b"));
  for (const DiffEntry& d : report.differences) CHECK((d.subject != std::string_view("node") || d.new_name.empty()));
}

TEST_CASE("weights: bytes, then numbers") {
  ModelProto b = chain(4);
  const float values[] = {1.5f, std::numeric_limits<float>::quiet_NaN()};
  b.mutable_graph()->mutable_initializer(1)->set_raw_data(values, sizeof values);
  const DiffReport report = diff(chain(4), b);
  REQUIRE(report.differences.size() == 1);
  REQUIRE(report.differences[0].weight);
  const WeightDifference& w = *report.differences[0].weight;
  CHECK(report.differences[0].name == "w1");
  CHECK((w.count == 2 && w.different == 2 && w.largest == 0.5 && w.mean == 0.5 && w.nans_a == 0 && w.nans_b == 1));
  CHECK(to_text(w) == "float32[2], 2 of 2 elements differ, by up to 0.5 at [0] (1 -> 1.5), 0.5 on average; NaN 0 -> 1");
  CHECK(diff(chain(4), b, {.ignored = {DiffClass::weights}}).equal());
  CHECK_FALSE(diff(chain(4), b, {.atol = 1}).equal());  // the NaN
  const float near[] = {1.5f, 1};
  b.mutable_graph()->mutable_initializer(1)->set_raw_data(near, sizeof near);
  CHECK(diff(chain(4), b, {.atol = 0.5}).equal());
  CHECK_FALSE(diff(chain(4), b, {.atol = 0.49}).equal());
  fill_raw(b.mutable_graph()->mutable_initializer(1), {3}, {1, 2, 3});
  b.mutable_graph()->mutable_initializer(1)->clear_dims();
  b.mutable_graph()->mutable_initializer(1)->add_dims(3);
  CHECK(lines(diff(chain(4), b)) == std::vector<std::string>{"changed weight 'w1' type"});
}

TEST_CASE("two weights that change places are two other inputs") {
  ModelProto b = chain(6);
  node_named(b, "mul1").set_input(1, "w4");
  node_named(b, "mul4").set_input(1, "w1");
  CHECK(lines(diff(chain(6), b)) == std::vector<std::string>{"changed node 'mul1' input 1", "changed node 'mul4' input 1"});
}

TEST_CASE("inputs, outputs, versions and texts") {
  ModelProto a = chain(3), b = chain(3);
  add_input(b, "z", {4});
  b.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_param("N");
  b.mutable_graph()->add_output()->set_name("r1");
  b.mutable_opset_import(0)->set_version(18);
  b.set_producer_name("other");
  b.mutable_graph()->mutable_node(0)->set_doc_string("doc");
  auto* entry = b.add_metadata_props();
  entry->set_key("k"), entry->set_value("v");
  CHECK(lines(diff(a, b)) == std::vector<std::string>{"added model '' producer_name", "changed opset 'ai.onnx'", "added metadata 'k'",
                                                      "changed input 'x' type", "added input 'z'", "added output 'r1'",
                                                      "added node 'mul0' doc"});
  CHECK(lines(diff(a, b, {.ignored = {DiffClass::metadata, DiffClass::docs}})).size() == 4);
  b = chain(3);
  node_named(b, "act2").set_output(0, "r2");
  b.mutable_graph()->mutable_node(6)->set_input(0, "m2");
  const DiffReport report = diff(chain(3), b);
  CHECK(lines(report) == std::vector<std::string>{"changed node 'last' input 0"});
}

TEST_CASE("bodies and functions are graphs, too") {
  const auto model = [](const std::string& op, const std::string& inner, const std::string& around) {
    ModelProto out = empty_model();
    add_input(out, "c", {}), add_input(out, "x", {2});
    add_node(out, "Exp", {"x"}, {around}, "exp");
    NodeProto* node = add_node(out, "If", {"c"}, {"y"}, "if");
    for (const char* name : {"then_branch", "else_branch"}) {
      GraphProto* body = add_attribute(node, name, AttributeProto::GRAPH)->mutable_g();
      NodeProto* n = body->add_node();
      n->set_op_type(std::string(name) == "then_branch" ? op : "Neg"), n->add_input(around), n->add_output(inner);
      body->add_output()->set_name(inner);
    }
    add_output(out, "y");
    FunctionProto* function = out.add_functions();
    function->set_domain("acme"), function->set_name("F"), function->add_input("a"), function->add_output("b");
    NodeProto* n = function->add_node();
    n->set_op_type(op), n->add_input("a"), n->add_output("b");
    return out;
  };
  CHECK(diff(model("Relu", "i", "e"), model("Relu", "j", "f"), {.ignored = {DiffClass::names}}).equal());
  const DiffReport report = diff(model("Relu", "i", "e"), model("Tanh", "i", "f"), {.ignored = {DiffClass::names}});
  REQUIRE(report.differences.size() == 2);
  CHECK(report.differences[0].scope == "node 'if' > then_branch");
  CHECK(report.differences[0].after == "Tanh");
  CHECK(report.differences[1].scope == "function acme:F");
}

TEST_CASE("a tensor that cannot be read is an error that names it") {
  ModelProto b = chain(2);
  b.mutable_graph()->mutable_initializer(1)->add_dims(7);
  const onnx::OnnxFile file_a = file_of(chain(2)), file_b = file_of(b);
  const Result<DiffReport> report = diff_models(file_a, file_b);
  REQUIRE_FALSE(report.ok());
  CHECK(report.error().message().find("w1") != std::string::npos);
}

TEST_CASE("damaged models are compared, or refused") {
  ModelProto model = chain(6);
  NodeProto* node = add_node(model, "If", {"x"}, {"z"}, "if");
  GraphProto* body = add_attribute(node, "then_branch", AttributeProto::GRAPH)->mutable_g();
  NodeProto* inner = body->add_node();
  inner->set_op_type("Neg"), inner->add_input("r1"), inner->add_output("i");
  body->add_output()->set_name("i");
  const std::string good = model.SerializeAsString();
  const onnx::OnnxFile original = file_of(model);
  int compared = 0;
  for (size_t i = 0; i < 3000; ++i) {
    const auto bytes = std::make_shared<std::string>(good);
    (*bytes)[i * 7919 % good.size()] ^= static_cast<char>(1 << i % 8);
    if (i % 3 == 0) (*bytes)[i * 104729 % good.size()] = static_cast<char>(i);
    Result<onnx::OnnxFile> damaged = onnx::OnnxFile::parse(std::as_bytes(std::span(bytes->data(), bytes->size())), bytes, "m.onnx");
    if (!damaged.ok()) continue;
    compared += diff_models(original, *damaged).ok() && diff_models(*damaged, original).ok();
  }
  CHECK(compared > 500);
}

TEST_CASE("common subsequences") {
  CHECK(common_subsequence({1, 2, 3, 4}, {2, 9, 4}) == std::vector<std::pair<int, int>>{{1, 0}, {3, 2}});
  CHECK(common_subsequence({}, {1}).empty());
}

TEST_CASE("graphs of 10,000 nodes, all names and many weights different") {
  const ModelProto a = chain(5000);
  ModelProto b = chain(5000, "n");
  for (int i = 0; i < 5000; i += 7) b.mutable_graph()->mutable_initializer(i)->set_raw_data("12345678");
  for (int i = 100; i < 5000; i += 700) insert_behind(b, "rn" + std::to_string(i), "Relu");
  const auto start = std::chrono::steady_clock::now();
  const DiffReport report = diff(a, b, {.ignored = {DiffClass::names}});
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  CHECK(report.count("node").added == 7);
  CHECK(report.count("node").removed == 0);
  CHECK(report.count("weight").changed == 715);
  CHECK(report.nodes_matched == 10001);
  INFO(seconds << " s");
  CHECK(seconds < 20);  // 0.1 s on an EPYC; sanitizers and emulators are slower
}

}  // namespace
}  // namespace svengine::validate::diff_test
