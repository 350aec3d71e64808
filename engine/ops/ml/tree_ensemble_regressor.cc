// TreeEnsembleRegressor: what the leaves of trees say of each target, summed, averaged, or the least or most of it.
#include "engine/graph/gradient.h"
#include "engine/ops/ml/tree_common.h"
#include "engine/ops/samples.h"

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

Status infer_tree_regressor(InferContext& c) {
  SV_TRY(require_dtype(c, 0, "X", kFeatureTypes));
  SV_TRY(post_transform(c.attributes()));
  SV_TRY(regressor_aggregate(c.attributes()));
  SV_ASSIGN(const Dim rows, row_dim(c));
  const int64_t targets = c.attributes().get_int("n_targets");
  if (targets < 1) return error("n_targets is {}, needs 1 at least", targets);
  const size_t base = real_list(c.attributes(), "base_values").size();
  if (base != 0 && static_cast<int64_t>(base) != targets) return error("{} base_values for {} targets", base, targets);
  c.set(0, DType::f32, Shape{rows, Dim(targets)});
  return {};
}

Result<TreeSpec> read_regressor(const Attributes& a) { return read_trees(a, "target", a.get_int("n_targets")); }

Status lower_tree_regressor(LowerContext& c) {
  SV_ASSIGN(const TreeAggregate aggregate, regressor_aggregate(c.attributes()));
  SV_ASSIGN(const PostTransform how, post_transform(c.attributes()));
  const int64_t targets = c.attributes().get_int("n_targets");
  return emit_trees<read_regressor>(c, aggregate, finish_regression(c.out(), DType::f32, targets, real_list(c.attributes(), "base_values"), how));
}

Sample tree_sample(SampleInput x, const char* aggregate, const char* mode, const char* post) {
  return {.inputs = {std::move(x)},
          .attributes = {{"n_targets", integer(2)},
                         {"aggregate_function", text(aggregate)},
                         {"post_transform", text(post)},
                         {"nodes_treeids", integers({0, 0, 0, 0, 0, 1, 1, 1})},
                         {"nodes_nodeids", integers({0, 1, 2, 3, 4, 0, 1, 2})},
                         {"nodes_featureids", integers({0, 0, 1, 0, 0, 2, 0, 0})},
                         {"nodes_values", std::vector<float>{0.25f, 0, -0.5f, 0, 0, 1, 0, 0}},
                         {"nodes_modes", std::vector<std::string>{mode, "LEAF", mode, "LEAF", "LEAF", mode, "LEAF", "LEAF"}},
                         {"nodes_truenodeids", integers({1, 0, 3, 0, 0, 1, 0, 0})},
                         {"nodes_falsenodeids", integers({2, 0, 4, 0, 0, 2, 0, 0})},
                         {"target_treeids", integers({0, 0, 0, 0, 1, 1})},
                         {"target_nodeids", integers({1, 3, 4, 4, 1, 2})},
                         {"target_ids", integers({0, 1, 0, 1, 1, 0})},
                         {"target_weights", std::vector<float>{0.5f, -1, 2, 0.25f, 3, -0.75f}},
                         {"base_values", std::vector<float>{0.5f, -0.25f}}}};
}

}  // namespace

OpDef define_tree_ensemble_regressor() {
  OpDef op = {
      .name = "TreeEnsembleRegressor",
      .domain = kMlDomain,
      .until = kNewestMlOpset,
      .attributes = tree_attributes(),
      .infer = infer_tree_regressor,
      .lower = lower_tree_regressor,
      .gradient = zero_gradient,
      .samples = {tree_sample(f32({5, 3}), "SUM", "BRANCH_LEQ", "NONE"),
                  tree_sample(any(DType::f64, {70, 3}), "MIN", "BRANCH_GT", "SOFTMAX"),
                  tree_sample(any(DType::i64, {9, 3}), "MAX", "BRANCH_EQ", "NONE"),
                  tree_sample(any(DType::i32, {3}), "AVERAGE", "BRANCH_LT", "LOGISTIC"),
                  tree_sample(f32({0, 3}), "SUM", "BRANCH_NEQ", "NONE"),
                  tree_sample(f32({66, 4}), "SUM", "BRANCH_GTE", "SOFTMAX_ZERO")},
  };
  op.attributes.insert(op.attributes.end(), {{"aggregate_function", AttributeKind::kString, false, text("SUM")},
                                             {"n_targets", AttributeKind::kInt},
                                             ml_ints("target_treeids"),
                                             ml_ints("target_nodeids"),
                                             ml_ints("target_ids"),
                                             ml_floats("target_weights"),
                                             ml_tensor("target_weights_as_tensor")});
  return op;
}

}  // namespace svengine::ops
