// The end of Winograd's convolution F(4x4, 3x3): A^T M A, and the epilogue. See conv/winograd/transform.cc.
#include "engine/kernels/sve/conv/winograd/winograd.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

namespace {

/// A^T m / f at rows 0 and 2 (kHalf 0) or 1 and 3 (kHalf 1). Frequencies are in their places: 0, 5, 1, 2, 3, 4.
template <int kHalf>
SVENGINE_INLINE void sum_half(vf edge, vf m1, vf m2, vf m3, vf m4, vf& first, vf& second) {
  const vb all = svptrue_b32();
  if constexpr (kHalf == 0) {
    const vf near = svadd_x(all, m1, m2), far = svadd_x(all, m3, m4);
    first = svmla_x(all, svmla_x(all, far, edge, svdup_f32(6.0f)), near, svdup_f32(-4.0f));
    second = svsub_x(all, far, near);
  } else {
    const vf near = svsub_x(all, m1, m2), far = svsub_x(all, m3, m4);
    first = svmla_x(all, far, near, svdup_f32(-2.0f));
    second = svmla_x(all, svmla_x(all, near, far, svdup_f32(-2.0f)), edge, svdup_f32(-6.0f));
  }
}

/// f_i f_j / 576
constexpr float kSumScale[kTileOut][kTileOut] = {{1 / 576.0f, 2 / 576.0f, 4 / 576.0f, -4 / 576.0f},
                                                 {2 / 576.0f, 4 / 576.0f, 8 / 576.0f, -8 / 576.0f},
                                                 {4 / 576.0f, 8 / 576.0f, 16 / 576.0f, -16 / 576.0f},
                                                 {-4 / 576.0f, -8 / 576.0f, -16 / 576.0f, 16 / 576.0f}};

constexpr float kNoBias[kLanes] = {};

/// Where a tile's results go, and what is done to them.
struct SumTarget {
  float* output;
  const float* residual;  // null: none
  int64_t row_step;
  int64_t height, width;  // of the tile inside the image
  const float* bias;      // of the block
  Clamp clamp;
};

/// What is known of a tile: whether all of it lies inside the image, has a residual, a lower bound and no upper one.
enum class Known : uint8_t { kNothing, kPlain, kBelow, kResidual, kResidualBelow };

Known known(const SumTarget& target) {
  if (target.height < kTileOut || target.width < kTileOut || target.clamp.above) return Known::kNothing;
  if (target.residual) return target.clamp.below ? Known::kResidualBelow : Known::kResidual;
  return target.clamp.below ? Known::kBelow : Known::kPlain;
}

template <Known kKnown>
SVENGINE_INLINE void store_sum(const SumTarget& target, int i, int j, vf value) {
  constexpr bool kAsk = kKnown == Known::kNothing;
  const vb all = svptrue_b32();
  if (kAsk && (i >= target.height || j >= target.width)) return;
  value = svmla_x(all, svld1(all, target.bias), value, svdup_f32(kSumScale[i][j]));
  const int64_t at = i * target.row_step + j * kLanes;
  if (kAsk ? target.residual != nullptr : kKnown == Known::kResidual || kKnown == Known::kResidualBelow)
    value = svadd_x(all, value, svld1(all, target.residual + at));
  if (kAsk ? target.clamp.below : kKnown == Known::kBelow || kKnown == Known::kResidualBelow)
    value = svmax_x(all, value, target.clamp.lowest);
  if (kAsk && target.clamp.above) value = svmin_x(all, value, target.clamp.highest);
  svst1(all, target.output + at, value);
}

template <int kHalf, Known kKnown>
SVENGINE_INLINE void sum_tile_half(const float* m, int64_t step, const SumTarget& target) {
  const vb all = svptrue_b32();
  constexpr int kEdge = kHalf;  // frequency row 0 or, in place 1, row 5
  vf first[kTileIn], second[kTileIn];
  SVENGINE_UNROLL
  for (int j = 0; j < kTileIn; ++j) {
    const auto load = [&](int place) __attribute__((always_inline)) { return svld1(all, m + (place * kTileIn + j) * step); };
    sum_half<kHalf>(load(kEdge), load(2), load(3), load(4), load(5), first[j], second[j]);
  }
  vf o[kTileOut];
  sum_half<0>(first[0], first[2], first[3], first[4], first[5], o[0], o[2]);
  sum_half<1>(first[1], first[2], first[3], first[4], first[5], o[1], o[3]);
  SVENGINE_UNROLL
  for (int j = 0; j < kTileOut; ++j) store_sum<kKnown>(target, kHalf, j, o[j]);
  sum_half<0>(second[0], second[2], second[3], second[4], second[5], o[0], o[2]);
  sum_half<1>(second[1], second[2], second[3], second[4], second[5], o[1], o[3]);
  SVENGINE_UNROLL
  for (int j = 0; j < kTileOut; ++j) store_sum<kKnown>(target, kHalf + 2, j, o[j]);
}

/// Not inlined: together, the five need more registers for what the loop over tiles keeps than there are.
template <Known kKnown>
[[gnu::noinline]] SVENGINE_HOT void sum_tile(const float* m, int64_t step, const SumTarget& target) {
  sum_tile_half<0, kKnown>(m, step, target);
  sum_tile_half<1, kKnown>(m, step, target);
}

SVENGINE_HOT void sum_tile(const float* m, int64_t step, const SumTarget& target) {
  switch (known(target)) {
    case Known::kNothing: return sum_tile<Known::kNothing>(m, step, target);
    case Known::kPlain: return sum_tile<Known::kPlain>(m, step, target);
    case Known::kBelow: return sum_tile<Known::kBelow>(m, step, target);
    case Known::kResidual: return sum_tile<Known::kResidual>(m, step, target);
    case Known::kResidualBelow: return sum_tile<Known::kResidualBelow>(m, step, target);
  }
}

}  // namespace

void transform_sums(const WinogradPlan& plan, const TileGroup& group, int64_t block, int vectors, const float* sums,
                    const ConvArgs& args) {
  SumTarget target{};
  target.row_step = plan.out_row_step;
  target.bias = args.bias ? args.bias + block * kLanes : kNoBias;
  target.clamp = clamp_of(args.activation);
  const bool activates = activates_later(args.activation);
  TilePlace place(plan, group.begin);
  const auto plane_at = [&](int64_t image) {
    const PlanePlace at(plan, image);
    return at.image * plan.out_image_step + block * plan.out_block_step + at.plane * plan.out_plane_step;
  };
  int64_t plane = plane_at(place.image);
  for (int64_t i = 0; i < group.count; ++i, sums += vectors * kLanes) {
    const int64_t at = plane + place.y * plan.out_row_step + place.x * kLanes;
    target.output = args.output + at;
    target.residual = args.residual ? args.residual + at : nullptr;
    target.height = smaller(plan.out_height - place.y, kTileOut);
    target.width = smaller(plan.out_width - place.x, kTileOut);
    sum_tile(sums, plan.sum_step(), target);
    if (activates)
      for (int64_t y = 0; y < target.height; ++y)
        activate(args.activation, target.output + y * target.row_step, target.width * kLanes);
    if (place.advance(plan)) plane = plane_at(place.image);
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
