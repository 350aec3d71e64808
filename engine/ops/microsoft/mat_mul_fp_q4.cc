// com.microsoft.MatMulFpQ4: A times a matrix of four-bit numbers in the layout that ONNX Runtime's quantiser wrote before MatMulNBits, which it
// becomes. B is a row of bytes: the matrix's columns one after another, of each the blocks of its rows, the last one padded:
//
//   scale (float32) | zero point (a byte, only in kind 1; else it is 8) | numbers, of every 32 the first 16 in the low halves of 16 bytes and
//                                                                          the others in the high ones
#include <cstring>

#include "engine/ops/microsoft/microsoft_common.h"

namespace svengine::ops {
namespace {

/// What attribute blk_quant_type says; the matrix is [k, n].
struct FpQ4Layout {
  int64_t block = 32;
  bool has_zero = false;
  int64_t k = 0, n = 0;

  int64_t blocks() const { return (k + block - 1) / block; }
  int64_t block_bytes() const { return static_cast<int64_t>(sizeof(float)) + (has_zero ? 1 : 0) + block / 2; }
  int64_t bytes() const { return n * blocks() * block_bytes(); }
};

Result<FpQ4Layout> fp_q4_layout(const Attributes& attributes, const Tensor& shape) {
  constexpr int64_t kMost = int64_t{1} << 24;
  const int64_t kind = attributes.get_int("blk_quant_type", 1);
  if (kind < 0 || kind > 2) return error("blk_quant_type is {}, must be 0, 1 or 2", kind);
  if (shape.count() != 2) return error("B_shape has {} elements, needs 2", shape.count());
  const auto size = shape.data<int64_t>();
  if (size[0] < 1 || size[1] < 1 || size[0] > kMost || size[1] > kMost)
    return error("B_shape is [{}, {}], both need 1 to {}", size[0], size[1], kMost);
  return FpQ4Layout{kind == 2 ? 64 : 32, kind == 1, size[0], size[1]};
}

Status infer_mat_mul_fp_q4(InferContext& c) {
  SV_TRY(require_rank(c, 1, 1));
  SV_TRY(require_rank(c, 2, 1));
  SV_TRY(require_rank_at_least(c, 0, 1));
  const Shape& a = c.shape(0);
  Dim columns;
  if (const Tensor* shape = c.constant(2)) {
    SV_ASSIGN(const FpQ4Layout l, fp_q4_layout(c.attributes(), *shape));
    columns = Dim(l.n);
    if (a.has_rank() && known_different(a.back(), Dim(l.k))) return error("A {} needs a last dimension of {}", to_string(a), l.k);
    if (c.shape(1).has_rank() && known_different(c.shape(1)[0], Dim(l.bytes())))
      return error("B has {} bytes, needs {}", c.shape(1)[0].value(), l.bytes());
  }
  if (!a.has_rank()) return c.set(0, DType::f32, Shape()), Status{};
  std::vector<Dim> dims = a.dims();
  dims.back() = columns;
  c.set(0, DType::f32, Shape(std::move(dims)));
  return {};
}

/// MatMulNBits' inputs B [n, blocks, block / 2], scales [n, blocks] and zero points, of which two are in a byte, [n, (blocks + 1) / 2].
struct NBitsInputs {
  std::vector<uint8_t> numbers, zeros;
  std::vector<float> scales;
};

NBitsInputs unpacked(const FpQ4Layout& l, const std::byte* from) {
  const int64_t blocks = l.blocks(), zero_bytes = (blocks + 1) / 2;
  NBitsInputs out;
  out.zeros.resize(static_cast<size_t>(l.n * zero_bytes));
  for (int64_t b = 0; b < l.n * blocks; ++b) {
    float scale;
    std::memcpy(&scale, from, sizeof scale);
    out.scales.push_back(scale);
    const std::byte* at = from + sizeof scale;
    const unsigned zero = l.has_zero ? static_cast<unsigned>(*at++) & 15u : 8u;
    const int64_t block = b % blocks;
    out.zeros[static_cast<size_t>(b / blocks * zero_bytes + block / 2)] |= static_cast<uint8_t>(block % 2 == 0 ? zero : zero << 4);
    for (int64_t i = 0; i < l.block; i += 2) {
      const std::byte* group = at + i / 32 * 16;
      const auto half = [&](int64_t j) { return static_cast<unsigned>(group[j % 16]) >> (j % 32 < 16 ? 0 : 4) & 15u; };
      out.numbers.push_back(static_cast<uint8_t>(half(i) | half(i + 1) << 4));
    }
    from += l.block_bytes();
  }
  return out;
}

Status expand_mat_mul_fp_q4(ExpandContext& c) {
  for (const size_t i : {size_t{1}, size_t{2}})
    if (!c.input(i)->is_constant()) return needs_constant("input {} needs to be a constant", i);
  SV_ASSIGN(const FpQ4Layout l, fp_q4_layout(c.attributes(), c.input(2)->constant()));
  if (c.input(1)->constant().count() != l.bytes()) return error("B has {} bytes, needs {}", c.input(1)->constant().count(), l.bytes());
  const NBitsInputs of = unpacked(l, c.input(1)->constant().raw());
  Value* numbers = c.builder().constant(Tensor::of<uint8_t>({l.n, l.blocks(), l.block / 2}, std::span<const uint8_t>(of.numbers)), "weights");
  Value* scales = c.builder().constant(Tensor::of<float>({l.n, l.blocks()}, std::span<const float>(of.scales)), "scales");
  Value* zeros = c.builder().constant(Tensor::of<uint8_t>({l.n, (l.blocks() + 1) / 2}, std::span<const uint8_t>(of.zeros)), "zeros");
  const Node* product = c.builder().node(kMicrosoftDomain, "MatMulNBits", {c.input(0), numbers, scales, zeros}, 1,
                                         make_attributes({{"K", l.k}, {"N", l.n}, {"bits", int64_t{4}}, {"block_size", l.block}}));
  if (product) c.set(0, product->output());
  return {};
}

}  // namespace

OpDef define_microsoft_mat_mul_fp_q4() {
  return {
      .name = "MatMulFpQ4",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "A, B, B_shape",
      .attributes = {{"blk_quant_type", AttributeKind::kInt, false, 1}},
      .expand = expand_mat_mul_fp_q4,
      .infer = infer_mat_mul_fp_q4,
      .types = {{"T1", {DType::f32}, {0}}, {"T2", {DType::u8}, {1}}, {"T3", {DType::i64}, {2}}},
      .traits = {.shape_inputs = {2}},
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[2, 3, 5], uint8[42]{0, 0, 0, 63, 7, 121, 66, 189, 242, 33, 6, 240, 132, 119, 98, 240, 243, 203, 77, 118, 77, 0, 0, "
                 "128, 62, 12, 199, 7, 32, 81, 21, 154, 15, 137, 242, 198, 218, 202, 227, 68, 187, 49}, int64[2]{5, 2})"
                 "(float32[1, 33], uint8[40]{0, 0, 0, 63, 18, 69, 253, 111, 132, 223, 154, 215, 197, 179, 208, 118, 172, 14, 143, 83, 0, 0, 128, "
                 "62, 167, 53, 108, 136, 145, 63, 32, 246, 247, 45, 176, 34, 210, 77, 10, 150}, int64[2]{33, 1}) {blk_quant_type = 0}"
                 "(float32[2, 33], uint8[36]{0, 0, 128, 62, 237, 191, 136, 70, 95, 3, 173, 237, 41, 171, 20, 194, 86, 231, 216, 80, "
                 "86, 121, 26, 56, 67, 32, 196, 52, 149, 104, 114, 215, 44, 136, 107, 203}, int64[2]{33, 1}) {blk_quant_type = 2}",
  };
}

}  // namespace svengine::ops
