// Layer norm and RMS norm over rows, with the residual addition before it.
#include "engine/kernels/norm.h"

#include "engine/kernels/sve/checked.h"
#include "engine/kernels/sve/math/divide.h"
#include "engine/kernels/sve/norm/channel.h"
#include "engine/kernels/sve/norm/moments.h"
#include "engine/kernels/sve/tasks.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

// Writes x + residual to where it is wanted, or to y, which is written last; returns where the line to normalise
// stands.
const float* add_residual(const RowNormArgs& args, int64_t row) {
  const float* x = args.x + row * args.x_stride;
  const float* residual = args.residual ? args.residual + row * args.residual_stride : nullptr;
  if (!residual && !args.sum) return x;
  float* sum = args.sum ? args.sum + row * args.sum_stride : args.y + row * args.y_stride;
  for_each_vector<8>(args.n, [=](int64_t i, vb p) SVENGINE_INLINE_LAMBDA {
    const vf a = svld1(p, x + i);
    const vf b = residual ? vf(svld1(p, residual + i)) : vdup(0.0f);
    svst1(p, sum + i, residual ? vadd(a, b) : a);
  });
  return sum;
}

// y = normalised(i, p) * scale + bias with either left out.
template <class Normalised>
SVENGINE_INLINE void scale_line(const RowNormArgs& args, float* y, const Normalised& normalised) {
  const float *scale = args.scale, *bias = args.bias;
  if (scale && bias) {
    for_each_vector<4>(args.n, [&](int64_t i, vb p) SVENGINE_INLINE_LAMBDA {
      svst1(p, y + i, vfma(normalised(i, p), svld1(p, scale + i), svld1(p, bias + i)));
    });
  } else if (scale) {
    for_each_vector<4>(args.n, [&](int64_t i, vb p) SVENGINE_INLINE_LAMBDA {
      svst1(p, y + i, vmul(normalised(i, p), svld1(p, scale + i)));
    });
  } else if (bias) {
    for_each_vector<4>(args.n, [&](int64_t i, vb p) SVENGINE_INLINE_LAMBDA {
      svst1(p, y + i, vadd(normalised(i, p), svld1(p, bias + i)));
    });
  } else {
    for_each_vector<4>(args.n, [&](int64_t i, vb p) SVENGINE_INLINE_LAMBDA { svst1(p, y + i, normalised(i, p)); });
  }
}

/// Lane r of the result: the sum of the lanes of v[r].
template <int kRows>
SVENGINE_INLINE vf sums_of_rows(const vf (&v)[kRows]) {
  vf four[4];
  for (int r = 0; r < 4; ++r) four[r] = v[r < kRows ? r : 0];
  return lanes_of_four(four, [](vf a, vf b) SVENGINE_INLINE_LAMBDA -> vf { return vadd(a, b); });
}

/// Moments as in norm/moments.h, of several rows side by side: what follows the sums (across lanes, division, root) costs
/// once for all of them, in one lane each. A row's result does not depend on its neighbours.
template <int kRows>
SVENGINE_HOT void layer_norm_rows(const RowNormArgs& args, int64_t row) {
  const float* t[kRows];
  for (int r = 0; r < kRows; ++r) t[r] = add_residual(args, row + r);
  const vf share = vdup(1.0f / float(args.n));
  vf sum[kRows], squares[kRows];
  for (int r = 0; r < kRows; ++r) {
    vf high[1] = {vdup(0.0f)}, low[1] = {vdup(0.0f)};
    add_line<8, 1>(args.n, high, low, true,
                   [&](int64_t i, vb p, vf(&v)[1]) SVENGINE_INLINE_LAMBDA { v[0] = svld1(p, t[r] + i); });
    sum[r] = compensated_line<8>(args.n, high[0], low[0]);
  }
  const vf center = vmul(sums_of_rows(sum), share);
  for (int r = 0; r < kRows; ++r) {
    const vf middle = svdup_lane(center, r);
    vf high[2] = {vdup(0.0f), vdup(0.0f)}, low[2] = {vdup(0.0f), vdup(0.0f)};
    accumulate_line<4, 2>(args.n, high, low, true, [&](int64_t i, vb p, vf(&acc)[2]) SVENGINE_INLINE_LAMBDA {
      const vf d = vsub(svld1(p, t[r] + i), middle);
      acc[0] = svadd_m(p, acc[0], d);
      acc[1] = svmla_m(p, acc[1], d, d);
    });
    sum[r] = compensated_line<4>(args.n, high[0], low[0]);
    squares[r] = compensated_line<4>(args.n, high[1], low[1]);
  }
  const vf correction = vmul(sums_of_rows(sum), share);
  const vf variance = vmax(vfnma(correction, correction, vmul(sums_of_rows(squares), share)), 0.0f);
  const vf factor = vrsqrt(vadd(variance, vdup(args.epsilon))), shift = vneg(vmul(correction, factor));
  const vb rows = svwhilelt_b32(int64_t{0}, int64_t{kRows});
  if (args.mean) svst1(rows, args.mean + row, compensated(center, correction));
  if (args.inv_std) svst1(rows, args.inv_std + row, factor);
  for (int r = 0; r < kRows; ++r) {
    const vf middle = svdup_lane(center, r), scale = svdup_lane(factor, r), offset = svdup_lane(shift, r);
    const float* line = t[r];
    scale_line(args, args.y + (row + r) * args.y_stride, [=](int64_t i, vb p) SVENGINE_INLINE_LAMBDA -> vf {
      return vfma(vsub(svld1(p, line + i), middle), scale, offset);
    });
  }
}

void rms_norm_row(const RowNormArgs& args, int64_t row) {
  const float* t = add_residual(args, row);
  const float squares = line_sum<8>(args.n, [t](int64_t i, vb p) SVENGINE_INLINE_LAMBDA -> vf {
    const vf v = svld1(p, t + i);
    return vmul(v, v);
  });
  const float inv_std = inverse_std(float(double(squares) / double(args.n)), args.epsilon);
  if (args.inv_std) args.inv_std[row] = inv_std;
  const vf factor = vdup(inv_std);
  scale_line(args, args.y + row * args.y_stride, [=](int64_t i, vb p) SVENGINE_INLINE_LAMBDA -> vf {
    const vf v = svld1(p, t + i);
    return vmul(v, factor);
  });
}

int64_t row_tasks(const RowNormArgs& args) noexcept { return TaskPartition(args.rows, args.n).tasks(); }

void layer_norm_run(const RowNormArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const TaskPartition partition(args.rows, args.n);
  int64_t row = partition.begin(begin);
  for (; row + 4 <= partition.begin(end); row += 4) layer_norm_rows<4>(args, row);
  for (; row < partition.begin(end); ++row) layer_norm_rows<1>(args, row);
}

void rms_norm_run(const RowNormArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const TaskPartition partition(args.rows, args.n);
  for (int64_t row = partition.begin(begin); row < partition.begin(end); ++row) rms_norm_row(args, row);
}

}  // namespace

extern const NormKernels norm_kernels;
const NormKernels norm_kernels{
    {row_tasks, no_scratch, checked<RowNormArgs, layer_norm_run>()},
    {row_tasks, no_scratch, checked<RowNormArgs, rms_norm_run>()},
    {group_norm_tasks, no_scratch, checked<GroupNormArgs, group_norm_run>()},
    {group_norm_f64_tasks, no_scratch, checked<GroupNormArgsF64, group_norm_f64_run>()},
    {line_norm_tasks, no_scratch, checked<LineNormArgs, line_norm_run>()},
    {line_norm_f64_tasks, no_scratch, checked<LineNormArgsF64, line_norm_f64_run>()},
    {channel_affine_tasks, no_scratch, checked<ChannelAffineArgs, channel_affine_run>()},
    {channel_moments_tasks, no_scratch, channel_moments_run},
    {local_response_tasks, no_scratch, checked<LocalResponseArgs, local_response_run>()}};

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
