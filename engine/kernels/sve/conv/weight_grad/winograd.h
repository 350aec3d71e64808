// Weight gradients of 3 x 3 convolutions in a quarter of the multiplications: Winograd's F(4x4, 3x3), read backwards.
//
// The forward pass is Y = A^T [(G g G^T) * (B^T d B)] A for every tile of 4 x 4 outputs (conv/winograd/winograd.h). Its derivative by g,
// applied to dY and summed over the tiles of the batch, is
//
//   dg = G^T [ sum over tiles of (A dY A^T) * (B^T d B) ] G
//
// so at each of the 36 frequencies there is one matrix product over tiles, and the sums are *folded* to 3 x 3 once at the end:
//
//      V[f]^T               M[f]                 U[f]
//      in channels          tiles x              in channels x            V = B^T d B    M = A dY A^T
//      x tiles        x     out channels    =    out channels
//
// A here is the matrix of whole numbers, and the denominators are in the fold:
//
//         [ 1  0  0  0 ]                   [ 1/4  -1/6  -1/6  1/24  1/24  0 ]
//         [ 1  1  1  1 ]             G^T = [  0   -1/6   1/6  1/12 -1/12  0 ]
//     A = [ 1 -1  1 -1 ]                   [  0   -1/6  -1/6   1/6   1/6  1 ]
//         [ 1  2  4  8 ]
//         [ 1 -2  4 -8 ]
//         [ 0  0  0  1 ]
//
// Cut: a task has a *unit* of input blocks, a *band* of groups of output blocks, and a part of the tiles. It takes a pair of rows
// of frequencies at a time, for which the sums U of its channels and the operands of a *chunk* of tiles stay in L2:
//
//   for each pair of rows:   for each chunk:  transform inputs to V, dy to M;  U[12] += V^T M
//                            fold the columns of U: 12 vectors to 6
//   fold the rows: 18 vectors to 9, the 3 x 3 taps of a weight, in the order of the direct algorithm's sums
//
// Inputs are transformed once for each band and dy once for each unit: the larger those are, the less of it.
#pragma once
#include "engine/kernels/sve/conv/weight_grad/plan.h"
#include "engine/kernels/sve/conv/winograd/winograd.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

/// Vectors left of a weight's 36 sums when their columns are folded.
inline constexpr int kFolded = 18;
/// Tiles multiplied at once at most: more gain nothing.
inline constexpr int64_t kMostChunkTiles = 64;
/// Tiles of a part at least, so that folding is a small part of the work.
inline constexpr int64_t kLeastPartTiles = 64;

struct WeightTiles {
  int64_t tiles_wide, image_tiles, tiles;  // of a row, of an image, of the batch
  int64_t out_height, out_width;
  int64_t in_blocks, out_blocks, out_groups;
  int64_t unit_blocks, units;            // input blocks of a unit at most
  int64_t band_groups, bands;            // groups of a band at most
  int64_t chunk;                         // tiles of a chunk at most
  int64_t parts;

  constexpr int64_t unit_begin(int64_t unit) const { return unit * in_blocks / units; }
  constexpr int64_t band_begin(int64_t band) const { return band * out_groups / bands; }
  constexpr int64_t vectors(int64_t group) const { return smaller(kMostVectors, out_blocks - group * kMostVectors); }

  /// Floats between frequencies of V, M and U in a task's scratch memory.
  constexpr int64_t input_step() const { return padded_stride(unit_blocks * chunk * kLanes); }
  constexpr int64_t gradient_step() const { return padded_stride(band_groups * kMostVectors * chunk * kLanes); }
  constexpr int64_t sum_step() const { return padded_stride(unit_blocks * band_groups * kMostVectors * kLanes * kLanes); }
  constexpr int64_t scratch_floats() const {
    return kPairFrequencies * (input_step() + gradient_step() + sum_step()) + kFolded * sum_step();
  }
};

constexpr WeightTiles weight_tiles(const ConvShape& s) {
  WeightTiles t{};
  t.out_height = s.out.height, t.out_width = s.out.width;
  t.tiles_wide = ceil_div(s.out.width, kTileOut);
  t.image_tiles = t.tiles_wide * ceil_div(s.out.height, kTileOut);
  t.tiles = s.batch * t.image_tiles;
  t.in_blocks = ceil_div(s.in_channels, kLanes);
  t.out_blocks = ceil_div(s.out_channels, kLanes);
  t.out_groups = ceil_div(t.out_blocks, kMostVectors);
  // Sums of a pair of rows take two fifths of a core's L2, operands of a chunk as much.
  const int64_t budget = kMachine.l2_bytes * 2 / 5 / kFloat / (kPairFrequencies * kLanes);
  t.units = t.bands = 1;
  for (t.unit_blocks = t.in_blocks, t.band_groups = t.out_groups;
       t.unit_blocks * t.band_groups * kMostVectors * kLanes > budget && t.unit_blocks * t.band_groups > 1;) {
    int64_t& cuts = t.band_groups > 1 && t.band_groups * kMostVectors >= t.unit_blocks ? t.bands : t.units;
    ++cuts;
    t.unit_blocks = ceil_div(t.in_blocks, t.units), t.band_groups = ceil_div(t.out_groups, t.bands);
  }
  const int64_t affordable = budget / (t.unit_blocks + t.band_groups * kMostVectors);
  t.parts = larger(smaller(ceil_div(kWeightTasks, t.units * t.bands), t.tiles / kLeastPartTiles), 1);
  t.chunk = smaller(larger(smaller(affordable, kMostChunkTiles), 1), ceil_div(t.tiles, t.parts));
  return t;
}

/// Pixels of a chunk of the direct algorithm, about; cycles of a tile's beginning and end, for each of its sums.
inline constexpr int64_t kDirectChunk = 160;
inline constexpr double kTileEnds = 6;

/// Whether the shape is one that the algorithm is for and takes less time with it, by a count of cycles of A64FX (LLVM's model): two
/// multiply-adds a cycle at 0.85 of the pipes, 150 to transform inputs of a tile and block, 80 for dy, 70 to fold the sums of a
/// vector of weights; 512 channels at 7 x 7, batch 1, are 5.8e6 directly and would be 6.8e6.
inline bool winograd_weights_pay(const ConvWeightGradArgs& args) {
  const ConvShape& s = args.shape;
  if (args.exact || args.plain_input || !possible(s)) return false;
  const WeightTiles t = weight_tiles(s);
  const auto real = [](int64_t n) { return static_cast<double>(n); };
  const double tiles = real(t.tiles), weights = real(t.in_blocks * kLanes * t.out_blocks), chunks = real(ceil_div(t.tiles, t.chunk));
  const int64_t pixels = s.batch * s.out.height * s.out.width;
  const double direct = weights * kTaps * (real(pixels) / 2 / 0.85 + real(ceil_div(pixels, kDirectChunk)) * kTileEnds);
  const double products = weights * kFrequencies * (tiles / 2 / 0.85 + chunks * kTileEnds);
  const double transforms = tiles * real(t.in_blocks * t.bands * 150 + t.out_blocks * t.units * 80) + weights * real(t.parts) * 70;
  return products + transforms < 0.9 * direct;
}

/// `count` tiles of the batch from `begin` on, at pair `pair` of rows of frequencies: B^T d B of input blocks [block, block +
/// blocks), to [12][block][tile][kLanes].
void transform_weight_inputs(const ConvWeightGradArgs& args, const WeightTiles& t, int pair, int64_t begin, int64_t count,
                             int64_t block, int64_t blocks, float* to);

/// A dY A^T of groups [group, group + groups) of output blocks: to [12][group][tile][vector][kLanes], groups gradient_floats apart.
void transform_weight_gradients(const ConvWeightGradArgs& args, const WeightTiles& t, int pair, int64_t begin, int64_t count,
                                int64_t group, int64_t groups, float* to);

/// Floats from a group's transformed dy to the next group's, in a chunk of `count` tiles.
constexpr int64_t gradient_floats(int64_t count) { return count * kMostVectors * kLanes; }

/// Sums of a pair of rows times G: `floats` of each, from [12] to [6], `step` floats apart.
void fold_columns(const float* sums, int64_t floats, int64_t step, float* to);

/// G^T times those: from [18][channel][vector][kLanes], `step` floats between the first, to [channel][3 x 3][vector][kLanes].
void fold_rows(const float* from, int64_t step, int64_t channels, int64_t vectors, float* to);

/// Tasks [begin, end) of the sums; there are parts * bands * units.
void winograd_weight_sums(const ConvWeightGradArgs& args, int64_t begin, int64_t end, float* scratch);

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
