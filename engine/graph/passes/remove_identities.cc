// Nodes that change nothing: Identity, Dropout at inference, Cast to the same type, Transpose that keeps the order, Pad by
// nothing (PyTorch writes one before every average pool), views that keep the shape, and a gradient's sum over no dimension.
// Operators say so themselves: OpTraits::is_identity.
#include "engine/graph/passes/match.h"
#include "engine/graph/passes/pass.h"

namespace svengine {
namespace {

bool changes_nothing(const Node& node) {
  const OpDef& op = node.op();
  const Value *in = node.input(0), *out = node.output();
  if (out->type.dtype == DType::undefined) return false;  // inference has refused it, or not looked at it yet
  if (op.traits.is_identity) return op.traits.is_identity(node);
  return op.traits.is_view && in->type.shape.is_static() && in->type == out->type;
}

/// Is any output but the first read, or a result of the graph?
bool gives_more(const Graph& graph, const Node& node) {
  for (size_t i = 1; i < node.outputs().size(); ++i)
    if (is_needed(graph, node.output(i))) return true;
  return false;
}

}  // namespace

Status remove_identities(Graph& graph, const PassContext&) {
  for (Node* node : graph.snapshot()) {
    if (node->inputs().empty() || !node->input(0) || !node->output() || !changes_nothing(*node)) continue;
    Value *in = node->input(0), *out = node->output();
    if (gives_more(graph, *node)) continue;
    if (graph.is_output(out) && (!in->producer() || graph.is_output(in))) continue;  // an output needs a source of its own
    graph.replace_uses(out, in);
    graph.erase(node);
  }
  return {};
}

}  // namespace svengine
