#include "tools/train/class_weights.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>

#include "importers/io/names.h"
#include "importers/npy/npy.h"

namespace svengine::tool {
namespace {

constexpr size_t kMostBytes = size_t{1} << 26;  // of a text; a million classes need a tenth of it
constexpr std::string_view kBetween = ", \t\r\n";

/// Nothing, and `wrong` what is no number, where there is such.
std::optional<std::vector<float>> numbers_in(std::string_view text, std::string_view& wrong) {
  std::vector<float> out;
  for (size_t begin = text.find_first_not_of(kBetween); begin != text.npos;) {
    const size_t end = std::min(text.find_first_of(kBetween, begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    float value = 0;
    const auto [stop, problem] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (problem != std::errc() || stop != part.data() + part.size()) {
      wrong = part;
      return std::nullopt;
    }
    out.push_back(value);
    begin = text.find_first_not_of(kBetween, end);
  }
  return out;
}

Result<std::vector<float>> from_array(const std::string& path) {
  SV_ASSIGN(const Tensor tensor, load_npy(path));
  if (tensor.dims().size() != 1 || (tensor.type() != DType::f32 && tensor.type() != DType::f64))
    return error("needs float32 or float64 of one dimension, got {}[{}]", name_of(tensor.type()), to_string(tensor.dims()));
  SV_ASSIGN(const Tensor aligned, tensor.aligned_copy());
  std::vector<float> out;
  for (int64_t i = 0; i < aligned.count(); ++i) {
    const auto k = static_cast<size_t>(i);
    out.push_back(aligned.type() == DType::f32 ? aligned.data<float>()[k] : static_cast<float>(aligned.data<double>()[k]));
  }
  return out;
}

Result<std::vector<float>> from_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text;
  for (char c = 0; text.size() <= kMostBytes && file.get(c);) text += c;
  if (!file.eof()) return error("{}", text.size() > kMostBytes ? "is no list of numbers: it is too long" : "cannot be read");
  std::string_view wrong;
  const std::optional<std::vector<float>> numbers = numbers_in(text, wrong);
  if (!numbers) return error("'{}' is not a number", printable(std::string(wrong.substr(0, 40))));
  return *numbers;
}

}  // namespace

Result<std::vector<float>> parse_class_weights(const std::string& text) {
  std::string_view wrong;
  std::optional<std::vector<float>> numbers = numbers_in(text, wrong);
  if (!numbers) {
    Result<std::vector<float>> read = text.ends_with(".npy") ? from_array(text) : from_text(text);
    if (!read.ok()) return std::move(read).error().in(fmt::format("--class-weights {}", printable(text)));
    numbers = *read;
  }
  if (numbers->empty()) return error("--class-weights {}: there is no number", printable(text));
  return *numbers;
}

}  // namespace svengine::tool
