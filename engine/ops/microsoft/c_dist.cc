// com.microsoft's CDist: the distance of every row of A from every row of B, as scipy.spatial.distance.cdist, which converters of nearest
// neighbours and Gaussian processes write. Differences are squared and summed as they are: products of A and B' and of rows with
// themselves would cancel where rows are near each other.
#include <algorithm>
#include <cmath>

#include "engine/graph/gradient.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/lowering.h"

namespace svengine::ops {
namespace {

constexpr const char* kEuclidean = "euclidean";

bool is_euclidean(const Attributes& a) { return a.get_string("metric", "sqeuclidean") == kEuclidean; }

Status infer_c_dist(InferContext& c) {
  for (const size_t i : {size_t{0}, size_t{1}}) {
    SV_TRY(require_dtype(c, i, {DType::f32, DType::f64}));
    SV_TRY(require_rank(c, i, 2));
  }
  SV_TRY(require_same_dtypes(c));
  const std::string metric = c.attributes().get_string("metric", "sqeuclidean");
  if (metric != kEuclidean && metric != "sqeuclidean") return error("metric is '{}', must be euclidean or sqeuclidean", metric);
  const Shape &a = c.shape(0), &b = c.shape(1);
  if (a.has_rank() && b.has_rank() && known_different(a[1], b[1]))
    return error("rows of A {} and B {} are of different length", to_string(a), to_string(b));
  c.set(0, c.dtype(0), Shape(std::vector<Dim>{a.has_rank() ? a[0] : Dim(), b.has_rank() ? b[0] : Dim()}));
  return {};
}

/// In sixteen sums, which the compiler keeps in vectors.
template <class T>
T squared_distance(const T* a, const T* b, int64_t n) {
  constexpr int64_t kSums = 16;
  T sums[kSums] = {};
  int64_t i = 0;
  for (; i + kSums <= n; i += kSums)
    for (int64_t j = 0; j < kSums; ++j) sums[j] += (a[i + j] - b[i + j]) * (a[i + j] - b[i + j]);
  for (int64_t j = 0; i + j < n; ++j) sums[j] += (a[i + j] - b[i + j]) * (a[i + j] - b[i + j]);
  for (int64_t width = kSums / 2; width > 0; width /= 2)
    for (int64_t j = 0; j < width; ++j) sums[j] += sums[j + width];
  return sums[0];
}

template <class T>
void lower_c_dist_of(LowerContext& c) {
  const Dims a = c.in_dims(0), b = c.in_dims(1);
  const bool root = is_euclidean(c.attributes());
  const int64_t rows = b[0], n = a[1];
  c.emit("c_dist", a[0], [=, left = c.in(0), right = c.in(1), out = c.out()](const Run& run, int64_t begin, int64_t end) -> const char* {
    for (int64_t i = begin; i < end; ++i)
      for (int64_t j = 0; j < rows; ++j) {
        const T sum = squared_distance(run.get<const T>(left) + i * n, run.get<const T>(right) + j * n, n);
        run.get<T>(out)[i * rows + j] = root ? std::sqrt(sum) : sum;
      }
    return nullptr;
  });
}

Status lower_c_dist(LowerContext& c) {
  if (element_count(c.out_dims()) == 0) return {};
  if (c.in_type(0).dtype == DType::f64) lower_c_dist_of<double>(c);
  else lower_c_dist_of<float>(c);
  return {};
}

/// With g = 2 dy (of euclidean dy / y, 0 where y is 0): dA = (row sums of g) A - g B, dB = (column sums of g) B - g' A.
Status c_dist_gradient(GradientContext& c) {
  Value* g = c.op("Mul", {c.dy(), c.scalar(2, c.dy())});
  if (is_euclidean(c.attributes())) {
    Value* zero = c.op("Equal", {c.output(), c.scalar(0, c.dy())});
    g = c.op("Where", {zero, c.scalar(0, c.dy()), c.op("Div", {c.dy(), c.output()})});
  }
  for (const size_t i : {size_t{0}, size_t{1}}) {
    if (!c.wants(i)) continue;
    Value *own = i == 0 ? g : c.op("Transpose", {g}), *sums = c.op("ReduceSum", {own, c.builder().integers({1})});
    c.set(i, c.op("Sub", {c.op("Mul", {sums, c.input(i)}), c.op("MatMul", {own, c.input(1 - i)})}));
  }
  return {};
}

}  // namespace

OpDef define_c_dist() {
  return {
      .name = "CDist",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "A, B",
      .attributes = {{"metric", AttributeKind::kString, false, "sqeuclidean"}},
      .infer = infer_c_dist,
      .lower = lower_c_dist,
      .gradient = c_dist_gradient,
      .samples = "(float32[5, 19], float32[3, 19])"
                 R"((float32[4, 6], float32[7, 6]) {metric = "euclidean"})"
                 "(float32[1, 1], float32[1, 1])"
                 R"((float64[3, 5], float64[2, 5]) {metric = "euclidean"})",
  };
}

}  // namespace svengine::ops
