// Nodes whose inputs are all constants become constants. Shape is special: it needs only the shape of its input.
//
// Folding runs the node's own kernels, so that it cannot disagree with running. It refuses to grow a small file into a large
// model: a result above the context's limit stays a node, unless its inputs were as large.
#include <algorithm>
#include <string_view>

#include "engine/graph/passes/pass.h"

namespace svengine {
namespace {

bool foldable(const Node& node, int64_t limit) {
  int64_t input_bytes = 0;
  for (const Value* v : node.inputs()) {
    if (!v) continue;
    if (!v->is_constant()) return false;
    input_bytes += static_cast<int64_t>(v->constant().byte_size());
  }
  int64_t output_bytes = 0;
  for (const Value* v : node.outputs()) {
    if (!v->type.shape.is_static()) return false;
    output_bytes += static_cast<int64_t>(stored_bytes(v->type));
  }
  return output_bytes <= std::max(limit, input_bytes);
}

/// Shape and Size of a value whose shape is known fold whatever the value is.
bool only_needs_shape(const Node& node) {
  const std::string_view op = node.op().name;
  return (op == "Shape" || op == "Size") && node.input(0)->type.shape.is_static();
}

Tensor shape_of(const Node& node) {
  const Dims dims = *node.input(0)->type.shape.concrete();
  if (node.op().name == std::string_view("Size")) return Tensor::scalar<int64_t>(element_count(dims));
  const auto rank = static_cast<int64_t>(dims.size());
  const auto bound = [&](int64_t v) { return std::clamp<int64_t>(v < 0 ? v + rank : v, 0, rank); };
  const int64_t start = bound(node.attributes.get_int("start", 0)), end = bound(node.attributes.get_int("end", rank));
  const Dims part(dims.begin() + start, dims.begin() + std::max(start, end));
  return Tensor::of<int64_t>({static_cast<int64_t>(part.size())}, std::span<const int64_t>(part));
}

}  // namespace

Status fold_constants(Graph& graph, const PassContext& context) {
  for (Node* node : graph.snapshot()) {
    // What was folded before this node may have made its output shape known.
    if (std::any_of(node->outputs().begin(), node->outputs().end(), [](Value* v) { return !v->type.shape.is_static(); }))
      SV_TRY(infer_types(*node));
    std::vector<Tensor> results;
    if (only_needs_shape(*node)) {
      results.push_back(shape_of(*node));
    } else if (!node->inputs().empty() && foldable(*node, context.fold_limit_bytes)) {
      SV_ASSIGN(results, context.evaluate(*node));
    } else {
      continue;
    }
    const std::vector<Value*> outputs = node->outputs();
    for (size_t i = 0; i < outputs.size(); ++i) graph.make_constant(outputs[i], std::move(results[i]));
    graph.erase(node);
  }
  return {};
}

}  // namespace svengine
