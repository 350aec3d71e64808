#include "importers/onnx/old_forms.h"

#include <algorithm>

#include "engine/graph/bodies.h"
#include "engine/graph/passes/match.h"
#include "engine/ops/tensor/resize_common.h"

namespace svengine::onnx {
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
  Node* back = add(graph, ops, "Reshape", node, {over->output(), shape->output()}, make_attributes({{"allowzero", int64_t{1}}}), &node);
  for (Node* made : {shape, flatten, over, back}) SV_TRY(infer_types(*made));
  graph.replace_uses(node.output(), back->output());
  graph.erase(&node);
  return {};
}

/// The nearest element as before opset 11, by the left or lower one where an axis grows and by the right one where it shrinks, is one of two
/// modes since; where axes do both, two nodes. Scales that are computed may be either.
Status replace_early_nearest(Graph& graph, Node& node) {
  const Value* scales = node.input(2);
  if (!scales || !scales->is_constant() || scales->constant().type() != DType::f32) return {};
  const std::span<const float> given = scales->constant().data<float>();
  const bool grows = std::any_of(given.begin(), given.end(), [](float s) { return s > 1; });
  const bool shrinks = std::any_of(given.begin(), given.end(), [](float s) { return s < 1; });
  node.attributes.set("nearest_mode", std::string(shrinks ? "ceil" : "floor"));
  if (!grows || !shrinks || node.attributes.get_string("mode", "nearest") != "nearest") return {};
  const auto part = [&](bool growing) {
    std::vector<float> factors(given.begin(), given.end());
    for (float& s : factors) s = growing ? std::max(s, 1.0f) : std::min(s, 1.0f);
    return graph.add_constant(scales->name() + (growing ? ".larger" : ".smaller"),
                              Tensor::of<float>({static_cast<int64_t>(factors.size())}, std::span<const float>(factors)));
  };
  Attributes attributes = node.attributes;
  attributes.set("nearest_mode", std::string("floor"));
  Node* first = graph.add_node(node.op(), node.name() + ".larger", {node.input(0), nullptr, part(true)}, 1, std::move(attributes), &node);
  SV_TRY(infer_types(*first));
  graph.set_input(&node, 0, first->output());
  graph.set_input(&node, 2, part(false));
  return infer_types(node);
}

Status make_condition_scalar(Graph& graph, const OpRegistry& ops, Node& loop) {
  Value* none = graph.add_constant(loop.name() + ".scalar", Tensor::of<int64_t>({0}, {}));
  Node* scalar = add(graph, ops, "Reshape", loop, {loop.input(1), none}, {}, &loop);
  SV_TRY(infer_types(*scalar));
  graph.set_input(&loop, 1, scalar->output());
  return infer_types(loop);
}

bool has_vector_condition(const Node& node) {
  return node.op().name == std::string_view("Loop") && node.input(1) && node.input(1)->type.shape.has_rank() && node.input(1)->type.shape.rank() == 1;
}

}  // namespace

Status replace_old_forms(Graph& graph, const OpRegistry& registry) {
  for (Node* node : graph.snapshot()) {
    std::vector<Body> bodies = bodies_of(*node);
    for (Body& body : bodies) {
      Status status = replace_old_forms(body.graph, registry);
      if (!status.ok()) return std::move(status).error().in(fmt::format("{}, {}", describe(*node), body.name));
    }
    set_bodies(*node, std::move(bodies));
    if (*node->op().domain) continue;  // attributes of other domains' operators are their own
    if (node->attributes.get_int("coerced") != 0) SV_TRY(replace_coerced(graph, registry, *node));
    else if (node->attributes.get_string("nearest_mode") == ops::kBeforeOpset11) SV_TRY(replace_early_nearest(graph, *node));
    else if (has_vector_condition(*node)) SV_TRY(make_condition_scalar(graph, registry, *node));
    else if (node->attributes.has("mask_type") && !is_needed(graph, node->output(1))) {
      node->attributes.erase("mask_type");
      SV_TRY(infer_types(*node));
    }
  }
  return {};
}

}  // namespace svengine::onnx
