// What QuantizeLinear and DequantizeLinear share: which scale and zero point belong to which elements.
#pragma once
#include "engine/kernels/quantized.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/lowering.h"

namespace svengine::ops {

/// Real types of the data, and types they are quantised to.
inline constexpr DTypeSet kQuantizableTypes{DType::f32, DType::f16, DType::bf16, DType::i32};
inline constexpr DTypeSet kQuantizedTypes{DType::i8,       DType::u8,         DType::i16,    DType::u16,        DType::f8e4m3fn, DType::f8e4m3fnuz,
                                          DType::f8e5m2,   DType::f8e5m2fnuz, DType::u4,     DType::i4,         DType::u2,       DType::i2,
                                          DType::f4e2m1};

/// Inputs 1 (scale) and 2 (zero point, optional) against input 0: one number, one for each index of `axis`, or with block_size one for each
/// block of so many elements along `axis`, the other dimensions being the data's.
Status check_granularity(InferContext& c);

/// Elements that lie in a row and read scales that lie in a row, or one.
struct QuantizedRow {
  int64_t begin = 0, length = 0;
  int64_t scale = 0;         // index of the first element's
  int64_t scale_stride = 0;  // 0 or 1
};

/// The data cut into rows. Concrete shapes that check_granularity() accepted.
class QuantizedRows {
 public:
  QuantizedRows() = default;
  QuantizedRows(const Dims& data, const Dims& scale, int64_t axis, int64_t block_size);

  int64_t count() const { return count_; }
  QuantizedRow row(int64_t i) const;
  /// Rows that make a task worth its while.
  int64_t rows_per_task() const;

 private:
  enum class Kind { one, axis, last_axis, blocks, last_blocks };
  Kind kind_ = Kind::one;
  int64_t count_ = 0;
  int64_t total_ = 0, along_ = 1, inner_ = 1, block_ = 1, blocks_ = 1;
};

/// From a node's concrete types.
Result<QuantizedRows> rows_of(LowerContext& c);

/// y = saturate(round(x / scale) + zero_point) of `n` floats; scale and zero point as in QuantizedRow. NaN gives the zero point. T: (u)int8,
/// (u)int16; 8 bits with one scale are the kernel's business.
template <class T>
void quantize_row(const kernels::QuantizedKernels& kernels, const float* x, const float* scale, const T* zero_point, int64_t stride, T* y, int64_t n);

/// A loop over so many elements, from pointers that are __restrict, is made of vector instructions without -O3 too.
inline constexpr int64_t kVectorPiece = 16;

}  // namespace svengine::ops
