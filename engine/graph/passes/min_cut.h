// The minimum cut of a flow network, by the theorem of maximum flow and minimum cut.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace svengine {

/// Vertices 0 and 1 are source and sink. An arc costs its capacity when its tail is on the source's side and its head on the sink's.
class MinCut {
 public:
  static constexpr size_t kSource = 0, kSink = 1;
  static constexpr int64_t kInfinite = std::numeric_limits<int64_t>::max() / 4;

  MinCut() : arcs_of_(2) {}
  size_t add_vertex();
  void add_arc(size_t tail, size_t head, int64_t capacity);

  /// Of each vertex: is it on the source's side? Of several minimum cuts the one with the fewest vertices there.
  std::vector<bool> solve();

 private:
  struct Arc {
    size_t head;
    int64_t residual;  // capacity that no flow takes
  };
  bool find_levels();
  int64_t augment(size_t vertex, int64_t most);

  std::vector<Arc> arcs_;  // an even one and the next are there and back
  std::vector<std::vector<size_t>> arcs_of_;
  std::vector<int> level_;
  std::vector<size_t> next_;
};

}  // namespace svengine
