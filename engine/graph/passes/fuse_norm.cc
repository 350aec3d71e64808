// BatchNormalization that no convolution before it could take in (DenseNet normalises what was concatenated) becomes
// ChannelAffine, whose two vectors are known now, with the activation behind it:
//
//   BatchNormalization ─> Relu      =>      ChannelAffine(x, s, bias - mean s; relu)      s = scale / sqrt(var + epsilon)
//
// computed in double and rounded once.
#include <cmath>

#include "engine/graph/passes/epilogue.h"
#include "engine/graph/passes/match.h"
#include "engine/graph/passes/pass.h"

namespace svengine {
namespace {

bool has_known_statistics(const Node& norm) {
  if (!is_op(&norm, "BatchNormalization") || norm.outputs().size() != 1 || norm.attributes.integer("training_mode")) return false;
  for (size_t i = 1; i <= 4; ++i)
    if (!norm.input(i)->is_constant() || norm.input(i)->type.dtype != DType::f32) return false;
  return true;
}

Status replace(Graph& graph, Node& norm, const OpDef& affine) {
  const auto scale = as_doubles(norm.input(1)->constant()), bias = as_doubles(norm.input(2)->constant());
  const auto mean = as_doubles(norm.input(3)->constant()), variance = as_doubles(norm.input(4)->constant());
  const double epsilon = norm.attributes.real("epsilon", 1e-5f);
  const auto channels = static_cast<int64_t>(scale.size());
  SV_ASSIGN(Tensor factor, Tensor::allocate(DType::f32, {channels}));
  SV_ASSIGN(Tensor shift, Tensor::allocate(DType::f32, {channels}));
  for (size_t i = 0; i < scale.size(); ++i) {
    const double s = scale[i] / std::sqrt(variance[i] + epsilon);
    factor.data<float>()[i] = static_cast<float>(s);
    shift.data<float>()[i] = static_cast<float>(bias[i] - mean[i] * s);
  }
  graph.resize_inputs(&norm, 3);
  graph.set_input(&norm, 1, graph.add_constant(norm.name() + ".scale", std::move(factor)));
  graph.set_input(&norm, 2, graph.add_constant(norm.name() + ".shift", std::move(shift)));
  norm.attributes = {};
  graph.set_op(&norm, affine);
  return {};
}

}  // namespace

Status fuse_norm(Graph& graph, const PassContext& context) {
  const OpDef* affine = context.ops.find(kInternalDomain, "ChannelAffine");
  if (!affine) return {};
  std::vector<Node*> norms;  // apart, because absorbing erases nodes that a snapshot would still name
  for (const auto& node : graph.nodes())
    if (has_known_statistics(*node)) norms.push_back(node.get());
  for (Node* norm : norms) {
    SV_TRY(replace(graph, *norm, *affine));
    absorb_activation(graph, *norm, *affine);
  }
  graph.erase_unused_constants();
  return {};
}

}  // namespace svengine
