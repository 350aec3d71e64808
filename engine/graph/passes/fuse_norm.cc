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

Status fuse_norm(Graph& graph, const PassContext& context) {
  const OpDef* affine = context.ops.find(kInternalDomain, "ChannelAffine");
  if (!affine) return {};
  std::vector<std::pair<Node*, NormAffine>> norms;  // apart, because absorbing erases nodes that a snapshot would still name
  for (const auto& node : graph.nodes())
    if (std::optional<NormAffine> known = known_norm(*node)) norms.emplace_back(node.get(), std::move(*known));
  for (const auto& [norm, numbers] : norms) {
    SV_TRY(make_channel_affine(graph, *norm, numbers, *affine));
    absorb_activation(graph, *norm, *affine);
  }
  graph.erase_unused_constants();
  return {};
}

}  // namespace svengine
