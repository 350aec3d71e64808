// Gradient (ai.onnx.preview.training): the gradients of value y with respect to the values xs, all named by attributes. It is
// expanded when the file is read: the nodes that compute them are added, and their results are what the outputs give. A y of
// several elements is differentiated as their sum.
#include <algorithm>

#include "engine/graph/autodiff.h"
#include "engine/graph/gradient.h"
#include "engine/graph/op_registry.h"
#include "engine/ops/training/optimizer_common.h"

namespace svengine::ops {
namespace {

Value* find_value(const Graph& graph, const std::string& name) {
  Value* found = nullptr;
  graph.for_each_value([&](Value& v) {
    if (v.name() == name) found = &v;
  });
  return found;
}

/// The operator could be given other tensors for xs and zs than those of these names, and would then evaluate the network anew.
Status check_names(const Node& node, const std::vector<std::string>& names) {
  if (node.inputs().size() != names.size())
    return error("{} inputs for {} names in xs and zs", node.inputs().size(), names.size());
  for (size_t i = 0; i < names.size(); ++i)
    if (!node.input(i) || node.input(i)->name() != names[i])
      return unimplemented(
          "input {} is not the value '{}' that the gradient is taken with respect to; evaluating elsewhere is not supported", i,
          names[i]);
  return {};
}

Status expand(CanonicalizeContext& c) {
  Graph& graph = c.graph();
  Node& node = c.node();
  using Names = std::vector<std::string>;
  const Names* given = c.attributes().get<Names>("xs");
  if (!given || given->empty()) return error("attribute 'xs' is missing");
  const Names xs = *given;
  Names all = xs;
  if (const Names* zs = c.attributes().get<Names>("zs")) all.insert(all.end(), zs->begin(), zs->end());
  SV_TRY(check_names(node, all));
  if (node.outputs().size() != xs.size()) return error("{} outputs for {} names in xs", node.outputs().size(), xs.size());
  Value* y = find_value(graph, c.attributes().get_string("y"));
  if (!y) return error("there is no value '{}' before this node to differentiate", c.attributes().get_string("y"));
  Builder builder(graph, c.ops());
  builder.set_position(&node);
  const GradientSeed seed{y, filled_like(builder, y, 1)};
  SV_TRY(builder.status());
  const std::vector<Value*> wanted(node.inputs().begin(), node.inputs().begin() + static_cast<int64_t>(xs.size()));
  SV_ASSIGN(const std::vector<Value*> gradients, add_gradients(graph, c.ops(), {&seed, 1}, wanted, Unreached::zeros, &node));
  graph.resize_inputs(&node, gradients.size());
  for (size_t i = 0; i < gradients.size(); ++i) c.set_input(i, gradients[i]);
  for (const char* name : {"xs", "zs", "y"}) c.attributes().erase(name);
  graph.set_op(&node, *c.ops().find(kInternalDomain, "Values"));
  return {};
}

}  // namespace

OpDef define_gradient() {
  return {
      .name = "Gradient",
      .domain = kTrainingDomain,
      .since = 1,
      .until = 1,
      .inputs = "Inputs...",
      .outputs = {1, kVariadic},
      .attributes = {{"xs", AttributeKind::kStrings, true}, {"zs", AttributeKind::kStrings}, {"y", AttributeKind::kString, true}},
      .canonicalize = expand,
      .infer = [](InferContext&) -> Status { return error("was not expanded when the graph was made"); },
  };
}

}  // namespace svengine::ops
