// MatMul: numpy.matmul.
#include <utility>

#include "engine/graph/axes.h"
#include "engine/graph/gradient.h"
#include "engine/graph/transposed_node.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/nn/product_common.h"
#include "engine/ops/wide/wide.h"

namespace svengine::ops {
namespace {

Status infer_mat_mul(InferContext& c) {
  SV_ASSIGN(Shape shape, matmul_shape(c.shape(0), c.shape(1), false, false));
  c.set(0, c.dtype(0), std::move(shape));
  return {};
}

Status lower_mat_mul(LowerContext& c) {
  if (!kProductTypes.has(c.in_type(0).dtype)) wide::emit_product(c, matmul_of(c, false, false), 1, 1);
  else emit_product(c, matmul_of(c, false, false));
  return {};
}

/// A product whose vectors have become matrices: a row on the left, a column on the right.
struct Matrices {
  Value *a, *b, *dy;
};

Result<Matrices> as_matrices(GradientContext& c) {
  Value *a = c.input(0), *b = c.input(1), *dy = c.dy();
  const int64_t rank_a = a->type.shape.rank(), rank_b = b->type.shape.rank();
  if (rank_a < 1 || rank_b < 1)
    return error("the gradient needs operands of known rank, they are {} and {}", to_string(a->type), to_string(b->type));
  if (rank_b == 1) {
    b = c.op("Unsqueeze", {b, c.builder().integers({1})});
    dy = c.op("Unsqueeze", {dy, c.builder().integers({-1})});
  }
  if (rank_a == 1) {
    a = c.op("Unsqueeze", {a, c.builder().integers({0})});
    dy = c.op("Unsqueeze", {dy, c.builder().integers({-2})});
  }
  SV_TRY(c.builder().status());
  return Matrices{a, b, dy};
}

Value* transposed(GradientContext& c, Value* v) {
  return c.op("Transpose", {v}, make_attributes({{"perm", matrix_transpose(v->type.shape.rank())}}));
}

/// In float64 of operators that have gradients, too; pass mat_mul takes the transposes into the product.
Value* mat_mul_product(GradientContext& c, Value* a, bool transpose_a, Value* b, bool transpose_b) {
  if (a->type.dtype != DType::f32)
    return c.op("MatMul", {transpose_a ? transposed(c, a) : a, transpose_b ? transposed(c, b) : b});
  return c.internal("FusedMatMul", {a, b},
                    make_attributes({{"transpose_a", int64_t{transpose_a}}, {"transpose_b", int64_t{transpose_b}}}));
}

/// All rows of all batches as one matrix.
Value* as_rows(GradientContext& c, Value* v) {
  const int64_t rank = v->type.shape.rank();
  return rank == 2 ? v : c.op("Flatten", {v}, make_attributes({{"axis", rank - 1}}));
}

/// dA = dY B', dB = A' dY, each summed over the batches for which its operand was repeated. For one matrix on the right that sum
/// is part of the product: the rows of all batches are one long sum.
Status mat_mul_gradient(GradientContext& c) {
  SV_ASSIGN(const Matrices m, as_matrices(c));
  if (c.wants(0)) c.set(0, c.reshape_to(c.sum_to(mat_mul_product(c, m.dy, false, m.b, true), m.a), c.input(0)));
  if (!c.wants(1)) return {};
  const bool one_matrix = m.b->type.shape.rank() == 2 && m.dy->type.shape.rank() >= 2;
  Value* db =
      one_matrix ? mat_mul_product(c, as_rows(c, m.a), true, as_rows(c, m.dy), false) : c.sum_to(mat_mul_product(c, m.a, true, m.dy, false), m.b);
  c.set(1, c.reshape_to(db, c.input(1)));
  return {};
}

/// Of the last two dimensions, which FusedMatMul reads the other way round.
bool mat_mul_takes(const Node& node, size_t, const Permutation& perm) {
  const DType type = node.output()->type.dtype;
  if ((type != DType::f32 && type != DType::f64) || perm.size() < 2 || node.input(0)->type.shape.rank() < 2 || node.input(1)->type.shape.rank() < 2)
    return false;
  return perm == matrix_transpose(static_cast<int64_t>(perm.size()));
}

}  // namespace

OpDef define_mat_mul() {
  return {
      .name = "MatMul",
      .inputs = "A, B",
      .infer = infer_mat_mul,
      .lower = lower_mat_mul,
      .types = {{"T", kWideTypes, {0, 1}}},
      .cost = matmul_cost,
      .gradient = mat_mul_gradient,
      .traits = {.takes_transpose = mat_mul_takes},
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[13, 37], float32[37, 29])"
                 "(float32[2, 3, 5, 17], float32[3, 17, 8])"
                 "(float32[40], float32[4, 40, 33])"
                 "(float32[7, 40], float32[40])"
                 "(float32[67, 40], float32[40])"
                 "(float32[2, 65, 17], float32[2, 17, 3])"
                 "(float64[2, 67, 137], float64[137, 69])"
                 "(int64[3, 5] -9 to 9, int64[5] -9 to 9)"
                 "(uint32[3, 5] 0 to 9, uint32[5, 2] 0 to 9)"
                 "(float16[3, 5], float16[5, 2])"
                 "(bfloat16[3, 5], bfloat16[5, 2])",
  };
}

}  // namespace svengine::ops
