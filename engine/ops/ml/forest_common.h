// Decision trees as one compact array, built once for all plans of a node.
//
// Every comparison of ONNX becomes "feature <= value" on integers: features and thresholds are mapped to integers in the same
// order (float32 to int32, all else to int64 by way of double), so that "<" is "<= the number before", whatever the processor
// does with subnormals; the others exchange the children, "==" is two nodes, and set membership a chain of these. A feature has a
// column of keys in which what is not a number is above all, and one in which it is below all, as nodes want it: so no node looks at that
// by itself. Leaves point at themselves, so that several rows walk in step, without a branch that depends on data.
#pragma once
#include <cstdint>
#include <limits>
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
  int64_t targets = 0;  // that leaves vote for
};

template <class Key>
struct TreeNode {
  Key value;  // of a leaf: its number
  int32_t column, on_true, on_false;
};

/// Keys of a feature of all rows.
struct TreeColumn {
  int64_t feature;
  bool missing_least;  // what is not a number has the least key, else the greatest
};

/// The order-preserving integer of what is a number; none is the least or greatest of the type.
int32_t tree_key(float x);
int64_t tree_key(double x);

template <class Key>
struct Forest {
  std::vector<TreeNode<Key>> nodes;
  std::vector<int32_t> roots;
  std::vector<TreeColumn> columns;  // that trees look at
  std::vector<int32_t> first_vote;  // of leaves, and one past the last
  std::vector<int32_t> vote_targets;
  std::vector<double> vote_weights;
  int64_t targets = 0;
};

inline constexpr int kTreeRows = 8;  // rows that walk in step

/// Refuses places outside, cycles, targets outside [0, spec.targets) and negative features.
template <class Key>
Result<Forest<Key>> compile_forest(const TreeSpec& spec);

/// Walks rows of keys, `stride` apart, down the tree, kTreeRows of them at most; their leaves' numbers.
template <class Key>
void walk_tree(const Forest<Key>& forest, int32_t root, const Key* keys, int64_t stride, int64_t rows, int32_t (&leaves)[kTreeRows]);

}  // namespace svengine::ops
