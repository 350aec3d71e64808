// What QuantizeLinear and DequantizeLinear share: which scale and zero point belong to which elements.
#pragma once
#include <optional>

#include "engine/graph/transposed_node.h"
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

/// Of QuantizeLinear and DequantizeLinear: the axis moves, and scales for blocks of it are transposed as the data.
std::optional<TransposedNode> transposed_quantization(const Node& node, const Permutation& perm);

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

/// What kernels call the type of quantised elements, of less than a byte in their unpacked form; none: not a kernel's.
std::optional<kernels::QuantizedType> kernel_type(DType type);

/// Runs a kernel of args for rows [begin, end), `bind` having set what a row's pointers are counted from.
template <class Kernel, class Args, class Bind>
void run_rows(const Kernel& kernel, const Args& args, const QuantizedRows& rows, int64_t begin, int64_t end, const Bind& bind) {
  for (int64_t i = begin; i < end; ++i) {
    const QuantizedRow row = rows.row(i);
    Args one = args;
    one.count = row.length, one.step = row.scale_stride;
    bind(one, row);
    kernel.run(one, 0, kernel.tasks(one), nullptr);
  }
}

}  // namespace svengine::ops
