// Operators of ai.onnx.ml on features, element by element or row by row: Binarizer, Scaler, Imputer, Normalizer,
// FeatureVectorizer and ArrayFeatureExtractor.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/ops/element_step.h"
#include "engine/ops/evaluate_strings.h"
#include "engine/ops/host_tensor.h"
#include "engine/ops/ml/feature_gradients.h"
#include "engine/ops/ml/ml_common.h"

namespace svengine::ops {
namespace {

OpDef feature_op(const char* name, std::vector<AttributeDef> attributes, Status (*infer)(InferContext&),
                 Status (*lower)(LowerContext&)) {
  return {.name = name,
          .domain = kMlDomain,
          .until = kNewestMlOpset,
          .inputs = "X",
          .attributes = std::move(attributes),
          .infer = infer,
          .lower = lower};
}

/// Of each element, a function of it and its column (the last dimension).
template <class In, class Out, class F>
void emit_columns(LowerContext& c, const char* kernel, F f) {
  const Dims dims = c.in_dims(0);
  const int64_t columns = dims.empty() ? 1 : dims.back();
  emit_elements(c, kernel, element_count(dims), [=, x = c.in(0), y = c.out()](const Run& run, int64_t begin, int64_t end) {
    const In* in = run.get<const In>(x);
    Out* out = run.get<Out>(y);
    for (int64_t i = begin; i < end; ++i) out[i] = f(in[i], static_cast<size_t>(i % columns));
  });
}

Status infer_binarizer(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kFeatureTypes));
  c.set(0, c.type(0));
  return {};
}

Status lower_binarizer(LowerContext& c) {
  const float threshold = c.attributes().get_float("threshold", 0);
  with_feature_type(c.out_type().dtype, [&]<class T>() {
    emit_columns<T, T>(c, "binarizer",
                       [=](T x, size_t) { return static_cast<T>(static_cast<double>(x) > static_cast<double>(threshold)); });
  });
  return {};
}

/// One number for all columns, or one for each.
Status require_columns(const InferContext& c, const char* what, size_t have) {
  const std::optional<int64_t> features = known_features(c);
  if (!features || have <= 1 || static_cast<int64_t>(have) == *features) return {};
  return error("{} has {} numbers for {} features; needs one, or as many", what, have, *features);
}

Status infer_scaler(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kFeatureTypes));
  for (const char* what : {"offset", "scale"}) SV_TRY(require_columns(c, what, float_list(c.attributes(), what).size()));
  c.set(0, DType::f32, c.shape(0));
  return {};
}

Status lower_scaler(LowerContext& c) {
  std::vector<float> offset = float_list(c.attributes(), "offset"), scale = float_list(c.attributes(), "scale");
  if (offset.empty()) offset = {0};
  if (scale.empty()) scale = {1};
  with_feature_type(c.in_type(0).dtype, [&]<class T>() {
    emit_columns<T, float>(c, "scaler", [=](T x, size_t column) {
      return (static_cast<float>(x) - offset[offset.size() > 1 ? column : 0]) * scale[scale.size() > 1 ? column : 0];
    });
  });
  return {};
}

bool is_real_feature(DType type) { return type == DType::f32 || type == DType::f64; }

Status infer_imputer(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kFeatureTypes));
  const size_t count = is_real_feature(c.dtype(0)) ? float_list(c.attributes(), "imputed_value_floats").size()
                                                   : c.attributes().get_ints("imputed_value_int64s").size();
  if (count == 0)
    return error("imputed_value_{} is missing for X of {}", is_real_feature(c.dtype(0)) ? "floats" : "int64s",
                 name_of(c.dtype(0)));
  SV_TRY(require_columns(c, "imputed values", count));
  c.set(0, c.type(0));
  return {};
}

Status lower_imputer(LowerContext& c) {
  const std::vector<float> floats = float_list(c.attributes(), "imputed_value_floats");
  const std::vector<int64_t> ints = c.attributes().get_ints("imputed_value_int64s");
  const float replaced = c.attributes().get_float("replaced_value_float", 0);
  const int64_t replaced_int = c.attributes().get_int("replaced_value_int64", 0);
  with_feature_type(c.out_type().dtype, [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>) {
      emit_columns<T, T>(c, "imputer", [=, nan = std::isnan(replaced)](T x, size_t column) {
        const bool missing = nan ? std::isnan(x) : x == static_cast<T>(replaced);
        return missing ? static_cast<T>(floats[floats.size() > 1 ? column : 0]) : x;
      });
    } else {
      emit_columns<T, T>(c, "imputer", [=](T x, size_t column) {
        return static_cast<int64_t>(x) == replaced_int ? static_cast<T>(ints[ints.size() > 1 ? column : 0]) : x;
      });
    }
  });
  return {};
}

Status infer_normalizer(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kFeatureTypes));
  SV_TRY(row_dim(c));
  const std::string norm = c.attributes().get_string("norm", "MAX");
  if (norm != "MAX" && norm != "L1" && norm != "L2") return error("norm is '{}', needs MAX, L1 or L2", norm);
  c.set(0, DType::f32, c.shape(0));
  return {};
}

/// MAX divides by the largest element itself, not its magnitude, as ONNX Runtime does; rows of norm zero stay as they are. L2
/// keeps the signs there, which the square root of x^2 / sum would lose.
template <class T>
double row_norm(const T* x, int64_t n, const std::string& norm) {
  double sum = norm == "MAX" ? -std::numeric_limits<double>::max() : 0;
  for (int64_t i = 0; i < n; ++i) {
    const auto v = static_cast<double>(x[i]);
    if (norm == "MAX")
      sum = std::max(sum, v);
    else
      sum += norm == "L1" ? std::fabs(v) : v * v;
  }
  return norm == "L2" ? std::sqrt(sum) : sum;
}

Status lower_normalizer(LowerContext& c) {
  SV_ASSIGN(const Rows rows, feature_rows(c.in_dims(0)));
  const std::string norm = c.attributes().get_string("norm", "MAX");
  with_feature_type(c.in_type(0).dtype, [&]<class T>() {
    c.emit("normalizer", rows.features ? rows.count : 0,
           [=, x = c.in(0), y = c.out()](const Run& run, int64_t begin, int64_t end) -> const char* {
             for (int64_t r = begin; r < end; ++r) {
               const T* in = run.get<const T>(x) + r * rows.features;
               float* out = run.get<float>(y) + r * rows.features;
               const double by = row_norm(in, rows.features, norm);
               for (int64_t i = 0; i < rows.features; ++i)
                 out[i] = static_cast<float>(by == 0 ? static_cast<double>(in[i]) : static_cast<double>(in[i]) / by);
             }
             return nullptr;
           });
  });
  return {};
}

/// Each input gives so many columns: cut, or filled with zeros.
Status infer_feature_vectorizer(InferContext& c) {
  const std::vector<int64_t> sizes = c.attributes().get_ints("inputdimensions");
  if (sizes.size() != c.input_count())
    return error("inputdimensions has {} entries for {} inputs", sizes.size(), c.input_count());
  SV_ASSIGN(Dim rows, row_dim(c));
  int64_t columns = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    SV_TRY(require_dtype(c, i, kFeatureTypes));
    if (c.dtype(i) != c.dtype(0) && c.dtype(i) != DType::undefined && c.dtype(0) != DType::undefined)
      return error("{} is {}, input 0 {}; needs one type", c.described(i), name_of(c.dtype(i)), name_of(c.dtype(0)));
    if (sizes[i] < 0 || sizes[i] > int64_t{1} << 40) return error("inputdimensions has {}", sizes[i]);
    columns += sizes[i];
    const Shape& x = c.shape(i);
    if (!x.has_rank()) continue;
    if (x.rank() != 1 && x.rank() != 2) return error("{} is {}: needs rank 1 or 2", c.described(i), svengine::to_string(x));
    const Dim here = x.rank() == 1 ? Dim(1) : x[0];
    if (known_different(here, rows)) return error("{} has {} rows, input 0 {}", c.described(i), here.value(), rows.value());
    rows = merge(rows, here);
  }
  c.set(0, DType::f32, Shape{rows, Dim(columns)});
  return {};
}

Status lower_feature_vectorizer(LowerContext& c) {
  const std::vector<int64_t> sizes = c.attributes().get_ints("inputdimensions");
  const Dims out = c.out_dims();
  int64_t first = 0;
  for (size_t i = 0; i < sizes.size(); first += sizes[i++]) {
    SV_ASSIGN(const Rows rows, feature_rows(c.in_dims(i)));
    const int64_t kept = std::min(sizes[i], rows.features), size = sizes[i], columns = out[1];
    with_feature_type(c.in_type(i).dtype, [&]<class T>() {
      c.emit("feature_vectorizer", size ? rows.count : 0,
             [=, x = c.in(i), y = c.out()](const Run& run, int64_t begin, int64_t end) -> const char* {
               for (int64_t r = begin; r < end; ++r) {
                 float* to = run.get<float>(y) + r * columns + first;
                 for (int64_t k = 0; k < size; ++k)
                   to[k] = k < kept ? static_cast<float>(run.get<const T>(x)[r * rows.features + k]) : 0.0f;
               }
               return nullptr;
             });
    });
  }
  return {};
}

Status infer_array_feature_extractor(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kFeatureTypes | DTypeSet{DType::string}));
  SV_TRY(require_dtype(c, 1, {DType::i64}));
  SV_TRY(require_rank_at_least(c, 0, 1));
  const Shape &x = c.shape(0), &y = c.shape(1);
  Dim count;
  if (y.has_rank()) count = product(y, 0, y.dims().size());
  if (count.is_static() && count.value() == 0) return error("Y is empty: needs one index at least");
  if (!x.has_rank()) {
    c.set(0, c.dtype(0), Shape());
    return {};
  }
  if (const auto indices = c.integers(1); indices && x.back().is_static())
    for (const int64_t i : *indices)
      if (i < 0 || i >= x.back().value())
        return error("index {} is outside the last dimension of {}", i, x.back().value());
  std::vector<Dim> out(x.dims().begin(), x.dims().end() - 1);
  if (out.empty()) out.emplace_back(1);  // as ONNX Runtime does
  out.push_back(count);
  c.set(0, c.dtype(0), Shape(std::move(out)));
  return {};
}

const char* check_feature(int64_t index, int64_t columns) {
  return index < 0 || index >= columns ? "an index of Y is outside the last dimension of X" : nullptr;
}

Status check_features(LowerContext& c) {
  const int64_t columns = c.in_dims(0).back(), count = element_count(c.in_dims(1));
  c.emit("check_features", 1, [=, at = c.in(1)](const Run& run, int64_t, int64_t) -> const char* {
    for (int64_t k = 0; k < count; ++k)
      if (const char* problem = check_feature(run.get<const int64_t>(at)[k], columns)) return problem;
    return nullptr;
  });
  return {};
}

Status lower_array_feature_extractor(LowerContext& c) {
  const Dims dims = c.in_dims(0);
  const int64_t columns = dims.back(), count = element_count(c.in_dims(1));
  const int64_t rows = element_count(Dims(dims.begin(), dims.end() - 1));  // where there are no columns, indices are refused
  const auto element = static_cast<int64_t>(size_of(c.out_type().dtype));
  c.emit("array_feature_extractor", rows,
         [=, x = c.in(0), at = c.in(1), y = c.out()](const Run& run, int64_t begin, int64_t end) -> const char* {
           for (int64_t r = begin; r < end; ++r)
             for (int64_t k = 0; k < count; ++k) {
               const int64_t i = run.get<const int64_t>(at)[k];
               if (const char* problem = check_feature(i, columns)) return problem;
               std::memcpy(run.get<std::byte>(y) + (r * count + k) * element,
                           run.get<const std::byte>(x) + (r * columns + i) * element, static_cast<size_t>(element));
             }
           return nullptr;
         });
  return {};
}

}  // namespace

OpDef define_binarizer() {
  OpDef op = feature_op("Binarizer", {{"threshold", AttributeKind::kFloat, false, 0.0f}}, infer_binarizer, lower_binarizer);
  op.gradient = zero_gradient;
  op.samples = "(float32[3, 37])"
               "(float64[5]) {threshold = 0.5}"
               "(int64[2, 3, 4] -5 to 5)"
               "(int32[0, 2])";
  return op;
}

OpDef define_scaler() {
  OpDef op = feature_op("Scaler", {ml_floats("offset"), ml_floats("scale")}, infer_scaler, lower_scaler);
  op.gradient = scaler_gradient;
  op.samples = "(float32[5, 3]) {offset = [1.0, 2.0, 3.0], scale = [0.5, 2.0, -1.0]}"
               "(float64[4, 7]) {offset = [0.5], scale = [2.0]}"
               "(int64[3]) {offset = [1.0, 2.0, 3.0], scale = [2.0]}"
               "(int32[0, 2]) {offset = [1.0], scale = [1.0, 2.0]}";
  return op;
}

OpDef define_imputer() {
  OpDef op = feature_op("Imputer",
                        {ml_floats("imputed_value_floats"),
                         ml_ints("imputed_value_int64s"),
                         {"replaced_value_float", AttributeKind::kFloat, false, 0.0f},
                         {"replaced_value_int64", AttributeKind::kInt, false, 0}},
                        infer_imputer, lower_imputer);
  op.gradient = imputer_gradient;
  op.samples = "(float32[5, 3]) {imputed_value_floats = [1.0, 2.0, 3.0], replaced_value_float = nan}"
               "(float64[4, 7]) {imputed_value_floats = [0.5]}"
               "(int64[9, 3]) {imputed_value_int64s = [5, 6, 7], replaced_value_int64 = 1}"
               "(int32[7]) {imputed_value_int64s = [5]}";
  return op;
}

OpDef define_normalizer() {
  OpDef op = feature_op("Normalizer", {{"norm", AttributeKind::kString, false, "MAX"}}, infer_normalizer, lower_normalizer);
  op.gradient = normalizer_gradient;
  op.samples = "(float32[5, 3])"
               R"((float64[4, 7]) {norm = "L1"})"
               R"((int64[9] -5 to 5) {norm = "L2"})"
               "(int32[2, 0])";
  return op;
}

OpDef define_feature_vectorizer() {
  OpDef op = feature_op("FeatureVectorizer", {ml_ints("inputdimensions")}, infer_feature_vectorizer, lower_feature_vectorizer);
  op.gradient = feature_vectorizer_gradient;
  op.inputs = "X...";
  op.samples = "(float32[5, 3], float32[5, 2]) {inputdimensions = [3, 2]}"
               "(float64[2, 3], float64[2, 2]) {inputdimensions = [2, 4]}"
               "(int64[2, 1], int64[2, 3]) {inputdimensions = [1, 2]}"
               "(float32[3]) {inputdimensions = [0]}";
  return op;
}

OpDef define_array_feature_extractor() {
  OpDef op = feature_op("ArrayFeatureExtractor", {}, infer_array_feature_extractor, lower_array_feature_extractor);
  op.gradient = array_feature_extractor_gradient;
  op.check_values = check_features;
  op.inputs = "X, Y";
  op.evaluate = evaluate_strings;
  op.traits.moves_elements = always;
  op.samples = "(float32[5, 3], int64[4]{2, 0, 1, 2})"
               "(int64[4], int64[1]{3})"
               "(float64[2, 3, 4], int64[1, 2] 0 to 4)"
               "(int32[0, 2], int64[1]{1})";
  return op;
}

}  // namespace svengine::ops
