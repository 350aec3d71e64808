// Pad by zeros in front of Conv or AveragePool becomes their own padding, which an average counts then. PyTorch exports padded
// average pools so, TensorFlow strided convolutions.
#include <algorithm>
#include <optional>

#include "engine/graph/pads.h"
#include "engine/graph/passes/match.h"
#include "engine/graph/passes/pass.h"

namespace svengine {
namespace {

/// How many zeros a Pad adds before and after every spatial dimension, in the order of the attribute `pads`; nothing if it does
/// anything else, or it is not known what.
std::optional<std::vector<int64_t>> zeros_around_image(const Node& pad) {
  const Value* value = pad.input(2);
  if (pad.attributes.get_string("mode", "constant") != "constant" || (value && !is_scalar(value, 0))) return std::nullopt;
  const std::optional<Pads> pads = known_pads(pad);
  constexpr size_t kImage = 2;  // behind batch and channels
  if (!pads || pads->before.size() <= kImage) return std::nullopt;
  std::vector<int64_t> around;
  for (const auto& side : {pads->before, pads->after}) {
    if (side[0] != 0 || side[1] != 0 || *std::min_element(side.begin(), side.end()) < 0) return std::nullopt;
    around.insert(around.end(), side.begin() + kImage, side.end());
  }
  return around;
}

/// Whether a window that reads the padded value can pad by itself and mean the same. `pads` is what there is to add to its own.
bool can_pad(const Node& node, const Value* padded, const std::vector<int64_t>& pads) {
  const bool conv = is_op(&node, "Conv") || is_op(&node, "FusedConv"), average = is_op(&node, "AveragePool");
  if ((!conv && !average) || node.input(0) != padded) return false;
  const std::string auto_pad = node.attributes.get_string("auto_pad", "NOTSET");
  if (auto_pad != "NOTSET" && auto_pad != "VALID") return false;  // SAME depends on the size, which changes
  const std::vector<int64_t> own = node.attributes.get_ints("pads");
  if (!own.empty() && own.size() != pads.size()) return false;  // refused where weights of unknown rank let it pass
  if (conv) return true;
  const bool counts = node.attributes.get_int("count_include_pad") != 0 || auto_pad == "VALID" ||
                      std::all_of(own.begin(), own.end(), [](int64_t p) { return p == 0; });
  return counts && node.attributes.get_int("ceil_mode") == 0;
}

void take_pads(Graph& graph, Node& node, const Node& pad, const std::vector<int64_t>& pads) {
  std::vector<int64_t> sum = node.attributes.get_ints("pads");
  if (node.attributes.get_string("auto_pad", "NOTSET") == "VALID") sum.clear();
  sum.resize(pads.size());
  for (size_t i = 0; i < pads.size(); ++i) sum[i] += pads[i];
  node.attributes.erase("auto_pad");
  node.attributes.set("pads", std::move(sum));
  if (is_op(&node, "AveragePool")) node.attributes.set("count_include_pad", int64_t{1});
  graph.set_input(&node, 0, pad.input(0));
}

}  // namespace

Status fuse_pad(Graph& graph, const PassContext&) {
  for (Node* pad : graph.snapshot()) {
    if (!is_op(pad, "Pad")) continue;
    const auto pads = zeros_around_image(*pad);
    if (!pads) continue;
    const std::vector<Node*> users = pad->output()->users();
    for (Node* user : users)
      if (can_pad(*user, pad->output(), *pads)) take_pads(graph, *user, *pad, *pads);
    if (!is_needed(graph, pad->output())) graph.erase(pad);
  }
  return {};
}

}  // namespace svengine
