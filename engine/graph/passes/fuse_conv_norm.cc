// Conv followed by BatchNormalization at inference becomes one Conv:
//
//   s = scale / sqrt(var + epsilon)      W' = s W      B' = s (B - mean) + bias
//
// computed in double and rounded once, so that the result is at least as exact as running the two.
#include <cmath>

#include "engine/graph/builder.h"
#include "engine/graph/passes/match.h"
#include "engine/graph/passes/pass.h"

namespace svengine {
namespace {

bool all_constant(const Node& node, size_t first, size_t last) {
  for (size_t i = first; i <= last; ++i)
    if (node.input(i) && !node.input(i)->is_constant()) return false;
  return true;
}

Result<Tensor> scaled_weights(const Tensor& weights, const std::vector<double>& s) {
  SV_ASSIGN(Tensor out, Tensor::allocate(DType::f32, weights.dims()));
  const auto values = out.data<float>();
  const size_t per_channel = values.size() / s.size();
  for (size_t i = 0; i < values.size(); ++i) {
    float w;
    std::memcpy(&w, weights.raw() + i * sizeof w, sizeof w);
    values[i] = static_cast<float>(s[i / per_channel] * w);
  }
  return out;
}

Status fold(Graph& graph, Node& conv, Node& norm) {
  const auto scale = as_doubles(norm.input(1)->constant()), bias = as_doubles(norm.input(2)->constant());
  const auto mean = as_doubles(norm.input(3)->constant()), variance = as_doubles(norm.input(4)->constant());
  const double epsilon = norm.attributes.real("epsilon", 1e-5f);
  std::vector<double> s(scale.size());
  const std::vector<double> old_bias = conv.input(2) ? as_doubles(conv.input(2)->constant()) : std::vector<double>(s.size());
  SV_ASSIGN(Tensor new_bias, Tensor::allocate(DType::f32, {static_cast<int64_t>(s.size())}));
  for (size_t i = 0; i < s.size(); ++i) {
    s[i] = scale[i] / std::sqrt(variance[i] + epsilon);
    new_bias.data<float>()[i] = static_cast<float>(s[i] * (old_bias[i] - mean[i]) + bias[i]);
  }
  SV_ASSIGN(Tensor new_weights, scaled_weights(conv.input(1)->constant(), s));
  graph.set_input(&conv, 1, graph.add_constant(conv.input(1)->name() + ".normed", std::move(new_weights)));
  graph.set_input(&conv, 2, graph.add_constant(conv.name() + ".bias", std::move(new_bias)));
  graph.replace_uses(norm.output(), conv.output());
  graph.erase(&norm);
  return {};
}

}  // namespace

Status fuse_conv_norm(Graph& graph, const PassContext&) {
  for (Node* norm : graph.snapshot()) {
    if (!is_op(norm, "BatchNormalization") || norm->outputs().size() != 1 || !all_constant(*norm, 1, 4)) continue;
    if (norm->attributes.integer("training_mode")) continue;  // normalises by the batch's own statistics
    Node* conv = producer_if(norm->input(0), "Conv");
    if (!conv || !only_used_once(graph, conv->output()) || !all_constant(*conv, 1, 2)) continue;
    if (norm->input(1)->type.dtype != DType::f32 || conv->input(1)->constant().dims()[0] != norm->input(1)->constant().count()) continue;
    SV_TRY(fold(graph, *conv, *norm));
  }
  graph.erase_unused_constants();
  return {};
}

}  // namespace svengine
