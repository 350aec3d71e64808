// A node as the functions of a registered operator see it, and what the engine does with it.
#pragma once
#include <vector>

#include "engine/graph/gradient.h"
#include "engine/ops/lowering.h"
#include "svengine/operators.h"

namespace svengine {

/// Lists that an svengine_call points at: of a node's attributes, of its operands with their types and shapes. Copies, so that it outlives the node.
class CustomCall {
 public:
  explicit CustomCall(const Node& node);
  CustomCall(const CustomCall&) = delete;

  const svengine_call& call() const { return call_; }
  /// Inputs, then outputs.
  const std::vector<svengine_operand>& operands() const { return operands_; }
  /// What a size means that svengine_operator::shape gives: itself, or the size that is not known yet and that the number stands for.
  Result<Dim> size(int64_t number) const;

 private:
  int64_t number_of(const Dim& dim);
  void add(const Value* value);

  const Attributes attributes_;
  std::vector<svengine_attribute> list_;
  std::vector<Dim> unknown_;  // entry k is what -1 - k stands for
  std::vector<std::vector<int64_t>> shapes_;
  std::vector<svengine_operand> operands_;
  svengine_call call_{};
};

// OpDef::infer, lower and gradient of all registered operators.
Status infer_custom(InferContext& c);
Status lower_custom(LowerContext& c);
Status custom_gradient(GradientContext& c);

}  // namespace svengine
