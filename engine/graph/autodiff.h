// Reverse-mode differentiation: a graph in, the same graph with the nodes that compute gradients behind it.
//
//     x ──> f ──> h ──> g ──> y          x ──> f ──> h ──> g ──> y
//                                 =>           │     │     │
//                                         dx <─f' <─ dh <─ g' <─ dy
//
// The graph is as imported: canonical and not yet optimised, so that every node has the form its rule (OpDef::gradient) knows.
// The passes, the planner and the executor then treat the larger graph like any other.
//
// A gradient flows through floating-point values only. A value that several nodes use gets the sum of what each of them gives, in
// the reverse order of the nodes. The order of all sums is fixed by the graph.
//
// All nodes of a rule are called after the node they differentiate, "conv1.gradient"; sums after the value they belong to.
#pragma once
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/graph/op_registry.h"

namespace svengine {

/// A value to differentiate. Without a gradient of its own it must have one element, and that gradient is 1; several seeds
/// differentiate the sum of their products with their gradients.
struct GradientSeed {
  Value* value = nullptr;
  Value* gradient = nullptr;  // of value's type and shape
};

/// What stands for the gradient of a value that has no influence on the seeds.
enum class Unreached : int8_t { null, zeros };

/// Adds nodes that compute the gradients of the seeds with respect to `wanted`: inputs, constants or results of nodes, of
/// floating-point type. One value for each, of its type and shape. Refuses, naming the node, a path through an operator
/// that has no rule; the graph then holds nodes without users and is good for an error message only. The nodes go before `before`
/// (null: at the end), which comes after all that the seeds depend on.
Result<std::vector<Value*>> add_gradients(Graph& graph, const OpRegistry& ops, std::span<const GradientSeed> seeds,
                                          std::span<Value* const> wanted, Unreached unreached = Unreached::null,
                                          Node* before = nullptr);

/// Turns the named constants into graph inputs, which come last, in the order given, under the same names: what is to be trained
/// is a value of every run, not of the plan, or folding and packing would bake it in. Returns their tensors, in that order. A
/// constant that several nodes share (a tied embedding) is one input. Refuses names that are no constant, and types
/// other than floating point.
Result<std::vector<Tensor>> constants_to_inputs(Graph& graph, std::span<const std::string> names);

/// The constants that training changes when nobody says otherwise: floating point, of rank 1 or more (a rank-0 constant is a
/// number of the formula: a scale, an epsilon). Running statistics of BatchNormalization are not among them: they are updated,
/// not trained. In the order of first use.
std::vector<Value*> trainable_constants(const Graph& graph);

}  // namespace svengine
