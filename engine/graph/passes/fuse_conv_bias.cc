// Conv followed by Add of a constant with one number for each channel, or one for all: the constant becomes Conv's bias. Some
// exporters write every bias so ([1, C, 1, 1], mostly reshaped from [C]). As an Add it is a pass over memory and, because its
// operands' shapes differ, the end of a region of blocked layout. TensorFlow's optimiser writes the last bias of a residual block behind
// the sum: constant + (conv + x) becomes (conv + constant) + x.
#include <vector>

#include "engine/graph/passes/match.h"
#include "engine/graph/passes/pass.h"

namespace svengine {
namespace {

/// A convolution whose sums nothing has been done to, with weights of known shape, and a bias that is constant where there is
/// one.
Node* bare_convolution(const Graph& graph, const Value* value) {
  Node* conv = value->producer();
  if (!is_op(conv, "Conv") || !only_used_once(graph, value) || !conv->input(1)->type.shape.is_static()) return nullptr;
  const Value* bias = conv->input(2);
  return conv->input(1)->type.dtype == DType::f32 && (!bias || bias->is_constant()) ? conv : nullptr;
}

/// The convolution that may add a constant which is added to `value`: its producer, or a term of the sum that it is.
Node* conv_before_bias(const Graph& graph, const Value* value) {
  if (Node* conv = bare_convolution(graph, value)) return conv;
  const Node* sum = value->producer();
  if (!is_op(sum, "Add") || !only_used_once(graph, value)) return nullptr;
  for (const Value* term : sum->inputs())
    if (Node* conv = bare_convolution(graph, term); conv && same_shape(term->type.shape, value->type.shape)) return conv;
  return nullptr;
}

}  // namespace

Status fuse_conv_bias(Graph& graph, const PassContext&) {
  bool changed = false;
  for (Node* add : graph.snapshot()) {
    if (!is_op(add, "Add") || add->inputs().size() != 2) continue;
    const size_t side = add->input(1)->is_constant() ? 0 : 1;
    const Value* constant = add->input(1 - side);
    if (!constant->is_constant() || add->input(side)->is_constant()) continue;
    Node* conv = conv_before_bias(graph, add->input(side));
    if (!conv) continue;
    const Shape& weights = conv->input(1)->type.shape;
    const int64_t channels = weights[0].value();
    if (!is_per_channel(constant->constant(), channels, weights.rank())) continue;
    SV_ASSIGN(MutableTensor bias, Tensor::allocate(DType::f32, {channels}));
    const std::vector<double> more = as_doubles(constant->constant());
    const std::vector<double> before = conv->input(2) ? as_doubles(conv->input(2)->constant()) : std::vector<double>(more.size());
    for (size_t i = 0; i < bias.data<float>().size(); ++i)
      bias.data<float>()[i] = static_cast<float>(before[before.size() == 1 ? 0 : i] + more[more.size() == 1 ? 0 : i]);
    graph.resize_inputs(conv, 3);
    graph.set_input(conv, 2, graph.add_constant(conv->name() + ".bias", std::move(bias)));
    graph.replace_absorbed(add->output(), add->input(side));
    graph.erase(add);
    changed = true;
  }
  if (changed) graph.erase_unused_constants();
  return {};
}

}  // namespace svengine
