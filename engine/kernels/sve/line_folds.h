// One vector for each of as many lines as a vector has lanes, folded into one vector: lane r of the result is the operation over all lanes
// of line r's. Across the lanes of one vector that takes log2 of the lanes steps, each waiting for the one before; here a step halves the
// number of vectors, so that a line costs two shuffles and one operation:
//
//     a0 a1 a2 a3  b0 b1 b2 b3     neighbours, as FADDV adds:   a01 a23 b01 b23     (UZP1, UZP2)
//                                  halves:                      a02 b02 a13 b13     (ZIP1, ZIP2)
//
// The vectors lie in memory, so that loops over lines are short code and few are in registers at a time.
#pragma once
#include "engine/kernels/sve/element.h"
#include "engine/kernels/sve/math/base.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

/// A vector of T for each of as many lines. Lines that are not there are zeros, or what was there before.
template <class T>
struct LineVectors {
  static constexpr int kLines = kLanesOf<T>;
  alignas(kVectorBytes) T at[kLines * kLines] = {};
  SVENGINE_INLINE T* line(int r) { return at + r * kLines; }
};

enum class FoldOrder : uint8_t { kNeighbours, kHalves };

/// Lines first, first + step, ... first + (kCount - 1) step, each in 1 / kCount of the lanes.
template <FoldOrder kOrder, int kCount, class T, class Op>
SVENGINE_INLINE Vec<T> folded_lines(const T* first, int step, const Op& op) {
  if constexpr (kCount == 1) {
    return svld1(every<T>(), first);
  } else if constexpr (kOrder == FoldOrder::kNeighbours) {
    const Vec<T> a = folded_lines<kOrder, kCount / 2>(first, step, op);
    const Vec<T> b = folded_lines<kOrder, kCount / 2>(first + kCount / 2 * step, step, op);
    return op(svuzp1(a, b), svuzp2(a, b));
  } else {
    const Vec<T> a = folded_lines<kOrder, kCount / 2>(first, 2 * step, op);
    const Vec<T> b = folded_lines<kOrder, kCount / 2>(first + step, 2 * step, op);
    return op(svzip1(a, b), svzip2(a, b));
  }
}

/// Lane r: op over the lanes of line r.
template <FoldOrder kOrder, class T, class Op>
SVENGINE_INLINE Vec<T> fold(const LineVectors<T>& v, const Op& op) {
  return folded_lines<kOrder, LineVectors<T>::kLines>(v.at, LineVectors<T>::kLines, op);
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
