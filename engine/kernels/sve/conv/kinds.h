// The kinds of convolution behind ConvKernels, one set of functions each. A further kind is one more file and one more row
// in conv.cc.
#pragma once
#include "engine/kernels/sve/conv/direct/plan.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

struct Kind {
  int64_t (*block_groups)(const ConvShape& shape);  // ConvPacking::block groups
  int64_t (*packed_floats)(const ConvPacking& packing);
  int64_t (*pack_tasks)(const ConvPacking& packing);
  void (*pack)(const ConvPacking& packing, const float* weights, float* packed, int64_t begin, int64_t end);
  int64_t (*tasks)(const ConvShape& shape);
  int64_t (*scratch_bytes)(const ConvShape& shape);
  void (*run)(const ConvArgs& args, int64_t begin, int64_t end, void* scratch);
  int64_t (*workspace_bytes)(const ConvShape& shape) = nullptr;  // these three: null for kinds without a workspace
  int64_t (*prepare_tasks)(const ConvShape& shape) = nullptr;
  void (*prepare)(const ConvArgs& args, int64_t begin, int64_t end) = nullptr;
  int64_t (*grain)(const ConvShape& shape) = nullptr;  // null: 1
};

inline int64_t one_block_group(const ConvShape&) { return 1; }

extern const Kind kDirectKind;
extern const Kind kPointwiseKind;  // of kDirect, for the shapes that is_pointwise() names, with kDirectKind's packed weights
bool is_pointwise(const ConvShape& shape);
extern const Kind kFirstLayerKind;
extern const Kind kDepthwiseKind;
extern const Kind kGroupedKind;
extern const Kind kPlainKind;
extern const Kind kWinogradKind;

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
