// Weight gradients of depthwise and grouped layers whose groups lie within a channel block: lane o of a block's dy meets the lanes of the
// same input block that belong to its group, one after the other.
//
//   sums[part][block][member][ky][kx][lane] = sum over a part's rows of dy[lane] * input[lane / group * group + member]
//
// A part is a range of output rows of all images. A task sums one member of a block; the sums of some kernel columns and of
// neighbouring pixels stay in registers while all rows pass by, and a pixel of the input serves as many of them as it can.
#include "engine/kernels/sve/conv/weight_grad/grouped.h"

#include "engine/kernels/sve/conv/weight_grad/panel.h"
#include "engine/kernels/sve/math/base.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::conv {

namespace {

constexpr bool kManyRegisters = kMachine.vector_registers >= 32;
/// Pixels side by side: with the kernel columns 18 or 20 sums where there are 32 registers, else at most 10.
template <int kTaps>
constexpr int kPixels = kManyRegisters ? (kTaps == 5 ? 4 : 6) : (kTaps == 5 ? 2 : 3);
/// Rows that make a part worth its sums.
constexpr int64_t kLeastRows = 8;

struct GroupedWeights {
  int64_t group, blocks, taps, rows, parts;
  int64_t block_floats() const { return group * taps * kLanes; }
  int64_t part_floats() const { return blocks * block_floats(); }
};

GroupedWeights grouped_weights(const ConvWeightGradArgs& args) {
  const ConvShape& s = args.shape;
  GroupedWeights w{};
  w.group = s.out_channels / s.groups, w.blocks = ceil_div(s.out_channels, kLanes);
  w.taps = s.kernel.height * s.kernel.width, w.rows = s.batch * s.out.height;
  w.parts = larger(smaller(ceil_div(kWeightTasks, w.blocks * w.group), ceil_div(w.rows, kLeastRows)), 1);
  return w;
}

/// Output columns that see a pixel of the input through kernel column kx.
struct Columns {
  int64_t begin, end;
};
Columns columns_of(const ConvShape& s, int64_t kx) {
  const int64_t before = s.pad.width - kx * s.dilation.width, last = s.in.width - 1 + before;
  const int64_t begin = before > 0 ? ceil_div(before, s.stride.width) : 0;
  const int64_t end = last < 0 ? 0 : smaller(last / s.stride.width + 1, s.out.width);
  return {begin, larger(begin, end)};
}

/// The rows of a task as one kernel row sees them.
struct Rows {
  const ConvWeightGradArgs& args;
  int64_t block, blocks, begin, end, ky;

  /// Calls visit(dy, input) for every output row whose input row exists, with the first pixel of both.
  template <class F>
  void for_each(const F& visit) const {
    const ConvShape& s = args.shape;
    for (int64_t row = begin; row < end; ++row) {
      const int64_t image = row / s.out.height, y = row % s.out.height;
      const int64_t from = y * s.stride.height - s.pad.height + ky * s.dilation.height;
      if (from < 0 || from >= s.in.height) continue;
      const int64_t plane = image * blocks + block;
      visit(args.dy + (plane * s.out.height + y) * s.out.width * kLanes, args.input + (plane * s.in.height + from) * s.in.width * kLanes);
    }
  }
};

/// Input pixels as the lanes of dy meet them.
template <bool kPermuted>
struct Pixels {
  vu index;
  vf at(const float* from) const {
    const vf pixel = svld1(svptrue_b32(), from);
    if constexpr (kPermuted) return svtbl(pixel, index);
    else return pixel;
  }
};

template <int kTaps>
struct TapSums {
  vf at[kTaps][kPixels<kTaps>];
};

/// kPixels neighbours: input[p * stride + k * dilation] with dy[p]. kDense: both are 1, and a pixel is loaded once.
template <int kTaps, bool kPermuted, bool kDense>
SVENGINE_INLINE void add_neighbours(TapSums<kTaps>& sums, const Pixels<kPermuted>& pixels, const float* dy, const float* input,
                                    int64_t stride, int64_t dilation) {
  constexpr int kCount = kPixels<kTaps>;
  const vb all = svptrue_b32();
  vf gradient[kCount];
  SVENGINE_UNROLL
  for (int p = 0; p < kCount; ++p) gradient[p] = svld1(all, dy + p * kLanes);
  if constexpr (kDense) {
    SVENGINE_UNROLL
    for (int i = 0; i < kCount + kTaps - 1; ++i) {
      const vf pixel = pixels.at(input + i * kLanes);
      SVENGINE_UNROLL
      for (int k = 0; k < kTaps; ++k)
        if (i - k >= 0 && i - k < kCount) sums.at[k][i - k] = svmla_x(all, sums.at[k][i - k], gradient[i - k], pixel);
    }
  } else {
    SVENGINE_UNROLL
    for (int p = 0; p < kCount; ++p) {
      SVENGINE_UNROLL
      for (int k = 0; k < kTaps; ++k)
        sums.at[k][p] = svmla_x(all, sums.at[k][p], gradient[p], pixels.at(input + (p * stride + k * dilation) * kLanes));
    }
  }
}

/// Kernel columns kx to kx + kTaps - 1 of one kernel row: to[kTaps][kLanes].
template <int kTaps, bool kPermuted, bool kDense>
SVENGINE_HOT void sum_columns(const Rows& rows, int64_t kx, const Pixels<kPermuted>& pixels, float* to) {
  const ConvShape& s = rows.args.shape;
  const vb all = svptrue_b32();
  const int64_t stride = s.stride.width, dilation = s.dilation.width, shift = kx * dilation - s.pad.width;
  Columns tap[kTaps], common{0, s.out.width};
  for (int k = 0; k < kTaps; ++k) {
    tap[k] = columns_of(s, kx + k);
    common = {larger(common.begin, tap[k].begin), smaller(common.end, tap[k].end)};
  }
  common.end = larger(common.begin, common.end);
  TapSums<kTaps> sums;
  SVENGINE_UNROLL
  for (int k = 0; k < kTaps; ++k) {
    SVENGINE_UNROLL
    for (int p = 0; p < kPixels<kTaps>; ++p) sums.at[k][p] = svdup_f32(0.0f);
  }
  rows.for_each([&](const float* dy, const float* row) SVENGINE_INLINE_LAMBDA {
    int64_t x = common.begin;
    for (; x + kPixels<kTaps> <= common.end; x += kPixels<kTaps>)
      add_neighbours<kTaps, kPermuted, kDense>(sums, pixels, dy + x * kLanes, row + (x * stride + shift) * kLanes, stride, dilation);
    const int64_t done = x;
    SVENGINE_UNROLL
    for (int k = 0; k < kTaps; ++k) {  // borders, and what is left
      const auto add = [&](int64_t begin, int64_t end) SVENGINE_INLINE_LAMBDA {
        for (int64_t i = begin; i < end; ++i)
          sums.at[k][0] =
              svmla_x(all, sums.at[k][0], svld1(all, dy + i * kLanes), pixels.at(row + (i * stride + shift + k * dilation) * kLanes));
      };
      add(tap[k].begin, smaller(common.begin, tap[k].end));
      add(larger(done, tap[k].begin), tap[k].end);
    }
  });
  SVENGINE_UNROLL
  for (int k = 0; k < kTaps; ++k) {
    vf sum = sums.at[k][0];
    SVENGINE_UNROLL
    for (int p = 1; p < kPixels<kTaps>; ++p) sum = svadd_x(all, sum, sums.at[k][p]);
    svst1(all, to + k * kLanes, sum);
  }
}

template <bool kPermuted, bool kDense>
void sum_kernel_row(const Rows& rows, const Pixels<kPermuted>& pixels, float* to) {
  const int64_t width = rows.args.shape.kernel.width;
  for (int64_t kx = 0; kx < width;) {
    const int64_t left = width - kx, taps = left == 5 ? 5 : left == 4 ? 2 : smaller(left, 3);
    float* at = to + kx * kLanes;
    if (taps == 5) sum_columns<5, kPermuted, kDense>(rows, kx, pixels, at);
    else if (taps == 3) sum_columns<3, kPermuted, kDense>(rows, kx, pixels, at);
    else if (taps == 2) sum_columns<2, kPermuted, kDense>(rows, kx, pixels, at);
    else sum_columns<1, kPermuted, kDense>(rows, kx, pixels, at);
    kx += taps;
  }
}

template <bool kPermuted>
void sum_member(Rows rows, const Pixels<kPermuted>& pixels, float* to) {
  const ConvShape& s = rows.args.shape;
  const bool dense = s.stride.width == 1 && s.dilation.width == 1;
  for (rows.ky = 0; rows.ky < s.kernel.height; ++rows.ky, to += s.kernel.width * kLanes) {
    if (dense) sum_kernel_row<kPermuted, true>(rows, pixels, to);
    else sum_kernel_row<kPermuted, false>(rows, pixels, to);
  }
}

/// The sum of a part's dy of one block.
void sum_bias(const Rows& rows, float* to) {
  const ConvShape& s = rows.args.shape;
  for (int64_t row = rows.begin; row < rows.end;) {
    const int64_t image = row / s.out.height, y = row % s.out.height, count = smaller(s.out.height - y, rows.end - row);
    const float* dy = rows.args.dy + ((image * rows.blocks + rows.block) * s.out.height + y) * s.out.width * kLanes;
    add_pixels(dy, count * s.out.width, 1, to, row == rows.begin);
    row += count;
  }
}

}  // namespace

int64_t grouped_weight_sums_bytes(const ConvWeightGradArgs& args) {
  const GroupedWeights w = grouped_weights(args);
  return w.parts * (w.part_floats() + bias_floats(args)) * kFloat;
}

int64_t grouped_weight_sums_tasks(const ConvWeightGradArgs& args) {
  const GroupedWeights w = grouped_weights(args);
  return w.parts * w.blocks * w.group;
}

void grouped_weight_sums(const ConvWeightGradArgs& args, int64_t begin, int64_t end) {
  const GroupedWeights w = grouped_weights(args);
  for (int64_t task = begin; task < end; ++task) {
    const int64_t member = task % w.group, block = task / w.group % w.blocks, part = task / w.group / w.blocks;
    const Rows rows{args, block, w.blocks, part * w.rows / w.parts, (part + 1) * w.rows / w.parts, 0};
    float* to = args.sums + part * w.part_floats() + block * w.block_floats() + member * w.taps * kLanes;
    if (w.group == 1) {
      sum_member<false>(rows, {svdup_u32(0)}, to);
    } else {
      uint32_t lanes[kLanes];
      for (int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] = uint32_t(lane / w.group * w.group + member);
      sum_member<true>(rows, {svld1(svptrue_b32(), lanes)}, to);
    }
    if (args.bias && member == 0) sum_bias(rows, args.sums + w.parts * w.part_floats() + part * bias_floats(args) + block * kLanes);
  }
}

/// A task is a block.
int64_t grouped_weight_finish_tasks(const ConvWeightGradArgs& args) { return grouped_weights(args).blocks; }

void grouped_weight_finish(const ConvWeightGradArgs& args, int64_t begin, int64_t end) {
  const GroupedWeights w = grouped_weights(args);
  const vb all = svptrue_b32();
  const auto total = [&](const float* from, int64_t step, float* lanes) {
    vf sum = svld1(all, from);
    for (int64_t part = 1; part < w.parts; ++part) sum = svadd_x(all, sum, svld1(all, from + part * step));
    svst1(all, lanes, sum);
  };
  for (int64_t block = begin; block < end; ++block) {
    const int64_t first = block * kLanes, channels = smaller(kLanes, args.shape.out_channels - first);
    float lanes[kLanes];
    for (int64_t i = 0; i < w.group * w.taps; ++i) {
      total(args.sums + block * w.block_floats() + i * kLanes, w.part_floats(), lanes);
      for (int64_t lane = 0; lane < channels; ++lane) args.dw[(first + lane) * w.group * w.taps + i] = lanes[lane];
    }
    if (!args.bias) continue;
    total(args.sums + w.parts * w.part_floats() + first, bias_floats(args), lanes);
    for (int64_t lane = 0; lane < channels; ++lane) args.db[first + lane] = lanes[lane];
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::conv
