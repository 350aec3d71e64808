// Random numbers: Philox 4x32-10 (base/philox.h), of which a number of [0, 1) takes two words. A word is the low half of a lane of 64 bits, in
// which a product of two has room; what is in the upper half nobody reads.
#include <wide_lanes.h>

#include "engine/kernels/sve/element.h"
#include "engine/kernels/sve/elementwise/parts.h"
#include "engine/kernels/sve/elementwise/walk.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise {
namespace {

constexpr int kNumbers = kLanesOf<double>;  // of a vector

SVENGINE_INLINE vul words(uint32_t word) { return svdup_u64(word); }
SVENGINE_INLINE vul exclusive_or(vul a, vul b, vul c) {
  const vb all = svptrue_b64();
  return sveor_x(all, sveor_x(all, a, b), c);
}
SVENGINE_INLINE vul upper_half(vul a) { return svlsr_x(svptrue_b64(), a, words(32)); }

/// The word in the low half of every lane as a double: below 2^52 a number is the low bits of 2^52 and itself.
SVENGINE_INLINE vd number_of(vul word) {
  const vul bits = svorr_x(svptrue_b64(), word, svdup_u64(0x4330000000000000));
  return svsub_x(svptrue_b64(), vd(svreinterpret_f64(bits)), svdup_f64(0x1p52));
}

/// (word0 2^32 + word1) without its 11 lowest bits, over 2^64: a sum of 53 bits, which is exact.
SVENGINE_INLINE vd uniform_of(vul word0, vul word1) {
  const vb all = svptrue_b64();
  const vd upper = number_of(svand_x(all, word0, words(0xffffffff)));
  const vd lower = number_of(svlsr_x(all, vul(svand_x(all, word1, words(0xffffffff))), words(11)));
  return svadd_x(all, vd(svmul_x(all, upper, svdup_f64(0x1p-32))), vd(svmul_x(all, lower, svdup_f64(0x1p-53))));
}

/// Numbers low, low + 1, ... of those that `high` begins.
SVENGINE_INLINE vd numbers_from(uint32_t low, uint32_t high, const uint32_t (&key)[2]) {
  constexpr uint32_t kMultiplier0 = 0xd2511f53, kMultiplier1 = 0xcd9e8d57, kWeyl0 = 0x9e3779b9, kWeyl1 = 0xbb67ae85;
  vul a = svreinterpret_u64(svindex_s64(low, 1)), b = words(high), c = words(0), d = words(0);
  SVENGINE_UNROLL
  for (uint32_t round = 0; round < 10; ++round) {
    const vul p = sve_wide::low_product(a, words(kMultiplier0)), q = sve_wide::low_product(c, words(kMultiplier1));
    a = exclusive_or(upper_half(q), b, words(key[0] + round * kWeyl0));
    c = exclusive_or(upper_half(p), d, words(key[1] + round * kWeyl1));
    b = q, d = p;
  }
  return uniform_of(a, b);
}

}  // namespace

int64_t uniform_tasks(const UniformArgs& args) noexcept { return divide_up(args.n, kElementwiseTask); }

void uniform_run(const UniformArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const int64_t last = smaller(end * kElementwiseTask, args.n);
  for (int64_t i = begin * kElementwiseTask; i < last;) {
    // Up to where the lower word of the number turns over.
    const uint64_t number = args.first + uint64_t(i);
    const int64_t left = int64_t((uint64_t{1} << 32) - (number & 0xffffffff)), stop = smaller(last, i + left);
    for (int64_t first = i; i < stop; i += kNumbers)
      svst1(svwhilelt_b64(i, stop), args.y + i, numbers_from(uint32_t(number + uint64_t(i - first)), uint32_t(number >> 32), args.key));
    i = stop;
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise
