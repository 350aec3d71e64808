// DepthToSpace: channels become blocks of pixels. DCR reads channels as (block row, block column, channel), CRD as (channel,
// block row, block column).
#include "engine/graph/gradient.h"
#include "engine/ops/samples.h"
#include "engine/ops/tensor/copy_common.h"
#include "engine/ops/tensor/depth_common.h"

namespace svengine::ops {
namespace {

Status infer_depth_to_space(InferContext& c) {
  SV_TRY(require_rank(c, 0, "input", 4));
  const std::string mode = c.attributes().get_string("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") return error("mode is '{}', needs DCR or CRD", mode);
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
  const int64_t b = c.attributes().get_int("blocksize");
  Value *x = c.input(0), *back = c.op("SpaceToDepth", {c.dy()}, make_attributes({{"blocksize", b}}));
  if (c.attributes().get_string("mode", "DCR") == "CRD") {
    // SpaceToDepth gives channels as (block row, block column, channel).
    const Shape& shape = x->type.shape;
    if (!shape.has_rank() || !shape[1].is_static()) return error("the gradient of mode CRD needs a known number of channels");
    Value* parts = c.op("Reshape", {back, c.builder().integers({0, b * b, shape[1].value() / (b * b), -1})});
    back = c.reshape_to(c.op("Transpose", {parts}, make_attributes({{"perm", std::vector<int64_t>{0, 2, 1, 3}}})), x);
  }
  c.set(0, back);
  return {};
}

}  // namespace

OpDef define_depth_to_space() {
  return {
      .name = "DepthToSpace",
      .attributes = {{"blocksize", AttributeKind::kInt, true}, {"mode", AttributeKind::kString, false, text("DCR")}},
      .infer = infer_depth_to_space,
      .lower = lower_depth_to_space,
      .cost = movement_cost,
      .gradient = depth_to_space_gradient,
      .samples = {{.inputs = {f32({2, 12, 3, 5})}, .attributes = {{"blocksize", integer(2)}}},
                  {.inputs = {f32({1, 18, 2, 3})}, .attributes = {{"blocksize", integer(3)}, {"mode", text("CRD")}}}},
  };
}

}  // namespace svengine::ops
