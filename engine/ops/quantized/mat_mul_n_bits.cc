// com.microsoft's MatMulNBits: A times weights of 2, 4 or 8 bits, with a scale and perhaps a zero point for every block of a column. The
// weights are constant in every file; they become floats once, at load, and the node a MatMul.
#include <array>
#include <cstring>

#include "engine/graph/expand.h"
#include "engine/ops/element.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/quantized/integer_product_common.h"
#include "engine/ops/quantized/quantized_samples.h"

namespace svengine::ops {
namespace {

constexpr size_t kBits = 1, kBitScales = 2, kBitZeros = 3, kGroupIndex = 4, kBitBias = 5;

struct BitLayout {
  int64_t k, n, bits, block, blocks;
  int64_t row_bytes() const { return blocks * block * bits / 8; }
  int64_t zero_row_bytes() const { return (blocks * bits + 7) / 8; }
};

Result<BitLayout> bit_layout(const Attributes& a) {
  BitLayout l{a.get_int("K"), a.get_int("N"), a.get_int("bits", 4), a.get_int("block_size"), 0};
  constexpr int64_t kMost = int64_t{1} << 31;
  if (l.k < 1 || l.n < 1 || l.k > kMost || l.n > kMost) return error("K is {} and N {}, both need 1 or more", l.k, l.n);
  if (l.bits != 2 && l.bits != 4 && l.bits != 8) return error("bits is {}, needs 2, 4 or 8", l.bits);
  if (l.block < 16 || l.block > kMost || (l.block & (l.block - 1)) != 0)
    return error("block_size is {}, needs a power of two from 16 on", l.block);
  l.blocks = (l.k + l.block - 1) / l.block;
  return l;
}

/// Number i of a row of packed ones, the first in the low bits.
int64_t bits_at(const std::byte* row, int64_t i, int64_t bits) {
  const int64_t per_byte = 8 / bits;
  return static_cast<int64_t>(row[i / per_byte]) >> (i % per_byte * bits) & ((1 << bits) - 1);
}

Status check_count(const Node& node, size_t input, int64_t wanted, const char* what) {
  const Value* v = node.input(input);
  if (!v || v->constant().count() == wanted) return {};
  return error("{} has {} elements, needs {}", what, v->constant().count(), wanted);
}

Status check_constants(const Node& node, const BitLayout& l) {
  for (size_t i : {kBits, kBitScales, kBitZeros, kGroupIndex})
    if ((i <= kBitScales && !node.input(i)) || (node.input(i) && !node.input(i)->is_constant()))
      return error("input {} of MatMulNBits needs to be a constant", i);
  if (node.input(kBits)->type.dtype != DType::u8) return error("B is of type {}, needs uint8", name_of(node.input(kBits)->type.dtype));
  SV_TRY(check_count(node, kBits, l.n * l.row_bytes(), "B"));
  SV_TRY(check_count(node, kBitScales, l.n * l.blocks, "scales"));
  SV_TRY(check_count(node, kGroupIndex, l.k, "g_idx"));
  const Value* zeros = node.input(kBitZeros);
  return check_count(node, kBitZeros, zeros && zeros->type.dtype != DType::u8 ? l.n * l.blocks : l.n * l.zero_row_bytes(), "zero_points");
}

/// Zero point of block `block` of column n.
double zero_of(const Value* zeros, const BitLayout& l, int64_t n, int64_t block) {
  if (!zeros) return static_cast<double>(int64_t{1} << (l.bits - 1));
  const std::byte* raw = zeros->constant().raw();
  if (zeros->type.dtype != DType::u8) return number_at(zeros->type.dtype, raw, n * l.blocks + block);
  return static_cast<double>(bits_at(raw + n * l.zero_row_bytes(), block, l.bits));
}

/// [K, N], of the type of the scales.
Result<Tensor> dequantized_weights(const Node& node, const BitLayout& l) {
  const DType type = node.input(kBitScales)->type.dtype;
  SV_ASSIGN(MutableTensor out, Tensor::allocate(type, {l.k, l.n}));
  SV_ASSIGN(const Tensor scales, node.input(kBitScales)->constant().aligned_copy());
  const std::vector<int64_t> groups = node.input(kGroupIndex) ? node.input(kGroupIndex)->constant().as_int64s() : std::vector<int64_t>();
  for (int64_t n = 0; n < l.n; ++n)
    for (int64_t k = 0; k < l.k; ++k) {
      const int64_t block = groups.empty() ? k / l.block : groups[static_cast<size_t>(k)];
      if (block < 0 || block >= l.blocks) return error("g_idx holds {}, there are {} blocks", block, l.blocks);
      const double level = static_cast<double>(bits_at(node.input(kBits)->constant().raw() + n * l.row_bytes(), k, l.bits));
      const float scale = static_cast<float>(number_at(type, scales.raw(), n * l.blocks + block));
      const float value = static_cast<float>(level - zero_of(node.input(kBitZeros), l, n, block)) * scale;
      if (type == DType::f32)
        out.data<float>()[static_cast<size_t>(k * l.n + n)] = value;
      else
        std::memcpy(out.raw() + (k * l.n + n) * 2, std::array{float_to_half(value)}.data(), 2);
    }
  return Tensor(out);
}

Status expand_mat_mul_n_bits(ExpandContext& c) {
  const Node& node = c.node();
  SV_ASSIGN(const BitLayout l, bit_layout(node.attributes));
  SV_TRY(check_constants(node, l));
  const DType type = node.input(kBitScales)->type.dtype;
  if (type != DType::f32 && type != DType::f16) return error("scales are of type {}, needs float32 or float16", name_of(type));
  SV_ASSIGN(Tensor weights, dequantized_weights(node, l));
  Value* y = c.op("MatMul", {c.input(0), c.builder().constant(std::move(weights), "weights")});
  c.set(0, c.has_input(kBitBias) ? c.op("Add", {y, c.input(kBitBias)}) : y);
  return {};
}

Status infer_mat_mul_n_bits(InferContext& c) {
  const Shape& a = c.shape(0);
  if (!a.has_rank()) return c.set(0, c.dtype(0), Shape()), Status{};
  SV_TRY(require_rank_at_least(c, 0, "A", 1));
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
      .inputs = {3, 6},
      .attributes = {{"K", AttributeKind::kInt, true},
                     {"N", AttributeKind::kInt, true},
                     {"bits", AttributeKind::kInt, false, int64_t{4}},
                     {"block_size", AttributeKind::kInt, true},
                     {"accuracy_level", AttributeKind::kInt, false, int64_t{0}},
                     {"weight_prepacked", AttributeKind::kInt, false, int64_t{0}}},
      .expand = expand_mat_mul_n_bits,
      .infer = infer_mat_mul_n_bits,
      .samples = {{.inputs = {f32({3, 40}), fixed(bytes<uint8_t>({5, 2, 16})),
                              fixed(Tensor::of<float>({10}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 1}))},
                   .attributes = {{"K", integer(40)}, {"N", integer(5)}, {"block_size", integer(32)}}},
                  {.inputs = {f32({2, 16}), fixed(bytes<uint8_t>({3, 1, 16})), fixed(Tensor::of<float>({3}, {1, 2, 3})),
                              fixed(bytes<uint8_t>({3}))},
                   .attributes = {{"K", integer(16)}, {"N", integer(3)}, {"bits", integer(8)}, {"block_size", integer(16)}}}},
  };
}

}  // namespace svengine::ops
