// Convolution: the choice among the kinds and the table of the family.
#include "engine/kernels/conv.h"

#include "engine/kernels/sve/conv/kinds.h"
#include "engine/kernels/sve/conv/winograd/winograd.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

using conv::Kind;

const Kind& kind_of(const ConvShape& shape, ConvKind kind) {
  switch (kind) {
    case ConvKind::kDirect: return conv::is_pointwise(shape) ? conv::kPointwiseKind : conv::kDirectKind;
    case ConvKind::kFirstLayer: return conv::kFirstLayerKind;
    case ConvKind::kDepthwise: return conv::kDepthwiseKind;
    case ConvKind::kGrouped: return conv::kGroupedKind;
    case ConvKind::kWinograd: return conv::kWinogradKind;
    case ConvKind::kPlain: break;
  }
  return conv::kPlainKind;
}

ConvKind choose(const ConvShape& shape, bool exact) noexcept {
  if (shape.in.depth != 1 || shape.out.depth != 1 || shape.kernel.depth != 1) return ConvKind::kPlain;
  if (shape.groups == 1) {
    if (shape.in_channels <= 4) return ConvKind::kFirstLayer;
    return !exact && winograd::pays(kMachine, shape) ? ConvKind::kWinograd : ConvKind::kDirect;
  }
  if (shape.groups == shape.in_channels && shape.groups == shape.out_channels) return ConvKind::kDepthwise;
  const bool whole_blocks = shape.in_channels / shape.groups % kLanes == 0 && shape.out_channels / shape.groups % kLanes == 0;
  return whole_blocks ? ConvKind::kDirect : ConvKind::kGrouped;
}

bool empty(const ConvShape& shape) {
  return shape.batch == 0 || shape.out.depth == 0 || shape.out.height == 0 || shape.out.width == 0;
}

int64_t packed_bytes(const ConvShape& shape, ConvKind kind) noexcept {
  return conv::round_up(kind_of(shape, kind).packed_floats(shape) * conv::kFloat, 256);
}

int64_t pack_tasks(const ConvShape& shape, ConvKind kind) noexcept { return kind_of(shape, kind).pack_tasks(shape); }

void pack(const ConvShape& shape, ConvKind kind, const float* weights, float* packed, int64_t task_begin, int64_t task_end) noexcept {
  kind_of(shape, kind).pack(shape, weights, packed, task_begin, task_end);
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
const ConvKernels conv_kernels{choose, packed_bytes, pack_tasks, pack, workspace_bytes, prepare_tasks, prepare,
                               tasks,  grain, scratch_bytes, run};

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
