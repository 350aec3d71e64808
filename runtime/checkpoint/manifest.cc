#include "runtime/checkpoint/manifest.h"

#include <charconv>
#include <set>

#include "engine/base/hash.h"

namespace svengine {
namespace {

constexpr std::string_view kTitle = "svengine checkpoint ";
constexpr int kVersion = 1;

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte <= ' ' || byte == '%' || byte == 0x7f)
      out += fmt::format("%{:02X}", byte);
    else
      out += c;
  }
  return out;
}

template <class T>
bool parse_number(std::string_view text, int base, T& number) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return problem == std::errc() && end == text.data() + text.size();
}

/// Only what escaped() makes: one text, one form.
bool unescape(std::string_view text, std::string& out) {
  out.clear();
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    uint8_t byte = 0;
    if (text.size() - i < 3 || !parse_number(text.substr(i + 1, 2), 16, byte)) return false;
    out += static_cast<char>(byte);
    i += 2;
  }
  return escaped(out) == text;
}

/// Takes a text apart into lines and words.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  size_t line() const { return line_; }
  std::string_view rest() const { return rest_; }

  /// The words of the next line; none if there is no whole line.
  std::vector<std::string_view> next() {
    const size_t stop = rest_.find('\n');
    if (stop == std::string_view::npos) return {};
    std::string_view line = rest_.substr(0, stop);
    rest_.remove_prefix(stop + 1);
    ++line_;
    std::vector<std::string_view> words;
    for (size_t space = line.find(' '); space != std::string_view::npos; space = line.find(' ')) {
      words.push_back(line.substr(0, space));
      line.remove_prefix(space + 1);
    }
    words.push_back(line);
    return words;
  }

 private:
  std::string_view rest_;
  size_t line_ = 0;
};

using Words = std::vector<std::string_view>;

bool parse_dims(std::string_view text, Dims& dims) {
  dims.clear();
  if (text == "scalar") return true;
  for (;;) {
    const size_t stop = text.find('x');
    int64_t dim = 0;
    if (!parse_number(text.substr(0, stop), 10, dim)) return false;
    dims.push_back(dim);
    if (stop == std::string_view::npos) return true;
    text.remove_prefix(stop + 1);
  }
}

bool parse_tensor(const Words& words, uint64_t offset, ManifestTensor& out) {
  if (words.size() != 7 || !unescape(words[1], out.name)) return false;
  out.type = dtype_from_name(words[2]).value_or(DType::undefined);
  if (size_of(out.type) == 0 || !parse_dims(words[3], out.dims) || !check_dims(out.dims).ok()) return false;
  if (!parse_number(words[4], 10, out.offset) || !parse_number(words[5], 10, out.bytes) || !parse_number(words[6], 16, out.hash))
    return false;
  return out.offset == offset && out.bytes == static_cast<uint64_t>(element_count(out.dims)) * size_of(out.type);
}

/// Lines between the title and "data".
Status parse_content(Reader& reader, Manifest& out, Words& words) {
  if (words.size() != 2 || words[0] != "model" || !unescape(words[1], out.model))
    return error("line {} does not name the model", reader.line());
  words = reader.next();
  for (; words.size() == 3 && words[0] == "fact"; words = reader.next()) {
    std::string name, value;
    if (!unescape(words[1], name) || !unescape(words[2], value) || out.metadata.has(name))
      return error("line {} is no fact", reader.line());
    out.metadata.set(name, std::string_view(value));
  }
  std::set<std::string> names;
  for (; !words.empty() && words[0] == "tensor"; words = reader.next()) {
    ManifestTensor tensor;
    if (!parse_tensor(words, out.data_bytes, tensor) || !names.insert(tensor.name).second)
      return error("line {} is no tensor", reader.line());
    out.data_bytes += tensor.bytes;
    out.tensors.push_back(std::move(tensor));
  }
  return {};
}

}  // namespace

std::string write_manifest(const Manifest& manifest) {
  std::string text = fmt::format("{}{}\nmodel {}\n", kTitle, kVersion, escaped(manifest.model));
  for (const auto& [name, value] : manifest.metadata.values()) text += fmt::format("fact {} {}\n", escaped(name), escaped(value));
  for (const ManifestTensor& t : manifest.tensors)
    text += fmt::format("tensor {} {} {} {} {} {:016x}\n", escaped(t.name), name_of(t.type), to_string(t.dims), t.offset, t.bytes,
                        t.hash);
  text += fmt::format("data {}\n", manifest.data_bytes);
  return text + fmt::format("end {:016x}\n", hash64(text));
}

Result<Manifest> parse_manifest(std::string_view text, bool* too_new) {
  Reader reader(text);
  int version = 0;
  const Words title = reader.next();
  if (title.size() != 3 || !text.starts_with(kTitle) || !parse_number(title[2], 10, version))
    return error("is no checkpoint's manifest");
  if (version > kVersion) {
    if (too_new) *too_new = true;
    return error("has format {}, of a later svengine; this one reads {}", version, kVersion);
  }
  if (version < 1) return error("has format {}, which there never was", version);
  Manifest out;
  Words words = reader.next();
  SV_TRY(parse_content(reader, out, words));
  uint64_t bytes = 0, hash = 0;
  if (words.size() != 2 || words[0] != "data" || !parse_number(words[1], 10, bytes) || bytes != out.data_bytes)
    return error("is cut off or damaged after line {}", reader.line());
  const std::string_view hashed = text.substr(0, text.size() - reader.rest().size());
  words = reader.next();
  if (words.size() != 2 || words[0] != "end" || words[1].size() != 16 || !parse_number(words[1], 16, hash))
    return error("is cut off");
  if (hash != hash64(hashed) || !reader.rest().empty() || write_manifest(out) != text)
    return error("is damaged: its checksum is wrong");
  return out;
}

}  // namespace svengine
