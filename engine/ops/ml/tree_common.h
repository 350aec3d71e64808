// TreeEnsemble and its two predecessors: from attributes to trees, and the steps that walk them.
#pragma once
#include "engine/ops/ml/forest_common.h"
#include "engine/ops/ml/ml_common.h"

namespace svengine::ops {

enum class TreeAggregate { average, sum, min, max };

/// The trees of attributes nodes_*, with votes `prefix`_treeids, _nodeids, _ids and _weights ("target", "class").
Result<TreeSpec> read_trees(const Attributes& attributes, const std::string& prefix);

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

/// Emits the steps: walks trees over all rows, then `finish` for each row.
Status emit_trees(LowerContext& c, const TreeSpec& spec, TreeAggregate aggregate, int64_t targets, FinishRow finish);

/// Writes the results of a regression: base values added, transformed, as elements of type `type`.
FinishRow finish_regression(Buffer y, DType type, int64_t targets, std::vector<double> base, PostTransform how);

}  // namespace svengine::ops
