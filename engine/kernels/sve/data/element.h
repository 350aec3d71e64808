// Elements of any type by their size, and walks over strided dimensions.
#pragma once
#include "engine/kernels/sve/reduction_loops.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

/// Calls body.template operator()<T>() with the unsigned integer of `bytes` bytes.
template <class Body>
inline void dispatch_bytes(int32_t bytes, const Body& body) {
  switch (bytes) {
    case 1:
      return body.template operator()<uint8_t>();
    case 2:
      return body.template operator()<uint16_t>();
    case 4:
      return body.template operator()<uint32_t>();
    case 8:
      return body.template operator()<uint64_t>();
  }
}

/// Calls body.template operator()<T>() with the index type of `bytes` bytes.
template <class Body>
inline void dispatch_index(int32_t bytes, const Body& body) {
  if (bytes == 4) return body.template operator()<int32_t>();
  return body.template operator()<int64_t>();
}

/// n contiguous elements.
template <class T>
SVENGINE_INLINE void copy_elements(T* dst, const T* src, int64_t n) {
  if constexpr (sizeof(T) < 4) {
    __builtin_memcpy(dst, src, size_t(n) * sizeof(T));
  } else {
    const int32_t* from = reinterpret_cast<const int32_t*>(src);
    int32_t* to = reinterpret_cast<int32_t*>(dst);
    for_each_vector<4>(n * int64_t(sizeof(T) / 4),
                       [=](int64_t i, vb p) SVENGINE_INLINE_LAMBDA { svst1(p, to + i, svld1(p, from + i)); });
  }
}

template <class T>
SVENGINE_INLINE void fill_elements(T* dst, T value, int64_t n) {
  for (int64_t i = 0; i < n; ++i) dst[i] = value;
}

/// Walks the index space of `rank` dimensions in row-major order from any flat position on, keeping the offsets under K
/// sets of strides. Dimensions with a stride set of their own are added one by one.
template <int K>
class Odometer {
 public:
  void add(int64_t extent, const int64_t (&strides)[K]) {
    extent_[rank_] = extent;
    for (int k = 0; k < K; ++k) stride_[k][rank_] = strides[k];
    ++rank_;
  }
  int64_t positions() const {
    int64_t product = 1;
    for (int d = 0; d < rank_; ++d) product *= extent_[d];
    return product;
  }
  void seek(int64_t flat) {
    for (int k = 0; k < K; ++k) offset_[k] = 0;
    for (int d = rank_ - 1; d >= 0; --d) {
      index_[d] = flat % extent_[d];
      flat /= extent_[d];
      for (int k = 0; k < K; ++k) offset_[k] += index_[d] * stride_[k][d];
    }
  }
  void next() {
    for (int d = rank_ - 1; d >= 0; --d)
      if (advance(d)) return;
  }
  /// next() in a loop that stays one: ten times shorter, for what exists once for every type and operation.
  void next_by_loop() {
#pragma GCC unroll 1
    for (int d = rank_ - 1; d >= 0; --d)
      if (advance(d)) return;
  }
  int64_t offset(int k) const { return offset_[k]; }
  int64_t index(int d) const { return index_[d]; }

 private:
  /// Whether dimension d had a next position; it is at its first one otherwise.
  SVENGINE_INLINE bool advance(int d) {
    for (int k = 0; k < K; ++k) offset_[k] += stride_[k][d];
    if (++index_[d] < extent_[d]) return true;
    for (int k = 0; k < K; ++k) offset_[k] -= extent_[d] * stride_[k][d];
    index_[d] = 0;
    return false;
  }

  static constexpr int kMost = 8;
  int rank_ = 0;
  int64_t extent_[kMost] = {}, index_[kMost] = {};
  int64_t stride_[K][kMost] = {}, offset_[K] = {};
};

/// Lowers *error to `position`.
inline void report_bad_index(int64_t* error, int64_t position) {
  int64_t known = __atomic_load_n(error, __ATOMIC_RELAXED);
  while (position < known &&
         !__atomic_compare_exchange_n(error, &known, position, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

/// The index with negative ones counted from the end; -1 and a report when it is out of range.
SVENGINE_INLINE int64_t checked_index(int64_t index, int64_t extent, int64_t* error, int64_t position) {
  const int64_t wrapped = index < 0 ? index + extent : index;
  if (uint64_t(wrapped) < uint64_t(extent)) return wrapped;
  report_bad_index(error, position);
  return -1;
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
