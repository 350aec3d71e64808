// A Transpose to channels last that reads what was reordered from blocks is a reorder by itself, and so is one from channels last before
// a reorder to blocks: a pixel's channels lie together on both sides.
//
//   Conv ─> Reorder ─> Transpose to_last ─> LayerNormalization ─> Transpose to_first ─> Reorder ─> Conv
//   Conv ─────> Reorder channels_last ────> LayerNormalization ────> Reorder channels_last ──────> Conv
#include <algorithm>

#include "engine/graph/blocked_rank.h"
#include "engine/graph/builder.h"
#include "engine/graph/passes/match.h"
#include "engine/graph/passes/transposes.h"

namespace svengine {
namespace {

/// Is that a Transpose between [N, C, spatial..] and [N, spatial.., C]?
bool moves_channels(const Node& transpose, bool to_last) {
  const auto perm = permutation_of(transpose);
  if (!perm || !is_blocked_rank(std::ssize(*perm))) return false;
  Permutation wanted = every_axis(std::ssize(*perm));
  if (to_last) std::rotate(wanted.begin() + 1, wanted.begin() + 2, wanted.end());
  else std::rotate(wanted.begin() + 1, wanted.end() - 1, wanted.end());
  return *perm == wanted;
}

bool is_reorder(const Node* node, bool to_blocks) {
  return is_op(node, "Reorder") && (node->attributes.get_int("block") > 0) == to_blocks && !node->attributes.get_int("channels_last");
}

}  // namespace

Status reorder_transposes(Graph& graph, const PassContext&) {
  for (Node* node : graph.snapshot()) {
    Node* before = node->inputs().empty() || !node->input(0) ? nullptr : node->input(0)->producer();
    if (is_op(node, "Transpose") && is_reorder(before, false) && moves_channels(*node, true)) {
      graph.set_op(node, before->op());
      node->attributes = make_attributes({{"block", int64_t{0}}, {"channels_last", int64_t{1}}});
    } else if (is_reorder(node, true) && is_op(before, "Transpose") && moves_channels(*before, false)) {
      node->attributes.set("channels_last", int64_t{1});
    } else {
      continue;
    }
    graph.set_input(node, 0, before->input(0));
    if (!is_needed(graph, before->output())) graph.erase(before);
  }
  return {};
}

}  // namespace svengine
