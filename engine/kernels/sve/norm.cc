// Layer norm and RMS norm over rows, with the residual addition before it.
#include "engine/kernels/norm.h"

#include "engine/kernels/sve/norm_channel.h"
#include "engine/kernels/sve/norm_moments.h"
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

void layer_norm_row(const RowNormArgs& args, int64_t row) {
  const float* t = add_residual(args, row);
  const Moments m = line_moments(args.n, [t](int64_t i, vb p) SVENGINE_INLINE_LAMBDA -> vf { return svld1(p, t + i); });
  const float inv_std = inverse_std(m.variance, args.epsilon);
  if (args.mean) args.mean[row] = m.center + m.correction;
  if (args.inv_std) args.inv_std[row] = inv_std;
  const vf center = vdup(m.center), factor = vdup(inv_std), shift = vdup(-m.correction * inv_std);
  scale_line(args, args.y + row * args.y_stride, [=](int64_t i, vb p) SVENGINE_INLINE_LAMBDA -> vf {
    const vf d = vsub(svld1(p, t + i), center);
    return vfma(d, factor, shift);
  });
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

int64_t row_tasks(const RowNormArgs& args) noexcept { return TaskCut(args.rows, args.n).tasks(); }

template <void (*kRow)(const RowNormArgs&, int64_t)>
void row_run(const RowNormArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const TaskCut cut(args.rows, args.n);
  for (int64_t row = cut.begin(begin); row < cut.begin(end); ++row) kRow(args, row);
}

}  // namespace

extern const NormKernels norm_kernels;
const NormKernels norm_kernels{
    {row_tasks, no_scratch, row_run<layer_norm_row>},         {row_tasks, no_scratch, row_run<rms_norm_row>},
    {group_norm_tasks, no_scratch, group_norm_run},           {channel_affine_tasks, no_scratch, channel_affine_run},
    {channel_moments_tasks, no_scratch, channel_moments_run}, {local_response_tasks, no_scratch, local_response_run}};

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
