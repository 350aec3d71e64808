// The engine's MatMulNBits: A times weights that stay 2, 4 or 8 bits, with a scale and perhaps a zero point for every block of a column.
#include "engine/graph/gradient.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/nn/product_common.h"
#include "engine/ops/quantized/n_bits_common.h"

namespace svengine::ops {
namespace {

constexpr size_t kProductBias = 4;

Status require_elements(const InferContext& c, size_t input, int64_t wanted, const char* what) {
  const std::optional<Dims> dims = c.shape(input).concrete();
  if (!dims || element_count(*dims) == wanted) return {};
  return error("{} has {} elements, needs {}", what, element_count(*dims), wanted);
}

Status infer_n_bits_mat_mul(InferContext& c) {
  SV_ASSIGN(const BitLayout l, bit_layout(c.attributes()));
  SV_TRY(require_dtype(c, kBits, "B", {DType::u8}));
  SV_TRY(require_elements(c, kBits, l.n * l.row_bytes(), "B"));
  SV_TRY(require_elements(c, kBitScales, l.n * l.blocks, "scales"));
  if (c.has_input(kBitZeros)) {
    const bool packed = c.dtype(kBitZeros) == DType::u8;
    SV_TRY(require_elements(c, kBitZeros, l.n * (packed ? l.zero_row_bytes() : l.blocks), "zero_points"));
  }
  for (const size_t i : {kBitScales, kBitZeros, kProductBias})
    if (c.has_input(i) && c.dtype(i) != c.dtype(0) && (i != kBitZeros || c.dtype(i) != DType::u8))
      return error("input {} is of type {}, needs {} as A", i, name_of(c.dtype(i)), name_of(c.dtype(0)));
  if (c.has_input(kProductBias)) SV_TRY(require_elements(c, kProductBias, l.n, "bias"));
  const Shape& a = c.shape(0);
  if (!a.has_rank()) return c.set(0, c.dtype(0), Shape()), Status{};
  SV_TRY(require_rank_at_least(c, 0, "A", 1));
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
    if (c.has_input(i) && !c.constant(i)) return error("input {} of MatMulNBits needs to be a constant", i);
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
      if (node.input(i) && !node.input(i)->is_constant()) return error("input {} of MatMulNBits needs to be a constant", i);
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
      .inputs = {3, 5},
      .attributes = {{"K", AttributeKind::kInt, true},
                     {"N", AttributeKind::kInt, true},
                     {"bits", AttributeKind::kInt, false, int64_t{4}},
                     {"block_size", AttributeKind::kInt, true},
                     {"accuracy_level", AttributeKind::kInt, false, int64_t{0}}},
      .infer = infer_n_bits_mat_mul,
      .lower = lower_n_bits_mat_mul,
      .types = {{"T1", {DType::f32, DType::f16, DType::bf16}, {0}}, {"T2", {DType::u8}, {1}}},
      .kernel_types = {DType::f32, DType::u8},
      .cost = matmul_cost,
      .gradient = n_bits_gradient,
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = {sample_of_bits({.a = {3, 40}, .n = 5, .block = 32}),
                  sample_of_bits({.a = {2, 2, 37}, .n = 19, .zeros = true, .bias = true}),
                  sample_of_bits({.a = {21}, .n = 33, .bits = 2, .float_zeros = true}),
                  sample_of_bits({.a = {17, 35}, .n = 7, .bits = 8, .scale = 0.001f, .zeros = true, .bias = true}),
                  sample_of_bits({.a = {18, 1050}, .n = 67, .block = 256, .scale = 0.001f, .zeros = true, .bias = true}),
                  sample_of_bits({.a = {5, 300}, .n = 19, .block = 256, .level = 4, .scale = 0.0001f, .zeros = true, .bias = true}),
                  sample_of_bits({.a = {1, 75}, .n = 19, .block = 32, .level = 4, .scale = 0.0001f})},
  };
}

}  // namespace svengine::ops
