// CumProd: running products along an axis; exclusive ones leave the element itself out, reverse ones run from the end.
#include "engine/graph/axes.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/lowering.h"
#include "engine/ops/samples.h"

namespace svengine::ops {
namespace {

constexpr DTypeSet kCumProdTypes = kRealTypes | DTypeSet{DType::bf16, DType::i32, DType::i64, DType::u32, DType::u64};

/// As CumSum: the axis decides how the work is cut, so without it nothing is planned.
Status infer_cum_prod(InferContext& c) {
  SV_TRY(require_dtype(c, 0, "x", kCumProdTypes));
  SV_TRY(require_dtype(c, 1, "axis", kIndexTypes));
  SV_TRY(require_single(c, 1, "axis"));
  SV_TRY(require_rank_at_least(c, 0, "x", 1));
  const auto axis = c.integers(1);
  if (axis && c.shape(0).has_rank()) SV_TRY(normalise_axis(axis->at(0), c.shape(0).rank()));
  c.set(0, c.dtype(0), axis ? c.shape(0) : Shape());
  return {};
}

Status lower_cum_prod(LowerContext& c) {
  const Dims dims = c.in_dims(0);
  if (!c.constant(1)) return error("input 1 (axis) is not known when the node is planned");
  SV_ASSIGN(const int64_t axis, normalise_axis(c.constant(1)->as_int64s().at(0), static_cast<int64_t>(dims.size())));
  const std::span<const int64_t> all(dims);
  const auto a = static_cast<size_t>(axis);
  const int64_t outer = element_count(all.first(a)), n = dims[a], inner = element_count(all.subspan(a + 1));
  const bool exclusive = c.attributes().get_int("exclusive") != 0, reverse = c.attributes().get_int("reverse") != 0;
  const Buffer x = c.in(0), y = c.out();
  with_type(c.out_type().dtype, [&]<class T>() {
    // Products of floats in double; integers wrap, which unsigned ones do by definition.
    using Factor = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;
    c.emit("cum_prod", n ? outer * inner : 0, [=](const Run& run, int64_t begin, int64_t end) -> const char* {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t start = task / inner * n * inner + task % inner;
        Factor product = 1;
        for (int64_t k = 0; k < n; ++k) {
          const int64_t at = start + (reverse ? n - 1 - k : k) * inner;
          const auto factor = static_cast<Factor>(run.get<const T>(x)[at]);
          if (!exclusive) product *= factor;
          run.get<T>(y)[at] = static_cast<T>(product);
          if (exclusive) product *= factor;
        }
      }
      return nullptr;
    });
  });
  return {};
}

}  // namespace

OpDef define_cum_prod() {
  return {
      .name = "CumProd",
      .since = 26,
      .inputs = {2, 2},
      .attributes = {{"exclusive", AttributeKind::kInt, false, integer(0)}, {"reverse", AttributeKind::kInt, false, integer(0)}},
      .infer = infer_cum_prod,
      .lower = lower_cum_prod,
      .types = {{"T", kWideTypes, {0}}, {"T2", kIndexTypes, {1}}},
      .traits = {.shape_inputs = {1}},
      .samples = {{.inputs = {f32({3, 21}), fixed(Tensor::scalar<int64_t>(-1))}},
                  {.inputs = {f32({5, 7}), fixed(Tensor::scalar<int32_t>(0))},
                   .attributes = {{"exclusive", integer(1)}, {"reverse", integer(1)}}},
                  {.inputs = {any(DType::f64, {2, 3, 4}), fixed(Tensor::scalar<int64_t>(1))},
                   .attributes = {{"reverse", integer(1)}}},
                  {.inputs = {any(DType::i64, {2, 3, 4}, -9, 9), fixed(Tensor::scalar<int64_t>(1))}},
                  {.inputs = {any(DType::u32, {9}, 0, 9), fixed(Tensor::scalar<int64_t>(0))},
                   .attributes = {{"exclusive", integer(1)}}},
                  {.inputs = {any(DType::i32, {0, 2}), fixed(Tensor::scalar<int64_t>(0))}}},
  };
}

}  // namespace svengine::ops
