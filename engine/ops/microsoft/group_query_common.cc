// A sample that had P keys gets Q of the chunk's S new ones (query_seqlens; all of them without it) and has T = P + Q then. A sliding cache of
// C rows holds the last L(T) of them, from row 0 on: G = C - window + 1 are dropped at a time,
//
//     L(T) = T - G ceil((T - C) / G), or T where that is no more than C
//
// Attention reads the cache as it was and the new keys behind it, each with its position, so nothing is moved before it is read:
//
//     rows       0 .. L(P) - 1        ..C - 1     C .. C + Q - 1     ..C + S - 1
//     position   P - L(P) .. P - 1    none        P .. T - 1         none
#include "engine/ops/microsoft/group_query_common.h"

namespace svengine::ops {
namespace {

int64_t window_of(const Attributes& a) { return a.get_int("local_window_size", -1); }
bool slides(const Attributes& a) { return a.get_int("sliding_window_cache", 0) != 0; }

/// L of that many keys, [B].
Value* resident(ExpandContext& c, const GroupQuery& g, Value* count) {
  if (!slides(c.attributes())) return count;
  const int64_t group = g.past - window_of(c.attributes()) + 1;
  Value* over = c.op("Max", {c.op("Sub", {count, whole(c, g.past)}), whole(c, 0)});
  Value* groups = c.op("Div", {c.op("Add", {over, whole(c, group - 1)}), whole(c, group)});
  return c.op("Sub", {count, c.op("Mul", {groups, whole(c, group)})});
}

int64_t keys_of(const GroupQuery& g) { return g.past + g.queries; }

Value* column(ExpandContext& c, Value* v) { return c.unsqueeze(v, {1}); }

/// attention_bias, whose columns are positions, for each key: what is at positions that are none is not read.
Value* bias_of_keys(ExpandContext& c, const GroupQuery& g, Value* positions) {
  if (!c.has_input(kGqBias)) return nullptr;
  Value* bias = c.cast(c.input(kGqBias), wide_type(c.dtype(0)));
  const int64_t heads = *c.dim(kGqBias, 1), columns = *c.dim(kGqBias, 3);
  bias = c.op("Expand", {bias, c.ints({g.batch, heads, g.queries, columns})});
  Value* at = c.op("Min", {c.op("Max", {positions, whole(c, 0)}), whole(c, columns - 1)});
  at = c.op("Expand", {c.unsqueeze(at, {1, 2}), c.ints({g.batch, heads, g.queries, keys_of(g)})});
  return c.op("GatherElements", {bias, at}, make_attributes({{"axis", int64_t{3}}}));
}

/// Row i of the present cache is the key at position T - L(T) + i; what is behind the last is left as it is in the cache.
Value* rows_of_present(ExpandContext& c, const GroupQuery& g, Value* old, Value* kept, Value* count) {
  const int64_t length = slides(c.attributes()) ? g.past : std::max(g.past, g.total);
  Value* row = c.up_to(whole(c, length));
  Value* position = c.op("Add", {row, column(c, c.op("Sub", {count, resident(c, g, count)}))});
  Value* of_new = c.op("Add", {c.op("Sub", {position, column(c, old)}), whole(c, g.past)});
  Value* of_old = c.op("Add", {c.op("Sub", {position, column(c, old)}), column(c, kept)});
  Value* at = c.op("Where", {c.op("Less", {position, column(c, old)}), of_old, of_new});
  Value* last = c.op("Min", {row, whole(c, keys_of(g) - 1)});
  return c.unsqueeze(c.op("Where", {c.op("Less", {position, column(c, count)}), at, last}), {2});
}

}  // namespace

Value* whole(ExpandContext& c, int64_t n) { return c.builder().constant(Tensor::scalar(n)); }

bool is_chunked(const Node& node) { return node.input(kGqQueryLengths) || slides(node.attributes); }

Status check_chunked(const InferContext& c, const Dim& batch, const Dim& past) {
  if (!is_chunked(c.node())) return {};
  const Attributes& a = c.attributes();
  const char* what = slides(a) ? "sliding_window_cache" : "query_seqlens";
  if (!c.has_input(kGqPastKey)) return error("{} needs past_key and past_value", what);
  if (a.get_int("causal", 1) == 0) return error("{} needs causal to be 1", what);
  if (a.get_int("qk_output", 0) != 0) return unimplemented("qk_output with {} is not supported", what);
  if (slides(a) && (window_of(a) < 1 || (past.is_static() && window_of(a) > past.value())))
    return error("sliding_window_cache needs a local_window_size of 1 to the cache's {} rows; it is {}", past.is_static() ? past.value() : 0,
                 window_of(a));
  SV_TRY(require_dtype(c, kGqQueryLengths, {DType::i32}));
  return require_shape(c, kGqQueryLengths, Shape{batch});
}

ChunkedKeys chunked_keys(ExpandContext& c, const GroupQuery& g) {
  Value* count = c.op("Add", {c.cast(c.input(kGqLengths), DType::i64), whole(c, 1)});
  Value* fresh = c.has_input(kGqQueryLengths) ? c.cast(c.input(kGqQueryLengths), DType::i64) : c.op("Min", {count, whole(c, g.queries)});
  Value* old = c.op("Sub", {count, fresh});
  Value *kept = resident(c, g, old), *row = c.up_to(whole(c, g.past)), *step = c.up_to(whole(c, g.queries));
  Value* old_positions = c.op("Add", {row, column(c, c.op("Sub", {old, kept}))});
  Value* queries = c.op("Add", {step, column(c, old)});
  Value* positions = c.concat({old_positions, queries}, 1);
  Value* there = c.concat({c.op("Less", {row, column(c, kept)}), c.op("Less", {step, column(c, fresh)})}, 1);
  Value *key = c.unsqueeze(positions, {1}), *query = c.unsqueeze(queries, {2});
  Value* seen = c.op("And", {c.unsqueeze(there, {1}), c.op("LessOrEqual", {key, query})});
  if (const int64_t window = window_of(c.attributes()); window > 0)
    seen = c.op("And", {seen, c.op("Greater", {key, c.op("Sub", {query, whole(c, window)})})});
  return {old, c.unsqueeze(seen, {1}), bias_of_keys(c, g, positions), rows_of_present(c, g, old, kept, count)};
}

Value* present_of_chunk(ExpandContext& c, const ChunkedKeys& chunk, Value* all) {
  Value* rows_first = c.transpose(all, {0, 2, 1, 3});
  return c.transpose(c.op("GatherND", {rows_first, chunk.present_rows}, make_attributes({{"batch_dims", int64_t{1}}})), {0, 2, 1, 3});
}

}  // namespace svengine::ops
