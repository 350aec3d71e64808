// Attention, block of queries by block of queries, with the scores transposed: keys down, queries along the lanes.
//
//      q block, packed as a B panel            scores / weights            v, packed as B panels
//             [size][queries]                   [keys][queries]               [keys][value columns]
//                    |                             |    ^                            |
//   k, packed as ----+--> tiles of key rows ------>+    | softmax down            ---+---> tiles of query rows
//   A panels [size][rows]   times query columns    the columns: maximum, exp,         (the weights are their A operand:
//                                                  sum, lane by lane                   a[key * columns + query])
//
// So nothing is ever transposed but q and k while they are packed, the softmax has no operation across lanes, and its result is
// the next product's broadcast operand where it lies. Dividing by the sum is left to the end, when a row of y is finished.
//
// One block is one column panel wide. Its scores, 4 * keys * columns bytes (16 KiB for 128 keys on A64FX and AVX-512, 48 KiB
// for 384), stay in L1 or, for long sequences, in L2, read as one stream. k of a head and v are read from L2: 128 bytes and
// 24 multiply-adds per key and step, some 11 bytes a cycle.
#include "engine/kernels/attention.h"

#include "engine/kernels/contract_attention.h"
#include "engine/kernels/sve/attention/few_queries.h"
#include "engine/kernels/sve/checked.h"
#include "engine/kernels/sve/gemm/pack.h"
#include "engine/kernels/sve/gemm/tile.h"
#include "engine/kernels/sve/reduction_loops.h"
#include "engine/kernels/sve/softmax/exp.h"
#include "engine/kernels/sve/vec.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

constexpr int kColumns = kPanelColumns<float>;

GemmPackArgs pack_k_args(const AttentionArgs& args) {
  GemmPackArgs p;
  p.source = args.k, p.packed = args.packed_k;
  p.ld = args.k_stride.row, p.depth_major = args.k_transposed;
  p.extent = args.keys, p.depth = args.size;
  p.batch = {args.batch, args.heads};
  p.source_stride = {args.k_stride.batch, args.k_stride.head};
  const int64_t floats = packed_a_bytes<float>(args.keys, args.size) / kBytes<float>;
  p.packed_stride = {args.heads * floats, floats};
  return p;
}

GemmPackArgs pack_v_args(const AttentionArgs& args) {
  GemmPackArgs p;
  p.source = args.v, p.packed = args.packed_v;
  p.ld = args.v_stride.row, p.depth_major = true;
  p.extent = args.value_size, p.depth = args.keys;
  p.batch = {args.batch, args.heads};
  p.source_stride = {args.v_stride.batch, args.v_stride.head};
  const int64_t floats = packed_b_bytes<float>(args.keys, args.value_size) / kBytes<float>;
  p.packed_stride = {args.heads * floats, floats};
  return p;
}

int64_t packed_k_bytes(const AttentionArgs& args) noexcept {
  if (has_few_queries(args)) return 0;
  return args.batch * args.heads * packed_a_bytes<float>(args.keys, args.size);
}
int64_t packed_v_bytes(const AttentionArgs& args) noexcept {
  if (has_few_queries(args)) return 0;
  return args.batch * args.heads * packed_b_bytes<float>(args.keys, args.value_size);
}

int64_t no_scratch(const AttentionArgs&) noexcept { return 0; }

int64_t pack_tasks(const AttentionArgs& args) noexcept {
  if (has_few_queries(args)) return 0;
  return pack_a_tasks(pack_k_args(args)) + pack_b_tasks(pack_v_args(args));
}

void pack(const AttentionArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const GemmPackArgs k = pack_k_args(args), v = pack_v_args(args);
  const int64_t of_k = pack_a_tasks(k);
  if (begin < of_k) pack_a(k, begin, smaller(end, of_k));
  if (end > of_k) pack_b(v, larger(begin, of_k) - of_k, end - of_k);
}

void pack_checked(const AttentionArgs& args, int64_t begin, int64_t end, void* scratch) noexcept {
  if (contract_checks && begin < end) enforce(pack_violation(args));
  pack(args, begin, end, scratch);
}

/// A block's place and its thread's scratch.
struct Block {
  int64_t columns;     // queries of this block, 1 ... kColumns
  const float* k;      // packed
  const float* v;      // packed
  const float* mask;   // of the first query; null: none
  int64_t mask_row;    // from query to query; 0: one row for all
  float* q;            // [size][kColumns]
  float* scores;       // [keys][kColumns], afterwards weights
  float* masks;        // [keys][kColumns] where every query has its own mask, transposed as the scores are
  float* statistics;   // [kColumns] maxima of the scores, afterwards 1 / sum of the weights
};

/// scores of kRows keys = scale * k q + mask, and their maxima so far.
template <int kRows>
__attribute__((noinline)) void score_tile(const AttentionArgs& args, const Block& block, int64_t first) {
  const vb all = svptrue_b32();
  Sums<float, kRows> sums;
  SVENGINE_UNROLL
  for (int r = 0; r < kRows; ++r) SVENGINE_UNROLL
  for (int v = 0; v < kPanelVectors; ++v) sums.at[r][v] = vdup(0.0f);
  multiply<kRows, kRows, false>(args.size, block.k + first * args.size, block.q, {}, sums);
  const vf scale = vdup(args.scale);
  if (!block.mask) {
    SVENGINE_UNROLL
    for (int r = 0; r < kRows; ++r) SVENGINE_UNROLL
    for (int v = 0; v < kPanelVectors; ++v) sums.at[r][v] = vmul(sums.at[r][v], scale);
  } else if (block.mask_row == 0) {
    SVENGINE_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const vf mask = vdup(block.mask[first + r]);
      SVENGINE_UNROLL
      for (int v = 0; v < kPanelVectors; ++v) sums.at[r][v] = vfma(sums.at[r][v], scale, mask);
    }
  } else {
    const float* mask = block.masks + first * kColumns;
    SVENGINE_UNROLL
    for (int r = 0; r < kRows; ++r) SVENGINE_UNROLL
    for (int v = 0; v < kPanelVectors; ++v)
      sums.at[r][v] = vfma(sums.at[r][v], scale, svld1(all, mask + r * kColumns + v * kLanes));
  }
  float* scores = block.scores + first * kColumns;
  SVENGINE_UNROLL
  for (int v = 0; v < kPanelVectors; ++v) {
    vf maximum = svld1(all, block.statistics + v * kLanes);
    SVENGINE_UNROLL
    for (int r = 0; r < kRows; ++r) {
      svst1(all, scores + r * kColumns + v * kLanes, sums.at[r][v]);
      maximum = vmax(maximum, sums.at[r][v]);
    }
    svst1(all, block.statistics + v * kLanes, maximum);
  }
}

/// scores := exp(scores - maximum), statistics := 1 / sum of them. The sum of kChunk keys is added up plainly, the sums of
/// chunks with compensation.
__attribute__((noinline)) void exp_and_sum(const AttentionArgs& args, const Block& block) {
  constexpr int64_t kChunk = 16;
  const vb all = svptrue_b32();
  vf maximum[kPanelVectors], high[kPanelVectors], low[kPanelVectors];
  SVENGINE_UNROLL
  for (int v = 0; v < kPanelVectors; ++v) {
    maximum[v] = svld1(all, block.statistics + v * kLanes);
    high[v] = low[v] = vdup(0.0f);
  }
  for (int64_t first = 0; first < args.keys; first += kChunk) {
    const int64_t keys = smaller(kChunk, args.keys - first);
    float* at = block.scores + first * kColumns;
    vf sum[kPanelVectors];
    SVENGINE_UNROLL
    for (int v = 0; v < kPanelVectors; ++v) sum[v] = vdup(0.0f);
    int64_t j = 0;
    for (; j + 2 <= keys; j += 2, at += 2 * kColumns) {
      Many<2 * kPanelVectors> e;
      SVENGINE_UNROLL
      for (int i = 0; i < 2 * kPanelVectors; ++i) e.at[i] = vsub(svld1(all, at + i * kLanes), maximum[i % kPanelVectors]);
      e = vexp_of_difference(e);
      SVENGINE_UNROLL
      for (int i = 0; i < 2 * kPanelVectors; ++i) {
        svst1(all, at + i * kLanes, e.at[i]);
        sum[i % kPanelVectors] = vadd(sum[i % kPanelVectors], e.at[i]);
      }
    }
    if (j < keys) {
      SVENGINE_UNROLL
      for (int v = 0; v < kPanelVectors; ++v) {
        const vf e = vexp_of_difference(vsub(svld1(all, at + v * kLanes), maximum[v]));
        svst1(all, at + v * kLanes, e);
        sum[v] = vadd(sum[v], e);
      }
    }
    SVENGINE_UNROLL
    for (int v = 0; v < kPanelVectors; ++v) two_sum(high[v], low[v], sum[v]);
  }
  SVENGINE_UNROLL
  for (int v = 0; v < kPanelVectors; ++v) {
    const vf sum = compensated(high[v], low[v]);
    svst1(all, block.statistics + v * kLanes, args.keys > 0 ? vrecip(sum) : vdup(0.0f));
  }
}

/// y of kRows queries from `row` on and one panel of value columns.
template <int kRows>
__attribute__((noinline)) void value_tile(const AttentionArgs& args, const Block& block, int64_t row, int64_t panel, float* y) {
  Sums<float, kRows> sums;
  SVENGINE_UNROLL
  for (int r = 0; r < kRows; ++r) SVENGINE_UNROLL
  for (int v = 0; v < kPanelVectors; ++v) sums.at[r][v] = vdup(0.0f);
  const int64_t column = panel * kColumns;
  multiply<kRows, kColumns, false>(args.keys, block.scores + row, block.v + column * args.keys, {}, sums);
  const int64_t columns = smaller(args.value_size - column, kColumns);
  vb exists[kPanelVectors];
  SVENGINE_UNROLL
  for (int v = 0; v < kPanelVectors; ++v) exists[v] = svwhilelt_b32(int64_t{v} * kLanes, columns);
  const int64_t ld = args.y_stride.row;
  y += row * ld + column;
  SVENGINE_UNROLL
  for (int r = 0; r < kRows; ++r, y += ld) {
    const vf factor = vdup(block.statistics[row + r]);
    SVENGINE_UNROLL
    for (int v = 0; v < kPanelVectors; ++v) svst1(exists[v], y + v * kLanes, vmul(sums.at[r][v], factor));
  }
}

/// Calls body.template operator()<rows>().
template <int kRows = kPanelRows, class Body>
inline void with_rows(int64_t rows, const Body& body) {
  if constexpr (kRows > 1) {
    if (rows < kRows) return with_rows<kRows - 1>(rows, body);
  }
  body.template operator()<kRows>();
}

/// The queries of a block, or the rows of its mask, transposed: target[d][kColumns].
void transpose(const float* source, int64_t ld, int64_t rows, int64_t depth, float* target) {
  GemmPackArgs p;
  p.source = source, p.ld = ld, p.extent = rows, p.depth = depth, p.packed = target;
  pack_b(p, 0, pack_b_tasks(p));
}

void run_block(const AttentionArgs& args, const Block& block, const float* q, float* y) {
  transpose(q, args.q_stride.row, block.columns, args.size, block.q);
  if (block.mask && block.mask_row != 0) transpose(block.mask, block.mask_row, block.columns, args.keys, block.masks);
  for (int v = 0; v < kPanelVectors; ++v) svst1(svptrue_b32(), block.statistics + v * kLanes, vdup(-kInfinity));
  const int64_t panels = row_panels(args.keys);
  const EvenPartition keys(args.keys, larger(panels, 1));
  for (int64_t i = 0; i < panels; ++i)
    with_rows(keys.size(i), [&]<int kRows>() { score_tile<kRows>(args, block, keys.begin(i)); });
  exp_and_sum(args, block);
  const EvenPartition rows = rows_of_panels(block.columns);
  for (int64_t panel = 0; panel < column_panels<float>(args.value_size); ++panel)
    for (int64_t i = 0; i < row_panels(block.columns); ++i)
      with_rows(rows.size(i), [&]<int kRows>() { value_tile<kRows>(args, block, rows.begin(i), panel, y); });
}

int64_t attention_tasks(const AttentionArgs& args) noexcept {
  return args.batch * args.heads * (has_few_queries(args) ? args.queries > 0 : column_panels<float>(args.queries));
}

bool mask_is_turned(const AttentionArgs& args) { return args.mask_stride.row != 0; }

int64_t attention_scratch_bytes(const AttentionArgs& args) noexcept {
  if (has_few_queries(args)) return few_scratch_bytes(args);
  return (args.size + args.keys * (mask_is_turned(args) ? 2 : 1) + 1) * kColumns * kBytes<float>;
}

void few_queries_run(const AttentionArgs& args, int64_t begin, int64_t end, void* scratch) {
  for (int64_t task = begin; task < end; ++task) {
    const auto at = [&](const AttentionStride& s) { return task / args.heads * s.batch + task % args.heads * s.head; };
    run_few_queries(args, args.q + at(args.q_stride), args.k + at(args.k_stride), args.v + at(args.v_stride),
                    args.mask ? args.mask + at(args.mask_stride) : nullptr, args.y + at(args.y_stride), static_cast<float*>(scratch));
  }
}

void attention_run(const AttentionArgs& args, int64_t begin, int64_t end, void* scratch) noexcept {
  if (has_few_queries(args)) return few_queries_run(args, begin, end, scratch);
  const int64_t panels = column_panels<float>(args.queries);
  const int64_t k_floats = packed_a_bytes<float>(args.keys, args.size) / kBytes<float>;
  const int64_t v_floats = packed_b_bytes<float>(args.keys, args.value_size) / kBytes<float>;
  Block block;
  block.statistics = static_cast<float*>(scratch);
  block.q = block.statistics + kColumns;
  block.scores = block.q + args.size * kColumns;
  block.masks = block.scores + args.keys * kColumns;
  block.mask_row = args.mask_stride.row;
  for (int64_t task = begin; task < end; ++task) {
    const int64_t head_index = task / panels, first = task % panels * kColumns;
    const int64_t batch = head_index / args.heads, head = head_index % args.heads;
    const auto at = [&](const AttentionStride& s) { return batch * s.batch + head * s.head + first * s.row; };
    block.columns = smaller(args.queries - first, kColumns);
    block.k = args.packed_k + head_index * k_floats;
    block.v = args.packed_v + head_index * v_floats;
    block.mask = args.mask ? args.mask + at(args.mask_stride) : nullptr;
    run_block(args, block, args.q + at(args.q_stride), args.y + at(args.y_stride));
  }
}

}  // namespace

extern const AttentionKernels attention_kernels;
const AttentionKernels attention_kernels{kColumns,
                                         packed_k_bytes,
                                         packed_v_bytes,
                                         {pack_tasks, no_scratch, pack_checked},
                                         {attention_tasks, attention_scratch_bytes, checked<AttentionArgs, attention_run>()}};

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
