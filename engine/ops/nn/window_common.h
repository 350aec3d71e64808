// Sliding windows: what Conv and the pooling operators share of attributes, shapes and padding.
#pragma once
#include <array>
#include <span>

#include "engine/graph/op_def.h"

namespace svengine::ops {

/// A window over the spatial dimensions of [N, C, spatial...], resolved for a concrete input.
struct Window {
  Dims in, out, kernel, strides, dilations, pads_begin, pads_end;
  size_t rank() const { return in.size(); }
};

/// kernel_shape, strides, dilations, pads, auto_pad; `with_ceil` adds ceil_mode.
std::vector<AttributeDef> window_attributes(std::vector<AttributeDef> more, bool with_dilations, bool with_ceil);

/// Checks the attributes against a spatial rank and fills in defaults. `kernel` is that of the weights, which kernel_shape may repeat; empty
/// where there are none.
Result<Window> window_of(const Attributes& attributes, const Dims& spatial, const Dims& kernel);

/// The weights' kernel, where dimensions are unknown what kernel_shape says, or 1.
Dims known_taps(const Attributes& attributes, std::span<const Dim> kernel);

/// Refuses a shape [N, C, spatial...] that has no spatial dimensions, or more than the three for which there are kernels. `what` is its name.
Status check_spatial_rank(const Shape& shape, const char* what);

/// The output's spatial dimensions for input shape [N, C, ...] and a kernel, of both of which dimensions may be unknown.
Result<std::vector<Dim>> window_output(const Attributes& attributes, const Shape& input, std::span<const Dim> kernel);

/// Refuses a concrete window whose padded image no tensor could hold: kernels count its elements.
Status check_padded(const Window& window);

/// A spatial dimension pads (and everything else) to three: depth, height, width, in front filled with `fill`.
std::array<int64_t, 3> to_three(const Dims& values, int64_t fill);

}  // namespace svengine::ops
