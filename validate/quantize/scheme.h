// Which nodes of a graph are quantised, and which values get 8 bits for them.
//
//   x ─> Conv ─> Relu ─> y     Products (Conv, ConvTranspose, MatMul, Gemm) are what is quantised: their operands, and the result of a
//                              convolution behind the Relu or Clip that alone reads it. The results of MatMul and Gemm stay real unless
//                              one of the other rules wants them: integer products that give real numbers cost nothing, and norms and
//                              Softmax, which mostly follow, compute with those.
//   y ─> MaxPool ─> z          Where a value that is quantised was only moved (Reshape, Transpose, MaxPool, Concat, ...), what it was
//                              moved from is so too, by the same numbers: then bytes can be moved.
//   y + z                      The sum or product of two values is one of integers when both, and it, are quantised; where its result and
//                              one of the two are, the other is so too.
//
// All other nodes compute with real numbers. Nodes in bodies (If, Loop, ...) are left as they are.
#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/graph/graph.h"

namespace svengine::validate {

/// What a user says of which nodes to quantise. A node is known by its name, or by that of its first output; '*' stands for any text.
struct NodeSelection {
  std::vector<std::string> exclude;  // nodes
  std::vector<std::string> only;     // operators; none: all
};

/// Conv, ConvTranspose, MatMul or Gemm of float32 that reads something computed.
bool is_quantizable(const Node& node);

/// Those of the graph that are selected, in order. A selector that no such node fits is an error.
Result<std::vector<Node*>> select_nodes(const Graph& graph, const NodeSelection& selection);

/// A name by which select_nodes() finds this node alone.
std::string selector_of(const Graph& graph, const Node& node);

struct Scheme {
  std::vector<Node*> products;
  std::vector<std::vector<Value*>> groups;  // of values that share scale and zero point; none is a constant
};

Scheme make_scheme(const Graph& graph, std::vector<Node*> products);

}  // namespace svengine::validate
