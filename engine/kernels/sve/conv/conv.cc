// Convolution: the choice among the kinds and the table of the family.
#include "engine/kernels/conv.h"

#include "engine/kernels/sve/checked.h"
#include "engine/kernels/sve/conv/kinds.h"
#include "engine/kernels/sve/conv/winograd/winograd.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

using conv::Kind;

const Kind& kind_of(ConvKind kind) {
  switch (kind) {
    case ConvKind::kDirect: return conv::kDirectKind;
    case ConvKind::kFirstLayer: return conv::kFirstLayerKind;
    case ConvKind::kDepthwise: return conv::kDepthwiseKind;
    case ConvKind::kGrouped: return conv::kGroupedKind;
    case ConvKind::kWinograd: return conv::kWinogradKind;
    case ConvKind::kPlain: break;
  }
  return conv::kPlainKind;
}

const Kind& kind_of(const ConvShape& shape, ConvKind kind) {
  return kind == ConvKind::kDirect && conv::is_pointwise(shape) ? conv::kPointwiseKind : kind_of(kind);
}

ConvKind choose(const ConvShape& shape, bool exact) noexcept {
  const bool whole_blocks = shape.in_channels / shape.groups % kLanes == 0 && shape.out_channels / shape.groups % kLanes == 0;
  if (shape.groups == 1) {
    if (shape.in_channels <= 4) return ConvKind::kFirstLayer;
    return !exact && winograd::pays(kMachine, shape) ? ConvKind::kWinograd : ConvKind::kDirect;
  }
  if (!is_flat(shape)) return whole_blocks ? ConvKind::kDirect : ConvKind::kPlain;
  if (shape.groups == shape.in_channels && shape.groups == shape.out_channels) return ConvKind::kDepthwise;
  return whole_blocks ? ConvKind::kDirect : ConvKind::kGrouped;
}

bool empty(const ConvShape& shape) {
  return shape.batch == 0 || shape.out.depth == 0 || shape.out.height == 0 || shape.out.width == 0;
}

ConvPacking packing(const ConvShape& shape, ConvKind kind) noexcept {
  ConvPacking p;
  p.kind = kind;
  p.groups = shape.groups;
  p.in_channels = shape.in_channels / shape.groups;
  p.out_channels = shape.out_channels / shape.groups;
  p.taps = shape.kernel.depth * shape.kernel.height * shape.kernel.width;
  p.block_groups = kind_of(kind).block_groups(shape);
  if (kind != ConvKind::kPlain) p.planes = window::larger(shape.kernel.depth, 1);
  return p;
}

int64_t packed_bytes(const ConvPacking& packing) noexcept {
  return conv::round_up(kind_of(packing.kind).packed_floats(packing) * conv::kFloat, 256);
}

int64_t pack_tasks(const ConvPacking& packing) noexcept { return kind_of(packing.kind).pack_tasks(packing); }

void pack(const ConvPacking& packing, const float* weights, float* packed, int64_t task_begin, int64_t task_end) noexcept {
  const Kind& kind = kind_of(packing.kind);
  if (task_begin >= task_end) return;
  kind.pack(packing, weights, packed, task_begin, task_end);
  if (task_end < kind.pack_tasks(packing)) return;
  for (int64_t i = kind.packed_floats(packing); i < packed_bytes(packing) / conv::kFloat; ++i) packed[i] = 0;
}

int64_t tasks(const ConvArgs& args) noexcept { return empty(args.shape) ? 0 : kind_of(args.shape, args.kind).tasks(args.shape); }

int64_t grain(const ConvArgs& args) noexcept {
  const Kind& kind = kind_of(args.shape, args.kind);
  return kind.grain && !empty(args.shape) ? kind.grain(args.shape) : 1;
}

int64_t scratch_bytes(const ConvArgs& args) noexcept {
  return empty(args.shape) ? 0 : conv::round_up(kind_of(args.shape, args.kind).scratch_bytes(args.shape), 256);
}

void run(const ConvArgs& args, int64_t task_begin, int64_t task_end, void* scratch) noexcept {
  if (task_begin < task_end) kind_of(args.shape, args.kind).run(args, task_begin, task_end, scratch);
}

int64_t workspace_bytes(const ConvArgs& args) noexcept {
  const Kind& kind = kind_of(args.shape, args.kind);
  return kind.workspace_bytes && !empty(args.shape) ? conv::round_up(kind.workspace_bytes(args.shape), 256) : 0;
}

int64_t prepare_tasks(const ConvArgs& args) noexcept {
  const Kind& kind = kind_of(args.shape, args.kind);
  return kind.prepare_tasks && !empty(args.shape) ? kind.prepare_tasks(args.shape) : 0;
}

void prepare(const ConvArgs& args, int64_t task_begin, int64_t task_end) noexcept {
  if (task_begin < task_end) kind_of(args.shape, args.kind).prepare(args, task_begin, task_end);
}

}  // namespace

extern const ConvKernels conv_kernels;
const ConvKernels conv_kernels{choose, packing, packed_bytes, pack_tasks, pack, workspace_bytes, prepare_tasks, prepare,
                               tasks,  grain, scratch_bytes, checked<ConvArgs, run>()};

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
