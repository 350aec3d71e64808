// Row-major walks over several dimensions.
#pragma once
#include <cstdint>

namespace svengine::kernels::reference {

/// Coordinates in at most eight dimensions, and the offsets that K sets of strides give them.
template <int K>
class Walk {
 public:
  /// Dimensions are added from the outermost to the innermost.
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
  void seek(int64_t position) {
    for (int k = 0; k < K; ++k) offset_[k] = 0;
    for (int d = rank_ - 1; d >= 0; --d) {
      index_[d] = position % extent_[d];
      position /= extent_[d];
      for (int k = 0; k < K; ++k) offset_[k] += index_[d] * stride_[k][d];
    }
  }
  void next() {
    for (int d = rank_ - 1; d >= 0; --d) {
      for (int k = 0; k < K; ++k) offset_[k] += stride_[k][d];
      if (++index_[d] < extent_[d]) return;
      for (int k = 0; k < K; ++k) offset_[k] -= extent_[d] * stride_[k][d];
      index_[d] = 0;
    }
  }
  int64_t offset(int k = 0) const { return offset_[k]; }
  int64_t index(int d) const { return index_[d]; }

 private:
  int rank_ = 0;
  int64_t extent_[8] = {}, index_[8] = {}, stride_[K][8] = {}, offset_[K] = {};
};

/// Calls visit(walk) at every position [begin, end).
template <int K, class Visit>
void for_each_position(Walk<K>& walk, int64_t begin, int64_t end, const Visit& visit) {
  if (begin >= end) return;
  walk.seek(begin);
  for (int64_t i = begin; i < end; ++i, walk.next()) visit(i, walk);
}

}  // namespace svengine::kernels::reference
