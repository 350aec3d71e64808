// The innermost convolution: a tile of kPixels x kVectors sums held in registers.
//
//              weights of this step: kVectors vectors         each step (one input channel of one tap): load kVectors
//             +------+------+------+------+                   vectors of weights, broadcast kPixels inputs,
//   pixel 0 ->| acc  | acc  | acc  | acc  |                   kPixels * kVectors multiply-adds
//   pixel 1 ->| acc  | acc  | acc  | acc  |  ...
//             +------+------+------+------+
//
// Every pixel has its own address, so that a tile may lie anywhere: at a border, across rows, with any stride. Pixels whose
// tap lies outside the image read zeros; taps that are outside for the whole tile are skipped. Where nothing lies outside and
// the taps of a kernel row are neighbours in memory, they become one long run. Where in addition the pixels are a fixed, short
// step apart, one address serves all pixels that a broadcast reaches with its offset: fewer additions, 12.2 instead of 13.3
// cycles for a step of 6 x 4 (LLVM's A64FX model).
//
// One step a loop iteration: with two, GCC 12 loads the second step's weights early and spills accumulators.
#pragma once
#include "engine/kernels/sve/conv/epilogue.h"
#include "engine/kernels/sve/conv/direct/plan.h"
#include "engine/kernels/sve/conv/sums.h"
#include "engine/kernels/sve/tile_row.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

struct Tile {
  const float* input;    // in the first block of the image and group
  const float* weights;  // of the first unit: [units][kernel_width][run][vectors][kLanes]
  const float* bias;     // [vectors][kLanes]
  const float* residual; // null: none; at the first pixel of the first block
  float* output;         // likewise
  int64_t first_block, first_row, units;  // of this pass
  int64_t full_units;    // its first units, whose taps have plan.runs[1] steps; the others have plan.runs[0]
  const float* prefetch_at;    // weights wanted soon: each unit prefetches the next prefetch_lines cache lines
  int64_t prefetch_lines;
  bool joined;           // every kernel row of this pass inside the image is one run
  bool first, last;      // this pass begins, completes the sum
  Clamp clamp;           // of a completed sum
  const uint32_t* row_masks;     // [kernel_height] bit p: pixel p has an input row at this tap; inner tiles do not read them
  const uint32_t* column_masks;  // [kernel_width] likewise
  const int64_t* pixels;         // floats from `input` to each pixel's tap (0, 0)
};

using TileFunction = void (*)(const Plan& plan, const Tile& tile);

struct TileFunctions {
  TileFunction row;  // inner tiles within a row, with the pixel step asked for
  TileFunction inner, border;
};

/// Steps between the inputs of neighbouring pixels, in floats, for which there are functions: blocked with stride 1 and 2.
inline constexpr int kPixelSteps[] = {kLanes, 2 * kLanes};

/// The functions for a tile of this many pixels and blocks; `row` is `inner` if there is none for the step. Of more than most_pixels()
/// there is only `row`.
TileFunctions tile_functions(int pixels, int vectors, int64_t pixel_step);

/// Likewise of first layers, which have tiles of most_neighbours() pixels then: 1 to 4 channels with stride 1, 1 to 3 with stride 2.
inline constexpr int kFirstSteps[] = {1, 2, 3, 4, 6};

constexpr bool is_first_step(int64_t step) {
  for (int known : kFirstSteps)
    if (step == known) return true;
  return false;
}

/// `row` for one of kFirstSteps; null where tiles are less than half of the largest, as rows are cut where these are short only.
TileFunction first_tile_function(int pixels, int vectors, int64_t pixel_step);

/// The same for tiles of three blocks, which conv/direct/tile_three.cc compiles without GCC's scheduling before register allocation: it
/// takes all eight broadcasts prefetch_at of the third block's multiply-adds, which leaves three of the 24 sums no register.
TileFunctions tile_functions_of_three(int pixels, int64_t pixel_step);
TileFunction first_tile_function_of_three(int pixels, int64_t pixel_step);

/// Broadcasts inputs for pixels outside the image.
alignas(256) inline constexpr float kZeros[kLanes] = {};

template <int kPixels, int kVectors>
inline __attribute__((always_inline)) void begin_sums(const Plan& plan, const Tile& tile, Sums<kPixels, kVectors>& sums) {
  if (!tile.first) {
    load(tile.output, plan.out_block_step, sums);
    return;
  }
  start_from(tile.bias, sums);
  if (tile.residual) add(tile.residual, plan.out_block_step, sums);
}

template <int kPixels, int kVectors>
inline __attribute__((always_inline)) void end_sums(const Plan& plan, const Tile& tile, Sums<kPixels, kVectors>& sums) {
  if (tile.last && tile.clamp.below) at_least(tile.clamp.lowest, sums);
  if (tile.last && tile.clamp.above) at_most(tile.clamp.highest, sums);
  store(tile.output, plan.out_block_step, sums);
}

/// address += floats, in its own register: left to itself, GCC copies all addresses before a loop and adds its length after it.
inline __attribute__((always_inline)) void advance(const float*& address, int64_t floats) { address = keep(address + floats); }

/// Pixels that one address serves when they are kStep floats apart (0: any distance): what a broadcast's offset reaches.
constexpr int pixels_reached(int step) { return step == 0 ? 1 : kMachine.broadcast_reach / step; }
constexpr int addresses(int pixels, int step) { return (pixels + pixels_reached(step) - 1) / pixels_reached(step); }

/// run > 0 steps over consecutive floats at every pixel's address; addresses and weights end up behind them.
template <int kStep, int kPixels, int kVectors>
inline __attribute__((always_inline)) void multiply(const float* (&x)[addresses(kPixels, kStep)], const float*& weights,
                                                    int64_t run, Sums<kPixels, kVectors>& sums) {
  constexpr int kReached = pixels_reached(kStep);
  const vb all = svptrue_b32();
  do {
    vf panel[kVectors];
    SVENGINE_UNROLL
    for (int v = 0; v < kVectors; ++v) panel[v] = svld1(all, weights + v * kLanes);
    SVENGINE_UNROLL
    for (int p = 0; p < kPixels; ++p) {
      const float*& address = x[p / kReached];
      advance(address, 0);  // keeps the load beside the broadcast: one LD1RW
      add_row(p, address + p % kReached * kStep, panel, sums.at[p]);
      if ((p + 1) % kReached == 0 || p + 1 == kPixels) advance(address, 1);
    }
    advance(weights, kVectors * kLanes);
  } while (--run != 0);
}

/// Prefetches `lines` cache lines. (Behind the last weights nothing may be there; prefetches do not fault.)
inline __attribute__((always_inline)) const float* prefetch(const float* at, int64_t lines) {
  for (; lines > 0; --lines, at += kMachine.line_bytes / kFloat) svprfw(svptrue_b32(), at, SV_PLDL2KEEP);
  return at;
}

/// A tile inside the image in a pass that is joined; kStep floats between its pixels' inputs, 0: tile.pixels.
template <int kPixels, int kVectors, int kStep>
SVENGINE_HOT void run_inner_tile(const Plan& plan, const Tile& tile) {
  Sums<kPixels, kVectors> sums;
  begin_sums(plan, tile, sums);
  const float* weights = tile.weights;
  const float* prefetch_at = tile.prefetch_at;
  const float* row = tile.input + tile.first_block * plan.block_step + tile.first_row * plan.kernel_row_step;
  constexpr int kAddresses = addresses(kPixels, kStep);
  const float* x[kAddresses];
  SVENGINE_UNROLL
  for (int a = 0; a < kAddresses; ++a) x[a] = row + (kStep ? a * pixels_reached(kStep) * kStep : tile.pixels[a]);
  const int64_t block_skip = plan.block_step - plan.kernel_height * plan.kernel_row_step;
  int64_t rows_left = plan.kernel_height - tile.first_row;  // of this block
  int64_t full_left = tile.full_units;
  for (int64_t unit = tile.units; unit > 0; --unit) {
    prefetch_at = prefetch(prefetch_at, tile.prefetch_lines);
    const int64_t run = plan.joined_runs[--full_left >= 0];
    multiply<kStep>(x, weights, run, sums);
    int64_t skip = plan.kernel_row_step - run;
    if (--rows_left == 0) {
      rows_left = plan.kernel_height;
      skip += block_skip;
    }
    SVENGINE_UNROLL
    for (int a = 0; a < kAddresses; ++a) x[a] += skip;
  }
  end_sums(plan, tile, sums);
}

/// Any tile, tap by tap.
template <int kPixels, int kVectors>
SVENGINE_HOT void run_border_tile(const Plan& plan, const Tile& tile) {
  constexpr uint32_t kAll = (1u << kPixels) - 1;
  Sums<kPixels, kVectors> sums;
  begin_sums(plan, tile, sums);
  const float* weights = tile.weights;
  const float* prefetch_at = tile.prefetch_at;
  int64_t ky = tile.first_row;
  int64_t full_left = tile.full_units;
  const float* row = tile.input + tile.first_block * plan.block_step + ky * plan.kernel_row_step;
  for (int64_t unit = tile.units; unit > 0; --unit) {
    prefetch_at = prefetch(prefetch_at, tile.prefetch_lines);
    const int64_t run = plan.runs[--full_left >= 0];
    const uint32_t row_mask = tile.row_masks[ky];
    const float* corner = row;
    for (int64_t kx = 0; kx < plan.kernel_width; ++kx, corner += plan.kernel_column_step) {
      const uint32_t mask = row_mask & tile.column_masks[kx];
      if (mask == 0) {
        weights += run * kVectors * kLanes;
        continue;
      }
      const float* x[kPixels];
      SVENGINE_UNROLL
      for (int p = 0; p < kPixels; ++p) x[p] = corner + tile.pixels[p];
      if (mask != kAll) {
        SVENGINE_UNROLL
        for (int p = 0; p < kPixels; ++p) x[p] = (mask >> p & 1) ? x[p] : kZeros;
      }
      multiply<0>(x, weights, run, sums);
    }
    row += plan.kernel_row_step;
    if (++ky == plan.kernel_height) {
      ky = 0;
      row += plan.block_step - plan.kernel_height * plan.kernel_row_step;
    }
  }
  end_sums(plan, tile, sums);
}

/// The functions of tiles of kVectors blocks and `pixels` pixels, at most kPixels.
template <int kPixels, int kVectors>
TileFunctions find_tile_functions(int pixels, int64_t pixel_step) {
  if constexpr (kPixels == 0) {
    return {};
  } else {
    if (pixels != kPixels) return find_tile_functions<kPixels - 1, kVectors>(pixels, pixel_step);
    TileFunctions found{nullptr, &run_inner_tile<kPixels, kVectors, 0>, &run_border_tile<kPixels, kVectors>};
    found.row = pixel_step == kPixelSteps[0]   ? &run_inner_tile<kPixels, kVectors, kPixelSteps[0]>
                : pixel_step == kPixelSteps[1] ? &run_inner_tile<kPixels, kVectors, kPixelSteps[1]>
                                               : found.inner;
    return found;
  }
}

/// The same of first_tile_function.
template <int kPixels, int kVectors, size_t kStepIndex = 0>
TileFunction find_first_tile_function(int pixels, int64_t pixel_step) {
  if constexpr (2 * kPixels < most_neighbours(kVectors))
    return nullptr;
  else if constexpr (kStepIndex == sizeof(kFirstSteps) / sizeof(kFirstSteps[0]))
    return nullptr;
  else if (pixels != kPixels)
    return find_first_tile_function<kPixels - 1, kVectors>(pixels, pixel_step);
  else if (pixel_step != kFirstSteps[kStepIndex])
    return find_first_tile_function<kPixels, kVectors, kStepIndex + 1>(pixels, pixel_step);
  else
    return &run_inner_tile<kPixels, kVectors, kFirstSteps[kStepIndex]>;
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
