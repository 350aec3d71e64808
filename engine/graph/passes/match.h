// Small questions that pattern passes ask of a graph.
#pragma once
#include <optional>
#include <string_view>

#include "engine/graph/graph.h"

namespace svengine {

/// `node` is that operator of ai.onnx (or of the engine, for names of the engine's own).
bool is_op(const Node* node, std::string_view name);

/// The producer of a value when it is that operator, else null.
Node* producer_if(const Value* value, std::string_view name);

/// Somebody wants the value: a node reads it, or the caller does, as an output of the graph. Nobody wants null. Whoever leaves out
/// work that makes a value asks here; users() alone does not know the graph's outputs.
bool is_needed(const Graph& graph, const Value* value);

/// Draws numbers anew in every run, as operators with a seed do: neither folded nor merged with its equals.
bool is_random(const Node& node);

/// The value has exactly one use, by a node, and is no graph output: its producer may disappear into that user.
bool only_used_once(const Graph& graph, const Value* value);

/// The one user of a value that is only used once, when it is that operator; else null.
Node* only_user_if(const Graph& graph, const Value* value, std::string_view name);

/// A constant with one float32 element.
std::optional<float> scalar_constant(const Value* value);

/// `scalar_constant(value)` is within a few units in the last place of `wanted`.
bool is_scalar(const Value* value, double wanted);

/// For a node with two inputs of which one is `value`: the other. Null when neither or both are.
Value* other_input(const Node& node, const Value* value);

/// For a commutative node with one constant input that is the scalar `wanted`: the other input; else null.
Value* operand_beside(const Node* node, double wanted);

/// Known to be equal: every dimension the same number or the same symbol.
bool same_shape(const Shape& a, const Shape& b);

/// Known to have equally many dimensions.
bool same_rank(const Shape& a, const Shape& b);

/// Broadcast to [N, channels, spatial...] of that rank, the float32 constant differs along dimension 1 only.
bool is_per_channel(const Tensor& constant, int64_t channels, int64_t rank);

/// A dense float32 constant's elements as doubles (any alignment).
std::vector<double> as_doubles(const Tensor& tensor);

}  // namespace svengine
