#include "engine/ops/tensor/map_common.h"

#include <cstring>

#include "engine/kernels/data_prepare.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/tensor/index_common.h"

namespace svengine::ops {

Status emit_map(LowerContext& c, const char* kernel, const std::vector<std::vector<int32_t>>& maps, Buffer value) {
  const Dims in = c.in_dims(0), out = c.out_dims();
  SV_TRY(require_kernel_rank(in));
  const std::vector<int64_t> strides = strides_of(in);
  kernels::MapArgs args;
  args.element_bytes = static_cast<int32_t>(size_of(c.out_type().dtype));
  args.rank = static_cast<int32_t>(in.size());
  std::vector<Buffer> tables;
  for (size_t i = 0; i < in.size(); ++i) {
    args.extent[i] = out[i];
    args.src_stride[i] = strides[i];
    tables.push_back(c.table(std::as_bytes(std::span(maps[i]))));
  }
  if (!maps.empty()) {
    const kernels::MapRun run = kernels::longest_run(maps.back());
    args.run_begin = run.begin;
    args.run_length = run.length;
    args.doubles = strides.back() == 1 && kernels::doubles(maps.back());
  }
  emit_kernel(c, kernel, c.kernels().data->map, args,
              [tables, value, from = c.in(0), to = c.out()](kernels::MapArgs& a, const Run& run) {
                a.src = run.get<void>(from);
                a.dst = run.get<void>(to);
                for (size_t i = 0; i < tables.size(); ++i) a.map[i] = run.get<int32_t>(tables[i]);
                if (value) std::memcpy(&a.value, run.get<void>(value), static_cast<size_t>(a.element_bytes));
              });
  return {};
}

}  // namespace svengine::ops
