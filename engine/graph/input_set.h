// Sets of a node's inputs, by number.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>

namespace svengine {

/// Inputs 0 to 63, in ascending order. Has no destructor to run: operators' definitions are made of these by the hundred.
class InputSet {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = int;
    using difference_type = std::ptrdiff_t;
    using pointer = const int*;
    using reference = int;

    constexpr explicit Iterator(uint64_t left) : left_(left) {}
    constexpr int operator*() const { return std::countr_zero(left_); }
    constexpr Iterator& operator++() {
      left_ &= left_ - 1;
      return *this;
    }
    constexpr Iterator operator++(int) {
      const Iterator here = *this;
      ++*this;
      return here;
    }
    friend constexpr bool operator==(Iterator, Iterator) = default;

   private:
    uint64_t left_;
  };

  constexpr InputSet() = default;
  constexpr InputSet(std::initializer_list<int> inputs) {
    for (const int i : inputs) insert(i);
  }

  constexpr void insert(int input) { bits_ |= uint64_t{1} << input; }
  constexpr bool has(size_t input) const { return input < 64 && (bits_ >> input & 1u); }
  constexpr bool empty() const { return bits_ == 0; }
  /// Of a set that is not empty.
  constexpr int last() const { return 63 - std::countl_zero(bits_); }
  constexpr Iterator begin() const { return Iterator(bits_); }
  constexpr Iterator end() const { return Iterator(0); }
  friend constexpr bool operator==(InputSet, InputSet) = default;

 private:
  uint64_t bits_ = 0;
};

}  // namespace svengine
