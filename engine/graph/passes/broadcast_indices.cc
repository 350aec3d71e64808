// ScatterElements and GatherElements with one vector of indices, broadcast over all other dimensions, move whole slices: they become
// ScatterND and Gather, and the broadcast indices, eight bytes an element, are not made. PyTorch's scatter(0, index.expand(...), x)
// and gather(axis, index.expand(...)) are exported so; detectors merge the regions of all levels by it.
//
//   i [n,1,1,1] ─> Expand [n,c,h,w] ─> ScatterElements axis 0     =>     Reshape [n,1] ─> ScatterND
//   i [1,n,1]   ─> Expand [a,n,b]   ─> GatherElements axis 1      =>     Reshape [n]   ─> Gather axis 1
#include <algorithm>

#include "engine/graph/axes.h"
#include "engine/graph/builder.h"
#include "engine/graph/passes/match.h"
#include "engine/graph/passes/pass.h"

namespace svengine {
namespace {

/// What was broadcast to make the node's indices, when it holds a vector along the axis and they cover the other dimensions of the data;
/// else null.
Value* broadcast_vector(const Node& node, int64_t axis) {
  const Node* expand = producer_if(node.input(1), "Expand");
  if (!expand || !expand->input(0)) return nullptr;
  const Shape &data = node.input(0)->type.shape, &indices = node.input(1)->type.shape, &from = expand->input(0)->type.shape;
  if (!data.is_static() || !indices.is_static() || !from.is_static() || data.rank() != indices.rank()) return nullptr;
  const auto before = static_cast<size_t>(indices.rank() - from.rank());
  for (size_t d = 0; d < indices.dims().size(); ++d) {
    const bool along = d == static_cast<size_t>(axis);
    const int64_t held = d < before ? 1 : from[d - before].value();
    if (held != (along ? indices[d].value() : 1) || (!along && !(data[d] == indices[d]))) return nullptr;
  }
  return expand->input(0);
}

Value* moved_slices(Builder& builder, const Node& node, Value* vector, int64_t axis) {
  const int64_t count = node.input(1)->type.shape[static_cast<size_t>(axis)].value();
  if (is_op(&node, "GatherElements"))
    return builder.add("Gather", {node.input(0), builder.add("Reshape", {vector, builder.integers({count})})},
                       make_attributes({{"axis", axis}}));
  Value* rows = builder.add("Reshape", {vector, builder.integers({count, 1})});
  return builder.add("ScatterND", {node.input(0), rows, node.input(2)},
                     make_attributes({{"reduction", node.attributes.get_string("reduction", "none")}}));
}

}  // namespace

Status broadcast_indices(Graph& graph, const PassContext& context) {
  for (Node* node : graph.snapshot()) {
    const bool scatters = is_op(node, "ScatterElements");
    if ((!scatters && !is_op(node, "GatherElements")) || !node->input(0)->type.shape.has_rank()) continue;
    SV_ASSIGN(const int64_t axis, normalise_axis(node->attributes.get_int("axis"), node->input(0)->type.shape.rank()));
    if (scatters && (axis != 0 || node->input(1)->type.dtype != DType::i64)) continue;  // as ScatterND's indices are
    Value* vector = broadcast_vector(*node, axis);
    if (!vector || node->input(1)->type.shape.dims()[static_cast<size_t>(axis)].value() == 0) continue;
    Builder builder(graph, context.ops);
    builder.set_position(node);
    builder.set_node_name(node->name());
    Value* moved = moved_slices(builder, *node, vector, axis);
    SV_TRY(builder.status());
    Node* expand = producer_if(node->input(1), "Expand");
    graph.replace_uses(node->output(), moved);
    graph.erase(node);
    if (!is_needed(graph, expand->output())) graph.erase(expand);
  }
  return {};
}

}  // namespace svengine
