// Memory that shows a kernel's stray accesses.
//
//   | guard page | slack ........ | count elements of T | guard page |     Place::kEnd: one element too far faults
//   | guard page | count elements of T | ........ slack | guard page |     Place::kStart: one element too early faults
//
// Guard pages can be neither read nor written. Slack and elements start as poison: NaN, infinities, subnormals and huge
// values in turn, so that a lane which should have been inactive spoils the result instead of adding a harmless zero.
// The slack is checked by intact(). Elements are as aligned as T is, no more, when placed at the end.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <new>
#include <span>
#include <type_traits>

namespace svengine::tests {

inline constexpr size_t kPoisonPeriod = 35;  // of the seven floating-point values as of the five integers

/// The i-th value of an endless supply of awkward ones.
template <class T>
T poison(size_t i) {
  if constexpr (std::is_floating_point_v<T>) {
    using Limits = std::numeric_limits<T>;
    static constexpr T kValues[] = {Limits::quiet_NaN(), Limits::infinity(), Limits::denorm_min(), -Limits::infinity(),
                                    Limits::max(),       Limits::lowest(),   -Limits::denorm_min()};
    return kValues[i % std::size(kValues)];
  } else {
    T value;
    for (size_t b = 0; b < sizeof(T); ++b)
      reinterpret_cast<unsigned char*>(&value)[b] = static_cast<unsigned char>(0xa5 + 0x3b * (i % 5) + b);
    return value;
  }
}

template <class T>
class GuardedBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  enum class Place { kEnd, kStart };

  explicit GuardedBuffer(size_t count, Place place = Place::kEnd)
      : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))),
        inner_((count * sizeof(T) + page_ - 1) / page_ * page_ + page_),  // at least one page, so that there is slack
        count_(count) {
    void* map = mmap(nullptr, inner_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) throw std::bad_alloc();
    base_ = static_cast<std::byte*>(map);
    if (mprotect(base_ + page_, inner_, PROT_READ | PROT_WRITE) != 0) {
      munmap(base_, inner_ + 2 * page_);
      throw std::bad_alloc();
    }
    const size_t offset = place == Place::kEnd ? inner_ - count * sizeof(T) : 0;
    data_ = reinterpret_cast<T*>(base_ + page_ + offset);
    fill_slack();
    refill();
  }
  ~GuardedBuffer() {
    if (base_) munmap(base_, inner_ + 2 * page_);
  }
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;
  GuardedBuffer(GuardedBuffer&& other) noexcept
      : page_(other.page_), inner_(other.inner_), count_(other.count_), base_(other.base_), data_(other.data_) {
    other.base_ = nullptr;
  }
  GuardedBuffer& operator=(GuardedBuffer&&) = delete;

  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return count_; }
  T* begin() { return data_; }
  T* end() { return data_ + count_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + count_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  std::span<T> span() { return {data_, count_}; }
  std::span<const T> span() const { return {data_, count_}; }

  /// Poisons the elements again: one period by itself, the rest as copies of it, since emulated tests do this all the time.
  void refill() {
    size_t filled = std::min(count_, kPoisonPeriod);
    for (size_t i = 0; i < filled; ++i) data_[i] = poison<T>(i);
    while (filled < count_) {
      const size_t more = std::min(filled, count_ - filled);
      std::memcpy(data_ + filled, data_, more * sizeof(T));
      filled += more;
    }
  }

  /// Whether element i still holds its poison.
  bool poisoned(size_t i) const {
    const T expected = poison<T>(i);
    return std::memcmp(data_ + i, &expected, sizeof(T)) == 0;
  }

  /// Whether the slack between the guard pages and the elements is as it was.
  bool intact() const {
    bool intact = true;
    for_slack([&](size_t i, std::byte* at) {
      const T expected = poison<T>(i);
      intact = intact && std::memcmp(at, &expected, sizeof(T)) == 0;
    });
    return intact;
  }

 private:
  void fill_slack() {
    for_slack([](size_t i, std::byte* at) {
      const T value = poison<T>(i);
      std::memcpy(at, &value, sizeof(T));
    });
  }
  // Whole elements that fit between the guard pages and the data, counted away from the data.
  template <class Visit>
  void for_slack(Visit visit) const {
    std::byte *first = base_ + page_, *last = first + inner_;
    std::byte *begin = reinterpret_cast<std::byte*>(data_), *end = begin + count_ * sizeof(T);
    const size_t before = static_cast<size_t>(begin - first) / sizeof(T),
                 after = static_cast<size_t>(last - end) / sizeof(T);
    for (size_t i = 0; i < before; ++i) visit(i, begin - (i + 1) * sizeof(T));
    for (size_t i = 0; i < after; ++i) visit(i, end + i * sizeof(T));
  }

  size_t page_, inner_, count_;
  std::byte* base_ = nullptr;
  T* data_ = nullptr;
};

}  // namespace svengine::tests
