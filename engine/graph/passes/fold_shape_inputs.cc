// Inputs of which only the shape is read (OpTraits::shape_only_input) become attribute "shape" as soon as that shape is known. What
// a backward pass would keep alive for its shape alone (every activation, through the gradients of views and sums) dies when the
// forward pass is done with it.
#include "engine/graph/passes/pass.h"

namespace svengine {

Status fold_shape_inputs(Graph& graph, const PassContext&) {
  for (const auto& node : graph.nodes()) {
    if (node->op().traits.shape_only_input < 0) continue;
    const auto slot = static_cast<size_t>(node->op().traits.shape_only_input);
    const Value* like = node->input(slot);
    if (!like || !like->type.shape.is_static()) continue;
    node->attributes.set("shape", *like->type.shape.concrete());
    graph.set_input(node.get(), slot, nullptr);
    if (node->inputs().size() == slot + 1) graph.resize_inputs(node.get(), slot);
  }
  return {};
}

}  // namespace svengine
