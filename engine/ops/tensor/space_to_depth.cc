// SpaceToDepth: blocks of pixels become channels, in mode DCR in the order (block row, block column, channel), in CRD as (channel, block row,
// block column).
#include "engine/graph/gradient.h"
#include "engine/ops/evaluate_strings.h"
#include "engine/ops/tensor/copy_common.h"
#include "engine/ops/tensor/depth_common.h"

namespace svengine::ops {
namespace {

Status infer_space_to_depth(InferContext& c) {
  SV_TRY(require_rank(c, 0, 4));
  SV_TRY(check_depth_mode(c.attributes()));
  SV_ASSIGN(const int64_t b, block_size(c.attributes()));
  const Shape& in = c.shape(0);
  if (!in.has_rank()) {
    c.set(0, c.dtype(0), unknown_dims(4));
    return {};
  }
  SV_ASSIGN(const Dim h, divide(in[2], b, "rows"));
  SV_ASSIGN(const Dim w, divide(in[3], b, "columns"));
  c.set(0, c.dtype(0), Shape{in[0], multiply(in[1], b * b), h, w});
  return {};
}

Status lower_space_to_depth(LowerContext& c) {
  SV_ASSIGN(const int64_t b, block_size(c.attributes()));
  const Dims in = c.in_dims(0), out = c.out_dims();
  const int64_t n = in[0], channels = in[1], h = out[2], w = out[3];
  const int64_t plane = in[2] * in[3];
  const bool dcr = c.attributes().get_string("mode", "DCR") == "DCR";
  const Dims dims = dcr ? Dims{n, b, b, channels, h, w} : Dims{n, channels, b, b, h, w};
  const Dims from = dcr ? Dims{channels * plane, in[3], 1, plane, b * in[3], b} : Dims{channels * plane, plane, in[3], 1, b * in[3], b};
  emit_copy(c, "space_to_depth", {.dims = dims, .in_strides = from, .out_strides = strides_of(dims)});
  return {};
}

Status space_to_depth_gradient(GradientContext& c) {
  c.set(0, c.op("DepthToSpace", {c.dy()}, c.attributes()));
  return {};
}

}  // namespace

OpDef define_space_to_depth() {
  return {
      .name = "SpaceToDepth",
      .inputs = "input",
      .attributes = {{"blocksize", AttributeKind::kInt, true}, {"mode", AttributeKind::kString, false, "DCR"}},
      .infer = infer_space_to_depth,
      .lower = lower_space_to_depth,
      .evaluate = evaluate_strings,
      .types = {{"T", kAllTypes, {0}}},
      .kernel_types = kDenseTypes,
      .cost = movement_cost,
      .gradient = space_to_depth_gradient,
      .traits = {.moves_elements = always},
      .samples = "(float32[2, 3, 4, 6]) {blocksize = 2}"
                 "(float32[1, 5, 3, 9]) {blocksize = 3}"
                 R"((float32[2, 3, 4, 6]) {blocksize = 2, mode = "CRD"})",
  };
}

}  // namespace svengine::ops
