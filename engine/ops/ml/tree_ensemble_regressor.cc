// TreeEnsembleRegressor: what the leaves of trees say of each target, summed, averaged, or the least or most of it.
#include "engine/graph/gradient.h"
#include "engine/ops/ml/tree_common.h"

namespace svengine::ops {
namespace {

Result<TreeAggregate> regressor_aggregate(const Attributes& attributes) {
  const std::string how = attributes.get_string("aggregate_function", "SUM");
  if (how == "SUM") return TreeAggregate::sum;
  if (how == "AVERAGE") return TreeAggregate::average;
  if (how == "MIN") return TreeAggregate::min;
  if (how == "MAX") return TreeAggregate::max;
  return error("aggregate_function is '{}', needs AVERAGE, SUM, MIN or MAX", how);
}

Result<TreeSpec> read_regressor(const Attributes& a) { return read_trees(a, "target", a.get_int("n_targets")); }

Status infer_tree_regressor(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kFeatureTypes));
  SV_TRY(post_transform(c.attributes()));
  SV_TRY(regressor_aggregate(c.attributes()));
  SV_ASSIGN(const Dim rows, row_dim(c));
  const int64_t targets = c.attributes().get_int("n_targets");
  if (targets < 1) return error("n_targets is {}, needs 1 at least", targets);
  const size_t base = real_list(c.attributes(), "base_values").size();
  if (base != 0 && static_cast<int64_t>(base) != targets) return error("{} base_values for {} targets", base, targets);
  SV_TRY(check_trees<read_regressor>(c));
  c.set(0, DType::f32, Shape{rows, Dim(targets)});
  return {};
}

Status lower_tree_regressor(LowerContext& c) {
  SV_ASSIGN(const TreeAggregate aggregate, regressor_aggregate(c.attributes()));
  SV_ASSIGN(const PostTransform how, post_transform(c.attributes()));
  const int64_t targets = c.attributes().get_int("n_targets");
  return emit_trees<read_regressor>(c, aggregate, finish_regression(c.out(), DType::f32, targets, real_list(c.attributes(), "base_values"), how));
}

/// Two trees whose branches all compare by `mode`.
std::string tree_sample(const char* x, const char* aggregate, const char* mode, const char* post) {
  return fmt::format(
      R"(({0}) {{n_targets = 2, aggregate_function = "{1}", post_transform = "{3}", )"
      R"(nodes_treeids = [0, 0, 0, 0, 0, 1, 1, 1], nodes_nodeids = [0, 1, 2, 3, 4, 0, 1, 2], )"
      R"(nodes_featureids = [0, 0, 1, 0, 0, 2, 0, 0], nodes_values = [0.25, 0.0, -0.5, 0.0, 0.0, 1.0, 0.0, 0.0], )"
      R"(nodes_modes = ["{2}", "LEAF", "{2}", "LEAF", "LEAF", "{2}", "LEAF", "LEAF"], )"
      R"(nodes_truenodeids = [1, 0, 3, 0, 0, 1, 0, 0], nodes_falsenodeids = [2, 0, 4, 0, 0, 2, 0, 0], )"
      "target_treeids = [0, 0, 0, 0, 1, 1], target_nodeids = [1, 3, 4, 4, 1, 2], target_ids = [0, 1, 0, 1, 1, 0], "
      "target_weights = [0.5, -1.0, 2.0, 0.25, 3.0, -0.75], base_values = [0.5, -0.25]}}",
      x, aggregate, mode, post);
}

}  // namespace

OpDef define_tree_ensemble_regressor() {
  OpDef op = {
      .name = "TreeEnsembleRegressor",
      .domain = kMlDomain,
      .until = kNewestMlOpset,
      .inputs = "X",
      .attributes = tree_attributes(),
      .infer = infer_tree_regressor,
      .lower = lower_tree_regressor,
      .gradient = zero_gradient,
      .samples = tree_sample("float32[5, 3]", "SUM", "BRANCH_LEQ", "NONE") + tree_sample("float64[70, 3]", "MIN", "BRANCH_GT", "SOFTMAX") +
                 tree_sample("int64[9, 3]", "MAX", "BRANCH_EQ", "NONE") + tree_sample("int32[3]", "AVERAGE", "BRANCH_LT", "LOGISTIC") +
                 tree_sample("float32[0, 3]", "SUM", "BRANCH_NEQ", "NONE") + tree_sample("float32[66, 4]", "SUM", "BRANCH_GTE", "SOFTMAX_ZERO"),
  };
  op.attributes.insert(op.attributes.end(), {{"aggregate_function", AttributeKind::kString, false, "SUM"},
                                             {"n_targets", AttributeKind::kInt},
                                             ml_ints("target_treeids"),
                                             ml_ints("target_nodeids"),
                                             ml_ints("target_ids"),
                                             ml_floats("target_weights"),
                                             ml_tensor("target_weights_as_tensor")});
  return op;
}

}  // namespace svengine::ops
