#include <span>

#include "engine/graph/passes/match.h"
#include "engine/ops/registry.h"
#include "validate/quantize/quantize.h"

namespace svengine::validate {
namespace {

constexpr size_t kScaleOfFused = 4;  // FusedConv's input; 2 is the bias, 3 (the residual) is absent here

/// What fuse_conv_norm leaves: a convolution whose weights are still to be multiplied, channel by channel. It becomes a Conv.
Status multiply_weights(Graph& graph, Node* conv, const OpDef& plain) {
  SV_ASSIGN(MutableTensor weights, conv->input(1)->constant().aligned_copy());
  const Tensor& scales = conv->input(kScaleOfFused)->constant();
  const std::span<float> all = weights.data<float>();
  const size_t each = all.size() / static_cast<size_t>(scales.count());
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<float>(static_cast<double>(all[i]) * scales.data<double>()[i / each]);
  Value* scaled = graph.add_constant(conv->input(1)->name() + ".scaled", std::move(weights));
  graph.set_input(conv, 1, scaled);
  graph.resize_inputs(conv, 3);
  graph.set_op(conv, plain);
  return {};
}

}  // namespace

Status prepare_for_quantization(Graph& graph, const SessionOptions& session) {
  constexpr Status (*kPasses[])(Graph&, const PassContext&) = {remove_identities, fold_constants,  fold_shape_inputs, fuse_conv_bias,
                                                               fuse_conv_norm,    remove_dead_nodes};
  SessionOptions with_kernels = session;
  SV_TRY(choose_kernels(with_kernels));
  PassContext context = pass_context(*with_kernels.kernels);
  context.fold_limit_bytes = int64_t{1} << 20;  // a file shall not grow for what is quickly computed
  for (const auto pass : kPasses) SV_TRY(pass(graph, context));
  const OpDef* plain = all_ops().find("", "Conv");
  if (!plain) return error("the engine has no operator Conv");
  for (Node* node : graph.snapshot())
    if (is_op(node, "FusedConv")) SV_TRY(multiply_weights(graph, node, *plain));
  graph.erase_unused_constants();
  return {};
}

}  // namespace svengine::validate
