// Collects the steps and slots of a plan, node by node.
#pragma once
#include <optional>
#include <unordered_map>

#include "engine/plan/plan.h"

namespace svengine {

/// Whether the result of a view (OpTraits::is_view) has as many elements as its operand. Of other nodes: nothing.
Status check_view(const Node& node);

class PlanBuilder {
 public:
  PlanBuilder(const kernels::KernelTable& kernels, WeightStore& weights, const LowerOptions& options);

  void add_input(const Value& value);
  /// Outputs are announced before the nodes are lowered, so that their producers write them in place.
  void add_output(const Value& value);
  /// Before the first node: gives the parts of joined results their places in them.
  void concat_aliasing(const Graph& graph);
  /// Emits the node's steps. Nodes come in the graph's order.
  Status lower(const Node& node);
  /// Graph outputs that no step writes in place (inputs, constants, duplicates, views of these) are copied; offsets are assigned.
  Result<std::shared_ptr<const Plan>> finish();

 private:
  friend class NodeLowering;
  struct PendingOutput {
    const Value* value;
    int32_t slot;
    bool written = false;
  };

  Buffer buffer_of(const Value* value);
  Buffer output_buffer(const Value* value);
  Buffer constant_buffer(const Tensor& tensor, const std::string& name);
  Buffer add_constant_slot(std::shared_ptr<const void> owner, const std::byte* data, int64_t bytes, std::string name);
  int32_t add_slot(Slot slot);
  std::optional<Buffer> joined_already(const Node& node) const;
  void alias_outputs(const Node& node);
  bool try_overwrite(const Node& node);
  int32_t step_now() const { return static_cast<int32_t>(plan_->steps.size()); }

  const kernels::KernelTable& kernels_;
  WeightStore& weights_;
  LowerOptions options_;
  std::shared_ptr<Plan> plan_;
  std::unordered_map<const Value*, Buffer> buffers_;
  std::unordered_map<const void*, Buffer> constants_;
  std::unordered_map<int32_t, size_t> slot_readers_;  // uses still to come of all values that share the slot
  std::vector<PendingOutput> outputs_;
  Status status_;  // what went wrong where a Buffer was to be returned; lower() and finish() hand it on
};

}  // namespace svengine
