// Compiled once per kernel set, like the kernels.
#include "engine/kernels/sve/vec.h"

#define SVENGINE_JOIN_(a, b) a##b
#define SVENGINE_JOIN(a, b) SVENGINE_JOIN_(a, b)

namespace svengine::bench {

using namespace svengine::kernels::SVENGINE_KERNEL_SET;

int64_t SVENGINE_JOIN(fma_loop_, SVENGINE_KERNEL_SET)(int64_t rounds, float* sink) {
  constexpr int kChains = kMachine.vector_registers * 3 / 4;
  const vb all = svptrue_b32();
  const vf factor = svdup_f32(0.999f);
  vf sums[kChains];
  SVENGINE_UNROLL
  for (int i = 0; i < kChains; ++i) sums[i] = svdup_f32(static_cast<float>(i));
  for (int64_t round = 0; round < rounds; ++round) {
    SVENGINE_UNROLL
    for (int i = 0; i < kChains; ++i) sums[i] = svmad_x(all, sums[i], factor, factor);
  }
  vf total = sums[0];
  SVENGINE_UNROLL
  for (int i = 1; i < kChains; ++i) total = svadd_x(all, total, sums[i]);
  svst1(all, sink, total);
  return rounds * kChains * kLanes * 2;
}

}  // namespace svengine::bench
