#include "tools/predict/machine.h"

#include "engine/kernels/elementwise.h"

namespace svengine::tool {
namespace {

constexpr MachineModel kA64fx = {
    .name = "a64fx",
    .groups = 4,
    .group_cores = 12,
    .flops_per_cycle = 64,             // two 512-bit FMA pipes [MM]
    .l2_group_bytes = 7 << 20,         // of 8 MiB; the assistant cores' groups can use 14 of 16 ways [PG]
    .l2_core_bytes_per_cycle = 64,     // one core alone [MM]
    .l2_group_bytes_per_cycle = 349,   // triad in L2, 12 cores: 699 GB/s [PG]; 512 are promised [MM]
    .memory_bytes_per_second = 206e9,  // triad, 12 cores, bytes on the bus [PG]; 256e9 are promised
    .link_bytes_per_second = 128e9,    // [PG]
    .load_bytes_per_cycle = 128,       // two loads or one store [MM]
    .store_bytes_per_cycle = 64,
    .barrier_seconds_in_group = 120e-9,  // 12 threads [LT]
    .barrier_seconds_across = 1.76e-6,   // 48 threads, software barrier [LT]
    // [est] bench/a64fx_cycles.sh model, GCC 12.2. Renew them with the kernels.
    .share = {.convolution = 0.877,
              .strided = 0.863,
              .pointwise = 0.955,
              .first_layer = 0.885,
              .depthwise = 0.191,
              .grouped = 0.378,
              .product = 0.959,
              .attention = 0.897},
    .winograd = 0.975,
    .cycles = {.exp = 0.400,
               .log = 1.592,
               .tanh = 0.916,
               .sigmoid = 0.669,
               .erf = 1.658,
               .gelu = 0.882,
               .softmax = 1.114,
               .norm = 0.582},
    .tiles = kernels::kMachine_sve512,
    .elementwise_task = kernels::kElementwiseTask,
};

}  // namespace

const MachineModel* find_machine(std::string_view name) { return name == kA64fx.name ? &kA64fx : nullptr; }

}  // namespace svengine::tool
