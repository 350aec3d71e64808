#include "importers/onnx/support_check.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "importers/io/names.h"
#include "importers/onnx/functions.h"
#include "importers/onnx/order.h"

namespace svengine::onnx {
namespace {

using onnx_proto::AttributeProto;
using onnx_proto::ModelProto;
using onnx_proto::NodeProto;

constexpr size_t kMostNodesShown = 3;
constexpr size_t kMostProblemsShown = 30;
constexpr size_t kMostNameShown = 60;

constexpr std::string_view kMachineLayout = "com.microsoft.nchwc";
constexpr const char* kMachineLayoutAdvice =
    ". com.microsoft.nchwc is ONNX Runtime's layout for one kind of machine: let it save the model optimised at level 'extended', not 'all'";

std::string shown_domain(const std::string& domain) { return domain.empty() ? "ai.onnx" : printable(domain); }

/// Problems in the order of their first node, each with the nodes that have it.
class Problems {
 public:
  void add(std::string problem, std::string node) {
    const auto [at, is_new] = index_.emplace(std::move(problem), list_.size());
    if (is_new) list_.push_back({at->first, {}, 0});
    Entry& entry = list_[at->second];
    if (++entry.count <= kMostNodesShown && !node.empty()) entry.nodes.push_back(fmt::format("'{}'", printable(node, kMostNameShown)));
  }
  bool empty() const { return list_.empty(); }

  std::string text() const {
    std::string out;
    for (size_t i = 0; i < list_.size(); ++i) {
      if (i == kMostProblemsShown) return out + fmt::format("; and {} more", list_.size() - i);
      const Entry& entry = list_[i];
      out += (i ? "; " : "") + entry.problem;
      if (entry.nodes.empty()) continue;
      out += fmt::format(" (node{} {}", entry.count > 1 ? "s" : "", fmt::join(entry.nodes, ", "));
      out += entry.count > entry.nodes.size() ? fmt::format(" and {} more)", entry.count - entry.nodes.size()) : ")";
    }
    return out;
  }

 private:
  struct Entry {
    std::string problem;
    std::vector<std::string> nodes;
    size_t count;
  };
  std::map<std::string, size_t> index_;
  std::vector<Entry> list_;
};

const char* attribute_problem(const AttributeProto& attribute, const OpDef* def) {
  const bool takes_body = def && std::any_of(def->attributes.begin(), def->attributes.end(), [&](const AttributeDef& d) {
    return d.kind == AttributeKind::kGraph && attribute.name() == d.name;
  });
  if (attribute.graphs_size() || (attribute.has_g() && !takes_body)) return "a subgraph";
  if (attribute.sparse_tensors_size()) return "a list of sparse tensors";
  const bool takes_type = def && def->name == std::string_view("Optional") && attribute.name() == "type";
  if (attribute.type_protos_size() || (attribute.has_tp() && !takes_type)) return "a type";
  if (attribute.tensors_size()) return "a list of tensors";
  switch (attribute.type()) {
    case AttributeProto::GRAPH: return takes_body ? nullptr : "a subgraph";
    case AttributeProto::GRAPHS: return "a subgraph";
    case AttributeProto::SPARSE_TENSORS: return "a list of sparse tensors";
    case AttributeProto::TYPE_PROTO: return takes_type ? nullptr : "a type";
    case AttributeProto::TYPE_PROTOS: return "a type";
    case AttributeProto::TENSORS: return "a list of tensors";
    default: return nullptr;
  }
}

/// Looks over the nodes of the graph, of bodies in it, and of the functions that are called.
class Checker {
 public:
  Checker(const ModelProto& model, const OpRegistry& ops, bool strict) : model_(model), ops_(ops), functions_(model), strict_(strict) {}

  /// Every operator by domain and name, after run().
  std::vector<OperatorUse> uses() const {
    std::vector<OperatorUse> out;
    for (const auto& entry : uses_) out.push_back(entry.second);
    return out;
  }

  /// Domains whose import is missing, after run().
  std::vector<std::string> warnings() const {
    std::vector<std::string> out;
    for (const auto& [domain, node] : not_imported_)
      out.push_back(fmt::format("does not import {}, whose operators it uses (node '{}'): they are taken as those of opset {}, the newest known",
                                shown_domain(domain), printable(node, kMostNameShown), ops_.newest_opset(domain)));
    return out;
  }

  Status run() {
    if (model_.training_info_size()) problems_.add("training_info", "");
    SV_TRY(check(model_.graph().node(), nullptr));
    while (!called_.empty()) {
      const onnx_proto::FunctionProto* function = called_.back();
      called_.pop_back();
      SV_TRY(check(function->node(), function));
    }
    if (problems_.empty()) return {};
    return unimplemented("not supported: {}{}", problems_.text(), uses_machine_layout_ ? kMachineLayoutAdvice : "");
  }

 private:
  Status check(const NodeProtos& nodes, const onnx_proto::FunctionProto* within) {
    int index = 0;
    for (const NodeProto& node : nodes) {
      const std::string name = node_name(node, index++);
      if (node.op_type().empty()) return error("node '{}' names no operator", printable(name));
      SV_TRY(check_name("operator", node.op_type()));
      SV_TRY(check_name("domain", node.domain()));
      if (const auto* function = functions_.find(node)) {
        if (seen_.insert(function).second) called_.push_back(function);
        continue;
      }
      const OpDef* def = canonical_domain(node.domain()) == kInternalDomain ? nullptr : ops_.find(node.domain(), node.op_type());
      uses_machine_layout_ |= node.domain() == kMachineLayout;
      std::string problem = operator_problem(node, def, within);
      note_use(node, problem);
      if (def && imported_opset(model_, within, canonical_domain(node.domain())) == 0)
        not_imported_.emplace(canonical_domain(node.domain()), name);
      if (!problem.empty()) problems_.add(std::move(problem), name);
      for (const AttributeProto& attribute : node.attribute()) {
        if (const char* what = def ? attribute_problem(attribute, def) : nullptr)
          problems_.add(fmt::format("{} with {} as attribute '{}'", printable(node.op_type(), kMostNameShown), what,
                                    printable(attribute.name(), kMostNameShown)),
                        name);
        else if (attribute.has_g()) SV_TRY(check(attribute.g().node(), within));
      }
    }
    return {};
  }

  void note_use(const NodeProto& node, const std::string& problem) {
    const std::string domain = shown_domain(std::string(canonical_domain(node.domain()))), name = printable(node.op_type(), kMostNameShown);
    OperatorUse& use = uses_[{domain, name}];
    if (use.nodes == 0) use = {domain, name, 0, problem};
    ++use.nodes;
  }

  /// What the engine cannot do with the operator of this node; empty when there is nothing.
  std::string operator_problem(const NodeProto& node, const OpDef* def, const onnx_proto::FunctionProto* within) const {
    const std::string domain(canonical_domain(node.domain()));
    const std::string op = fmt::format("{} of {}", printable(node.op_type(), kMostNameShown), printable(shown_domain(domain), kMostNameShown));
    if (!def) return op;
    const int imported = imported_opset(model_, within, domain);
    if (imported == 0 && strict_) return op + ": the model does not import this domain";
    // A newer opset is taken as the newest known one: most operators stay as they are.
    const int opset = std::min(taken_opset(model_, within, domain, ops_), std::max(ops_.newest_opset(domain), 1));
    if (opset < def->since || opset > def->until)
      return fmt::format("{} in opset {} (known: {} to {})", op, imported, def->since, def->until);
    return {};
  }

  const ModelProto& model_;
  const OpRegistry& ops_;
  const Functions functions_;
  const bool strict_;
  Problems problems_;
  std::map<std::string, std::string, std::less<>> not_imported_;  // and the first node of each
  std::map<std::pair<std::string, std::string>, OperatorUse> uses_;
  bool uses_machine_layout_ = false;
  std::set<const onnx_proto::FunctionProto*> seen_;
  std::vector<const onnx_proto::FunctionProto*> called_;
};

Status check_opsets(const ModelProto& model) {
  std::map<std::string, int64_t> domains;
  for (const auto& import : model.opset_import()) {
    const std::string domain(canonical_domain(import.domain()));
    SV_TRY(check_name("domain", domain));
    if (import.version() < 1 || import.version() > INT32_MAX)
      return error("imports opset {} of {}, which does not exist", import.version(), shown_domain(domain));
    const auto [known, is_new] = domains.emplace(domain, import.version());
    if (!is_new && known->second != import.version())
      return error("imports two opsets of {}, {} and {}", shown_domain(domain), known->second, import.version());
  }
  if (domains.empty() && model.ir_version() >= kOldestIrWithOpsets) return error("imports no opset; ONNX models of IR version 3 and newer must");
  return {};
}

}  // namespace

Status check_versions(const ModelProto& model) {
  if (!model.has_ir_version() && !model.has_graph())
    return error("is not an ONNX model: it has neither an IR version nor a graph");
  if (model.ir_version() < 1) return error("has IR version {}, which does not exist", model.ir_version());
  SV_TRY(check_opsets(model));
  if (!model.has_graph()) return error("has no graph");
  return {};
}

std::vector<std::string> version_warnings(const ModelProto& model, const OpRegistry& ops) {
  std::vector<std::string> out;
  if (model.ir_version() > kNewestIr)
    out.push_back(fmt::format("has IR version {}, newer than {}, the newest known: what it adds is not read", model.ir_version(), kNewestIr));
  std::set<std::string> seen;
  for (const auto& import : model.opset_import()) {
    const std::string domain(canonical_domain(import.domain()));
    const int newest = ops.newest_opset(domain);
    if (newest == 0 || import.version() <= newest || !seen.insert(domain).second) continue;
    out.push_back(fmt::format("needs opset {} of {}, newer than {}, the newest known: its operators are taken as those of {}",
                              import.version(), shown_domain(domain), newest, newest));
  }
  return out;
}

int opset_of(const ModelProto& model, std::string_view domain) {
  for (const auto& import : model.opset_import())
    if (canonical_domain(import.domain()) == domain) return static_cast<int>(import.version());
  return domain.empty() && model.ir_version() < kOldestIrWithOpsets ? 1 : 0;
}

int imported_opset(const ModelProto& model, const onnx_proto::FunctionProto* function, std::string_view domain) {
  for (int i = 0; function && i < function->opset_import_size(); ++i)
    if (canonical_domain(function->opset_import(i).domain()) == domain)
      return static_cast<int>(std::clamp<int64_t>(function->opset_import(i).version(), 1, INT32_MAX));
  return opset_of(model, domain);
}

int taken_opset(const ModelProto& model, const onnx_proto::FunctionProto* function, std::string_view domain, const OpRegistry& ops) {
  const int imported = imported_opset(model, function, domain);
  return imported ? imported : std::max(ops.newest_opset(domain), 1);
}

Result<std::vector<std::string>> check_supported(const ModelProto& model, const OpRegistry& ops, bool strict) {
  Checker checker(model, ops, strict);
  SV_TRY(checker.run());
  return checker.warnings();
}

std::vector<OperatorUse> operators_of(const ModelProto& model, const OpRegistry& ops) {
  Checker checker(model, ops, false);
  (void)checker.run();  // a nameless operator ends the walk, which shows what there is before it
  return checker.uses();
}

std::string node_name(const onnx_proto::NodeProto& node, int index) {
  if (!node.name().empty()) return printable(node.name(), kMaxName);
  return fmt::format("{}_{}", node.op_type().empty() ? "node" : printable(node.op_type()), index);
}

}  // namespace svengine::onnx
