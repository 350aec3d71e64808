// DeformConv's sizes and the places that its taps read, which its gradient shares.
#pragma once
#include "engine/kernels/conv.h"
#include "engine/ops/nn/window_common.h"
#include "engine/ops/vision/sampling_common.h"

namespace svengine::ops {

struct DeformShape {
  kernels::ConvShape conv;
  int64_t offset_groups = 1, taps = 1, positions = 0, plane = 0;

  int64_t maps() const { return offset_groups * taps; }  // of an image: masks, or pairs of offsets
  int64_t map_channels() const { return conv.in_channels / offset_groups; }
  int64_t group_outs() const { return conv.out_channels / conv.groups; }
  int64_t group_ins() const { return conv.in_channels / conv.groups; }
};

/// From DeformConv's attributes and the dimensions of X and W.
Result<DeformShape> deform_shape(const Attributes& attributes, const Dims& x, const Dims& w);

template <class T>
struct Place {
  T y, x;
};

/// Where tap `tap` of position p reads; offsets are those of the tap: [2][positions].
template <class T>
Place<T> deformed_place(const DeformShape& s, int64_t tap, int64_t p, const T* offsets) {
  const kernels::ConvShape& v = s.conv;
  const int64_t row = tap / v.kernel.width * v.dilation.height - v.pad.height,
                column = tap % v.kernel.width * v.dilation.width - v.pad.width;
  return {static_cast<T>(p / v.out.width * v.stride.height + row) + offsets[p],
          static_cast<T>(p % v.out.width * v.stride.width + column) + offsets[s.positions + p]};
}

/// A window's, but for auto_pad, which ONNX gives this one not.
inline std::vector<AttributeDef> deform_conv_attributes() {
  std::vector<AttributeDef> all = window_attributes(
      {{"group", AttributeKind::kInt, false, 1}, {"offset_group", AttributeKind::kInt, false, 1}}, true, false);
  std::erase_if(all, [](const AttributeDef& a) { return a.name == std::string_view("auto_pad"); });
  return all;
}

}  // namespace svengine::ops
