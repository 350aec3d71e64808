// The innermost product: a tile of kRows x kPanelColumns sums held in registers.
//
//            b: one vector row of the B panel a step          each step: load kPanelVectors vectors of b, broadcast
//            kRows
//          +------+------+                                    floats of a, kRows * kPanelVectors multiply-adds
//   a ->   | acc  | acc  |
//   kRows  | acc  | acc  |  ...                               12 x 2 sums (AVX-512: 14 x 2), 2 of b and broadcasts
//          | acc  | acc  |                                    fit 32 registers
//          +------+------+
//
// With few rows a tile would have fewer sums than the multiply-add pipes have slots (A64FX: 2 pipes x 9 cycles), so the
// depth is cut into kWays interleaved sums that are added at the end, in order.
#pragma once
#include "engine/kernels/sve/activation/activation.h"
#include "engine/kernels/sve/gemm/shape.h"
#include "engine/kernels/sve/tile_row.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

/// What a product brings into the L2 cache while it runs.
struct Prefetch {
  int64_t a = 0;              // bytes from where a is read
  const char* b = nullptr;    // from here on, so many
  int64_t b_step = 0;         // bytes a step
};

struct Tile {
  int64_t depth;
  const float* a;     // [depth][kRows]
  const float* b;     // [depth][kPanelColumns]
  const float* seed;  // [kRows][kPanelColumns] sums so far; null: 0
  float* partial;     // where sums go while more depth follows; null: the epilogue runs
  float* c;
  Prefetch prefetch;
  const float* bias;      // null: none
  const float* residual;  // null: none
  int64_t columns;        // of c that exist, 1 ... kPanelColumns
};

/// Interleaved sums: as many as registers (less the operands) and the 48 instructions of A64FX's loop buffer allow.
constexpr int depth_ways(int rows) {
  const int by_registers = kMachine.vector_registers * 3 / 4 / (rows * kPanelVectors);
  const int by_instructions = 42 / (kPanelVectors + rows + rows * kPanelVectors);
  const int ways = by_registers < by_instructions ? by_registers : by_instructions;
  return ways < 1 ? 1 : ways;
}

template <int kRows>
struct Sums {
  vf at[kRows][kPanelVectors];
};

template <int kRows>
inline __attribute__((always_inline)) void multiply_step(const float* a, const float* b, Sums<kRows>& sums) {
  const vb all = svptrue_b32();
  vf row[kPanelVectors];
  SVENGINE_UNROLL
  for (int v = 0; v < kPanelVectors; ++v) row[v] = svld1(all, b + v * kLanes);
  SVENGINE_UNROLL
  for (int r = 0; r < kRows; ++r) add_row(r, a + r, row, sums.at[r]);
}

/// sums += a b over `left` steps of depth. kStep floats lie between the steps of a: kRows in a packed panel.
template <int kRows, int kStep = kRows, bool kFetch = true>
inline __attribute__((always_inline)) void multiply(int64_t left, const float* a, const float* b, const Prefetch& prefetch,
                                                    Sums<kRows>& sums) {
  constexpr int kWays = depth_ways(kRows);
  [[maybe_unused]] const char* next_b = prefetch.b;
  [[maybe_unused]] const int64_t b_step = prefetch.b_step;
  const vb all = svptrue_b32();
  if constexpr (kWays > 1) {
    Sums<kRows> more[kWays - 1];
    SVENGINE_UNROLL
    for (int w = 0; w < kWays - 1; ++w) SVENGINE_UNROLL
    for (int r = 0; r < kRows; ++r) SVENGINE_UNROLL
    for (int v = 0; v < kPanelVectors; ++v) more[w].at[r][v] = svdup_f32(0.0f);
    for (; left >= kWays; left -= kWays) {
      if constexpr (kFetch) {
        SVENGINE_UNROLL
        for (int w = 0; w < kWays; ++w, next_b += b_step) __builtin_prefetch(next_b, 0, 2);
      }
      multiply_step<kRows>(a, b, sums);
      SVENGINE_UNROLL
      for (int w = 1; w < kWays; ++w) multiply_step<kRows>(a + w * kStep, b + w * kPanelColumns, more[w - 1]);
      a += kWays * kStep;
      b += kWays * kPanelColumns;
    }
    SVENGINE_UNROLL
    for (int w = 0; w < kWays - 1; ++w) SVENGINE_UNROLL
    for (int r = 0; r < kRows; ++r) SVENGINE_UNROLL
    for (int v = 0; v < kPanelVectors; ++v) sums.at[r][v] = svadd_x(all, sums.at[r][v], more[w].at[r][v]);
  }
  for (; left > 0; --left, a += kStep, b += kPanelColumns) {
    if constexpr (kFetch && kWays == 1) {
      __builtin_prefetch(reinterpret_cast<const char*>(a) + prefetch.a, 0, 2);
      __builtin_prefetch(next_b, 0, 2);
      next_b += b_step;
    }
    multiply_step<kRows>(a, b, sums);
  }
}

/// alpha * sums + bias_scale * bias + residual_scale * residual, and those activations that take an instruction or two.
template <int kRows>
inline __attribute__((always_inline)) void scale_and_add(const GemmArgs& args, const Tile& tile, const vb* exists,
                                                         Sums<kRows>& sums) {
  const vb all = svptrue_b32();
  if (args.alpha != 1.0f) {
    const vf alpha = svdup_f32(args.alpha);
    SVENGINE_UNROLL
    for (int r = 0; r < kRows; ++r) SVENGINE_UNROLL
    for (int v = 0; v < kPanelVectors; ++v) sums.at[r][v] = svmul_x(all, sums.at[r][v], alpha);
  }
  if (tile.bias) {
    const vf scale = svdup_f32(args.bias_scale);
    if (args.bias_kind == GemmBias::kColumn) {
      SVENGINE_UNROLL
      for (int v = 0; v < kPanelVectors; ++v) {
        const vf bias = svld1(exists[v], tile.bias + v * kLanes);
        SVENGINE_UNROLL
        for (int r = 0; r < kRows; ++r) sums.at[r][v] = svmla_x(all, sums.at[r][v], bias, scale);
      }
    } else {
      const int64_t step = args.bias_kind == GemmBias::kRow ? 1 : 0;
      SVENGINE_UNROLL
      for (int r = 0; r < kRows; ++r) {
        const vf bias = svdup_f32(tile.bias[r * step]);
        SVENGINE_UNROLL
        for (int v = 0; v < kPanelVectors; ++v) sums.at[r][v] = svmla_x(all, sums.at[r][v], bias, scale);
      }
    }
  }
  if (tile.residual) {
    const vf scale = svdup_f32(args.residual_scale);
    const float* residual = tile.residual;
    const int64_t ld = args.ld_residual;
    SVENGINE_UNROLL
    for (int r = 0; r < kRows; ++r, residual += ld) SVENGINE_UNROLL
    for (int v = 0; v < kPanelVectors; ++v) {
      const vf x = svld1(exists[v], residual + v * kLanes);
      sums.at[r][v] = svmla_x(all, sums.at[r][v], x, scale);
    }
  }
}

template <Activation kKind, int kRows>
inline __attribute__((always_inline)) void activate(const ActivationArgs& args, Sums<kRows>& sums) {
  SVENGINE_UNROLL
  for (int r = 0; r < kRows; ++r) SVENGINE_UNROLL
  for (int v = 0; v < kPanelVectors; ++v) sums.at[r][v] = apply_activation<kKind>(sums.at[r][v], args);
}

/// The whole life of a tile but for the activations of a later pass (see activates_in_registers).
template <int kRows>
__attribute__((noinline)) void run_tile_of(const GemmArgs& args, const Tile& tile) {
  const vb all = svptrue_b32();
  Sums<kRows> sums;
  SVENGINE_UNROLL
  for (int r = 0; r < kRows; ++r) SVENGINE_UNROLL
  for (int v = 0; v < kPanelVectors; ++v) sums.at[r][v] = svdup_f32(0.0f);
  if (const float* seed = tile.seed) {
    SVENGINE_UNROLL
    for (int r = 0; r < kRows; ++r) SVENGINE_UNROLL
    for (int v = 0; v < kPanelVectors; ++v) sums.at[r][v] = svld1(all, seed + r * kPanelColumns + v * kLanes);
  }
  multiply<kRows>(tile.depth, tile.a, tile.b, tile.prefetch, sums);
  if (float* partial = tile.partial) {
    SVENGINE_UNROLL
    for (int r = 0; r < kRows; ++r) SVENGINE_UNROLL
    for (int v = 0; v < kPanelVectors; ++v) svst1(all, partial + r * kPanelColumns + v * kLanes, sums.at[r][v]);
    return;
  }
  vb exists[kPanelVectors];
  SVENGINE_UNROLL
  for (int v = 0; v < kPanelVectors; ++v) exists[v] = svwhilelt_b32(int64_t{v} * kLanes, tile.columns);
  scale_and_add<kRows>(args, tile, exists, sums);
  if (args.activation.kind == Activation::kRelu) activate<Activation::kRelu, kRows>(args.activation, sums);
  if (args.activation.kind == Activation::kClip) activate<Activation::kClip, kRows>(args.activation, sums);
  float* c = tile.c;
  const int64_t ldc = args.ldc;
  SVENGINE_UNROLL
  for (int r = 0; r < kRows; ++r, c += ldc) SVENGINE_UNROLL
  for (int v = 0; v < kPanelVectors; ++v) svst1(exists[v], c + v * kLanes, sums.at[r][v]);
}

/// The others would need more registers than the tile leaves: they run over C while it is in L1.
constexpr bool activates_in_registers(Activation kind) {
  return kind == Activation::kNone || kind == Activation::kRelu || kind == Activation::kClip;
}

template <int kRows = kPanelRows>
inline void run_tile(int64_t rows, const GemmArgs& args, const Tile& tile) {
  if constexpr (kRows > 1) {
    if (rows < kRows) return run_tile<kRows - 1>(rows, args, tile);
  }
  run_tile_of<kRows>(args, tile);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
