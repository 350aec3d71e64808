// TreeEnsembleClassifier: votes of trees for classes; the class with most, and all scores. With two classes of which only one is ever
// voted for, the one score decides, and is written as two: so does ONNX Runtime, whose rules these are. It has others where both are voted
// for, too, whose labels are 0 and 1, whatever the labels are; here the class with most is the label then, as the specification has it. A
// single class is always the label, and its score stays as it is but for LOGISTIC, which ONNX Runtime leaves out.
#include <algorithm>

#include "engine/graph/gradient.h"
#include "engine/ops/ml/tree_common.h"

namespace svengine::ops {
namespace {

Result<TreeSpec> read_classifier(const Attributes& a) {
  return read_trees(a, "class", static_cast<int64_t>(a.get_ints("classlabels_int64s").size()));
}

Status infer_tree_classifier(InferContext& c) {
  const auto labels = static_cast<int64_t>(c.attributes().get_ints("classlabels_int64s").size() +
                                           string_list(c.attributes(), "classlabels_strings").size());
  if (labels < 1) return error("needs classlabels_int64s or classlabels_strings");
  const size_t base = real_list(c.attributes(), "base_values").size();
  if (base > static_cast<size_t>(labels)) return error("{} base_values for {} classes", base, labels);
  SV_TRY(infer_classifier(c, Dim(labels)));
  if (!c.attributes().get_ints("classlabels_int64s").empty()) return check_trees<read_classifier>(c);
  c.set(0, DType::string, c.node().output(0)->type.shape);
  return {};
}

/// Every class has its base value.
void add_bases(const std::vector<double>& base, TreeScores s) {
  for (size_t k = 0; k < base.size(); ++k) {
    s.scores[k] += base[k];
    s.voted[k] = 1;
  }
}

/// The one score of two classes of which only one is voted for, with base values as ONNX Runtime adds them; the number of scores that there
/// are to be written.
int64_t add_binary_base(const std::vector<double>& base, TreeScores s) {
  if (base.size() == 2) {
    if (s.voted[1]) {
      // The first is not used; ONNX Runtime takes both to be equal.
      s.scores[1] = base[1] + s.scores[0];
      s.scores[0] = -s.scores[1];
    } else {
      s.scores[0] += base[0];
    }
    for (int k = 0; k < 2; ++k) s.scores[k] *= s.voted[k];  // what nobody voted for is written as zero
    return 2;
  }
  if (base.size() == 1) s.scores[0] += base[0];
  if (!s.voted[0] && s.voted[1]) s.scores[0] = 0;
  return s.voted[1] ? 2 : 1;
}

/// Labels follow from the scores that are written: ten votes of float32's 0.1 in double would not be the tie that they show as.
void round_scores(TreeScores s, int64_t n) {
  std::transform(s.scores, s.scores + n, s.scores, [](double score) { return static_cast<float>(score); });
}

/// The first of those with most votes.
size_t top_class(TreeScores s, int64_t classes) {
  int64_t best = 0;
  for (int64_t k = 1; k < classes; ++k)
    if (s.voted[k] && (!s.voted[best] || s.scores[k] > s.scores[best])) best = k;
  return static_cast<size_t>(best);
}

Status lower_tree_classifier(LowerContext& c) {
  SV_ASSIGN(const PostTransform how, post_transform(c.attributes()));
  const std::vector<int64_t> labels = c.attributes().get_ints("classlabels_int64s"), ids = c.attributes().get_ints("class_ids");
  const std::vector<double> base = real_list(c.attributes(), "base_values"), weights = real_list(c.attributes(), "class_weights");
  const auto classes = static_cast<int64_t>(labels.size());
  const bool one_of_two = classes == 2 && std::adjacent_find(ids.begin(), ids.end(), std::not_equal_to<>()) == ids.end();
  const bool all_positive = std::all_of(weights.begin(), weights.end(), [](double w) { return w >= 0; });  // scores are probabilities
  const Buffer y = c.out(0), z = c.has_output(1) ? c.out(1) : Buffer();
  return emit_trees<read_classifier>(c, TreeAggregate::sum, [=](const Run& run, int64_t row, TreeScores s) {
    int64_t n = classes, label = labels[0];
    SecondScore second = SecondScore::no;
    if (one_of_two) {
      n = add_binary_base(base, s);
      round_scores(s, n);
      const double weight = n == 2 && s.voted[1] ? s.scores[1] : s.voted[0] ? s.scores[0] : 0;
      second = all_positive ? SecondScore::complement : SecondScore::opposite;
      label = labels[weight > (all_positive ? 0.5 : 0) ? 1 : 0];
    } else {
      add_bases(base, s);
      round_scores(s, n);
      label = labels[top_class(s, n)];
      if (n == 1 && how == PostTransform::logistic) s.scores[0] = logistic(s.scores[0]);
    }
    run.get<int64_t>(y)[row] = label;
    n = finish_scores(how, second, s.scores, n);
    if (!z) return;
    for (int64_t k = 0; k < classes; ++k) run.get<float>(z)[row * classes + k] = k < n ? static_cast<float>(s.scores[k]) : 0.0f;
  });
}

std::string forest_sample(const char* x, const char* labels, const char* ids, const char* post) {
  return fmt::format(
      R"(({}) {{classlabels_int64s = [{}], post_transform = "{}", )"
      R"(nodes_treeids = [0, 0, 0, 0, 0, 1, 1, 1], nodes_nodeids = [0, 1, 2, 3, 4, 0, 1, 2], )"
      R"(nodes_featureids = [0, 0, 1, 0, 0, 2, 0, 0], nodes_values = [0.25, 0.0, -0.5, 0.0, 0.0, 1.0, 0.0, 0.0], )"
      R"(nodes_modes = ["BRANCH_LEQ", "LEAF", "BRANCH_LT", "LEAF", "LEAF", "BRANCH_GT", "LEAF", "LEAF"], )"
      R"(nodes_truenodeids = [1, 0, 3, 0, 0, 1, 0, 0], nodes_falsenodeids = [2, 0, 4, 0, 0, 2, 0, 0], )"
      "class_treeids = [0, 0, 0, 0, 1, 1], class_nodeids = [1, 3, 4, 4, 1, 2], class_ids = [{}], "
      "class_weights = [0.5, -1.0, 2.0, 0.25, 3.0, -0.75]}} 2",
      x, labels, post, ids);
}

}  // namespace

OpDef define_tree_ensemble_classifier() {
  OpDef op = {
      .name = "TreeEnsembleClassifier",
      .domain = kMlDomain,
      .until = kNewestMlOpset,
      .inputs = "X",
      .outputs = {1, 2},
      .attributes = tree_attributes(),
      .canonicalize = [](CanonicalizeContext& c) { return canonicalize_class_labels(c, "classlabels_int64s", "classlabels_strings"); },
      .infer = infer_tree_classifier,
      .lower = lower_tree_classifier,
      .gradient = zero_gradient,
      .samples = forest_sample("float32[5, 3]", "7, 8, 9", "0, 1, 2, 0, 1, 2", "NONE") +
                 forest_sample("float64[70, 3]", "0, 1", "1, 1, 1, 1, 1, 1", "LOGISTIC") +
                 forest_sample("int64[9, 3]", "0, 1", "0, 1, 0, 1, 1, 0", "SOFTMAX") +
                 forest_sample("int32[2, 3]", "5, 3, 1", "0, 1, 2, 2, 1, 0", "SOFTMAX_ZERO") +
                 forest_sample("float32[0, 3]", "7, 8, 9", "0, 1, 2, 0, 1, 2", "NONE"),
  };
  op.attributes.insert(op.attributes.end(), {ml_ints("classlabels_int64s"), ml_strings("classlabels_strings"),
                                             ml_ints("class_treeids"), ml_ints("class_nodeids"), ml_ints("class_ids"),
                                             ml_floats("class_weights"), ml_tensor("class_weights_as_tensor")});
  return op;
}

}  // namespace svengine::ops
