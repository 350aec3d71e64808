// svengine.ResizeGrad: the gradient of Resize's x. Inputs: dy, Resize's roi, scales and sizes, and x for its shape; the attributes are
// Resize's. Resizing is linear in x and goes axis by axis, so its gradient is resampling too, by the tables turned round:
//
//     y[j] = sum over t of weight[t][j] x[index[t][j]]        dx[i] = sum over all (t, j) with index[t][j] = i of weight[t][j] dy[j]
#include <algorithm>

#include "engine/ops/like.h"
#include "engine/ops/tensor/copy_common.h"
#include "engine/ops/tensor/resize_common.h"

namespace svengine::ops {
namespace {

constexpr size_t kLike = 4;

Status infer(InferContext& c) {
  SV_TRY(require_dtype(c, 0, "dy", {DType::f32}));
  SV_ASSIGN(Shape shape, like_shape(c, kLike));
  c.set(0, DType::f32, std::move(shape));
  return {};
}

/// As many taps as the input with the most contributions has; the others repeat their last one with weight 0. Those without any say -1.
kernels::ResampleTables turned(const kernels::ResampleTables& tables, int64_t in, int64_t out) {
  std::vector<std::vector<std::pair<int32_t, float>>> from(static_cast<size_t>(in));
  for (int64_t j = 0; j < out; ++j)
    for (int64_t t = 0; t < tables.taps; ++t) {
      const auto at = static_cast<size_t>(t * out + j);
      if (tables.index[at] >= 0 && tables.weight[at] != 0)
        from[static_cast<size_t>(tables.index[at])].emplace_back(static_cast<int32_t>(j), tables.weight[at]);
    }
  size_t taps = 1;
  for (const auto& list : from) taps = std::max(taps, list.size());
  kernels::ResampleTables result{static_cast<int32_t>(taps), {}, {}};
  for (size_t t = 0; t < taps; ++t)
    for (const auto& list : from) {
      result.index.push_back(list.empty() ? -1 : list[std::min(t, list.size() - 1)].first);
      result.weight.push_back(t < list.size() ? list[t].second : 0.0f);
    }
  return result;
}

Status lower(LowerContext& c) {
  const Dims out = c.out_dims();
  if (element_count(out) == 0) return {};
  SV_ASSIGN(std::vector<AxisScale> axes, resize_axes(c.node(), Shape::of(out)));
  std::erase_if(axes, [](const AxisScale& a) { return a.unchanged; });
  Dims dims = c.in_dims(0);
  for (const AxisScale& a : axes)
    if (a.out.value() != dims[a.axis] || std::max(a.in.value(), a.out.value()) > kLongestAxis)
      return error("axis {} of dy has {} elements, resizing {} gives {}", a.axis, dims[a.axis], a.in.value(), a.out.value());
  if (axes.empty()) {
    emit_copy(c, "copy", flat_view(element_count(dims)));
    return {};
  }
  Buffer at = c.in(0);
  for (const AxisScale& a : axes) {
    SV_ASSIGN(const kernels::ResizeAxis axis, kernel_axis(c.attributes(), a));
    const kernels::ResampleTables tables = turned(resize_tables(c.attributes(), axis), axis.in, axis.out);
    at = emit_resample(c, tables, 0, at, dims, a.axis, axis.in, &a == &axes.back() ? c.out() : Buffer{});
  }
  return {};
}

std::vector<AttributeDef> attributes() {
  std::vector<AttributeDef> all = resize_attributes();
  all.push_back(shape_attribute());
  return all;
}

}  // namespace

OpDef define_resize_grad() {
  const SampleInput none = fixed(Tensor::of<float>({0}, {}));
  const SampleInput scales = fixed(Tensor::of<float>({4}, {1, 1, 2, 0.6f}));
  return {
      .name = "ResizeGrad",
      .domain = kInternalDomain,
      .inputs = {1, 5},
      .attributes = attributes(),
      .infer = infer,
      .lower = lower,
      .shape_inputs = {1, 2, 3},
      .shape_only_input = kLike,
      .samples = {{.inputs = {f32({1, 2, 10, 4}), none, scales}, .attributes = {{"shape", integers({1, 2, 5, 7})}}},
                  {.inputs = {f32({1, 2, 10, 4}), none, scales},
                   .attributes = {{"shape", integers({1, 2, 5, 7})}, {"mode", text("linear")}}}},
  };
}

}  // namespace svengine::ops
