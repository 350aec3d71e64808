// CausalConvWithState: a depthwise convolution along the positions that looks back only, and hands on what the next part of the sequence looks
// back at. Made of Concat, Conv and Slice.
#pragma once
#include "engine/ops/language/attention_common.h"

namespace svengine::ops {

/// Attributes "activation" and "dilation".
Status check_causal_attributes(const Attributes& attributes);

/// The convolution and activation of `all` [batch, channels, before + positions], whose last positions are x; channels and width of the
/// weight are known.
Value* causal_conv(ExpandContext& c, Value* all, Value* x, Value* weight, Value* bias);

/// Of ai.onnx and of com.microsoft, which has more attributes: kernels whose elements are `dilation` apart, channels last (any number of
/// dimensions of them), and state_window, the states behind each of the last positions.
Status infer_causal_conv(InferContext& c);
Status expand_causal_conv(ExpandContext& c);

}  // namespace svengine::ops
