// The engine's MatMulNBits: A times weights that stay 2, 4 or 8 bits, with a scale and perhaps a zero point for every block of a column.
#include "engine/graph/gradient.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/nn/product_common.h"
#include "engine/ops/quantized/n_bits_common.h"

namespace svengine::ops {
namespace {

constexpr size_t kProductBias = 4;

Status require_elements(const InferContext& c, size_t input, int64_t wanted) {
  const std::optional<Dims> dims = c.shape(input).concrete();
  if (!dims || element_count(*dims) == wanted) return {};
  return error("{} has {} elements, needs {}", c.described(input), element_count(*dims), wanted);
}

Status infer_n_bits_mat_mul(InferContext& c) {
  SV_ASSIGN(const BitLayout l, bit_layout(c.attributes()));
  SV_TRY(require_dtype(c, kBits, {DType::u8}));
  SV_TRY(require_elements(c, kBits, l.n * l.row_bytes()));
  SV_TRY(require_elements(c, kBitScales, l.n * l.blocks));
  if (c.has_input(kBitZeros)) {
    const bool packed = c.dtype(kBitZeros) == DType::u8;
    SV_TRY(require_elements(c, kBitZeros, l.n * (packed ? l.zero_row_bytes() : l.blocks)));
  }
  for (const size_t i : {kBitScales, kBitZeros, kProductBias})
    if (c.has_input(i) && c.dtype(i) != c.dtype(0) && (i != kBitZeros || c.dtype(i) != DType::u8))
      return error("{} is of type {}, needs {} as A", c.described(i), name_of(c.dtype(i)), name_of(c.dtype(0)));
  if (c.has_input(kProductBias)) SV_TRY(require_elements(c, kProductBias, l.n));
  const Shape& a = c.shape(0);
  if (!a.has_rank()) return c.set(0, c.dtype(0), Shape()), Status{};
  SV_TRY(require_rank_at_least(c, 0, 1));
  std::vector<Dim> out = a.dims();
  if (out.back().is_static() && out.back().value() != l.k) return error("A {} has rows of {}, K is {}", to_string(a), out.back().value(), l.k);
  out.back() = Dim(l.n);
  c.set(0, c.dtype(0), Shape(std::move(out)));
  return {};
}

/// The file is content with an A of float16 (2), bfloat16 (3) or 8-bit integers with a scale for each block (4): one of 16-bit integers with
/// such scales is more exact than any of these.
bool rounds_a(LowerContext& c, const BitLayout& l) {
  const bool whole_zeros = !c.has_input(kBitZeros) || c.in_type(kBitZeros).dtype == DType::u8;
  return c.attributes().get_int("accuracy_level") >= 2 && l.bits == 4 && whole_zeros;
}

Status lower_n_bits_mat_mul(LowerContext& c) {
  SV_ASSIGN(const BitLayout l, bit_layout(c.attributes()));
  for (const size_t i : {kBits, kBitScales, kBitZeros})
    if (c.has_input(i) && !c.constant(i)) return needs_constant("input {} of MatMulNBits needs to be a constant", i);
  const int64_t m = element_count(c.in_dims(0)) / l.k;
  if (m > 0) emit_bits_product(c, l, m, c.has_input(kProductBias) ? c.in(kProductBias) : Buffer{}, rounds_a(c, l));
  return {};
}

/// dA = dY W', dbias = the rows of dY summed.
Status n_bits_gradient(GradientContext& c) {
  const Node& node = c.node();
  SV_ASSIGN(const BitLayout l, bit_layout(node.attributes));
  if (c.wants(0)) {
    for (const size_t i : {kBits, kBitScales, kBitZeros})
      if (node.input(i) && !node.input(i)->is_constant()) return needs_constant("input {} of MatMulNBits needs to be a constant", i);
    SV_ASSIGN(Tensor weights, dequantized_weights(node, l, {}));
    Value* w = c.builder().constant(std::move(weights), "weights");
    c.set(0, c.op("MatMul", {c.dy(), c.op("Transpose", {w}, make_attributes({{"perm", std::vector<int64_t>{1, 0}}}))}));
  }
  if (c.wants(kProductBias)) c.set(kProductBias, c.sum_to(c.dy(), c.input(kProductBias)));
  return {};
}

}  // namespace

OpDef define_n_bits_mat_mul() {
  return {
      .name = "NBitsMatMul",
      .domain = kInternalDomain,
      .inputs = "A, B, scales, zero_points?, bias?",
      .attributes = {{"K", AttributeKind::kInt, true},
                     {"N", AttributeKind::kInt, true},
                     {"bits", AttributeKind::kInt, false, 4},
                     {"block_size", AttributeKind::kInt, true},
                     {"accuracy_level", AttributeKind::kInt, false, 0}},
      .infer = infer_n_bits_mat_mul,
      .lower = lower_n_bits_mat_mul,
      .types = {{"T1", {DType::f32, DType::f16, DType::bf16}, {0}}, {"T2", {DType::u8}, {1}}},
      .kernel_types = {DType::f32, DType::u8},
      .cost = matmul_cost,
      .gradient = n_bits_gradient,
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[3, 40], uint8[5, 2, 16]{13, 90, ...}, float32[5, 2]{0.02, 0.16, 0.08, 0.22, 0.14, 0.06, 0.19999999, 0.12, 0.04, "
                 "0.17999999}) {K = 40, N = 5, bits = 4, block_size = 32, accuracy_level = 0}"
                 "(float32[2, 2, 37], uint8[19, 3, 8]{13, 90, ...}, float32[19, 3]{0.02, 0.0205, ...}, uint8[19, 2]{13, 90, ...}, "
                 "float32[19]) {K = 37, N = 19, bits = 4, block_size = 16, accuracy_level = 0}"
                 "(float32[21], uint8[33, 2, 4]{13, 90, ...}, float32[33, 2]{0.02, 0.0205, ...}, float32[33, 2]{0.3, 0.3005, ...}) "
                 "{K = 21, N = 33, bits = 2, block_size = 16, accuracy_level = 0}"
                 "(float32[17, 35], uint8[7, 3, 16]{13, 90, ...}, float32[7, 3]{0.001, 0.008, 0.004, 0.011000001, 0.007, 0.003, "
                 "0.010000001, 0.006, 0.002, 0.009000001, 0.0050000004, 0.001, 0.008, 0.004, 0.011000001, 0.007, 0.003, 0.010000001, "
                 "0.006, 0.002, 0.009000001}, uint8[7, 3]{13, 90, ...}, float32[7]) {K = 35, N = 7, bits = 8, block_size = 16, "
                 "accuracy_level = 0}"
                 "(float32[18, 1050], uint8[67, 5, 128]{13, 90, ...}, float32[67, 5]{0.001, 0.00103, ...}, uint8[67, 3]{13, 90, ...}, "
                 "float32[67]) {K = 1050, N = 67, bits = 4, block_size = 256, accuracy_level = 0}"
                 "(float32[5, 300], uint8[19, 2, 128]{13, 90, ...}, float32[19, 2]{0.0001, 0.00012, ...}, uint8[19, 1]{13, 90, ...}, "
                 "float32[19]) {K = 300, N = 19, bits = 4, block_size = 256, accuracy_level = 4}"
                 "(float32[1, 75], uint8[19, 3, 16]{13, 90, ...}, float32[19, 3]{0.0001, 0.00012, ...}) {K = 75, N = 19, bits = 4, "
                 "block_size = 32, accuracy_level = 4}",
  };
}

}  // namespace svengine::ops
