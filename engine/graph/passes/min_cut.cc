// Dinic's algorithm: augmenting paths are shortest ones, all of one length at a time.
#include "engine/graph/passes/min_cut.h"

#include <algorithm>

namespace svengine {

size_t MinCut::add_vertex() {
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
  level_[kSource] = 0;
  std::vector<size_t> queue{kSource};
  for (size_t i = 0; i < queue.size(); ++i)
    for (size_t a : arcs_of_[queue[i]])
      if (arcs_[a].residual > 0 && level_[arcs_[a].head] < 0) {
        level_[arcs_[a].head] = level_[queue[i]] + 1;
        queue.push_back(arcs_[a].head);
      }
  return level_[kSink] >= 0;
}

/// Along one path from source to sink, without recursion, for paths are as long as networks are deep. 0: there is none left.
int64_t MinCut::augment(size_t vertex, int64_t most) {
  std::vector<size_t> path;
  while (vertex != kSink) {
    size_t& next = next_[vertex];
    while (next < arcs_of_[vertex].size()) {
      const Arc& arc = arcs_[arcs_of_[vertex][next]];
      if (arc.residual > 0 && level_[arc.head] == level_[vertex] + 1) break;
      ++next;
    }
    if (next < arcs_of_[vertex].size()) {
      path.push_back(arcs_of_[vertex][next]);
      vertex = arcs_[path.back()].head;
    } else {
      if (path.empty()) return 0;
      vertex = arcs_[path.back() ^ 1].head;
      path.pop_back();
      ++next_[vertex];
    }
  }
  for (size_t a : path) most = std::min(most, arcs_[a].residual);
  for (size_t a : path) arcs_[a].residual -= most, arcs_[a ^ 1].residual += most;
  return most;
}

std::vector<bool> MinCut::solve() {
  while (find_levels()) {
    next_.assign(arcs_of_.size(), 0);
    while (augment(kSource, kInfinite) > 0) {
    }
  }
  std::vector<bool> with_source;
  for (int level : level_) with_source.push_back(level >= 0);
  return with_source;
}

}  // namespace svengine
