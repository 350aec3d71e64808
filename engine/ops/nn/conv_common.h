// Convolution on the kernels of kernels/conv.h: shared by Conv and FusedConv.
#pragma once
#include "engine/graph/fused_conv.h"
#include "engine/kernels/conv.h"
#include "engine/ops/lowering.h"
#include "engine/ops/nn/window_common.h"

namespace svengine::ops {

std::vector<AttributeDef> conv_attributes();

/// What the kernels are asked for with these attributes and dimensions of X and W.
Result<kernels::ConvShape> conv_shape(const Attributes& attributes, const Dims& x, const Dims& w);

/// Output type of a node with inputs X [N, C, spatial...], W [M, C / group, kernel...] and optional B [M].
Status infer_conv(InferContext& c);

/// Emits the convolution of inputs X, W, optional B (and residual: input 3 of FusedConv) with an activation, in float32 or float64.
Status lower_conv(LowerContext& c, Buffer residual, const kernels::ActivationArgs& activation);

/// What a convolution kernel reads beside its input.
struct ConvWeights {
  Buffer weights;  // packed
  Buffer bias;     // padded to whole blocks; absent: none
};

/// Emits the packing of weights [out_channels][in_channels / groups][kernel...] that are computed at run time.
Buffer emit_conv_pack(LowerContext& c, const kernels::ConvShape& shape, kernels::ConvKind kind, Buffer weights);

/// Emits the steps of one call. The layouts of `in` and `out` are those of args.kind.
void emit_conv(LowerContext& c, const kernels::ConvArgs& args, Buffer in, const ConvWeights& packed, Buffer residual, Buffer out);

Cost conv_cost(const Node& node);

/// Of a convolution's gradients: as many products as the forward pass with output `dy` and weights `w` has.
Cost conv_grad_cost(const Node& node, const Type& dy, const Type& w);

/// Rank 4 only: blocks are of [N, C, H, W].
bool can_block_conv(const Node& node, int block);
/// Channels of an image that a first layer reads plain (kernels/conv.h: kFirstLayer).
inline constexpr int64_t kFirstLayerChannels = 4;

/// A first layer reads its image plain.
bool conv_reads_plain(const Node& node, size_t input);

}  // namespace svengine::ops
