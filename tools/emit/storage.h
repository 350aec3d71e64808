// Where the values of a graph lie while its C function runs.
#pragma once
#include <map>
#include <utility>
#include <vector>

#include "engine/graph/graph.h"

namespace svengine::tool::emit {

/// A value's own memory: a caller's input or output, an array of constants, or a slot of the workspace.
struct Place {
  enum class Kind : uint8_t { constant, input, output, slot };
  Kind kind;
  size_t index = 0;
};

class Storage {
 public:
  explicit Storage(const Graph& graph);

  /// The value whose memory this one is read from: another one where it is a view.
  static const Value* memory_of(const Value* value);
  Place place_of(const Value* value) const { return places_.at(memory_of(value)); }
  /// The node has to write this output: it has elements, and somebody reads it.
  bool is_wanted(const Value* value) const;

  /// Outputs of the graph that no node writes: values to be copied at the end.
  const std::vector<std::pair<size_t, const Value*>>& copies() const { return copies_; }

  /// A slot that lives while this node runs.
  size_t add_temporary(int32_t node, int64_t bytes);
  /// Offsets of all slots, and how many bytes they take together.
  int64_t assign();
  /// Of a slot; -1 where it has no elements, and needs no memory.
  int64_t offset(size_t slot) const { return offsets_[slot]; }

 private:
  struct Life {
    int64_t bytes;
    int32_t first, last;
  };
  const Graph& graph_;
  std::map<const Value*, Place> places_;
  std::vector<Life> slots_;
  std::vector<int64_t> offsets_;
  std::vector<std::pair<size_t, const Value*>> copies_;
};

}  // namespace svengine::tool::emit
