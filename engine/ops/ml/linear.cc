// LinearRegressor and LinearClassifier: products of rows with coefficients, plus intercepts, transformed.
#include <algorithm>

#include "engine/ops/ml/ml_common.h"
#include "engine/ops/samples.h"

namespace svengine::ops {
namespace {

constexpr int64_t kLinearRows = 16;  // of a task

/// Scores of all classes or targets of a row.
struct LinearModel {
  std::vector<float> coefficients;  // [scores][features]
  std::vector<float> intercepts;    // none, or one for each score
  int64_t scores, features;

  template <class T>
  void row(const T* x, double* out) const {
    for (int64_t s = 0; s < scores; ++s) {
      const float* w = coefficients.data() + s * features;
      double sums[4] = {};
      int64_t i = 0;
      for (; i + 4 <= features; i += 4)
        for (int k = 0; k < 4; ++k) sums[k] += static_cast<double>(x[i + k]) * static_cast<double>(w[i + k]);
      for (; i < features; ++i) sums[0] += static_cast<double>(x[i]) * static_cast<double>(w[i]);
      out[s] = (sums[0] + sums[1]) + (sums[2] + sums[3]) + (intercepts.empty() ? 0 : intercepts[static_cast<size_t>(s)]);
    }
  }
};

Result<LinearModel> linear_model(const Attributes& attributes, int64_t scores, int64_t features) {
  LinearModel m{float_list(attributes, "coefficients"), float_list(attributes, "intercepts"), scores, features};
  if (static_cast<int64_t>(m.coefficients.size()) < scores * features)
    return error("{} coefficients for {} scores of {} features", m.coefficients.size(), scores, features);
  if (!m.intercepts.empty() && static_cast<int64_t>(m.intercepts.size()) != scores)
    return error("{} intercepts for {} scores", m.intercepts.size(), scores);
  return m;
}

/// Emits the rows; finish(run, row, scores) has room for one score more than there are.
template <class Finish>
Status emit_linear(LowerContext& c, const char* kernel, int64_t scores, Finish finish) {
  SV_ASSIGN(const Rows rows, feature_rows(c.in_dims(0)));
  if (rows.features > (int64_t{1} << 40) / scores)
    return error("{} features are more than there can be coefficients for", rows.features);
  SV_ASSIGN(LinearModel model, linear_model(c.attributes(), scores, rows.features));
  const auto shared = std::make_shared<const LinearModel>(std::move(model));
  const Buffer x = c.in(0);
  with_feature_type(c.in_type(0).dtype, [&]<class T>() {
    c.emit(
        kernel, ceil_div(rows.count, kLinearRows),
        [=](const Run& run, int64_t begin, int64_t end) -> const char* {
          double* row_scores = run.scratch<double>();
          for (int64_t r = begin * kLinearRows; r < std::min(rows.count, end * kLinearRows); ++r) {
            shared->row(run.get<const T>(x) + r * rows.features, row_scores);
            finish(run, r, row_scores);
          }
          return nullptr;
        },
        (scores + 1) * 8);
  });
  return {};
}

Status infer_linear_regressor(InferContext& c) {
  SV_TRY(require_dtype(c, 0, "X", kFeatureTypes));
  SV_TRY(post_transform(c.attributes()));
  const int64_t targets = c.attributes().get_int("targets", 1);
  if (targets < 1) return error("targets is {}, needs 1 at least", targets);
  SV_ASSIGN(const Dim rows, row_dim(c));
  c.set(0, DType::f32, Shape{rows, Dim(targets)});
  return {};
}

Status lower_linear_regressor(LowerContext& c) {
  SV_ASSIGN(const PostTransform how, post_transform(c.attributes()));
  const int64_t targets = c.attributes().get_int("targets", 1);
  return emit_linear(c, "linear_regressor", targets, [=, y = c.out()](const Run& run, int64_t row, double* scores) {
    finish_scores(how, SecondScore::no, scores, targets);
    std::copy_n(scores, targets, run.get<float>(y) + row * targets);
  });
}

/// Classes are those with coefficients of their own: one, where two labels share a score. As many as there are labels, or
/// intercepts.
int64_t linear_scores(const Attributes& attributes) {
  const size_t intercepts = float_list(attributes, "intercepts").size();
  return static_cast<int64_t>(intercepts ? intercepts : std::max<size_t>(1, attributes.get_ints("classlabels_ints").size()));
}

Status infer_linear_classifier(InferContext& c) {
  const auto labels = static_cast<int64_t>(c.attributes().get_ints("classlabels_ints").size() +
                                           string_list(c.attributes(), "classlabels_strings").size());
  const int64_t scores = linear_scores(c.attributes());
  if (scores > 1 && labels < scores) return error("{} class labels for {} scores", labels, scores);
  const bool strings = !string_list(c.attributes(), "classlabels_strings").empty();
  SV_TRY(infer_classifier(c, Dim(scores == 1 && labels == 2 ? 2 : scores)));
  if (strings) c.set(0, DType::string, c.node().output(0)->type.shape);
  return {};
}

Status lower_linear_classifier(LowerContext& c) {
  SV_ASSIGN(const PostTransform how, post_transform(c.attributes()));
  const int64_t scores = linear_scores(c.attributes());
  std::vector<int64_t> labels = c.attributes().get_ints("classlabels_ints");
  const bool two = scores == 1 && labels.size() == 2;
  if (scores == 1 && !two) labels = {0, 1};
  const Buffer y = c.out(0), z = c.has_output(1) ? c.out(1) : Buffer();
  const int64_t columns = two ? 2 : scores;
  return emit_linear(c, "linear_classifier", scores, [=](const Run& run, int64_t row, double* s) {
    const size_t best = scores == 1 ? s[0] > 0 : static_cast<size_t>(std::max_element(s, s + scores) - s);
    run.get<int64_t>(y)[row] = labels[best];
    if (scores == 1 && how == PostTransform::logistic && !two) s[0] = logistic(s[0]);
    if (scores == 1 && how == PostTransform::softmax && !two) s[0] = 1;
    const int64_t n = finish_scores(how, two ? SecondScore::complement : SecondScore::no, s, scores);
    for (int64_t k = 0; z && k < columns; ++k) run.get<float>(z)[row * columns + k] = k < n ? static_cast<float>(s[k]) : 0.0f;
  });
}

}  // namespace

OpDef define_linear_regressor() {
  const auto sample = [](SampleInput x, int64_t targets, const char* post) {
    return Sample{.inputs = {std::move(x)},
                  .attributes = {{"targets", integer(targets)},
                                 {"post_transform", text(post)},
                                 {"coefficients", std::vector<float>{0.5f, -1, 2, 0.25f, 3, -0.75f}},
                                 {"intercepts", targets == 2 ? std::vector<float>{1, -1} : std::vector<float>{0.5f}}}};
  };
  return {
      .name = "LinearRegressor",
      .domain = kMlDomain,
      .until = kNewestMlOpset,
      .attributes = {ml_floats("coefficients"),
                     ml_floats("intercepts"),
                     {"targets", AttributeKind::kInt, false, integer(1)},
                     ml_post_transform()},
      .infer = infer_linear_regressor,
      .lower = lower_linear_regressor,
      .samples = {sample(f32({5, 3}), 2, "NONE"), sample(any(DType::f64, {33, 6}), 1, "LOGISTIC"),
                  sample(any(DType::i64, {2, 3}), 2, "SOFTMAX"), sample(any(DType::i32, {3}), 2, "SOFTMAX_ZERO"),
                  sample(f32({0, 3}), 2, "NONE")},
  };
}

OpDef define_linear_classifier() {
  const auto sample = [](SampleInput x, std::vector<int64_t> labels, std::vector<float> intercepts, const char* post) {
    return Sample{.inputs = {std::move(x)},
                  .attributes = {{"classlabels_ints", std::move(labels)},
                                 {"post_transform", text(post)},
                                 {"intercepts", std::move(intercepts)},
                                 {"coefficients", std::vector<float>{0.5f, -1, 2, 0.25f, 3, -0.75f}}},
                  .outputs = 2};
  };
  return {
      .name = "LinearClassifier",
      .domain = kMlDomain,
      .until = kNewestMlOpset,
      .outputs = {1, 2},
      .attributes = {{"coefficients", AttributeKind::kFloats, true},
                     ml_floats("intercepts"),
                     ml_ints("classlabels_ints"),
                     ml_strings("classlabels_strings"),
                     {"multi_class", AttributeKind::kInt, false, integer(0)},
                     ml_post_transform()},
      .canonicalize =
          [](CanonicalizeContext& c) { return canonicalize_class_labels(c, "classlabels_ints", "classlabels_strings"); },
      .infer = infer_linear_classifier,
      .lower = lower_linear_classifier,
      .samples = {sample(f32({5, 2}), {7, 8, 9}, {1, -1, 0.5f}, "SOFTMAX"),
                  sample(any(DType::f64, {33, 3}), {3, 4}, {0.5f}, "LOGISTIC"),
                  sample(any(DType::i64, {4, 3}), {3, 4}, {0.5f, 1}, "NONE"),
                  sample(any(DType::i32, {2}), {7, 8, 9}, {}, "PROBIT"), sample(f32({0, 2}), {7, 8, 9}, {1, -1, 0.5f}, "NONE")},
  };
}

}  // namespace svengine::ops
