// com.microsoft's operators on images with the channels last: NhwcConv, NhwcFusedConv, NhwcMaxPool, QLinearConv. A Transpose before and one behind
// the operator that has them first; where the engine's own layout takes over, they are reorders of a block of channels.
// NhwcConv has the channels of its filters last, too: ONNX Runtime's optimiser writes them as M x kH x kW x C/group. NhwcFusedConv's
// are M x C/group x kH x kW, as FusedConv's.
#include "engine/ops/microsoft/microsoft_common.h"
#include "engine/ops/nn/conv_common.h"
#include "engine/ops/quantized/integer_product_common.h"
#include "engine/ops/registry.h"

namespace svengine::ops {
namespace {

std::vector<int64_t> channels_first(int64_t rank) {
  std::vector<int64_t> perm{0, rank - 1};
  for (int64_t i = 1; i < rank - 1; ++i) perm.push_back(i);
  return perm;
}

std::vector<int64_t> channels_behind(int64_t rank) {
  std::vector<int64_t> perm{0};
  for (int64_t i = 2; i < rank; ++i) perm.push_back(i);
  perm.push_back(1);
  return perm;
}

bool has_filters_last(const Node& node) { return node.op().name == std::string_view("NhwcConv"); }

/// Batch and channels are known; the sizes between them follow when the node is expanded.
Status infer_last_conv(InferContext& c) {
  SV_TRY(check_runtime_activation(c.attributes().get_string("activation", "")));
  SV_TRY(require_dtype(c, 0, kRealTypes));
  SV_TRY(require_rank_at_least(c, 0, 3));
  const Shape &x = c.shape(0), &w = c.shape(1);
  for (const size_t i : {1, 2, 3})
    if (c.has_input(i) && c.dtype(i) != c.dtype(0))
      return error("{} is {}, must be {} as X is", c.described(i), name_of(c.dtype(i)), name_of(c.dtype(0)));
  if (!x.has_rank()) return c.set(0, c.dtype(0), Shape()), Status{};
  SV_TRY(require_rank(c, 1, x.rank()));
  if (c.has_input(3)) SV_TRY(require_rank(c, 3, x.rank()));
  const int64_t group = c.attributes().get_int("group", 1);
  const Dim filter_channels = !w.has_rank() ? Dim() : has_filters_last(c.node()) ? w.back() : w[1];
  if (filter_channels.is_static() && known_different(multiply(filter_channels, Dim(group)), x.back()))
    return error("W {} with {} groups does not fit X {}, whose channels are last", to_string(w), group, to_string(x));
  Shape y = unknown_dims(x.rank());
  y.set(0, x[0]);
  if (w.has_rank()) y.set(static_cast<size_t>(x.rank()) - 1, w[0]);
  c.set(0, c.dtype(0), std::move(y));
  return {};
}

Status expand_last_conv(ExpandContext& c) {
  const int64_t rank = c.shape(0).rank();
  if (!c.shape(0).has_rank()) return {};
  Value* w = has_filters_last(c.node()) ? c.transpose(c.input(1), channels_first(rank)) : c.input(1);
  std::vector<Value*> inputs{c.transpose(c.input(0), channels_first(rank)), w, c.input(2)};
  if (c.has_input(3)) inputs.push_back(c.transpose(c.input(3), channels_first(rank)));
  const Node* conv = c.builder().node(kMicrosoftDomain, "FusedConv", std::move(inputs), 1, c.attributes());
  c.set(0, conv ? c.transpose(conv->output(), channels_behind(rank)) : nullptr);
  return {};
}

Status infer_last_pool(InferContext& c) {
  SV_TRY(require_bytes(c, 0));
  SV_TRY(require_rank_at_least(c, 0, 3));
  const Shape& x = c.shape(0);
  if (!x.has_rank()) return c.set(0, c.dtype(0), Shape()), Status{};
  Shape y = unknown_dims(x.rank());
  y.set(0, x[0]);
  y.set(static_cast<size_t>(x.rank()) - 1, x.back());
  c.set(0, c.dtype(0), std::move(y));
  return {};
}

Status expand_last_pool(ExpandContext& c) {
  if (!c.shape(0).has_rank()) return {};
  const int64_t rank = c.shape(0).rank();
  c.set(0, c.transpose(c.op("MaxPool", {c.transpose(c.input(0), channels_first(rank))}, c.attributes()), channels_behind(rank)));
  return {};
}

bool is_last(const Attributes& attributes) { return attributes.get_int("channels_last", 0) != 0; }

/// Of a quantised convolution with the channels first all is known, as ai.onnx's operator has it.
Status infer_runtime_q_conv(InferContext& c) {
  if (!is_last(c.attributes())) return all_ops().find("", "QLinearConv")->infer(c);
  constexpr size_t kW = 3, kYZero = 7;
  SV_TRY(require_rank_at_least(c, 0, 3));
  const Shape &x = c.shape(0), &w = c.shape(kW);
  if (!x.has_rank()) return c.set(0, c.dtype(kYZero), Shape()), Status{};
  SV_TRY(require_rank(c, kW, x.rank()));
  Shape y = unknown_dims(x.rank());
  y.set(0, x[0]);
  if (w.has_rank()) y.set(static_cast<size_t>(x.rank()) - 1, w[0]);
  c.set(0, c.dtype(kYZero), std::move(y));
  return {};
}

Status expand_runtime_q_conv(ExpandContext& c) {
  if (!c.shape(0).has_rank()) return {};
  const int64_t rank = c.shape(0).rank();
  const bool last = is_last(c.attributes());
  Attributes attributes = c.attributes();
  attributes.erase("channels_last");
  std::vector<Value*> inputs = c.node().inputs();
  if (last) inputs[0] = c.transpose(inputs[0], channels_first(rank));
  Value* y = c.op("QLinearConv", std::move(inputs), std::move(attributes));
  c.set(0, last ? c.transpose(y, channels_behind(rank)) : y);
  return {};
}

OpDef last_conv(const char* name, OpInputs inputs, std::vector<AttributeDef> more, std::string samples) {
  std::vector<AttributeDef> attributes = conv_attributes();
  attributes.insert(attributes.end(), more.begin(), more.end());
  return {
      .name = name,
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = inputs,
      .attributes = std::move(attributes),
      .expand = expand_last_conv,
      .infer = infer_last_conv,
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = std::move(samples),
  };
}

}  // namespace

OpDef define_nhwc_conv() {
  return last_conv("NhwcConv", "X, W, B?", {},
                   "(float32[1, 6, 5, 3], float32[8, 2, 3, 3], float32[8]) {pads = [1, 1, 1, 1]}"
                   "(float32[2, 7, 4], float32[4, 3, 2]) {group = 2, strides = [2]}"
                   "(float32[1, 1, 1, 1], float32[1, 1, 1, 1])");
}

OpDef define_nhwc_fused_conv() {
  return last_conv("NhwcFusedConv", "X, W, B?, Z?", {{"activation", AttributeKind::kString}, {"activation_params", AttributeKind::kFloats}},
                   "(float32[1, 6, 5, 3], float32[8, 3, 3, 2], float32[8]) {pads = [1, 1, 1, 1]}"
                   "(float32[2, 7, 4], float32[4, 2, 3]) {group = 2, strides = [2]}"
                   R"((float32[1, 6, 5, 3], float32[8, 3, 3, 3], float32[8], float32[1, 4, 3, 8]) {activation = "LeakyRelu", )"
                   "activation_params = [0.2]}");
}

/// As ONNX Runtime's optimiser writes it at level "all".
OpDef define_microsoft_q_linear_conv() {
  std::vector<AttributeDef> attributes = conv_attributes();
  attributes.push_back({"channels_last", AttributeKind::kInt, false, 0});
  return {
      .name = "QLinearConv",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, B?",
      .attributes = std::move(attributes),
      .expand = expand_runtime_q_conv,
      .infer = infer_runtime_q_conv,
      .types = {{"T1", kBytes, {0, 2}}, {"T2", kBytes, {3, 5}}, {"T3", kBytes, {7}}, {"T4", {DType::i32}, {8}}, {"scale", {DType::f32}, {1, 4, 6}}},
      .samples = "(uint8[2, 6, 5, 4] 0 to 256, float32[] 0.01 to 0.1, uint8[] 0 to 256, int8[7, 4, 3, 3] -128 to 128, "
                 "float32[7] 0.01 to 0.1, int8[7] -128 to 128, float32[] 0.5 to 1, uint8[] 0 to 256) {channels_last = 1, "
                 "pads = [1, 1, 1, 1]}"
                 "(uint8[1, 9, 20] 0 to 256, float32[] 0.01 to 0.1, uint8[] 0 to 256, int8[20, 1, 3] -128 to 128, float32[] 0.01 to 0.1, "
                 "int8[] -128 to 128, float32[] 0.5 to 1, uint8[] 0 to 256) {channels_last = 1, group = 20}"
                 "(uint8[1, 4, 5, 6] 0 to 256, float32[] 0.01 to 0.1, uint8[] 0 to 256, int8[3, 4, 2, 2] -128 to 128, "
                 "float32[] 0.01 to 0.1, int8[] -128 to 128, float32[] 0.5 to 1, uint8[] 0 to 256)",
  };
}

OpDef define_nhwc_max_pool() {
  return {
      .name = "NhwcMaxPool",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "x",
      .attributes = {{"auto_pad", AttributeKind::kString, false, "NOTSET"},
                     {"ceil_mode", AttributeKind::kInt, false, 0},
                     {"dilations", AttributeKind::kInts},
                     {"kernel_shape", AttributeKind::kInts, true},
                     {"pads", AttributeKind::kInts},
                     {"strides", AttributeKind::kInts}},
      .expand = expand_last_pool,
      .infer = infer_last_pool,
      .samples = "(uint8[2, 7, 6, 5] 0 to 256) {kernel_shape = [3, 2], strides = [2, 1]}"
                 "(int8[1, 5, 3] -128 to 128) {kernel_shape = [2], pads = [1, 0]}",
  };
}

}  // namespace svengine::ops
