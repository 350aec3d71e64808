// Products of 8-bit integers on the kernels of kernels/quantized.h: what the operators share of scales, zero points and steps.
#pragma once
#include <optional>

#include "engine/graph/op_def.h"
#include "engine/kernels/quantized.h"
#include "engine/ops/lowering.h"

namespace svengine::ops {

inline constexpr int kNoInput = -1;

/// Numbers of a node's input, or of none: one for the whole tensor, or several.
struct Numbers {
  int input = kNoInput;
  Buffer buffer = {};
  DType type = DType::undefined;
  int64_t count = 0;
};
Numbers numbers_of(LowerContext& c, int input);

/// Factors by which sums become results: scale, one for all or one a column (of every matrix of B), and row_scale likewise, or none.
struct OutputScales {
  Buffer scale;
  int64_t count = 1;
  Buffer row_scale;
  int64_t row_count = 0;
};
/// a * b / y, in the order in which ONNX Runtime rounds. Inputs of float32, float16 or bfloat16; y and a may be kNoInput. Computed at
/// load where all are constant, by a step otherwise.
OutputScales output_scales(LowerContext& c, int a, int b, int y);

/// What becomes of sums; the output's type decides the bounds.
struct IntegerEpilogue {
  DType type = DType::i32;
  Buffer bias;  // int32 [n], or [m, n] where bias_ld is n
  int64_t bias_ld = 0;
  OutputScales scales;
  Buffer shift;                              // float32 [n]
  Numbers zero;                              // of the output
  std::optional<float> low = {}, high = {};  // tighter bounds, quantised
};

/// The kernel's epilogue but for what `bind_epilogue` takes from a run.
kernels::QuantizedEpilogue kernel_epilogue(const IntegerEpilogue& e);
/// Of matrix `row_matrix` of A and `column_matrix` of B, whose m and n are given.
void bind_epilogue(const Run& run, const IntegerEpilogue& e, int64_t m, int64_t row_matrix, int64_t n, int64_t column_matrix,
                   kernels::QuantizedEpilogue& bound);

/// C[batch] = epilogue((A[batch] - a_zero) (B[batch] - b_zero)); A is [batch..., m, k], B [batch..., k, n], or [n, k] where column_major.
struct IntegerProduct {
  Dims batch;
  int64_t m = 0, n = 0, k = 0;
  Buffer a;
  DType a_type = DType::u8;
  std::vector<int64_t> a_matrix, b_matrix;  // steps from matrix to matrix, in matrices, one for each batch dimension
  Numbers a_zero, b_zero;                   // one, one a row or column, or one a row or column of every matrix
  size_t b_input = 1;
  bool column_major = false;
  Buffer c;
  IntegerEpilogue epilogue;
};

/// numpy.matmul's product of two inputs.
IntegerProduct integer_matmul_of(LowerContext& c, size_t a, size_t b);

/// Emits the packing of B where it is not constant, and the product.
void emit_integer_product(LowerContext& c, IntegerProduct p);

/// "zero 3" or "zeros 3 4 5": what of a constant zero point decides packed bytes.
std::string name_zeros(const Tensor* zero);

/// Type parameters where values and zero points are bytes of one type, and scales float32.
std::vector<TypeParameter> quantized_types(InputSet values, InputSet scales);

/// Checks of inference: input i is uint8 or int8.
Status require_bytes(const InferContext& c, size_t input);
/// A zero point of the type of input `of`, a scale: one element or more. Absent ones pass.
Status require_zero_of(const InferContext& c, size_t zero, size_t of);
Status require_scale(const InferContext& c, size_t scale);

}  // namespace svengine::ops
