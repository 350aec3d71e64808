// CenterCropPad: dimensions cut to, or filled with zeros up to, given sizes, evenly on both sides.
#include "engine/graph/axes.h"
#include "engine/graph/gradient.h"
#include "engine/ops/evaluate_strings.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/tensor/map_common.h"

namespace svengine::ops {
namespace {

constexpr int64_t kLongestCropped = int64_t{1} << 26;  // there is a table entry for every position

/// The axes that `shape` speaks of.
Result<std::vector<int64_t>> cropped_axes(const Attributes& attributes, int64_t rank) {
  if (attributes.has("axes")) return normalise_axes(attributes.get_ints("axes"), rank);
  std::vector<int64_t> all;
  for (int64_t i = 0; i < rank; ++i) all.push_back(i);
  return all;
}

Status infer_center_crop_pad(InferContext& c) {
  SV_TRY(require_dtype(c, 1, kIndexTypes));
  SV_TRY(require_rank(c, 1, 1));
  if (!c.shape(0).has_rank()) {
    c.set(0, c.dtype(0), Shape());
    return {};
  }
  SV_ASSIGN(const std::vector<int64_t> axes, cropped_axes(c.attributes(), c.shape(0).rank()));
  const auto sizes = c.integers(1);
  if (sizes && sizes->size() != axes.size()) return error("shape has {} sizes for {} axes", sizes->size(), axes.size());
  Shape out = c.shape(0);
  for (size_t i = 0; i < axes.size(); ++i) {
    if (sizes && (*sizes)[i] < 0) return error("size {} of axis {} is negative", (*sizes)[i], axes[i]);
    out.set(static_cast<size_t>(axes[i]), sizes ? Dim((*sizes)[i]) : Dim());
  }
  c.set(0, c.dtype(0), std::move(out));
  return {};
}

Status lower_center_crop_pad(LowerContext& c) {
  const Dims in = c.in_dims(0), out = c.out_dims();
  if (element_count(out) == 0) return {};
  std::vector<std::vector<int32_t>> maps;
  for (size_t i = 0; i < in.size(); ++i) {
    if (in[i] > kLongestCropped || out[i] > kLongestCropped)
      return unimplemented("axis {} is longer than the {} that can be cropped or padded", i, kLongestCropped);
    // Cutting starts, and filling ends, half of the difference from the edge, rounded down.
    const int64_t shift = out[i] <= in[i] ? (in[i] - out[i]) / 2 : -((out[i] - in[i]) / 2);
    std::vector<int32_t> map;
    for (int64_t o = 0; o < out[i]; ++o) {
      const int64_t at = o + shift;
      map.push_back(at >= 0 && at < in[i] ? static_cast<int32_t>(at) : -1);
    }
    maps.push_back(std::move(map));
  }
  return emit_map(c, "center_crop_pad", maps, {});
}

/// Back to the size that was, by the same rule: both halve the difference, rounded down.
Status center_crop_pad_gradient(GradientContext& c) {
  Value* size = c.op("Shape", {c.input(0)});
  if (c.attributes().has("axes")) {
    const std::vector<int64_t> axes = c.attributes().get_ints("axes");
    size = c.op("Gather", {size, c.builder().constant(Tensor::of<int64_t>({static_cast<int64_t>(axes.size())}, std::span<const int64_t>(axes)))});
  }
  c.set(0, c.op("CenterCropPad", {c.dy(), size}, c.attributes()));
  return {};
}

}  // namespace

OpDef define_center_crop_pad() {
  return {
      .name = "CenterCropPad",
      .since = 18,
      .inputs = "input_data, shape",
      .attributes = {{"axes", AttributeKind::kInts}},
      .infer = infer_center_crop_pad,
      .lower = lower_center_crop_pad,
      .evaluate = evaluate_strings,
      .types = {{"T", kAllTypes, {0}}, {"Tind", kIndexTypes, {1}}},
      .kernel_types = kDenseTypes,
      .cost = movement_cost,
      .gradient = center_crop_pad_gradient,
      .traits = {.shape_inputs = {1}, .moves_elements = always},
      .samples = "(float32[10, 7, 3], int64[3]{8, 8, 3})"
                 "(float32[2, 9, 5], int64[2]{4, 8}) {axes = [-1, 1]}"
                 "(int64[5], int64[1]{2})"
                 "(uint8[2, 3] 0 to 99, int32[2]{3, 0})"
                 "(float64[1, 1], int64[2]{3, 4})"
                 "(int16[0, 2], int64[2]{3, 2})",
  };
}

}  // namespace svengine::ops
