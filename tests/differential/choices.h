// The choices of a random graph: a sequence of numbers that one seed decides.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "engine/base/random.h"

namespace svengine::differential {

/// Not thread-safe: every call takes the next number of the sequence. The sequence is the same on every machine.
class Choices {
 public:
  explicit Choices(uint64_t seed) : stream_(RandomStream(seed).at("differential")) {}

  /// 0 .. bound-1; bound >= 1.
  uint64_t below(uint64_t bound) { return stream_.below(bound, next_++); }
  /// first .. last.
  int64_t between(int64_t first, int64_t last) {
    return first + static_cast<int64_t>(below(static_cast<uint64_t>(last - first + 1)));
  }
  /// True with probability p.
  bool chance(double p) { return stream_.uniform(next_++) < p; }
  double uniform(double low, double high) { return low + (high - low) * stream_.uniform(next_++); }

  template <class T>
  T of(std::initializer_list<T> list) {
    return *(list.begin() + below(list.size()));
  }
  template <class T>
  const T& of(const std::vector<T>& list) {
    return list[below(list.size())];
  }

 private:
  RandomStream stream_;
  uint64_t next_ = 0;
};

}  // namespace svengine::differential
