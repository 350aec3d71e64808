// A cheapest way to part a set of places into two, by the theorem of maximum flow and minimum cut.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace svengine {

/// Places 0 and 1 are on the one and on the other side. An arc costs its capacity when its tail is on the side of place 0 and its head on
/// that of place 1.
class MinCut {
 public:
  static constexpr size_t kHere = 0, kThere = 1;
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max() / 4;

  MinCut() : arcs_of_(2) {}
  size_t add_place();
  void add_arc(size_t tail, size_t head, int64_t capacity);

  /// Of each place: is it on the side of place 0? Of several cheapest cuts the one with the fewest places there.
  std::vector<bool> solve();

 private:
  struct Arc {
    size_t head;
    int64_t left;  // capacity that no flow takes
  };
  bool find_levels();
  int64_t push(size_t place, int64_t most);

  std::vector<Arc> arcs_;  // an even one and the next are there and back
  std::vector<std::vector<size_t>> arcs_of_;
  std::vector<int> level_;
  std::vector<size_t> next_;
};

}  // namespace svengine
