#include "engine/ops/quantized/n_bits_common.h"

#include <array>
#include <cstring>

#include "engine/ops/element.h"

namespace svengine::ops {
namespace {

/// Zero point of block `block` of column n.
double zero_of(const Value* zeros, const BitLayout& l, int64_t n, int64_t block) {
  if (!zeros) return static_cast<double>(int64_t{1} << (l.bits - 1));
  const std::byte* raw = zeros->constant().raw();
  if (zeros->type.dtype != DType::u8) return number_at(zeros->type.dtype, raw, n * l.blocks + block);
  return static_cast<double>(bits_at(raw + n * l.zero_row_bytes(), block, l.bits));
}

/// factors[panel][block][lane] of panels [begin, end) from number(column, block).
template <class T, class Number>
void fill_factors(const BitLayout& l, std::byte* packed, int64_t begin, int64_t end, const Number& number) {
  T* to = reinterpret_cast<T*>(packed) + begin * l.blocks * kernels::kNBitsColumns;
  for (int64_t panel = begin; panel < end; ++panel)
    for (int64_t block = 0; block < l.blocks; ++block)
      for (int64_t lane = 0; lane < kernels::kNBitsColumns; ++lane) {
        const int64_t column = panel * kernels::kNBitsColumns + lane;
        *to++ = column < l.n ? number(column, block) : T{};
      }
}

Buffer pack_floats(LowerContext& c, const BitLayout& l, size_t input) {
  Packing packing{.layout = fmt::format("n_bits factors {} {} {}", l.k, l.n, l.block),
                  .bytes = kernels::n_bits_factors(l.k, l.n, l.block) * 4,
                  .tasks = kernels::n_bits_panels(l.n)};
  packing.fill = [l](const std::byte* from, std::byte* to, int64_t begin, int64_t end) {
    const float* source = reinterpret_cast<const float*>(from);
    fill_factors<float>(l, to, begin, end, [&](int64_t column, int64_t block) { return source[column * l.blocks + block]; });
  };
  return c.packed(input, std::move(packing));
}

Buffer pack_zeros(LowerContext& c, const BitLayout& l) {
  Packing packing{.layout = fmt::format("n_bits zeros {} {} {} {}", l.bits, l.k, l.n, l.block),
                  .bytes = kernels::n_bits_factors(l.k, l.n, l.block),
                  .tasks = kernels::n_bits_panels(l.n)};
  packing.fill = [l](const std::byte* from, std::byte* to, int64_t begin, int64_t end) {
    fill_factors<uint8_t>(l, to, begin, end, [&](int64_t column, int64_t block) {
      return static_cast<uint8_t>(bits_at(from + column * l.zero_row_bytes(), block, l.bits));
    });
  };
  return c.packed(kBitZeros, std::move(packing));
}

}  // namespace

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

Result<Tensor> dequantized_weights(const Node& node, const BitLayout& l, const std::vector<int64_t>& groups) {
  const DType type = node.input(kBitScales)->type.dtype;
  SV_ASSIGN(MutableTensor out, Tensor::allocate(type, {l.k, l.n}));
  SV_ASSIGN(const Tensor scales, node.input(kBitScales)->constant().aligned_copy());
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

PackedBits pack_bits(LowerContext& c, const BitLayout& l) {
  PackedBits packed;
  packed.shape.k = l.k, packed.shape.n = l.n, packed.shape.bits = l.bits, packed.shape.block = l.block;
  Packing packing{.layout = fmt::format("n_bits levels {} {} {} {}", l.bits, l.k, l.n, l.block),
                  .bytes = kernels::n_bits_level_bytes(l.k, l.n, l.bits),
                  .tasks = kernels::n_bits_panels(l.n)};
  packing.fill = [shape = packed.shape](const std::byte* from, std::byte* to, int64_t begin, int64_t end) {
    kernels::pack_n_bits(shape, reinterpret_cast<const uint8_t*>(from), reinterpret_cast<uint32_t*>(to), begin, end);
  };
  packed.levels = c.packed(kBits, std::move(packing));
  packed.scales = pack_floats(c, l, kBitScales);
  if (!c.has_input(kBitZeros)) return packed;
  if (c.in_type(kBitZeros).dtype == DType::u8) packed.zeros = pack_zeros(c, l);
  else packed.float_zeros = pack_floats(c, l, kBitZeros);
  return packed;
}

kernels::NBitsMatrix PackedBits::at(const Run& run) const {
  kernels::NBitsMatrix b = shape;
  b.levels = run.get<const uint32_t>(levels);
  b.scales = run.get<const float>(scales);
  b.zeros = run.get<const uint8_t>(zeros);
  b.float_zeros = run.get<const float>(float_zeros);
  return b;
}

}  // namespace svengine::ops
