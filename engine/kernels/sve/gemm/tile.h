// The innermost product: a tile of kRows x kPanelColumns<T> sums held in registers.
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

template <class T>
struct Tile {
  int64_t depth;
  const T* a;     // [depth][kRows]
  const T* b;     // [depth][kPanelColumns<T>]
  const T* seed;  // [kRows][kPanelColumns<T>] sums so far; null: 0
  T* partial;     // where sums go while more depth follows; null: the epilogue runs
  T* c;
  Prefetch prefetch;
  const T* bias;      // null: none
  const T* residual;  // null: none
  int64_t columns;        // of c that exist, 1 ... kPanelColumns<T>
};

/// Interleaved sums: as many as registers (less the operands) and the 48 instructions of A64FX's loop buffer allow.
constexpr int depth_ways(int rows) {
  const int by_registers = kMachine.vector_registers * 3 / 4 / (rows * kPanelVectors);
  const int by_instructions = 42 / (kPanelVectors + rows + rows * kPanelVectors);
  const int ways = by_registers < by_instructions ? by_registers : by_instructions;
  return ways < 1 ? 1 : ways;
}

template <class T, int kRows>
struct Sums {
  Vec<T> at[kRows][kPanelVectors];
};

template <class T, int kRows>
SVENGINE_INLINE void multiply_step(const T* a, const T* b, Sums<T, kRows>& sums) {
  Vec<T> row[kPanelVectors];
  SVENGINE_UNROLL
  for (int v = 0; v < kPanelVectors; ++v) row[v] = svld1(every<T>(), b + v * kLanesOf<T>);
  SVENGINE_UNROLL
  for (int r = 0; r < kRows; ++r) add_row<T>(r, a + r, row, sums.at[r]);
}

/// sums += a b over `left` steps of depth. kStep elements lie between the steps of a: kRows in a packed panel.
template <int kRows, int kStep = kRows, bool kFetch = true, class T>
SVENGINE_INLINE void multiply(int64_t left, const T* a, const T* b, const Prefetch& prefetch, Sums<T, kRows>& sums) {
  constexpr int kColumns = kPanelColumns<T>;
  constexpr int kWays = depth_ways(kRows);
  [[maybe_unused]] const char* next_b = prefetch.b;
  [[maybe_unused]] const int64_t b_step = prefetch.b_step;
  const vb all = every<T>();
  if constexpr (kWays > 1) {
    Sums<T, kRows> more[kWays - 1];
    SVENGINE_UNROLL
    for (int w = 0; w < kWays - 1; ++w) SVENGINE_UNROLL
    for (int r = 0; r < kRows; ++r) SVENGINE_UNROLL
    for (int v = 0; v < kPanelVectors; ++v) more[w].at[r][v] = repeated<T>(0);
    for (; left >= kWays; left -= kWays) {
      if constexpr (kFetch) {
        SVENGINE_UNROLL
        for (int w = 0; w < kWays; ++w, next_b += b_step) __builtin_prefetch(next_b, 0, 2);
      }
      multiply_step(a, b, sums);
      SVENGINE_UNROLL
      for (int w = 1; w < kWays; ++w) multiply_step(a + w * kStep, b + w * kColumns, more[w - 1]);
      a += kWays * kStep;
      b += kWays * kColumns;
    }
    SVENGINE_UNROLL
    for (int w = 0; w < kWays - 1; ++w) SVENGINE_UNROLL
    for (int r = 0; r < kRows; ++r) SVENGINE_UNROLL
    for (int v = 0; v < kPanelVectors; ++v) sums.at[r][v] = svadd_x(all, sums.at[r][v], more[w].at[r][v]);
  }
  for (; left > 0; --left, a += kStep, b += kColumns) {
    if constexpr (kFetch && kWays == 1) {
      __builtin_prefetch(reinterpret_cast<const char*>(a) + prefetch.a, 0, 2);
      __builtin_prefetch(next_b, 0, 2);
      next_b += b_step;
    }
    multiply_step(a, b, sums);
  }
}

/// alpha * sums + bias_scale * bias + residual_scale * residual, and those activations that take an instruction or two.
template <class T, int kRows>
SVENGINE_INLINE void scale_and_add(const GemmArgsOf<T>& args, const Tile<T>& tile, const vb* exists, Sums<T, kRows>& sums) {
  constexpr int kLanes = kLanesOf<T>;
  const vb all = every<T>();
  if (args.alpha != 1.0f) {
    const Vec<T> alpha = repeated<T>(args.alpha);
    SVENGINE_UNROLL
    for (int r = 0; r < kRows; ++r) SVENGINE_UNROLL
    for (int v = 0; v < kPanelVectors; ++v) sums.at[r][v] = svmul_x(all, sums.at[r][v], alpha);
  }
  if (tile.bias) {
    const Vec<T> scale = repeated<T>(args.bias_scale);
    if (args.bias_kind == GemmBias::kColumn) {
      SVENGINE_UNROLL
      for (int v = 0; v < kPanelVectors; ++v) {
        const Vec<T> bias = svld1(exists[v], tile.bias + v * kLanes);
        SVENGINE_UNROLL
        for (int r = 0; r < kRows; ++r) sums.at[r][v] = svmla_x(all, sums.at[r][v], bias, scale);
      }
    } else {
      const int64_t step = args.bias_kind == GemmBias::kRow ? 1 : 0;
      SVENGINE_UNROLL
      for (int r = 0; r < kRows; ++r) {
        const Vec<T> bias = repeated<T>(tile.bias[r * step]);
        SVENGINE_UNROLL
        for (int v = 0; v < kPanelVectors; ++v) sums.at[r][v] = svmla_x(all, sums.at[r][v], bias, scale);
      }
    }
  }
  if (tile.residual) {
    const Vec<T> scale = repeated<T>(args.residual_scale);
    const T* residual = tile.residual;
    const int64_t ld = args.ld_residual;
    SVENGINE_UNROLL
    for (int r = 0; r < kRows; ++r, residual += ld) SVENGINE_UNROLL
    for (int v = 0; v < kPanelVectors; ++v) {
      const Vec<T> x = svld1(exists[v], residual + v * kLanes);
      sums.at[r][v] = svmla_x(all, sums.at[r][v], x, scale);
    }
  }
}

template <Activation kKind, class T, int kRows>
SVENGINE_INLINE void activate(const ActivationArgs& args, Sums<T, kRows>& sums) {
  SVENGINE_UNROLL
  for (int r = 0; r < kRows; ++r) SVENGINE_UNROLL
  for (int v = 0; v < kPanelVectors; ++v) sums.at[r][v] = apply_activation<kKind>(sums.at[r][v], args);
}

/// The whole life of a tile but for the activations of a later pass (see activates_in_registers).
template <class T, int kRows>
__attribute__((noinline)) void run_tile_of(const GemmArgsOf<T>& args, const Tile<T>& tile) {
  constexpr int kLanes = kLanesOf<T>;
  const vb all = every<T>();
  Sums<T, kRows> sums;
  SVENGINE_UNROLL
  for (int r = 0; r < kRows; ++r) SVENGINE_UNROLL
  for (int v = 0; v < kPanelVectors; ++v) sums.at[r][v] = repeated<T>(0);
  if (const T* seed = tile.seed) {
    SVENGINE_UNROLL
    for (int r = 0; r < kRows; ++r) SVENGINE_UNROLL
    for (int v = 0; v < kPanelVectors; ++v) sums.at[r][v] = svld1(all, seed + r * kPanelColumns<T> + v * kLanes);
  }
  multiply<kRows>(tile.depth, tile.a, tile.b, tile.prefetch, sums);
  if (T* partial = tile.partial) {
    SVENGINE_UNROLL
    for (int r = 0; r < kRows; ++r) SVENGINE_UNROLL
    for (int v = 0; v < kPanelVectors; ++v) svst1(all, partial + r * kPanelColumns<T> + v * kLanes, sums.at[r][v]);
    return;
  }
  vb exists[kPanelVectors];
  SVENGINE_UNROLL
  for (int v = 0; v < kPanelVectors; ++v) exists[v] = lanes_below<T>(int64_t{v} * kLanes, tile.columns);
  scale_and_add(args, tile, exists, sums);
  if (args.activation.kind == Activation::kRelu) activate<Activation::kRelu>(args.activation, sums);
  if (args.activation.kind == Activation::kClip) activate<Activation::kClip>(args.activation, sums);
  T* c = tile.c;
  const int64_t ldc = args.ldc;
  SVENGINE_UNROLL
  for (int r = 0; r < kRows; ++r, c += ldc) SVENGINE_UNROLL
  for (int v = 0; v < kPanelVectors; ++v) svst1(exists[v], c + v * kLanes, sums.at[r][v]);
}

/// The others would need more registers than the tile leaves: they run over C while it is in L1.
constexpr bool activates_in_registers(Activation kind) {
  return kind == Activation::kNone || kind == Activation::kRelu || kind == Activation::kClip;
}

template <int kRows = kPanelRows, class T>
inline void run_tile(int64_t rows, const GemmArgsOf<T>& args, const Tile<T>& tile) {
  if constexpr (kRows > 1) {
    if (rows < kRows) return run_tile<kRows - 1>(rows, args, tile);
  }
  run_tile_of<T, kRows>(args, tile);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
