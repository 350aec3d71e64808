// The kinds of convolution behind ConvKernels, one set of functions each. A further kind is one more file and one more row
// in conv.cc.
#pragma once
#include "engine/kernels/sve/conv_plan.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

struct Kind {
  int64_t (*packed_floats)(const ConvShape& shape);
  int64_t (*pack_tasks)(const ConvShape& shape);
  void (*pack)(const ConvShape& shape, const float* weights, float* packed, int64_t begin, int64_t end);
  int64_t (*tasks)(const ConvShape& shape);
  int64_t (*scratch_bytes)(const ConvShape& shape);
  void (*run)(const ConvArgs& args, int64_t begin, int64_t end, void* scratch);
};

extern const Kind kDirectKind;
extern const Kind kFirstLayerKind;
extern const Kind kDepthwiseKind;
extern const Kind kGroupedKind;
extern const Kind kPlainKind;

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
