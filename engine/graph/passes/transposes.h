// Regions of a graph that Transposes may move through, and the cheapest way to place them there.
#pragma once
#include <unordered_map>

#include "engine/graph/passes/min_cut.h"
#include "engine/graph/passes/pass.h"
#include "engine/graph/transposed_node.h"

namespace svengine {

/// Of a Transpose whose input's rank is known.
std::optional<Permutation> permutation_of(const Node& transpose);

/// Elements that Transpose(v, perm) moves, `shape` being v's, which is static: none where only dimensions of 1 change places.
int64_t transposed_elements(const Shape& shape, const Permutation& perm);
/// What that costs, in elements: a step of its own, too.
int64_t transpose_cost(const Shape& shape, const Permutation& perm);

/// Nobody needs what Transpose(x, perm) gives in memory: what reads it takes the Transpose in (OpTraits::takes_transpose).
bool is_taken(const Graph& graph, const Value* transposed, const Permutation& perm);

/// A node and its neighbours by values that could be stored in another order of their dimensions. Every node of the region computes
/// either on values as they are, or on stored ones; where the two meet there are Transposes.
class TransposeRegion {
 public:
  TransposeRegion(const Graph& graph, Value* seed, Permutation perm);

  struct Mover {
    Node* node;
    TransposedNode form;
    size_t vertex = 0;
    bool moves = false;  // it is better on stored values
  };

  /// Finds the way that costs least; false when it is the one that there is.
  bool decide();

  const std::vector<Mover>& movers() const { return movers_; }
  /// How the region's values may be stored.
  const std::unordered_map<const Value*, Permutation>& stored() const { return stored_; }

 private:
  void add_value(Value* value, const Permutation& perm);
  void try_node(Node* node, const Value* value);
  bool reads_stored(const Node& node, const TransposedNode& form, const Value* value) const;
  int64_t further_cost(const Mover& mover) const;
  void add_producer(MinCut& cut, const Value* value, size_t is_stored, size_t is_plain) const;
  void add_transpose(MinCut& cut, const Value* value, const Node& transpose, size_t is_stored, size_t is_plain) const;
  void add_users(MinCut& cut, const Value* value, size_t is_stored, size_t is_plain) const;

  const Graph& graph_;
  std::vector<Value*> values_;
  std::unordered_map<const Value*, Permutation> stored_;
  std::vector<Mover> movers_;
  std::unordered_map<const Node*, size_t> mover_of_;
};

}  // namespace svengine
