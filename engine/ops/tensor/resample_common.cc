#include "engine/ops/tensor/resample_common.h"

#include <algorithm>

#include "engine/ops/kernel_step.h"

namespace svengine::ops {

kernels::ResampleTables transposed_tables(const kernels::ResampleTables& tables, int64_t in, int64_t out) {
  struct Tap {
    int32_t index;
    float weight;
    double exact;
  };
  std::vector<std::vector<Tap>> from(static_cast<size_t>(in));
  for (int64_t j = 0; j < out; ++j)
    for (int64_t t = 0; t < tables.taps; ++t) {
      const auto at = static_cast<size_t>(t * out + j);
      if (tables.index[at] >= 0 && tables.weight[at] != 0)
        from[static_cast<size_t>(tables.index[at])].push_back(
            {static_cast<int32_t>(j), tables.weight[at], tables.exact.empty() ? double{tables.weight[at]} : tables.exact[at]});
    }
  size_t taps = 1;
  for (const auto& list : from) taps = std::max(taps, list.size());
  kernels::ResampleTables result{static_cast<int32_t>(taps), {}, {}, {}};
  for (size_t t = 0; t < taps; ++t)
    for (const auto& list : from) {
      result.index.push_back(list.empty() ? -1 : list[std::min(t, list.size() - 1)].index);
      result.weight.push_back(t < list.size() ? list[t].weight : 0.0f);
      result.exact.push_back(t < list.size() ? list[t].exact : 0.0);
    }
  return result;
}

Buffer emit_resample(LowerContext& c, const std::string& kernel, const kernels::ResampleTables& tables, float outside, Buffer from,
                     Dims& dims, size_t axis, int64_t out, Buffer to) {
  const std::span<const int64_t> all(dims);
  kernels::ResampleArgs args;
  args.outer = element_count(all.first(axis));
  args.in = dims[axis];
  args.out = out;
  args.inner = element_count(all.subspan(axis + 1));
  args.taps = tables.taps;
  args.outside = outside;
  dims[axis] = out;
  if (!to) to = c.temporary(element_count(dims) * 4);
  emit_kernel(c, kernel, c.kernels().data->resample, args,
              [from, to, index = c.table(std::as_bytes(std::span(tables.index))), weight = c.table(std::as_bytes(std::span(tables.weight)))](
                  kernels::ResampleArgs& a, const Run& run) {
                a.x = run.get<float>(from);
                a.y = run.get<float>(to);
                a.index = run.get<int32_t>(index);
                a.weight = run.get<float>(weight);
              });
  return to;
}

}  // namespace svengine::ops
