// LinearRegressor and LinearClassifier: products of rows with coefficients, plus intercepts, transformed.
#include <algorithm>
#include <optional>

#include "engine/kernels/elementwise.h"
#include "engine/kernels/reduce.h"
#include "engine/kernels/softmax.h"
#include "engine/ops/element_step.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/ml/ml_common.h"
#include "engine/ops/nn/product_common.h"

namespace svengine::ops {
namespace {

constexpr int64_t kLinearRows = 16;   // of a task
constexpr int64_t kProductRows = 32;  // from so many on, packing operands pays

/// Scores of all classes or targets of a row. In doubles, but for several scores of float32 features, which are products of float32
/// matrices as in ONNX Runtime.
struct LinearModel {
  std::vector<double> coefficients;  // [scores][features]
  std::vector<double> intercepts;    // [scores]
  int64_t scores, features;

  template <class T>
  void row(const T* x, double* out) const {
    for (int64_t s = 0; s < scores; ++s) {
      const double* w = coefficients.data() + s * features;
      out[s] = sum_of(features, [&](int64_t i) { return static_cast<double>(x[i]) * w[i]; }) + intercepts[static_cast<size_t>(s)];
    }
  }
};

Result<LinearModel> linear_model(const Attributes& attributes, int64_t scores, int64_t features) {
  if (features > (int64_t{1} << 40) / scores) return unimplemented("{} features are more than there can be coefficients for", features);
  const std::vector<float> coefficients = float_list(attributes, "coefficients"), intercepts = float_list(attributes, "intercepts");
  if (static_cast<int64_t>(coefficients.size()) < scores * features)
    return error("{} coefficients for {} scores of {} features", coefficients.size(), scores, features);
  if (!intercepts.empty() && static_cast<int64_t>(intercepts.size()) != scores)
    return error("{} intercepts for {} scores", intercepts.size(), scores);
  LinearModel m{{coefficients.begin(), coefficients.begin() + scores * features}, {intercepts.begin(), intercepts.end()}, scores, features};
  if (intercepts.empty()) m.intercepts.assign(static_cast<size_t>(scores), 0);
  return m;
}

/// Emits scores_of(run, row, scores) and finish(run, row, scores) for every row; there is room for one score more than there are.
template <class ScoresOf, class Finish>
void emit_scored_rows(LowerContext& c, const char* kernel, int64_t rows, int64_t scores, ScoresOf scores_of, Finish finish) {
  c.emit(
      kernel, ceil_div(rows, kLinearRows),
      [=](const Run& run, int64_t begin, int64_t end) -> const char* {
        double* out = run.scratch<double>();
        for (int64_t r = begin * kLinearRows; r < std::min(rows, end * kLinearRows); ++r) {
          scores_of(run, r, out);
          finish(run, r, out);
        }
        return nullptr;
      },
      (scores + 1) * 8);
}

/// Input 0 as doubles.
template <class T>
Buffer emit_linear_input(LowerContext& c, int64_t count) {
  if constexpr (std::is_same_v<T, double>) return c.in(0);
  const Buffer wide = c.temporary(count * 8);
  emit_elements(c, "linear_input", count, [=, x = c.in(0)](const Run& run, int64_t begin, int64_t end) {
    std::copy(run.get<const T>(x) + begin, run.get<const T>(x) + end, run.get<double>(wide) + begin);
  });
  return wide;
}

/// The scores of all rows, [rows][scores], as a product of matrices.
template <class T>
Buffer emit_linear_product(LowerContext& c, const LinearModel& m, int64_t rows) {
  const auto table = [&](const std::vector<double>& numbers) { return c.table(std::as_bytes(std::span(numbers))); };
  Product p;
  p.type = DType::f64;
  p.m = rows;
  p.n = m.scores;
  p.k = m.features;
  const Buffer all = p.c = c.temporary(rows * m.scores * 8);
  p.a.buffer = emit_linear_input<T>(c, rows * m.features);
  p.a.ld = m.features;
  p.b.buffer = table(m.coefficients);
  p.b.ld = m.features;
  p.b.transposed = true;
  p.ldc = m.scores;
  p.bias = {table(m.intercepts), kernels::GemmBias::kColumn};
  emit_product(c, std::move(p));
  return all;
}

/// Emits the scores of all rows, and finish(run, row, scores) for each, which has room for one score more than there are.
template <class Finish>
Status emit_linear(LowerContext& c, const char* kernel, int64_t scores, Finish finish) {
  SV_ASSIGN(const Rows rows, feature_rows(c.in_dims(0)));
  SV_ASSIGN(LinearModel model, linear_model(c.attributes(), scores, rows.features));
  with_feature_type(c.in_type(0).dtype, [&]<class T>() {
    if (rows.count >= kProductRows && scores > 1 && rows.features > 0) {
      const Buffer all = emit_linear_product<T>(c, model, rows.count);
      const auto scores_of = [=](const Run& run, int64_t r, double* out) { std::copy_n(run.get<const double>(all) + r * scores, scores, out); };
      return emit_scored_rows(c, kernel, rows.count, scores, scores_of, finish);
    }
    const auto scores_of = [x = c.in(0), shared = std::make_shared<const LinearModel>(std::move(model))](const Run& run, int64_t r, double* out) {
      shared->row(run.get<const T>(x) + r * shared->features, out);
    };
    emit_scored_rows(c, kernel, rows.count, scores, scores_of, finish);
  });
  return {};
}

/// What kernels compute of whole matrices of float32.
bool by_float_kernels(LowerContext& c, PostTransform how, const Rows& rows, int64_t scores) {
  const bool known = how == PostTransform::none || how == PostTransform::softmax || how == PostTransform::logistic;
  return known && c.in_type(0).dtype == DType::f32 && scores > 1 && rows.features > 0 && rows.count > 0;
}

/// The scores of all rows as they are: [rows][scores] of float32.
void emit_float_scores(LowerContext& c, const LinearModel& m, int64_t rows, Buffer to) {
  const auto table = [&](const std::vector<double>& numbers) {
    const std::vector<float> floats(numbers.begin(), numbers.end());  // which they were
    return c.table(std::as_bytes(std::span(floats)));
  };
  Product p;
  p.m = rows, p.n = m.scores, p.k = m.features;
  p.a.buffer = c.in(0), p.a.ld = m.features;
  p.b.buffer = table(m.coefficients), p.b.ld = m.features, p.b.transposed = true;
  p.bias = {table(m.intercepts), kernels::GemmBias::kColumn};
  p.c = to, p.ldc = m.scores;
  emit_product(c, std::move(p));
}

/// In place.
void emit_float_transform(LowerContext& c, PostTransform how, int64_t rows, int64_t scores, Buffer at) {
  if (how == PostTransform::softmax) {
    kernels::SoftmaxArgs args{.outer = rows, .n = scores, .x_outer_stride = scores, .y_outer_stride = scores};
    emit_kernel(c, "linear_softmax", c.kernels().softmax->softmax, args,
                [at](kernels::SoftmaxArgs& a, const Run& run) { a.x = a.y = run.get<float>(at); });
  } else if (how == PostTransform::logistic) {
    kernels::UnaryArgs args{.op = kernels::UnaryOp::kSigmoid, .n = rows * scores};
    emit_kernel(c, "linear_logistic", c.kernels().elementwise->unary, args,
                [at](kernels::UnaryArgs& a, const Run& run) { a.x = a.y = run.get<float>(at); });
  }
}

/// y[row] = the label of the row's largest score, NaN being none unless it comes first.
void emit_float_labels(LowerContext& c, int64_t rows, int64_t scores, Buffer all, Buffer y, std::vector<int64_t> labels) {
  kernels::ArgReduceArgs args{.outer = rows, .n = scores};
  emit_kernel(c, "linear_class", c.kernels().reduce->arg_reduce, args, [=](kernels::ArgReduceArgs& a, const Run& run) {
    a.x = run.get<const float>(all), a.y = run.get<int64_t>(y);
  });
  emit_elements(c, "linear_labels", rows, [=](const Run& run, int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const float* s = run.get<const float>(all) + row * scores;
      int64_t& label = run.get<int64_t>(y)[row];
      const int64_t best = s[label] == s[label] ? label : std::max_element(s, s + scores) - s;
      label = labels[static_cast<size_t>(best)];
    }
  });
}

Status infer_linear_regressor(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kFeatureTypes));
  SV_TRY(post_transform(c.attributes()));
  const int64_t targets = c.attributes().get_int("targets", 1);
  if (targets < 1) return error("targets is {}, needs 1 at least", targets);
  SV_ASSIGN(const Dim rows, row_dim(c));
  if (const auto features = known_features(c)) SV_TRY(linear_model(c.attributes(), targets, *features));
  c.set(0, DType::f32, Shape{rows, Dim(targets)});
  return {};
}

Status lower_linear_regressor(LowerContext& c) {
  SV_ASSIGN(const PostTransform how, post_transform(c.attributes()));
  const int64_t targets = c.attributes().get_int("targets", 1);
  SV_ASSIGN(const Rows rows, feature_rows(c.in_dims(0)));
  if (by_float_kernels(c, how, rows, targets)) {
    SV_ASSIGN(const LinearModel model, linear_model(c.attributes(), targets, rows.features));
    emit_float_scores(c, model, rows.count, c.out());
    emit_float_transform(c, how, rows.count, targets, c.out());
    return {};
  }
  return emit_linear(c, "linear_regressor", targets, [=, y = c.out()](const Run& run, int64_t row, double* scores) {
    finish_scores(how, SecondScore::no, scores, targets);
    std::copy_n(scores, targets, run.get<float>(y) + row * targets);
  });
}

/// Classes are those with coefficients of their own: one, where two labels share a score. As many as there are intercepts; without them as
/// labels, or coefficients of as many features, where those are known.
int64_t linear_scores(const Attributes& attributes, std::optional<int64_t> features) {
  if (const size_t intercepts = float_list(attributes, "intercepts").size()) return static_cast<int64_t>(intercepts);
  const size_t labels = attributes.get_ints("classlabels_ints").size();
  if (labels == 2 && features && static_cast<int64_t>(float_list(attributes, "coefficients").size()) == *features) return 1;
  return static_cast<int64_t>(std::max<size_t>(1, labels));
}

Status infer_linear_classifier(InferContext& c) {
  const auto labels = static_cast<int64_t>(c.attributes().get_ints("classlabels_ints").size() +
                                           string_list(c.attributes(), "classlabels_strings").size());
  const auto features = known_features(c);
  const int64_t scores = linear_scores(c.attributes(), features);
  if (scores > 1 && labels < scores) return error("{} class labels for {} scores", labels, scores);
  const bool strings = !string_list(c.attributes(), "classlabels_strings").empty();
  SV_TRY(infer_classifier(c, Dim(scores == 1 && labels == 2 ? 2 : scores)));
  if (strings) c.set(0, DType::string, c.node().output(0)->type.shape);
  if (features) SV_TRY(linear_model(c.attributes(), scores, *features));
  return {};
}

Status lower_linear_classifier(LowerContext& c) {
  SV_ASSIGN(const PostTransform how, post_transform(c.attributes()));
  SV_ASSIGN(const Rows rows, feature_rows(c.in_dims(0)));
  const int64_t scores = linear_scores(c.attributes(), rows.features);
  std::vector<int64_t> labels = c.attributes().get_ints("classlabels_ints");
  const bool two = scores == 1 && labels.size() == 2;
  if (labels.size() == 1) labels.push_back(labels[0]);  // whatever the score
  else if (scores == 1 && !two) labels = {0, 1};
  const Buffer y = c.out(0), z = c.has_output(1) ? c.out(1) : Buffer();
  const int64_t columns = two ? 2 : scores;
  if (by_float_kernels(c, how, rows, scores)) {
    SV_ASSIGN(const LinearModel model, linear_model(c.attributes(), scores, rows.features));
    const Buffer all = z ? z : c.temporary(rows.count * scores * 4);
    emit_float_scores(c, model, rows.count, all);
    emit_float_labels(c, rows.count, scores, all, y, std::move(labels));
    if (z) emit_float_transform(c, how, rows.count, scores, z);
    return {};
  }
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
  return {
      .name = "LinearRegressor",
      .domain = kMlDomain,
      .until = kNewestMlOpset,
      .inputs = "X",
      .attributes = {ml_floats("coefficients"),
                     ml_floats("intercepts"),
                     {"targets", AttributeKind::kInt, false, 1},
                     ml_post_transform()},
      .infer = infer_linear_regressor,
      .lower = lower_linear_regressor,
      .samples = R"((float32[5, 3]) {targets = 2, post_transform = "NONE", coefficients = [0.5, -1.0, 2.0, 0.25, 3.0, -0.75], )"
                 "intercepts = [1.0, -1.0]}"
                 R"((float64[33, 6]) {targets = 1, post_transform = "LOGISTIC", coefficients = [0.5, -1.0, 2.0, 0.25, 3.0, -0.75], )"
                 "intercepts = [0.5]}"
                 R"((int64[2, 3]) {targets = 2, post_transform = "SOFTMAX", coefficients = [0.5, -1.0, 2.0, 0.25, 3.0, -0.75], )"
                 "intercepts = [1.0, -1.0]}"
                 R"((int32[3]) {targets = 2, post_transform = "SOFTMAX_ZERO", coefficients = [0.5, -1.0, 2.0, 0.25, 3.0, -0.75], )"
                 "intercepts = [1.0, -1.0]}"
                 R"((float32[0, 3]) {targets = 2, post_transform = "NONE", coefficients = [0.5, -1.0, 2.0, 0.25, 3.0, -0.75], )"
                 "intercepts = [1.0, -1.0]}"
                 R"((float32[45, 3]) {targets = 2, post_transform = "NONE", coefficients = [0.5, -1.0, 2.0, 0.25, 3.0, -0.75], )"
                 "intercepts = [1.0, -1.0]}"
                 R"((float64[35, 3]) {targets = 2, post_transform = "SOFTMAX", coefficients = [0.5, -1.0, 2.0, 0.25, 3.0, -0.75], )"
                 "intercepts = [1.0, -1.0]}",
  };
}

OpDef define_linear_classifier() {
  return {
      .name = "LinearClassifier",
      .domain = kMlDomain,
      .until = kNewestMlOpset,
      .inputs = "X",
      .outputs = {1, 2},
      .attributes = {{"coefficients", AttributeKind::kFloats, true},
                     ml_floats("intercepts"),
                     ml_ints("classlabels_ints"),
                     ml_strings("classlabels_strings"),
                     {"multi_class", AttributeKind::kInt, false, 0},
                     ml_post_transform()},
      .canonicalize =
          [](CanonicalizeContext& c) { return canonicalize_class_labels(c, "classlabels_ints", "classlabels_strings"); },
      .infer = infer_linear_classifier,
      .lower = lower_linear_classifier,
      .samples = R"((float32[5, 2]) {classlabels_ints = [7, 8, 9], post_transform = "SOFTMAX", intercepts = [1.0, -1.0, 0.5], )"
                 "coefficients = [0.5, -1.0, 2.0, 0.25, 3.0, -0.75]} 2"
                 R"((float64[33, 3]) {classlabels_ints = [3, 4], post_transform = "LOGISTIC", intercepts = [0.5], )"
                 "coefficients = [0.5, -1.0, 2.0, 0.25, 3.0, -0.75]} 2"
                 R"((int64[4, 3]) {classlabels_ints = [3, 4], post_transform = "NONE", intercepts = [0.5, 1.0], )"
                 "coefficients = [0.5, -1.0, 2.0, 0.25, 3.0, -0.75]} 2"
                 R"((int32[2]) {classlabels_ints = [7, 8, 9], post_transform = "PROBIT", intercepts = floats[], )"
                 "coefficients = [0.5, -1.0, 2.0, 0.25, 3.0, -0.75]} 2"
                 R"((float32[0, 2]) {classlabels_ints = [7, 8, 9], post_transform = "NONE", intercepts = [1.0, -1.0, 0.5], )"
                 "coefficients = [0.5, -1.0, 2.0, 0.25, 3.0, -0.75]} 2"
                 R"((float32[37, 2]) {classlabels_ints = [7, 8, 9], post_transform = "SOFTMAX", intercepts = [1.0, -1.0, 0.5], )"
                 "coefficients = [0.5, -1.0, 2.0, 0.25, 3.0, -0.75]} 2"
                 R"((int32[50, 3]) {classlabels_ints = [3, 4], post_transform = "NONE", intercepts = floats[], )"
                 "coefficients = [0.5, -1.0, 2.0, 0.25, 3.0, -0.75]} 2"
                 R"((float32[70, 1]) {classlabels_ints = [9, 8, 7, 6, 5, 4], post_transform = "NONE", intercepts = floats[], )"
                 "coefficients = [0.5, -1.0, 2.0, 0.25, 3.0, -0.75]} 2",
  };
}

}  // namespace svengine::ops
