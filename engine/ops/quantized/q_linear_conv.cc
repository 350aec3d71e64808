// QLinearConv: quantised((x_scale w_scale / y_scale) (conv(x - x_zero_point, w - w_zero_point) + B)), and ConvInteger, the sums alone.
// The engine's own QLinearConv is the same on channels-last images, with bounds that an activation behind it left.
#include "engine/ops/infer_util.h"
#include "engine/ops/nn/conv_common.h"
#include "engine/ops/quantized/integer_conv_common.h"

namespace svengine::ops {
namespace {

/// One element, or one for each output channel.
Status require_per_output(const InferContext& c, size_t input, size_t w, bool may_be_one) {
  if (!c.has_input(input) || !c.shape(input).is_static() || !c.shape(w).has_rank() || c.shape(w).rank() < 1) return {};
  const int64_t count = element_count(*c.shape(input).concrete());
  const Dim& channels = c.shape(w)[0];
  if ((may_be_one && count == 1) || !channels.is_static() || count == channels.value()) return {};
  return error("{} has {} elements, needs {}one for each of the {} output channels", c.described(input), count, may_be_one ? "one, or " : "",
               channels.value());
}

Status require_one(const InferContext& c, size_t input) {
  if (!c.has_input(input) || !c.shape(input).is_static() || element_count(*c.shape(input).concrete()) == 1) return {};
  return error("{} of shape {} needs one element", c.described(input), to_string(c.shape(input)));
}

/// Attributes low and high, where they are, bound values of the output's type.
Status require_bounds(const InferContext& c, DType type) {
  const int64_t lowest = type == DType::i8 ? -128 : 0, highest = lowest + 255;
  const int64_t low = c.attributes().get_int("low", lowest), high = c.attributes().get_int("high", highest);
  if (low >= lowest && low <= high && high <= highest) return {};
  return error("low {} and high {} bound no values of {}: {} <= low <= high <= {} would", low, high, name_of(type), lowest, highest);
}

Status infer_q_linear_conv(InferContext& c) {
  SV_TRY(require_bytes(c, 0));
  SV_TRY(require_bytes(c, 3));
  SV_TRY(require_bytes(c, 7));
  SV_TRY(require_zero_of(c, 2, 0));
  SV_TRY(require_zero_of(c, 5, 3));
  for (size_t one : {1, 2, 6, 7}) SV_TRY(require_one(c, one));
  for (size_t scale : {1, 4, 6}) SV_TRY(require_dtype(c, scale, {DType::f32}));
  SV_TRY(require_per_output(c, 4, 3, true));
  SV_TRY(require_per_output(c, 5, 3, true));
  SV_TRY(require_dtype(c, 8, {DType::i32}));
  SV_TRY(require_per_output(c, 8, 3, false));
  SV_TRY(require_bounds(c, c.dtype(7)));
  SV_ASSIGN(Shape shape, integer_conv_shape(c, 0, 3));
  c.set(0, c.dtype(7), std::move(shape));
  return {};
}

Status lower_q_linear_conv(LowerContext& c) {
  IntegerConv conv{.x = 0, .w = 3, .x_zero = numbers_of(c, 2), .w_zero = numbers_of(c, 5), .epilogue = {}};
  conv.epilogue.type = c.out_type().dtype;
  conv.epilogue.bias = c.has_input(8) ? c.in(8) : Buffer{};
  conv.epilogue.scales = output_scales(c, 1, 4, 6);
  conv.epilogue.zero = numbers_of(c, 7);
  if (c.attributes().has("low")) conv.epilogue.low = static_cast<float>(c.attributes().get_int("low"));
  if (c.attributes().has("high")) conv.epilogue.high = static_cast<float>(c.attributes().get_int("high"));
  return emit_integer_conv(c, conv);
}

Cost q_linear_conv_cost(const Node& node) { return integer_conv_cost(node, 3); }

Status infer_conv_integer(InferContext& c) {
  SV_TRY(require_bytes(c, 0));
  SV_TRY(require_bytes(c, 1));
  SV_TRY(require_zero_of(c, 2, 0));
  SV_TRY(require_zero_of(c, 3, 1));
  SV_TRY(require_one(c, 2));
  SV_TRY(require_per_output(c, 3, 1, true));
  SV_ASSIGN(Shape shape, integer_conv_shape(c, 0, 1));
  c.set(0, DType::i32, std::move(shape));
  return {};
}

Status lower_conv_integer(LowerContext& c) {
  return emit_integer_conv(c, {.x = 0, .w = 1, .x_zero = numbers_of(c, 2), .w_zero = numbers_of(c, 3), .epilogue = {}});
}

Cost conv_integer_cost(const Node& node) { return integer_conv_cost(node, 1); }

}  // namespace

OpDef define_q_linear_conv() {
  return {
      .name = "QLinearConv",
      .since = 10,
      .inputs = "x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, B?",
      .attributes = conv_attributes(),
      .infer = infer_q_linear_conv,
      .lower = lower_q_linear_conv,
      .cost = q_linear_conv_cost,
      .samples = "(uint8[2, 3, 11, 9] 0 to 256, float32[] 0.01 to 0.1, uint8[] 0 to 100, int8[7, 3, 3, 3] -128 to 128, "
                 "float32[] 0.01 to 0.1, int8[] 0 to 100, float32[] 0.5 to 1, uint8[] 0 to 256) {pads = [1, 1, 1, 1]}"
                 "(uint8[1, 1, 1, 1] 0 to 256, float32[] 0.01 to 0.1, uint8[] 0 to 100, uint8[1, 1, 1, 1] 0 to 256, "
                 "float32[1] 0.01 to 0.1, uint8[1] 0 to 100, float32[] 0.5 to 1, uint8[] 0 to 256)"
                 "(int8[1, 20, 8, 8] -128 to 128, float32[] 0.01 to 0.1, int8[] 0 to 100, int8[18, 20, 1, 1] -128 to 128, "
                 "float32[18] 0.01 to 0.1, int8[18] 0 to 100, float32[] 0.5 to 1, int8[] -128 to 128) {strides = [2, 2]}"
                 "(uint8[1, 12, 9, 9] 0 to 256, float32[] 0.01 to 0.1, uint8[] 0 to 100, int8[12, 1, 3, 3] -128 to 128, "
                 "float32[12] 0.01 to 0.1, int8[12] 0 to 100, float32[] 0.5 to 1, uint8[] 0 to 256, int32[12] -1000 to 1000) {group = 12, "
                 "dilations = [2, 2], pads = [2, 2, 2, 2]}"
                 "(uint8[1, 6, 10, 7] 0 to 256, float32[] 0.01 to 0.1, uint8[] 0 to 100, uint8[8, 3, 3, 2] 0 to 256, "
                 R"(float32[] 0.01 to 0.1, uint8[] 0 to 100, float32[] 0.5 to 1, int8[] -128 to 128) {group = 2, auto_pad = "SAME_UPPER"})"
                 "(int8[2, 3, 17] -128 to 128, float32[] 0.01 to 0.1, int8[] 0 to 100, uint8[5, 3, 4] 0 to 256, float32[] 0.01 to 0.1, "
                 "uint8[] 0 to 100, float32[] 0.5 to 1, uint8[] 0 to 256) {strides = [3]}"
                 "(uint8[1, 4, 3, 4, 5] 0 to 256, float32[] 0.01 to 0.1, uint8[] 0 to 100, int8[6, 4, 2, 2, 2]{13, 90, ...}, "
                 "float32[6] 0.01 to 0.1, int8[6] 0 to 100, float32[] 0.5 to 1, uint8[] 0 to 256) {pads = [0, 1, 0, 1, 0, 1]}",
  };
}

OpDef define_svengine_q_linear_conv() {
  std::vector<AttributeDef> attributes = conv_attributes();
  attributes.push_back({"channels_last", AttributeKind::kInt, false, 0});
  attributes.push_back({"low", AttributeKind::kInt});
  attributes.push_back({"high", AttributeKind::kInt});
  return {
      .name = "QLinearConv",
      .domain = kInternalDomain,
      .inputs = "x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, B?",
      .attributes = std::move(attributes),
      .infer = infer_q_linear_conv,
      .lower = lower_q_linear_conv,
      .cost = q_linear_conv_cost,
      .samples = "(uint8[2, 3, 11, 9] 0 to 256, float32[] 0.01 to 0.1, uint8[] 0 to 100, int8[7, 3, 3, 3] -128 to 128, "
                 "float32[] 0.01 to 0.1, int8[] 0 to 100, float32[] 0.5 to 1, uint8[] 0 to 256) {pads = [1, 1, 1, 1], low = 7, high = 100}"
                 "(uint8[1, 1, 1, 1] 0 to 256, float32[] 0.01 to 0.1, uint8[] 0 to 100, uint8[1, 1, 1, 1] 0 to 256, "
                 "float32[1] 0.01 to 0.1, uint8[1] 0 to 100, float32[] 0.5 to 1, uint8[] 0 to 256) {low = 7, high = 100}"
                 "(int8[1, 20, 8, 8] -128 to 128, float32[] 0.01 to 0.1, int8[] 0 to 100, int8[18, 20, 1, 1] -128 to 128, "
                 "float32[18] 0.01 to 0.1, int8[18] 0 to 100, float32[] 0.5 to 1, int8[] -128 to 128) {strides = [2, 2], low = 7, "
                 "high = 100}"
                 "(uint8[1, 12, 9, 9] 0 to 256, float32[] 0.01 to 0.1, uint8[] 0 to 100, int8[12, 1, 3, 3] -128 to 128, "
                 "float32[12] 0.01 to 0.1, int8[12] 0 to 100, float32[] 0.5 to 1, uint8[] 0 to 256, int32[12] -1000 to 1000) {group = 12, "
                 "dilations = [2, 2], pads = [2, 2, 2, 2], low = 7, high = 100}"
                 "(uint8[1, 6, 10, 7] 0 to 256, float32[] 0.01 to 0.1, uint8[] 0 to 100, uint8[8, 3, 3, 2] 0 to 256, "
                 R"(float32[] 0.01 to 0.1, uint8[] 0 to 100, float32[] 0.5 to 1, int8[] -128 to 128) {group = 2, auto_pad = "SAME_UPPER", )"
                 "low = 7, high = 100}"
                 "(int8[2, 3, 17] -128 to 128, float32[] 0.01 to 0.1, int8[] 0 to 100, uint8[5, 3, 4] 0 to 256, float32[] 0.01 to 0.1, "
                 "uint8[] 0 to 100, float32[] 0.5 to 1, uint8[] 0 to 256) {strides = [3], low = 7, high = 100}"
                 "(uint8[1, 4, 3, 4, 5] 0 to 256, float32[] 0.01 to 0.1, uint8[] 0 to 100, int8[6, 4, 2, 2, 2]{13, 90, ...}, "
                 "float32[6] 0.01 to 0.1, int8[6] 0 to 100, float32[] 0.5 to 1, uint8[] 0 to 256) {pads = [0, 1, 0, 1, 0, 1], low = 7, "
                 "high = 100}"
                 "(uint8[2, 11, 9, 3] 0 to 256, float32[] 0.01 to 0.1, uint8[] 0 to 100, int8[7, 3, 3, 3] -128 to 128, "
                 "float32[] 0.01 to 0.1, int8[] 0 to 100, float32[] 0.5 to 1, uint8[] 0 to 256) {channels_last = 1}"
                 "(uint8[1, 9, 9, 40] 0 to 256, float32[] 0.01 to 0.1, uint8[] 0 to 100, int8[40, 1, 3, 3]{13, 90, ...}, "
                 "float32[40] 0.01 to 0.1, int8[40] 0 to 100, float32[] 0.5 to 1, uint8[] 0 to 256) {channels_last = 1, group = 40, "
                 "pads = [1, 1, 1, 1]}",
  };
}

OpDef define_conv_integer() {
  return {
      .name = "ConvInteger",
      .since = 10,
      .inputs = "x, w, x_zero_point?, w_zero_point?",
      .attributes = conv_attributes(),
      .infer = infer_conv_integer,
      .lower = lower_conv_integer,
      .cost = conv_integer_cost,
      .samples = "(uint8[2, 3, 11, 9] 0 to 256, int8[7, 3, 3, 3] -128 to 128, uint8[] 0 to 256, int8[7] -128 to 128) {pads = [1, 1, 1, 1]}"
                 "(uint8[1, 1, 1, 1] 0 to 256, uint8[1, 1, 1, 1] 0 to 256)"
                 "(int8[1, 12, 9, 9] -128 to 128, uint8[12, 1, 3, 3] 0 to 256, int8[] -128 to 128, uint8[] 0 to 256) {group = 12}"
                 "(uint8[2, 6, 17] 0 to 256, uint8[4, 3, 4]{13, 90, ...}, uint8[] 0 to 256) {group = 2, strides = [3]}",
  };
}

}  // namespace svengine::ops
