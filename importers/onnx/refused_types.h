// Types of a model's values that its operators do not take, told together: one line instead of one error after the other.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "engine/graph/graph.h"

namespace svengine::onnx {

class RefusedTypes {
 public:
  /// Notes what types of the node's inputs its operator does not take (OpDef::types), `problem` being the error that says so of this
  /// node. False: none; `problem` is another one.
  bool add(const Node& node, const std::string& op, const Error& problem);
  bool empty() const { return operators_.empty(); }
  /// Of one operator and type, the first node's own error. Of several, for example
  ///     not supported: float8e5m2: Conv, MatMul; string: Relu. First: node 'c' (Conv): ..
  Error error() const;

 private:
  std::map<DType, std::vector<std::string>> operators_;  // each once, in the order of the model
  std::string first_;
};

}  // namespace svengine::onnx
