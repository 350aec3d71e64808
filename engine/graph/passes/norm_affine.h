// What a BatchNormalization with known statistics does to a channel, for the passes that give it to something else.
#pragma once
#include <optional>
#include <vector>

#include "engine/graph/graph.h"

namespace svengine {

/// norm(x) = scale x + shift, one number of each for every channel.
struct NormAffine {
  std::vector<double> scale;  // the norm's scale / sqrt(variance + epsilon)
  std::vector<double> shift;  // its bias - mean scale
};

/// Of a BatchNormalization at inference whose inputs 1 to 4 are float32 constants, in double; nothing of other nodes. All have equally many
/// numbers, which inference alone does not say where it does not know the image's rank.
std::optional<NormAffine> known_norm(const Node& node);

/// The node becomes `op`, ChannelAffine, of its first input: rounded once.
Status make_channel_affine(Graph& graph, Node& node, const NormAffine& affine, const OpDef& op);

}  // namespace svengine
