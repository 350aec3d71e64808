// Nodes with bodies: graphs that are attributes. A body's inputs are those of its own, which the operator gives it, and then what it
// captures of the graph around it; the node has the captured values as its last inputs, in the same order. All bodies of a node
// have the same captured values. Attribute "captured" says how many they are.
#pragma once
#include "engine/graph/bodies.h"
#include "engine/graph/evaluate_context.h"
#include "engine/ops/infer_util.h"

namespace svengine::ops {

/// Trips of a loop that only its condition ends. More are taken for a condition that never becomes false.
inline constexpr int64_t kMostTrips = int64_t{1} << 24;

size_t captured_count(const Attributes& attributes);
/// Of the node's inputs, those that are not captured; absent ones count.
size_t own_input_count(const InferContext& c);
size_t own_input_count(const EvaluateContext& c);

/// Checks a body against the node: number of inputs (`own` and the captured ones) and outputs, and types of what it captures.
Result<const Graph*> checked_body(const InferContext& c, std::string_view name, size_t own, size_t least_outputs);
/// Input `index` of the body is of this element type, as far as both are known.
Status check_body_input(const Graph& body, size_t index, const Type& given);

/// What is true of both: unknown dimensions where they differ; all of one where nothing is known of the other, as in a branch that
/// cannot be right. An error where the element types differ.
Result<Type> merged(const Type& a, const Type& b);
/// The type without what a later trip may change: the shape, or that of what a sequence holds.
Type loosened(const Type& type);

/// Values of a run that are inputs of every trip: the captured ones, which are the node's last.
std::vector<Tensor> captured_inputs(EvaluateContext& c);
/// A bool tensor of one element.
Result<bool> truth_of(const Tensor& tensor, const char* what);
/// A single number or bool in the rank that the body declares for its input: scalar, or [1].
Tensor single(Tensor scalar, const Graph& body, size_t input);

/// Operations and bytes of a body's nodes.
Cost cost_of_body(const Node& node, std::string_view name);

}  // namespace svengine::ops
