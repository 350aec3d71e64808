// The row of data kernels in this kernel set's table.
#include "engine/kernels/contract_data.h"
#include "engine/kernels/sve/checked.h"
#include "engine/kernels/sve/data/kernels.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

extern const DataKernels data_kernels;
const DataKernels data_kernels{{copy_tasks, no_scratch, checked<CopyArgs, copy_run>()},
                               {fill_tasks, no_scratch, checked<FillArgs, fill_run>()},
                               {to_blocked_tasks, no_scratch, checked<ReorderArgs, to_blocked_run>()},
                               {from_blocked_tasks, no_scratch, checked<ReorderArgs, from_blocked_run>()},
                               {gather_tasks, no_scratch, checked<GatherArgs, gather_run>()},
                               {gather_elements_tasks, no_scratch, checked<GatherElementsArgs, gather_elements_run>()},
                               {gather_nd_tasks, no_scratch, checked<GatherNdArgs, gather_nd_run>()},
                               {scatter_elements_tasks, no_scratch, checked<ScatterElementsArgs, scatter_elements_run>()},
                               {scatter_nd_tasks, no_scratch, checked<ScatterNdArgs, scatter_nd_run>()},
                               {map_tasks, no_scratch, checked<MapArgs, map_run>()},
                               {resample_tasks, no_scratch, checked<ResampleArgs, resample_run>()},
                               {resample_f64_tasks, no_scratch, checked<ResampleF64Args, resample_f64_run>()},
                               {one_hot_tasks, no_scratch, checked<OneHotArgs, one_hot_run>()},
                               {trilu_tasks, no_scratch, checked<TriluArgs, trilu_run>()},
                               {weighted_gather_tasks, no_scratch, checked<WeightedGatherArgs, weighted_gather_run>()}};

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
