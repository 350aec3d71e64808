// How an operator commutes with Transpose, which the pass `transposes` asks by OpTraits::transposed.
//
// A value v is *stored* as u when v = Transpose(u, perm): dimension i of v is dimension perm[i] of u. Asked with the permutation of its
// elements' index space (of input 0; of output 0 where inputs are broadcast to that), an operator says with which node on stored inputs it
// computes its outputs, stored.
#pragma once
#include <optional>
#include <vector>

#include "engine/graph/axes.h"
#include "engine/graph/op_def.h"

namespace svengine {

using Permutation = std::vector<int64_t>;

struct TransposedNode {
  /// How each input and output is stored. Empty: it is as it was. One that is longer than an input's rank stands for the input with
  /// dimensions of 1 put in front of its own.
  std::vector<Permutation> inputs, outputs;
  Attributes attributes;
  /// Inputs that become these constants.
  std::vector<std::pair<size_t, Tensor>> constants = {};
};

/// perm[inverse[i]] = i.
Permutation inverse(const Permutation& perm);
/// Transpose(Transpose(u, first), second) = Transpose(u, both).
Permutation composed(const Permutation& first, const Permutation& second);

/// Element by element, inputs broadcast to output 0's shape: those of one element stay as they are.
std::optional<TransposedNode> transposed_elementwise(const Node& node, const Permutation& perm);

/// Inputs and outputs of one rank, `axis` being the attribute of that name (`otherwise` where it is absent) that names one dimension of them.
/// Inputs behind the first `inputs` stay as they are.
std::optional<TransposedNode> transposed_along_axis(const Node& node, const Permutation& perm, size_t inputs, int64_t otherwise);

/// Of input 0 and output 0, whose dimensions `axes` are input `slot`, known: it becomes those of the stored input. All others stay.
std::optional<TransposedNode> transposed_with_axes(const Node& node, const Permutation& perm, size_t slot, const std::vector<int64_t>& axes);

/// The input without the dimensions `dropped` (ascending): how what is left is stored.
Permutation without(const Permutation& perm, const std::vector<int64_t>& dropped);

/// A list of dimensions, each of [-rank, rank), as those of the stored value; nothing when one is out of range.
std::optional<std::vector<int64_t>> stored_axes(const std::vector<int64_t>& axes, const Permutation& perm);

/// The elements of a known input as integers.
std::optional<std::vector<int64_t>> known_integers(const Node& node, size_t input);

/// A constant int64 vector.
Tensor integer_list(const std::vector<int64_t>& values);

}  // namespace svengine
