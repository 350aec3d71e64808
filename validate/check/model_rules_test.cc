// Models that break the rules of versions, names, values and what is unused.
#include "validate/check/check_test_util.h"

namespace model_rules_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

GraphProto* graph(ModelProto& m) { return m.mutable_graph(); }

/// y2 = If(c) then_branch else_branch, each of one node.
NodeProto* add_if(ModelProto& m) {
  add_input(m, "c", {}, DType::boolean);
  NodeProto* node = add_tail(m, "If", {"c"});
  for (const char* name : {"then_branch", "else_branch"}) {
    GraphProto* body = add_body(node, name);
    add_body_node(body, "Relu", {"x"}, {std::string("of_") + name});
    body->add_output()->set_name(std::string("of_") + name);
  }
  return node;
}

GraphProto* then_branch(NodeProto* node) { return node->mutable_attribute(0)->mutable_g(); }

std::vector<RuleCase> file_cases() {
  return {
      {"ir-version", "no IR version", [](ModelProto& m) { m.clear_ir_version(); }},
      {"ir-version", "does not exist", [](ModelProto& m) { m.set_ir_version(0); }},
      {"ir-version", "newer than 14", [](ModelProto& m) { m.set_ir_version(99); }},
      {"graph-missing", "no graph", [](ModelProto& m) { m.clear_graph(); }},
      {"opset-missing", "IR version 8", [](ModelProto& m) { m.clear_opset_import(); }},
      {"opset-in-old-ir", "IR version 2", [](ModelProto& m) { m.set_ir_version(2); }},
      {"opset-twice", "17 and 18", [](ModelProto& m) { m.add_opset_import()->set_version(18); }},
      {"opset-range", "opset 0 of ai.onnx", [](ModelProto& m) { m.mutable_opset_import(0)->set_version(0); }},
      {"opset-range", "opset -1", [](ModelProto& m) { m.mutable_opset_import(0)->set_version(-1); }},
      {"opset-range", "opset 99999999999", [](ModelProto& m) { m.mutable_opset_import(0)->set_version(99999999999); }},
      {"opset-newer", "opset 999 of ai.onnx", [](ModelProto& m) { m.mutable_opset_import(0)->set_version(999); }},
      {"domain-not-imported", "ai.onnx.ml", [](ModelProto& m) { add_tail(m, "Scaler", {"x"})->set_domain("ai.onnx.ml"); }},
      {"domain-spelling", "imported is ''", [](ModelProto& m) { graph(m)->mutable_node(0)->set_domain("ai.onnx"); }},
      {"metadata-twice", "'author'",
       [](ModelProto& m) {
         m.add_metadata_props()->set_key("author");
         m.add_metadata_props()->set_key("author");
       }},
      {"training-info", "training", [](ModelProto& m) { m.add_training_info(); }},
      {"name-empty", "the graph has no name", [](ModelProto& m) { graph(m)->clear_name(); }},
      {"name-empty", "an input has no name", [](ModelProto& m) { add_input(m, "", {1}); }},
      {"name-empty", "an output has no name", [](ModelProto& m) { graph(m)->add_output(); }},
      {"name-empty", "an output has no name",  // nor has the node's
       [](ModelProto& m) {
         graph(m)->mutable_node(0)->set_output(0, "");
         graph(m)->mutable_output(0)->set_name("");
       }},
      {"name-empty", "an initializer has no name", [](ModelProto& m) { add_initializer(m, "", {1}, {1}); }},
      {"name-text", "\\x1b[31m", [](ModelProto& m) { graph(m)->mutable_node(0)->set_name("\x1b[31mred"); }},
      {"name-text", "\\xff", [](ModelProto& m) { add_tail(m, "Relu", {"x"})->set_output(0, "\xff"); }},
      {"name-length", "5000 bytes", [](ModelProto& m) { graph(m)->mutable_node(0)->set_name(std::string(5000, 'n')); }},
      {"node-name-twice", "'relu'", [](ModelProto& m) { graph(m)->mutable_node(1)->set_name("relu"); }},
  };
}

std::vector<RuleCase> value_cases() {
  return {
      {"value-twice", "'r', which node 'relu'", [](ModelProto& m) { add_node(m, "Relu", {"x"}, {"r"}); }},
      {"value-twice", "is an input or initializer", [](ModelProto& m) { add_node(m, "Relu", {"x"}, {"w"}); }},
      {"value-twice", "'x' is an input or initializer already, and an input", [](ModelProto& m) { add_input(m, "x", {1}); }},
      {"value-twice", "initializer 'w' is there twice", [](ModelProto& m) { add_initializer(m, "w", {1}, {1}); }},
      {"value-shadowed", "then_branch",
       [](ModelProto& m) {
         GraphProto* body = then_branch(add_if(m));
         body->mutable_node(0)->set_output(0, "r");
         body->mutable_output(0)->set_name("r");
       }},
      {"input-shadowed", "an initializer 'r'",
       [](ModelProto& m) {
         TensorProto* tensor = then_branch(add_if(m))->add_initializer();
         tensor->set_name("r");
         fill_raw(tensor, {1}, {1});
       }},
      {"value-undefined", "'nowhere'", [](ModelProto& m) { add_tail(m, "Relu", {"nowhere"}); }},
      {"value-undefined", "then_branch: node 'Relu_0'",
       [](ModelProto& m) { then_branch(add_if(m))->mutable_node(0)->set_input(0, "nowhere"); }},
      {"node-order", "node 'add' (Add) computes behind it",
       [](ModelProto& m) {
         add_node(m, "Relu", {"y"}, {"early"}, "early");
         graph(m)->mutable_node()->SwapElements(1, 2);
       }},
      {"node-order", "the graph around it", [](ModelProto& m) { then_branch(add_if(m))->mutable_node(0)->set_input(0, "tail"); }},
      {"cycle", "2 nodes", [](ModelProto& m) { add_tail(m, "Relu", {"back"}), add_node(m, "Relu", {"tail"}, {"back"}); }},
      {"cycle", "its own output", [](ModelProto& m) { add_tail(m, "Relu", {"tail"}); }},
      {"output-undefined", "'nowhere' is computed by nothing", [](ModelProto& m) { set_type(graph(m)->add_output(), "nowhere", {1}); }},
      {"output-undefined", "is a value of the graph around it",
       [](ModelProto& m) { then_branch(add_if(m))->mutable_output(0)->set_name("x"); }},
      {"output-twice", "'y'", [](ModelProto& m) { *graph(m)->add_output() = graph(m)->output(0); }},
      {"initializer-not-input", "'w'", [](ModelProto& m) { m.set_ir_version(3); }},
      {"unused-node", "node 'idle'", [](ModelProto& m) { add_node(m, "Relu", {"x"}, {"idle"}, "idle"); }},
      {"unused-initializer", "'idle'", [](ModelProto& m) { add_initializer(m, "idle", {1}, {1}); }},
      {"unused-input", "'idle'", [](ModelProto& m) { add_input(m, "idle", {1}); }},
      {"unused-function", "function 'idle'",
       [](ModelProto& m) {
         m.add_functions()->set_name("idle");
         m.mutable_functions(0)->set_domain("d");
       }},
  };
}

}  // namespace

TEST_CASE("versions, names, values and what is unused") { check_cases(model_cases()); }

TEST_CASE("a node in a branch may have the name of its node's output, and read what is before it") {
  ModelProto model = good_model();
  GraphProto* body = then_branch(add_if(model));
  body->mutable_node(0)->set_output(0, "tail");
  body->mutable_node(0)->set_input(0, "r");
  body->mutable_output(0)->set_name("tail");
  set_type(model.mutable_graph()->mutable_output(1), "tail", {3});
  CHECK(findings_of(model).empty());
}

TEST_CASE("a cycle of many nodes is one finding") {
  ModelProto model = good_model();
  constexpr int kNodes = 50;
  for (int i = 0; i < kNodes; ++i) add_node(model, "Relu", {fmt::format("v{}", (i + kNodes - 1) % kNodes)}, {fmt::format("v{}", i)});
  const std::string text = findings_of(model);
  INFO(text);
  CHECK(text.find("50 nodes need each other's results") != std::string::npos);
  CHECK(std::count(text.begin(), text.end(), '\n') == 1);
}
}  // namespace model_rules_test

std::vector<svengine::tests::RuleCase> svengine::tests::model_cases() {
  using namespace model_rules_test;
  return together({file_cases(), value_cases()});
}
