// Bernoulli: 1 with the probability that the element says, else 0. Multinomial: classes drawn by the logarithms of their weights.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "engine/graph/gradient.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/element_step.h"
#include "engine/ops/random/random_common.h"

namespace svengine::ops {
namespace {

constexpr DTypeSet kBernoulliTypes = kNumericTypes | kBool | DTypeSet{DType::bf16};

Status infer_bernoulli(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kDrawnTypes));
  SV_ASSIGN(const DType type, dtype_attribute(c.attributes(), "dtype", c.dtype(0), kBernoulliTypes));
  c.set(0, type, c.shape(0));
  return {};
}

template <class In, class Out>
void emit_bernoulli(LowerContext& c, Buffer out) {
  const Buffer seed = emit_seed(c), p = c.in(0);
  const kernels::ElementwiseKernels* kernels = c.kernels().elementwise;
  emit_elements(c, "bernoulli", element_count(c.in_dims(0)), [=](const Run& run, int64_t begin, int64_t end) {
    std::array<double, 512> u;
    std::array<uint8_t, 512> hits;
    for (int64_t first = begin; first < end; first += std::ssize(u)) {
      const int64_t count = std::min(std::ssize(u), end - first);
      draw_doubles(*kernels, run, seed, static_cast<uint64_t>(first), std::span(u).first(static_cast<size_t>(count)));
      const In* chances = run.get<const In>(p) + first;
      Out* y = run.get<Out>(out) + first;
      // By way of whole numbers: a branch for what is drawn would be taken by chance.
      for (int64_t i = 0; i < count; ++i) hits[static_cast<size_t>(i)] = u[static_cast<size_t>(i)] < static_cast<double>(chances[i]);
      for (int64_t i = 0; i < count; ++i) y[i] = static_cast<Out>(hits[static_cast<size_t>(i)]);
    }
  });
}

Status lower_bernoulli(LowerContext& c) {
  with_type(c.out_type().dtype, [&]<class Out>() {
    if (c.in_type(0).dtype == DType::f64)
      emit_bernoulli<double, Out>(c, c.out());
    else
      emit_bernoulli<float, Out>(c, c.out());
  });
  return {};
}

Status infer_multinomial(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kDrawnTypes));
  SV_TRY(require_rank(c, 0, 2));
  SV_ASSIGN(const DType type, dtype_attribute(c.attributes(), "dtype", DType::i32, kIndexTypes));
  const int64_t count = c.attributes().get_int("sample_size", 1);
  if (count < 1) return error("sample_size is {}, needs 1 at least", count);
  const Shape& x = c.shape(0);
  if (x.has_rank() && x[1].is_static() && x[1].value() == 0)
    return error("the input is {}: there is no class to draw", svengine::to_string(x));
  c.set(0, type, Shape{x.has_rank() ? x[0] : Dim(), Dim(count)});
  return {};
}

/// Running sums of exp(x - max) in double, and for each sample the first that is above a number drawn below their total.
template <class T>
void draw_classes(const RandomStream& stream, const T* x, int64_t classes, int64_t row, int64_t count, double* sums,
                  int64_t* drawn) {
  const auto top = static_cast<double>(*std::max_element(x, x + classes));
  double sum = 0;
  for (int64_t k = 0; k < classes; ++k) sums[k] = sum += std::exp(static_cast<double>(x[k]) - top);
  for (int64_t i = 0; i < count; ++i) {
    const double u = drawn_double(stream, static_cast<uint64_t>(row * count + i)) * sum;
    drawn[i] = std::min(static_cast<int64_t>(std::upper_bound(sums, sums + classes, u) - sums), classes - 1);
  }
}

Status lower_multinomial(LowerContext& c) {
  const Dims in = c.in_dims(0), out = c.out_dims();
  const int64_t classes = in[1], count = out[1];
  const bool wide = c.out_type().dtype == DType::i64;
  const Buffer seed = emit_seed(c), x = c.in(0), y = c.out();
  const auto emit = [&]<class T>() {
    c.emit(
        "multinomial", in[0],
        [=](const Run& run, int64_t begin, int64_t end) -> const char* {
          double* sums = run.scratch<double>();
          auto* drawn = reinterpret_cast<int64_t*>(sums + classes);
          for (int64_t r = begin; r < end; ++r) {
            draw_classes(stream_of(run, seed), run.get<const T>(x) + r * classes, classes, r, count, sums, drawn);
            for (int64_t i = 0; i < count; ++i) {
              if (wide)
                run.get<int64_t>(y)[r * count + i] = drawn[i];
              else
                run.get<int32_t>(y)[r * count + i] = static_cast<int32_t>(drawn[i]);
            }
          }
          return nullptr;
        },
        (classes + count) * 8);
  };
  if (c.in_type(0).dtype == DType::f64)
    emit.operator()<double>();
  else
    emit.operator()<float>();
  return {};
}

}  // namespace

OpDef define_bernoulli() {
  return {
      .name = "Bernoulli",
      .since = 15,
      .inputs = "input",
      .attributes = {{"dtype", AttributeKind::kInt}, {"seed", AttributeKind::kFloat}},
      .infer = infer_bernoulli,
      .lower = lower_bernoulli,
      .gradient = zero_gradient,
      .samples = "(float32[3, 37] 0 to 1) {seed = 5.0}"
                 "(float64[5] 0 to 1) {seed = 5.0, dtype = 9}"
                 "(float32[2, 3] 0 to 1) {seed = 5.0, dtype = 7}"
                 "(float32[4] 0 to 1) {seed = 5.0, dtype = 10}"
                 "(float32[0]) {seed = 5.0}",
  };
}

OpDef define_multinomial() {
  return {
      .name = "Multinomial",
      .since = 7,
      .inputs = "input",
      .attributes = {{"dtype", AttributeKind::kInt, false, 6},
                     {"sample_size", AttributeKind::kInt, false, 1},
                     {"seed", AttributeKind::kFloat}},
      .infer = infer_multinomial,
      .lower = lower_multinomial,
      .samples = "(float32[3, 7]) {seed = 5.0, sample_size = 40}"
                 "(float64[2, 1]) {seed = 5.0, dtype = 7}"
                 "(float32[0, 3]) {seed = 5.0}",
  };
}

}  // namespace svengine::ops
