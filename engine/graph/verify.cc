#include "engine/graph/verify.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/graph/blocked_rank.h"
#include "engine/graph/op_def.h"

namespace svengine {
namespace {

using Defined = std::unordered_set<const Value*>;

Status verify_value(const Value& v) {
  if (v.is_constant() && v.producer()) return error("value '{}' is both a constant and a node's output", v.name());
  if (v.type.block && !is_blocked_rank(v.type.shape.rank())) return error("value '{}' is blocked but {}", v.name(), to_string(v.type));
  if (v.is_constant() && !(v.type.shape == Shape::of(v.constant().dims())))
    return error("constant '{}' has type {} but shape {}", v.name(), to_string(v.type), to_string(v.constant().dims()));
  return {};
}

Status verify_node(const Node& node, Defined& defined) {
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    const Value* v = node.input(i);
    if (!v) continue;
    if (!v->is_constant() && !defined.count(v)) return error("reads '{}' before it is made", v->name());
    if (v->type.block && !node.op().blocked.reads_blocked(i)) return error("input {} '{}' is blocked, and the operator reads it plain", i, v->name());
  }
  for (const Value* v : node.outputs()) {
    if (v->producer() != &node) return error("output '{}' has another producer", v->name());
    if (!defined.insert(v).second) return error("output '{}' is made twice", v->name());
  }
  return {};
}

/// Infers again on the stored node and compares; types are put back as they were.
Status verify_types(Node& node) {
  std::vector<Type> stored;
  for (const Value* v : node.outputs()) stored.push_back(v->type);
  Status status = infer_types(node);
  for (size_t i = 0; i < stored.size(); ++i) {
    Type& inferred = node.output(i)->type;
    const bool same = inferred.dtype == stored[i].dtype &&
                      (!inferred.shape.is_static() || !stored[i].shape.is_static() || inferred.shape == stored[i].shape);
    if (status.ok() && !same)
      status = error("output {} has type {}, inference says {}", i, to_string(stored[i]), to_string(inferred));
    inferred = std::move(stored[i]);
  }
  return status;
}

/// Every value knows who reads it, once for each of a node's inputs that it is.
Status verify_users(const Graph& graph) {
  std::unordered_map<const Value*, std::vector<const Node*>> readers;
  for (const auto& node : graph.nodes())
    for (const Value* v : node->inputs())
      if (v) readers[v].push_back(node.get());
  Status status;
  graph.for_each_value([&](Value& v) {
    std::vector<const Node*> known(v.users().begin(), v.users().end()), found = std::move(readers[&v]);
    std::ranges::sort(known);
    std::ranges::sort(found);
    if (known != found) status = error("value '{}' does not know its users", v.name());
  });
  return status;
}

}  // namespace

Status verify(const Graph& graph) {
  Status status;
  std::unordered_set<std::string_view> names;
  graph.for_each_value([&](Value& v) {
    if (status.ok()) status = verify_value(v);
    if (status.ok() && !names.insert(v.name()).second) status = error("two values are called '{}'", v.name());
  });
  SV_TRY(std::move(status));
  SV_TRY(verify_users(graph));
  Defined defined(graph.inputs().begin(), graph.inputs().end());
  for (const auto& node : graph.nodes()) {
    Status checked = verify_node(*node, defined);
    if (checked.ok()) checked = verify_types(*node);
    if (!checked.ok()) return std::move(checked).error().in(describe(*node));
  }
  for (const Value* v : graph.outputs())
    if (!v->is_constant() && !defined.count(v)) return error("graph output '{}' is never made", v->name());
  return {};
}

}  // namespace svengine
