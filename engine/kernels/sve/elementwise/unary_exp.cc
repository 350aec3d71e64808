// exp, sigmoid and SiLU. This file is compiled without GCC's scheduling before register allocation
// (engine/CMakeLists.txt), which takes the vectors that stand in lockstep out of step again.
#include "engine/kernels/sve/elementwise/loop.h"
#include "engine/kernels/sve/elementwise/unary.h"
#include "engine/kernels/sve/math/exp.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise {
namespace {

/// N vectors from x on are |x| <= limit in every lane; false for NaN. Reads where `lanes` is set only, which must be everywhere.
template <int N>
SVENGINE_INLINE bool in_range(vb lanes, const float* x, float limit) {
  const vb all = svptrue_b32();
  vb good = lanes;
  SVENGINE_UNROLL
  for (int u = 0; u < N; ++u) good = svacle(good, svld1(lanes, x + u * kLanes), vdup(limit));
  return !svptest_any(all, svnot_z(all, good));
}

/// y = f(x) where |x| <= limit in all of a vector, and any(x) elsewhere, vector by vector.
template <class F, class G>
SVENGINE_INLINE void map_singly(const float* x, float* y, int64_t n, float limit, const F& f, const G& any) {
  for (int64_t i = 0; i < n; i += kLanes) {
    const vb p = svwhilelt_b32(i, n);
    const vf v = svld1(p, x + i);
    const bool calm = !svptest_any(p, svnot_z(p, svacle(p, v, vdup(limit))));
    svst1(p, y + i, calm ? f(Many<1>{v}).at[0] : any(v));
  }
}

/// y = f(x) where |x| <= limit, by a function that is good for these alone, and singly(x, y, n) elsewhere. A test before each block's work
/// would split the loop in two that the processor cannot overlap, so a block is tested while the one before it is computed:
///
///     test block 0 │ compute 0, test 1 │ compute 1, test 2 │ ...       one that fails ends the loop and goes vector by vector
template <int kMany, class F, class S>
SVENGINE_INLINE void map_by_range(const float* x, float* y, int64_t n, float limit, const F& f, const S& singly) {
  constexpr int64_t kBlock = kMany * kLanes;
  const int64_t last = n - kBlock;  // where the last whole block begins
  // All lanes where block i is whole; elsewhere fewer, of which none is beyond the end in any of its vectors.
  const auto whole = [last](int64_t i) SVENGINE_INLINE_LAMBDA { return svwhilelt_b32(i, last + kLanes); };
  for (int64_t i = 0; i < n;) {
    bool good = in_range<kMany>(whole(i), x + i, limit);
    while (good) {
      good = in_range<kMany>(whole(i + kBlock), x + i + kBlock, limit);
      map_block<kMany>(x + i, y + i, f);
      i += kBlock;
    }
    const int64_t rest = i <= last ? kBlock : n - i;
    singly(x + i, y + i, rest);
    i += rest;
  }
}

/// exp of what may be beyond FEXPA's range.
SVENGINE_INLINE vf exp_of_any(vf x) { return vsel(vgt(vabs(x), vdup(kTableExpLimit)), vexp(x), vexp_by_table(x)); }

/// A function of its own: its constants would push those of the fast loop out of the registers.
[[gnu::noinline]] void exp_singly(const float* x, float* y, int64_t n) {
  map_singly(x, y, n, kTableExpLimit, [](auto v) SVENGINE_INLINE_LAMBDA { return vexp_by_table(v); }, exp_of_any);
}

SVENGINE_HOT [[gnu::flatten]] void exp_loop(const UnaryArgs& args, int64_t begin, int64_t end) noexcept {
  const float* x = static_cast<const float*>(args.x) + begin;
  float* y = static_cast<float*>(args.y) + begin;
  if constexpr (kMachine.table_exp)
    map_by_range<8>(
        x, y, end - begin, kTableExpLimit, [](auto v) SVENGINE_INLINE_LAMBDA { return vexp_by_table(v); }, exp_singly);
  else
    map_in_lockstep<4>(x, y, end - begin, [](auto v) SVENGINE_INLINE_LAMBDA {
      return veach([](vf one) SVENGINE_INLINE_LAMBDA { return vexp(one); }, v);
    });
}

SVENGINE_HOT [[gnu::flatten]] void sigmoid_loop(const UnaryArgs& args, int64_t begin, int64_t end) noexcept {
  const float* x = static_cast<const float*>(args.x) + begin;
  float* y = static_cast<float*>(args.y) + begin;
  if constexpr (kMachine.table_exp) {
    const auto near = [](auto v) SVENGINE_INLINE_LAMBDA { return vsigmoid_by_table(v); };
    map_by_range<5>(x, y, end - begin, kTableExpLimit, near,
                    [&near](const float* from, float* to, int64_t n)
                        SVENGINE_INLINE_LAMBDA { map_singly(from, to, n, kTableExpLimit, near, vsigmoid<vf>); });
  } else {
    map_in_lockstep<4>(x, y, end - begin, [](auto v) SVENGINE_INLINE_LAMBDA { return vsigmoid(v); });
  }
}

SVENGINE_HOT [[gnu::flatten]] void silu_loop(const UnaryArgs& args, int64_t begin, int64_t end) noexcept {
  map_in_lockstep<kMachine.table_exp ? 5 : 4>(static_cast<const float*>(args.x) + begin, static_cast<float*>(args.y) + begin,
                                              end - begin, [](auto v) SVENGINE_INLINE_LAMBDA { return vmul(v, vsigmoid(v)); });
}

}  // namespace

UnaryFunction find_unary_exponential(UnaryOp op) noexcept {
  switch (op) {
    case UnaryOp::kExp: return exp_loop;
    case UnaryOp::kSigmoid: return sigmoid_loop;
    case UnaryOp::kSilu: return silu_loop;
    default: return nullptr;
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise
