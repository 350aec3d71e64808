#include "validate/compare/element.h"

#include <algorithm>
#include <cmath>

#include "engine/base/narrow_float.h"
#include "engine/base/number_at.h"
#include "importers/io/names.h"

namespace svengine::validate {
namespace {

template <class T>
T load(const Tensor& tensor, int64_t i) {
  T value;
  std::memcpy(&value, tensor.raw() + static_cast<size_t>(i) * sizeof(T), sizeof(T));
  return value;
}

/// What a sequence, optional or map holds: "[float32[2x3], float32[4]]".
std::string items_text(const Tensor& tensor) {
  constexpr size_t kMostShown = 8;
  std::string out;
  const std::vector<Tensor>& items = tensor.items();
  for (size_t i = 0; i < std::min(items.size(), kMostShown); ++i) out += (i ? ", " : "") + type_text(items[i]);
  return '[' + out + (items.size() > kMostShown ? ", ...]" : "]");
}

}  // namespace

double element_as_double(const Tensor& tensor, int64_t i) { return number_at(tensor.type(), tensor.raw(), i); }

std::string element_text(const Tensor& tensor, int64_t i, int digits) {
  if (tensor.type() == DType::string) return fmt::format("\"{}\"", printable(tensor.strings()[static_cast<size_t>(i)]));
  if (is_handle(tensor.type())) return items_text(tensor);
  if (tensor.type() == DType::i64) return std::to_string(load<int64_t>(tensor, i));
  if (tensor.type() == DType::u64) return std::to_string(load<uint64_t>(tensor, i));
  if (tensor.type() == DType::string) return tensor.strings()[static_cast<size_t>(i)];
  if (tensor.type() == DType::boolean) return load<uint8_t>(tensor, i) ? "true" : "false";
  if (is_integer(tensor.type())) return fmt::format("{:.0f}", element_as_double(tensor, i));
  return fmt::format("{:.{}g}", element_as_double(tensor, i), digits);
}

std::string type_text(const Tensor& tensor) {
  if (is_container(tensor.type())) return fmt::format("{} of {}", name_of(tensor.type()), tensor.items().size());
  return fmt::format("{}[{}]", name_of(tensor.type()), to_string(tensor.dims()));
}

std::string index_text(const Dims& dims, int64_t i) {
  std::string out;
  for (size_t d = dims.size(); d-- > 0;) {
    out = std::to_string(i % dims[d]) + (out.empty() ? "" : ", ") + out;
    i /= dims[d];
  }
  return '[' + out + ']';
}

Statistics statistics_of(const Tensor& tensor) {
  Statistics out;
  if (is_handle(tensor.type())) return out;
  double sum = 0;
  for (int64_t i = 0; i < tensor.count(); ++i) {
    const double value = element_as_double(tensor, i);
    if (std::isnan(value)) {
      ++out.nans;
    } else if (std::isinf(value)) {
      ++out.infinities;
    } else {
      out.min = out.finite ? std::min(out.min, value) : value;
      out.max = out.finite ? std::max(out.max, value) : value;
      sum += value;
      ++out.finite;
    }
  }
  if (out.finite) out.mean = sum / static_cast<double>(out.finite);
  return out;
}

}  // namespace svengine::validate
