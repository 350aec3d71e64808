#include "engine/ops/language/causal_conv_common.h"

#include <limits>

#include "engine/ops/like.h"

namespace svengine::ops {
namespace {

enum CausalInput : size_t { kCausalInput, kCausalWeight, kCausalBias, kCausalPast };

}  // namespace

Status check_causal_attributes(const Attributes& a) {
  const std::string activation = a.get_string("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish")
    return error("activation is '{}', must be none, silu or swish", activation);
  const int64_t dilation = a.get_int("dilation", 1);
  return dilation < 1 || dilation > INT32_MAX ? error("dilation is {}, must be at least 1", dilation) : Status();
}

Value* causal_conv(ExpandContext& c, Value* all, Value* x, Value* weight, Value* bias) {
  const int64_t channels = weight->type.shape[0].value(), width = weight->type.shape[2].value();
  std::vector<Value*> inputs{all, weight};
  if (bias) inputs.push_back(bias);
  const Attributes attributes = make_attributes({{"group", channels}, {"kernel_shape", std::vector<int64_t>{width}},
                                                 {"dilations", std::vector<int64_t>{c.attributes().get_int("dilation", 1)}}});
  Value* y = channels > 0 ? c.op("Conv", std::move(inputs), attributes) : x;  // 0 groups are no convolution
  return c.attributes().get_string("activation", "none") == "none" ? y : c.op("Mul", {y, c.op("Sigmoid", {y})});
}

namespace {

Status check_conv_options(const InferContext& c) {
  const Attributes& a = c.attributes();
  SV_TRY(check_causal_attributes(a));
  if (const int64_t n = a.get_int("ndim", 1); n != 1)
    return n == 2 || n == 3 ? unimplemented("ndim is {}, only 1 is supported", n) : error("ndim is {}, must be 1, 2 or 3", n);
  if (const int64_t n = a.get_int("state_window", 0); n < 0 || n > 8) return error("state_window is {}, must be 0 to 8", n);
  for (const char* name : {"state_update_capacity", "state_length", "input_channel_offset", "input_channels"})
    if (a.get_int(name, 0) != 0) return unimplemented("{} is not supported", name);
  if (a.get_int("state_channels_last", -1) != -1) return unimplemented("state_channels_last is not supported");
  return c.has_output(2) ? unimplemented("output state_update is not supported") : Status();
}

/// Of x, but with a state's length in place of the positions', and the window in front.
Shape state_shape(const Attributes& a, const Shape& x, const Dim& length) {
  if (!x.has_rank()) return {};
  std::vector<Dim> dims = x.dims();
  dims[a.get_int("channels_last", 0) != 0 ? 1 : 2] = length;
  if (const int64_t window = a.get_int("state_window", 0); window > 0) dims.insert(dims.begin(), Dim(window));
  return Shape(std::move(dims));
}

}  // namespace

Status infer_causal_conv(InferContext& c) {
  SV_TRY(check_conv_options(c));
  const bool last = c.attributes().get_int("channels_last", 0) != 0;
  SV_TRY(last ? require_rank_at_least(c, kCausalInput, 3) : require_rank(c, kCausalInput, 3));
  SV_TRY(require_rank(c, kCausalWeight, 3));
  const Shape x = c.shape(kCausalInput).has_rank() || last ? c.shape(kCausalInput) : unknown_dims(3);
  const Shape w = c.shape(kCausalWeight).has_rank() ? c.shape(kCausalWeight) : unknown_dims(3);
  const Dim channels = !x.has_rank() ? Dim() : last ? product(x, 2, static_cast<size_t>(x.rank())) : x[1];
  if (known_different(channels, w[0]) || known_different(w[1], Dim(1)) || (w[2].is_static() && w[2].value() < 1))
    return error("weight is {}, needs [channels, 1, width] for the channels of input {}", to_string(w), to_string(x));
  SV_TRY(require_shape(c, kCausalBias, Shape{w[0]}));
  const Dim before = w[2].is_static() ? multiply(Dim(w[2].value() - 1), Dim(c.attributes().get_int("dilation", 1))) : Dim();
  const Shape state = state_shape(c.attributes(), x, before);
  SV_TRY(require_shape(c, kCausalPast, state));
  c.set(0, c.dtype(0), x);
  c.set(1, c.dtype(0), state);
  return {};
}

namespace {

/// The node's layout as [batch, channels, positions], and back.
Value* channels_first(ExpandContext& c, Value* v, int64_t channels) {
  return c.attributes().get_int("channels_last", 0) == 0 ? v : c.transpose(c.reshape(v, {0, 0, channels}), {0, 2, 1});
}

Value* as_given(ExpandContext& c, Value* v) {
  if (c.attributes().get_int("channels_last", 0) == 0) return v;
  std::vector<int64_t> dims{0, 0};
  for (int64_t d = 2; d < c.shape(kCausalInput).rank(); ++d) dims.push_back(*c.dim(kCausalInput, d));
  return c.reshape(c.transpose(v, {0, 2, 1}), std::move(dims));
}

/// The states behind the last positions of `all`, which has `before` positions more than the input: zeros where there are fewer.
Value* window_of_states(ExpandContext& c, Value* all, int64_t before, int64_t positions, int64_t window) {
  std::vector<Value*> states;
  for (int64_t j = 0; j < window; ++j) {
    const int64_t end = positions - window + j + 1 + before;  // behind its last position
    Value* state = as_given(c, c.slice(all, 2, std::max<int64_t>(end - before, 0), std::max<int64_t>(end - before, 0) + before));
    if (end <= before && state) state = c.op("Expand", {c.number(0, state->type.dtype), c.op("Shape", {state})});
    states.push_back(c.unsqueeze(state, {0}));
  }
  return c.concat(std::move(states), 0);
}

}  // namespace

Status expand_causal_conv(ExpandContext& c) {
  const auto channels = c.dim(kCausalWeight, 0), width = c.dim(kCausalWeight, 2);
  const int64_t window = c.attributes().get_int("state_window", 0), dilation = c.attributes().get_int("dilation", 1);
  const bool last = c.attributes().get_int("channels_last", 0) != 0;
  if (!channels || !width || !c.shape(kCausalInput).has_rank()) return {};
  for (int64_t d = 2; last && d < c.shape(kCausalInput).rank(); ++d)
    if (!c.dim(kCausalInput, d)) return {};
  const auto positions = c.dim(kCausalInput, last ? 1 : 2);
  if (window > 0 && !positions) return {};
  const int64_t before = (*width - 1) * dilation;
  Value *x = channels_first(c, c.input(kCausalInput), *channels), *all = nullptr;
  if (Value* past = c.input(kCausalPast)) {
    if (window > 0) past = c.op("Squeeze", {c.slice(past, 0, window - 1, window), c.ints({0})});
    all = c.concat({channels_first(c, past, *channels), x}, 2);
  } else {
    all = c.op("Pad", {x, c.ints({0, 0, before, 0, 0, 0})});
  }
  c.set(0, as_given(c, causal_conv(c, all, x, c.input(kCausalWeight), c.input(kCausalBias))));
  if (window > 0) return c.set(1, window_of_states(c, all, before, *positions, window)), Status();
  // The last `before` positions; none is no slice "from -0 on".
  c.set(1, as_given(c, before > 0 ? c.slice(all, 2, -before, std::numeric_limits<int64_t>::max()) : c.slice(all, 2, 0, 0)));
  return {};
}

}  // namespace svengine::ops
