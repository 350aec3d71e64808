// Operators that look values up: keys and values of any type as strings, numbers or tensors in attributes.
#pragma once
#include <bit>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/graph/attribute_tables.h"
#include "engine/graph/evaluate_context.h"
#include "engine/ops/ml/ml_common.h"

namespace svengine::ops {

/// A number as integers tell it from others: an integer itself, a real by its bits in a double. NaN equals NaN, and -0 is 0.
template <class T>
int64_t label_bits(T number) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<int64_t>(number);
  } else {
    if (number != number) return std::bit_cast<int64_t>(std::numeric_limits<double>::quiet_NaN());
    return std::bit_cast<int64_t>(number == 0 ? 0.0 : static_cast<double>(number));
  }
}

/// Element i of a tensor of floats or integers.
int64_t label_bits(DType type, const void* data, int64_t i);

/// Which of equal keys counts.
enum class EqualKeys { first, last };

/// From keys to their places in a list.
class LabelTable {
 public:
  LabelTable() = default;
  /// Of strings, or of numbers.
  LabelTable(Tensor keys, EqualKeys counts);

  /// The place of a key; -1: it is none. Only one of the two knows any keys.
  int64_t find(std::string_view text) const {
    const auto found = texts_.find(text);
    return found == texts_.end() ? -1 : found->second;
  }
  /// Of a real. Where keys are whole numbers that lie close together, it is looked at as one.
  int64_t find_real(double number) const {
    if (dense_.empty()) return find(label_bits(number));
    if (!(number >= static_cast<double>(lowest_) && number < static_cast<double>(lowest_) + static_cast<double>(dense_.size()))) return -1;
    const auto whole = static_cast<int64_t>(number);
    return static_cast<double>(whole) == number ? dense_[static_cast<size_t>(whole - lowest_)] : -1;
  }
  /// Of element i of numbers of the keys' type.
  int64_t find(DType type, const void* data, int64_t i) const;
  /// Of an integer, where keys are integers.
  int64_t find(int64_t bits) const {
    if (const uint64_t at = static_cast<uint64_t>(bits) - static_cast<uint64_t>(lowest_); !dense_.empty())
      return at < dense_.size() ? dense_[at] : -1;
    for (size_t i = slot_of(bits);; i = (i + 1) & (numbers_.size() - 1))
      if (numbers_[i].place < 0 || numbers_[i].bits == bits) return numbers_[i].place;
  }

 private:
  struct NumberSlot {
    int64_t bits, place;  // -1: free
  };

  size_t slot_of(int64_t bits) const {
    constexpr uint64_t kGolden = 0x9e3779b97f4a7c15u;
    const uint64_t once = static_cast<uint64_t>(bits) * kGolden;  // of reals that differ in their upper bits only, neither do these in others
    return static_cast<size_t>((once ^ once >> 32) * kGolden >> shift_);
  }
  void fill_dense(EqualKeys counts);
  void add_number(int64_t bits, int64_t place, EqualKeys counts);

  Tensor keys_;  // whose strings the table points at
  std::unordered_map<std::string_view, int64_t> texts_;
  std::vector<NumberSlot> numbers_{{0, -1}, {0, -1}};  // 2^(64 - shift_) of them, three quarters of them free
  int shift_ = 63;
  std::vector<int32_t> dense_;  // of whole numbers that lie close together: the place of lowest_ + i, in place of the numbers
  int64_t lowest_ = 0;
};

/// The tensor of the first of these attributes that is there: a tensor, strings, ints (int64) or floats (float32). Undefined:
/// none is.
Tensor label_list(const Attributes& attributes, std::initializer_list<const char*> names);

/// Likewise of two attributes, of which just one must be there.
Result<Tensor> one_label_list(const Attributes& attributes, const char* first, const char* second);

}  // namespace svengine::ops
