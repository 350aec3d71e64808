#include "validate/check/context.h"

#include <algorithm>
#include <utility>

#include "importers/io/names.h"
#include "importers/onnx/support_check.h"

namespace svengine::validate {
namespace {

using onnx_proto::AttributeProto;
using onnx_proto::NodeProto;

constexpr size_t kMostNameShown = 60;

std::string node_text(const NodeProto& node, int index) {
  return fmt::format("node '{}' ({})", printable(onnx::node_name(node, index), kMostNameShown), printable(node.op_type(), kMostNameShown));
}

void join(std::string& out, std::string_view more) {
  if (more.empty()) return;
  if (!out.empty()) out += ": ";
  out += more;
}

}  // namespace

Context::Context(const onnx::OnnxFile& model_file, const CheckOptions& check_options, const OpRegistry& registry)
    : file(model_file), options(check_options), ops(registry), functions(model_file.model()) {
  add_bodies({.nodes = &model().graph().node(), .graph = &model().graph()});
  for (const auto& function : model().functions()) add_bodies({.nodes = &function.node(), .function = &function});
  for (const auto& import : model().opset_import()) imports_[nullptr].emplace(canonical_domain(import.domain()), import.version());
  for (const auto& function : model().functions())
    for (const auto& import : function.opset_import())
      imports_[&function].emplace(canonical_domain(import.domain()), import.version());
  if (model().opset_import_size() == 0) imports_[nullptr].emplace("", 1);
}

/// The body and what is in it, depth first, with a stack of its own.
void Context::add_bodies(Body first) {
  const size_t begin = bodies.size();
  bodies.push_back(std::move(first));
  for (size_t i = begin; i < bodies.size(); ++i) {
    for (int n = 0; n < bodies[i].nodes->size(); ++n) {
      for (const AttributeProto& a : bodies[i].nodes->Get(n).attribute()) {
        const auto add_one = [&](const onnx_proto::GraphProto& graph) {
          bodies[i].children.push_back(static_cast<int>(bodies.size()));
          bodies.push_back({.nodes = &graph.node(),
                            .graph = &graph,
                            .function = bodies[i].function,
                            .parent = static_cast<int>(i),
                            .owner = n,
                            .attribute = a.name()});
        };
        if (a.has_g()) add_one(a.g());
        for (const auto& graph : a.graphs()) add_one(graph);
      }
    }
  }
}

std::string Context::where(const Body& body, std::string_view inner) const {
  std::string out;
  if (body.parent >= 0) {
    out = where(bodies[static_cast<size_t>(body.parent)], body.owner);
    join(out, printable(body.attribute, kMostNameShown));
  } else if (body.function) {
    const std::string domain = body.function->domain().empty() ? std::string() : body.function->domain() + ".";
    out = fmt::format("function '{}'", printable(domain + body.function->name(), kMostNameShown));
  }
  join(out, inner);
  return out;
}

std::string Context::where(const Body& body, int node) const { return where(body, node_text(body.nodes->Get(node), node)); }

int64_t Context::opset_of(const Body& body, const std::string& domain) const {
  const auto imports = imports_.find(body.function);
  if (imports == imports_.end()) return 0;
  const auto found = imports->second.find(std::string(canonical_domain(domain)));
  return found == imports->second.end() ? 0 : found->second;
}

const Schema* Context::schema_of(const Body& body, const NodeProto& node) const {
  if (functions.find(node)) return nullptr;
  const Schema* schema = schemas.find(node.domain(), node.op_type(), opset_of(body, node.domain()));
  return schema && !schema->deprecated ? schema : nullptr;
}

void Context::add(RuleName rule, const Body& body, int node, std::string message) {
  const NodeProto& proto = body.nodes->Get(node);
  if (rule.rule().level == Level::error) refused.insert(&proto);
  found.add(rule, where(body, node), std::move(message), {printable(onnx::node_name(proto, node), kMostNameShown)});
}

void for_each_tensor(const Context& context, const std::function<void(const std::string& where, const onnx_proto::TensorProto&)>& visit,
                     const std::function<void(const std::string& where, const onnx_proto::SparseTensorProto&)>& visit_sparse) {
  for (const Body& body : context.bodies) {
    const auto named = [&](const char* what, const std::string& name) {
      return context.where(body, fmt::format("{} '{}'", what, printable(name, kMostNameShown)));
    };
    if (body.graph) {
      for (const auto& t : body.graph->initializer()) visit(named("initializer", t.name()), t);
      for (const auto& t : body.graph->sparse_initializer()) visit_sparse(named("sparse initializer", t.values().name()), t);
    }
    for (int n = 0; n < body.nodes->size(); ++n) {
      for (const AttributeProto& a : body.nodes->Get(n).attribute()) {
        if (!a.has_t() && !a.has_sparse_tensor() && a.tensors_size() == 0 && a.sparse_tensors_size() == 0) continue;
        const std::string place = fmt::format("{}: attribute '{}'", context.where(body, n), printable(a.name(), kMostNameShown));
        if (a.has_t()) visit(place, a.t());
        for (const auto& t : a.tensors()) visit(place, t);
        if (a.has_sparse_tensor()) visit_sparse(place, a.sparse_tensor());
        for (const auto& t : a.sparse_tensors()) visit_sparse(place, t);
      }
    }
  }
}

}  // namespace svengine::validate
