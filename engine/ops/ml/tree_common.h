// TreeEnsemble and its two predecessors: from attributes to trees, and the steps that walk them.
#pragma once
#include "engine/graph/attribute_tables.h"
#include "engine/ops/ml/forest_common.h"
#include "engine/ops/ml/ml_common.h"

namespace svengine::ops {

enum class TreeAggregate { average, sum, min, max };

/// The trees of attributes nodes_*, for so many targets, with votes `prefix`_treeids, _nodeids, _ids and _weights ("target", "class").
Result<TreeSpec> read_trees(const Attributes& attributes, const std::string& prefix, int64_t targets);

/// The attributes that both of these operators have, but for the votes.
std::vector<AttributeDef> tree_attributes();

/// A row's scores and which targets had a vote, aggregated over all trees, to what the operator gives. `labels` is null where it
/// has none.
struct TreeScores {
  double* scores;  // room for one more than there are targets
  uint8_t* voted;
};

/// What becomes of the scores of a row. Called by many threads at once.
using FinishRow = std::function<void(const Run& run, int64_t row, TreeScores scores)>;

/// Emits the steps: walks trees over all rows, then `finish` for each row. Keys are int32 for float32 features, else int64.
Status emit_forest(LowerContext& c, std::shared_ptr<const Forest<int32_t>> forest, TreeAggregate aggregate, const FinishRow& finish);
Status emit_forest(LowerContext& c, std::shared_ptr<const Forest<int64_t>> forest, TreeAggregate aggregate, const FinishRow& finish);

/// The trees that `read`, a function Result<TreeSpec>(const Attributes&), reads; for table_of().
template <auto read, class Key>
Result<Forest<Key>> forest_of(const Attributes& attributes) {
  SV_ASSIGN(const TreeSpec spec, read(attributes));
  return compile_forest<Key>(spec);
}

/// Refuses trees that look at features which rows have not. `columns` are those of a forest.
Status check_columns(const std::vector<TreeColumn>& columns, bool has_trees, int64_t features);

template <auto read, class Key>
Status check_forest(const InferContext& c) {
  SV_ASSIGN(const auto forest, (table_of<forest_of<read, Key>>(c.attributes())));
  const std::optional<int64_t> features = known_features(c);
  return features ? check_columns(forest->columns, !forest->roots.empty(), *features) : Status{};
}

/// For inference: refuses what `read` reads where it is no forest, or none for the features of X. Keys are those that emit_trees() will use,
/// where float16 has been widened.
template <auto read>
Status check_trees(const InferContext& c) {
  const bool single = c.dtype(0) == DType::f32 || c.dtype(0) == DType::f16;
  return single ? check_forest<read, int32_t>(c) : check_forest<read, int64_t>(c);
}

/// The steps for the trees that `read` reads, which are compiled once for all plans.
template <auto read>
Status emit_trees(LowerContext& c, TreeAggregate aggregate, const FinishRow& finish) {
  if (c.in_type(0).dtype == DType::f32) {
    SV_ASSIGN(auto forest, (table_of<forest_of<read, int32_t>>(c.attributes())));
    return emit_forest(c, std::move(forest), aggregate, finish);
  }
  SV_ASSIGN(auto forest, (table_of<forest_of<read, int64_t>>(c.attributes())));
  return emit_forest(c, std::move(forest), aggregate, finish);
}

/// Writes the results of a regression: base values added, transformed, as elements of type `type`.
FinishRow finish_regression(Buffer y, DType type, int64_t targets, std::vector<double> base, PostTransform how);

}  // namespace svengine::ops
