// com.microsoft's GatherBlockQuantized: Gather from a table that is quantised in blocks, as embeddings of language models are. Gather of
// numbers, scales and zero points, DequantizeLinear of what was gathered.
#include <limits>

#include "engine/graph/axes.h"
#include "engine/ops/microsoft/microsoft_common.h"

namespace svengine::ops {
namespace {

enum BlockInput : size_t { kTable, kRows, kBlockScales, kBlockZeros };
constexpr DTypeSet kTables = kFloat8Types | DTypeSet{DType::i4, DType::u4, DType::u8, DType::f4e2m1};

struct BlockTable {
  int64_t rank, gather, quantize, block, packed;  // packed: numbers to an element of the table
};

Result<BlockTable> block_table(const Attributes& a, const Type& data) {
  BlockTable t{data.shape.rank(), 0, 0, a.get_int("block_size", 128), 1};
  SV_ASSIGN(t.gather, normalise_axis(a.get_int("gather_axis", 0), t.rank));
  SV_ASSIGN(t.quantize, normalise_axis(a.get_int("quantize_axis", 1), t.rank));
  const bool floats = data.dtype != DType::i4 && data.dtype != DType::u4 && data.dtype != DType::u8;
  if (!(floats && t.block == 0) && (t.block < 16 || (t.block & (t.block - 1)) != 0))
    return error("block_size is {}, needs a power of two from 16 on", t.block);
  if (data.dtype != DType::u8) return t;
  const int64_t bits = a.get_int("bits", 4);
  if (bits != 2 && bits != 4 && bits != 8) return error("bits is {}, needs 2, 4 or 8", bits);
  t.packed = 8 / bits;
  if (t.gather != 0) return error("gather_axis is {}, must be 0 for uint8", t.gather);
  if (t.packed > 1 && t.gather == t.quantize) return error("gather_axis and quantize_axis are both {}, must differ where bits is {}", t.gather, bits);
  return t;
}

/// indices' dimensions in place of dimension `axis`.
Shape gathered_shape(const Shape& data, const Shape& rows, int64_t axis) {
  std::vector<Dim> dims(data.dims().begin(), data.dims().begin() + axis);
  dims.insert(dims.end(), rows.dims().begin(), rows.dims().end());
  dims.insert(dims.end(), data.dims().begin() + axis + 1, data.dims().end());
  return Shape(std::move(dims));
}

Status infer_gather_block(InferContext& c) {
  SV_TRY(require_dtype(c, kTable, kTables));
  SV_TRY(require_dtype(c, kRows, kIndexTypes));
  SV_TRY(require_dtype(c, kBlockScales, kSingleTypes));
  SV_TRY(require_dtype(c, kBlockZeros, {c.dtype(kTable)}));
  if (!c.shape(kTable).has_rank() || !c.shape(kRows).has_rank()) return c.set(0, c.dtype(kBlockScales), Shape()), Status{};
  SV_TRY(require_rank_at_least(c, kTable, 1));
  SV_ASSIGN(const BlockTable t, block_table(c.attributes(), c.type(kTable)));
  SV_TRY(require_rank(c, kBlockScales, t.rank));
  SV_TRY(require_rank(c, kBlockZeros, t.rank));
  std::vector<Dim> dims = c.shape(kTable).dims();
  dims.back() = multiply(dims.back(), Dim(t.packed));
  const Shape data(std::move(dims));
  const Dim along = data[static_cast<size_t>(t.quantize)],
            blocks = c.shape(kBlockScales).has_rank() ? c.shape(kBlockScales)[static_cast<size_t>(t.quantize)] : Dim();
  if (along.is_static() && blocks.is_static()) {
    const int64_t wanted = t.block == 0 ? 1 : (along.value() + t.block - 1) / t.block;
    if (blocks.value() != wanted) return error("scales has {} along axis {}, needs {} for blocks of {}", blocks.value(), t.quantize, wanted, t.block);
  }
  c.set(0, c.dtype(kBlockScales), gathered_shape(data, c.shape(kRows), t.gather));
  return {};
}

/// 1 where the index names a row, else 0; the index, 0 where it names none.
struct CheckedRows {
  Value *there, *rows;
};
CheckedRows checked_rows(ExpandContext& c, int64_t count) {
  Value* rows = c.input(kRows);
  const DType type = rows->type.dtype;
  const auto number = [&](int64_t n) {
    return type == DType::i64 ? c.builder().constant(Tensor::scalar(n)) : c.builder().constant(Tensor::scalar(static_cast<int32_t>(n)));
  };
  Value* there = c.op("And", {c.op("GreaterOrEqual", {rows, number(-count)}), c.op("Less", {rows, number(count)})});
  return {there, c.op("Where", {there, rows, number(0)})};
}

Status expand_gather_block(ExpandContext& c) {
  if (!c.shape(kTable).is_static() || !c.shape(kRows).has_rank() || !c.shape(kBlockScales).is_static()) return {};
  if (c.has_input(kBlockZeros) && !c.shape(kBlockZeros).is_static()) return {};
  SV_ASSIGN(const BlockTable t, block_table(c.attributes(), c.input(kTable)->type));
  const auto at = [](const Shape& s, int64_t axis) { return s[static_cast<size_t>(axis)].value(); };
  const int64_t count = at(c.shape(kTable), t.gather), added = c.shape(kRows).rank() - 1;
  if (count == 0) return error("data {} has nothing to gather from", to_string(c.shape(kTable)));
  const CheckedRows checked = checked_rows(c, count);
  // What has one block along the gathered axis is the same for every row of that block.
  const bool by_block = t.gather == t.quantize;
  Value* block_rows = checked.rows;
  if (by_block) {
    Value* rows = c.cast(checked.rows, DType::i64);
    rows =
        c.op("Where", {c.op("Less", {rows, c.number(0, DType::i64)}), c.op("Add", {rows, c.number(static_cast<double>(count), DType::i64)}), rows});
    block_rows =
        t.block == 0 ? c.op("Mul", {rows, c.number(0, DType::i64)}) : c.op("Div", {rows, c.number(static_cast<double>(t.block), DType::i64)});
  }
  const Attributes axis = make_attributes({{"axis", t.gather}});
  const auto gathered = [&](Value* table, bool blocks) -> Value* {
    if (!table) return nullptr;
    const int64_t size = at(table->type.shape, t.gather);
    if (!by_block && blocks && size == 1 && count != 1) {  // one for all rows
      Value* zeros = c.op("Mul", {c.cast(checked.rows, DType::i64), c.number(0, DType::i64)});
      return c.op("Gather", {table, zeros}, axis);
    }
    return c.op("Gather", {table, blocks ? block_rows : checked.rows}, axis);
  };
  const int64_t all = std::numeric_limits<int64_t>::max(), last = at(c.shape(kBlockScales), t.rank - 1);
  Value* data = unpacked_bytes(c, gathered(c.input(kTable), false), t.packed, all);
  Value* scales = gathered(c.input(kBlockScales), true);
  Value* zeros = unpacked_bytes(c, gathered(c.input(kBlockZeros), true), t.packed, last);
  const DType table_type = c.dtype(kTable), type = c.dtype(kBlockScales);
  if (!data || !scales) return {};
  if (!zeros && table_type == DType::u8) zeros = c.builder().constant(Tensor::scalar(static_cast<uint8_t>(1 << (8 / t.packed - 1))));
  const int64_t place = t.quantize + (t.quantize > t.gather ? added : 0);
  Value* wide = c.cast(data, DType::f32);
  const auto per_element = [&](Value* v) {  // a block's number for each of its elements; other dimensions broadcast
    v = c.cast(v, DType::f32);
    if (!v || by_block || v->type.shape.rank() == 0) return v;
    const int64_t along = at(data->type.shape, place), blocks = at(v->type.shape, place);
    if (blocks == 1) return v;
    std::vector<int64_t> index;
    for (int64_t i = 0; i < along; ++i) index.push_back(i / t.block);
    return c.op("Gather", {v, c.ints(std::move(index))}, make_attributes({{"axis", place}}));
  };
  if (zeros) wide = c.op("Sub", {wide, per_element(zeros)});
  Value* y = c.cast(c.op("Mul", {wide, per_element(scales)}), type);
  std::vector<int64_t> behind;
  for (int64_t i = 0; i < t.rank - 1 - t.gather; ++i) behind.push_back(-1 - i);
  Value* there = behind.empty() ? checked.there : c.unsqueeze(checked.there, behind);
  c.set(0, c.op("Where", {there, y, c.number(0, type)}));
  return {};
}

}  // namespace

OpDef define_gather_block_quantized() {
  return {
      .name = "GatherBlockQuantized",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "data, indices, scales, zero_points?",
      .attributes = {{"bits", AttributeKind::kInt, false, 4},
                     {"block_size", AttributeKind::kInt, false, 128},
                     {"gather_axis", AttributeKind::kInt, false, 0},
                     {"quantize_axis", AttributeKind::kInt, false, 1}},
      .expand = expand_gather_block,
      .infer = infer_gather_block,
      .samples = "(uint8[4, 20] 0 to 256, int64[2, 2]{0, 3, -1, 2}, float32[4, 3], uint8[4, 2] 0 to 256) {block_size = 16}"
                 "(int4[4, 32] -8 to 8, int64[2, 2]{0, 3, -1, 2}, float32[4, 2], int4[4, 2] -8 to 8) {block_size = 16}"
                 "(uint8[4, 3, 16] 0 to 256, int32[1]{9}, float32[4, 3, 1]) {block_size = 16, bits = 8, quantize_axis = -1}",
  };
}

}  // namespace svengine::ops
