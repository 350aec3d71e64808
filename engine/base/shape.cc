#include "engine/base/shape.h"

#include <fmt/ranges.h>

namespace svengine {
namespace {

constexpr int64_t kMaxElements = int64_t{1} << 48;
constexpr size_t kMaxRank = 32;

}  // namespace

constinit const std::vector<Dim> Shape::kNone;

const Dim& Shape::unknown() {
  static const Dim dim;
  return dim;
}

int64_t element_count(std::span<const int64_t> dims) {
  int64_t count = 1;
  for (int64_t d : dims) count *= d;
  return count;
}

Status check_dims(std::span<const int64_t> dims) {
  if (dims.size() > kMaxRank) return unimplemented("rank {} is above the supported {}", dims.size(), kMaxRank);
  int64_t count = 1;
  for (int64_t d : dims) {
    if (d < 0) return error("shape {} has a negative dimension", to_string(dims));
    if (d > kMaxElements || (d > 0 && count > kMaxElements / d))
      return error("shape {} has more than 2^48 elements", to_string(dims));
    if (d > 0) count *= d;
  }
  return {};
}

std::string to_string(std::span<const int64_t> dims) {
  if (dims.empty()) return "scalar";
  return fmt::format("{}", fmt::join(dims, "x"));
}

bool Shape::is_static() const {
  if (!dims_) return false;
  for (const Dim& d : *dims_)
    if (!d.is_static()) return false;
  return true;
}

std::optional<Dims> Shape::concrete() const {
  if (!is_static()) return std::nullopt;
  Dims out;
  out.reserve(dims_->size());
  for (const Dim& d : *dims_) out.push_back(d.value());
  return out;
}

std::string to_string(const Shape& shape) {
  if (!shape.has_rank()) return "?";
  if (shape.rank() == 0) return "scalar";
  std::string out;
  for (const Dim& d : shape.dims()) {
    if (!out.empty()) out += 'x';
    out += d.is_static() ? std::to_string(d.value()) : d.is_symbolic() ? d.symbol() : "?";
  }
  return out;
}

}  // namespace svengine
