#include "engine/ops/ml/forest_common.h"

#include <bit>
#include <cmath>
#include <map>
#include <unordered_map>

namespace svengine::ops {
namespace {

constexpr size_t kMostTreeNodes = size_t{1} << 30;

template <class Key, class Bits>
Key ordered_key(Bits bits) {
  // Negative numbers count downwards from -1; -0 is 0.
  constexpr Bits kSign = Bits{1} << (sizeof(Bits) * 8 - 1);
  if (!(bits & kSign)) return static_cast<Key>(bits);
  return static_cast<Key>(-static_cast<Key>(bits & ~kSign));
}

/// Thresholds of float32 features are float32 in files; a double's nearest serves.
int32_t threshold_key(double value, int32_t) { return tree_key(static_cast<float>(value)); }
int64_t threshold_key(double value, int64_t) { return tree_key(value); }

template <class Key>
class ForestCompiler {
 public:
  explicit ForestCompiler(const TreeSpec& spec) : spec_(spec), places_(spec.nodes.size(), -1), done_(spec.nodes.size()) {}

  Result<Forest<Key>> run() {
    forest_.targets = spec_.targets;
    SV_TRY(add_leaves());
    for (const TreeRef& root : spec_.roots) {
      SV_ASSIGN(const int32_t at, add_tree(root));
      forest_.roots.push_back(at);
    }
    if (forest_.columns.empty()) forest_.columns.push_back({0, false});  // leaves look at one, too
    return std::move(forest_);
  }

 private:
  /// What the two ends of a comparison are called while a node's own place is settled.
  struct Open {
    int64_t node;
    int stage;  // 0: children to be seen, 1: the true one has been, 2: both
  };

  Status add_leaves() {
    for (const auto& leaf : spec_.leaves) {
      forest_.first_vote.push_back(static_cast<int32_t>(forest_.vote_targets.size()));
      for (const auto& [target, weight] : leaf) {
        if (target < 0 || target >= spec_.targets) return error("a leaf votes for target {} of {}", target, spec_.targets);
        forest_.vote_targets.push_back(static_cast<int32_t>(target));
        forest_.vote_weights.push_back(weight);
      }
    }
    forest_.first_vote.push_back(static_cast<int32_t>(forest_.vote_targets.size()));
    leaf_places_.assign(spec_.leaves.size(), -1);
    return {};
  }

  /// A node that leads to `yes` where the feature is no greater than `at`, or `missing` and not a number.
  int32_t add_node(Key at, int64_t feature, int32_t yes, int32_t no, bool missing) {
    const auto [column, fresh] = columns_.emplace(std::pair(feature, missing), static_cast<int32_t>(forest_.columns.size()));
    if (fresh) forest_.columns.push_back({feature, missing});
    forest_.nodes.push_back({at, column->second, yes, no});
    return static_cast<int32_t>(forest_.nodes.size()) - 1;
  }

  Status check(const TreeRef& ref) const {
    const size_t count = ref.leaf ? spec_.leaves.size() : spec_.nodes.size();
    if (ref.index >= 0 && static_cast<size_t>(ref.index) < count) return {};
    return error("a branch leads to {} {} of {}", ref.leaf ? "leaf" : "node", ref.index, count);
  }

  /// Where a leaf, or a node that is done, lies.
  int32_t place_of(const TreeRef& ref) {
    if (!ref.leaf) return places_[static_cast<size_t>(ref.index)];
    int32_t& at = leaf_places_[static_cast<size_t>(ref.index)];
    if (at < 0) {
      at = static_cast<int32_t>(forest_.nodes.size());
      forest_.nodes.push_back({static_cast<Key>(ref.index), 0, at, at});
    }
    return at;
  }

  /// Children first, without recursion: a file may hold a tree as deep as it has nodes.
  Result<int32_t> add_tree(const TreeRef& root) {
    SV_TRY(check(root));
    std::vector<Open> stack;
    if (!root.leaf) stack.push_back({root.index, 0});
    while (!stack.empty()) {
      Open& top = stack.back();
      const auto i = static_cast<size_t>(top.node);
      const TreeSpecNode& node = spec_.nodes[i];
      if (top.stage == 2 || done_[i]) {
        if (!done_[i]) {
          SV_TRY(finish(node, i));
        }
        stack.pop_back();
        continue;
      }
      if (top.stage == 0) {
        if (open_.count(top.node)) return error("the branches of node {} lead back to it", top.node);
        open_.insert({top.node, true});
      }
      const TreeRef& child = top.stage++ == 0 ? node.on_true : node.on_false;
      SV_TRY(check(child));
      if (child.leaf || done_[static_cast<size_t>(child.index)]) continue;
      if (open_.count(child.index)) return error("the branches of node {} lead back to it", child.index);
      stack.push_back({child.index, 0});
    }
    return place_of(root);
  }

  Status finish(const TreeSpecNode& node, size_t i) {
    if (forest_.nodes.size() + node.members.size() * 2 > kMostTreeNodes) return unimplemented("more than {} nodes", kMostTreeNodes);
    if (node.feature < 0) return error("feature {} is negative", node.feature);
    places_[i] = compare(node, place_of(node.on_true), place_of(node.on_false));
    done_[i] = true;
    open_.erase(static_cast<int64_t>(i));
    return {};
  }

  int32_t compare(const TreeSpecNode& node, int32_t yes, int32_t no) {
    const Key at = threshold_key(node.value, Key{});
    const bool number = node.value == node.value;
    // Nothing is below the least key but it; no comparison with what is not a number holds, but "not equal".
    const Key never = std::numeric_limits<Key>::min();
    const bool missing = node.missing_true;
    switch (node.mode) {
      case TreeMode::leq:
        return add_node(number ? at : never, node.feature, yes, no, missing);
      case TreeMode::lt:
        return add_node(number ? at - 1 : never, node.feature, yes, no, missing);
      case TreeMode::gt:
        return number ? add_node(at, node.feature, no, yes, !missing) : add_node(never, node.feature, yes, no, missing);
      case TreeMode::gte:
        return number ? add_node(at - 1, node.feature, no, yes, !missing) : add_node(never, node.feature, yes, no, missing);
      case TreeMode::eq:
        return equal(node.value, node.feature, yes, no, missing);
      case TreeMode::neq:
        return equal(node.value, node.feature, no, yes, false);  // what is no number differs from every one
      case TreeMode::member:
        for (auto member = node.members.rbegin(); member != node.members.rend(); ++member)
          no = equal(*member, node.feature, yes, no, missing);
        return no;
      case TreeMode::leaf:
        break;
    }
    return no;
  }

  /// x <= v, and not x <= the number before. What is not a number is equal to nothing, and goes to `yes` where `missing` says so.
  int32_t equal(double value, int64_t feature, int32_t yes, int32_t no, bool missing) {
    if (value != value) return add_node(std::numeric_limits<Key>::min(), feature, yes, no, missing);
    const Key at = threshold_key(value, Key{});
    const int32_t below = add_node(static_cast<Key>(at - 1), feature, no, yes, false);
    return add_node(at, feature, below, no, missing);
  }

  const TreeSpec& spec_;
  Forest<Key> forest_;
  std::vector<int32_t> places_, leaf_places_;
  std::vector<bool> done_;
  std::unordered_map<int64_t, bool> open_;
  std::map<std::pair<int64_t, bool>, int32_t> columns_;
};

template <int kRows, class Key>
void walk(const Forest<Key>& forest, int32_t root, const Key* keys, int64_t stride, int32_t* at) {
  const TreeNode<Key>* nodes = forest.nodes.data();
  for (int r = 0; r < kRows; ++r) at[r] = root;
  for (int32_t moved = 1; moved;) {
    moved = 0;
    for (int r = 0; r < kRows; ++r) {
      const TreeNode<Key>& n = nodes[at[r]];
      const int32_t next = keys[r * stride + n.column] <= n.value ? n.on_true : n.on_false;
      moved |= next ^ at[r];
      at[r] = next;
    }
  }
  for (int r = 0; r < kRows; ++r) at[r] = static_cast<int32_t>(nodes[at[r]].value);
}

}  // namespace

int32_t tree_key(float x) { return ordered_key<int32_t>(std::bit_cast<uint32_t>(x)); }
int64_t tree_key(double x) { return ordered_key<int64_t>(std::bit_cast<uint64_t>(x)); }

template <class Key>
Result<Forest<Key>> compile_forest(const TreeSpec& spec) {
  return ForestCompiler<Key>(spec).run();
}

template <class Key>
void walk_tree(const Forest<Key>& forest, int32_t root, const Key* keys, int64_t stride, int64_t rows,
               int32_t (&leaves)[kTreeRows]) {
  // A few rows walk one by one: the processor begins the next tree meanwhile.
  if (rows > kTreeRows / 2) return walk<kTreeRows>(forest, root, keys, stride, leaves);
  for (int64_t r = 0; r < rows; ++r) walk<1>(forest, root, keys + r * stride, stride, leaves + r);
}

template Result<Forest<int32_t>> compile_forest(const TreeSpec&);
template Result<Forest<int64_t>> compile_forest(const TreeSpec&);
template void walk_tree(const Forest<int32_t>&, int32_t, const int32_t*, int64_t, int64_t, int32_t (&)[kTreeRows]);
template void walk_tree(const Forest<int64_t>&, int32_t, const int64_t*, int64_t, int64_t, int32_t (&)[kTreeRows]);

}  // namespace svengine::ops
