// What a node computes, as a number: nodes that compute the same have the same.
//
// Merkle hashing (R. Merkle, 1987), over a graph instead of a tree: the forward hash of a value stands for everything it is computed
// from, the backward hash of a node for everything that is computed from it. Names have no part in either.
//
//      x ──> Conv ──> Relu ──> y          forward(Relu)  = hash(Relu, forward(Conv));  forward(Conv) = hash(Conv, x, bytes of w)
//             w ┘                         backward(Conv) = hash(Conv, w, backward(Relu)); backward(Relu) = hash(Relu, output y)
//
// The hashes only propose which nodes belong together. What is equal is decided by comparing, so that a file made to collide gains nothing.
#pragma once
#include <functional>
#include <vector>

#include "validate/diff/diff_graph.h"
#include "validate/diff/tensor_reader.h"

namespace svengine::validate {

/// Of every node. "exact": with the elements of weights; "loose": with their types and shapes alone.
struct Fingerprints {
  std::vector<uint64_t> local;  // operator, attributes, weights: exact. 0: the node has no weight
  std::vector<uint64_t> forward_exact, forward_loose;
  std::vector<uint64_t> values_loose;  // of every value: as forward_loose, and what stands for inputs and weights
  std::vector<uint64_t> backward_exact, backward_loose;
};

/// What stands for the inputs and outputs of a graph, and for values from around it: the same number on both sides where these belong together.
struct Anchors {
  std::vector<uint64_t> inputs, outputs;
  std::function<uint64_t(std::string_view)> outer;
};

/// `contents` false: no weight is read, and exact hashes are the loose ones.
Result<Fingerprints> fingerprints_of(const DiffGraph& graph, const Anchors& anchors, TensorReader& tensors, bool contents);

}  // namespace svengine::validate
