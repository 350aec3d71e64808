// Memory for kernel tests that shows accesses outside it: the last element ends at a page nobody may touch, and what lies
// before the first is poison (as floats: NaN) that must stay as it is.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <type_traits>

namespace svengine::test {

/// `count` elements of T, all bytes poison until written. Movable, not copyable. Reading or writing behind the end, or more
/// than some pages before the start, ends the program by a signal; intact() tells whether the poison was written.
template <class T>
class GuardedBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit GuardedBuffer(size_t count) : count_(count) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t body = (count * sizeof(T) + page - 1) / page * page + page;
    bytes_ = page + body + page;
    void* base = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) throw std::bad_alloc();
    base_ = static_cast<std::byte*>(base);
    first_ = base_ + page;
    data_ = reinterpret_cast<T*>(first_ + body - count * sizeof(T));
    for (std::byte* word = first_; word < first_ + body; word += sizeof kPoison) std::memcpy(word, &kPoison, sizeof kPoison);
    mprotect(base_, page, PROT_NONE);
    mprotect(first_ + body, page, PROT_NONE);
  }
  ~GuardedBuffer() {
    if (base_) munmap(base_, bytes_);
  }
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;
  GuardedBuffer(GuardedBuffer&& other) noexcept
      : base_(other.base_), first_(other.first_), data_(other.data_), bytes_(other.bytes_), count_(other.count_) {
    other.base_ = nullptr;
  }
  GuardedBuffer& operator=(GuardedBuffer&&) = delete;

  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return count_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + count_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + count_; }
  std::span<T> span() { return {data_, count_}; }
  std::span<const T> span() const { return {data_, count_}; }

  /// Whether the poison before the first element is as it was.
  bool intact() const {
    const std::byte* limit = reinterpret_cast<const std::byte*>(data_);
    for (const std::byte* at = first_; at < limit; ++at)
      if (*at != reinterpret_cast<const std::byte*>(&kPoison)[(at - first_) % sizeof kPoison]) return false;
    return true;
  }

  /// Whether element i still holds the poison it was made with.
  bool poisoned(size_t i) const {
    const std::byte* element = reinterpret_cast<const std::byte*>(data_ + i);
    for (size_t b = 0; b < sizeof(T); ++b)
      if (element[b] != reinterpret_cast<const std::byte*>(&kPoison)[(element + b - first_) % sizeof kPoison]) return false;
    return true;
  }

 private:
  static constexpr uint32_t kPoison = 0x7fc5a5a5;  // a quiet NaN with a payload

  std::byte* base_ = nullptr;
  std::byte* first_ = nullptr;
  T* data_ = nullptr;
  size_t bytes_ = 0;
  size_t count_ = 0;
};

}  // namespace svengine::test
