#include "engine/kernels/sve/conv/epilogue.h"

#include "engine/kernels/sve/activation/activation.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

void activate(const ActivationArgs& activation, float* values, int64_t count) {
  dispatch_activation(activation.kind, [&]<Activation kKind>() {
    for (int64_t i = 0; i < count; i += kLanes) {
      const vb some = svwhilelt_b32(i, count);
      svst1(some, values + i, apply_activation<kKind>(svld1(some, values + i), activation));
    }
  });
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
