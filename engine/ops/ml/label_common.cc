#include "engine/ops/ml/label_common.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/ops/element.h"

namespace svengine::ops {

int64_t label_bits(DType type, const void* data, int64_t i) {
  if (type == DType::i64 || type == DType::u64) return static_cast<const int64_t*>(data)[i];  // all 64 bits, of which a double has not room
  const double number = number_at(type, data, i);
  return is_integer(type) ? label_bits(static_cast<int64_t>(number)) : label_bits(number);
}

LabelTable::LabelTable(Tensor keys, EqualKeys counts) : keys_(std::move(keys)) {
  const int64_t count = keys_.count();
  if (keys_.type() != DType::string) {
    fill_dense(counts);
    if (!dense_.empty()) return;
    numbers_.assign(std::bit_ceil(static_cast<size_t>(count) * 4 + 2), {0, -1});
    shift_ = 64 - std::countr_zero(numbers_.size());
    for (int64_t i = 0; i < count; ++i) add_number(label_bits(keys_.type(), keys_.raw(), i), i, counts);
    return;
  }
  texts_.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const auto [it, fresh] = texts_.emplace(keys_.strings()[static_cast<size_t>(i)], i);
    if (!fresh && counts == EqualKeys::last) it->second = i;
  }
}

int64_t LabelTable::find(DType type, const void* data, int64_t i) const {
  return is_integer(type) ? find(label_bits(type, data, i)) : find_real(number_at(type, data, i));
}

/// Where a table of all numbers from the lowest key to the highest is not much longer than the list of keys.
void LabelTable::fill_dense(EqualKeys counts) {
  const int64_t count = keys_.count();
  if (count == 0 || count > std::numeric_limits<int32_t>::max()) return;
  std::vector<int64_t> keys;
  for (int64_t i = 0; i < count; ++i) {
    if (is_integer(keys_.type())) {
      keys.push_back(label_bits(keys_.type(), keys_.raw(), i));
      continue;
    }
    constexpr double kWholeDoubles = 0x1p53;
    const double number = number_at(keys_.type(), keys_.raw(), i);
    if (!(std::fabs(number) < kWholeDoubles) || number != std::floor(number)) return;
    keys.push_back(static_cast<int64_t>(number));
  }
  const auto [lowest, highest] = std::minmax_element(keys.begin(), keys.end());
  const uint64_t range = static_cast<uint64_t>(*highest) - static_cast<uint64_t>(*lowest);
  if (range >= static_cast<uint64_t>(count) * 8) return;
  lowest_ = *lowest;
  dense_.assign(range + 1, -1);
  for (size_t i = 0; i < keys.size(); ++i) {
    int32_t& place = dense_[static_cast<uint64_t>(keys[i]) - static_cast<uint64_t>(lowest_)];
    if (place < 0 || counts == EqualKeys::last) place = static_cast<int32_t>(i);
  }
}

void LabelTable::add_number(int64_t bits, int64_t place, EqualKeys counts) {
  size_t i = slot_of(bits);
  while (numbers_[i].place >= 0 && numbers_[i].bits != bits) i = (i + 1) & (numbers_.size() - 1);
  if (numbers_[i].place < 0 || counts == EqualKeys::last) numbers_[i] = {bits, place};
}

Tensor label_list(const Attributes& attributes, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const Attribute* a = attributes.find(name);
    if (!a) continue;
    if (const auto* t = std::get_if<Tensor>(a)) return *t;
    if (const auto* s = std::get_if<std::vector<std::string>>(a))
      return Tensor::of_strings({static_cast<int64_t>(s->size())}, *s);
    if (const auto* n = std::get_if<std::vector<int64_t>>(a))
      return Tensor::of<int64_t>({static_cast<int64_t>(n->size())}, std::span<const int64_t>(*n));
    if (const auto* f = std::get_if<std::vector<float>>(a))
      return Tensor::of<float>({static_cast<int64_t>(f->size())}, std::span<const float>(*f));
  }
  return {};
}

Result<Tensor> one_label_list(const Attributes& attributes, const char* first, const char* second) {
  if (attributes.has(first) == attributes.has(second)) return error("needs one of {} and {}", first, second);
  return label_list(attributes, {first, second});
}

}  // namespace svengine::ops
