// For the tests of `check`: a good model, and models that break a rule each.
#pragma once
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "importers/io/names.h"
#include "importers/onnx/import_test_util.h"
#include "validate/check/check.h"

namespace svengine::tests {

/// A change of good_model() that breaks a rule.
struct RuleCase {
  std::string rule;
  std::string says;  // in the message or place of the finding
  std::function<void(ModelProto&)> breaks;
  int opset = 0;  // CheckOptions::opset
};

inline std::vector<RuleCase> together(std::initializer_list<std::vector<RuleCase>> lists) {
  std::vector<RuleCase> out;
  for (const auto& list : lists) out.insert(out.end(), list.begin(), list.end());
  return out;
}

/// x[1,3] -> Relu -> r -> Add(w[3]) -> y[1,3], of opset 17, IR version 8. Nothing is found in it.
inline ModelProto good_model() {
  ModelProto model = empty_model(17, 8);
  add_input(model, "x", {1, 3});
  add_initializer(model, "w", {3}, {1, 2, 3});
  add_node(model, "Relu", {"x"}, {"r"}, "relu");
  add_node(model, "Add", {"r", "w"}, {"y"}, "add");
  set_type(model.mutable_graph()->add_output(), "y", {1, 3});
  return model;
}

/// One more node behind the others, whose output 0 is an output of the graph of any shape.
inline NodeProto* add_tail(ModelProto& model, const std::string& op, const std::vector<std::string>& inputs, DType type = DType::f32) {
  NodeProto* node = add_node(model, op, inputs, {"tail"}, "tail");
  ValueInfoProto* output = model.mutable_graph()->add_output();
  output->set_name("tail");
  output->mutable_type()->mutable_tensor_type()->set_elem_type(static_cast<int>(type));
  output->mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim();
  return node;
}

inline GraphProto* add_body(NodeProto* node, const std::string& name) {
  GraphProto* body = add_attribute(node, name, AttributeProto::GRAPH)->mutable_g();
  body->set_name(name);
  return body;
}

inline NodeProto* add_body_node(GraphProto* body, const std::string& op, const std::vector<std::string>& inputs,
                                const std::vector<std::string>& outputs) {
  NodeProto* node = body->add_node();
  node->set_op_type(op);
  for (const std::string& i : inputs) node->add_input(i);
  for (const std::string& o : outputs) node->add_output(o);
  return node;
}

/// A folder that is gone with the test.
class TestFolder {
 public:
  TestFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "svengine_check_XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }
  std::string file(const std::string& name, const std::string& content) const {
    std::ofstream(path_ + '/' + name, std::ios::binary) << content;
    return path_ + '/' + name;
  }

 private:
  std::string path_;
};

inline Result<validate::CheckReport> check_bytes(const std::string& bytes, const validate::CheckOptions& options = {},
                                                 const std::string& folder = {}) {
  const auto owner = std::make_shared<std::string>(bytes);
  SV_ASSIGN(const onnx::OnnxFile file,
            onnx::OnnxFile::parse(std::as_bytes(std::span(owner->data(), owner->size())), owner, "m.onnx", folder));
  return validate::check_model(file, options);
}

/// All findings, a line each: "error rule: where: message".
inline std::string findings_text(const validate::CheckReport& report) {
  std::string out;
  for (const validate::Finding& f : report.findings.list())
    out += fmt::format("{} {}: {}: {}\n", name_of(f.rule->level), f.rule->name, f.where, f.message);
  return out;
}

inline std::string findings_of(const ModelProto& model, const validate::CheckOptions& options = {}, const std::string& folder = {}) {
  const Result<validate::CheckReport> report = check_bytes(model.SerializeAsString(), options, folder);
  return report.ok() ? findings_text(*report) : report.error().message();
}

/// Every case is found by its rule, with its words, and at the rule's level.
void check_cases(const std::vector<RuleCase>& cases, const std::string& folder = {});

std::vector<RuleCase> model_cases();
std::vector<RuleCase> node_cases();
std::vector<RuleCase> type_cases();
std::vector<RuleCase> tensor_cases();

}  // namespace svengine::tests
