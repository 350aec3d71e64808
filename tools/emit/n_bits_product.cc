// Products by weights of a few bits: a column of them at a time becomes floats, which all rows are multiplied by.
#include "engine/ops/quantized/n_bits_common.h"
#include "tools/emit/table.h"

namespace svengine::tool::emit {
namespace {

/// Zero point of block b of column c.
std::string zero_point(NodeContext& c, const ops::BitLayout& l) {
  if (!c.has_input(ops::kBitZeros)) return fmt::format("{}", int64_t{1} << (l.bits - 1));
  const std::string zeros = c.in(ops::kBitZeros);
  if (c.in_type(ops::kBitZeros) != DType::u8) return fmt::format("{}[c * {} + b]", zeros, l.blocks);
  const int64_t per_byte = 8 / l.bits;
  return fmt::format("{}[c * {} + b / {}] >> b % {} * {} & {}", zeros, l.zero_row_bytes(), per_byte, per_byte, l.bits, (1 << l.bits) - 1);
}

}  // namespace

Status emit_n_bits_product(NodeContext& c) {
  SV_ASSIGN(const ops::BitLayout l, ops::bit_layout(c.attributes()));
  constexpr size_t kBias = 4;
  const int64_t rows = c.in_count(0) / l.k, per_byte = 8 / l.bits;
  const std::string x = c.in(0), levels = c.in(ops::kBits), scales = c.in(ops::kBitScales), y = c.out();
  const std::string weights = c.temporary(DType::f32, l.k), zero = zero_point(c, l);
  const std::string bias = c.has_input(kBias) ? c.element(kBias, "c") + " + " : "";
  Code& code = c.code();
  code.loop("c", l.n);
  code.line("const uint8_t *column = {} + c * {};", levels, l.row_bytes());
  code.loop("b", l.blocks);
  code.line("const float zero = (float)({}), scale = {}[c * {} + b];", zero, scales, l.blocks);
  code.line("const ptrdiff_t end = {0} - b * {1} < {1} ? {0} : (b + 1) * {1};", l.k, l.block);
  code.open("for (ptrdiff_t d = b * {}; d < end; ++d)", l.block);
  code.line("{}[d] = ((float)(column[d / {}] >> d % {} * {} & {}) - zero) * scale;", weights, per_byte, per_byte, l.bits, (1 << l.bits) - 1);
  code.close(2);
  code.loop("r", rows);
  code.line("{}[r * {} + c] = {}{}({} + r * {}, {}, {});", y, l.n, bias, c.helper("dot", DType::f32), x, l.k, weights, l.k);
  code.close(2);
  c.count_multiply_adds(rows * l.k * l.n);
  return {};
}

}  // namespace svengine::tool::emit
