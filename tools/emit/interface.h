// What a program that calls the emitted C sees: names, types and sizes of inputs and outputs.
#pragma once
#include <string>
#include <vector>

#include "engine/graph/graph.h"

namespace svengine::tool::emit {

struct Port {
  std::string name;   // of the parameter
  std::string macro;  // of its number of elements
  std::string original;
  Type type;
};

struct Interface {
  std::string name;
  std::vector<Port> inputs, outputs;

  std::string upper_name() const;
  /// "const float *x, float *y", behind another parameter or not.
  std::string parameters(bool follows) const;
  std::string header(int64_t workspace_bytes, const std::string& model) const;
  /// NAME_run, whose workspace is static.
  std::string run_function(int64_t workspace_bytes) const;
};

/// Refuses types that C has not.
Result<Interface> interface_of(const Graph& graph, const std::string& name);

}  // namespace svengine::tool::emit
