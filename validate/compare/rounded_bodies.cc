#include "validate/compare/rounded_bodies.h"

#include "engine/graph/bodies.h"
#include "engine/graph/builder.h"
#include "engine/ops/registry.h"
#include "validate/compare/lone_node.h"
#include "validate/compare/precision.h"

namespace svengine::validate {
namespace {

/// Puts a product behind `value`, with numbers that are off 1 by up to `relative`, made in front of `before`. Infinities stay.
void round_behind(Graph& graph, Value* value, double relative, float seed, Node* before) {
  const auto type = static_cast<int64_t>(value->type.dtype);
  const auto most = static_cast<float>(relative);
  Builder builder(graph, all_ops());
  builder.set_position(before);
  Value* shift = builder.add("RandomUniformLike", {value}, make_attributes({{"low", -most}, {"high", most}, {"seed", seed}, {"dtype", type}}));
  Value* one = builder.add("Cast", {builder.constant(Tensor::scalar(1.0F))}, make_attributes({{"to", type}}));
  Value* rounded = builder.add("Mul", {value, builder.add("Add", {shift, one})});
  if (!builder.status().ok()) return;
  graph.replace_uses(value, rounded);
  graph.set_input(shift->producer(), 0, value);
  graph.set_input(rounded->producer(), 0, value);
}

void round_nodes(Graph& body, uint64_t seed) {
  constexpr uint64_t kSeeds = 1 << 24;  // whole numbers that are float32, as the operator's seeds are
  const std::vector<Node*> nodes = body.snapshot();
  for (size_t n = 0; n < nodes.size(); ++n) {
    Node& node = *nodes[n];
    const uint64_t own = seed * nodes.size() + n;
    node.attributes = with_rounded_bodies(node, own);
    Node* before = n + 1 < nodes.size() ? nodes[n + 1] : nullptr;
    for (Value* v : node.outputs()) {
      const DType type = v->type.dtype;
      if (!is_disturbed(type)) continue;
      const double relative = precision_of({&node}, reduction_length(node), type, type).relative;
      round_behind(body, v, relative, static_cast<float>(own % kSeeds), before);
    }
  }
}

}  // namespace

Attributes with_rounded_bodies(const Node& node, uint64_t seed) {
  Attributes attributes = node.attributes;
  for (Body& body : bodies_of(node)) {
    round_nodes(body.graph, seed);
    attributes.set(body.name, Subgraph(std::make_shared<const Graph>(std::move(body.graph))));
  }
  return attributes;
}

}  // namespace svengine::validate
