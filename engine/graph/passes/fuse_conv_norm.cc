// Conv followed by BatchNormalization at inference becomes one FusedConv:
//
//   s = scale / sqrt(var + epsilon)      W' = s W      B' = s B + (bias - mean s)
//
// and likewise by a Mul by a constant with one number for each channel, or one for all, and by an Add behind that, as which TensorFlow's
// optimiser writes a norm.
//
// computed in double. W' is rounded once, where the weights are packed: until then s is an input of its own (see
// kConvWeightScale), because a scaled copy would stay in memory beside the packed one.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "engine/graph/builder.h"
#include "engine/graph/fused_conv.h"
#include "engine/graph/passes/match.h"
#include "engine/graph/passes/norm_affine.h"
#include "engine/graph/passes/pass.h"

namespace svengine {
namespace {

/// Weights times an infinite factor, or one so small that they vanish, would make NaN of sums that are not.
bool can_scale_weights(const NormAffine& affine) {
  return std::all_of(affine.scale.begin(), affine.scale.end(), [](double s) {
    return s == 0 || (std::isfinite(s) && std::abs(s) >= std::numeric_limits<float>::min());
  });
}

/// A convolution without an epilogue, perhaps with one norm folded in already.
Node* bare_conv(const Graph& graph, const Value* value) {
  Node* conv = value->producer();
  if (!is_op(conv, "Conv") && !is_op(conv, "FusedConv")) return nullptr;
  const bool bare = !conv->input(kConvResidual) && conv->attributes.get_string("activation").empty();
  return bare && only_used_once(graph, value) && conv->input(1)->is_constant() && (!conv->input(2) || conv->input(2)->is_constant()) ? conv : nullptr;
}

/// What is done to the channels of a convolution.
struct Scaling {
  Node* conv;
  NormAffine by;
};

std::optional<Scaling> batch_norm(const Graph& graph, const Node& node) {
  std::optional<NormAffine> norm = known_norm(node);
  if (!norm) return {};
  Node* conv = bare_conv(graph, node.input(0));
  if (!conv) return {};
  return Scaling{conv, std::move(*norm)};
}

/// An Add to a convolution that nothing scales is left to fuse_conv_bias, which needs no FusedConv.
std::optional<Scaling> constant_operand(const Graph& graph, const Node& node) {
  const bool scales = is_op(&node, "Mul");
  if ((!scales && !is_op(&node, "Add")) || node.inputs().size() != 2) return {};
  const size_t side = node.input(1)->is_constant() ? 0 : 1;
  const Value* constant = node.input(1 - side);
  if (!constant->is_constant() || node.input(side)->is_constant() || constant->constant().count() == 0) return {};
  Node* conv = bare_conv(graph, node.input(side));
  if (!conv || (!scales && !is_op(conv, "FusedConv"))) return {};
  const Dims& weights = conv->input(1)->constant().dims();
  if (!is_per_channel(constant->constant(), weights[0], static_cast<int64_t>(weights.size()))) return {};
  std::vector<double> numbers = as_doubles(constant->constant());
  numbers.resize(static_cast<size_t>(weights[0]), numbers.front());
  std::vector<double> others(numbers.size(), scales ? 0.0 : 1.0);
  return Scaling{conv, scales ? NormAffine{std::move(numbers), std::move(others)} : NormAffine{std::move(others), std::move(numbers)}};
}

Status fold(Graph& graph, Node& conv, Node& norm, const NormAffine& affine, const OpDef& fused) {
  const auto& [scale, shift] = affine;
  const auto channels = static_cast<int64_t>(scale.size());
  const std::vector<double> old_bias =
      conv.input(2) ? as_doubles(conv.input(2)->constant()) : std::vector<double>(scale.size());
  const Value* before = conv.input(kConvWeightScale);
  SV_ASSIGN(MutableTensor new_bias, Tensor::allocate(DType::f32, {channels}));
  SV_ASSIGN(MutableTensor weight_scale, Tensor::allocate(DType::f64, {channels}));
  for (size_t i = 0; i < scale.size(); ++i) {
    weight_scale.data<double>()[i] = before ? scale[i] * before->constant().data<double>()[i] : scale[i];
    new_bias.data<float>()[i] = static_cast<float>(scale[i] * old_bias[i] + shift[i]);
  }
  graph.set_op(&conv, fused);
  graph.resize_inputs(&conv, kConvWeightScale + 1);
  graph.set_input(&conv, 2, graph.add_constant(conv.name() + ".bias", std::move(new_bias)));
  graph.set_input(&conv, kConvWeightScale, graph.add_constant(conv.name() + ".weight_scale", std::move(weight_scale)));
  graph.replace_absorbed(norm.output(), conv.output());
  graph.erase(&norm);
  return {};
}

}  // namespace

Status fuse_conv_norm(Graph& graph, const PassContext& context) {
  const OpDef* fused = context.ops.find(kInternalDomain, "FusedConv");
  if (!fused) return {};
  for (Node* node : graph.snapshot()) {
    std::optional<Scaling> scaling = batch_norm(graph, *node);
    if (!scaling) scaling = constant_operand(graph, *node);
    if (!scaling || !can_scale_weights(scaling->by)) continue;
    const Tensor& weights = scaling->conv->input(1)->constant();
    if (weights.type() != DType::f32 || weights.dims()[0] != static_cast<int64_t>(scaling->by.scale.size())) continue;
    SV_TRY(fold(graph, *scaling->conv, *node, scaling->by, *fused));
  }
  graph.erase_unused_constants();
  return {};
}

}  // namespace svengine
