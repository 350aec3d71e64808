// Slice: elements starts, starts + steps, ... before ends, along the given axes. Bounds count from the end when negative and
// are clamped; steps may be negative.
#include "engine/graph/gradient.h"
#include "engine/graph/axes.h"
#include "engine/graph/transposed_node.h"
#include "engine/ops/evaluate_strings.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/tensor/copy_common.h"
#include "engine/ops/tensor/slice_common.h"

namespace svengine::ops {
namespace {

Status canonicalize_slice(CanonicalizeContext& c) {
  if (c.opset() >= 10) return {};
  if (!c.attributes().has("starts") || !c.attributes().has("ends")) return error("attributes 'starts' and 'ends' are needed");
  c.attribute_to_input("starts", 1);
  c.attribute_to_input("ends", 2);
  c.attribute_to_input("axes", 3);
  return {};
}

Status infer_slice(InferContext& c) {
  for (size_t i = 1; i < c.input_count(); ++i) {
    SV_TRY(require_dtype(c, i, kIndexTypes));
    SV_TRY(require_rank(c, i, 1));
  }
  const Shape& in = c.shape(0);
  const auto starts = c.integers(1), ends = c.integers(2), axes = c.integers(3), steps = c.integers(4);
  const bool axes_known = axes || !c.has_input(3);
  if (!in.has_rank()) {
    c.set(0, c.dtype(0), Shape());
    return {};
  }
  if (!starts || !ends || !axes_known || (c.has_input(4) && !steps)) {
    Shape out = unknown_dims(in.rank());
    if (axes) {  // the other dimensions are the input's
      SV_ASSIGN(const std::vector<int64_t> cut, normalise_axes(*axes, in.rank()));
      out = in;
      for (int64_t axis : cut) out.set(static_cast<size_t>(axis), Dim());
    }
    c.set(0, c.dtype(0), std::move(out));
    return {};
  }
  SV_ASSIGN(const Bounds b, complete({*starts, *ends, axes.value_or(Dims{}), steps.value_or(Dims{})}, axes.has_value(),
                                     steps.has_value(), in.rank()));
  Shape out = in;
  for (size_t i = 0; i < b.axes.size(); ++i) {
    const size_t axis = static_cast<size_t>(b.axes[i]);
    if (out[axis].is_static()) out.set(axis, range_in(out[axis].value(), b.starts[i], b.ends[i], b.steps[i]).count);
    // All of a dimension whose size is not known yet; exporters write the end as a huge number.
    else if (b.starts[i] != 0 || b.steps[i] != 1 || b.ends[i] < INT32_MAX) out.set(axis, Dim());
  }
  c.set(0, c.dtype(0), std::move(out));
  return {};
}

/// Those that bounds without axes are about.
std::optional<std::vector<int64_t>> first_axes(const Shape& bounds) {
  if (bounds.rank() != 1 || !bounds[0].is_static()) return std::nullopt;
  return every_axis(bounds[0].value());
}

Status lower_slice(LowerContext& c) {
  const Dims in = c.in_dims(0);
  SV_ASSIGN(const Bounds b, known_bounds(c, static_cast<int64_t>(in.size())));
  CopyView view{.dims = c.out_dims(), .in_strides = strides_of(in), .out_strides = strides_of(c.out_dims())};
  for (size_t i = 0; i < b.axes.size(); ++i) {
    const size_t axis = static_cast<size_t>(b.axes[i]);
    const Range r = range_in(in[axis], b.starts[i], b.ends[i], b.steps[i]);
    if (r.count == 0) return {};
    view.in_offset += r.start * view.in_strides[axis];
    view.in_strides[axis] = r.count == 1 ? 0 : view.in_strides[axis] * r.step;
  }
  emit_copy(c, "slice", std::move(view));
  return {};
}

std::optional<TransposedNode> transposed_slice(const Node& node, const Permutation& perm) {
  const auto axes = node.input(3) ? known_integers(node, 3) : first_axes(node.input(1)->type.shape);
  return axes ? transposed_with_axes(node, perm, 3, *axes) : std::nullopt;
}

/// The other elements of the input get zero.
Status slice_gradient(GradientContext& c) {
  std::vector<Value*> inputs{c.dy()};
  for (size_t i = 1; i < 5; ++i) inputs.push_back(c.input(i));
  inputs.push_back(c.input(0));
  c.set(0, c.internal("SliceGrad", std::move(inputs)));
  return {};
}

}  // namespace

OpDef define_slice() {
  return {
      .name = "Slice",
      .inputs = "data, starts, ends, axes?, steps?",
      .canonicalize = canonicalize_slice,
      .infer = infer_slice,
      .lower = lower_slice,
      .evaluate = evaluate_strings,
      .types = {{"T", kAllTypes, {0}}, {"Tind", kIndexTypes, {1, 2, 3, 4}}},
      .kernel_types = kDenseTypes,
      .cost = movement_cost,
      .gradient = slice_gradient,
      .traits = {.shape_inputs = {1, 2, 3, 4}, .moves_elements = always, .transposed = transposed_slice},
      .samples = "(float32[7, 9], int64[2]{1, -3}, int64[2]{100, -1})"
                 "(float32[3, 20, 5], int64[1]{-1}, int64[1]{-9223372036854775808}, int64[1]{1}, int64[1]{-3})"
                 "(float32[2, 64], int64[1]{0}, int64[1]{9223372036854775807}, int64[1]{-1}, int64[1]{2})"
                 "(int64[5], int64[1]{3}, int64[1]{1})",
  };
}

}  // namespace svengine::ops
