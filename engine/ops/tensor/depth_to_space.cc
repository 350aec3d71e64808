// DepthToSpace: channels become blocks of pixels. DCR reads channels as (block row, block column, channel), CRD as (channel,
// block row, block column).
#include "engine/graph/gradient.h"
#include "engine/ops/evaluate_strings.h"
#include "engine/ops/tensor/copy_common.h"
#include "engine/ops/tensor/depth_common.h"

namespace svengine::ops {
namespace {

Status infer_depth_to_space(InferContext& c) {
  SV_TRY(require_rank(c, 0, 4));
  SV_TRY(check_depth_mode(c.attributes()));
  SV_ASSIGN(const int64_t b, block_size(c.attributes()));
  const Shape& in = c.shape(0);
  if (!in.has_rank()) {
    c.set(0, c.dtype(0), unknown_dims(4));
    return {};
  }
  SV_ASSIGN(const Dim channels, divide(in[1], b * b, "channels"));
  c.set(0, c.dtype(0), Shape{in[0], channels, multiply(in[2], b), multiply(in[3], b)});
  return {};
}

Status lower_depth_to_space(LowerContext& c) {
  SV_ASSIGN(const int64_t b, block_size(c.attributes()));
  const Dims out = c.out_dims();
  const int64_t n = out[0], channels = out[1], h = out[2] / b, w = out[3] / b, plane = h * w;
  const bool dcr = c.attributes().get_string("mode", "DCR") == "DCR";
  const int64_t row = dcr ? b * channels * plane : b * plane, column = dcr ? channels * plane : plane;
  emit_copy(c, "depth_to_space",
            {.dims = {n, channels, h, b, w, b},
             .in_strides = {channels * b * b * plane, dcr ? plane : b * b * plane, w, row, 1, column},
             .out_strides = strides_of({n, channels, h, b, w, b})});
  return {};
}

Status depth_to_space_gradient(GradientContext& c) {
  c.set(0, c.op("SpaceToDepth", {c.dy()}, c.attributes()));
  return {};
}

}  // namespace

OpDef define_depth_to_space() {
  return {
      .name = "DepthToSpace",
      .inputs = "input",
      .attributes = {{"blocksize", AttributeKind::kInt, true}, {"mode", AttributeKind::kString, false, "DCR"}},
      .infer = infer_depth_to_space,
      .lower = lower_depth_to_space,
      .evaluate = evaluate_strings,
      .types = {{"T", kAllTypes, {0}}},
      .kernel_types = kDenseTypes,
      .cost = movement_cost,
      .gradient = depth_to_space_gradient,
      .traits = {.moves_elements = always},
      .samples = "(float32[2, 12, 3, 5]) {blocksize = 2}"
                 R"((float32[1, 18, 2, 3]) {blocksize = 3, mode = "CRD"})",
  };
}

}  // namespace svengine::ops
