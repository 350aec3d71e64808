#include "runtime/checkpoint/metadata.h"

#include <charconv>

namespace svengine {

void CheckpointMetadata::set(const std::string& name, int64_t number) { values_[name] = fmt::format("{}", number); }
void CheckpointMetadata::set(const std::string& name, uint64_t number) { values_[name] = fmt::format("{}", number); }
void CheckpointMetadata::set(const std::string& name, double number) { values_[name] = fmt::format("{}", number); }

Result<std::string> CheckpointMetadata::text(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return error("the checkpoint does not hold '{}'", name);
  return found->second;
}

template <class T>
Result<T> CheckpointMetadata::parsed(const std::string& name, const char* kind) const {
  SV_ASSIGN(const std::string value, text(name));
  T number{};
  const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (problem != std::errc() || end != value.data() + value.size())
    return error("the checkpoint's '{}' is '{}', not {}", name, value.substr(0, 100), kind);
  return number;
}

Result<int64_t> CheckpointMetadata::integer(const std::string& name) const { return parsed<int64_t>(name, "an integer of 64 bits"); }
Result<uint64_t> CheckpointMetadata::unsigned_integer(const std::string& name) const {
  return parsed<uint64_t>(name, "an integer of 64 bits without sign");
}
Result<double> CheckpointMetadata::number(const std::string& name) const { return parsed<double>(name, "a number"); }

}  // namespace svengine
