// What a random graph is composed of: each move adds one node or a pattern of some, on values that are there or new ones.
#pragma once
#include <span>

#include "tests/differential/graph_maker.h"

namespace svengine::differential {

struct Move {
  const char* name;
  int weight;  // how often, relative to the others
  void (*add)(GraphMaker&);
};

std::span<const Move> moves();

/// Moves until there are so many nodes, or too many moves were refused.
void add_moves(GraphMaker& m, size_t wanted);

// moves_elementwise.cc
void add_sample(GraphMaker& m);  // an operator's own sample, its sizes changed at times
void add_unary(GraphMaker& m);
void add_binary(GraphMaker& m);    // broadcasts of either operand, or both; one value twice
void add_variadic(GraphMaker& m);  // Sum, Max, Min, Mean of one to five
void add_clip(GraphMaker& m);      // bounds missing, infinite, crossed, computed
void clip(GraphMaker& m, Value* x);
void add_comparison(GraphMaker& m);  // bools, Where, Cast
void add_integers(GraphMaker& m);

// moves_windows.cc
void add_convolution(GraphMaker& m);    // Pad, Conv, BatchNormalization, Add, activation: some of them
void add_parallel_convolutions(GraphMaker& m);  // of one image, norms among them, added: their kernels mostly within one another
void add_shared_weight(GraphMaker& m);  // two convolutions of one weight, with other attributes
void add_pool(GraphMaker& m);
void add_norm(GraphMaker& m);
void add_residual(GraphMaker& m);

// moves_layout.cc
void add_transpose(GraphMaker& m);
void add_reshape(GraphMaker& m);  // also by a computed shape
void add_concat(GraphMaker& m);
void add_split(GraphMaker& m);
void add_slice(GraphMaker& m);
void add_pad(GraphMaker& m);
void add_reduce(GraphMaker& m);
void add_resize(GraphMaker& m);

// moves_transposed.cc
void add_between_transposes(GraphMaker& m);

// moves_control.cc: If, Loop and Scan with bodies of random nodes
inline constexpr int kDeepestBody = 2;  // bodies within bodies
/// What the nodes of a body have added as its inputs, from number `first` on, is captured, too.
void capture_added(const GraphMaker& body, size_t first, GraphMaker& around, std::vector<Value*>& captured);
void add_branch(GraphMaker& m);
void add_loop(GraphMaker& m);
void add_scan(GraphMaker& m);

// moves_sequences.cc
void add_sequence(GraphMaker& m);
void add_optional(GraphMaker& m);

// moves_patterns.cc: what passes recognise, and relatives that they must not
void add_product(GraphMaker& m);  // MatMul or Gemm, Add, activation
void add_dense_layers(GraphMaker& m);
void add_layer_norm(GraphMaker& m);
void add_gelu(GraphMaker& m);
void add_attention(GraphMaker& m);
void add_byte_function(GraphMaker& m);  // of one quantised value, at times of two

}  // namespace svengine::differential
