// Softmax and its kin, by the formulas of softmax.h, one line at a time.
#include "engine/kernels/softmax.h"

#include <cmath>
#include <limits>

#include "engine/kernels/reference/set/tasks.h"

namespace svengine::kernels::reference {
namespace {

int64_t lines(const SoftmaxArgs& args) { return args.n > 0 ? args.outer * args.inner : 0; }

struct Line {
  const float* x;
  float* y;
};
Line line_of(const SoftmaxArgs& args, int64_t item) {
  const int64_t outer = item / args.inner, inner = item % args.inner;
  return {args.x + outer * args.x_outer_stride + inner, args.y + outer * args.y_outer_stride + inner};
}

/// The first maximum of a line; the first NaN counts as one.
int64_t position_of_maximum(const SoftmaxArgs& args, const float* x) {
  int64_t best = 0;
  for (int64_t i = 0; i < args.n; ++i) {
    if (std::isnan(x[i * args.inner])) return i;
    if (x[i * args.inner] > x[best * args.inner]) best = i;
  }
  return best;
}

struct Moments {
  double maximum, sum;  // sum of exp(x - maximum); NaN in the cases that softmax.h names, by the arithmetic of infinities
};
Moments moments_of(const SoftmaxArgs& args, const float* x) {
  Moments m{x[position_of_maximum(args, x) * args.inner], 0};
  for (int64_t i = 0; i < args.n; ++i) m.sum += std::exp(x[i * args.inner] - m.maximum);
  return m;
}

void softmax_range(const SoftmaxArgs& args, int64_t begin, int64_t end, void*) {
  for (int64_t item = begin; item < end; ++item) {
    const Line line = line_of(args, item);
    const Moments m = moments_of(args, line.x);
    for (int64_t i = 0; i < args.n; ++i)
      line.y[i * args.inner] = static_cast<float>(std::exp(line.x[i * args.inner] - m.maximum) / m.sum);
  }
}

void log_softmax_range(const SoftmaxArgs& args, int64_t begin, int64_t end, void*) {
  for (int64_t item = begin; item < end; ++item) {
    const Line line = line_of(args, item);
    const Moments m = moments_of(args, line.x);
    for (int64_t i = 0; i < args.n; ++i)
      line.y[i * args.inner] = static_cast<float>(line.x[i * args.inner] - m.maximum - std::log(m.sum));
  }
}

void hardmax_range(const SoftmaxArgs& args, int64_t begin, int64_t end, void*) {
  for (int64_t item = begin; item < end; ++item) {
    const Line line = line_of(args, item);
    const int64_t best = position_of_maximum(args, line.x);
    for (int64_t i = 0; i < args.n; ++i) line.y[i * args.inner] = i == best ? 1.0f : 0.0f;
  }
}

}  // namespace

extern const SoftmaxKernels softmax_kernels;
constinit const SoftmaxKernels softmax_kernels{by_items<SoftmaxArgs, lines, softmax_range, 1>(),
                                               by_items<SoftmaxArgs, lines, log_softmax_range, 1>(),
                                               by_items<SoftmaxArgs, lines, hardmax_range, 1>()};

}  // namespace svengine::kernels::reference
