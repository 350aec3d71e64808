// com.microsoft's small operators that files of ONNX Runtime's optimiser and of its quantiser hold besides: MulInteger, ReduceSumInteger,
// MatMulInteger16, GemmFastGelu, ComplexMul, ComplexMulConj, IsAllFinite.
#include "engine/graph/axes.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/microsoft/microsoft_common.h"
#include "engine/ops/quantized/integer_product_common.h"

namespace svengine::ops {
namespace {

enum MulIntegerInput : size_t { kFactorA, kFactorAZero, kFactorB, kFactorBZero };

Status infer_mul_integer(InferContext& c) {
  for (const size_t i : {kFactorAZero, kFactorBZero}) SV_TRY(require_single(c, i));
  SV_ASSIGN(Shape y, broadcast(c.shape(kFactorA), c.shape(kFactorB)));
  c.set(0, DType::i32, std::move(y));
  return {};
}

Status expand_mul_integer(ExpandContext& c) {
  const auto centred = [&](size_t i) {
    Value* v = c.cast(c.input(i), DType::i32);
    return c.has_input(i + 1) ? c.op("Sub", {v, c.reshape(c.cast(c.input(i + 1), DType::i32), {})}) : v;
  };
  c.set(0, c.op("Mul", {centred(kFactorA), centred(kFactorB)}));
  return {};
}

/// Sums of int8 are int32, those of uint8 uint32.
DType sum_type(DType type) { return type == DType::i8 ? DType::i32 : DType::u32; }

Status infer_reduce_sum_integer(InferContext& c) {
  SV_TRY(require_bytes(c, 0));
  const Shape& x = c.shape(0);
  const bool keep = c.attributes().get_int("keepdims", 1) == 1;
  if (!x.has_rank()) return c.set(0, sum_type(c.dtype(0)), Shape()), Status{};
  std::vector<bool> gone(x.dims().size(), c.attributes().get_ints("axes").empty());
  for (const int64_t axis : c.attributes().get_ints("axes")) {
    SV_ASSIGN(const int64_t at, normalise_axis(axis, x.rank()));
    gone[static_cast<size_t>(at)] = true;
  }
  std::vector<Dim> dims;
  for (size_t i = 0; i < gone.size(); ++i)
    if (!gone[i]) dims.push_back(x[i]);
    else if (keep) dims.emplace_back(1);
  c.set(0, sum_type(c.dtype(0)), Shape(std::move(dims)));
  return {};
}

Status expand_reduce_sum_integer(ExpandContext& c) {
  const std::vector<int64_t> axes = c.attributes().get_ints("axes");
  std::vector<Value*> inputs{c.cast(c.input(0), sum_type(c.dtype(0)))};
  if (!axes.empty()) inputs.push_back(c.ints(axes));
  c.set(0, c.op("ReduceSum", std::move(inputs), make_attributes({{"keepdims", c.attributes().get_int("keepdims", 1)}})));
  return {};
}

constexpr DTypeSet kPairs{DType::i16, DType::u16};

/// Products of signed numbers with any are int32, of unsigned ones uint32.
DType product_type(DType a, DType b) { return a == DType::u16 && b == DType::u16 ? DType::u32 : DType::i32; }

Status infer_mat_mul_integer16(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kPairs));
  SV_TRY(require_dtype(c, 1, kPairs));
  const Shape &a = c.shape(0), &b = c.shape(1);
  const DType type = product_type(c.dtype(0), c.dtype(1));
  if (!a.has_rank() || !b.has_rank() || a.rank() < 2 || b.rank() < 2) return c.set(0, type, Shape()), Status{};
  if (known_different(a.back(), b[static_cast<size_t>(b.rank()) - 2]))
    return error("A {} and B {} do not fit: the last dimension of A must be the last but one of B", to_string(a), to_string(b));
  SV_ASSIGN(Shape y,
            broadcast(Shape(std::vector<Dim>(a.dims().begin(), a.dims().end() - 2)), Shape(std::vector<Dim>(b.dims().begin(), b.dims().end() - 2))));
  std::vector<Dim> dims = y.dims();
  dims.push_back(a[static_cast<size_t>(a.rank()) - 2]), dims.push_back(b.back());
  c.set(0, type, Shape(std::move(dims)));
  return {};
}

Status expand_mat_mul_integer16(ExpandContext& c) {
  const DType type = product_type(c.dtype(0), c.dtype(1));
  c.set(0, c.op("MatMul", {c.cast(c.input(0), type), c.cast(c.input(1), type)}));
  return {};
}

Status infer_gemm_fast_gelu(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kRealTypes));
  SV_TRY(require_same_dtypes(c));
  SV_TRY(require_rank_at_least(c, 0, 1));
  SV_TRY(require_rank(c, 1, 2));
  const Shape &x = c.shape(0), &w = c.shape(1);
  if (!x.has_rank()) return c.set(0, c.dtype(0), Shape()), Status{};
  if (w.has_rank() && known_different(x.back(), w[0])) return error("W {} does not fit X {}", to_string(w), to_string(x));
  std::vector<Dim> dims = x.dims();
  dims.back() = w.has_rank() ? w[1] : Dim();
  SV_TRY(require_rank(c, 2, 1));
  if (c.has_input(2) && c.shape(2).has_rank() && known_different(c.shape(2)[0], dims.back()))
    return error("bias has {} elements, needs {}", c.shape(2)[0].value(), dims.back().value());
  c.set(0, c.dtype(0), Shape(std::move(dims)));
  return {};
}

Status expand_gemm_fast_gelu(ExpandContext& c) {
  std::vector<Value*> inputs{c.op("MatMul", {c.input(0), c.input(1)})};
  if (c.has_input(2)) inputs.push_back(c.input(2));
  const Node* node = c.builder().node(kMicrosoftDomain, "FastGelu", std::move(inputs), 1);
  c.set(0, node ? node->output() : nullptr);
  return {};
}

/// Complex numbers as pairs along the last dimension.
Status infer_complex_mul(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kRealTypes));
  SV_TRY(require_same_dtypes(c));
  for (size_t i = 0; i < 2; ++i) {
    SV_TRY(require_rank_at_least(c, i, 1));
    if (c.shape(i).has_rank() && known_different(c.shape(i).back(), Dim(2)))
      return error("{} is {}, its last dimension must be 2: real and imaginary part", i == 0 ? "A" : "B", to_string(c.shape(i)));
  }
  SV_ASSIGN(Shape y, broadcast(c.shape(0), c.shape(1)));
  c.set(0, c.dtype(0), std::move(y));
  return {};
}

template <bool kConjugate>
Status expand_complex_mul(ExpandContext& c) {
  const auto part = [&](size_t i, int64_t which) { return c.slice(c.input(i), -1, which, which + 1); };
  Value *ar = part(0, 0), *ai = part(0, 1), *br = part(1, 0), *bi = part(1, 1);
  const auto product = [&](Value* a, Value* b) { return c.op("Mul", {a, b}); };
  Value* real = c.op(kConjugate ? "Add" : "Sub", {product(ar, br), product(ai, bi)});
  Value* imaginary = c.op(kConjugate ? "Sub" : "Add", {product(ai, br), product(ar, bi)});
  c.set(0, c.concat({real, imaginary}, -1));
  return {};
}

Status infer_is_all_finite(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kRealTypes));
  SV_TRY(require_same_dtypes(c));
  if (c.attributes().get_int("isinf_only", 0) != 0 && c.attributes().get_int("isnan_only", 0) != 0)
    return error("isinf_only and isnan_only cannot both be set");
  c.set(0, DType::boolean, Shape(std::vector<Dim>{}));
  return {};
}

Status expand_is_all_finite(ExpandContext& c) {
  const bool infinite = c.attributes().get_int("isnan_only", 0) == 0, nan = c.attributes().get_int("isinf_only", 0) == 0;
  Value* found = nullptr;
  for (Value* v : c.node().inputs()) {
    Value* is_nan = nan ? c.op("IsNaN", {v}) : nullptr;
    Value* is_infinite = infinite ? c.op("IsInf", {v}) : nullptr;
    Value* bad = is_nan && is_infinite ? c.op("Or", {is_nan, is_infinite}) : is_nan ? is_nan : is_infinite;
    Value* one = c.op("ReduceMax", {c.cast(bad, DType::i32)}, make_attributes({{"keepdims", int64_t{0}}}));
    found = found ? c.op("Max", {found, one}) : one;
  }
  // Of no elements the maximum is the least integer.
  c.set(0, c.op("LessOrEqual", {found, c.number(0, DType::i32)}));
  return {};
}

}  // namespace

OpDef define_mul_integer() {
  OpDef op = composite_op("MulInteger", "A, A_zero_point?, B, B_zero_point?", {}, infer_mul_integer, expand_mul_integer,
                         "(uint8[2, 3] 0 to 256, uint8[] 0 to 256, uint8[3] 0 to 256, uint8[] 0 to 256)"
                         "(int8[1] -128 to 128, int8[1] -128 to 128, int8[4, 1] -128 to 128)");
  op.types = {{"T", kBytes, {kFactorA, kFactorAZero, kFactorB, kFactorBZero}}};
  return op;
}

OpDef define_reduce_sum_integer() {
  return composite_op("ReduceSumInteger", "data", {{"axes", AttributeKind::kInts, true}, {"keepdims", AttributeKind::kInt, true}},
                      infer_reduce_sum_integer, expand_reduce_sum_integer,
                     "(uint8[2, 3, 5] 0 to 256) {axes = [1, -1], keepdims = 1}"
                     "(int8[2, 3] -128 to 128) {axes = [0], keepdims = 0}");
}

OpDef define_mat_mul_integer16() {
  return composite_op("MatMulInteger16", "A, B", {}, infer_mat_mul_integer16, expand_mat_mul_integer16,
                     "(int16[2, 3, 4] -99 to 99, int16[4, 5] -99 to 99)"
                     "(uint16[1, 2] 0 to 99, uint16[2, 1] 0 to 99)");
}

OpDef define_gemm_fast_gelu() {
  return composite_op("GemmFastGelu", "X, W, bias?", {}, infer_gemm_fast_gelu, expand_gemm_fast_gelu,
                     "(float32[2, 3, 4], float32[4, 5], float32[5])"
                     "(float32[1, 1], float32[1, 1])");
}

OpDef define_complex_mul() {
  return composite_op("ComplexMul", "A, B", {}, infer_complex_mul, expand_complex_mul<false>, "(float32[3, 4, 2], float32[4, 2])");
}

OpDef define_complex_mul_conj() {
  return composite_op("ComplexMulConj", "A, B", {}, infer_complex_mul, expand_complex_mul<true>, "(float32[3, 1, 2], float32[4, 2])");
}

OpDef define_is_all_finite() {
  return composite_op("IsAllFinite", "input...", {{"isinf_only", AttributeKind::kInt, false, 0}, {"isnan_only", AttributeKind::kInt, false, 0}},
                     infer_is_all_finite, expand_is_all_finite, "(float32[2, 3], float32[4])"
                                                                "(float32[0]) {isnan_only = 1}");
}

}  // namespace svengine::ops
