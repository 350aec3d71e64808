// The element types alone, for kernels, which include no header whose inline functions others share.
#pragma once
#include <cstdint>

namespace svengine {

/// The numbers are those of ONNX (TensorProto.DataType), so that files need no translation.
enum class DType : int8_t {
  undefined = 0,
  f32 = 1,
  u8 = 2,
  i8 = 3,
  u16 = 4,
  i16 = 5,
  i32 = 6,
  i64 = 7,
  string = 8,   // std::string objects: Tensor::strings()
  boolean = 9,  // one byte, 0 or 1
  f16 = 10,
  f64 = 11,
  u32 = 12,
  u64 = 13,
  bf16 = 16,
  f8e4m3fn = 17,
  f8e4m3fnuz = 18,
  f8e5m2 = 19,
  f8e5m2fnuz = 20,
  u4 = 21,  // four and two bits: one element a byte in memory (sign-extended), packed only in files
  i4 = 22,
  f4e2m1 = 23,  // the four bits of it in the low half of a byte
  f8e8m0 = 24,
  u2 = 25,
  i2 = 26,
  // What is no dense tensor, with numbers of our own: Tensor::items().
  sequence = 100,
  optional = 101,
  map = 102,
};

}  // namespace svengine
