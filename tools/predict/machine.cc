#include "tools/predict/machine.h"

#include "engine/kernels/elementwise.h"
#include "engine/kernels/machine/a64fx.h"

namespace svengine::tool {
namespace {

constexpr MachineModel kA64fx = {
    .name = "a64fx",
    .node = kernels::machines::a64fx_node,
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
    .tiles = kernels::machines::a64fx,
    .elementwise_task = kernels::kElementwiseTask,
};

}  // namespace

const MachineModel* find_machine(std::string_view name) { return name == kA64fx.name ? &kA64fx : nullptr; }

}  // namespace svengine::tool
