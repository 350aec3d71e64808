// com.microsoft.VarlenCausalConvWithState: CausalConvWithState of sequences of different lengths, one behind another, with channels last.
//
// Each sequence is preceded by its initial_state, the last (kernel - 1) * dilation samples before it; final_state is the same behind it.
// state_update has the sequence's first tokens, as many as capture_count says, and zeros.
#include "engine/ops/language/causal_conv_common.h"
#include "engine/ops/microsoft/packed_tokens_common.h"

namespace svengine::ops {
namespace {

enum PackedConvInput : size_t { kPcInput, kPcWeight, kPcCumulative, kPcBias, kPcState, kPcCapture, kPcDelta, kPcMask };

Status check_packed_conv_attributes(const InferContext& c) {
  const Attributes& a = c.attributes();
  SV_TRY(check_causal_attributes(a));
  const int64_t capacity = a.get_int("state_update_capacity", 0);
  if (capacity < 0 || capacity > 8) return error("state_update_capacity is {}, must be 0 to 8", capacity);
  if ((capacity > 0) != c.has_input(kPcCapture)) return error("capture_count goes with a state_update_capacity above 0, which is {}", capacity);
  if (capacity == 0 && c.has_output(2)) return error("output state_update needs a state_update_capacity above 0");
  if (c.has_input(kPcDelta) || c.has_input(kPcMask)) return unimplemented("kernel_delta and previous_mask are not supported");
  return {};
}

Status infer_packed_conv(InferContext& c) {
  SV_TRY(check_packed_conv_attributes(c));
  SV_TRY(require_rank(c, kPcInput, 2));
  SV_TRY(require_rank(c, kPcWeight, 3));
  SV_TRY(require_last(c, kPcBias));
  SV_TRY(require_rank(c, kPcState, 3));
  SV_TRY(require_rank(c, kPcCapture, 1));
  const Shape x = c.shape(kPcInput).has_rank() ? c.shape(kPcInput) : unknown_dims(2);
  SV_ASSIGN(const Dim batch, packed_batch(c, kPcCumulative, x[0]));
  const Shape w = c.shape(kPcWeight).has_rank() ? c.shape(kPcWeight) : unknown_dims(3);
  if (known_different(x[1], w[0]) || known_different(w[1], Dim(1)) || (w[2].is_static() && w[2].value() < 1))
    return error("weight is {}, needs [channels, 1, width] for the channels of input {}", to_string(w), to_string(x));
  const Dim before = w[2].is_static() ? multiply(Dim(w[2].value() - 1), Dim(c.attributes().get_int("dilation", 1))) : Dim();
  const Shape state{batch, x[1], before};
  SV_TRY(require_shape(c, kPcState, state));
  SV_TRY(require_shape(c, kPcCapture, Shape{batch}));
  c.set(0, c.dtype(0), x);
  c.set(1, c.dtype(0), state);
  c.set(2, c.dtype(0), Shape{batch, Dim(c.attributes().get_int("state_update_capacity", 0)), x[1]});
  return {};
}

/// [batch, before, channels]: of each sequence with its state before it, [batch, before + longest, channels], the last samples.
Value* last_samples(ExpandContext& c, const PackedTokens& tokens, Value* all, int64_t before) {
  Value* at = c.op("Add", {c.unsqueeze(tokens.lengths(), {1}), c.up_to(c.number(static_cast<double>(before), DType::i64))});
  return c.op("GatherND", {all, c.unsqueeze(at, {2})}, make_attributes({{"batch_dims", int64_t{1}}}));
}

Value* captured_tokens(ExpandContext& c, const PackedTokens& tokens, Value* padded) {
  const int64_t capacity = c.attributes().get_int("state_update_capacity", 0);
  Value* most = c.op("Min", {c.cast(c.input(kPcCapture), DType::i64), tokens.lengths()});
  Value* taken = c.op("Less", {c.up_to(c.number(static_cast<double>(capacity), DType::i64)), c.unsqueeze(most, {1})});
  Value* first = c.slice(c.op("Pad", {padded, c.ints({0, 0, 0, 0, capacity, 0})}), 1, 0, capacity);
  return c.op("Where", {c.unsqueeze(taken, {2}), first, c.number(0, c.dtype(0))});
}

Status expand_packed_conv(ExpandContext& c) {
  const auto channels = c.dim(kPcInput, 1), width = c.dim(kPcWeight, 2);
  if (!channels || !width) return {};
  const int64_t before = (*width - 1) * c.attributes().get_int("dilation", 1);
  const PackedTokens tokens(c, c.input(kPcCumulative), c.input(kPcInput));
  Value* padded = tokens.padded(c.input(kPcInput));
  Value* fresh = c.transpose(padded, {0, 2, 1});
  Value* x = c.concat({c.input(kPcState), fresh}, 2);
  Value* y = causal_conv(c, x, fresh, c.input(kPcWeight), c.input(kPcBias));
  c.set(0, tokens.packed(c.transpose(y, {0, 2, 1}), *channels));
  if (c.has_output(1)) c.set(1, c.transpose(last_samples(c, tokens, c.transpose(x, {0, 2, 1}), before), {0, 2, 1}));
  if (c.has_output(2)) c.set(2, captured_tokens(c, tokens, padded));
  return {};
}

}  // namespace

OpDef define_microsoft_varlen_causal_conv_with_state() {
  return {
      .name = "VarlenCausalConvWithState",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "input, weight, cumulative_sequence_length, bias?, initial_state, capture_count?, kernel_delta?, previous_mask?",
      .outputs = {2, 3},
      .attributes = {{"activation", AttributeKind::kString, false, "none"},
                     {"dilation", AttributeKind::kInt, false, 1},
                     {"state_update_capacity", AttributeKind::kInt, false, 0},
                     {"delta_offset", AttributeKind::kInt, false, 0},
                     {"group_size", AttributeKind::kInt, false, 1}},
      .expand = expand_packed_conv,
      .infer = infer_packed_conv,
      .types = {{"T", kSingleTypes, {kPcInput, kPcWeight, kPcBias, kPcState, kPcDelta, kPcMask}}, {"M", {DType::i32}, {kPcCumulative, kPcCapture}}},
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples =
          "(float32[7, 3], float32[3, 1, 4], int32[3]{0, 2, 7}, float32[3], float32[2, 3, 3]) {activation = \"silu\"} 2"
          "(float32[5, 2], float32[2, 1, 2], int32[3]{0, 1, 5}, -, float32[2, 2, 3], int32[2]{3, 2}) {dilation = 3, state_update_capacity = 3} 3",
  };
}

}  // namespace svengine::ops
