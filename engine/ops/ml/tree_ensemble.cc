// TreeEnsemble: what the leaves of trees say of each target, aggregated; the form of ai.onnx.ml 5, with inner nodes and leaves in
// lists of their own.
#include "engine/graph/gradient.h"
#include "engine/ops/element.h"
#include "engine/ops/ml/tree_common.h"

namespace svengine::ops {
namespace {

constexpr DTypeSet kEnsembleTypes{DType::f32, DType::f64, DType::f16};

int64_t elements_of(const Attributes& a, const char* name) {
  if (const auto* numbers = a.get<std::vector<int64_t>>(name)) return static_cast<int64_t>(numbers->size());
  const Tensor* tensor = a.get<Tensor>(name);
  return tensor ? tensor->count() : 0;
}

/// One entry of every list for each node, and each leaf.
Status check_lists(const Attributes& a) {
  const int64_t nodes = elements_of(a, "nodes_splits"), leaves = elements_of(a, "leaf_weights");
  for (const char* name : {"nodes_modes", "nodes_featureids", "nodes_truenodeids", "nodes_falsenodeids", "nodes_trueleafs", "nodes_falseleafs",
                           "nodes_missing_value_tracks_true", "nodes_hitrates"})
    if (const int64_t count = elements_of(a, name); count != nodes && (a.has(name) || count > 0))
      return error("{} has {} elements, needs {} as nodes_splits has", name, count, nodes);
  if (const int64_t targets = elements_of(a, "leaf_targetids"); targets != leaves)
    return error("{} leaf_targetids, {} leaf_weights, need as many", targets, leaves);
  return {};
}

std::vector<double> tensor_numbers(const Attributes& attributes, const char* name) {
  const Tensor* t = attributes.get<Tensor>(name);
  std::vector<double> out;
  for (int64_t i = 0; t && size_of(t->type()) > 0 && i < t->count(); ++i) out.push_back(number_at(t->type(), t->raw(), i));
  return out;
}

/// Sets follow one another in `values`, in the order of their nodes, each ended by a NaN.
Result<std::vector<double>> next_members(const std::vector<double>& values, size_t& at) {
  std::vector<double> members;
  for (; at < values.size(); ++at) {
    if (values[at] != values[at]) {
      ++at;
      return members;
    }
    members.push_back(values[at]);
  }
  return error("membership_values ends within, or before, the set of a BRANCH_MEMBER node");
}

Status read_leaves(const Attributes& attributes, TreeSpec& spec) {
  const std::vector<int64_t> targets = attributes.get_ints("leaf_targetids");
  const std::vector<double> weights = tensor_numbers(attributes, "leaf_weights");
  if (targets.size() != weights.size())
    return error("{} leaf_targetids, {} leaf_weights, need as many", targets.size(), weights.size());
  for (size_t i = 0; i < targets.size(); ++i) spec.leaves.push_back({{targets[i], weights[i]}});
  return {};
}

Result<TreeSpec> read_ensemble(const Attributes& a) {
  const std::vector<int64_t> features = a.get_ints("nodes_featureids"), on_true = a.get_ints("nodes_truenodeids");
  const std::vector<int64_t> on_false = a.get_ints("nodes_falsenodeids"), true_leafs = a.get_ints("nodes_trueleafs");
  const std::vector<int64_t> false_leafs = a.get_ints("nodes_falseleafs"),
                             missing = a.get_ints("nodes_missing_value_tracks_true");
  const std::vector<double> modes = tensor_numbers(a, "nodes_modes"), splits = tensor_numbers(a, "nodes_splits");
  const std::vector<double> members = tensor_numbers(a, "membership_values");
  const size_t n = features.size();
  for (const auto* list : {&on_true, &on_false, &true_leafs, &false_leafs})
    if (list->size() != n) return error("nodes_* lists have {} and {} entries, need as many", n, list->size());
  if (modes.size() != n || splits.size() != n || (!missing.empty() && missing.size() != n))
    return error("{} nodes, but {} nodes_modes, {} nodes_splits and {} nodes_missing_value_tracks_true", n, modes.size(),
                 splits.size(), missing.size());
  TreeSpec spec;
  spec.targets = a.get_int("n_targets", 1);
  size_t at = 0;
  for (size_t i = 0; i < n; ++i) {
    if (!(modes[i] >= 0 && modes[i] <= 6)) return error("nodes_modes has {}, needs 0 to 6", modes[i]);
    TreeSpecNode node{static_cast<TreeMode>(static_cast<int>(modes[i])),
                      features[i],
                      splits[i],
                      !missing.empty() && missing[i] != 0,
                      {on_true[i], true_leafs[i] != 0},
                      {on_false[i], false_leafs[i] != 0}};
    if (node.mode == TreeMode::member) {
      SV_ASSIGN(node.members, next_members(members, at));
    }
    spec.nodes.push_back(std::move(node));
  }
  for (const int64_t root : a.get_ints("tree_roots")) spec.roots.push_back({root, false});
  SV_TRY(read_leaves(a, spec));
  return spec;
}

Status infer_tree_ensemble(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kEnsembleTypes));
  SV_TRY(require_rank(c, 0, 2));
  SV_ASSIGN(const Dim rows, row_dim(c));
  const int64_t targets = c.attributes().get_int("n_targets", 1), aggregate = c.attributes().get_int("aggregate_function", 1);
  const int64_t how = c.attributes().get_int("post_transform");
  if (targets < 1) return error("n_targets is {}, needs 1 at least", targets);
  if (aggregate < 0 || aggregate > 3) return error("aggregate_function is {}, needs 0 to 3 (average, sum, min, max)", aggregate);
  if (how < 0 || how > 4) return error("post_transform is {}, needs 0 to 4 (none, softmax, logistic, softmax_zero, probit)", how);
  SV_TRY(check_lists(c.attributes()));
  SV_TRY(check_trees<read_ensemble>(c));
  c.set(0, c.dtype(0), Shape{rows, Dim(targets)});
  return {};
}

Status lower_tree_ensemble(LowerContext& c) {
  constexpr TreeAggregate kAggregates[] = {TreeAggregate::average, TreeAggregate::sum, TreeAggregate::min, TreeAggregate::max};
  constexpr PostTransform kTransforms[] = {PostTransform::none, PostTransform::softmax, PostTransform::logistic,
                                           PostTransform::softmax_zero, PostTransform::probit};
  const int64_t targets = c.attributes().get_int("n_targets", 1);
  const TreeAggregate aggregate = kAggregates[c.attributes().get_int("aggregate_function", 1)];
  const PostTransform how = kTransforms[c.attributes().get_int("post_transform")];
  return emit_trees<read_ensemble>(c, aggregate, finish_regression(c.out(), c.out_type().dtype, targets, {}, how));
}

std::string ensemble_sample(const char* x, int aggregate, int post) {
  return fmt::format(
      "({}) {{n_targets = 2, aggregate_function = {}, post_transform = {}, tree_roots = [0, 2], nodes_featureids = [0, 1, 2], "
      "nodes_modes = uint8[3]{{0, 3, 6}}, nodes_splits = float32[3]{{0.5, -0.25, 0.0}}, membership_values = float32[3]{{1.0, -1.0, nan}}, "
      "nodes_truenodeids = [1, 0, 3], nodes_trueleafs = [0, 1, 1], nodes_falsenodeids = [1, 2, 1], nodes_falseleafs = [1, 1, 1], "
      "leaf_targetids = [0, 1, 0, 1], leaf_weights = float32[4]{{1.0, -2.0, 0.5, 3.0}}}}",
      x, aggregate, post);
}

}  // namespace

OpDef define_tree_ensemble() {
  return {
      .name = "TreeEnsemble",
      .domain = kMlDomain,
      .since = 5,
      .until = kNewestMlOpset,
      .inputs = "X",
      .attributes = {{"aggregate_function", AttributeKind::kInt, false, 1},
                     {"post_transform", AttributeKind::kInt, false, 0},
                     {"n_targets", AttributeKind::kInt},
                     {"tree_roots", AttributeKind::kInts, true},
                     {"nodes_modes", AttributeKind::kTensor, true},
                     {"nodes_splits", AttributeKind::kTensor, true},
                     {"nodes_featureids", AttributeKind::kInts, true},
                     {"nodes_truenodeids", AttributeKind::kInts, true},
                     {"nodes_trueleafs", AttributeKind::kInts, true},
                     {"nodes_falsenodeids", AttributeKind::kInts, true},
                     {"nodes_falseleafs", AttributeKind::kInts, true},
                     {"leaf_targetids", AttributeKind::kInts, true},
                     {"leaf_weights", AttributeKind::kTensor, true},
                     ml_ints("nodes_missing_value_tracks_true"),
                     ml_tensor("nodes_hitrates"),
                     ml_tensor("membership_values")},
      .infer = infer_tree_ensemble,
      .lower = lower_tree_ensemble,
      .gradient = zero_gradient,
      .samples = ensemble_sample("float32[5, 3]", 1, 0) + ensemble_sample("float64[3, 3]", 0, 1) + ensemble_sample("float32[0, 3]", 2, 2) +
                 ensemble_sample("float32[65, 4]", 3, 3),
  };
}

}  // namespace svengine::ops
