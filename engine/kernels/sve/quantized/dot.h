// Products of bytes: four neighbours of A times four of B into every 32-bit sum.
//
// B is int8 everywhere: unsigned operands are shifted by 128 when they are packed. A is what the processor multiplies with that: uint8
// on x86-64 (VNNI has mixed signs only), int8 on A64FX (SDOT has equal signs only).
#pragma once
#include "engine/kernels/sve/vec.h"

#include <byte_products.h>  // engine/kernels/host or engine/kernels/native

namespace svengine::kernels::SVENGINE_KERNEL_SET {

inline constexpr bool kSignedA = sve_bytes::kSignedA;

/// sum + the products of four bytes of A, of every 32-bit lane of `a`, with those of `b`.
inline __attribute__((always_inline)) vi dot_bytes(vi sum, vu a, vsbyte b) { return sve_bytes::dot(sum, a, b); }

/// What turns the bytes of A into what is multiplied: exclusive or with this, and so much more for a zero point.
constexpr uint32_t flip_of(bool a_signed) { return a_signed == kSignedA ? 0u : 0x80808080u; }
constexpr int32_t shift_of(bool a_signed) { return a_signed == kSignedA ? 0 : kSignedA ? -128 : 128; }

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
