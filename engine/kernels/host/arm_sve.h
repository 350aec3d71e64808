// <arm_sve.h> for x86-64: the part of Arm's ACLE that the kernels in engine/kernels/sve use, on AVX-512 or AVX2
// registers.
//
// Found before the compiler's own header because engine/kernels/host comes first on the include path of the x86 kernel
// sets. Names, argument order and results are ACLE's (Arm C Language Extensions, IHI 0053; instruction semantics: Arm
// ARM, SVE); only the overloaded short names exist, but for svmla_n_f32_x. Results are bit-equal to SVE with NaN compared
// as NaN (tests/acle), which includes single rounding of the multiply-adds, signed zeros, saturating conversions, the 8-bit
// estimates of FRECPE and FRSQRTE, the table of FEXPA and the pairwise tree of FADDV. Kernels are compiled with
// -ffp-contract=off: the compiler must not fuse.
//
// Differences that a kernel must respect:
//  - A predicate made for 32-bit elements is used with 32-bit elements only, one for 64-bit elements with those only,
//    and so on: masks count elements here, where SVE's count bytes.
//  - On AVX2 a signalling NaN gives way to a number in svmaxnm and svminnm, as a quiet one does; SVE returns NaN.
//  - Flushing of subnormals is x86's (MXCSR FTZ and DAZ) where SVE has FPCR.FZ: results that round up to the smallest
//    normal number from below are kept by the one and flushed by the other.
//  - Inactive lanes of _x forms hold the full operation's result here and anything on SVE; they are never to be
//    relied on.
//
// Layers: sve_types.h (vectors, traits) < sve_avx512.h or sve_avx2.h (primitives of one instruction set) < the API
// files, which are written once for both.
#pragma once

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#define __ARM_FEATURE_SVE_BITS 512
#include "sve_avx512.h"
#include "sve_types.h"
#elif defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#define __ARM_FEATURE_SVE_BITS 256
#include "sve_avx2.h"
#include "sve_types.h"
#else
#error "the kernels need AVX-512 (F, DQ, BW, VL) or AVX2 with FMA and F16C"
#endif

#include "sve_convert.h"
#include "sve_float.h"
#include "sve_integer.h"
#include "sve_memory.h"
#include "sve_predicate.h"
#if __ARM_FEATURE_SVE_BITS == 512
#include "sve_avx512_estimate.h"
#else
#include "sve_avx2_estimate.h"
#endif
#include "sve_estimate.h"
#include "sve_permute.h"
#include "sve_reduce.h"
