// What OpDef::evaluate sees: a node whose inputs are there, as tensors of concrete shapes.
#pragma once
#include <utility>
#include <vector>

#include "engine/graph/graph.h"

namespace svengine {

class EvaluateContext {
 public:
  EvaluateContext(const Node& node, std::vector<Tensor> inputs)
      : node_(node), inputs_(std::move(inputs)), outputs_(node.outputs().size()) {}
  virtual ~EvaluateContext() = default;

  const Node& node() const { return node_; }
  const Attributes& attributes() const { return node_.attributes; }
  size_t input_count() const { return inputs_.size(); }
  size_t output_count() const { return outputs_.size(); }
  bool has_input(size_t i) const { return i < inputs_.size() && inputs_[i].defined(); }
  bool has_output(size_t i) const { return node_.output(i) != nullptr; }
  /// Aligned; undefined where the input is absent.
  const Tensor& input(size_t i) const { return inputs_[i]; }
  /// The same, given away: where nobody else holds it, its storage is free as soon as the caller lets go.
  Tensor take_input(size_t i) { return std::exchange(inputs_[i], Tensor()); }

  /// Every output that the node has must be set, to a tensor of the type that inference gave and a shape that does not contradict it.
  void set(size_t output, Tensor tensor) {
    if (has_output(output)) outputs_[output] = std::move(tensor);
  }
  std::vector<Tensor> take_outputs() { return std::move(outputs_); }

  /// Runs the body that is attribute `name`, for control flow; inputs are those of the body, captured values included.
  virtual Result<std::vector<Tensor>> run_body(std::string_view name, std::vector<Tensor> inputs) = 0;

 private:
  const Node& node_;
  std::vector<Tensor> inputs_, outputs_;
};

/// What a body declares of its inputs it may rely on: refuses values of other types or shapes. `name` is the attribute that the body is.
Status check_body_inputs(const Graph& body, std::string_view name, const std::vector<Tensor>& inputs);

/// Is this node computed between segments, by OpDef::evaluate, and not in a plan? So are operators that cannot be lowered, and every
/// node that reads or makes handles; Identity then passes them on.
bool runs_on_host(const Node& node);

/// Evaluates the context's node. The outputs are there, aligned, and of types that inference agrees with; an error names the node.
Result<std::vector<Tensor>> evaluate_on_host(EvaluateContext& context);

}  // namespace svengine
