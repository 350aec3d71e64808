// What a residual block's result gets as its gradient is a sum, of what the next block's convolution and its shortcut give back.
// The gradient of BatchNormRelu, which ends the block, takes it as two inputs and adds as it reads:
//
//   Add(a, b) ─> BatchNormGrad(dy, .., Y)      =>      BatchNormGrad(a, .., Y, b)
#include "engine/graph/passes/match.h"
#include "engine/graph/passes/pass.h"

namespace svengine {
namespace {

constexpr size_t kY = 6, kMore = 7;  // BatchNormGrad's inputs

Node* sum_before(const Graph& graph, const Node& grad) {
  if (!grad.input(kY) || grad.input(kMore)) return nullptr;
  Node* add = producer_if(grad.input(0), "Add");
  if (!add || !only_used_once(graph, add->output())) return nullptr;
  const Shape& shape = grad.input(kY)->type.shape;
  const bool alike = same_shape(add->input(0)->type.shape, shape) && same_shape(add->input(1)->type.shape, shape);
  return alike && add->input(0) != add->input(1) ? add : nullptr;
}

}  // namespace

Status fuse_norm_grad(Graph& graph, const PassContext&) {
  std::vector<Node*> grads;  // apart, because sums are erased that a snapshot would still name
  for (const auto& node : graph.nodes())
    if (is_op(node.get(), "BatchNormGrad")) grads.push_back(node.get());
  for (Node* grad : grads) {
    Node* add = sum_before(graph, *grad);
    if (!add) continue;
    graph.resize_inputs(grad, kMore + 1);
    graph.set_input(grad, 0, add->input(0));
    graph.set_input(grad, kMore, add->input(1));
    graph.erase(add);
  }
  return {};
}

}  // namespace svengine
