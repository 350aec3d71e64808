// Floating-point formats of 16 bits and less, one number at a time: for constants, tables, tests and types that have no kernels.
#pragma once
#include <cstdint>

#include "engine/base/dtype.h"

namespace svengine {

float half_to_float(uint16_t half);
uint16_t float_to_half(float value);  // nearest, ties to even; too large gives infinity
float bfloat_to_float(uint16_t bfloat);
uint16_t float_to_bfloat(float value);  // the same

/// Formats of a byte: the four float8 ones, float8_e8m0 (powers of two, no sign) and float4_e2m1 (in the low half of the byte).
bool is_byte_float(DType type);

/// The value of each of the 256 bytes, of a format of a byte.
const float* byte_float_values(DType format);

/// Of float8_e8m0.
enum class ScaleRounding : uint8_t { nearest, up, down };

struct ByteFloatRules {
  /// What is too large, infinity too, becomes the largest number. Otherwise infinity, or NaN where the format has none; float4_e2m1
  /// has neither and always saturates. For float8_e8m0 also what is too small.
  bool saturate = true;
  ScaleRounding scale = ScaleRounding::up;
};

/// As the tables of ONNX's operator Cast say: nearest, ties to even. Where a format has no NaN it becomes -0; what ONNX leaves open for
/// float8_e8m0, negative numbers, gives NaN.
uint8_t to_byte_float(DType format, double value, ByteFloatRules rules = {});

/// Bits of an element of uint4, int4, uint2, int2, float4_e2m1 in files, 8 for all others; in memory each has a byte of its own.
int packed_bits(DType type);
/// int4 and int2: the value of a byte's low bits, its sign extended; uint4, uint2, float4_e2m1: the low bits.
uint8_t unpacked(DType type, uint8_t bits);

}  // namespace svengine
