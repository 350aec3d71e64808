// How much memory the values of a graph take while its nodes run one after the other: what the planner (engine/plan) will find,
// but for the temporaries of single nodes.
#pragma once
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/graph/op_def.h"

namespace svengine {

/// Immutable: of the graph as it was. All shapes are concrete.
class LiveMemory {
 public:
  explicit LiveMemory(const Graph& graph);

  /// Storage that values share, views and what is computed in place with what they come from.
  struct Storage {
    int64_t bytes = 0;
    int first = 0, last = 0;  // nodes, inclusive
    std::vector<Value*> values;
  };

  const std::vector<Node*>& nodes() const { return nodes_; }
  int at(const Node* node) const { return at_.at(node); }
  const std::vector<Storage>& storages() const { return storages_; }
  /// Where the value lies; -1 for inputs, constants and results of the graph, which are not the plan's.
  int storage_of(const Value* value) const;
  /// The node that writes another value over this one; past the last node when there is none.
  int overwritten_at(const Value* value) const;
  /// Live bytes while a node runs.
  const std::vector<int64_t>& live() const { return live_; }
  /// The first node at which most is live, and how much that is.
  int peak_at() const { return peak_at_; }
  int64_t peak() const { return live_.empty() ? 0 : live_[static_cast<size_t>(peak_at_)]; }

 private:
  void add(Value* out, int node, int storage);
  int shared_with(const Node& node, int position) const;
  int last_use(const Value* value) const;

  std::vector<Node*> nodes_;
  std::unordered_set<const Value*> results_;
  std::unordered_map<const Node*, int> at_;
  std::unordered_map<const Value*, int> storage_of_, overwritten_at_, last_use_;
  std::vector<Storage> storages_;
  std::vector<int64_t> live_;
  int peak_at_ = 0;
};

}  // namespace svengine
