// Inputs of a graph, as Python gives them.
#pragma once
#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "engine/graph/graph.h"

namespace svengine::python {

/// Of a dict by name, or a list in order, the tensors for a graph's inputs, in their order. EngineError says what is missing, behind `name`,
/// the model's.
std::vector<Tensor> model_inputs(const Graph& graph, nanobind::handle given, const std::string& name);

}  // namespace svengine::python
