// The nodes of a network that are evaluated between two plans, one after the other, in the calling thread. Internal to the session.
// Immutable once made: any number of threads may run it at once.
#pragma once
#include <functional>
#include <vector>

#include "runtime/session.h"

namespace svengine {

class HostStage {
 public:
  /// Runs a node's body; inputs are those of the body.
  using RunBody = std::function<Result<std::vector<Tensor>>(const Subgraph& body, std::vector<Tensor> inputs)>;

  /// Takes a graph of nodes that run on the host. Every constant is made ready here.
  static Result<HostStage> create(Graph graph);

  /// Evaluates all nodes; inputs and results are the graph's. An error names the node. `times`: adds what every node took, in
  /// nanoseconds, without its bodies, whose steps have rows of their own.
  Result<std::vector<Tensor>> run(std::vector<Tensor> inputs, const RunBody& run_body, std::vector<int64_t>* times) const;

  /// One row for each node; `times` are those of run(), empty before the first.
  void collect_profile(const std::vector<int64_t>& times, std::vector<ProfileRow>& rows) const;

 private:
  struct Read {
    int slot;       // -1: absent
    bool last_use;  // nobody reads it afterwards
  };
  struct Call {
    const Node* node;
    std::vector<Read> inputs;
    std::vector<int> outputs;
  };

  HostStage() = default;

  Graph graph_;
  std::vector<Tensor> values_;  // by slot: the constants, the others undefined
  std::vector<int> inputs_, outputs_;
  std::vector<Call> calls_;
};

}  // namespace svengine
