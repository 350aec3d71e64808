// Nodes that ONNX's own inference refuses, though they could be run: they are refused here, too, by a message that says what would be right.
#include "validate/check/check_test_util.h"

namespace onnx_inference_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

struct Odd {
  const char* says;
  int opset;
  void (*breaks)(ModelProto&);
};

void set_number(NodeProto* node, const char* name, int64_t value) { add_attribute(node, name, AttributeProto::INT)->set_i(value); }

void set_numbers(NodeProto* node, const char* name, const std::vector<int64_t>& values) {
  AttributeProto* a = add_attribute(node, name, AttributeProto::INTS);
  for (int64_t v : values) a->add_ints(v);
}

NodeProto* add_col2im(ModelProto& m) {
  add_input(m, "blocks", {1, 5, 5}), add_input(m, "image", {2}, DType::i64), add_input(m, "block", {2}, DType::i64);
  return add_tail(m, "Col2Im", {"blocks", "image", "block"});
}

NodeProto* add_ml(ModelProto& m, const char* op, const std::string& input, DType type) {
  OperatorSetIdProto* opset = m.add_opset_import();
  opset->set_domain("ai.onnx.ml"), opset->set_version(5);
  NodeProto* node = add_tail(m, op, {input}, type);
  node->set_domain("ai.onnx.ml");
  return node;
}

void set_tensor(NodeProto* node, const char* name, TensorProto::DataType type, int count) {
  TensorProto* t = add_attribute(node, name, AttributeProto::TENSOR)->mutable_t();
  t->set_data_type(type), t->add_dims(count);
  for (int i = 0; i < count; ++i) type == TensorProto::FLOAT ? t->add_float_data(0) : t->add_int32_data(0);
}

NodeProto* add_trees(ModelProto& m, const std::string& input, size_t leaf_targets) {
  NodeProto* node = add_ml(m, "TreeEnsemble", input, DType::f32);
  for (const char* list : {"tree_roots", "nodes_featureids", "nodes_truenodeids", "nodes_falsenodeids", "nodes_trueleafs", "nodes_falseleafs"})
    set_numbers(node, list, {std::string(list).find("leafs") != std::string::npos});
  set_numbers(node, "leaf_targetids", std::vector<int64_t>(leaf_targets));
  set_tensor(node, "nodes_splits", TensorProto::FLOAT, 1), set_tensor(node, "leaf_weights", TensorProto::FLOAT, 2);
  set_tensor(node, "nodes_modes", TensorProto::UINT8, 1);
  return node;
}

/// Over the rows of x, which are of 3 elements.
void add_scan(ModelProto& m, const std::vector<int64_t>& declared, DType type = DType::f32) {
  NodeProto* node = add_tail(m, "Scan", {"x"}, type);
  set_number(node, "num_scan_inputs", 1);
  GraphProto* body = add_body(node, "body");
  set_type(body->add_input(), "row", declared, type);
  add_body_node(body, "Identity", {"row"}, {"same"});
  set_type(body->add_output(), "same", declared, type);
}

constexpr Odd kOdd[] = {
    {"has neither input split nor attribute num_outputs", 18, [](ModelProto& m) { add_tail(m, "Split", {"x"}); }},
    {"scales has 3 elements, needs 2 for 2 axes", 18,
     [](ModelProto& m) {
       add_input(m, "s", {3}), add_tail(m, "Resize", {"x", "", "s"});
     }},
    {"sizes has 3 elements, needs 1 for 1 axes", 18,
     [](ModelProto& m) {
       add_input(m, "s", {3}, DType::i64), set_numbers(add_tail(m, "Resize", {"x", "", "", "s"}), "axes", {1});
     }},
    {"strides has 1 elements, needs 2 for 2 dimensions", 18, [](ModelProto& m) { set_numbers(add_col2im(m), "strides", {1}); }},
    {"pads has 3 elements, needs 4 for 2 dimensions", 18,
     [](ModelProto& m) {
       set_numbers(add_col2im(m), "pads", {1, 1, 1});
     }},
    {"has keys_strings, keys_int64s, needs one of them", 18,
     [](ModelProto& m) {
       add_input(m, "i", {3}, DType::i64);
       NodeProto* node = add_ml(m, "LabelEncoder", "i", DType::i64);
       set_numbers(node, "keys_int64s", {1}), set_numbers(node, "values_int64s", {2});
       add_attribute(node, "keys_strings", AttributeProto::STRINGS)->add_strings("a");
     }},
    {"3 leaf_targetids, 2 leaf_weights", 18, [](ModelProto& m) { add_trees(m, "x", 3); }},
    {"nodes_missing_value_tracks_true has 2 elements, needs 1", 18,
     [](ModelProto& m) {
       set_numbers(add_trees(m, "x", 2), "nodes_missing_value_tracks_true", {0, 1});
     }},
    {"(X) has rank 1, needs rank 2", 18, [](ModelProto& m) { add_input(m, "flat", {3}), add_trees(m, "flat", 2); }},
    {"size has 3 entries", 20,
     [](ModelProto& m) {
       add_input(m, "theta", {1, 2, 3}), add_input(m, "size", {3}, DType::i64);
       add_tail(m, "AffineGrid", {"theta", "size"});
     }},
    {"(ratio) has rank 1, needs rank 0", 18,
     [](ModelProto& m) {
       add_input(m, "p", {1}), add_tail(m, "Dropout", {"x", "p"});
     }},
    {"'stash_type' is 7 (int64), needs float32", 18,
     [](ModelProto& m) {
       set_number(add_tail(m, "LayerNormalization", {"x", "w"}), "stash_type", 7);
     }},
    {"is declared as int64[?x3], but is int64[3]", 18,  // only 1 keeps dimensions
     [](ModelProto& m) {
       NodeProto* node = add_tail(m, "ArgMax", {"x"}, DType::i64);
       set_number(node, "keepdims", 7);
       m.mutable_graph()->mutable_output(1)->mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(3);
     }},
    {"output_shape has 3 values, needs 4", 18,
     [](ModelProto& m) {
       add_input(m, "p", {1, 1, 2, 2}), add_input(m, "at", {1, 1, 2, 2}, DType::i64), add_input(m, "size", {3}, DType::i64);
       set_numbers(add_tail(m, "MaxUnpool", {"p", "at", "size"}), "kernel_shape", {2, 2});
     }},
    {"input 'row' of body is declared as float32[4], but is float32[3]", 18, [](ModelProto& m) { add_scan(m, {4}); }},
    {"input 'row' of body is declared as int64[3], but is float32[3]", 18, [](ModelProto& m) { add_scan(m, {3}, DType::i64); }},
    {"is declared as float32[?], but is float32[1x3]", 18,
     [](ModelProto& m) {
       add_input(m, "axis", {}, DType::i64), add_tail(m, "CumSum", {"x", "axis"});
     }},
};

/// Of rank 2.
void type_of_tail(ModelProto& m) {
  m.mutable_graph()->mutable_output(1)->mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim();
}

}  // namespace

TEST_CASE("what ONNX's inference refuses is refused") {
  for (const Odd& odd : kOdd) {
    ModelProto model = good_model();
    model.mutable_opset_import(0)->set_version(odd.opset);
    odd.breaks(model);
    const std::string text = findings_of(model);
    INFO(odd.says << " not in:\n" << text);
    CHECK(text.find(odd.says) != std::string::npos);
  }
}

TEST_CASE("forms that are close to these and right are taken") {
  for (void (*make)(ModelProto&) : std::initializer_list<void (*)(ModelProto&)>{
           [](ModelProto& m) { set_number(add_tail(m, "Split", {"x"}), "num_outputs", 1), type_of_tail(m); },
           [](ModelProto& m) { add_input(m, "s", {2}), add_tail(m, "Resize", {"x", "", "s"}), type_of_tail(m); },
           [](ModelProto& m) { add_scan(m, {3}), type_of_tail(m); },
           [](ModelProto& m) { add_trees(m, "x", 2), type_of_tail(m); }}) {
    ModelProto model = good_model();
    model.mutable_opset_import(0)->set_version(18);
    make(model);
    const std::string text = findings_of(model);
    INFO(text);
    CHECK(text.find("error") == std::string::npos);
  }
}
}  // namespace onnx_inference_test
