// Checkpoints on the way through a network: between two places where the forward pass holds one large value only (the result of a
// residual block, of a layer of a transformer) lies a segment. Nothing inside a segment is kept for the backward pass; in front of
// the first use there, the whole segment is computed again from the value at its beginning.
//
//   x ─[ Conv Norm Relu .. ]─> a ─[ .. ]─> b ─[ .. ]─> c ─> loss ..   [ .. ]' from b, gradients, [ .. ]' from a, gradients, ..
//   kept                      kept        kept
//
// What small values a segment makes (means and variances) stay. How many places in a row become one segment is tried: long
// segments keep less and hold more at a time, and the lowest peak wins, near the square root of the network's length.
#include <algorithm>
#include <optional>
#include <set>

#include "engine/graph/passes/recompute.h"
#include "engine/graph/passes/repeat.h"

namespace svengine {
namespace {

constexpr int64_t kNegligible = 512;                            // values that many times smaller than the peak do not count
constexpr size_t kLengths[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};  // places in a row that are tried

/// A graph's forward part, up to the node where most is live, and where it can be cut.
class Forward {
 public:
  explicit Forward(const LiveMemory& memory) : memory_(memory), end_(memory.peak_at()), small_(memory.peak() / kNegligible) {
    std::vector<int> change(static_cast<size_t>(end_) + 2, 0);
    std::vector<int64_t> numbers(change.size(), 0);
    for (const LiveMemory::Storage& s : memory.storages()) {
      const int last = last_forward_use(s);
      if (s.bytes <= small_ || s.first >= end_ || last <= s.first) continue;
      const int64_t number = &s - memory.storages().data();
      ++change[static_cast<size_t>(s.first)], numbers[static_cast<size_t>(s.first)] += number;
      --change[static_cast<size_t>(last)], numbers[static_cast<size_t>(last)] -= number;
    }
    // The sum of the numbers of those that cross is, where one does, its number.
    int count = 0;
    int64_t number = 0;
    std::vector<Place> row;
    for (int i = 0; i < end_; ++i) {
      count += change[static_cast<size_t>(i)];
      number += numbers[static_cast<size_t>(i)];
      if (count != 1) {
        choose(row);
        row.clear();
      } else if (!row.empty() && row.back().storage == number) {
        row.back().node = i;
      } else {
        row.push_back({i, number});
      }
    }
    choose(row);
  }

  /// Nodes behind which one large value crosses, and no smaller one crosses behind neighbouring nodes.
  const std::vector<int>& cuts() const { return cuts_; }
  int end() const { return end_; }
  bool is_small(const LiveMemory::Storage& s) const { return s.bytes <= small_; }

 private:
  struct Place {
    int node;
    int64_t storage;
  };

  /// Of places in a row: where the value is no larger than those before, and none that follows is smaller.
  void choose(const std::vector<Place>& row) {
    const auto bytes = [&](size_t i) { return memory_.storages()[static_cast<size_t>(row[i].storage)].bytes; };
    for (size_t i = 0; i < row.size(); ++i) {
      size_t next = i;
      while (next < row.size() && bytes(next) == bytes(i)) ++next;
      const bool smaller_follows = next < row.size() && bytes(next) < bytes(i);
      if (!smaller_follows && (i == 0 || bytes(i) <= bytes(i - 1))) cuts_.push_back(row[i].node);
    }
  }

  int last_forward_use(const LiveMemory::Storage& s) const {
    int last = s.first;
    for (const Value* v : s.values)
      for (const Node* user : v->users())
        if (const int at = memory_.at(user); at <= end_) last = std::max(last, at);
    return last;
  }

  const LiveMemory& memory_;
  const int end_;
  const int64_t small_;
  std::vector<int> cuts_;
};

/// Nodes first + 1 to last, again in front of their first late use.
class Segment {
 public:
  Segment(const Graph& graph, const LiveMemory& memory, const Forward& forward, int first, int last)
      : graph_(graph), memory_(memory), forward_(forward), first_(first), last_(last) {
    for (int i = first + 1; i <= last; ++i)
      for (Value* v : memory.nodes()[static_cast<size_t>(i)]->outputs()) look_at(v);
    for (Value* v : late_)
      if (need(v)) wanted_.push_back(v);
    copied_.clear();  // attempts in vain have left something
    for (Value* v : wanted_) need(v);
  }

  void apply(Graph& graph) const {
    if (wanted_.empty()) return;
    std::vector<Node*> originals;
    for (const int i : copied_) originals.push_back(memory_.nodes()[static_cast<size_t>(i)]);
    const auto copy_of = copy_nodes(graph, originals, before_);
    std::vector<RedirectedUse> done;
    for (Value* v : wanted_) redirect_uses(graph, memory_, v, copy_of.at(v), memory_.at(before_), done);
  }

 private:
  /// Values of the segment with late uses; what crosses its end is the next segment's beginning and stays.
  void look_at(Value* v) {
    const int storage = memory_.storage_of(v);
    if (storage < 0) return;
    const LiveMemory::Storage& s = memory_.storages()[static_cast<size_t>(storage)];
    if (forward_.is_small(s) || s.first <= first_) return;
    Node* late = nullptr;
    for (Node* user : v->users()) {
      const int at = memory_.at(user);
      if (at > last_ && at <= forward_.end()) return;
      if (at > forward_.end() && (!late || at < memory_.at(late))) late = user;
    }
    if (!late) return;
    late_.push_back(v);
    if (!before_ || memory_.at(late) < memory_.at(before_)) before_ = late;
  }

  bool need(Value* value) {
    if (!value || value->is_constant()) return true;
    Node* node = value->producer();
    if (!node) return !is_written_over(graph_, memory_, value, memory_.at(before_));
    const int at = memory_.at(node), storage = memory_.storage_of(value);
    if (copied_.count(at) && value == node->output()) return true;
    if (storage < 0) return graph_.is_output(value) || repeat(value, *node);
    const LiveMemory::Storage& s = memory_.storages()[static_cast<size_t>(storage)];
    const bool stays = forward_.is_small(s) || s.first <= first_;
    return (stays && memory_.overwritten_at(value) > last_) || repeat(value, *node);
  }

  bool repeat(Value* value, Node& node) {
    if (memory_.at(&node) <= first_ || value != node.output() || !can_repeat(node)) return false;
    for (Value* in : inputs_of_copy(node))
      if (!need(in)) return false;
    copied_.insert(memory_.at(&node));
    return true;
  }

  const Graph& graph_;
  const LiveMemory& memory_;
  const Forward& forward_;
  const int first_, last_;
  Node* before_ = nullptr;
  std::vector<Value*> late_, wanted_;
  std::set<int> copied_;
};

/// Every `length`-th cut is kept.
void split(Graph& graph, size_t length) {
  const LiveMemory memory(graph);
  const Forward forward(memory);
  const std::vector<int>& cuts = forward.cuts();
  int first = -1;
  std::vector<Segment> segments;
  for (size_t i = length - 1; i < cuts.size(); i += length) {
    segments.emplace_back(graph, memory, forward, first, cuts[i]);
    first = cuts[i];
  }
  for (const Segment& s : segments) s.apply(graph);
}

}  // namespace

void recompute_segments(Graph& graph) {
  int64_t lowest = LiveMemory(graph).peak();
  size_t best = 0;
  for (const size_t length : kLengths) {
    Graph tried = graph.clone();
    split(tried, length);
    const int64_t peak = LiveMemory(tried).peak();
    if (peak < lowest) lowest = peak, best = length;
  }
  if (best) split(graph, best);
}

}  // namespace svengine
