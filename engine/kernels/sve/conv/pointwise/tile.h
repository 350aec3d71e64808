// The innermost part of a 1 x 1 convolution: kPixels neighbouring pixels x kVectors output blocks of sums in registers.
//
//   every step:  panel[0 .. kVectors) = one input channel's weights      kVectors loads
//                for each pixel:  value = broadcast input[pixel]         1 load, at a fixed distance from the first pixel's
//                                 sums[pixel][v] += panel[v] * value     kVectors multiply-adds
//
// The channels of a pixel lie in blocks. On A64FX a sum's steps are one loop all the same: the address moves by one float or,
// every kLanes steps, on to the next block, chosen without a branch. Two instructions for that are cheaper than leaving and
// entering a loop for every block (10 cycles of 200). Where hundreds of instructions are in flight a block is a loop: leaving it
// costs nothing, and a step has fewer instructions, which counts where a core's other thread is busy. The first step stands by
// itself, so that loading the sums overlaps with multiply-adds.
#pragma once
#include "engine/kernels/sve/conv/epilogue.h"
#include "engine/kernels/sve/conv/direct/plan.h"
#include "engine/kernels/sve/conv/sums.h"
#include "engine/kernels/sve/tile_row.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

/// Tiles of one size, one behind the other, and one pass over their sums. Distances are in floats.
struct PointwiseTiles {
  const float* input;     // the first tile's first pixel, first channel of the pass
  const float* weights;   // of the pass: [steps][kVectors][kLanes]
  const float* bias;      // [kVectors][kLanes]
  const float* residual;  // null: none
  float* output;
  const float* prefetch_at;     // weights to prefetch, so many cache lines for every interval of a tile; moves on
  const float* prefetch_end;
  int64_t prefetch_lines;
  int64_t tiles, steps;   // positive
  int64_t beyond;         // from the end of a pixel's block of input channels to its next block
  int64_t out_block_step;
  bool first, last;       // pass of the sum
  Clamp clamp;
};

/// Whether a block's steps are a loop of their own, rather than all steps of an interval.
inline constexpr bool kByBlocks = kMachine.deep_window;
/// Steps between prefetches of weights: few enough that the lines do not come in a burst, many enough that leaving the loop is
/// free.
inline constexpr int64_t kPrefetchInterval = kByBlocks ? kLanes : kMachine.line_bytes / 2;
inline constexpr int kPrefetchLines = 4;  // prefetched at once; up to so many too many
inline constexpr int64_t kLineFloats = kMachine.line_bytes / kFloat;
/// Prefetch intervals of a tile.
constexpr int64_t prefetch_intervals(int64_t steps) { return larger(ceil_div(kByBlocks ? steps : steps - 1, kPrefetchInterval), 1); }

using PointwiseFunction = void (*)(PointwiseTiles& tiles);

/// The function for tiles of this many pixels and output blocks.
PointwiseFunction pointwise_function(int pixels, int vectors);

/// Turned right by one bit after every step, it has its highest bit set after the steps that end an input block.
inline constexpr uint64_t kBlockEnds = ~uint64_t{0} / ((uint64_t{1} << kLanes) - 1) << (kLanes - 1);

/// Where a tile's next step reads.
struct PointwiseCursor {
  const float* input;
  const float* weights;
  uint64_t ends = kBlockEnds;
};

template <int kPixels, int kVectors>
inline __attribute__((always_inline)) void step(int64_t beyond, PointwiseCursor& at, Sums<kPixels, kVectors>& sums) {
  constexpr int kReached = kMachine.broadcast_reach / kLanes;  // pixels that one address serves
  const vb all = svptrue_b32();
  vf panel[kVectors];
  SVENGINE_UNROLL
  for (int v = 0; v < kVectors; ++v) panel[v] = svld1(all, at.weights + v * kLanes);
  const float* input = at.input;
  SVENGINE_UNROLL
  for (int p = 0; p < kPixels; ++p) {
    if (p > 0 && p % kReached == 0) input = keep(input + kReached * kLanes);
    add_row(p, input + p % kReached * kLanes, panel, sums.at[p]);
  }
  at.weights = keep(at.weights + kVectors * kLanes);
  at.input = keep(at.input + 1);
  if constexpr (!kByBlocks) {
    at.ends = at.ends >> 1 | at.ends << 63;
    at.input += int64_t(at.ends) >> 63 & beyond;
  }
}

/// A tile's sums from their start, with the first step.
template <int kPixels, int kVectors>
inline __attribute__((always_inline)) void begin(const PointwiseTiles& tiles, const float* residual, const float* output,
                                                 PointwiseCursor& at, Sums<kPixels, kVectors>& sums) {
  if (!tiles.first) {
    load(output, tiles.out_block_step, sums);
    step(tiles.beyond, at, sums);
  } else if (residual) {
    start_from(tiles.bias, sums);
    add(residual, tiles.out_block_step, sums);
    step(tiles.beyond, at, sums);
  } else {
    start_from(tiles.bias, sums);
    step(tiles.beyond, at, sums);
  }
}

template <int kPixels, int kVectors>
inline __attribute__((always_inline)) void end(const PointwiseTiles& tiles, float* output, Sums<kPixels, kVectors>& sums) {
  if (tiles.last && tiles.clamp.below) at_least(tiles.clamp.lowest, sums);
  if (tiles.last && tiles.clamp.above) at_most(tiles.clamp.highest, sums);
  store(output, tiles.out_block_step, sums);
}

template <int kPixels, int kVectors>
SVENGINE_HOT void run_pointwise(PointwiseTiles& tiles) {
  constexpr int64_t kTile = kPixels * kLanes;
  const float* input = tiles.input;
  const float* residual = tiles.residual;
  const float* prefetch_at = tiles.prefetch_at;
  const int64_t prefetch_floats = tiles.prefetch_lines * kLineFloats;
  float* output = tiles.output;
  for (int64_t tile = tiles.tiles; tile > 0; --tile) {
    Sums<kPixels, kVectors> sums;
    PointwiseCursor at{input, tiles.weights};
    begin(tiles, residual, output, at, sums);
    int64_t left = tiles.steps - 1;
    int64_t interval = kByBlocks ? kPrefetchInterval - 1 : kPrefetchInterval;
    do {
      const float* until = prefetch_at + prefetch_floats < tiles.prefetch_end ? prefetch_at + prefetch_floats : tiles.prefetch_end;
      for (; prefetch_at < until; prefetch_at += kPrefetchLines * kLineFloats)
        SVENGINE_UNROLL
        for (int line = 0; line < kPrefetchLines; ++line) svprfw(svptrue_b32(), prefetch_at + line * kLineFloats, SV_PLDL2KEEP);
      int64_t some = smaller(left, interval);
      left -= some;
      if constexpr (kByBlocks) {
        // The pixels' next block or, at the end, the next tile: a cache line a step.
        const float* soon = left > 0 ? at.input + some + tiles.beyond : input + kTile;
        for (; some > 0; --some, soon = keep(soon + kLineFloats)) {
          svprfw(svptrue_b32(), soon, SV_PLDL1KEEP);
          step(tiles.beyond, at, sums);
        }
        at.input += tiles.beyond;
        interval = kPrefetchInterval;
      } else {
        for (; some > 0; --some) step(tiles.beyond, at, sums);
      }
    } while (left > 0);
    end(tiles, output, sums);
    input += kTile;
    output += kTile;
    if (residual) residual += kTile;
  }
  tiles.prefetch_at = prefetch_at;
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
