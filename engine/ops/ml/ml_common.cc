#include "engine/ops/ml/ml_common.h"

#include <algorithm>
#include <cmath>

#include "engine/graph/op_registry.h"
#include "engine/ops/element.h"

namespace svengine::ops {

AttributeDef ml_ints(const char* name) { return {name, AttributeKind::kInts}; }
AttributeDef ml_floats(const char* name) { return {name, AttributeKind::kFloats}; }
AttributeDef ml_strings(const char* name) { return {name, AttributeKind::kStrings}; }
AttributeDef ml_tensor(const char* name) { return {name, AttributeKind::kTensor}; }
AttributeDef ml_post_transform() { return {"post_transform", AttributeKind::kString, false, "NONE"}; }

std::vector<float> float_list(const Attributes& attributes, const char* name) {
  const auto* list = attributes.get<std::vector<float>>(name);
  return list ? *list : std::vector<float>();
}

std::vector<std::string> string_list(const Attributes& attributes, const char* name) {
  const auto* list = attributes.get<std::vector<std::string>>(name);
  return list ? *list : std::vector<std::string>();
}

std::vector<double> real_list(const Attributes& attributes, const char* name) {
  std::vector<double> out;
  if (const Tensor* t = attributes.get<Tensor>(fmt::format("{}_as_tensor", name)); t && size_of(t->type()) > 0)
    for (int64_t i = 0; i < t->count(); ++i) out.push_back(number_at(t->type(), t->raw(), i));
  if (!out.empty()) return out;
  const std::vector<float> list = float_list(attributes, name);
  return {list.begin(), list.end()};
}

Result<Rows> feature_rows(const Dims& dims) {
  if (dims.size() == 1) return Rows{1, dims[0]};
  if (dims.size() == 2) return Rows{dims[0], dims[1]};
  return error("X is {}: needs rows of features (rank 2), or one row", svengine::to_string(dims));
}

Result<Dim> row_dim(const InferContext& c) {
  const Shape& x = c.shape(0);
  if (!x.has_rank()) return Dim();
  if (x.rank() != 1 && x.rank() != 2)
    return error("X is {}: needs rows of features (rank 2), or one row", svengine::to_string(x));
  return x.rank() == 1 ? Dim(1) : x[0];
}

std::optional<int64_t> known_features(const InferContext& c) {
  const Shape& x = c.shape(0);
  if (!x.has_rank() || x.rank() == 0 || !x.back().is_static()) return std::nullopt;
  return x.back().value();
}

Result<PostTransform> post_transform(const Attributes& attributes) {
  const std::string how = attributes.get_string("post_transform", "NONE");
  if (how == "NONE") return PostTransform::none;
  if (how == "LOGISTIC") return PostTransform::logistic;
  if (how == "SOFTMAX") return PostTransform::softmax;
  if (how == "SOFTMAX_ZERO") return PostTransform::softmax_zero;
  if (how == "PROBIT") return PostTransform::probit;
  return error("post_transform is '{}', needs NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT", how);
}

double logistic(double x) {
  const double v = 1 / (1 + std::exp(-std::fabs(x)));
  return x < 0 ? 1 - v : v;
}

/// With Winitzki's approximation of the inverse error function and its constants as ONNX Runtime has them: models were trained,
/// and are compared, with these.
double probit(double x) {
  const double y = 2 * x - 1, log = std::log((1 - y) * (1 + y));
  const double v = 2 / (3.14159 * 0.147) + 0.5 * log, root = std::sqrt(-v + std::sqrt(v * v - log / 0.147));
  return 1.41421356 * (y < 0 ? -root : root);
}

namespace {

/// SOFTMAX_ZERO leaves scores of zero out of the sum; they stay zero but for rounding.
void softmax_scores(double* scores, int64_t n, bool keep_zeros) {
  constexpr double kZero = 1e-7;  // ONNX Runtime's
  const double top = *std::max_element(scores, scores + n);
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    const bool zero = keep_zeros && std::fabs(scores[i]) <= kZero;
    scores[i] = zero ? scores[i] * std::exp(-top) : std::exp(scores[i] - top);
    if (!zero) sum += scores[i];
  }
  for (int64_t i = 0; i < n; ++i) scores[i] /= sum;
}

}  // namespace

void transform_scores(PostTransform how, double* scores, int64_t n) {
  if (n == 0) return;
  switch (how) {
    case PostTransform::none:
      return;
    case PostTransform::logistic:
      std::transform(scores, scores + n, scores, logistic);
      return;
    case PostTransform::probit:
      std::transform(scores, scores + n, scores, probit);
      return;
    case PostTransform::softmax:
      softmax_scores(scores, n, false);
      return;
    case PostTransform::softmax_zero:
      softmax_scores(scores, n, true);
      return;
  }
}

int64_t finish_scores(PostTransform how, SecondScore second, double* scores, int64_t n) {
  if (n != 1) {
    transform_scores(how, scores, n);
    return n;
  }
  const double s = scores[0];
  if (second == SecondScore::no) {
    if (how == PostTransform::probit) scores[0] = probit(s);
    return 1;
  }
  const bool through_logistic = how == PostTransform::logistic;
  scores[1] = through_logistic ? logistic(s) : s;
  scores[0] = through_logistic ? logistic(-s) : second == SecondScore::opposite ? -s : 1 - s;
  if (how == PostTransform::probit) transform_scores(how, scores, 2);
  return 2;
}

Status canonicalize_class_labels(CanonicalizeContext& c, const char* ints, const char* strings) {
  Node& node = c.node();
  const auto* names = c.attributes().get<std::vector<std::string>>(strings);
  if (!names || names->empty()) return {};
  if (!c.attributes().get_ints(ints).empty()) return error("has both {} and {}, needs one", ints, strings);
  const Attribute given = *names;
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < names->size(); ++i) numbers.push_back(static_cast<int64_t>(i));
  Attributes attributes = node.attributes;
  attributes.erase(strings);
  attributes.set(ints, std::move(numbers));
  Node* classifier = c.graph().add_node(node.op(), node.name() + ".numbers", node.inputs(), 2, std::move(attributes), &node);
  SV_TRY(infer_types(*classifier));
  c.graph().set_op(&node, *c.ops().find(kInternalDomain, "ClassNames"));
  c.graph().resize_inputs(&node, 2);
  c.graph().set_input(&node, 0, classifier->output(0));
  c.graph().set_input(&node, 1, classifier->output(1));
  node.attributes = Attributes();
  node.attributes.set("names", given);
  return {};
}

Status infer_classifier(InferContext& c, Dim columns) {
  SV_TRY(require_dtype(c, 0, kFeatureTypes));
  SV_TRY(post_transform(c.attributes()));
  SV_ASSIGN(const Dim rows, row_dim(c));
  c.set(0, DType::i64, Shape{rows});
  c.set(1, DType::f32, Shape{rows, std::move(columns)});
  return {};
}

}  // namespace svengine::ops
