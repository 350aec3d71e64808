// com.microsoft's MatMulBnb4: A times weights of four bits in one of bitsandbytes' two formats, FP4 and NF4, with a scale for every block.
// The weights are constant in every file; they become floats once, at load, and the node a MatMul.
#include <array>
#include <cstring>

#include "engine/base/narrow_float.h"
#include "engine/ops/element.h"
#include "engine/ops/microsoft/microsoft_common.h"

namespace svengine::ops {
namespace {

/// What a number of four bits stands for, times the block's largest magnitude. FP4 has a sign, two bits of exponent and one of mantissa, scaled
/// to a largest one of 1; NF4 the quantiles of a normal distribution (Dettmers et al. 2023, "QLoRA", appendix E).
constexpr std::array<float, 16> kFp4{0.0f,  5.208333333e-03f,  0.66666667f,  1.0f,  0.33333333f,  0.5f,  0.16666667f,  0.25f,
                                     -0.0f, -5.208333333e-03f, -0.66666667f, -1.0f, -0.33333333f, -0.5f, -0.16666667f, -0.25f};
constexpr std::array<float, 16> kNf4{-1.0f,
                                     -0.6961928009986877f,
                                     -0.5250730514526367f,
                                     -0.39491748809814453f,
                                     -0.28444138169288635f,
                                     -0.18477343022823334f,
                                     -0.09105003625154495f,
                                     0.0f,
                                     0.07958029955625534f,
                                     0.16093020141124725f,
                                     0.24611230194568634f,
                                     0.33791524171829224f,
                                     0.44070982933044434f,
                                     0.5626170039176941f,
                                     0.7229568362236023f,
                                     1.0f};

struct Bnb4Layout {
  int64_t k, n, block, kind;
  int64_t count() const { return k * n; }
};

Result<Bnb4Layout> bnb4_layout(const Attributes& a) {
  Bnb4Layout l{a.get_int("K"), a.get_int("N"), a.get_int("block_size"), a.get_int("quant_type")};
  constexpr int64_t kMost = int64_t{1} << 31;
  if (l.k < 1 || l.n < 1 || l.k > kMost || l.n > kMost) return error("K is {} and N {}, both need 1 or more", l.k, l.n);
  if (l.block < 16 || l.block > kMost || (l.block & (l.block - 1)) != 0)
    return error("block_size is {}, needs a power of two from 16 on", l.block);
  if (l.kind != 0 && l.kind != 1) return error("quant_type is {}, must be 0 (FP4) or 1 (NF4)", l.kind);
  return l;
}

/// [N, K], of the type of absmax. Two to a byte, the first in the high bits; blocks run over rows' ends.
Result<Tensor> bnb4_weights(const Node& node, const Bnb4Layout& l) {
  const DType type = node.input(2)->type.dtype;
  const std::array<float, 16>& levels = l.kind == 0 ? kFp4 : kNf4;
  const std::byte* packed = node.input(1)->constant().raw();
  SV_ASSIGN(const Tensor largest, node.input(2)->constant().aligned_copy());
  SV_ASSIGN(MutableTensor out, Tensor::allocate(type, {l.n, l.k}));
  for (int64_t i = 0; i < l.count(); ++i) {
    const auto bits = static_cast<unsigned>(packed[i / 2]) >> (i % 2 == 0 ? 4 : 0) & 15u;
    const float value = levels[bits] * static_cast<float>(number_at(type, largest.raw(), i / l.block));
    if (type == DType::f32) {
      out.data<float>()[static_cast<size_t>(i)] = value;
    } else {
      const uint16_t narrow = type == DType::f16 ? float_to_half(value) : float_to_bfloat(value);
      std::memcpy(out.raw() + i * 2, &narrow, sizeof narrow);
    }
  }
  return Tensor(out);
}

Status infer_mat_mul_bnb4(InferContext& c) {
  SV_ASSIGN(const Bnb4Layout l, bnb4_layout(c.attributes()));
  SV_TRY(require_dtype(c, 0, kSingleTypes));
  SV_TRY(require_dtype(c, 1, {DType::u8}));
  SV_TRY(require_dtype(c, 2, {c.dtype(0)}));
  const Shape& a = c.shape(0);
  if (!a.has_rank()) return c.set(0, c.dtype(0), Shape()), Status{};
  SV_TRY(require_rank_at_least(c, 0, 1));
  const bool transposed = c.attributes().get_int("transB", 1) != 0;
  const int64_t inner = transposed ? l.k : l.n;
  if (known_different(a.back(), Dim(inner))) return error("A {} needs a last dimension of {}", to_string(a), inner);
  std::vector<Dim> out = a.dims();
  out.back() = Dim(transposed ? l.n : l.k);
  c.set(0, c.dtype(0), Shape(std::move(out)));
  return {};
}

Status expand_mat_mul_bnb4(ExpandContext& c) {
  const Node& node = c.node();
  SV_ASSIGN(const Bnb4Layout l, bnb4_layout(node.attributes));
  for (const size_t i : {1, 2})
    if (!node.input(i)->is_constant()) return needs_constant("input {} needs to be a constant", i);
  const int64_t blocks = (l.count() + l.block - 1) / l.block;
  if (node.input(1)->constant().count() != (l.count() + 1) / 2)
    return error("B has {} elements, needs {}", node.input(1)->constant().count(), (l.count() + 1) / 2);
  if (node.input(2)->constant().count() != blocks) return error("absmax has {} elements, needs {}", node.input(2)->constant().count(), blocks);
  SV_ASSIGN(Tensor weights, bnb4_weights(node, l));
  Value* b = c.builder().constant(std::move(weights), "weights");
  if (node.attributes.get_int("transB", 1) != 0) b = c.transpose(b, {1, 0});
  c.set(0, c.op("MatMul", {c.input(0), b}));
  return {};
}

}  // namespace

OpDef define_mat_mul_bnb4() {
  return {
      .name = "MatMulBnb4",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "A, B, absmax",
      .attributes = {{"K", AttributeKind::kInt, true},
                     {"N", AttributeKind::kInt, true},
                     {"block_size", AttributeKind::kInt, true},
                     {"quant_type", AttributeKind::kInt, true},
                     {"training_mode", AttributeKind::kInt, false, 0},
                     {"transB", AttributeKind::kInt, false, 1}},
      .expand = expand_mat_mul_bnb4,
      .infer = infer_mat_mul_bnb4,
      .samples = "(float32[2, 3, 11], uint8[28]{13, 90, ...}, float32[4]{1.0, 2.0, 3.0, 4.0}) {K = 11, N = 5, block_size = 16, "
                 "quant_type = 1}"
                 "(float32[1, 2], uint8[3]{13, 90, 167}, float32[1]{0.5}) {K = 3, N = 2, block_size = 16, quant_type = 0, transB = 0}",
  };
}

}  // namespace svengine::ops
