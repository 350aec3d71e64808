// The transforms of Winograd's weight gradients; the matrices are in conv/weight_grad/winograd.h.
#include "engine/kernels/sve/conv/weight_grad/winograd.h"
#include "engine/kernels/sve/conv/winograd/rows.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

namespace {

/// A y at the rows of pair kPair.
template <int kPair>
SVENGINE_INLINE void gradient_pair(vf y0, vf y1, vf y2, vf y3, vf& first, vf& second) {
  const vb all = svptrue_b32();
  if constexpr (kPair == 0) {
    first = y0;
    second = y3;
  } else if constexpr (kPair == 1) {
    const vf even = svadd_x(all, y0, y2), odd = svadd_x(all, y1, y3);
    first = svadd_x(all, even, odd);
    second = svsub_x(all, even, odd);
  } else {
    const vf four = svdup_f32(4.0f);
    const vf even = svmla_x(all, y0, y2, four), odd = svmla_x(all, y1, y3, four);
    first = svmla_x(all, even, odd, svdup_f32(2.0f));
    second = svmla_x(all, even, odd, svdup_f32(-2.0f));
  }
}

/// The six frequencies of one row.
SVENGINE_INLINE void gradient_row(const vf (&y)[kTileOut], float* to, int64_t step) {
  vf o[kTileIn];
  gradient_pair<0>(y[0], y[1], y[2], y[3], o[0], o[1]);
  gradient_pair<1>(y[0], y[1], y[2], y[3], o[2], o[3]);
  gradient_pair<2>(y[0], y[1], y[2], y[3], o[4], o[5]);
  SVENGINE_UNROLL
  for (int j = 0; j < kTileIn; ++j) svst1(svptrue_b32(), to + j * step, o[j]);
}

/// A dY A^T at a pair of rows; of dY there are `height` x `width` pixels.
template <int kPair, bool kWhole>
SVENGINE_INLINE void gradient_tile_pair(const float* from, int64_t row_step, int64_t height, int64_t width, float* to,
                                        int64_t step) {
  vf first[kTileOut], second[kTileOut];
  SVENGINE_UNROLL
  for (int j = 0; j < kTileOut; ++j) {
    vf y[kTileOut];
    SVENGINE_UNROLL
    for (int i = 0; i < kTileOut; ++i) {
      if (kPair == 0 && (i == 1 || i == 2)) {
        y[i] = svdup_f32(0.0f);
        continue;
      }
      const vb there = kWhole ? svptrue_b32() : svwhilelt_b32(int64_t{0}, int64_t{i < height && j < width ? kLanes : 0});
      y[i] = svld1(there, from + i * row_step + j * kLanes);
    }
    gradient_pair<kPair>(y[0], y[1], y[2], y[3], first[j], second[j]);
  }
  gradient_row(first, to, step);
  gradient_row(second, to + kTileIn * step, step);
}

/// Not inlined: in one loop with the whole tiles, it spills.
[[gnu::noinline]] void border_of_first_pair(const float* from, int64_t row_step, const Inside& inside, float* to, const Steps& steps) {
  input_tile_pair<0, false>(from, row_step, inside, to, steps);
}

template <int kPair>
SVENGINE_HOT void inputs_of_pair(const ConvWeightGradArgs& args, const WeightTiles& t, int64_t begin, int64_t count, int64_t block,
                                 int64_t blocks, float* to) {
  const ConvShape& s = args.shape;
  const int64_t row_step = s.in.width * kLanes, block_step = s.in.height * row_step;
  const Steps steps{kTileIn * t.input_step(), t.input_step()};
  for (int64_t b = 0; b < blocks; ++b, to += count * kLanes) {
    TilePlace place(t, begin);
    for (int64_t tile = 0; tile < count; ++tile, place.advance(t)) {
      const int64_t y = place.y - s.pad.height, x = place.x - s.pad.width;
      const Inside inside{{-y, s.in.height - y}, {-x, s.in.width - x}};
      const bool whole = y >= 0 && x >= 0 && inside.rows.end >= kTileIn && inside.columns.end >= kTileIn;
      const float* from = args.input + (place.image * t.in_blocks + block + b) * block_step + y * row_step + x * kLanes;
      if (whole)
        input_tile_pair<kPair, true>(from, row_step, inside, to + tile * kLanes, steps);
      else if constexpr (kPair == 0)
        border_of_first_pair(from, row_step, inside, to + tile * kLanes, steps);
      else
        input_tile_pair<kPair, false>(from, row_step, inside, to + tile * kLanes, steps);
    }
  }
}

template <int kPair>
SVENGINE_HOT void gradients_of_pair(const ConvWeightGradArgs& args, const WeightTiles& t, int64_t begin, int64_t count,
                                    int64_t group, int64_t groups, float* to) {
  const ConvShape& s = args.shape;
  const int64_t row_step = s.out.width * kLanes, block_step = s.out.height * row_step, step = t.gradient_step();
  for (int64_t g = group; g < group + groups; ++g, to += gradient_floats(count)) {
    const int64_t vectors = t.vectors(g);
    for (int64_t v = 0; v < vectors; ++v) {
      TilePlace place(t, begin);
      for (int64_t tile = 0; tile < count; ++tile, place.advance(t)) {
        const int64_t height = s.out.height - place.y, width = s.out.width - place.x;
        const int64_t block = place.image * t.out_blocks + g * kMostVectors + v;
        const float* from = args.dy + block * block_step + place.y * row_step + place.x * kLanes;
        float* out = to + (tile * vectors + v) * kLanes;
        if (height >= kTileOut && width >= kTileOut)
          gradient_tile_pair<kPair, true>(from, row_step, height, width, out, step);
        else
          gradient_tile_pair<kPair, false>(from, row_step, height, width, out, step);
      }
    }
  }
}

/// G^T u, u in the places of frequencies: 0, 5, 1, 2, 3, 4.
SVENGINE_INLINE void fold(const vf (&u)[kTileIn], vf (&g)[3]) {
  const vb all = svptrue_b32();
  const vf near = svadd_x(all, u[2], u[3]), near_odd = svsub_x(all, u[3], u[2]);
  const vf far = svadd_x(all, u[4], u[5]), far_odd = svsub_x(all, u[4], u[5]);
  const vf sixth = svdup_f32(-1.0f / 6);
  g[0] = svmla_x(all, svmla_x(all, svmul_x(all, u[0], svdup_f32(0.25f)), near, sixth), far, svdup_f32(1.0f / 24));
  g[1] = svmla_x(all, svmul_x(all, near_odd, svdup_f32(1.0f / 6)), far_odd, svdup_f32(1.0f / 12));
  g[2] = svmla_x(all, svmla_x(all, u[1], near, sixth), far, svdup_f32(1.0f / 6));
}

}  // namespace

void transform_weight_inputs(const ConvWeightGradArgs& args, const WeightTiles& t, int pair, int64_t begin, int64_t count,
                             int64_t block, int64_t blocks, float* to) {
  constexpr decltype(&inputs_of_pair<0>) kFunctions[kPairs] = {&inputs_of_pair<0>, &inputs_of_pair<1>, &inputs_of_pair<2>};
  kFunctions[pair](args, t, begin, count, block, blocks, to);
}

void transform_weight_gradients(const ConvWeightGradArgs& args, const WeightTiles& t, int pair, int64_t begin, int64_t count,
                                int64_t group, int64_t groups, float* to) {
  constexpr decltype(&gradients_of_pair<0>) kFunctions[kPairs] = {&gradients_of_pair<0>, &gradients_of_pair<1>,
                                                                  &gradients_of_pair<2>};
  kFunctions[pair](args, t, begin, count, group, groups, to);
}

SVENGINE_HOT void fold_columns(const float* sums, int64_t floats, int64_t step, float* to) {
  const vb all = svptrue_b32();
  for (int64_t i = 0; i < floats; i += kLanes, sums += kLanes, to += kLanes)
    SVENGINE_UNROLL
    for (int row = 0; row < 2; ++row) {
      vf u[kTileIn], g[3];
      SVENGINE_UNROLL
      for (int j = 0; j < kTileIn; ++j) u[j] = svld1(all, sums + (row * kTileIn + j) * step);
      fold(u, g);
      SVENGINE_UNROLL
      for (int j = 0; j < 3; ++j) svst1(all, to + (row * 3 + j) * step, g[j]);
    }
}

SVENGINE_INLINE void fold_rows_of(const float* from, int64_t step, float* to, int64_t tap_step) {
  const vb all = svptrue_b32();
  SVENGINE_UNROLL
  for (int j = 0; j < 3; ++j) {
    vf u[kTileIn], g[3];
    SVENGINE_UNROLL
    for (int row = 0; row < kTileIn; ++row) u[row] = svld1(all, from + (row * 3 + j) * step);
    fold(u, g);
    SVENGINE_UNROLL
    for (int i = 0; i < 3; ++i) svst1(all, to + (i * 3 + j) * tap_step, g[i]);
  }
}

SVENGINE_HOT void fold_rows(const float* from, int64_t step, int64_t channels, int64_t vectors, float* to) {
  for (int64_t c = 0; c < channels; ++c, to += kTaps * vectors * kLanes)
    for (int64_t v = 0; v < vectors; ++v, from += kLanes) fold_rows_of(from, step, to + v * kLanes, vectors * kLanes);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
