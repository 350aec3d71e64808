#include "tools/predict/machine.h"

#include "engine/kernels/elementwise.h"
#include "engine/kernels/machine/machine.h"

namespace svengine::tool {
namespace {

constexpr kernels::Machine kTiles = kernels::kMachine_sve512;

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
    // [est] bench/a64fx_cycles.sh model, GCC 12.2; 3x3 convolutions by the direct sum. Renew them with the kernels.
    .share = {.convolution = 0.704,
              .pointwise = 0.867,
              .first_layer = 0.865,
              .depthwise = 0.185,
              .grouped = 0.321,
              .product = 0.961,
              .attention = 0.900},
    .cycles = {.exp = 0.608,
               .log = 1.591,
               .tanh = 0.944,
               .sigmoid = 0.835,
               .erf = 1.658,
               .gelu = 1.894,
               .softmax = 1.494,
               .norm = 0.730},
    .channel_block = kTiles.lanes,
    .conv_pixels = kTiles.conv_pixels,
    .conv_channels = kTiles.conv_vectors * kTiles.lanes,
    .product_rows = kTiles.gemm_rows,
    .product_columns = kTiles.gemm_vectors * kTiles.lanes,
    .elementwise_task = kernels::kElementwiseTask,
};

}  // namespace

const MachineModel* find_machine(std::string_view name) { return name == kA64fx.name ? &kA64fx : nullptr; }

}  // namespace svengine::tool
