// Dinic's algorithm: flow along shortest ways only, all of one length at a time.
#include "engine/graph/passes/min_cut.h"

#include <algorithm>

namespace svengine {

size_t MinCut::add_place() {
  arcs_of_.emplace_back();
  return arcs_of_.size() - 1;
}

void MinCut::add_arc(size_t tail, size_t head, int64_t capacity) {
  if (capacity <= 0) return;
  arcs_of_[tail].push_back(arcs_.size());
  arcs_.push_back({head, capacity});
  arcs_of_[head].push_back(arcs_.size());
  arcs_.push_back({tail, 0});
}

bool MinCut::find_levels() {
  level_.assign(arcs_of_.size(), -1);
  level_[kHere] = 0;
  std::vector<size_t> queue{kHere};
  for (size_t i = 0; i < queue.size(); ++i)
    for (size_t a : arcs_of_[queue[i]])
      if (arcs_[a].left > 0 && level_[arcs_[a].head] < 0) {
        level_[arcs_[a].head] = level_[queue[i]] + 1;
        queue.push_back(arcs_[a].head);
      }
  return level_[kThere] >= 0;
}

/// One way from kHere to kThere, without recursion, for ways are as long as networks are deep. 0: there is none left.
int64_t MinCut::push(size_t place, int64_t most) {
  std::vector<size_t> way;
  while (place != kThere) {
    size_t& next = next_[place];
    while (next < arcs_of_[place].size()) {
      const Arc& arc = arcs_[arcs_of_[place][next]];
      if (arc.left > 0 && level_[arc.head] == level_[place] + 1) break;
      ++next;
    }
    if (next < arcs_of_[place].size()) {
      way.push_back(arcs_of_[place][next]);
      place = arcs_[way.back()].head;
    } else {
      if (way.empty()) return 0;
      place = arcs_[way.back() ^ 1].head;
      way.pop_back();
      ++next_[place];
    }
  }
  for (size_t a : way) most = std::min(most, arcs_[a].left);
  for (size_t a : way) arcs_[a].left -= most, arcs_[a ^ 1].left += most;
  return most;
}

std::vector<bool> MinCut::solve() {
  while (find_levels()) {
    next_.assign(arcs_of_.size(), 0);
    while (push(kHere, kNever) > 0) {
    }
  }
  std::vector<bool> here;
  for (int level : level_) here.push_back(level >= 0);
  return here;
}

}  // namespace svengine
