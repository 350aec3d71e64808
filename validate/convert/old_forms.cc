#include "validate/convert/old_forms.h"

#include "engine/graph/bodies.h"
#include "engine/graph/passes/match.h"

namespace svengine::validate {
namespace {

/// Every dimension behind the axis is 1: the axis alone is what the node works over.
bool is_one_axis(const Shape& shape, int64_t axis) {
  if (!shape.has_rank() || axis >= static_cast<int64_t>(shape.rank())) return false;
  for (size_t d = static_cast<size_t>(axis) + 1; d < shape.dims().size(); ++d)
    if (!shape[d].is_static() || shape[d].value() != 1) return false;
  return true;
}

Node* add(Graph& graph, const OpRegistry& ops, const char* op, const Node& like, std::vector<Value*> inputs, Attributes attributes, Node* before) {
  return graph.add_node(*ops.find("", op), like.name() + "." + op, std::move(inputs), 1, std::move(attributes), before);
}

Status replace_coerced(Graph& graph, const OpRegistry& ops, Node& node) {
  Value* x = node.input(0);
  int64_t axis = node.attributes.get_int("axis", -1);
  if (axis < 0 && x->type.shape.has_rank()) axis += static_cast<int64_t>(x->type.shape.rank());
  node.attributes.set("coerced", int64_t{0});
  if (is_one_axis(x->type.shape, axis)) return {};
  Attributes flat;
  flat.set("axis", axis);
  Node* shape = add(graph, ops, "Shape", node, {x}, {}, &node);
  Node* flatten = add(graph, ops, "Flatten", node, {x}, std::move(flat), &node);
  Attributes last = node.attributes;
  last.set("axis", int64_t{1});
  Node* over = graph.add_node(node.op(), node.name() + ".matrix", {flatten->output()}, 1, std::move(last), &node);
  Node* back = add(graph, ops, "Reshape", node, {over->output(), shape->output()}, {}, &node);
  for (Node* made : {shape, flatten, over, back}) SV_TRY(infer_types(*made));
  graph.replace_uses(node.output(), back->output());
  graph.erase(&node);
  return {};
}

}  // namespace

Status replace_old_forms(Graph& graph, const OpRegistry& ops) {
  for (Node* node : graph.snapshot()) {
    std::vector<Body> bodies = bodies_of(*node);
    for (Body& body : bodies) {
      Status status = replace_old_forms(body.graph, ops);
      if (!status.ok()) return std::move(status).error().in(fmt::format("{}, {}", describe(*node), body.name));
    }
    set_bodies(*node, std::move(bodies));
    if (node->attributes.get_int("coerced") != 0) SV_TRY(replace_coerced(graph, ops, *node));
    else if (node->attributes.has("mask_type") && !is_needed(graph, node->output(1))) {
      node->attributes.erase("mask_type");
      SV_TRY(infer_types(*node));
    }
  }
  return {};
}

}  // namespace svengine::validate
