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

}  // namespace

Status fuse_norm(Graph& graph, const PassContext& context) {
  const OpDef* affine = context.ops.find(kInternalDomain, "ChannelAffine");
  if (!affine) return {};
  std::vector<Node*> norms;  // apart, because absorbing erases nodes that a snapshot would still name
  for (const auto& node : graph.nodes())
    if (has_known_statistics(*node)) norms.push_back(node.get());
  for (Node* norm : norms) {
    SV_TRY(make_channel_affine(graph, *norm, norm_affine(*norm), *affine));
    absorb_activation(graph, *norm, *affine);
  }
  graph.erase_unused_constants();
  return {};
}

}  // namespace svengine
