// svengine.PadGrad: the gradient of Pad's data in modes reflect, edge and wrap, in which an element may come several times. Inputs: dy,
// Pad's pads, nothing, Pad's axes, and data for its shape. (That of constant padding is a Pad by the negative numbers.)
#include "engine/graph/gradient.h"
#include "engine/ops/like.h"
#include "engine/ops/tensor/copy_common.h"
#include "engine/ops/tensor/pad_common.h"
#include "engine/ops/tensor/resample_common.h"
#include "engine/ops/wide/wide.h"

namespace svengine::ops {
namespace {

constexpr size_t kPadGradLike = 4;

Status lower_pad_grad(LowerContext& c) {
  const Dims out = c.out_dims();
  if (element_count(out) == 0) return {};
  Dims dims = c.in_dims(0);
  if (dims.size() != out.size()) return error("dy {} and data {} are of different ranks", svengine::to_string(dims), svengine::to_string(out));
  SV_ASSIGN(const Pads p, planned_pads(c, static_cast<int64_t>(out.size())));
  std::vector<size_t> axes;
  for (size_t i = 0; i < out.size(); ++i) {
    if (dims[i] != out[i] + p.before[i] + p.after[i] || std::max(dims[i], out[i]) > kLongestPadded)
      return error("dimension {} of dy has {} elements, {} padded by {} and {} gives others", i, dims[i], out[i], p.before[i], p.after[i]);
    if (p.before[i] != 0 || p.after[i] != 0) axes.push_back(i);
  }
  if (axes.empty()) {
    emit_copy(c, "copy", flat_view(element_count(dims)));
    return {};
  }
  Buffer at = c.in(0);
  for (const size_t i : axes) {
    const int64_t padded = dims[i];
    const std::vector<int32_t> map = kernels::pad_map(pad_mode(c.attributes()), out[i], p.before[i], p.after[i]);
    const kernels::ResampleTables tables{1, map, std::vector<float>(map.size(), 1.0f), std::vector<double>(map.size(), 1.0)};
    const kernels::ResampleTables transposed = transposed_tables(tables, out[i], padded);
    const Buffer to = i == axes.back() ? c.out() : Buffer{};
    at = wide::is_wide(c) ? wide::emit_resample(c, "pad_grad_f64", transposed, 0, at, dims, i, out[i], to)
                          : emit_resample(c, "pad_grad", transposed, 0, at, dims, i, out[i], to);
  }
  return {};
}

/// Linear in dy: the transpose pads.
Status pad_grad_gradient(GradientContext& c) {
  Value* axes = c.node().inputs().size() > 3 ? c.input(3) : nullptr;
  c.set(0, c.op("Pad", {c.dy(), c.input(1), nullptr, axes}, make_attributes({{"mode", c.attributes().get_string("mode", "constant")}})));
  return {};
}

}  // namespace

OpDef define_pad_grad() {
  return {
      .name = "PadGrad",
      .domain = kInternalDomain,
      .inputs = "dy, pads, constant_value?, axes?, data?",
      .attributes = {{"mode", AttributeKind::kString, false, "constant"}, shape_attribute()},
      .infer = [](InferContext& c) { return infer_gradient_like(c, kPadGradLike); },
      .lower = lower_pad_grad,
      .gradient = pad_grad_gradient,
      .traits = {.shape_inputs = {1, 3}, .shape_only_input = kPadGradLike, .linear_input = 0},
      .samples = R"((float32[2, 6, 12], int64[6]{0, 2, 3, 0, 1, 4}) {mode = "reflect", shape = [2, 3, 5]})"
                 R"((float32[15], int64[2]{4, 8}) {mode = "wrap", shape = [3]})",
  };
}

}  // namespace svengine::ops
