// The k best of a sequence of entries that come in the order of their indices, for a k that a heap is too slow for.
//
// Entries above the worst of the k best so far are appended. When twice k are there, the k-th best key is found by partitions, and what is below
// goes: those that stay keep their order, so that of equal keys the first ones stay, and the sort at the end, one byte of the keys at a time
// and stable, leaves equal ones in the order of their indices.
#pragma once
#include "engine/kernels/sve/reduction_loops.h"
#include "engine/kernels/sve/tasks.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {
namespace {

struct Entry {
  int64_t key;
  int64_t index;
};

constexpr int64_t kCollected = 48;

class Candidates {
 public:
  /// Of n entries in all. `memory` has room for entries(k, n).
  Candidates(Entry* memory, int64_t k, int64_t n) : kept_(memory), spare_(memory + capacity(k, n)), k_(k), capacity_(capacity(k, n)) {}

  static int64_t entries(int64_t k, int64_t n) { return 2 * capacity(k, n); }

  /// Keys that are not above this one are not wanted.
  SVENGINE_INLINE int64_t floor() const { return floor_; }

  SVENGINE_INLINE void add(Entry entry) {
    if (count_ == capacity_) keep_best();
    kept_[count_] = entry;
    count_ += entry.key > floor_ || count_ < k_;
  }

  /// The k best, best first.
  Entry* sorted() {
    if (count_ > k_) keep_best();
    return sort_by_key();
  }

 private:
  static int64_t capacity(int64_t k, int64_t n) { return smaller(n, 2 * k) + 1; }  // one is written before it is known to be wanted

  // The k-th largest of keys[0..n), whose order is lost. Partitions without a branch: every step exchanges, and moves on where it was right.
  // Pivots are medians of three that no order of the keys foresees.
  static int64_t kth_largest(int64_t* keys, int64_t n, int64_t k) {
    uint32_t random = 1;
    for (int64_t begin = 0, end = n;;) {
      const auto any = [&]() SVENGINE_INLINE_LAMBDA {
        random = random * 1664525 + 1013904223;
        return keys[begin + int64_t(uint64_t(random) * uint64_t(end - begin) >> 32)];
      };
      const int64_t a = any(), b = any(), c = any();
      const int64_t low = a < b ? a : b, high = a < b ? b : a, pivot = c < low ? low : c > high ? high : c;
      int64_t above = begin;  // keys[begin..above) > pivot
      for (int64_t i = begin; i < end; ++i) {
        const int64_t key = keys[i];
        keys[i] = keys[above];
        keys[above] = key;
        above += key > pivot;
      }
      if (k <= above) {
        end = above;
        continue;
      }
      int64_t equal = above;  // keys[above..equal) == pivot
      for (int64_t i = above; i < end; ++i) {
        const int64_t key = keys[i];
        keys[i] = keys[equal];
        keys[equal] = key;
        equal += key == pivot;
      }
      if (k <= equal) return pivot;
      begin = equal;
    }
  }

  [[gnu::noinline]] void keep_best() {
    int64_t* keys = reinterpret_cast<int64_t*>(spare_);
    for (int64_t i = 0; i < count_; ++i) keys[i] = kept_[i].key;
    floor_ = kth_largest(keys, count_, k_);
    int64_t equal = k_;  // so many of the floor's own stay
    for (int64_t i = 0; i < count_; ++i) equal -= kept_[i].key > floor_;
    int64_t to = 0;
    for (int64_t i = 0; i < count_; ++i) {
      const Entry entry = kept_[i];
      const bool is_floor = entry.key == floor_, stays = entry.key > floor_ || (is_floor && equal > 0);
      equal -= is_floor;
      kept_[to] = entry;
      to += stays;
    }
    count_ = to;
  }

  static constexpr int kDigits = 256;

  [[gnu::noinline]] Entry* sort_by_key() {
    Entry *from = kept_, *to = spare_;
    uint64_t differ = 0;  // bits that not all keys have alike
    for (int64_t i = 1; i < count_; ++i) differ |= uint64_t(from[i].key ^ from[0].key);
    for (int shift = 0; shift < 64; shift += 8) {
      if ((differ >> shift & (kDigits - 1)) == 0) continue;
      const auto digit_of = [shift](const Entry& e) SVENGINE_INLINE_LAMBDA {  // the largest first
        return int((uint64_t(e.key) ^ (uint64_t(1) << 63)) >> shift & (kDigits - 1)) ^ (kDigits - 1);
      };
      int32_t place[kDigits] = {};
      for (int64_t i = 0; i < count_; ++i) ++place[digit_of(from[i])];
      int32_t next = 0;
      for (int d = 0; d < kDigits; ++d) {
        const int32_t here = place[d];
        place[d] = next;
        next += here;
      }
      for (int64_t i = 0; i < count_; ++i) to[place[digit_of(from[i])]++] = from[i];
      Entry* const sorted = to;
      to = from;
      from = sorted;
    }
    return from;
  }

  Entry *kept_, *spare_;
  int64_t k_, capacity_, count_ = 0;
  int64_t floor_ = INT64_MIN;
};

}  // namespace
}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
