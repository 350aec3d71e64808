// Integer matrix products.
//
// A task is a group of row panels times a panel of B's columns; neighbours share the group, which a range of tasks packs once into its
// scratch memory:
//
//   scratch: [panels of the group] packed A | rows put together | a tile's sums
//
// The tile's sums are 32 bits; they go to L1 and from there through the epilogue, which would not fit the registers beside them.
#include "engine/kernels/quantized.h"

#include "engine/kernels/contract_quantized.h"
#include "engine/kernels/sve/checked.h"
#include "engine/kernels/sve/quantized/element.h"
#include "engine/kernels/sve/quantized/epilogue.h"
#include "engine/kernels/sve/quantized/n_bits.h"
#include "engine/kernels/sve/quantized/pack.h"
#include "engine/kernels/sve/quantized/rows.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

extern const QuantizedKernels quantized_kernels;

namespace {

template <int kRows, int kVectors>
struct QuantSums {
  vi at[kRows][kVectors];
};

template <int kRows, int kVectors>
__attribute__((noinline)) void multiply_tile(int64_t groups, const uint32_t* a, const int8_t* b, int32_t* c) {
  const svbool_t bytes = svptrue_b8();
  const vb words = svptrue_b32();
  QuantSums<kRows, kVectors> sums;
  SVENGINE_UNROLL
  for (int r = 0; r < kRows; ++r) SVENGINE_UNROLL
  for (int v = 0; v < kVectors; ++v) sums.at[r][v] = svdup_s32(0);
  constexpr int kReach = kMachine.broadcast_reach / kChunkGroups;  // rows that one address serves
  for (; groups > 0; groups -= kChunkGroups, a += kRows * kChunkGroups) {
    const uint32_t* at[(kRows + kReach - 1) / kReach];
    SVENGINE_UNROLL
    for (int r = 0; r < kRows; r += kReach) {
      at[r / kReach] = a + r * kChunkGroups;
      __asm__("" : "+r"(at[r / kReach]));  // or GCC adds the distance anew for every row
    }
    for (int64_t left = quant_smaller(groups, kChunkGroups); left > 0; --left, b += kQuantColumns * 4) {
      vsbyte row[kVectors];
      SVENGINE_UNROLL
      for (int v = 0; v < kVectors; ++v) row[v] = svld1(bytes, b + v * kVectorBytes);
      SVENGINE_UNROLL
      for (int r = 0; r < kRows; ++r) {
        const vu value = svdup_u32(at[r / kReach][r % kReach * kChunkGroups]);
        SVENGINE_UNROLL
        for (int v = 0; v < kVectors; ++v) sums.at[r][v] = dot_bytes(sums.at[r][v], value, row[v]);
      }
      SVENGINE_UNROLL
      for (int r = 0; r < kRows; r += kReach) ++at[r / kReach];
    }
  }
  SVENGINE_UNROLL
  for (int r = 0; r < kRows; ++r) SVENGINE_UNROLL
  for (int v = 0; v < kVectors; ++v) svst1(words, c + r * kQuantColumns + v * kLanes, sums.at[r][v]);
}

/// The sums of a row panel of `rows` rows with a panel of B of which `columns` are there.
template <int kRows = kQuantRows>
void multiply_rows(int64_t rows, int64_t columns, int64_t groups, const uint32_t* a, const int8_t* b, int32_t* c) {
  if constexpr (kRows > 1) {
    if (rows < kRows) return multiply_rows<kRows - 1>(rows, columns, groups, a, b, c);
  }
  if (columns > kLanes) multiply_tile<kRows, kQuantVectors>(groups, a, b, c);
  else multiply_tile<kRows, 1>(groups, a, b, c);
}

/// A tile: rows [row, row + rows) of C, columns from `column` on.
struct QuantTile {
  int64_t row, rows, column;
  const int32_t* sums;       // [rows][kQuantColumns]
  const int32_t* row_terms;  // [rows] sums of A, [rows] zero points
  const int32_t* column_terms;
};

/// The columns of one vector, all rows of the tile. Without kRowTerms one term a column is all there is to add: A has one zero point,
/// B none, and no row a scale or a bias of its own. kWhole: all columns are there, and bytes are stored without a mask, with which x86-64
/// takes several times as long.
template <QuantizedOutput kOutput, bool kRowTerms, bool kWhole>
void finish_vector(const QuantizedGemmArgs& args, const QuantTile& t, const Finish& finish, int64_t v, vb some, vi sum_b, vi zero_b) {
  const vb all = svptrue_b32(), exists = kWhole ? all : some;
  const QuantizedEpilogue& e = args.epilogue;
  const int64_t first = t.column + v * kLanes, ldc = args.ldc;
  vi term = e.bias_ld ? vi(svdup_s32(0)) : bias_at(exists, e, first);
  if constexpr (!kRowTerms) term = svmls_x(all, term, sum_b, svdup_s32(t.row_terms[t.rows]));
  const vf scale = scale_at(exists, e, first), shift = shift_at(exists, e, first);
  const Finish local = finish;  // which stores cannot change
  const int32_t* sums = t.sums + v * kLanes;
  void* c = args.c;
  int64_t at = t.row * ldc + first;
  for (int64_t r = 0; r < t.rows; ++r, sums += kQuantColumns, at += ldc) {
    vi x = svadd_x(all, svld1(all, sums), term);
    vf both = scale;
    if constexpr (kRowTerms) {
      x = svmls_x(all, x, sum_b, svdup_s32(t.row_terms[t.rows + r]));
      x = svmls_x(all, x, zero_b, svdup_s32(t.row_terms[r]));
      if (e.bias_ld) x = svadd_x(all, x, vi(svld1(exists, e.bias + (t.row + r) * e.bias_ld + first)));
      if (e.row_scale) both = svmul_x(all, scale, svdup_f32(e.row_scale[t.row + r]));
    }
    store_sums<kOutput>(exists, e, local, x, both, shift, c, at);
  }
}

template <QuantizedOutput kOutput>
void finish_tile(const QuantizedGemmArgs& args, const QuantTile& t, const Finish& finish) {
  const vb all = svptrue_b32();
  for (int64_t v = 0; v < kQuantVectors && t.column + v * kLanes < args.n; ++v) {
    const vb exists = svwhilelt_b32(t.column + v * kLanes, args.n);
    const vi sum_b = svld1(all, t.column_terms + v * kLanes), zero_b = svld1(all, t.column_terms + kQuantColumns + v * kLanes);
    if (args.a_zero_step || args.epilogue.row_scale || args.epilogue.bias_ld || svptest_any(all, svcmpne(all, zero_b, 0)))
      finish_vector<kOutput, true, false>(args, t, finish, v, exists, sum_b, zero_b);
    else if (t.column + (v + 1) * kLanes <= args.n)
      finish_vector<kOutput, false, true>(args, t, finish, v, exists, sum_b, zero_b);
    else
      finish_vector<kOutput, false, false>(args, t, finish, v, exists, sum_b, zero_b);
  }
}

/// Whether any column of these panels of B has a zero point, as its bytes are after the shift.
bool has_column_zeros(const QuantizedGemmArgs& args, int64_t panel_begin, int64_t panel_end) {
  const vb all = svptrue_b32();
  for (int64_t panel = panel_begin; panel < panel_end; ++panel) {
    const int8_t* end = static_cast<const int8_t*>(args.b) + (panel + 1) * panel_bytes(args.k);
    const int32_t* zeros = reinterpret_cast<const int32_t*>(end) - kQuantColumns;
    for (int64_t v = 0; v < kQuantVectors; ++v)
      if (svptest_any(all, svcmpne(all, vi(svld1(all, zeros + v * kLanes)), 0))) return true;
  }
  return false;
}

struct QuantScratch {
  uint32_t* panels;
  uint8_t* gathered;
  int32_t* sums;
};

QuantScratch scratch_of(const QuantizedGemmArgs& args, void* scratch) {
  char* at = static_cast<char*>(scratch);
  const int64_t panels = quant_ceil_div(group_panels(args.k) * row_panel_bytes(args.k), 64) * 64;
  const int64_t gathered = quant_ceil_div(gathered_bytes(args.k), 64) * 64;
  return {reinterpret_cast<uint32_t*>(at), reinterpret_cast<uint8_t*>(at + panels), reinterpret_cast<int32_t*>(at + panels + gathered)};
}

int64_t gemm_scratch_bytes(const QuantizedGemmArgs& args) noexcept {
  return group_panels(args.k) * row_panel_bytes(args.k) + gathered_bytes(args.k) + 128 + kQuantRows * kQuantColumns * 4;
}

int64_t gemm_tasks(const QuantizedGemmArgs& args) noexcept {
  if (args.m <= 0 || args.n <= 0) return 0;
  return quant_ceil_div(quant_row_panels(args.m), group_panels(args.k)) * quant_column_panels(args.n);
}

void gemm_run(const QuantizedGemmArgs& args, int64_t task_begin, int64_t task_end, void* scratch) noexcept {
  if (task_begin >= task_end) return;
  const QuantScratch own = scratch_of(args, scratch);
  const EvenPartition rows(args.m, quant_row_panels(args.m)), groups = row_groups(args.m, args.k);
  const int64_t depth = depth_groups(args.k), columns = quant_column_panels(args.n), step = row_panel_bytes(args.k) / 4;
  const Finish finish = finish_of(args.epilogue);
  const int64_t last = task_end - 1;
  const bool in_one_group = task_begin / columns == last / columns;
  const bool needs_sums = in_one_group ? has_column_zeros(args, task_begin % columns, last % columns + 1) : has_column_zeros(args, 0, columns);
  int64_t packed = -1;
  for (int64_t task = task_begin; task < task_end; ++task) {
    const int64_t group = task / columns, column = task % columns, first = groups.begin(group), count = groups.size(group);
    if (group != packed)
      for (int64_t i = 0; i < count; ++i)
        pack_row_panel(args, rows.begin(first + i), rows.size(first + i), needs_sums, own.gathered, own.panels + i * step);
    packed = group;
    const int8_t* b = static_cast<const int8_t*>(args.b) + column * panel_bytes(args.k);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t height = rows.size(first + i);
      const uint32_t* a = own.panels + i * step;
      multiply_rows(height, args.n - column * kQuantColumns, depth, a, b, own.sums);
      const QuantTile tile{rows.begin(first + i),
                           height,
                           column * kQuantColumns,
                           own.sums,
                           reinterpret_cast<const int32_t*>(a + chunks(args.k) * kChunkGroups * height),
                           reinterpret_cast<const int32_t*>(b + depth * kQuantColumns * 4)};
      dispatch_output(args.epilogue.output, [&]<QuantizedOutput kOutput>() { finish_tile<kOutput>(args, tile, finish); });
    }
  }
}

void pack_checked(const QuantizedPackArgs& args, int64_t task_begin, int64_t task_end) noexcept {
  if (contract_checks && task_begin < task_end) enforce(violation(args));
  quantized_pack(args, task_begin, task_end);
}

void unpack_checked(const NBitsUnpackArgs& args) noexcept {
  if (contract_checks) enforce(violation(args));
  SVENGINE_BASE_SET::n_bits_unpack(args);
}

}  // namespace

const QuantizedKernels quantized_kernels{
    static_cast<int>(kQuantColumns),
    quantized_packed_bytes,
    quantized_pack_tasks,
    pack_checked,
    {gemm_tasks, gemm_scratch_bytes, checked<QuantizedGemmArgs, gemm_run>()},
    depthwise_packed_bytes,
    pack_depthwise,
    {depthwise_tasks, depthwise_scratch_bytes, checked<QuantizedDepthwiseArgs, depthwise_run>()},
    {quantized_binary_tasks, no_scratch_bytes<QuantizedBinaryArgs>, checked<QuantizedBinaryArgs, quantized_binary_run>()},
    {quantize_tasks, no_scratch_bytes<QuantizeArgs>, checked<QuantizeArgs, quantize_run>()},
    {dequantize_tasks, no_scratch_bytes<DequantizeArgs>, dequantize_run},
    {SVENGINE_BASE_SET::byte_table_tasks, no_scratch_bytes<ByteTableArgs>, checked<ByteTableArgs, SVENGINE_BASE_SET::byte_table_run>()},
    {byte_sum_tasks, no_scratch_bytes<ByteSumArgs>, checked<ByteSumArgs, byte_sum_run>()},
    {SVENGINE_BASE_SET::integer_gemm_tasks, SVENGINE_BASE_SET::integer_gemm_scratch_bytes,
     checked<IntegerGemmArgs, SVENGINE_BASE_SET::integer_gemm_run>()},
    {quantized_range_tasks, no_scratch_bytes<QuantizedRangeArgs>, checked<QuantizedRangeArgs, quantized_range_run>()},
    {{n_bits_round_tasks, no_scratch_bytes<NBitsRoundArgs>, checked<NBitsRoundArgs, n_bits_round>()},
     {n_bits_rows_tasks, no_scratch_bytes<NBitsRowsArgs>, checked<NBitsRowsArgs, n_bits_rows>()},
     unpack_checked}};

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
