// The functions behind DataKernels, one file for each group.
#pragma once
#include "engine/kernels/data.h"
#include "engine/kernels/sve/tasks.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

#define SVENGINE_DATA_KERNEL(name, Args)      \
  int64_t name##_tasks(const Args&) noexcept; \
  void name##_run(const Args&, int64_t begin, int64_t end, void* scratch) noexcept

SVENGINE_DATA_KERNEL(copy, CopyArgs);           // data_copy.cc
SVENGINE_DATA_KERNEL(fill, FillArgs);           // data_fill.cc
SVENGINE_DATA_KERNEL(to_blocked, ReorderArgs);  // data_reorder.cc
SVENGINE_DATA_KERNEL(from_blocked, ReorderArgs);
SVENGINE_DATA_KERNEL(gather, GatherArgs);  // data_gather.cc
SVENGINE_DATA_KERNEL(gather_elements, GatherElementsArgs);
SVENGINE_DATA_KERNEL(gather_nd, GatherNdArgs);
SVENGINE_DATA_KERNEL(scatter_elements, ScatterElementsArgs);  // data_scatter.cc
SVENGINE_DATA_KERNEL(scatter_nd, ScatterNdArgs);
SVENGINE_DATA_KERNEL(map, MapArgs);                // data_map.cc
SVENGINE_DATA_KERNEL(resample, ResampleArgs);      // data_resample.cc
SVENGINE_DATA_KERNEL(one_hot, OneHotArgs);         // data_fill.cc
SVENGINE_DATA_KERNEL(nonzero_count, NonZeroArgs);  // data_nonzero.cc
SVENGINE_DATA_KERNEL(nonzero_fill, NonZeroArgs);
SVENGINE_DATA_KERNEL(trilu, TriluArgs);  // data_fill.cc
#undef SVENGINE_DATA_KERNEL

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
