#include "importers/npy/npy_header.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <string_view>

namespace svengine {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMostNpyHeader = 65536;  // NumPy's own limit for headers it evaluates is 10000

/// A cursor over the dict's text. Every method skips white space first.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool take(std::string_view wanted) {
    skip_space();
    if (!text_.starts_with(wanted)) return false;
    text_.remove_prefix(wanted.size());
    return true;
  }

  /// 'text' or "text", without escapes.
  std::optional<std::string_view> quoted() {
    skip_space();
    if (text_.empty() || (text_[0] != '\'' && text_[0] != '"')) return std::nullopt;
    const size_t end = text_.find(text_[0], 1);
    if (end == text_.npos) return std::nullopt;
    const std::string_view out = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return out.find('\\') == out.npos ? std::optional(out) : std::nullopt;
  }

  std::optional<int64_t> integer() {
    skip_space();
    int64_t value = 0;
    const auto [end, problem] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (problem != std::errc()) return std::nullopt;
    text_.remove_prefix(static_cast<size_t>(end - text_.data()));
    if (text_.starts_with('L')) text_.remove_prefix(1);  // Python 2 wrote long integers so
    return value;
  }

  bool at_end() {
    skip_space();
    return text_.empty();
  }

 private:
  void skip_space() { text_.remove_prefix(std::min(text_.find_first_not_of(" \t\n\r"), text_.size())); }

  std::string_view text_;
};

Status read_descr(Scanner& scanner, NpyHeader& header) {
  const std::optional<std::string_view> descr = scanner.quoted();
  if (!descr) return error("the array is one of records, which are not supported");
  std::string_view text = *descr;
  if (text.starts_with('>')) header.big_endian = true;
  if (text.starts_with('<') || text.starts_with('>') || text.starts_with('|') || text.starts_with('=')) text.remove_prefix(1);
  static constexpr std::pair<std::string_view, DType> kTypes[] = {
      {"b1", DType::boolean}, {"?", DType::boolean}, {"i1", DType::i8}, {"i2", DType::i16}, {"i4", DType::i32}, {"i8", DType::i64},
      {"u1", DType::u8},      {"u2", DType::u16},    {"u4", DType::u32}, {"u8", DType::u64}, {"f2", DType::f16}, {"f4", DType::f32},
      {"f8", DType::f64},
  };
  for (const auto& [name, type] : kTypes)
    if (text == name) header.type = type;
  if (header.type != DType::undefined) return {};
  const char kind = text.empty() ? ' ' : text[0];
  const char* what = kind == 'O' ? "Python objects" : kind == 'U' || kind == 'S' || kind == 'a' ? "strings" : kind == 'c' ? "complex numbers"
                   : kind == 'M' || kind == 'm' ? "dates" : "a type that is not known";
  return error("the array is of {}; supported are bool, integers, float16, float32 and float64", what);
}

Status read_shape(Scanner& scanner, NpyHeader& header) {
  if (!scanner.take("(")) return error("'shape' is not a tuple");
  while (!scanner.take(")")) {
    const std::optional<int64_t> dim = scanner.integer();
    if (!dim) return error("'shape' is not a tuple of numbers");
    header.dims.push_back(*dim);
    SV_TRY(check_dims(header.dims));
    if (scanner.take(",")) continue;
    if (!scanner.take(")")) return error("'shape' is not a tuple of numbers");
    break;
  }
  return {};
}

Status read_order(Scanner& scanner, NpyHeader& header) {
  header.fortran_order = scanner.take("True");
  if (header.fortran_order || scanner.take("False")) return {};
  return error("'fortran_order' is neither True nor False");
}

Status read_dict(std::string_view text, NpyHeader& header) {
  Scanner scanner(text);
  if (!scanner.take("{")) return error("the header is not a dict");
  bool seen[3] = {};
  static constexpr std::string_view kKeys[] = {"descr", "fortran_order", "shape"};
  static constexpr Status (*kReaders[])(Scanner&, NpyHeader&) = {read_descr, read_order, read_shape};
  while (!scanner.take("}")) {
    const std::optional<std::string_view> key = scanner.quoted();
    size_t i = 0;
    while (i < std::size(kKeys) && key != kKeys[i]) ++i;
    if (i == std::size(kKeys) || seen[i] || !scanner.take(":"))
      return error("the header has other keys than 'descr', 'fortran_order' and 'shape'");
    seen[i] = true;
    SV_TRY(kReaders[i](scanner, header));
    if (scanner.take(",")) continue;
    if (!scanner.take("}")) return error("the header is not a dict");
    break;
  }
  if (!seen[0] || !seen[1] || !seen[2]) return error("the header lacks one of 'descr', 'fortran_order' and 'shape'");
  if (!scanner.at_end()) return error("something follows the header's dict");
  return {};
}

}  // namespace

Result<NpyHeader> parse_npy_header(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto byte = [&](size_t i) { return static_cast<size_t>(bytes[i]); };
  if (!text.starts_with(kMagic)) return error("is not a .npy file: it does not begin with '\\x93NUMPY'");
  size_t at = kMagic.size() + 2;
  if (bytes.size() < at + 4) return error("is cut off in its header");
  const size_t version = byte(kMagic.size());
  if (version < 1 || version > 3) return error("is a .npy file of version {}; supported are 1 to 3", version);
  size_t length = byte(at) | byte(at + 1) << 8;
  if (version > 1) length |= byte(at + 2) << 16 | byte(at + 3) << 24;
  at += version == 1 ? 2 : 4;
  if (length > kMostNpyHeader) return error("has a header of {} bytes; at most {} are read", length, kMostNpyHeader);
  if (length > bytes.size() - at) return error("is cut off in its header");
  NpyHeader header;
  SV_TRY(read_dict(text.substr(at, length), header));
  header.data_offset = at + length;
  return header;
}

}  // namespace svengine
