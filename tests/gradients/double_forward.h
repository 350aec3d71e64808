// Operators evaluated in double precision, so that finite differences mean something.
//
// Where the engine's own kernels take float64 they are run on it (their oracles are the kernels' tests); the others, whose
// kernels are float32 only, are written out here by their formulas.
#pragma once
#include <memory>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/graph/op_def.h"
#include "runtime/session.h"

namespace svengine::tests {

/// A tensor of any type as doubles.
struct Array {
  Dims dims;
  std::vector<double> v;
};

/// The outputs of a node from its inputs (absent ones are empty) by its formula.
using Formula = std::vector<Array> (*)(const Node& node, const std::vector<Array>& in);

/// Null when the operator has none here.
Formula formula_of(const OpDef& op);

/// Made of other operators: graph/expand.h.
bool is_composite(const OpDef& op);

/// One node of an operator whose real inputs may vary.
class DoubleForward {
 public:
  /// `values` has the node's inputs, undefined where absent; `varying` says which of them run() gets.
  DoubleForward(const OpDef& op, const Attributes& attributes, size_t outputs, const std::vector<Tensor>& values,
                const std::vector<bool>& varying);

  /// All inputs; those that vary not are ignored.
  std::vector<Array> run(const std::vector<Array>& inputs);

 private:
  Graph graph_;
  Node* node_ = nullptr;
  Formula formula_;
  std::vector<bool> varying_;
  std::unique_ptr<Session> session_;
};

Array to_array(const Tensor& tensor);

}  // namespace svengine::tests
