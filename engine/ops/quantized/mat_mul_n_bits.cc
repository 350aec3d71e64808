// com.microsoft's MatMulNBits: A times weights of 2, 4 or 8 bits, with a scale and perhaps a zero point for every block of a column. The
// weights are constant in every file, and the node becomes the engine's, in which they stay as they are; only where input g_idx spreads blocks
// over the depth they become floats at load, and the node a MatMul.
#include "engine/graph/expand.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/quantized/integer_product_common.h"
#include "engine/ops/quantized/n_bits_common.h"

namespace svengine::ops {
namespace {

constexpr size_t kGroupIndex = 4, kBitBias = 5;

Status check_count(const Node& node, size_t input, int64_t wanted, const char* what) {
  const Value* v = node.input(input);
  if (!v || v->constant().count() == wanted) return {};
  return error("{} has {} elements, needs {}", what, v->constant().count(), wanted);
}

Status check_constants(const Node& node, const BitLayout& l) {
  for (size_t i : {kBits, kBitScales, kBitZeros, kGroupIndex})
    if ((i <= kBitScales && !node.input(i)) || (node.input(i) && !node.input(i)->is_constant()))
      return needs_constant("input {} of MatMulNBits needs to be a constant", i);
  SV_TRY(check_count(node, kBits, l.n * l.row_bytes(), "B"));
  SV_TRY(check_count(node, kBitScales, l.n * l.blocks, "scales"));
  SV_TRY(check_count(node, kGroupIndex, l.k, "g_idx"));
  const Value* zeros = node.input(kBitZeros);
  return check_count(node, kBitZeros, zeros && zeros->type.dtype != DType::u8 ? l.n * l.blocks : l.n * l.zero_row_bytes(), "zero_points");
}

/// Blocks that are not those of the depth, and types and shapes of zero points and bias that only other operators take, want weights of
/// floats.
bool stays_packed(const Node& node) {
  const Value *zeros = node.input(kBitZeros), *bias = node.input(kBitBias);
  if (node.input(kGroupIndex)) return false;
  if (zeros && zeros->type.dtype != DType::u8 && zeros->type.dtype != node.input(kBitScales)->type.dtype) return false;
  return !bias || (bias->type.shape.has_rank() && bias->type.shape.rank() == 1 && bias->type.shape[0] == Dim(node.attributes.get_int("N")));
}

Status expand_mat_mul_n_bits(ExpandContext& c) {
  const Node& node = c.node();
  SV_ASSIGN(const BitLayout l, bit_layout(node.attributes));
  SV_TRY(check_constants(node, l));
  if (stays_packed(node)) {
    const int64_t level = node.attributes.get_int("accuracy_level");
    const Attributes attributes =
        make_attributes({{"K", l.k}, {"N", l.n}, {"bits", l.bits}, {"block_size", l.block}, {"accuracy_level", level}});
    c.set(0, c.internal("NBitsMatMul", {c.input(0), c.input(kBits), c.input(kBitScales), c.input(kBitZeros), c.input(kBitBias)}, attributes));
    return {};
  }
  std::vector<int64_t> groups;
  if (node.input(kGroupIndex)) groups = node.input(kGroupIndex)->constant().as_int64s();
  SV_ASSIGN(Tensor weights, dequantized_weights(node, l, groups));
  Value* y = c.op("MatMul", {c.input(0), c.builder().constant(std::move(weights), "weights")});
  c.set(0, c.has_input(kBitBias) ? c.op("Add", {y, c.input(kBitBias)}) : y);
  return {};
}

Status infer_mat_mul_n_bits(InferContext& c) {
  const Shape& a = c.shape(0);
  if (!a.has_rank()) return c.set(0, c.dtype(0), Shape()), Status{};
  SV_TRY(require_rank_at_least(c, 0, 1));
  std::vector<Dim> out = a.dims();
  out.back() = Dim(c.attributes().get_int("N"));
  c.set(0, c.dtype(0), Shape(std::move(out)));
  return {};
}

}  // namespace

OpDef define_mat_mul_n_bits() {
  return {
      .name = "MatMulNBits",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "A, B, scales, zero_points?, g_idx?, bias?",
      .attributes = {{"K", AttributeKind::kInt, true},
                     {"N", AttributeKind::kInt, true},
                     {"bits", AttributeKind::kInt, false, 4},
                     {"block_size", AttributeKind::kInt, true},
                     {"accuracy_level", AttributeKind::kInt, false, 0},
                     {"weight_prepacked", AttributeKind::kInt, false, 0}},
      .expand = expand_mat_mul_n_bits,
      .infer = infer_mat_mul_n_bits,
      .types = {{"T1", kSingleTypes, {0, 2, 5}},
                {"T2", {DType::u8}, {1}},
                {"T3", kSingleTypes | DTypeSet{DType::u8}, {3}},
                {"T4", {DType::i32}, {4}}},
      .samples =
          "(float32[3, 40], uint8[5, 2, 16]{13, 90, ...}, float32[5, 2]{0.02, 0.16, 0.08, 0.22, 0.14, 0.06, 0.19999999, 0.12, 0.04, "
          "0.17999999}) {K = 40, N = 5, bits = 4, block_size = 32, accuracy_level = 0}"
          "(float32[2, 16], uint8[3, 1, 16]{13, 90, ...}, float32[3, 1]{0.001, 0.008, 0.004}, uint8[3, 1]{13, 90, 167}) {K = 16, "
          "N = 3, bits = 8, block_size = 16, accuracy_level = 0}"
          "(float32[2, 2, 16], uint8[3, 1, 4]{13, 90, 167, 244, 65, 142, 219, 40, 117, 194, 15, 92}, float32[3, 1]{0.02, 0.16, "
          "0.08}, uint8[3, 1]{13, 90, 167}) {K = 16, N = 3, bits = 2, block_size = 16, accuracy_level = 0}"
          "(float32[3, 70], uint8[5, 3, 16]{13, 90, ...}, float32[5, 3]{0.02, 0.16, 0.08, 0.22, 0.14, 0.06, 0.19999999, 0.12, 0.04, "
          "0.17999999, 0.099999994, 0.02, 0.16, 0.08, 0.22}, uint8[5, 2]{13, 90, 167, 244, 65, 142, 219, 40, 117, 194}) {K = 70, "
          "N = 5, bits = 4, block_size = 32, accuracy_level = 4}"
          "(float32[20, 20], uint8[5, 2, 8]{13, 90, ...}, float32[5, 2]{0.02, 0.16, 0.08, 0.22, 0.14, 0.06, 0.19999999, 0.12, 0.04, "
          "0.17999999}) {K = 20, N = 5, bits = 4, block_size = 16, accuracy_level = 0}"
          "(float32[2, 32], uint8[3, 2, 8]{13, 90, ...}, float32[3, 2]{0.02, 0.16, 0.08, 0.22, 0.14, 0.06}, uint8[3, 1]{13, 90, "
          "167}, int32[32]{0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1}, "
          "float32[3]) {K = 32, N = 3, bits = 4, block_size = 16, accuracy_level = 0}",
  };
}

}  // namespace svengine::ops
