// Softmax and its kin, by the formulas of softmax.h, one line at a time.
#include "engine/kernels/softmax.h"

#include <cmath>
#include <limits>

#include "engine/kernels/reference/set/tasks.h"

namespace svengine::kernels::reference {
namespace {

template <class T>
int64_t lines(const SoftmaxArgsOf<T>& args) {
  return args.n > 0 ? args.outer * args.inner : 0;
}

template <class T>
struct Line {
  const T* x;
  T* y;
};
template <class T>
Line<T> line_of(const SoftmaxArgsOf<T>& args, int64_t item) {
  const int64_t outer = item / args.inner, inner = item % args.inner;
  return {args.x + outer * args.x_outer_stride + inner, args.y + outer * args.y_outer_stride + inner};
}

/// The first maximum of a line; the first NaN counts as one.
template <class T>
int64_t position_of_maximum(const SoftmaxArgsOf<T>& args, const T* x) {
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
/// The sum is compensated (Kahan): a plain one of doubles would be less exact than the kernels' sums of blocks.
template <class T>
Moments moments_of(const SoftmaxArgsOf<T>& args, const T* x) {
  Moments m{x[position_of_maximum(args, x) * args.inner], 0};
  double lost = 0;
  for (int64_t i = 0; i < args.n; ++i) {
    const double term = std::exp(static_cast<double>(x[i * args.inner]) - m.maximum) - lost, sum = m.sum + term;
    lost = (sum - m.sum) - term;
    m.sum = sum;
  }
  return m;
}

template <class T>
void softmax_range(const SoftmaxArgsOf<T>& args, int64_t begin, int64_t end, void*) {
  for (int64_t item = begin; item < end; ++item) {
    const Line<T> line = line_of(args, item);
    const Moments m = moments_of(args, line.x);
    for (int64_t i = 0; i < args.n; ++i)
      line.y[i * args.inner] = static_cast<T>(std::exp(line.x[i * args.inner] - m.maximum) / m.sum);
  }
}

template <class T>
void log_softmax_range(const SoftmaxArgsOf<T>& args, int64_t begin, int64_t end, void*) {
  for (int64_t item = begin; item < end; ++item) {
    const Line<T> line = line_of(args, item);
    const Moments m = moments_of(args, line.x);
    for (int64_t i = 0; i < args.n; ++i)
      line.y[i * args.inner] = static_cast<T>(line.x[i * args.inner] - m.maximum - std::log(m.sum));
  }
}

template <class T>
void hardmax_range(const SoftmaxArgsOf<T>& args, int64_t begin, int64_t end, void*) {
  for (int64_t item = begin; item < end; ++item) {
    const Line<T> line = line_of(args, item);
    const int64_t best = position_of_maximum(args, line.x);
    for (int64_t i = 0; i < args.n; ++i) line.y[i * args.inner] = i == best ? T{1} : T{0};
  }
}

}  // namespace

extern const SoftmaxKernels softmax_kernels;
constinit const SoftmaxKernels softmax_kernels{
    by_items<SoftmaxArgs, lines<float>, softmax_range<float>, 1>(),         by_items<SoftmaxArgs, lines<float>, log_softmax_range<float>, 1>(),
    by_items<SoftmaxArgs, lines<float>, hardmax_range<float>, 1>(),         by_items<SoftmaxArgsF64, lines<double>, softmax_range<double>, 1>(),
    by_items<SoftmaxArgsF64, lines<double>, log_softmax_range<double>, 1>()};

}  // namespace svengine::kernels::reference
