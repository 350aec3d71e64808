// exp, tanh and sigmoid of doubles, in lockstep as those of floats are; the other functions of doubles are plain loops.
#include "engine/kernels/sve/elementwise/unary.h"
#include "engine/kernels/sve/math/f64.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise {
namespace {

constexpr int kDoubles = kLanes / 2;
constexpr int kMany = 4;  // vectors in lockstep

template <class F>
SVENGINE_INLINE void map(const UnaryArgs& args, int64_t begin, int64_t end, const F& f) {
  const double* x = static_cast<const double*>(args.x);
  double* y = static_cast<double*>(args.y);
  const vb all = svptrue_b64();
  int64_t i = begin;
  for (; i + kMany * kDoubles <= end; i += kMany * kDoubles) {
    Many<kMany, vd> v;
    SVENGINE_UNROLL
    for (int u = 0; u < kMany; ++u) v.at[u] = svld1(all, x + i + u * kDoubles);
    v = f(v);
    SVENGINE_UNROLL
    for (int u = 0; u < kMany; ++u) svst1(all, y + i + u * kDoubles, v.at[u]);
  }
  for (; i < end; i += kDoubles) {
    const vb p = svwhilelt_b64(i, end);
    svst1(p, y + i, f(Many<1, vd>{svld1(p, x + i)}).at[0]);
  }
}

void exp_f64(const UnaryArgs& args, int64_t begin, int64_t end) noexcept {
  map(args, begin, end, [](auto v) SVENGINE_INLINE_LAMBDA { return vexp_f64(v); });
}
void tanh_f64(const UnaryArgs& args, int64_t begin, int64_t end) noexcept {
  map(args, begin, end, [](auto v) SVENGINE_INLINE_LAMBDA { return vtanh_f64(v); });
}
void sigmoid_f64(const UnaryArgs& args, int64_t begin, int64_t end) noexcept {
  map(args, begin, end, [](auto v) SVENGINE_INLINE_LAMBDA { return vsigmoid_f64(v); });
}

}  // namespace

UnaryFunction find_unary_f64(UnaryOp op) noexcept {
  if (op == UnaryOp::kExp) return exp_f64;
  if (op == UnaryOp::kTanh) return tanh_f64;
  return op == UnaryOp::kSigmoid ? sigmoid_f64 : nullptr;
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise
