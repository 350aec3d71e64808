// CausalConvWithState: a depthwise convolution along the last dimension that looks back only, and hands on what the next part of
// the sequence looks back at. Made of Concat, Conv and Slice.
#include <limits>

#include "engine/ops/language/attention_common.h"

namespace svengine::ops {
namespace {

Status infer_causal_conv(InferContext& c) {
  static constexpr const char* kNames[] = {"input", "weight", "bias", "past_state"};
  const std::string activation = c.attributes().get_string("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish")
    return error("activation is '{}', must be none, silu or swish", activation);
  for (size_t i = 0; i < 4; ++i) {
    SV_TRY(require_dtype(c, i, kNames[i], {DType::f32, DType::f16, DType::bf16}));
    SV_TRY(require_rank(c, i, kNames[i], i == 2 ? 1 : 3));
    if (c.has_input(i) && c.dtype(i) != c.dtype(0))
      return error("{} is {}, must be {} as input is", kNames[i], name_of(c.dtype(i)), name_of(c.dtype(0)));
  }
  const Shape x = c.shape(0).has_rank() ? c.shape(0) : unknown_dims(3), w = c.shape(1).has_rank() ? c.shape(1) : unknown_dims(3);
  if (known_different(x[1], w[0]) || known_different(w[1], Dim(1)))
    return error("weight is {}, needs one filter of depth 1 for each of the channels of input {}", to_string(w), to_string(x));
  if (w[2].is_static() && w[2].value() < 1) return error("weight is {}: a filter needs at least one element", to_string(w));
  if (c.has_input(2) && c.shape(2).has_rank() && known_different(c.shape(2)[0], x[1]))
    return error("bias has {} elements, needs one for each of {} channels", c.shape(2)[0].value(), x[1].value());
  const Shape state{x[0], x[1], w[2].is_static() ? Dim(w[2].value() - 1) : Dim()};
  if (c.has_input(3) && c.shape(3).has_rank())
    for (size_t d = 0; d < 3; ++d)
      if (known_different(c.shape(3)[d], state[d]))
        return error("past_state is {}, needs {}", to_string(c.shape(3)), to_string(state));
  c.set(0, c.dtype(0), x);
  c.set(1, c.dtype(0), state);
  return {};
}

Status expand_causal_conv(ExpandContext& c) {
  const auto channels = c.dim(1, 0), width = c.dim(1, 2);
  if (!channels || !width) return {};
  const int64_t before = *width - 1;
  Value* x = c.has_input(3) ? c.concat({c.input(3), c.input(0)}, 2) : c.op("Pad", {c.input(0), c.ints({0, 0, before, 0, 0, 0})});
  std::vector<Value*> inputs{x, c.input(1)};
  if (c.has_input(2)) inputs.push_back(c.input(2));
  const Attributes attributes = make_attributes({{"group", *channels}, {"kernel_shape", std::vector<int64_t>{*width}}});
  Value* y = *channels > 0 ? c.op("Conv", std::move(inputs), attributes) : c.op("Identity", {c.input(0)});  // 0 groups are no convolution
  if (c.attributes().get_string("activation", "none") != "none") y = c.op("Mul", {y, c.op("Sigmoid", {y})});
  c.set(0, y);
  // The last `before` elements; none is no slice "from -0 on".
  c.set(1, before > 0 ? c.slice(x, 2, -before, std::numeric_limits<int64_t>::max()) : c.slice(x, 2, 0, 0));
  return {};
}

}  // namespace

OpDef define_causal_conv_with_state() {
  return {
      .name = "CausalConvWithState",
      .since = 27,
      .until = 28,
      .inputs = {2, 4},
      .outputs = {2, 2},
      .attributes = {{"activation", AttributeKind::kString, false, "none"}},
      .expand = expand_causal_conv,
      .infer = infer_causal_conv,
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[2, 0, 5], float32[0, 1, 3]) 2"
                 R"((float32[2, 5, 7], float32[5, 1, 4], float32[5], float32[2, 5, 3]) {activation = "silu"} 2)"
                 "(float32[1, 3, 2], float32[3, 1, 4]) 2"
                 "(float32[1, 1, 1], float32[1, 1, 1]) 2",
  };
}

}  // namespace svengine::ops
