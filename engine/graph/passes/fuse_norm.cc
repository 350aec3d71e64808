// BatchNormalization that no convolution before it could take in (DenseNet normalises what was concatenated) becomes
// ChannelAffine, whose two vectors are known now, with the activation behind it:
//
//   BatchNormalization ─> Relu      =>      ChannelAffine(x, s, bias - mean s; relu)      s = scale / sqrt(var + epsilon)
//
// computed in double and rounded once.
#include "engine/graph/passes/epilogue.h"
#include "engine/graph/passes/match.h"
#include "engine/graph/passes/norm_affine.h"
#include "engine/graph/passes/pass.h"

namespace svengine {
namespace {

bool has_known_statistics(const Node& norm) {
  if (!is_op(&norm, "BatchNormalization") || norm.outputs().size() != 1 || norm.attributes.get_int("training_mode")) return false;
  for (size_t i = 1; i <= 4; ++i)
    if (!norm.input(i)->is_constant() || norm.input(i)->type.dtype != DType::f32) return false;
  return true;
}

Status replace(Graph& graph, Node& norm, const OpDef& affine) {
  const NormAffine known = norm_affine(norm);
  const auto channels = static_cast<int64_t>(known.scale.size());
  SV_ASSIGN(MutableTensor scale, Tensor::allocate(DType::f32, {channels}));
  SV_ASSIGN(MutableTensor shift, Tensor::allocate(DType::f32, {channels}));
  for (size_t i = 0; i < known.scale.size(); ++i) {
    scale.data<float>()[i] = static_cast<float>(known.scale[i]);
    shift.data<float>()[i] = static_cast<float>(known.shift[i]);
  }
  graph.resize_inputs(&norm, 3);
  graph.set_input(&norm, 1, graph.add_constant(norm.name() + ".scale", std::move(scale)));
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
