// Which value of a graph as it was each value of the graph that passes make of it stands for.
//
// A fused node's output keeps its name but holds what its last part gave, and nodes of passes have names of their own: names do
// not tell. What does is Graph::replace_uses(from, to): from there on `to` is what `from` was.
// After Graph::replace_absorbed() it is nothing else, though `from` may be an intermediate value: a Relu that one pass has moved before a
// Transpose, and another into the Conv before it.
#pragma once
#include <string>
#include <unordered_map>

#include "engine/graph/graph.h"

namespace svengine {

/// Follows one graph, which must not be moved, as this thread changes it, from construction to stop(). One graph a thread at a
/// time; graphs of bodies are others.
class Origins {
 public:
  explicit Origins(const Graph& graph);
  ~Origins() { stop(); }
  Origins(const Origins&) = delete;
  Origins& operator=(const Origins&) = delete;

  /// What has been noted stays.
  void stop();

  /// The name that the value which this one stands for had at construction; null for intermediate values of passes.
  const std::string* of(const Value* value) const;

  /// Called by Graph.
  static void note_replaced(const Graph& graph, const Value* from, const Value* to);
  static void forget(const Graph& graph, const Value* value);

 private:
  const Graph* graph_;
  std::unordered_map<const Value*, std::string> names_;
};

}  // namespace svengine
