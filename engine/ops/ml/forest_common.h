// Decision trees as one compact array, built once when a plan is made.
//
// Every comparison of ONNX becomes "feature <= value" on integers: features and thresholds are mapped to integers in the same
// order (float32 to int32, all else to int64 by way of double), so that "<" is "<= the number before", whatever the processor
// does with subnormals; the others exchange the children, "==" is two nodes, and set membership a chain of these. Not a number is
// above all. Leaves point at themselves, so that several rows walk in step, without a branch that depends on data.
#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "engine/base/status.h"

namespace svengine::ops {

enum class TreeMode : int8_t { leq, lt, gte, gt, eq, neq, member, leaf };

/// A place in a TreeSpec: node i, or leaf i.
struct TreeRef {
  int64_t index = -1;
  bool leaf = false;
};

struct TreeSpecNode {
  TreeMode mode = TreeMode::leq;
  int64_t feature = 0;
  double value = 0;
  bool missing_true = false;  // not a number goes to the true branch
  TreeRef on_true, on_false;
  std::vector<double> members = {};
};

/// Trees as a file has them, not yet trusted.
struct TreeSpec {
  std::vector<TreeSpecNode> nodes;
  std::vector<std::vector<std::pair<int64_t, double>>> leaves;  // targets and weights
  std::vector<TreeRef> roots;
};

template <class Key>
struct TreeNode {
  Key value;  // of a leaf: its number
  int32_t feature, on_true, on_false;
};

/// The order-preserving integer of a number; NaN is the largest of all.
int32_t tree_key(float x);
int64_t tree_key(double x);

template <class Key>
struct Forest {
  std::vector<TreeNode<Key>> nodes;
  std::vector<uint8_t> missing_true;  // of nodes; empty where no node says so
  std::vector<int32_t> roots;
  std::vector<int64_t> features;    // columns of X that trees look at; TreeNode::feature counts in these
  std::vector<int32_t> first_vote;  // of leaves, and one past the last
  std::vector<int32_t> vote_targets;
  std::vector<double> vote_weights;
};

inline constexpr int kTreeRows = 8;  // rows that walk in step

/// Refuses places outside, cycles, targets outside [0, targets) and negative features.
template <class Key>
Result<std::shared_ptr<const Forest<Key>>> compile_forest(const TreeSpec& spec, int64_t targets);

/// Walks rows of keys, `stride` apart, down the tree, kTreeRows of them at most; their leaves' numbers.
template <class Key>
void walk_tree(const Forest<Key>& forest, int32_t root, const Key* keys, int64_t stride, int64_t rows, int32_t (&leaves)[kTreeRows]);

}  // namespace svengine::ops
