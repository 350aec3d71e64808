// The row of data kernels in this kernel set's table.
#include "engine/kernels/sve/data/kernels.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

extern const DataKernels data_kernels;
const DataKernels data_kernels{{copy_tasks, no_scratch, copy_run},
                               {fill_tasks, no_scratch, fill_run},
                               {to_blocked_tasks, no_scratch, to_blocked_run},
                               {from_blocked_tasks, no_scratch, from_blocked_run},
                               {gather_tasks, no_scratch, gather_run},
                               {gather_elements_tasks, no_scratch, gather_elements_run},
                               {gather_nd_tasks, no_scratch, gather_nd_run},
                               {scatter_elements_tasks, no_scratch, scatter_elements_run},
                               {scatter_nd_tasks, no_scratch, scatter_nd_run},
                               {map_tasks, no_scratch, map_run},
                               {resample_tasks, no_scratch, resample_run},
                               {one_hot_tasks, no_scratch, one_hot_run},
                               {nonzero_count_tasks, no_scratch, nonzero_count_run},
                               {nonzero_fill_tasks, no_scratch, nonzero_fill_run},
                               {trilu_tasks, no_scratch, trilu_run},
                               {weighted_gather_tasks, no_scratch, weighted_gather_run}};

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
