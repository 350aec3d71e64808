#include "importers/onnx/order.h"

#include <algorithm>
#include <queue>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "importers/io/names.h"
#include "importers/onnx/node_importer.h"
#include "importers/onnx/support_check.h"

namespace svengine::onnx {
namespace {

using onnx_proto::GraphProto;
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

/// What a body uses of the graphs around it. Bodies that are nested deeper than any that is imported are left alone.
void add_outer_uses(const GraphProto& body, int depth, std::vector<std::string_view>& uses);

void add_body_uses(const NodeProto& node, int depth, std::vector<std::string_view>& uses) {
  for (const auto& attribute : node.attribute())
    if (attribute.has_g()) add_outer_uses(attribute.g(), depth + 1, uses);
}

void add_outer_uses(const GraphProto& body, int depth, std::vector<std::string_view>& uses) {
  if (depth > kMostNested) return;
  std::unordered_set<std::string_view> own;
  for (const auto& info : body.input()) own.insert(info.name());
  for (const auto& tensor : body.initializer()) own.insert(tensor.name());
  for (const auto& tensor : body.sparse_initializer()) own.insert(tensor.values().name());
  for (const NodeProto& node : body.node()) own.insert(node.output().begin(), node.output().end());
  std::vector<std::string_view> all;
  for (const NodeProto& node : body.node()) {
    all.insert(all.end(), node.input().begin(), node.input().end());
    add_body_uses(node, depth, all);
  }
  for (const auto& info : body.output()) all.push_back(info.name());
  for (const std::string_view name : all)
    if (!own.count(name)) uses.push_back(name);
}

/// A node's use of a value of another.
struct Use {
  int source;
  std::string_view name;
  bool in_body;
};

class Sorter {
 public:
  Sorter(const NodeProtos& nodes, Sources sources) : nodes_(nodes), sources_(std::move(sources)), uses_(static_cast<size_t>(nodes.size())) {}

  /// Refuses what nothing gives.
  Status find_uses(const std::function<bool(const std::string&)>& is_around) {
    for (int i = 0; i < nodes_.size(); ++i) {
      for (const std::string& name : nodes_.Get(i).input()) {
        if (name.empty() || add_use(i, name, false) || (is_around && is_around(name))) continue;
        return error("{} uses '{}', which is no input, no initializer and no node's output", describe(nodes_, i), printable(name));
      }
      std::vector<std::string_view> in_bodies;
      add_body_uses(nodes_.Get(i), 0, in_bodies);
      for (const std::string_view name : in_bodies) add_use(i, name, true);  // what is not here is looked for when the body is made
    }
    return {};
  }

  Result<NodeOrder> sorted() const {
    NodeOrder order;
    const auto [node, use] = first_disorder();
    if (use) order.out_of_order = fmt::format("{}, which comes later", describe_use(node, *use));
    order.nodes = use ? by_uses() : as_they_are();
    if (order.nodes.size() < uses_.size()) return cycle(order.nodes);
    return order;
  }

 private:
  bool add_use(int node, std::string_view name, bool in_body) {
    const auto source = sources_.find(name);
    if (source == sources_.end()) return false;
    if (source->second != kGiven) uses_[static_cast<size_t>(node)].push_back({source->second, name, in_body});
    return true;
  }

  std::pair<int, const Use*> first_disorder() const {
    for (size_t i = 0; i < uses_.size(); ++i)
      for (const Use& use : uses_[i])
        if (use.source >= static_cast<int>(i)) return {static_cast<int>(i), &use};
    return {0, nullptr};
  }

  std::vector<int> as_they_are() const {
    std::vector<int> out(uses_.size());
    for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<int>(i);
    return out;
  }

  /// Of the nodes that can be computed next, always the first one of the file. Those that need each other are left out.
  std::vector<int> by_uses() const {
    std::vector<size_t> missing(uses_.size());
    std::vector<std::vector<int>> readers(uses_.size());
    for (size_t i = 0; i < uses_.size(); ++i) {
      missing[i] = uses_[i].size();
      for (const Use& use : uses_[i]) readers[static_cast<size_t>(use.source)].push_back(static_cast<int>(i));
    }
    std::priority_queue<int, std::vector<int>, std::greater<>> ready;
    for (size_t i = 0; i < missing.size(); ++i)
      if (missing[i] == 0) ready.push(static_cast<int>(i));
    std::vector<int> out;
    while (!ready.empty()) {
      out.push_back(ready.top());
      ready.pop();
      for (const int reader : readers[static_cast<size_t>(out.back())])
        if (--missing[static_cast<size_t>(reader)] == 0) ready.push(reader);
    }
    return out;
  }

  /// Some of the nodes need each other. Whoever goes from one that could not be placed to one that it needs, and so on, goes in a circle.
  Error cycle(const std::vector<int>& placed) const {
    std::vector<bool> is_placed(uses_.size()), seen(uses_.size());
    for (const int i : placed) is_placed[static_cast<size_t>(i)] = true;
    const auto needed = [&](size_t i) {
      return std::find_if(uses_[i].begin(), uses_[i].end(), [&](const Use& use) { return !is_placed[static_cast<size_t>(use.source)]; });
    };
    auto at = static_cast<size_t>(std::find(is_placed.begin(), is_placed.end(), false) - is_placed.begin());
    for (; !seen[at]; at = static_cast<size_t>(needed(at)->source)) seen[at] = true;
    size_t first = at;  // of the circle, in the file
    for (auto i = static_cast<size_t>(needed(at)->source); i != at; i = static_cast<size_t>(needed(i)->source)) first = std::min(first, i);
    const Use& use = *needed(first);
    const auto node = static_cast<int>(first);
    if (use.source == node) return error("{} uses its own output '{}': a cycle", describe(nodes_, node), use.name);
    return error("{}, which needs it in turn: a cycle", describe_use(node, use));
  }

  std::string describe_use(int node, const Use& use) const {
    return fmt::format("{}{} uses '{}' of {}", use.in_body ? "a body of " : "", describe(nodes_, node), use.name, describe(nodes_, use.source));
  }

  const NodeProtos& nodes_;
  const Sources sources_;
  std::vector<std::vector<Use>> uses_;
};

}  // namespace

Result<NodeOrder> order_of(const NodeProtos& nodes, const std::vector<std::string>& given,
                           const std::function<bool(const std::string&)>& is_around) {
  SV_ASSIGN(Sources sources, find_sources(nodes, given));
  Sorter sorter(nodes, std::move(sources));
  SV_TRY(sorter.find_uses(is_around));
  return sorter.sorted();
}

}  // namespace svengine::onnx
