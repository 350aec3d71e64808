#include "engine/graph/passes/live_memory.h"

#include <algorithm>

namespace svengine {

int LiveMemory::storage_of(const Value* value) const {
  const auto it = storage_of_.find(value);
  return it == storage_of_.end() ? -1 : it->second;
}

int LiveMemory::overwritten_at(const Value* value) const {
  const auto it = overwritten_at_.find(value);
  return it == overwritten_at_.end() ? static_cast<int>(nodes_.size()) : it->second;
}

int LiveMemory::last_use(const Value* value) const {
  int last = -1;
  for (const Node* user : value->users()) last = std::max(last, at_.at(user));
  return last;
}

/// The planner's rules (PlanBuilder::alias_outputs, try_overwrite): a view always, an element-by-element node when nobody reads
/// anything of the storage afterwards. -1: the node's output needs storage of its own.
int LiveMemory::shared_with(const Node& node, int position) const {
  const Value *in = node.input(0), *out = node.output();
  const int storage = in ? storage_of(in) : -1;
  if (storage < 0 || node.op().traits.is_view) return storage;
  if (!node.op().traits.may_overwrite || results_.count(out)) return -1;
  if (in->type.block != out->type.block || stored_bytes(in->type) != stored_bytes(out->type)) return -1;
  size_t uses_here = 0;
  for (const Value* v : node.inputs()) {
    if (!v || storage_of(v) != storage) continue;
    if (!(v->type == in->type)) return -1;
    ++uses_here;
  }
  if (node.op().traits.reads_others_late && uses_here > 1) return -1;
  for (const Value* v : storages_[static_cast<size_t>(storage)].values)
    if (last_use_.at(v) > position) return -1;
  return storage;
}

void LiveMemory::add(Value* out, int node, int storage) {
  if (storage < 0) {
    storage = static_cast<int>(storages_.size());
    storages_.push_back({static_cast<int64_t>(stored_bytes(out->type)), node, node, {}});
  }
  Storage& s = storages_[static_cast<size_t>(storage)];
  s.last = std::max({s.last, node, last_use_.at(out)});
  s.values.push_back(out);
  storage_of_[out] = storage;
}

LiveMemory::LiveMemory(const Graph& graph)
    : nodes_(graph.snapshot()), results_(graph.outputs().begin(), graph.outputs().end()) {
  for (size_t i = 0; i < nodes_.size(); ++i) at_[nodes_[i]] = static_cast<int>(i);
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = *nodes_[i];
    const auto position = static_cast<int>(i);
    for (Value* out : node.outputs()) last_use_[out] = last_use(out);
    const int shared = shared_with(node, position);
    if (shared >= 0 && !node.op().traits.is_view)
      for (const Value* v : storages_[static_cast<size_t>(shared)].values) overwritten_at_.emplace(v, position);
    for (Value* out : node.outputs()) {
      // A view of what is not the plan's is not either, nor is what is written to where the caller wants it.
      const bool foreign = results_.count(out) || (node.op().traits.is_view && shared < 0);
      if (!foreign) add(out, position, out == node.output() ? shared : -1);
    }
  }
  std::vector<int64_t> change(nodes_.size() + 1, 0);
  for (const Storage& s : storages_) {
    change[static_cast<size_t>(s.first)] += s.bytes;
    change[static_cast<size_t>(s.last) + 1] -= s.bytes;
  }
  int64_t live = 0;
  for (size_t i = 0; i < nodes_.size(); ++i) live_.push_back(live += change[i]);
  peak_at_ = static_cast<int>(std::max_element(live_.begin(), live_.end()) - live_.begin());
}

}  // namespace svengine
