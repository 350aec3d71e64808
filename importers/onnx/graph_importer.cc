#include "importers/onnx/graph_importer.h"

#include <algorithm>

#include "importers/io/names.h"
#include "importers/onnx/support_check.h"
#include "importers/onnx/value_type.h"

namespace svengine::onnx {
namespace {

std::string quoted(const char* what, const std::string& name) { return fmt::format("{} '{}'", what, printable(name)); }

}  // namespace

bool GraphImporter::is_overridden(const std::string& name) const {
  return std::find(overridden_.begin(), overridden_.end(), name) != overridden_.end();
}

Status GraphImporter::check_names() {
  std::vector<std::string> given;
  for (const auto& info : proto_.input()) {
    if (info.name().empty()) return error("an input of the graph has no name");
    SV_TRY(check_name("input", info.name()));
    Result<Type> type = declared_type(info);
    if (!type.ok()) return std::move(type).error().in(quoted("input", info.name()));
    if (!input_types_.emplace(info.name(), std::move(type).value()).second)
      return error("input '{}' is declared twice", info.name());
    given.push_back(info.name());
  }
  for (const auto& tensor : proto_.initializer()) {
    if (tensor.name().empty()) return error("an initializer has no name");
    SV_TRY(check_name("initializer", tensor.name()));
    if (!initializers_.emplace(tensor.name(), &tensor).second) return error("initializer '{}' is given twice", tensor.name());
    if (!input_types_.count(tensor.name())) given.push_back(tensor.name());
  }
  for (const auto& sparse : proto_.sparse_initializer()) {
    const std::string& name = sparse.values().name();
    if (name.empty()) return error("a sparse initializer has no name");
    SV_TRY(check_name("initializer", name));
    if (!initializers_.emplace(name, &sparse.values()).second) return error("initializer '{}' is given twice", name);
    if (!input_types_.count(name)) given.push_back(name);
  }
  for (const std::string& name : overridden_)
    if (!initializers_.count(name))
      return error("'{}' is to be an input instead of an initializer, but there is no such initializer",
                   printable(name));
  SV_ASSIGN(order_, nodes_.order(proto_.node(), given));
  return {};
}

Status GraphImporter::add_inputs() {
  for (const auto& info : proto_.input()) {
    if (initializers_.count(info.name()) && !is_overridden(info.name())) continue;
    const Type& type = input_types_.at(info.name());
    if (type.dtype == DType::undefined) return error("input '{}' has no type", info.name());
    values()[info.name()] = graph_.add_input(info.name(), type);
  }
  return {};
}

Status GraphImporter::add_initializers() {
  for (const auto& proto : proto_.initializer()) SV_TRY(add_initializer(proto.name(), tensors_.read(proto)));
  for (const auto& proto : proto_.sparse_initializer()) SV_TRY(add_initializer(proto.values().name(), tensors_.read(proto)));
  return {};
}

Status GraphImporter::add_initializer(const std::string& name, Result<Tensor> tensor) {
  if (!tensor.ok()) return std::move(tensor).error().in("initializer");
  const Type actual{tensor->type(), Shape::of(tensor->dims()), 0};
  const auto declared = input_types_.find(name);
  if (declared != input_types_.end()) {
    Status agrees = check_agrees(declared->second, actual);
    if (!agrees.ok()) return std::move(agrees).error().in(quoted("initializer", name));
    if (values().count(name)) return {};
  }
  values()[name] = is_overridden(name) ? graph_.add_input(name, actual) : graph_.add_constant(name, std::move(tensor).value());
  return {};
}

Status GraphImporter::declare(const onnx_proto::NodeProto& node) {
  for (const std::string& name : node.output()) {
    const auto info = infos_.find(name);
    if (info == infos_.end() || !values().count(name)) continue;
    // An unreadable declaration of an inner value harms nobody: what is inferred counts.
    if (Result<Type> declared = declared_type(*info->second); declared.ok()) {
      Status agrees = take_declaration("value", *info->second, *declared, values().at(name));
      if (!agrees.ok()) return std::move(agrees).error().in(quoted("value", name));
    }
  }
  return {};
}

Status GraphImporter::add_nodes() {
  for (const auto& info : proto_.value_info()) infos_.emplace(info.name(), &info);
  for (const int i : order_) {
    SV_TRY(nodes_.add(scope_, proto_.node(i), i));
    Status declared = declare(proto_.node(i));
    if (!declared.ok())
      return std::move(declared).error().in(fmt::format("node '{}' ({})", node_name(proto_.node(i), i), printable(proto_.node(i).op_type())));
  }
  return {};
}

void GraphImporter::give_name(Value* value, const std::string& name) {
  if (value->name() == name) return;
  Value* holder = nullptr;
  graph_.for_each_value([&](Value& v) {
    if (v.name() == name) holder = &v;
  });
  std::string spare = value->name();
  graph_.rename(value, name + ".output");
  if (holder) graph_.rename(holder, std::move(spare));
  graph_.rename(value, name);
}

Status GraphImporter::take_declaration(const char* what, const onnx_proto::ValueInfoProto& info, const Type& declared, Value* value) {
  Status agrees = check_agrees(declared, value->type);
  if (agrees.ok()) {
    if (!value->is_constant()) refine(value->type, declared);
    return {};
  }
  if (strict_) return agrees;
  contradictions_.push_back(fmt::format("{} {}", quoted(what, info.name()), agrees.error().message()));
  return {};
}

std::vector<std::string> GraphImporter::warnings() const {
  std::vector<std::string> out = nodes_.warnings();
  if (!listed_again_.empty()) out.push_back(listed_again_.front());
  if (contradictions_.empty()) return out;
  std::string more = contradictions_.size() > 1 ? fmt::format(" (and {} more contradictions)", contradictions_.size() - 1) : "";
  out.push_back(fmt::format("{}{}; what the nodes give counts", contradictions_.front(), more));
  return out;
}

/// Outputs of the engine are values of their own, with names of their own.
Result<Value*> GraphImporter::copy(Value* value, const std::string& name) {
  const OpDef* identity = ops_.find("", "Identity");
  if (!identity) return error("is listed twice");
  Node* node = graph_.add_node(*identity, name + ".copy", {value}, 1, {}, nullptr, {name});
  SV_TRY(infer_types(*node));
  return node->output();
}

Status GraphImporter::add_output(const onnx_proto::ValueInfoProto& info) {
  const auto found = values().find(info.name());
  if (found == values().end()) return error("no node computes it");
  Value* value = found->second;
  const bool is_new = output_names_.insert(info.name()).second;
  // A function may give back its argument under another name, but an input keeps its own.
  if (graph_.is_output(value) || (value->is_input() && value->name() != info.name())) {
    SV_ASSIGN(value, copy(value, info.name()));
  }
  SV_ASSIGN(const Type declared, declared_type(info));
  if (declared.dtype != DType::undefined && value->type.dtype != DType::undefined && declared.dtype != value->type.dtype)
    SV_TRY(check_agrees(declared, value->type));
  SV_TRY(take_declaration("output", info, declared, value));
  graph_.add_output(value);
  if (is_new) give_name(value, info.name());
  else listed_again_.push_back(fmt::format("{} is listed twice; here it is called '{}'", quoted("output", info.name()), value->name()));
  return {};
}

Status GraphImporter::add_outputs() {
  if (proto_.output_size() == 0) return error("the graph has no outputs");
  for (const auto& info : proto_.output()) {
    if (info.name().empty()) return error("an output of the graph has no name");
    Status status = add_output(info);
    if (!status.ok()) return std::move(status).error().in(quoted("output", info.name()));
  }
  return {};
}

Status GraphImporter::add_all() {
  SV_TRY(check_names());
  SV_TRY(add_inputs());
  SV_TRY(add_initializers());
  SV_TRY(add_nodes());
  return add_outputs();
}

Result<Graph> GraphImporter::run() {
  graph_.name = printable(proto_.name(), kMaxName);
  Status status = add_all();
  if (!nodes_.refused_types().empty()) return nodes_.refused_types().error();
  if (!status.ok()) return std::move(status).error();
  return std::move(graph_);
}

}  // namespace svengine::onnx
