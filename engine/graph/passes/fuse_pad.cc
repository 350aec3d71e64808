// Pad by zeros in front of Conv or AveragePool becomes their own padding, which an average counts then. PyTorch exports padded
// average pools so, TensorFlow strided convolutions.
#include <algorithm>
#include <optional>

#include "engine/graph/passes/match.h"
#include "engine/graph/passes/pass.h"

namespace svengine {
namespace {

/// How many zeros a Pad adds before and after every spatial dimension, in the order of the attribute `pads`; nothing if it does
/// anything else, or it is not known what.
std::optional<std::vector<int64_t>> zeros_around_image(const Node& pad) {
  const Value *widths = pad.input(1), *value = pad.input(2), *axes = pad.input(3);
  const int64_t rank = pad.input(0)->type.shape.rank();
  if (pad.attributes.get_string("mode", "constant") != "constant" || rank < 3) return std::nullopt;
  if (!widths || !widths->is_constant() || (value && !is_scalar(value, 0)) || (axes && !axes->is_constant())) return std::nullopt;
  const std::vector<int64_t> given = widths->constant().as_int64s();
  std::vector<int64_t> which = axes ? axes->constant().as_int64s() : std::vector<int64_t>();
  if (!axes)
    for (int64_t axis = 0; axis < rank; ++axis) which.push_back(axis);
  if (given.size() != 2 * which.size()) return std::nullopt;
  const int64_t spatial = rank - 2;
  std::vector<int64_t> pads(static_cast<size_t>(2 * spatial));
  for (size_t i = 0; i < which.size(); ++i) {
    const int64_t axis = which[i] < 0 ? which[i] + rank : which[i];
    const int64_t before = given[i], after = given[which.size() + i];
    if (axis < 0 || axis >= rank || before < 0 || after < 0 || (axis < 2 && before + after > 0)) return std::nullopt;
    if (axis < 2) continue;
    pads[static_cast<size_t>(axis - 2)] = before;
    pads[static_cast<size_t>(spatial + axis - 2)] = after;
  }
  return pads;
}

/// Whether a window that reads the padded value can pad by itself and mean the same.
bool can_pad(const Node& node, const Value* padded) {
  const bool conv = is_op(&node, "Conv") || is_op(&node, "FusedConv"), average = is_op(&node, "AveragePool");
  if ((!conv && !average) || node.input(0) != padded) return false;
  const std::string auto_pad = node.attributes.get_string("auto_pad", "NOTSET");
  if (auto_pad != "NOTSET" && auto_pad != "VALID") return false;  // SAME depends on the size, which changes
  if (conv) return true;
  const std::vector<int64_t> own = node.attributes.get_ints("pads");
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
      if (can_pad(*user, pad->output())) take_pads(graph, *user, *pad, *pads);
    if (pad->output()->users().empty() && !graph.is_output(pad->output())) graph.erase(pad);
  }
  return {};
}

}  // namespace svengine
