// com.microsoft.SparseAttention: GroupQueryAttention in which each block of queries sees some blocks of keys alone. Which, is given for a few
// layouts, which heads take in turn, as compressed sparse rows:
//
//     block_row_indices [0, 1, 3]   block_col_indices [0, 0, 1]      queries of block 0 see keys of block 0, those of block 1 keys of 0 and 1
#include <limits>

#include "engine/ops/microsoft/microsoft_common.h"

namespace svengine::ops {
namespace {

enum SparseInput : size_t { kSpQuery, kSpKey, kSpValue, kSpPastKey, kSpPastValue, kSpRows, kSpColumns, kSpTotal, kSpLengths, kSpCos, kSpSin };

Status check_sparse_inputs(const InferContext& c) {
  const int64_t heads = c.attributes().get_int("num_heads", 0), kv_heads = c.attributes().get_int("kv_num_heads", 0);
  const int64_t block = c.attributes().get_int("sparse_block_size", 0);
  if (heads < 1 || kv_heads < 1 || heads > INT32_MAX || heads % kv_heads != 0)
    return error("num_heads {} must be a multiple of kv_num_heads {}, both at least 1", heads, kv_heads);
  if (block < 1) return error("sparse_block_size is {}, must be at least 1", block);
  if (c.has_input(kSpKey) != c.has_input(kSpValue)) return error("key and value must be given together, or query holds all three");
  if (c.attributes().get_int("do_rotary", 0) != 0 && (!c.has_input(kSpCos) || !c.has_input(kSpSin)))
    return error("do_rotary needs cos_cache and sin_cache");
  SV_TRY(require_rank(c, kSpQuery, 3));
  SV_TRY(require_rank(c, kSpPastKey, 4));
  SV_TRY(require_rank(c, kSpRows, 2));
  SV_TRY(require_rank(c, kSpColumns, 2));
  SV_TRY(require_rank(c, kSpLengths, 1));
  SV_TRY(require_single(c, kSpTotal));
  const Shape &rows = c.shape(kSpRows), &columns = c.shape(kSpColumns);
  const Dim layouts = rows.has_rank() ? rows[0] : Dim();
  if (columns.has_rank() && known_different(columns[0], layouts))
    return error("block_row_indices {} and block_col_indices {} need a row for each layout", to_string(rows), to_string(columns));
  if (layouts.is_static() && (layouts.value() < 1 || heads % layouts.value() != 0))
    return error("{} heads cannot take turns in {} layouts", heads, layouts.value());
  if (rows.has_rank() && rows[1].is_static() && rows[1].value() < 2)
    return error("block_row_indices is {}, needs one block at least", to_string(rows));
  return {};
}

Status check_sparse_angles(const InferContext& c, const Dim& size) {
  if (c.attributes().get_int("do_rotary", 0) == 0) return {};
  for (const size_t i : {kSpCos, kSpSin}) SV_TRY(require_rank(c, i, 2));
  SV_TRY(require_same_shape(c, kSpCos, kSpSin));
  for (const size_t i : {kSpCos, kSpSin})
    if (size.is_static() && c.shape(i).has_rank() && known_different(c.shape(i)[1], Dim(size.value() / 2)))
      return error("{} is {}, needs {} columns, half of a head", i == kSpCos ? "cos_cache" : "sin_cache", to_string(c.shape(i)), size.value() / 2);
  return {};
}

Status infer_sparse_attention(InferContext& c) {
  SV_TRY(check_sparse_inputs(c));
  const int64_t heads = c.attributes().get_int("num_heads", 1), kv_heads = c.attributes().get_int("kv_num_heads", 1);
  const Shape query = c.shape(kSpQuery).has_rank() ? c.shape(kSpQuery) : unknown_dims(3);
  const Shape past = c.shape(kSpPastKey).has_rank() ? c.shape(kSpPastKey) : unknown_dims(4);
  const int64_t parts = c.has_input(kSpKey) ? heads : heads + 2 * kv_heads;
  if (query[2].is_static() && query[2].value() % parts != 0) return error("query {} cannot be cut into {} heads", to_string(query), parts);
  const Dim size = query[2].is_static() ? Dim(query[2].value() / parts) : past[3];
  if (known_different(size, past[3]) || known_different(past[1], Dim(kv_heads)) || known_different(past[0], query[0]))
    return error("past_key is {}, needs {}", to_string(past), to_string(Shape{query[0], Dim(kv_heads), past[2], size}));
  SV_TRY(check_sparse_angles(c, size));
  const auto total = c.integers(kSpTotal);
  if (total && past[2].is_static() && (*total)[0] > past[2].value())
    return error("total_sequence_length is {}, but past_key {} has room for {}", (*total)[0], to_string(past), past[2].value());
  const auto& blocks = c.shape(kSpRows);
  // The last key's block; a product could overflow.
  if (total && blocks.has_rank() && blocks[1].is_static() &&
      ((*total)[0] - 1) / c.attributes().get_int("sparse_block_size", 1) >= blocks[1].value() - 1)
    return error("total_sequence_length is {}, beyond the blocks of block_row_indices {}", (*total)[0], to_string(blocks));
  c.set(0, c.dtype(0), Shape{query[0], query[1], multiply(Dim(heads), size)});
  for (size_t i = 1; i < 3; ++i) c.set(i, c.dtype(0), Shape{past[0], past[1], past[2], size});
  return {};
}

Value* counted(ExpandContext& c, int64_t n) { return c.up_to(c.number(static_cast<double>(n), DType::i64)); }

/// bool [layouts, blocks, blocks]: which blocks of keys a block of queries sees.
Value* seen_blocks(ExpandContext& c, int64_t blocks, int64_t entries) {
  Value* rows = c.cast(c.input(kSpRows), DType::i64);
  const auto bounds = [&](int64_t begin, int64_t end) { return c.unsqueeze(c.slice(rows, 1, begin, end), {2}); };
  Value* entry = counted(c, entries);
  Value* of_row = c.op("And", {c.op("GreaterOrEqual", {entry, bounds(0, blocks)}), c.op("Less", {entry, bounds(1, blocks + 1)})});
  Value* of_column = c.op("Equal", {c.unsqueeze(c.cast(c.input(kSpColumns), DType::i64), {2}), counted(c, blocks)});
  Value* found = c.op("MatMul", {c.cast(of_row, DType::f32), c.cast(of_column, DType::f32)});
  return c.op("Greater", {found, c.number(0, DType::f32)});
}

/// [batch, heads, queries, keys]: 0 or minus infinity.
Value* sparse_bias(ExpandContext& c, int64_t total) {
  const int64_t queries = *c.dim(kSpQuery, 1), batch = *c.dim(kSpQuery, 0), layouts = *c.dim(kSpRows, 0),
                heads = c.attributes().get_int("num_heads", 1);
  Value* block = c.number(static_cast<double>(c.attributes().get_int("sparse_block_size", 1)), DType::i64);
  Value* seen = seen_blocks(c, *c.dim(kSpRows, 1) - 1, *c.dim(kSpColumns, 1));
  Value* place = c.op("Expand", {counted(c, queries), c.ints({batch, queries})});
  if (total > queries) {  // a first prompt's queries begin at 0, whatever its length
    Value* old = c.op("Sub", {c.cast(c.input(kSpLengths), DType::i64), c.number(static_cast<double>(queries), DType::i64)});
    place = c.op("Add", {place, c.unsqueeze(old, {1})});
  }
  const Attributes rows = make_attributes({{"axis", int64_t{1}}}), columns = make_attributes({{"axis", int64_t{3}}});
  seen = c.op("Gather", {seen, c.op("Div", {place, block})}, rows);                // [layouts, batch, queries, blocks]
  seen = c.op("Gather", {seen, c.op("Div", {counted(c, total), block})}, columns);  // [layouts, batch, queries, keys]
  seen = c.unsqueeze(c.transpose(seen, {1, 0, 2, 3}), {1});
  seen = c.reshape(c.op("Expand", {seen, c.ints({batch, heads / layouts, layouts, queries, total})}), {batch, heads, queries, total});
  return c.op("Where", {seen, c.number(0, c.dtype(0)), c.number(-std::numeric_limits<double>::infinity(), c.dtype(0))});
}

Status expand_sparse_attention(ExpandContext& c) {
  for (const Value* v : c.node().inputs())
    if (v && !v->type.shape.is_static()) return {};
  const Value* given = c.input(kSpTotal);
  if (!given->is_constant()) return {};
  const int64_t total = given->constant().as_int64s()[0];
  Value* last = c.op("Sub", {c.input(kSpLengths), c.number(1, DType::i32)});
  std::vector<Value*> inputs{c.input(kSpQuery), c.input(kSpKey), c.input(kSpValue), c.input(kSpPastKey), c.input(kSpPastValue), last,
                             c.input(kSpTotal), c.has_input(kSpCos) ? c.input(kSpCos) : nullptr, c.has_input(kSpSin) ? c.input(kSpSin) : nullptr,
                             nullptr, sparse_bias(c, total)};
  Attributes attributes = make_attributes({{"num_heads", c.attributes().get_int("num_heads", 1)},
                                           {"kv_num_heads", c.attributes().get_int("kv_num_heads", 1)},
                                           {"do_rotary", c.attributes().get_int("do_rotary", 0)},
                                           {"rotary_interleaved", c.attributes().get_int("rotary_interleaved", 0)}});
  if (c.attributes().has("scale")) attributes.set("scale", c.attributes().get_float("scale", 0));
  if (!c.builder().status().ok()) return {};
  const Node* node = c.builder().node(kMicrosoftDomain, "GroupQueryAttention", std::move(inputs), 3, std::move(attributes));
  for (size_t i = 0; node && i < 3; ++i) c.set(i, node->output(i));
  return {};
}

}  // namespace

OpDef define_microsoft_sparse_attention() {
  return {
      .name = "SparseAttention",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "query, key?, value?, past_key, past_value, block_row_indices, block_col_indices, total_sequence_length, "
                "key_total_sequence_lengths, cos_cache?, sin_cache?",
      .outputs = {3, 3},
      .attributes = {{"num_heads", AttributeKind::kInt, true},
                     {"kv_num_heads", AttributeKind::kInt, true},
                     {"sparse_block_size", AttributeKind::kInt, true},
                     {"scale", AttributeKind::kFloat},
                     {"do_rotary", AttributeKind::kInt},
                     {"rotary_interleaved", AttributeKind::kInt}},
      .expand = expand_sparse_attention,
      .infer = infer_sparse_attention,
      .types = {{"T", kSingleTypes, {kSpQuery, kSpKey, kSpValue, kSpPastKey, kSpPastValue, kSpCos, kSpSin}},
                {"M", {DType::i32}, {kSpRows, kSpColumns, kSpTotal, kSpLengths}}},
      .traits = {.shape_inputs = {kSpTotal}},
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples =
          "(float32[1, 5, 8], float32[1, 5, 4], float32[1, 5, 4], float32[1, 1, 8, 4], float32[1, 1, 8, 4], int32[2, 5]{0, 1, 3, 5, 7, 0, 1, 2, "
          "4, 6}, int32[2, 7]{0, 0, 1, 1, 2, 2, 3, 0, 1, 0, 2, 0, 3, -1}, int32[]{5}, int32[1]{5}) {num_heads = 2, kv_num_heads = 1, "
          "sparse_block_size = 2} 3"
          "(float32[2, 1, 12], -, -, float32[2, 1, 4, 4], float32[2, 1, 4, 4], int32[1, 3]{0, 1, 3}, int32[1, 3]{0, 0, 1}, int32[1]{3}, "
          "int32[2]{3, 2}, float32[4, 2], float32[4, 2]) {num_heads = 1, kv_num_heads = 1, sparse_block_size = 2, do_rotary = 1} 3",
  };
}

}  // namespace svengine::ops
