// Operators that draw numbers: base/random.h's functions of a seed and an element's place, so results do not depend on threads.
//
// With attribute `seed` every run gives the same numbers; without it, none gives those of another: what runs draw one after the other is
// settled by LowerOptions::seed and the name of the node's first output, where a seed is given. Having that attribute keeps passes from folding
// or merging such nodes (is_random() in passes/match.h).
#pragma once
#include "engine/base/random.h"
#include "engine/kernels/elementwise.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/lowering.h"

namespace svengine::ops {

inline constexpr DTypeSet kDrawnTypes{DType::f32, DType::f64, DType::f16, DType::bf16};

/// Emits the step that settles this run's seed; where it lies.
Buffer emit_seed(LowerContext& c);
inline RandomStream stream_of(const Run& run, Buffer seed) { return RandomStream(*run.get<const uint64_t>(seed)); }

/// Numbers first, first + 1, ... of the run's stream as drawn_double() gives them, by the kernel.
inline void draw_doubles(const kernels::ElementwiseKernels& kernels, const Run& run, Buffer seed, uint64_t first, std::span<double> out) {
  const uint64_t key = *run.get<const uint64_t>(seed);
  const kernels::UniformArgs args{.y = out.data(),
                                  .n = static_cast<int64_t>(out.size()),
                                  .first = first,
                                  .key = {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)}};
  kernels.uniform.run(args, 0, kernels.uniform.tasks(args), nullptr);
}

/// A double in [0, 1) of 53 bits, number i of the stream.
inline double drawn_double(const RandomStream& stream, uint64_t i) {
  const PhiloxCounter words = stream.block(i);
  return static_cast<double>((static_cast<uint64_t>(words[0]) << 32 | words[1]) >> 11) * 0x1p-53;
}

}  // namespace svengine::ops
