// What operators of ai.onnx.ml share: types, rows of features, class labels, what scores are made into.
#pragma once
#include <memory>

#include "engine/ops/infer_util.h"
#include "engine/ops/lowering.h"

namespace svengine::ops {


/// What numeric operators of the domain take.
inline constexpr DTypeSet kFeatureTypes{DType::f32, DType::f64, DType::i32, DType::i64};

/// Attributes that operators have by the dozen.
AttributeDef ml_ints(const char* name);
AttributeDef ml_floats(const char* name);
AttributeDef ml_strings(const char* name);
AttributeDef ml_tensor(const char* name);
AttributeDef ml_post_transform();

/// An empty list where the attribute is absent.
std::vector<float> float_list(const Attributes& attributes, const char* name);
std::vector<std::string> string_list(const Attributes& attributes, const char* name);

/// Attribute `name`_as_tensor (any float type), else the float list `name`.
std::vector<double> real_list(const Attributes& attributes, const char* name);

/// X as rows of features: [N, F], or one row [F].
struct Rows {
  int64_t count, features;
};
Result<Rows> feature_rows(const Dims& dims);
/// The dimension of rows of X, which is of rank 1 or 2.
Result<Dim> row_dim(const InferContext& c);
/// How many features a row of such an X has, where that is known.
std::optional<int64_t> known_features(const InferContext& c);

enum class PostTransform { none, logistic, softmax, softmax_zero, probit };
Result<PostTransform> post_transform(const Attributes& attributes);

double logistic(double x);
double probit(double x);

/// Transforms `n` scores of a row in place, as ONNX Runtime does where there are two or more.
void transform_scores(PostTransform how, double* scores, int64_t n);

/// The one score of a classifier of two classes as two: how ONNX Runtime's write_scores() does it.
enum class SecondScore {
  no,          // stays one
  complement,  // 1 - s, s
  opposite,    // -s, s
};
/// LOGISTIC makes both of them logistic(-s), logistic(s).
/// Writes a row's scores: `n` of them, or two in place of one; returns how many. `scores` has room for two.
int64_t finish_scores(PostTransform how, SecondScore second, double* scores, int64_t n);

/// For OpDef::canonicalize of a classifier: one with labels that are strings gives their numbers, and a ClassNames of the engine
/// makes them strings, so that the classifier itself runs in a plan. `ints` and `strings` name the attributes.
Status canonicalize_class_labels(CanonicalizeContext& c, const char* ints, const char* strings);

/// Labels and scores of a classifier of X, [N] and [N, columns].
Status infer_classifier(InferContext& c, Dim columns);

/// Calls f.operator()<T>() for a type of kFeatureTypes.
template <class F>
auto with_feature_type(DType type, F&& f) {
  switch (type) {
    case DType::f64:
      return f.template operator()<double>();
    case DType::i32:
      return f.template operator()<int32_t>();
    case DType::i64:
      return f.template operator()<int64_t>();
    default:
      return f.template operator()<float>();
  }
}

/// term(0) + ... + term(n - 1), as four sums side by side: one sum would wait for every addition.
template <class Term>
double sum_of(int64_t n, Term term) {
  double sums[4] = {};
  int64_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (int k = 0; k < 4; ++k) sums[k] += term(i + k);
  for (; i < n; ++i) sums[0] += term(i);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// Reads element i of a buffer of that type as double.
inline double feature_at(DType type, const std::byte* data, int64_t i) {
  return with_feature_type(type, [&]<class T>() { return static_cast<double>(reinterpret_cast<const T*>(data)[i]); });
}

}  // namespace svengine::ops
