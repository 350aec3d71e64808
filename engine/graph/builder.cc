#include "engine/graph/builder.h"

namespace svengine {

Value* Builder::add(std::string_view op, std::vector<Value*> inputs, Attributes attributes, std::string name) {
  Node* n = node("", op, std::move(inputs), 1, std::move(attributes), std::move(name));
  return n ? n->output() : nullptr;
}

Node* Builder::node(std::string_view domain, std::string_view op, std::vector<Value*> inputs, size_t outputs, Attributes attributes,
                    std::string name, std::vector<std::string> output_names) {
  if (!status_.ok()) return nullptr;
  const OpDef* def = ops_.find(domain, op);
  if (!def) {
    status_ = error("operator '{}' of domain '{}' is not known", op, domain.empty() ? "ai.onnx" : domain);
    return nullptr;
  }
  if (name.empty()) name = node_name_;
  Node* n = graph_.add_node(*def, std::move(name), std::move(inputs), outputs, std::move(attributes), before_,
                            std::move(output_names));
  status_ = infer_types(*n);
  return status_.ok() ? n : nullptr;
}

void Builder::output(Value* value, std::string name) {
  if (!value) return;
  if (!name.empty()) graph_.rename(value, std::move(name));
  graph_.add_output(value);
}

Attributes make_attributes(std::initializer_list<std::pair<const char*, Attribute>> list) {
  Attributes out;
  for (const auto& [name, value] : list) out.set(name, value);
  return out;
}

}  // namespace svengine
