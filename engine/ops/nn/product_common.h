// Matrix products on the packed GEMM kernels: shared by MatMul, Gemm and the operators that fusion makes of them.
#pragma once
#include "engine/kernels/gemm.h"
#include "engine/graph/op_def.h"
#include "engine/ops/lowering.h"

namespace svengine::ops {

/// What emit_product multiplies; other types are products of wide/.
inline constexpr DTypeSet kProductTypes{DType::f32, DType::f64};

/// A matrix operand of a node's product: [batch..., rows, columns], or transposed in its last two dimensions.
struct ProductOperand {
  Buffer buffer;
  int64_t ld = 0;
  bool transposed = false;
  std::vector<int64_t> batch_strides = {};  // in elements, one for every batch dimension; 0 repeats
  int constant_input = -1;             // the node's input that holds it, when that is constant: packed once, at load
  Buffer sums = {};                    // [m] of A or [n] of B: gets what the operand sums up to over k; see can_sum_operand
};

struct ProductBias {
  Buffer buffer;
  kernels::GemmBias kind = kernels::GemmBias::kNone;
  float scale = 1;
};

/// C[batch] = activation(alpha * A[batch] * B[batch] + bias + residual). C and the residual are dense or strided rows.
struct Product {
  DType type = DType::f32;  // one of kProductTypes, of operands and result
  Dims batch;
  int64_t m = 0, n = 0, k = 0;
  ProductOperand a, b;
  Buffer c;
  int64_t ldc = 0;
  std::vector<int64_t> c_strides;
  float alpha = 1;
  ProductBias bias;
  Buffer residual;  // laid out as c
  float residual_scale = 1;
  kernels::ActivationArgs activation;
};

/// ProductOperand::sums may be asked for: of a single matrix of floats that is not constant and whose k rows lie one after the other (A
/// transposed, or B not), because packing then walks along m or n.
bool can_sum_operand(const Product& product, const ProductOperand& operand);

/// Emits packing steps where an operand is not constant, and the product. Batch dimensions are merged where strides allow;
/// a batch over which only A varies becomes rows of A. Of few columns it is the transpose that is computed, and few rows
/// read a B that is not constant where it lies.
void emit_product(LowerContext& c, Product product);

/// Operand A of a product alone, packed: its distinct matrices are packed_a_bytes(m, k) after one another.
Buffer pack_as_a(LowerContext& c, const Product& product);

/// Types of a MatMul-like node: numpy.matmul's rules over the last two dimensions, after the given transpositions.
Result<Shape> matmul_shape(const Shape& a, const Shape& b, bool transpose_a, bool transpose_b);

/// A product of a node's inputs 0 and 1 under numpy.matmul's rules, output dense in output 0.
Product matmul_of(LowerContext& c, bool transpose_a, bool transpose_b);

/// 2 m n k per matrix, operands and result moved once.
Cost matmul_cost(const Node& node);

}  // namespace svengine::ops
