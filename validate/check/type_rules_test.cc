// Models that break the rules of declared and inferred types and shapes.
#include "validate/check/check_test_util.h"

namespace type_rules_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

GraphProto* graph(ModelProto& m) { return m.mutable_graph(); }

TypeProto::Tensor* type_of(ValueInfoProto* info) { return info->mutable_type()->mutable_tensor_type(); }

void set_symbol(ValueInfoProto* info, int dim, const std::string& symbol) {
  type_of(info)->mutable_shape()->mutable_dim(dim)->set_dim_param(symbol);
}

ValueInfoProto* declare(ModelProto& m, const std::string& name, const std::vector<int64_t>& dims, DType type = DType::f32) {
  ValueInfoProto* info = graph(m)->add_value_info();
  set_type(info, name, dims, type);
  return info;
}

void add_ints(NodeProto* node, const std::string& name, const std::vector<int64_t>& values) {
  AttributeProto* a = add_attribute(node, name, AttributeProto::INTS);
  for (int64_t v : values) a->add_ints(v);
}

/// An If whose first branch cannot be computed.
void add_odd_branch(ModelProto& m) {
  add_input(m, "c", {}, DType::boolean);
  NodeProto* node = add_tail(m, "If", {"c"});
  for (const char* name : {"then_branch", "else_branch"}) {
    GraphProto* body = add_body(node, name);
    NodeProto* inner = add_body_node(body, "Transpose", {"x"}, {std::string("of_") + name});
    if (std::string(name) == "then_branch") add_ints(inner, "perm", {0, 1, 2});
    body->add_output()->set_name(std::string("of_") + name);
  }
}

std::vector<RuleCase> declaration_cases() {
  return {
      {"type-missing", "input 'x' has no type", [](ModelProto& m) { graph(m)->mutable_input(0)->clear_type(); }},
      {"type-missing", "input 'x' has no element type", [](ModelProto& m) { type_of(graph(m)->mutable_input(0))->clear_elem_type(); }},
      {"type-missing", "output 'y' has no shape", [](ModelProto& m) { type_of(graph(m)->mutable_output(0))->clear_shape(); }},
      {"type-unknown", "element type 99", [](ModelProto& m) { type_of(graph(m)->mutable_input(0))->set_elem_type(99); }},
      {"type-unknown", "keys of a map",
       [](ModelProto& m) {
         auto* map = graph(m)->add_input()->mutable_type()->mutable_map_type();
         map->set_key_type(TensorProto::FLOAT);
         map->mutable_value_type()->mutable_tensor_type()->set_elem_type(1);
       }},
      {"dimension-negative", "dimension -5",
       [](ModelProto& m) { type_of(graph(m)->mutable_input(0))->mutable_shape()->mutable_dim(0)->set_dim_value(-5); }},
      {"engine-type", "complex64", [](ModelProto& m) { type_of(graph(m)->mutable_input(0))->set_elem_type(14); }},
      {"engine-limit", "attribute '__mine'",
       [](ModelProto& m) { add_attribute(graph(m)->mutable_node(0), "__mine", AttributeProto::INT)->set_i(1); }},
      {"engine-limit", "4 spatial dimensions, at most 3 are supported",
       [](ModelProto& m) {
         add_input(m, "image", {1, 1, 2, 2, 2, 2}), add_input(m, "weights", {1, 1, 1, 1, 1, 1});
         add_tail(m, "Conv", {"image", "weights"});
       }},
      {"declared-twice", "'r'",
       [](ModelProto& m) {
         declare(m, "r", {1, 3}), declare(m, "r", {1, 3});
       }},
      {"declared-nothing", "'nothing'", [](ModelProto& m) { declare(m, "nothing", {1}); }},
      {"declared-type", "'r' is declared as int64[1x3], but is float32[1x3]",
       [](ModelProto& m) {
         declare(m, "r", {1, 3}, DType::i64);
       }},
      {"declared-type", "initializer 'w' is declared", [](ModelProto& m) { add_input(m, "w", {3}, DType::i64); }},
      {"declared-shape", "output 'x' is declared",
       [](ModelProto& m) {
         set_type(graph(m)->add_output(), "x", {1, 4});
       }},
      {"declared-shape", "'r' is declared as float32[1x4], but is float32[1x3]",
       [](ModelProto& m) {
         declare(m, "r", {1, 4});
       }},
      {"declared-shape", "'y' is declared as float32[1x3x7], but is float32[1x3]",
       [](ModelProto& m) { set_type(graph(m)->mutable_output(0), "y", {7}); }},
      {"declared-shape", "initializer 'w' is declared", [](ModelProto& m) { add_input(m, "w", {4}); }},
  };
}

std::vector<RuleCase> element_type_cases() {
  return {
      {"type-constraint", "input 0 (A) 'x' is float32, And of opset 7 takes bool",
       [](ModelProto& m) {
         add_tail(m, "And", {"x", "x"});
       }},
      {"type-constraint", "inputs 0 and 1 must be of one type (T), but are float32 and int64",
       [](ModelProto& m) {
         add_input(m, "i", {3}, DType::i64), add_tail(m, "Mul", {"x", "i"});
       }},
      {"type-constraint", "input 0 (X) 'x' is complex64, Relu of opset",
       [](ModelProto& m) { type_of(graph(m)->mutable_input(0))->set_elem_type(14); }},
      {"type-constraint", "output 0 (output) 'tail' is float8_e4m3fn, Cast of opset 13 gives",
       [](ModelProto& m) {
         m.mutable_opset_import(0)->set_version(13);
         add_attribute(add_tail(m, "Cast", {"x"}), "to", AttributeProto::INT)->set_i(static_cast<int64_t>(DType::f8e4m3fn));
       }},
      {"declared-type", "output 'y' is declared as complex128, but is float32",
       [](ModelProto& m) { type_of(graph(m)->mutable_output(0))->set_elem_type(15); }},
      {"declared-type", "output 'tail' is declared as float32, but is complex64",
       [](ModelProto& m) { add_tail(m, "Identity", {"x"}), type_of(graph(m)->mutable_input(0))->set_elem_type(14); }},
  };
}

void add_resize(ModelProto& m, float scale, const char* coordinates) {
  add_initializer(m, "scales", {2}, {1, scale});
  add_attribute(add_tail(m, "Resize", {"x", "", "scales"}), "coordinate_transformation_mode", AttributeProto::STRING)->set_s(coordinates);
}

/// What QLinearSoftmax is made of knows what it does not ask of its axis.
void add_odd_softmax(ModelProto& m) {
  m.add_opset_import()->set_domain("com.microsoft");
  m.mutable_opset_import(1)->set_version(1);
  add_input(m, "bytes", {1, 3}, DType::u8);
  add_input(m, "zero", {}, DType::u8);
  add_input(m, "scale", {}, DType::f32);
  NodeProto* node = add_tail(m, "QLinearSoftmax", {"bytes", "scale", "zero", "scale", "zero"});
  node->set_domain("com.microsoft");
  add_attribute(node, "axis", AttributeProto::INT)->set_i(7);
  add_attribute(node, "opset", AttributeProto::INT)->set_i(13);
}

std::vector<RuleCase> inference_cases() {
  return {
      {"symbol-conflict", "dimension 'N' is 1 in value 'r' and 3 in value 'y'",
       [](ModelProto& m) {
         set_symbol(declare(m, "r", {-1, 3}), 0, "N");
         set_symbol(graph(m)->mutable_output(0), 1, "N");
       }},
      {"symbol-conflict", "dimension 'N' is 2",
       [](ModelProto& m) {
         set_symbol(graph(m)->mutable_input(0), 0, "N");
         declare(m, "r", {2, 3});
         type_of(graph(m)->mutable_output(0))->mutable_shape()->mutable_dim(0)->set_dim_value(5);
       }},
      {"perm-negative", "-1",
       [](ModelProto& m) {
         add_ints(add_tail(m, "Transpose", {"x"}), "perm", {0, -1});
       }},
      {"inference", "perm",
       [](ModelProto& m) {
         add_ints(add_tail(m, "Transpose", {"x"}), "perm", {0, 0});
       }},
      {"inference", "axis",
       [](ModelProto& m) {
         AttributeProto* a = add_attribute(add_tail(m, "Concat", {"x", "x"}), "axis", AttributeProto::INT);
         a->set_i(-3);
       }},
      {"inference", "input 1 has shape 1x3 and is read as a vector; ONNX wants a vector",
       [](ModelProto& m) {
         add_input(m, "chosen", {1, 3}, DType::boolean);
         add_tail(m, "Compress", {"x", "chosen"});
       }},
      {"inference", "node 'tail' (MatMul)",
       [](ModelProto& m) {
         add_tail(m, "MatMul", {"x", "x"});
       }},
      {"resize-scale", "3 elements by 1.6666666 are 5 here", [](ModelProto& m) { add_resize(m, 1.6666666f, "half_pixel"); }},
      {"resize-scale", "3 elements by 0.5 are 1, whose corners are aligned by PyTorch",
       [](ModelProto& m) { add_resize(m, 0.5f, "align_corners"); }},
      {"inference", "node 'tail' (QLinearSoftmax): axis 7 is outside", add_odd_softmax},
      {"inference-in-branch", "then_branch: node 'Transpose_0'", add_odd_branch},
      {"engine-limit", "nested more than",
       [](ModelProto& m) {
         m.add_opset_import()->set_domain("d");
         m.mutable_opset_import(1)->set_version(1);
         constexpr int kDeep = 20;
         for (int i = 0; i <= kDeep; ++i) {
           FunctionProto* f = m.add_functions();
           f->set_name(fmt::format("f{}", i)), f->set_domain("d"), f->add_input("a"), f->add_output("b");
           f->add_opset_import()->set_version(17);
           f->add_opset_import()->set_domain("d");
           f->mutable_opset_import(1)->set_version(1);
           NodeProto* node = f->add_node();
           node->set_op_type(i < kDeep ? fmt::format("f{}", i + 1) : "Relu"), node->set_domain(i < kDeep ? "d" : "");
           node->add_input("a"), node->add_output("b");
         }
         add_tail(m, "f0", {"x"})->set_domain("d");
       }},
  };
}

}  // namespace

TEST_CASE("declared and inferred types and shapes") { check_cases(type_cases()); }

TEST_CASE("findings that quote attributes are harmless to print, and short") {
  for (const std::string& odd : {std::string("\x1b[31m"), std::string(1 << 20, 'A')}) {
    ModelProto model = good_model();
    add_resize(model, 2, odd.c_str());
    const std::string findings = findings_of(model);
    CHECK((findings.find("mode is '") != std::string::npos && findings.find('\x1b') == std::string::npos));
    CHECK(findings.size() < 5000);
  }
}

TEST_CASE("a Resize that all compute alike is no finding") {
  for (const auto& [scale, coordinates] : {std::pair{2.0f, "align_corners"}, {2.7f, "align_corners"}, {0.5f, "half_pixel"}}) {
    ModelProto model = good_model();
    add_resize(model, scale, coordinates);
    CHECK(findings_of(model).find("resize-scale") == std::string::npos);
  }
}

TEST_CASE("what is behind a refused node is judged by its declared type") {
  ModelProto model = good_model();
  add_node(model, "Nonsense", {"x"}, {"n"});
  add_tail(model, "Transpose", {"n"});
  add_ints(model.mutable_graph()->mutable_node(3), "perm", {0, 1, 2});
  CHECK(findings_of(model).find("inference") == std::string::npos);
  declare(model, "n", {1, 3});
  CHECK(findings_of(model).find("inference") != std::string::npos);
}

TEST_CASE("symbols that agree, and those of other sizes in bodies, are no conflict") {
  ModelProto model = good_model();
  set_symbol(declare(model, "r", {-1, 3}), 0, "N");
  set_symbol(model.mutable_graph()->mutable_output(0), 0, "N");
  CHECK(findings_of(model).empty());
}
}  // namespace type_rules_test

std::vector<svengine::tests::RuleCase> svengine::tests::type_cases() {
  using namespace type_rules_test;
  return together({declaration_cases(), element_type_cases(), inference_cases()});
}
