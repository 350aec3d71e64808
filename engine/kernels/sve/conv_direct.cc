// ConvKind::kDirect: blocked input, blocked output.
#include "engine/kernels/sve/conv_kinds.h"
#include "engine/kernels/sve/conv_walk.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

namespace {

int64_t packed_floats(const ConvShape& shape) {
  const Plan plan = direct_plan(shape);
  return plan.groups * plan.out_blocks * kLanes * plan.depth;
}

int64_t pack_tasks(const ConvShape& shape) {
  const Plan plan = direct_plan(shape);
  return plan.groups * plan.bundles;
}

void pack(const ConvShape& shape, const float* weights, float* packed, int64_t begin, int64_t end) {
  const Plan plan = direct_plan(shape);
  for (int64_t task = begin; task < end; ++task) pack_bundle(plan, shape, kLanes, task, weights, packed);
}

// A sequence: the tiles that share a bundle's weights, of one image or of all.
int64_t sequence_tasks(const Plan& plan, int64_t batch) { return ceil_div(plan.sequence_tiles(batch), plan.task_tiles); }

int64_t tasks(const ConvShape& shape) {
  const Plan plan = direct_plan(shape);
  const int64_t sequences = plan.groups * plan.bundles * (plan.bundles_outside ? 1 : shape.batch);
  return sequences * sequence_tasks(plan, shape.batch);
}

int64_t scratch_bytes(const ConvShape& shape) { return border_bytes(direct_plan(shape)); }

void run(const ConvArgs& args, int64_t begin, int64_t end, void* scratch) {
  const Plan plan = direct_plan(args.shape);
  const Borders borders = find_borders(plan, scratch);
  const int64_t in_sequence = sequence_tasks(plan, args.shape.batch);
  const int64_t tiles = plan.sequence_tiles(args.shape.batch);
  for (int64_t task = begin; task < end;) {
    const int64_t sequence = task / in_sequence;
    const int64_t first = task % in_sequence;
    const int64_t count = smaller(end - task, in_sequence - first);
    const int64_t bundle_index = sequence % plan.bundles;
    const int64_t group = sequence / plan.bundles % plan.groups;
    const int64_t image = sequence / plan.bundles / plan.groups;  // 0 if bundles are outside
    Bundle bundle = make_bundle(plan, args, group, bundle_index, image);
    bundle.input = args.input + image * plan.image_step + group * plan.in_blocks * plan.block_step;
    run_tiles(plan, borders, bundle, first * plan.task_tiles, smaller((first + count) * plan.task_tiles, tiles));
    task += count;
  }
}

}  // namespace

const Kind kDirectKind{packed_floats, pack_tasks, pack, tasks, scratch_bytes, run};

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
