// SVMClassifier: every two classes are compared by their support vectors, and the class that wins most is the label; scores are
// those of the comparisons, or probabilities made of them. Without support vectors each class has a score of its own. As libsvm,
// and in what two classes give, as ONNX Runtime.
#include <algorithm>
#include <cmath>

#include "engine/ops/ml/svm_common.h"

namespace svengine::ops {
namespace {

struct SvmClasses {
  SvmFunction function;
  std::vector<float> vectors, coefficients, rho, prob_a, prob_b;
  std::vector<int64_t> starts, sizes, labels;  // starts and sizes of classes among the vectors
  int64_t classes = 0, supports = 0, features = 0;
  bool all_positive = false;

  int64_t pairs() const { return classes * (classes - 1) / 2; }
  bool linear() const { return supports == 0; }
  bool probabilities() const { return !prob_a.empty() && !linear(); }
  /// Numbers in scratch: a row, kernels, scores, votes, pairwise probabilities and the solver's matrix.
  int64_t scratch() const {
    return features + supports + std::max(pairs(), classes) + 2 + classes + 2 * classes * classes + 2 * classes;
  }
};

int64_t svm_class_count(const Attributes& attributes) {
  const size_t ints = attributes.get_ints("classlabels_ints").size(),
               strings = string_list(attributes, "classlabels_strings").size();
  return static_cast<int64_t>(std::max<size_t>(1, ints + strings));
}

int64_t svm_columns(const Attributes& attributes) {
  const int64_t classes = svm_class_count(attributes);
  const bool linear = attributes.get_ints("vectors_per_class").empty(), probabilities = !float_list(attributes, "prob_a").empty();
  if (linear || probabilities || classes <= 2) return classes;
  return classes * (classes - 1) / 2;
}

Result<SvmClasses> svm_classes(const Attributes& attributes, int64_t features) {
  SvmClasses m;
  SV_ASSIGN(m.function, svm_function(attributes));
  m.vectors = float_list(attributes, "support_vectors");
  m.coefficients = float_list(attributes, "coefficients");
  m.rho = float_list(attributes, "rho");
  m.prob_a = float_list(attributes, "prob_a");
  m.prob_b = float_list(attributes, "prob_b");
  m.sizes = attributes.get_ints("vectors_per_class");
  m.labels = attributes.get_ints("classlabels_ints");
  m.classes = svm_class_count(attributes);
  m.features = features;
  m.all_positive = std::all_of(m.coefficients.begin(), m.coefficients.end(), [](float w) { return w >= 0; });
  for (const int64_t n : m.sizes) {
    if (n < 0 || n > static_cast<int64_t>(m.vectors.size())) return error("vectors_per_class has {}", n);
    m.starts.push_back(m.supports);
    m.supports += n;
  }
  const auto coefficients = static_cast<int64_t>(m.coefficients.size()), rho = static_cast<int64_t>(m.rho.size());
  if (m.linear()) {
    m.function = SvmFunction();
    if (features > 0 && m.classes > coefficients / features)
      return error("{} coefficients for {} classes of {} features", coefficients, m.classes, features);
    if (m.rho.empty()) m.rho = {0};
    return m;
  }
  if (static_cast<int64_t>(m.sizes.size()) != m.classes || m.classes < 2)
    return error("vectors_per_class has {} entries for {} classes; needs two at least", m.sizes.size(), m.classes);
  if (features > 0 && m.supports > static_cast<int64_t>(m.vectors.size()) / features)
    return error("{} numbers for {} vectors of {} features", m.vectors.size(), m.supports, features);
  if (coefficients < (m.classes - 1) * m.supports || rho < m.pairs())
    return error("{} coefficients and {} rho for {} classes and {} vectors", coefficients, rho, m.classes, m.supports);
  if (m.prob_a.size() != m.prob_b.size() || (!m.prob_a.empty() && static_cast<int64_t>(m.prob_a.size()) < m.pairs()))
    return error("{} prob_a and {} prob_b for {} pairs of classes", m.prob_a.size(), m.prob_b.size(), m.pairs());
  return m;
}

/// Wu, Lin and Weng 2004 (second approach), as libsvm's multiclass_probability: p from pairwise r[i * k + j].
void couple_probabilities(int64_t k, const double* r, double* q, double* qp, double* p) {
  constexpr int kIterations = 100;
  const double eps = 0.005 / static_cast<double>(k);
  for (int64_t t = 0; t < k; ++t) {
    p[t] = 1.0 / static_cast<double>(k);
    q[t * k + t] = 0;
    for (int64_t j = 0; j < k; ++j)
      if (j != t) {
        q[t * k + t] += r[j * k + t] * r[j * k + t];
        q[t * k + j] = -r[j * k + t] * r[t * k + j];
      }
  }
  for (int round = 0; round < std::max<int64_t>(kIterations, k); ++round) {
    double pqp = 0, worst = 0;
    for (int64_t t = 0; t < k; ++t) {
      qp[t] = 0;
      for (int64_t j = 0; j < k; ++j) qp[t] += q[t * k + j] * p[j];
      pqp += p[t] * qp[t];
    }
    for (int64_t t = 0; t < k; ++t) worst = std::max(worst, std::fabs(qp[t] - pqp));
    if (worst < eps) return;
    for (int64_t t = 0; t < k; ++t) {
      const double diff = (-qp[t] + pqp) / q[t * k + t];
      p[t] += diff;
      pqp = (pqp + diff * (diff * q[t * k + t] + 2 * qp[t])) / ((1 + diff) * (1 + diff));
      for (int64_t j = 0; j < k; ++j) {
        qp[j] = (qp[j] + diff * q[t * k + j]) / (1 + diff);
        p[j] /= 1 + diff;
      }
    }
  }
}

/// The scores of all pairs, and each class's votes.
void compare_pairs(const SvmClasses& m, const double* kernels, double* scores, double* votes) {
  int64_t pair = 0;
  for (int64_t i = 0; i < m.classes; ++i)
    for (int64_t j = i + 1; j < m.classes; ++j, ++pair) {
      const auto ii = static_cast<size_t>(i), jj = static_cast<size_t>(j);
      const float *of_i = m.coefficients.data() + (j - 1) * m.supports, *of_j = m.coefficients.data() + i * m.supports;
      double sum = 0;
      for (int64_t s = m.starts[ii]; s < m.starts[ii] + m.sizes[ii]; ++s) sum += of_i[s] * kernels[s];
      for (int64_t s = m.starts[jj]; s < m.starts[jj] + m.sizes[jj]; ++s) sum += of_j[s] * kernels[s];
      scores[pair] = sum + m.rho[static_cast<size_t>(pair)];
      votes[scores[pair] > 0 ? i : j] += 1;
    }
}

void pair_probabilities(const SvmClasses& m, double* scores, double* r, double* q, double* qp, double* p) {
  constexpr double kLeast = 1e-7;
  for (int64_t i = 0, pair = 0; i < m.classes; ++i)
    for (int64_t j = i + 1; j < m.classes; ++j, ++pair) {
      const auto at = static_cast<size_t>(pair);
      const double raw = 1 - logistic(scores[pair] * m.prob_a[at] + m.prob_b[at]);
      const double value = std::clamp(raw, kLeast, 1 - kLeast);
      r[i * m.classes + j] = value;
      r[j * m.classes + i] = 1 - value;
    }
  couple_probabilities(m.classes, r, q, qp, p);
}

/// One row's scores, in `scores` (room for two at least), and the number of its class.
int64_t classify(const SvmClasses& m, const double* x, double* work, double* scores, double& weight) {
  double *kernels = work, *votes = kernels + m.supports, *r = votes + m.classes, *q = r + m.classes * m.classes,
         *qp = q + m.classes * m.classes, *p = qp + m.classes;
  if (m.linear()) {
    for (int64_t k = 0; k < m.classes; ++k)
      scores[k] = m.function(x, m.coefficients.data() + k * m.features, m.features) + m.rho[0];
    const int64_t best = std::max_element(scores, scores + m.classes) - scores;
    weight = scores[best];
    return best;
  }
  for (int64_t s = 0; s < m.supports; ++s) kernels[s] = m.function(x, m.vectors.data() + s * m.features, m.features);
  std::fill_n(votes, m.classes, 0.0);
  compare_pairs(m, kernels, scores, votes);
  if (m.probabilities()) {
    pair_probabilities(m, scores, r, q, qp, p);
    std::copy_n(p, m.classes, scores);
  }
  const int64_t best = std::max_element(votes, votes + m.classes) - votes;
  weight = votes[best];
  return best;
}

Status infer_svm_classifier(InferContext& c) {
  const bool strings = !string_list(c.attributes(), "classlabels_strings").empty();
  SV_TRY(infer_classifier(c, Dim(svm_columns(c.attributes()))));
  if (strings) c.set(0, DType::string, c.node().output(0)->type.shape);
  if (const auto features = known_features(c)) SV_TRY(svm_classes(c.attributes(), *features));
  return {};
}

/// The class with most votes; without support vectors ONNX Runtime's rule, that the second of two wins where the score is large
/// enough.
int64_t svm_label(const SvmClasses& m, int64_t best, double weight) {
  if (!m.linear() || m.labels.size() != 2) {
    if (m.linear() && m.rho.size() == 1 && m.labels.empty()) return weight > 0 ? 1 : 0;
    return best < static_cast<int64_t>(m.labels.size()) ? m.labels[static_cast<size_t>(best)] : best;
  }
  if (m.all_positive ? weight >= 0.5 : weight > 0) return m.labels[1];
  return m.labels[static_cast<size_t>(best)];
}

Status lower_svm_classifier(LowerContext& c) {
  SV_ASSIGN(const Rows rows, feature_rows(c.in_dims(0)));
  SV_ASSIGN(SvmClasses model, svm_classes(c.attributes(), rows.features));
  SV_ASSIGN(const PostTransform how, post_transform(c.attributes()));
  const int64_t columns = svm_columns(c.attributes()),
                scores = model.linear() || model.probabilities() ? model.classes : model.pairs();
  const auto shared = std::make_shared<const SvmClasses>(std::move(model));
  const bool two = shared->rho.size() == 1 && shared->labels.size() == 2;
  const SecondScore second = !two                         ? SecondScore::no
                             : how == PostTransform::none ? SecondScore::opposite
                                                          : SecondScore::complement;
  const DType type = c.in_type(0).dtype;
  const Buffer in = c.in(0), y = c.out(0), z = c.has_output(1) ? c.out(1) : Buffer();
  c.emit(
      "svm_classifier", rows.count,
      [=](const Run& run, int64_t begin, int64_t end) -> const char* {
        const SvmClasses& m = *shared;
        double *x = run.scratch<double>(), *s = x + m.features, *work = s + std::max(m.pairs(), m.classes) + 2;
        for (int64_t r = begin; r < end; ++r) {
          for (int64_t i = 0; i < m.features; ++i) x[i] = feature_at(type, run.get<const std::byte>(in), r * m.features + i);
          double weight = 0;
          const int64_t best = classify(m, x, work, s, weight);
          run.get<int64_t>(y)[r] = svm_label(m, best, weight);
          const int64_t n = finish_scores(how, second, s, scores);
          for (int64_t k = 0; z && k < columns; ++k) run.get<float>(z)[r * columns + k] = k < n ? static_cast<float>(s[k]) : 0.0f;
        }
        return nullptr;
      },
      shared->scratch() * 8);
  return {};
}

}  // namespace

OpDef define_svm_classifier() {
  OpDef op = {
      .name = "SVMClassifier",
      .domain = kMlDomain,
      .until = kNewestMlOpset,
      .inputs = "X",
      .outputs = {1, 2},
      .attributes = svm_attributes(),
      .canonicalize =
          [](CanonicalizeContext& c) { return canonicalize_class_labels(c, "classlabels_ints", "classlabels_strings"); },
      .infer = infer_svm_classifier,
      .lower = lower_svm_classifier,
      .samples = R"((float32[5, 2]) {kernel_type = "RBF", kernel_params = [0.5, 0.25, 2.0], rho = [0.125, -0.25, 0.5], )"
                 "coefficients = [1.0, -0.5, 0.75, 0.5, -1.0, 0.25, 0.5, -0.75], "
                 "support_vectors = [1.0, 0.0, 2.0, -1.0, 0.5, 0.0, 0.25, 1.0], vectors_per_class = [1, 2, 1], "
                 "classlabels_ints = [7, 8, 9]} 2"
                 R"((float64[4, 2]) {kernel_type = "POLY", kernel_params = [0.5, 0.25, 2.0], rho = [0.125, -0.25, 0.5], )"
                 "coefficients = [1.0, -0.5, 0.75, 0.5, -1.0, 0.25, 0.5, -0.75], "
                 "support_vectors = [1.0, 0.0, 2.0, -1.0, 0.5, 0.0, 0.25, 1.0], vectors_per_class = [1, 2, 1], "
                 "prob_a = [-1.0, -2.0, -1.5], prob_b = [0.5, 0.0, -0.25], classlabels_ints = [7, 8, 9]} 2"
                 R"((int64[4, 2]) {kernel_type = "SIGMOID", kernel_params = [0.5, 0.25, 2.0], rho = [0.125], )"
                 "coefficients = [1.0, -0.5, 0.75, 0.5, -1.0, 0.25, 0.5, -0.75], "
                 "support_vectors = [1.0, 0.0, 2.0, -1.0, 0.5, 0.0, 0.25, 1.0], vectors_per_class = [2, 2], classlabels_ints = [0, 1]} 2"
                 R"((int32[2]) {kernel_type = "LINEAR", kernel_params = [0.5, 0.25, 2.0], rho = [0.125], )"
                 "coefficients = [1.0, -0.5, 0.75, 0.5, -1.0, 0.25, 0.5, -0.75], "
                 "support_vectors = [1.0, 0.0, 2.0, -1.0, 0.5, 0.0, 0.25, 1.0], vectors_per_class = [2, 2], prob_a = [-1.5], "
                 "prob_b = [0.25], classlabels_ints = [0, 1]} 2"
                 R"((float32[3, 2]) {kernel_type = "LINEAR", kernel_params = [0.5, 0.25, 2.0], rho = [0.125, -0.25, 0.5], )"
                 "coefficients = [1.0, -0.5, 0.75, 0.5, -1.0, 0.25, 0.5, -0.75], "
                 "support_vectors = [1.0, 0.0, 2.0, -1.0, 0.5, 0.0, 0.25, 1.0], classlabels_ints = [4, 5, 6]} 2"
                 R"((float32[0, 2]) {kernel_type = "RBF", kernel_params = [0.5, 0.25, 2.0], rho = [0.125], )"
                 "coefficients = [1.0, -0.5, 0.75, 0.5, -1.0, 0.25, 0.5, -0.75], "
                 "support_vectors = [1.0, 0.0, 2.0, -1.0, 0.5, 0.0, 0.25, 1.0], vectors_per_class = [2, 2], classlabels_ints = [0, 1]} 2",
  };
  op.attributes.insert(op.attributes.end(), {ml_floats("prob_a"), ml_floats("prob_b"), ml_ints("vectors_per_class"),
                                             ml_ints("classlabels_ints"), ml_strings("classlabels_strings")});
  return op;
}

}  // namespace svengine::ops
