// The gradient of a convolution's input on blocked layouts, as convolutions of dY by the forward kernels.
//
// Along an axis with stride s, the inputs h = s t + r of one phase r get contributions from every s-th row of the kernel only,
// and over t these are a convolution with stride 1, its kernel transposed round:
//
//     dx[s t + r] = sum over j of dy[t + c - j] w[k + s j]        k = (r + pad) mod s,  c = (r + pad - k) / s
//
//     3 x 3, stride 2, pad 1:   phase 0 has row 1 of the kernel, phase 1 rows 0 and 2; both axes: kernels of 1x1, 1x2, 2x1, 2x2
//
// With stride 1 there is one phase, and it is written where it belongs; Winograd's kernels serve it. With strides the phases
// are computed one by one and then copied to their places; a phase without kernel rows is zero.
#pragma once
#include "engine/kernels/conv.h"
#include "engine/ops/lowering.h"
#include "engine/ops/nn/conv_grad_common.h"
#include "engine/ops/tensor/copy_common.h"

namespace svengine::ops {

/// Whether the node (svengine.ConvGradInput) can be computed so: rank 4, one group, no dilation beside strides, padding smaller
/// than the kernel.
bool can_block_conv_grad_input(const Node& node, int block);

/// One phase of one axis.
struct AxisPhase {
  int64_t first, count;  // inputs first, first + stride, ...
  int64_t tap, taps;     // kernel rows tap, tap + stride, ...; none: the phase is zero
  int64_t pad;           // of the convolution over dy
};
struct ConvGradPhase {
  AxisPhase rows, columns;
};

/// There is one phase, which is the whole input.
bool is_whole(const ConvGrad& g);
/// Some inputs reach no output.
bool has_holes(const ConvGrad& g);
/// The phases that are not zero.
std::vector<ConvGradPhase> conv_grad_phases(const ConvGrad& g);
/// The convolution of dy that a phase is; its output is dense.
kernels::ConvShape phase_shape(const ConvGrad& g, const ConvGradPhase& phase);
/// A phase's pixels from their dense form to their places in dx, both in blocks of `lanes` channels.
CopyView phase_scatter(const ConvGrad& g, const ConvGradPhase& phase, int64_t lanes);

/// dy and the output are blocked.
Status lower_conv_grad_input_blocked(LowerContext& c);

}  // namespace svengine::ops
