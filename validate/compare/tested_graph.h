// The model under test as the engine runs it: its graph after the passes that fuse, cut into single nodes again.
//
//   file:     Conv ─ x ─ BatchNorm ─ y ─ Add ─ z ─ Relu ─ w          values with names
//   engine:   [Conv + BatchNorm, its weights scaled; residual; Relu] ─ w      a step; x, y, z do not exist
//
// The cut is made before the pass that chooses layouts, so that every value between two steps is plain; a step is then planned
// alone and gets its layouts, and so its kernels, again.
#pragma once
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/graph/origins.h"
#include "runtime/session.h"

namespace svengine::validate {

struct Step {
  const Node* node = nullptr;  // of the tested graph
  std::vector<std::string>
      inputs;  // by slot: the name in the file of the value that is read; "" where there is none, and of constants
  std::vector<std::string> outputs;  // by output: the same of what it gives
  std::vector<const Node*> nodes;    // of the file's graph, in its order: those that this step computes
};

class TestedGraph {
 public:
  /// `model` is the graph as imported, which must outlive this. Passes run as in a session, for inputs of these shapes. Where
  /// shapes depend on data, those at load alone do: the others see a step at a time.
  static Result<TestedGraph> create(const Graph& model, const std::vector<Tensor>& inputs, const SessionOptions& options);

  const Graph& graph() const { return *graph_; }
  const std::vector<Step>& steps() const { return steps_; }
  /// The name in the file of what a value stands for; "" where there is none.
  std::string origin_of(const Value* value) const;

 private:
  TestedGraph() = default;
  void find_steps(const Graph& model);

  std::unique_ptr<Graph> graph_;
  std::unique_ptr<Origins> origins_;
  std::vector<Step> steps_;
};

}  // namespace svengine::validate
