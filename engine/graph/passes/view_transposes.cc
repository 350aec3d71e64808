// A Transpose by which only dimensions of 1 change places moves no element: it becomes a Reshape, which is another shape of the same memory.
//
//   x: [1, 1, 1, 512] ─> Transpose 0,3,1,2     becomes     x ─> Reshape [1, 512, 1, 1]
#include "engine/graph/passes/match.h"
#include "engine/graph/passes/transposes.h"

namespace svengine {

Status view_transposes(Graph& graph, const PassContext& context) {
  const OpDef* reshape = context.ops.find("", "Reshape");
  for (const auto& node : graph.nodes()) {
    const auto shape = is_op(node.get(), "Transpose") ? node->output()->type.shape.concrete() : std::nullopt;
    const auto perm = shape ? permutation_of(*node) : std::nullopt;
    if (!perm || element_count(*shape) == 0 || transposed_elements(node->input(0)->type.shape, *perm) > 0) continue;
    graph.set_op(node.get(), *reshape);
    node->attributes.erase("perm");
    graph.resize_inputs(node.get(), 2);
    graph.set_input(node.get(), 1, graph.add_constant(node->name() + ".shape", integer_list(*shape)));
  }
  return {};
}

}  // namespace svengine
