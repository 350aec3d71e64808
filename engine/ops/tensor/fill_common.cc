#include "engine/ops/tensor/fill_common.h"

#include "engine/kernels/data.h"
#include "engine/ops/kernel_step.h"

namespace svengine::ops {

void emit_fill(LowerContext& c, Buffer out, int64_t count, size_t element, uint64_t bits) {
  kernels::FillArgs args;
  args.element_bytes = static_cast<int32_t>(element);
  args.count = count;
  args.value = bits;
  emit_kernel(c, "fill", c.kernels().data->fill, args, [out](kernels::FillArgs& a, const Run& run) { a.dst = run.get<void>(out); });
}

void emit_zeros(LowerContext& c, size_t output) {
  if (c.has_output(output)) emit_fill(c, c.out(output), stored_bytes(c.out_type(output)), 1, 0);
}

}  // namespace svengine::ops
