// The transforms of Winograd's convolution F(4x4, 3x3); the matrices are in conv/winograd/winograd.h.
//
// Each is done along columns, then along rows, for the rows that share work at a time: that keeps what lies between the two in
// registers, at the price of loading some vectors twice. Subtractions of a multiple are additions of a negative one: LLVM's
// model of A64FX, with which cycles are estimated, does not know FMSB.
#include "engine/kernels/sve/conv/winograd/rows.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

namespace {

template <bool kWhole>
SVENGINE_HOT void input_tile(const float* from, int64_t row_step, const Inside& inside, float* to, const Steps& steps) {
  input_tile_pair<0, kWhole>(from, row_step, inside, to, steps);
  input_tile_pair<1, kWhole>(from, row_step, inside, to + 2 * steps.row, steps);
  input_tile_pair<2, kWhole>(from, row_step, inside, to + 4 * steps.row, steps);
}

/// (G t) of a row t of three, at all six frequencies.
SVENGINE_INLINE void weight_row(vf t0, vf t1, vf t2, float* to, int64_t step) {
  const vb all = svptrue_b32();
  const vf two = svdup_f32(2.0f), four = svdup_f32(4.0f);
  const vf near = svadd_x(all, t0, t2), far = svmla_x(all, t0, t2, four);
  svst1(all, to, t0);
  svst1(all, to + step, t2);
  svst1(all, to + 2 * step, svadd_x(all, near, t1));
  svst1(all, to + 3 * step, svsub_x(all, near, t1));
  svst1(all, to + 4 * step, svmla_x(all, far, t1, two));
  svst1(all, to + 5 * step, svmla_x(all, far, t1, svdup_f32(-2.0f)));
}

/// G g at the rows of pair kPair: three columns of each.
struct WeightRows {
  vf first[3], second[3];
};

template <int kPair>
SVENGINE_INLINE WeightRows weight_columns(const float* from) {
  const vb all = svptrue_b32();
  const vf two = svdup_f32(2.0f), four = svdup_f32(4.0f);
  WeightRows rows;
  SVENGINE_UNROLL
  for (int j = 0; j < 3; ++j) {
    const vf g0 = svld1(all, from + j * kLanes), g2 = svld1(all, from + (6 + j) * kLanes);
    rows.first[j] = g0;
    rows.second[j] = g2;
    if constexpr (kPair != 0) {
      const vf g1 = svld1(all, from + (3 + j) * kLanes);
      const vf even = kPair == 1 ? svadd_x(all, g0, g2) : svmla_x(all, g0, g2, four);
      rows.first[j] = kPair == 1 ? svadd_x(all, even, g1) : svmla_x(all, even, g1, two);
      rows.second[j] = kPair == 1 ? svsub_x(all, even, g1) : svmla_x(all, even, g1, svdup_f32(-2.0f));
    }
  }
  return rows;
}

/// The columns of the next channel are under way while the rows of one are finished: A64FX has too few instructions in flight to
/// overlap channels by itself.
template <int kPair>
SVENGINE_HOT void weights_of_pair(int64_t channels, int vectors, const float* from, int64_t block_step, float* to, int64_t frequency_step) {
  for (int v = 0; v < vectors; ++v) {
    const float* at = from + v * block_step;
    float* out = to + v * kLanes;
    WeightRows rows = weight_columns<kPair>(at);
    for (int64_t left = channels - 1; left >= 0; --left) {
      at += left ? 9 * kLanes : 0;
      const WeightRows next = weight_columns<kPair>(at);
      weight_row(rows.first[0], rows.first[1], rows.first[2], out, frequency_step);
      weight_row(rows.second[0], rows.second[1], rows.second[2], out + kTileIn * frequency_step, frequency_step);
      rows = next;
      out += vectors * kLanes;
    }
  }
}

}  // namespace

namespace {

/// What a kernel plane's input block is for the output planes of the batch.
struct InputPlane {
  const float* at;
  int64_t height;  // 0 where there is none

  InputPlane(const WinogradPlan& plan, int64_t block, int64_t image, const float* input) {
    const int64_t kernel_plane = block / plan.plane_blocks;
    const PlanePlace place(plan, image);
    const int64_t z = place.plane * plan.stride_depth - plan.pad_depth + kernel_plane * plan.dilation_depth;
    height = z >= 0 && z < plan.in_depth ? plan.in_height : 0;
    const int64_t in_block = block - kernel_plane * plan.plane_blocks;
    at = input + place.image * plan.in_image_step + in_block * plan.in_block_step + z * plan.in_plane_step;
  }
};

}  // namespace

void transform_inputs(const WinogradPlan& plan, const TileGroup& group, int64_t block, const float* input, float* to) {
  const Steps steps{plan.input_row_step(), plan.input_step()};
  TilePlace place(plan, group.begin);
  InputPlane plane(plan, block, place.image, input);
  for (int64_t part = 0; part < group.parts; ++part) {
    const int64_t rows = group.rows + (part < group.longer);
    float* row = to + block * rows * plan.input_block_step();
    to += rows * plan.in_blocks * kLanes;
    for (int64_t i = 0; i < rows; ++i, row += kLanes) {
      const int64_t y = place.y - plan.pad_height, x = place.x - plan.pad_width;
      const Inside inside{{-y, plane.height - y}, {-x, plan.in_width - x}};
      const bool whole = y >= 0 && x >= 0 && inside.rows.end >= kTileIn && inside.columns.end >= kTileIn;
      const float* from = plane.at + y * plan.in_row_step + x * kLanes;
      (whole ? &input_tile<true> : &input_tile<false>)(from, plan.in_row_step, inside, row, steps);
      if (place.advance(plan)) plane = InputPlane(plan, block, place.image, input);
    }
  }
}

void transform_weights(int pair, int64_t channels, int vectors, const float* from, int64_t block_step, float* to,
                       int64_t frequency_step) {
  constexpr decltype(&weights_of_pair<0>) kFunctions[kPairs] = {&weights_of_pair<0>, &weights_of_pair<1>, &weights_of_pair<2>};
  kFunctions[pair](channels, vectors, from, block_step, to, frequency_step);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
