#include "importers/onnx/order.h"

#include <string_view>

#include "importers/io/names.h"
#include "importers/onnx/support_check.h"

namespace svengine::onnx {
namespace {

using onnx_proto::NodeProto;

constexpr int kGiven = -1;

/// Value name -> index of the node that computes it, or kGiven.
using Sources = std::unordered_map<std::string_view, int>;

std::string describe(const NodeProtos& nodes, int index) {
  const NodeProto& node = nodes.Get(index);
  return fmt::format("node '{}' ({})", printable(node_name(node, index)), printable(node.op_type()));
}

Result<Sources> find_sources(const NodeProtos& nodes, const std::vector<std::string>& given) {
  Sources sources;
  for (const std::string& name : given) sources.emplace(name, kGiven);
  for (int i = 0; i < nodes.size(); ++i) {
    for (const std::string& name : nodes.Get(i).output()) {
      if (name.empty()) continue;
      SV_TRY(check_name("value", name));
      const auto [at, is_new] = sources.emplace(name, i);
      if (is_new) continue;
      if (at->second == kGiven)
        return error("{} computes '{}', which is already an input or initializer", describe(nodes, i), name);
      return error("{} computes '{}', which {} computes already", describe(nodes, i), name, describe(nodes, at->second));
    }
  }
  return sources;
}

/// Is a value of node `target` used, directly or not, to compute those of node `from`? A depth-first search with its own stack.
bool depends_on(const NodeProtos& nodes, const Sources& sources, int from, int target) {
  std::vector<bool> seen(static_cast<size_t>(nodes.size()));
  std::vector<int> stack{from};
  while (!stack.empty()) {
    const int node = stack.back();
    stack.pop_back();
    if (node == target) return true;
    if (seen[static_cast<size_t>(node)]) continue;
    seen[static_cast<size_t>(node)] = true;
    for (const std::string& name : nodes.Get(node).input()) {
      const auto source = sources.find(name);
      if (source != sources.end() && source->second != kGiven) stack.push_back(source->second);
    }
  }
  return false;
}

}  // namespace

Status check_order(const NodeProtos& nodes, const std::vector<std::string>& given,
                   const std::function<bool(const std::string&)>& is_around) {
  SV_ASSIGN(const Sources sources, find_sources(nodes, given));
  for (int i = 0; i < nodes.size(); ++i) {
    for (const std::string& name : nodes.Get(i).input()) {
      if (name.empty()) continue;
      const auto source = sources.find(name);
      if (source == sources.end() && is_around && is_around(name)) continue;
      if (source == sources.end())
        return error("{} uses '{}', which is no input, no initializer and no node's output", describe(nodes, i), printable(name));
      const int from = source->second;
      if (from < i) continue;
      if (from == i) return error("{} uses its own output '{}': a cycle", describe(nodes, i), name);
      if (depends_on(nodes, sources, from, i))
        return error("{} uses '{}' of {}, which needs it in turn: a cycle", describe(nodes, i), name, describe(nodes, from));
      return error("{} uses '{}' of {}, which comes later; ONNX wants nodes in the order of computation", describe(nodes, i), name,
                   describe(nodes, from));
    }
  }
  return {};
}

}  // namespace svengine::onnx
