// SVMRegressor: a weighted sum of kernels with support vectors, or of features where there are none; +1 or -1 of it for one
// class.
#include <algorithm>

#include "engine/ops/ml/svm_common.h"

namespace svengine::ops {
namespace {

struct SvmRegression {
  SvmFunction function;
  std::vector<float> vectors, coefficients;
  double rho;
  int64_t supports, features;
  bool one_class;
};

Result<SvmRegression> svm_regression(const Attributes& attributes, int64_t features) {
  SV_ASSIGN(const SvmFunction function, svm_function(attributes));
  const std::vector<float> rho = float_list(attributes, "rho");
  SvmRegression m{function,
                  float_list(attributes, "support_vectors"),
                  float_list(attributes, "coefficients"),
                  rho.empty() ? 0.0 : rho[0],
                  attributes.get_int("n_supports"),
                  features,
                  attributes.get_int("one_class") != 0};
  if (m.supports < 0) return error("n_supports is {}", m.supports);
  if (m.supports == 0) {
    m.function = SvmFunction();  // the coefficients are a vector themselves
    if (static_cast<int64_t>(m.coefficients.size()) < features)
      return error("{} coefficients for {} features", m.coefficients.size(), features);
    return m;
  }
  if (static_cast<int64_t>(m.coefficients.size()) != m.supports ||
      (features > 0 && m.supports > static_cast<int64_t>(m.vectors.size()) / features))
    return error("{} coefficients and {} numbers of vectors for n_supports {} of {} features", m.coefficients.size(),
                 m.vectors.size(), m.supports, features);
  return m;
}

Status infer_svm_regressor(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kFeatureTypes));
  SV_TRY(post_transform(c.attributes()));
  SV_ASSIGN(const Dim rows, row_dim(c));
  if (const auto features = known_features(c)) SV_TRY(svm_regression(c.attributes(), *features));
  c.set(0, DType::f32, Shape{rows, Dim(1)});
  return {};
}

double svm_row(const SvmRegression& m, const double* x) {
  if (m.supports == 0) return m.function(x, m.coefficients.data(), m.features) + m.rho;
  double sum = m.rho;
  for (int64_t s = 0; s < m.supports; ++s)
    sum += m.coefficients[static_cast<size_t>(s)] * m.function(x, m.vectors.data() + s * m.features, m.features);
  return sum;
}

Status lower_svm_regressor(LowerContext& c) {
  SV_ASSIGN(const Rows rows, feature_rows(c.in_dims(0)));
  SV_ASSIGN(SvmRegression model, svm_regression(c.attributes(), rows.features));
  SV_ASSIGN(const PostTransform how, post_transform(c.attributes()));
  const auto shared = std::make_shared<const SvmRegression>(std::move(model));
  const DType type = c.in_type(0).dtype;
  const Buffer in = c.in(0), out = c.out();
  c.emit(
      "svm_regressor", rows.count,
      [=](const Run& run, int64_t begin, int64_t end) -> const char* {
        double* x = run.scratch<double>();
        for (int64_t r = begin; r < end; ++r) {
          for (int64_t i = 0; i < rows.features; ++i)
            x[i] = feature_at(type, run.get<const std::byte>(in), r * rows.features + i);
          double score = svm_row(*shared, x);
          if (shared->one_class)
            score = score > 0 ? 1 : -1;
          else
            finish_scores(how, SecondScore::no, &score, 1);
          run.get<float>(out)[r] = static_cast<float>(score);
        }
        return nullptr;
      },
      (rows.features + 1) * 8);
  return {};
}

}  // namespace

OpDef define_svm_regressor() {
  OpDef op = {
      .name = "SVMRegressor",
      .domain = kMlDomain,
      .until = kNewestMlOpset,
      .inputs = "X",
      .attributes = svm_attributes(),
      .infer = infer_svm_regressor,
      .lower = lower_svm_regressor,
      .samples = R"((float32[5, 3]) {kernel_type = "RBF", one_class = 0, n_supports = 3, kernel_params = [0.5, 0.25, 2.0], rho = [0.125], )"
                 "coefficients = [1.0, -0.5, 0.75], support_vectors = [1.0, 0.0, 2.0, -1.0, 0.5, 0.0, 0.25, 1.0, -2.0]}"
                 R"((float64[2, 3]) {kernel_type = "POLY", one_class = 0, n_supports = 3, kernel_params = [0.5, 0.25, 2.0], rho = [0.125], )"
                 "coefficients = [1.0, -0.5, 0.75], support_vectors = [1.0, 0.0, 2.0, -1.0, 0.5, 0.0, 0.25, 1.0, -2.0]}"
                 R"((int64[4, 3]) {kernel_type = "SIGMOID", one_class = 1, n_supports = 3, kernel_params = [0.5, 0.25, 2.0], rho = [0.125], )"
                 "coefficients = [1.0, -0.5, 0.75], support_vectors = [1.0, 0.0, 2.0, -1.0, 0.5, 0.0, 0.25, 1.0, -2.0]}"
                 R"((int32[3]) {kernel_type = "LINEAR", one_class = 0, n_supports = 0, kernel_params = [0.5, 0.25, 2.0], rho = [0.125], )"
                 "coefficients = [1.0, -0.5, 0.75], support_vectors = [1.0, 0.0, 2.0, -1.0, 0.5, 0.0, 0.25, 1.0, -2.0]}"
                 R"((float32[0, 3]) {kernel_type = "LINEAR", one_class = 0, n_supports = 3, kernel_params = [0.5, 0.25, 2.0], rho = [0.125], )"
                 "coefficients = [1.0, -0.5, 0.75], support_vectors = [1.0, 0.0, 2.0, -1.0, 0.5, 0.0, 0.25, 1.0, -2.0]}",
  };
  op.attributes.insert(op.attributes.end(), {{"n_supports", AttributeKind::kInt, false, 0},
                                             {"one_class", AttributeKind::kInt, false, 0}});
  return op;
}

}  // namespace svengine::ops
