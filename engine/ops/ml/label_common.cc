#include "engine/ops/ml/label_common.h"

#include <bit>
#include <limits>

#include "engine/ops/element.h"

namespace svengine::ops {

LabelKey label_key(DType type, const void* data, int64_t i) {
  if (type == DType::string) return {static_cast<const std::string*>(data)[i], 0};
  if (type == DType::i64 || type == DType::u64) return {{}, static_cast<const int64_t*>(data)[i]};  // all 64 bits, of which a double has not room
  const double number = number_at(type, data, i);
  if (is_integer(type)) return {{}, static_cast<int64_t>(number)};
  const double one_of_a_kind = number != number ? std::numeric_limits<double>::quiet_NaN() : number == 0 ? 0.0 : number;
  return {{}, std::bit_cast<int64_t>(one_of_a_kind)};
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

}  // namespace svengine::ops
