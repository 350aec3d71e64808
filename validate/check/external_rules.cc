#include "validate/check/external_rules.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <set>

#include "importers/io/names.h"
#include "validate/check/sha1.h"

namespace svengine::validate {
namespace {

std::optional<size_t> number_of_bytes(std::string_view text) {
  size_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::string_view> entry(const onnx::TensorRecord& record, std::string_view key) {
  for (const auto& [name, value] : record.external_data)
    if (name == key) return value;
  return std::nullopt;
}

}  // namespace

void ExternalRules::check(const std::string& where, const onnx::TensorRecord& record, size_t size) {
  std::set<std::string_view> seen;
  for (const auto& [key, value] : record.external_data) {
    if (key != "location" && key != "offset" && key != "length" && key != "checksum")
      c_.found.add("external-entry", where,
                   fmt::format("entry '{}' is not one of location, offset, length and checksum", printable(key, 60)));
    else if (!seen.insert(key).second)
      c_.found.add("external-entry", where, fmt::format("entry '{}' is there twice", key));
  }
  const std::optional<std::string_view> location = entry(record, "location");
  if (!location) {
    c_.found.add("external-location", where, "its data are external, but without a location");
  } else if (const Status fits = onnx::check_location(*location); !fits.ok()) {
    c_.found.add("external-location", where, fits.error().message());
  } else {
    check_file(where, record, std::string(*location), size);
  }
}

void ExternalRules::check_file(const std::string& where, const onnx::TensorRecord& record, const std::string& location, size_t size) {
  const std::string shown = printable(location, 100);
  if (!c_.file.external()) {
    c_.found.add("external-file", where, fmt::format("'{}' cannot be found for a model without a folder", shown));
    return;
  }
  const auto file = c_.file.external()->open(location);
  if (!file.ok()) {
    c_.found.add("external-file", where, file.error().message());
    return;
  }
  const onnx::Bytes all = (*file)->bytes();
  size_t offset = 0;
  for (const char* key : {"offset", "length"}) {
    const std::optional<std::string_view> text = entry(record, key);
    if (!text) continue;
    const std::optional<size_t> number = number_of_bytes(*text);
    if (!number) {
      c_.found.add("external-range", where, fmt::format("the {} '{}' is not a number of bytes", key, printable(*text, 60)));
      return;
    }
    if (std::string_view(key) == "offset")
      offset = *number;
    else if (*number != size)
      c_.found.add("external-range", where, fmt::format("the length is {} bytes, the tensor needs {}", *number, size));
  }
  if (offset > all.size() || size > all.size() - offset)
    c_.found.add("external-range", where, fmt::format("{} bytes from byte {} on are wanted, '{}' has {}", size, offset, shown, all.size()));
  if (const std::optional<std::string_view> sum = entry(record, "checksum"); sum && c_.options.weights)
    check_checksum(where, location, all, *sum);
}

void ExternalRules::check_checksum(const std::string& where, const std::string& location, onnx::Bytes file, std::string_view wanted) {
  std::string& digest = digests_[location];
  if (digest.empty()) digest = sha1_of(file);
  std::string given(wanted);
  std::transform(given.begin(), given.end(), given.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (given != digest)
    c_.found.add("external-checksum", where,
                 fmt::format("'{}' has the SHA-1 {}, the model says {}", printable(location, 100), digest, printable(wanted, 60)));
}

}  // namespace svengine::validate
