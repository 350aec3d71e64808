// The functions behind DataKernels, one file for each group.
#pragma once
#include "engine/kernels/data.h"
#include "engine/kernels/sve/tasks.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

#define SVENGINE_DATA_KERNEL(name, Args)      \
  int64_t name##_tasks(const Args&) noexcept; \
  void name##_run(const Args&, int64_t begin, int64_t end, void* scratch) noexcept

SVENGINE_DATA_KERNEL(copy, CopyArgs);           // data/copy.cc
SVENGINE_DATA_KERNEL(fill, FillArgs);           // data/fill.cc
SVENGINE_DATA_KERNEL(to_blocked, ReorderArgs);  // data/reorder.cc
SVENGINE_DATA_KERNEL(from_blocked, ReorderArgs);
SVENGINE_DATA_KERNEL(gather, GatherArgs);  // data/gather.cc
SVENGINE_DATA_KERNEL(gather_elements, GatherElementsArgs);
SVENGINE_DATA_KERNEL(gather_nd, GatherNdArgs);
SVENGINE_DATA_KERNEL(scatter_elements, ScatterElementsArgs);  // data/scatter.cc
SVENGINE_DATA_KERNEL(scatter_nd, ScatterNdArgs);
SVENGINE_DATA_KERNEL(map, MapArgs);                // data/map.cc
SVENGINE_DATA_KERNEL(resample, ResampleArgs);      // data/resample.cc
SVENGINE_DATA_KERNEL(resample_f64, ResampleF64Args);
SVENGINE_DATA_KERNEL(weighted_gather, WeightedGatherArgs);
SVENGINE_DATA_KERNEL(one_hot, OneHotArgs);         // data/fill.cc
SVENGINE_DATA_KERNEL(trilu, TriluArgs);  // data/fill.cc
#undef SVENGINE_DATA_KERNEL

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
