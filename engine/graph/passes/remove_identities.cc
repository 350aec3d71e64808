// Nodes that change nothing: Identity, Dropout at inference, Cast to the same type, Transpose that keeps the order, Pad by
// nothing (PyTorch writes one before every average pool), views that keep the shape, and a gradient's sum over no dimension.
#include <algorithm>
#include <string_view>

#include "engine/graph/passes/pass.h"

namespace svengine {
namespace {

bool keeps_order(const Node& node) {
  const std::vector<int64_t> perm = node.attributes.get_ints("perm");
  if (perm.empty()) return node.input(0)->type.shape.rank() >= 0 && node.input(0)->type.shape.rank() <= 1;
  for (size_t i = 0; i < perm.size(); ++i)
    if (perm[i] != static_cast<int64_t>(i)) return false;
  return true;
}

/// Dropout whose training_mode is absent or known to be false.
bool is_inference(const Node& dropout) {
  const Value* training = dropout.input(2);
  return !training || (training->is_constant() && *training->constant().raw() == std::byte{0});
}

bool pads_nothing(const Node& pad) {
  const Value* pads = pad.input(1);
  if (!pads || !pads->is_constant()) return false;
  const std::vector<int64_t> widths = pads->constant().as_int64s();
  return std::all_of(widths.begin(), widths.end(), [](int64_t width) { return width == 0; });
}

bool changes_nothing(const Node& node) {
  const std::string_view op = node.op().name;
  const Value *in = node.input(0), *out = node.output();
  if (op == "Identity") return true;
  if (op == "Dropout") return is_inference(node) && (!node.output(1) || node.output(1)->users().empty());
  if (op == "Cast") return in->type.dtype == out->type.dtype;
  if (op == "Transpose") return keeps_order(node);
  if (op == "Pad") return pads_nothing(node);
  if (op == "SumTo" || op == "ExpandLike") return in->type.shape.is_static() && in->type == out->type;
  return node.op().is_view && in->type.shape.is_static() && in->type == out->type;
}

}  // namespace

Status remove_identities(Graph& graph, const PassContext&) {
  for (Node* node : graph.snapshot()) {
    if (!node->op().domain || node->inputs().empty() || !node->input(0) || !changes_nothing(*node)) continue;
    Value *in = node->input(0), *out = node->output();
    if (node->output(1) && graph.is_output(node->output(1))) continue;
    if (graph.is_output(out) && (!in->producer() || graph.is_output(in))) continue;  // an output needs a source of its own
    graph.replace_uses(out, in);
    graph.erase(node);
  }
  return {};
}

}  // namespace svengine
