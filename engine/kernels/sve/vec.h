// What every kernel file starts from: fixed-length vector types, the kernel set's namespace, and its machine's numbers.
//
// Kernels are written in ACLE (<arm_sve.h>) for a vector length that is a compile-time constant. On x86-64 the same name
// finds engine/kernels/host/arm_sve.h. A kernel file includes this header, its family's contract and nothing else: code
// compiled for one instruction set must never be what the linker keeps for everybody, so no inline function of the
// standard library may appear here (tests/kernel_symbols_test.py checks the objects).
#pragma once
#include <arm_sve.h>

#include <cstddef>
#include <cstdint>

#include SVENGINE_MACHINE_HEADER

namespace svengine::kernels::SVENGINE_KERNEL_SET {

typedef svfloat32_t vf __attribute__((arm_sve_vector_bits(__ARM_FEATURE_SVE_BITS)));
typedef svfloat64_t vd __attribute__((arm_sve_vector_bits(__ARM_FEATURE_SVE_BITS)));
typedef svint32_t vi __attribute__((arm_sve_vector_bits(__ARM_FEATURE_SVE_BITS)));
typedef svuint32_t vu __attribute__((arm_sve_vector_bits(__ARM_FEATURE_SVE_BITS)));
typedef svint64_t vl __attribute__((arm_sve_vector_bits(__ARM_FEATURE_SVE_BITS)));
typedef svuint64_t vul __attribute__((arm_sve_vector_bits(__ARM_FEATURE_SVE_BITS)));
typedef svint8_t vsbyte __attribute__((arm_sve_vector_bits(__ARM_FEATURE_SVE_BITS)));
typedef svuint8_t vbyte __attribute__((arm_sve_vector_bits(__ARM_FEATURE_SVE_BITS)));
typedef svbool_t vb __attribute__((arm_sve_vector_bits(__ARM_FEATURE_SVE_BITS)));

inline constexpr int64_t kVectorBytes = __ARM_FEATURE_SVE_BITS / 8;
inline constexpr int kLanes = __ARM_FEATURE_SVE_BITS / 32;  // float lanes of a vector, and the channel block of NCHWc
inline constexpr Machine kMachine = machines::SVENGINE_MACHINE;  // cmake/SvengineKernels.cmake names it
static_assert(kMachine.lanes == kLanes);

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET

// Loops over tiles of vectors must unroll completely, or the accumulators do not live in registers.
#define SVENGINE_UNROLL _Pragma("GCC unroll 64")

#define SVENGINE_INLINE [[gnu::always_inline]] inline

// Functions whose innermost loop comes early: aligned to a line of A64FX's instruction cache, it lies within few of them.
#define SVENGINE_HOT __attribute__((aligned(256)))
