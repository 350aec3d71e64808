#include <algorithm>
#include <span>

#include "engine/graph/builder.h"
#include "engine/graph/passes/match.h"
#include "engine/ops/registry.h"
#include "importers/onnx/old_forms.h"
#include "validate/quantize/quantize.h"

namespace svengine::validate {
namespace {

constexpr size_t kScaleOfFused = 4;  // FusedConv's input; 2 is the bias, 3 (the residual) is absent here

/// What fuse_conv_norm leaves: a convolution whose weights are still to be multiplied, channel by channel. It becomes a Conv.
Status multiply_weights(Graph& graph, Node* conv, const OpDef& plain) {
  SV_ASSIGN(MutableTensor weights, conv->input(1)->constant().aligned_copy());
  const Tensor& scales = conv->input(kScaleOfFused)->constant();
  const std::span<float> all = weights.data<float>();
  const size_t each = all.size() / static_cast<size_t>(std::max<int64_t>(scales.count(), 1));
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<float>(static_cast<double>(all[i]) * scales.data<double>()[i / each]);
  Value* scaled = graph.add_constant(conv->input(1)->name() + ".scaled", std::move(weights));
  graph.set_input(conv, 1, scaled);
  graph.resize_inputs(conv, 3);
  graph.set_op(conv, plain);
  return {};
}

/// Softmax and its like as they were before opset 13: everything from the axis on is one line. Flatten says so in every opset.
Status write_out_lines(Graph& graph, Node* softmax) {
  Builder builder(graph, all_ops());
  builder.set_position(softmax);
  Value* x = softmax->input(0);
  const std::string name = softmax->name();
  Value* lines = builder.add("Flatten", {x}, make_attributes({{"axis", softmax->attributes.get_int("axis", -1)}}), name + ".lines");
  Value* soft = builder.add(softmax->op().name, {lines}, make_attributes({{"axis", int64_t{1}}}), name);
  Value* shape = builder.add("Shape", {x}, {}, name + ".shape");
  Value* y = builder.add("Reshape", {soft, shape}, {}, name + ".reshape");
  SV_TRY(builder.status());
  const std::string result = softmax->output()->name();
  graph.replace_uses(softmax->output(), y);
  graph.erase(softmax);
  if (y->name() != result) graph.rename(y, result);
  return {};
}

}  // namespace

Status prepare_for_quantization(Graph& graph, const SessionOptions& session) {
  // What the file says of its outputs, and inference cannot know, is lost where a pass infers again.
  std::vector<Type> declared;
  for (const Value* output : graph.outputs()) declared.push_back(output->type);
  constexpr Status (*kPasses[])(Graph&, const PassContext&) = {remove_identities, fold_constants,  fold_shape_inputs, fuse_conv_bias,
                                                               fuse_conv_norm,    remove_dead_nodes};
  SessionOptions with_kernels = session;
  SV_TRY(choose_kernels(with_kernels));
  PassContext context = pass_context(*with_kernels.kernels);
  context.fold_limit_bytes = int64_t{1} << 20;  // a file shall not grow for what is quickly computed
  for (Node* node : graph.snapshot())
    if (!*node->op().domain && node->attributes.get_int("coerced")) SV_TRY(write_out_lines(graph, node));
  SV_TRY(onnx::replace_old_forms(graph, all_ops()));  // the others, and those in bodies
  for (const auto pass : kPasses) SV_TRY(pass(graph, context));
  const OpDef* plain = all_ops().find("", "Conv");
  if (!plain) return error("the engine has no operator Conv");
  for (Node* node : graph.snapshot())
    if (is_op(node, "FusedConv")) SV_TRY(multiply_weights(graph, node, *plain));
  graph.erase_unused_constants();
  for (size_t i = 0; i < declared.size(); ++i)
    if (Type& type = graph.outputs()[i]->type; !type.shape.has_rank() && type.dtype == declared[i].dtype) type.shape = declared[i].shape;
  return {};
}

}  // namespace svengine::validate
