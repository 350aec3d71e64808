// Which nodes and values of two graphs belong together, whatever they are called.
//
//   1. The same computation.  Nodes whose forward hashes (fingerprint.h) are equal compute the same from the same inputs and weights; those
//      whose backward hashes are equal have the same made of them. What both graphs have once belongs together; what they have
//      several times (the projections of attention before training) by names.
//   2. The same weights.      A node with the same operator, attributes and bytes of weights, once on each side, in the midst of what has changed.
//   3. Neighbours.            From every pair along the edges: producers of the same input and sole users of the same output, if their
//      operators are equal. Again after each step that follows; before step 2, too, where the same name or weights speak for it.
//   4. Names.                 Equal names and operators: only now, since exporters number names, and one new node shifts all.
//   5. Loose hashes.          As 1, weights by their shapes alone; what is there several times in its order.
//   6. Order.                 The longest common subsequence of the operators of what is left (in windows of at most kWindow nodes), where
//      the nodes also have an input or a user in common.
//   7. Replaced nodes.        Different operators between values that belong together.
//
//          A                     B             forward  ────>  up to the new node
//    x ─ Conv ─ Relu ─ Add     x ─ Conv ─ Clip ─ Add           Conv = Conv (1, forward)   Add = Add (1, backward)
//                                                              Relu ~ Clip (7)
//
// Sources: hashing of subtrees first, then matching by neighbours, as GumTree does with syntax trees (Falleri et al., Fine-grained and accurate
// source code differencing, ASE 2014); common subsequences as in diff (Hunt and McIlroy, An algorithm for differential file comparison, 1976).
// Time is that of hashing and sorting, and at most kWindow steps of the last but one for every node.
#pragma once
#include <functional>
#include <vector>

#include "validate/diff/fingerprint.h"

namespace svengine::validate {

inline constexpr size_t kWindow = 4096;  // 32 MiB of lengths

/// Numbers of the other side's partners; -1: there is none. No partner has two.
struct Pairs {
  std::vector<int> of_a, of_b;

  Pairs() = default;
  Pairs(size_t a, size_t b) : of_a(a, -1), of_b(b, -1) {}
  bool is_free(int a, int b) const { return of_a[static_cast<size_t>(a)] < 0 && of_b[static_cast<size_t>(b)] < 0; }
  void join(int a, int b) { of_a[static_cast<size_t>(a)] = b, of_b[static_cast<size_t>(b)] = a; }
};

struct Matching {
  Pairs nodes, values, weights;
  Pairs inputs, outputs;  // positions in the graphs' lists
};

/// What is looked at besides the graphs themselves.
struct MatchContext {
  TensorReader& tensors_a;
  TensorReader& tensors_b;
  /// What stands for values from around bodies, the same number for those that belong together.
  std::function<uint64_t(std::string_view)> outer_a, outer_b;
  bool contents = true;  // false: weights by type and shape alone; no data are read
};

Result<Matching> match_graphs(const DiffGraph& a, const DiffGraph& b, const MatchContext& context);

}  // namespace svengine::validate
