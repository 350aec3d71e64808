// Where elements that are not zero stand: unsigned integers with the bits of elements of any type, of which `significant` ones count.
#pragma once
#include <cstdint>

namespace svengine::ops {

inline constexpr int64_t kNonZeroBlock = 8;  // elements that are looked at together

/// How many of n elements have one of the significant bits.
template <class T>
int64_t count_non_zero(const T* x, T significant, int64_t n) {
  int64_t count = 0, i = 0;
  for (; i + kNonZeroBlock <= n; i += kNonZeroBlock) {
    int32_t in_block = 0;
    for (int64_t k = 0; k < kNonZeroBlock; ++k) in_block += (x[i + k] & significant) != 0;
    count += in_block;
  }
  for (; i < n; ++i) count += (x[i] & significant) != 0;
  return count;
}

/// The places of those elements go to `to`, at most up to `end`; returns the end of what was written. Every place is
/// written, and stays if its element is not zero: a branch that depends on values costs more than a store.
template <class T>
int64_t* append_places(const T* x, T significant, int64_t n, int64_t* to, const int64_t* end) {
  int64_t i = 0;
  for (; i + kNonZeroBlock <= n && end - to >= kNonZeroBlock; i += kNonZeroBlock) {
    T any = 0;
    for (int64_t k = 0; k < kNonZeroBlock; ++k) any = static_cast<T>(any | x[i + k]);
    if ((any & significant) == 0) continue;
    for (int64_t k = 0; k < kNonZeroBlock; ++k) {
      *to = i + k;
      to += (x[i + k] & significant) != 0;
    }
  }
  for (; i < n && to != end; ++i) {
    *to = i;
    to += (x[i] & significant) != 0;
  }
  return to;
}

}  // namespace svengine::ops
