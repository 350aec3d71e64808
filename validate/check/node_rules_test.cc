// Models that break the rules of attributes, operators, bodies and functions.
#include "validate/check/check_test_util.h"

namespace node_rules_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

AttributeProto* add_int(NodeProto* node, const std::string& name, int64_t value) {
  AttributeProto* a = add_attribute(node, name, AttributeProto::INT);
  a->set_i(value);
  return a;
}

/// A node of com.microsoft behind the others.
NodeProto* add_contributed(ModelProto& m, const std::string& op, const std::vector<std::string>& inputs) {
  m.add_opset_import()->set_domain("com.microsoft");
  m.mutable_opset_import(m.opset_import_size() - 1)->set_version(1);
  NodeProto* node = add_tail(m, op, inputs);
  node->set_domain("com.microsoft");
  return node;
}

NodeProto* relu(ModelProto& m) { return m.mutable_graph()->mutable_node(0); }

/// d.f(a) = Relu(a), and tail = d.f(x).
FunctionProto* add_function(ModelProto& m, const std::string& name = "f", bool called = true) {
  if (m.opset_import_size() == 1) {
    m.add_opset_import()->set_domain("d");
    m.mutable_opset_import(1)->set_version(1);
  }
  FunctionProto* f = m.add_functions();
  f->set_name(name), f->set_domain("d");
  f->add_input("a"), f->add_output("b");
  f->add_opset_import()->set_version(17);
  f->add_opset_import()->set_domain("d");
  f->mutable_opset_import(1)->set_version(1);
  NodeProto* node = f->add_node();
  node->set_op_type("Relu"), node->add_input("a"), node->add_output("b");
  if (called) add_tail(m, name, {"x"})->set_domain("d");
  return f;
}

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

/// One carried value.
NodeProto* add_loop(ModelProto& m) {
  NodeProto* node = add_tail(m, "Loop", {"", "", "x"});
  GraphProto* body = add_body(node, "body");
  set_type(body->add_input(), "i", {}, DType::i64);
  set_type(body->add_input(), "go", {}, DType::boolean);
  set_type(body->add_input(), "v", {1, 3});
  add_body_node(body, "Identity", {"go"}, {"on"});
  add_body_node(body, "Relu", {"v"}, {"next"});
  body->add_output()->set_name("on");
  body->add_output()->set_name("next");
  return node;
}

NodeProto* add_scan(ModelProto& m) {
  NodeProto* node = add_tail(m, "Scan", {"x"});
  add_int(node, "num_scan_inputs", 1);
  GraphProto* body = add_body(node, "body");
  set_type(body->add_input(), "row", {3});
  add_body_node(body, "Relu", {"row"}, {"out"});
  body->add_output()->set_name("out");
  return node;
}

GraphProto* body_of(NodeProto* node) {
  for (AttributeProto& a : *node->mutable_attribute())
    if (a.has_g()) return a.mutable_g();
  return nullptr;
}

void call_itself(ModelProto& m) {
  FunctionProto* f = add_function(m);
  f->mutable_node(0)->set_op_type("f"), f->mutable_node(0)->set_domain("d");
}

/// f0 calls f1 calls f2 ..
void call_deep(ModelProto& m) {
  constexpr int kDeep = 102;
  for (int i = 0; i < kDeep; ++i) {
    FunctionProto* f = add_function(m, fmt::format("f{}", i), i == 0);
    if (i + 1 < kDeep) f->mutable_node(0)->set_op_type(fmt::format("f{}", i + 1)), f->mutable_node(0)->set_domain("d");
  }
}

std::vector<RuleCase> attribute_cases() {
  return {
      {"attribute-name", "no name", [](ModelProto& m) { add_int(add_tail(m, "Softmax", {"x"}), "", 1); }},
      {"attribute-twice", "'axis'",
       [](ModelProto& m) {
         NodeProto* n = add_tail(m, "Softmax", {"x"});
         add_int(n, "axis", 1), add_int(n, "axis", 1);
       }},
      {"attribute-content", "has no type", [](ModelProto& m) { add_int(add_tail(m, "Softmax", {"x"}), "axis", 1)->clear_type(); }},
      {"attribute-content", "two values, FLOAT and INT",
       [](ModelProto& m) { add_int(add_tail(m, "Softmax", {"x"}), "axis", 1)->set_f(1); }},
      {"attribute-content", "declared as INT, but holds STRING",
       [](ModelProto& m) { add_attribute(add_tail(m, "Softmax", {"x"}), "axis", AttributeProto::INT)->set_s("1"); }},
      {"attribute-content", "holds none",
       [](ModelProto& m) { add_attribute(add_tail(m, "ConstantOfShape", {"x"}), "value", AttributeProto::TENSOR); }},
      {"attribute-reference", "this is none",
       [](ModelProto& m) { add_attribute(add_tail(m, "Softmax", {"x"}), "axis", AttributeProto::INT)->set_ref_attr_name("a"); }},
      {"attribute-reference", "does not declare",
       [](ModelProto& m) { add_attribute(add_function(m)->mutable_node(0), "axis", AttributeProto::INT)->set_ref_attr_name("a"); }},
      {"attribute-reference", "has a value too",
       [](ModelProto& m) {
         FunctionProto* f = add_function(m);
         f->add_attribute("a");
         add_int(f->mutable_node(0), "axis", 1)->set_ref_attr_name("a");
       }},
      {"attribute-unknown", "Relu of opset 14 has no attribute 'alpha'", [](ModelProto& m) { add_int(relu(m), "alpha", 1); }},
      {"attribute-unknown", "'axes'",  // in opset 11 it had
       [](ModelProto& m) { add_attribute(add_tail(m, "Squeeze", {"x"}), "axes", AttributeProto::INTS)->add_ints(0); }},
      {"attribute-missing", "'to'", [](ModelProto& m) { add_tail(m, "Cast", {"x"}); }},
      {"attribute-type", "is FLOAT, Softmax wants INT",
       [](ModelProto& m) { add_attribute(add_tail(m, "Softmax", {"x"}), "axis", AttributeProto::FLOAT)->set_f(1); }},
  };
}

std::vector<RuleCase> operator_cases() {
  return {
      {"operator-name", "names no operator", [](ModelProto& m) { add_tail(m, "", {"x"}); }},
      {"operator-unknown", "Nonsense is no operator of opset 17", [](ModelProto& m) { add_tail(m, "Nonsense", {"x"}); }},
      {"operator-unknown", "Gelu came in opset 20", [](ModelProto& m) { add_tail(m, "Gelu", {"x"}); }},
      {"training-outputs", "has 1 outputs, needs 3 where training_mode is 1",
       [](ModelProto& m) { add_int(add_tail(m, "BatchNormalization", {"x", "w", "w", "w", "w"}), "training_mode", 1); }},
      {"training-outputs", "has 3 outputs, needs 1 where training_mode is 0",
       [](ModelProto& m) {
         NodeProto* node = add_tail(m, "BatchNormalization", {"x", "w", "w", "w", "w"});
         node->add_output("mean"), node->add_output("variance");
       }},
      {"operator-deprecated", "Upsample is deprecated since opset 10",
       [](ModelProto& m) {
         add_tail(m, "Upsample", {"x", "w"});
       }},
      {"operator-foreign", "my.own.Thing",
       [](ModelProto& m) {
         m.add_opset_import()->set_domain("my.own");
         m.mutable_opset_import(1)->set_version(1);
         add_tail(m, "Thing", {"x"})->set_domain("my.own");
       }},
      {"engine-operator", "my.own.Thing (1 node)",
       [](ModelProto& m) {
         m.add_opset_import()->set_domain("my.own");
         m.mutable_opset_import(1)->set_version(1);
         add_tail(m, "Thing", {"x"})->set_domain("my.own");
       }},
      {"node-empty", "neither", [](ModelProto& m) { add_node(m, "Constant", {}, {}); }},
      {"input-count", "has 1 inputs, Add of opset 14 takes 2", [](ModelProto& m) { add_tail(m, "Add", {"x"}); }},
      {"input-count", "has 2 inputs, Relu", [](ModelProto& m) { relu(m)->add_input("w"); }},
      {"output-count", "has 2 outputs, Relu", [](ModelProto& m) { relu(m)->add_output("more"); }},
      {"output-count", "either fewer or more",
       [](ModelProto& m) {
         add_tail(m, "BatchNormalization", {"x", "w", "w", "w", "w"})->add_output("two");
       }},
      {"input-missing", "input 1 (B)",
       [](ModelProto& m) {
         add_tail(m, "Add", {"x", ""});
       }},
      {"output-missing", "output 0 (Y)", [](ModelProto& m) { add_node(m, "Relu", {"x"}, {""}); }},
      {"opset-lacks", "Gelu came in opset 20",
       [](ModelProto& m) { m.mutable_opset_import(0)->set_version(20), add_tail(m, "Gelu", {"x"}); }, 17},
      {"opset-lacks", "Upsample is deprecated since opset 10",
       [](ModelProto& m) {
         m.mutable_opset_import(0)->set_version(9), add_tail(m, "Upsample", {"x", "w"});
       },
       12},
      {"opset-differs", "Relu changed in opset 14", [](ModelProto&) {}, 13},
  };
}

std::vector<RuleCase> contributed_cases() {
  return {
      {"attribute-missing", "needs attribute 'num_heads'",
       [](ModelProto& m) {
         add_contributed(m, "Attention", {"x", "w"});
       }},
      {"attribute-unknown", "FastGelu of opset 1 has no attribute 'alpha'",
       [](ModelProto& m) { add_int(add_contributed(m, "FastGelu", {"x"}), "alpha", 1); }},
      {"attribute-type", "is INT, FusedMatMul wants FLOAT",
       [](ModelProto& m) {
         add_int(add_contributed(m, "FusedMatMul", {"x", "x"}), "alpha", 1);
       }},
      {"input-count", "has 1 inputs, BiasGelu of opset 1 takes 2", [](ModelProto& m) { add_contributed(m, "BiasGelu", {"x"}); }},
      {"input-missing", "input 1 (B)",
       [](ModelProto& m) {
         add_contributed(m, "BiasGelu", {"x", ""});
       }},
      {"type-constraint", "QuickGelu of opset 1 takes bfloat16, float16",
       [](ModelProto& m) {
         add_input(m, "words", {3}, DType::string);
         add_contributed(m, "QuickGelu", {"words"});
       }},
      {"operator-foreign", "com.microsoft.Newest", [](ModelProto& m) { add_contributed(m, "Newest", {"x"}); }},
  };
}

std::vector<RuleCase> body_cases() {
  return {
      {"if-arity", "then_branch gives 2 outputs, the node has 1",
       [](ModelProto& m) {
         GraphProto* b = body_of(add_if(m));
         b->add_output()->set_name("more"), add_body_node(b, "Relu", {"x"}, {"more"});
       }},
      {"if-arity", "declares 1 inputs", [](ModelProto& m) { set_type(body_of(add_if(m))->add_input(), "in", {1}); }},
      {"loop-arity", "takes 4 inputs", [](ModelProto& m) { set_type(body_of(add_loop(m))->add_input(), "in", {1}); }},
      {"loop-arity", "gives 1 outputs", [](ModelProto& m) { body_of(add_loop(m))->mutable_output()->RemoveLast(); }},
      {"loop-arity", "the node has 2 outputs", [](ModelProto& m) { add_loop(m)->add_output("more"); }},
      {"scan-arity", "takes 2 inputs, the node has 1", [](ModelProto& m) { set_type(body_of(add_scan(m))->add_input(), "in", {1}); }},
      {"scan-arity", "the node has 2 outputs", [](ModelProto& m) { add_scan(m)->add_output("more"); }},
      {"scan-arity", "the node has 1 outputs, the body gives 2",
       [](ModelProto& m) {
         GraphProto* b = body_of(add_scan(m));
         b->add_output()->set_name("more"), add_body_node(b, "Relu", {"x"}, {"more"});
       }},
      {"scan-arity", "num_scan_inputs is 7", [](ModelProto& m) { add_scan(m)->mutable_attribute(0)->set_i(7); }},
      {"function-name", "no name", [](ModelProto& m) { add_function(m, "", false); }},
      {"function-name", "no domain", [](ModelProto& m) { add_function(m, "g", false)->clear_domain(); }},
      {"function-twice", "function 'd.f'", [](ModelProto& m) { add_function(m), add_function(m, "f", false); }},
      {"function-cycle", "calls 'f'", call_itself},
      {"function-limit", "more than 100 deep", call_deep},
      {"function-limit", "10001 functions",
       [](ModelProto& m) {
         for (int i = 0; i < 10001; ++i) m.add_functions()->set_name(std::to_string(i));
       }},
      {"function-parameter", "input 'a'", [](ModelProto& m) { add_function(m)->add_input("a"); }},
      {"function-parameter", "output 'b'", [](ModelProto& m) { add_function(m)->add_output("b"); }},
      {"function-opset", "Relu has another form in opset 6",
       [](ModelProto& m) { add_function(m)->mutable_opset_import(0)->set_version(6); }},
      {"function-call", "has 2 inputs and 1 outputs; the function has 1 and 1",
       [](ModelProto& m) { add_function(m), m.mutable_graph()->mutable_node(2)->add_input("w"); }},
  };
}

}  // namespace

TEST_CASE("attributes, operators, bodies and functions") { check_cases(node_cases()); }

TEST_CASE("good bodies and functions have no findings") {
  for (const auto& add : {add_if, add_loop, add_scan}) {
    ModelProto model = good_model();
    add(model)->clear_name();
    model.mutable_graph()->mutable_output(1)->mutable_type()->mutable_tensor_type()->clear_shape();
    model.mutable_graph()->mutable_output(1)->mutable_type()->mutable_tensor_type()->mutable_shape();
    for (int i = 0; i < 2; ++i) model.mutable_graph()->mutable_output(1)->mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim();
    CHECK(findings_of(model) == "");
  }
  ModelProto model = good_model();
  FunctionProto* f = add_function(model);
  f->add_attribute("k");
  f->mutable_node(0)->set_op_type("Softmax");
  add_attribute(f->mutable_node(0), "axis", AttributeProto::INT)->set_ref_attr_name("k");
  add_int(model.mutable_graph()->mutable_node(2), "k", 1);
  model.mutable_graph()->mutable_output(1)->mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim();
  CHECK(findings_of(model) == "");
}

TEST_CASE("a call that leads to a refused function is told once, and inference goes on behind it") {
  ModelProto model = good_model();
  FunctionProto* f = add_function(model);
  add_int(f->mutable_node(0), "nonsense", 1);
  for (int i = 0; i < 5; ++i) add_node(model, "f", {"x"}, {fmt::format("o{}", i)})->set_domain("d");
  const std::string text = findings_of(model);
  INFO(text);
  CHECK(text.find("attribute-unknown") == text.rfind("attribute-unknown"));
  CHECK(text.find(": function 'd.f': node 'Relu_0' (Relu)") != std::string::npos);
}
}  // namespace node_rules_test

std::vector<svengine::tests::RuleCase> svengine::tests::node_cases() {
  using namespace node_rules_test;
  return together({attribute_cases(), operator_cases(), contributed_cases(), body_cases()});
}
