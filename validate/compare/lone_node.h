// One node of a graph, run alone on given inputs.
#pragma once
#include <memory>
#include <vector>

#include "runtime/session.h"

namespace svengine::validate {

/// A session for a copy of the node. Bodies are run with it, so that an If, Loop or Scan counts as one node.
class LoneNode {
 public:
  /// `inputs`: by slot, those to run on; their shapes are the node's. Undefined: absent, or a constant of the node, which stays
  /// one.
  static Result<LoneNode> create(const Node& node, const std::vector<Tensor>& inputs, const SessionOptions& options) {
    return create(node, node.attributes, inputs, options);
  }
  /// A node that differs from this one in its attributes.
  static Result<LoneNode> create(const Node& node, Attributes attributes, const std::vector<Tensor>& inputs, const SessionOptions& options);

  /// The node's outputs on inputs of the same types and shapes.
  Result<std::vector<Tensor>> run(const std::vector<Tensor>& inputs);
  bool fits(const std::vector<Tensor>& inputs) const;

  /// reduction_length() of the node with these inputs.
  double reduction_length() const { return reduction_length_; }

 private:
  LoneNode() = default;
  std::vector<size_t> slots_;  // of the session's inputs
  std::vector<Tensor> like_;   // types and shapes, by input of the session
  std::unique_ptr<Session> session_;
  double reduction_length_ = 1;
};

/// How many products or terms an element of the outputs is summed up from, at least 1: from the operator's cost. 1 where shapes are not known.
double reduction_length(const Node& node);

/// Gives back the pages of the file that the node's constants lie in.
void release_constants(const Node& node);

/// A tensor of numbers in another type.
Result<Tensor> convert(const Tensor& tensor, DType type, const SessionOptions& options);

}  // namespace svengine::validate
