#include "runtime/dataset/text.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

#include "importers/io/names.h"
#include "runtime/dataset/file_bytes.h"

namespace svengine {
namespace {

constexpr size_t kMostTextBytes = size_t{1} << 36;

struct Tokens {
  std::vector<int32_t> values;
  std::vector<int64_t> begins;  // of the lines, and one more: the end
};

Status check_token(int64_t token, const TokenOptions& o) {
  if (o.vocabulary > 0 && (token < 0 || token >= o.vocabulary))
    return error("token {} is not in the vocabulary, 0 to {}", token, o.vocabulary - 1);
  if (token < std::numeric_limits<int32_t>::min() || token > std::numeric_limits<int32_t>::max())
    return error("token {} does not fit 32 bits", token);
  return {};
}

Status check_options(const TokenOptions& o) {
  constexpr int64_t kMostLength = int64_t{1} << 31;
  if (o.length < 0 || o.length > kMostLength) return error("a sample cannot have {} tokens", o.length);
  if (o.vocabulary < 0) return error("a vocabulary cannot have {} words", o.vocabulary);
  return {};
}

bool is_separator(char c) { return c == ' ' || c == '\t' || c == ',' || c == '\r'; }

Status parse_line(const char* begin, const char* end, const TokenOptions& o, std::vector<int32_t>& out) {
  for (const char* at = begin; at < end;) {
    if (is_separator(*at)) {
      ++at;
      continue;
    }
    int64_t token = 0;
    const auto [stop, problem] = std::from_chars(at, end, token);
    const auto column = at - begin + 1;
    if (problem == std::errc::result_out_of_range) return error("column {}: a token does not fit 32 bits", column);
    if (problem != std::errc() || (stop < end && !is_separator(*stop))) {
      const char* const word_end = std::find_if(at, end, is_separator);
      return error("column {}: '{}' is no integer; a line is integers separated by blanks or commas", column,
                   printable(std::string_view(at, word_end), 40));
    }
    Status known = check_token(token, o);
    if (!known.ok()) return std::move(known).error().in(fmt::format("column {}", column));
    out.push_back(static_cast<int32_t>(token));
    at = stop;
  }
  return {};
}

Result<Tokens> read_tokens(const std::string& path, const TokenOptions& options) {
  SV_TRY(check_options(options));
  SV_ASSIGN(const std::vector<std::byte> bytes, read_file(path, kMostTextBytes));
  Tokens out;
  const char* at = reinterpret_cast<const char*>(bytes.data());
  const char* const end = at + bytes.size();
  while (at < end) {
    const auto* stop = static_cast<const char*>(std::memchr(at, '\n', static_cast<size_t>(end - at)));
    if (!stop) stop = end;
    out.begins.push_back(static_cast<int64_t>(out.values.size()));
    Status parsed = parse_line(at, stop, options, out.values);
    if (!parsed.ok()) return std::move(parsed).error().in(fmt::format("{}: line {}", printable(path), out.begins.size()));
    at = stop == end ? end : stop + 1;
  }
  out.begins.push_back(static_cast<int64_t>(out.values.size()));
  return out;
}

void widen(const int32_t* from, int64_t count, std::byte* to) {
  for (int64_t i = 0; i < count; ++i) {
    const int64_t token = from[i];
    std::memcpy(to + static_cast<size_t>(i) * sizeof token, &token, sizeof token);
  }
}

class TokenLines final : public DataSet {
 public:
  TokenLines(Tokens tokens, int64_t length, int64_t pad)
      : DataSet(static_cast<int64_t>(tokens.begins.size()) - 1, {{"tokens", DType::i64, {length}}, {"length", DType::i64, {}}}),
        tokens_(std::move(tokens)),
        length_(length),
        pad_(pad) {}

 private:
  Status read_sample(int64_t index, std::span<std::byte* const> destination) const override {
    const int64_t begin = tokens_.begins[static_cast<size_t>(index)], end = tokens_.begins[static_cast<size_t>(index) + 1];
    const int64_t count = std::min(end - begin, length_);
    widen(tokens_.values.data() + begin, count, destination[0]);
    for (int64_t i = count; i < length_; ++i)
      std::memcpy(destination[0] + static_cast<size_t>(i) * sizeof pad_, &pad_, sizeof pad_);
    std::memcpy(destination[1], &count, sizeof count);
    return {};
  }

  Tokens tokens_;
  int64_t length_, pad_;
};

class TokenStream final : public DataSet {
 public:
  TokenStream(std::vector<int32_t> tokens, int64_t length)
      : DataSet((static_cast<int64_t>(tokens.size()) - 1) / length,
                {{"tokens", DType::i64, {length}}, {"targets", DType::i64, {length}}}),
        tokens_(std::move(tokens)),
        length_(length) {}

 private:
  Status read_sample(int64_t index, std::span<std::byte* const> destination) const override {
    widen(tokens_.data() + index * length_, length_, destination[0]);
    widen(tokens_.data() + index * length_ + 1, length_, destination[1]);
    return {};
  }

  std::vector<int32_t> tokens_;
  int64_t length_;
};

Result<DataSetPtr> make_stream(std::vector<int32_t> tokens, int64_t length) {
  if (length < 1) return error("a stream of tokens is cut into samples of a length; 1 or more is needed, not {}", length);
  if (static_cast<int64_t>(tokens.size()) <= length)
    return error("{} tokens do not fill one sample of {} and its next token", tokens.size(), length);
  return DataSetPtr(std::make_shared<TokenStream>(std::move(tokens), length));
}

}  // namespace

Result<DataSetPtr> open_token_lines(const std::string& path, const TokenOptions& options) {
  SV_ASSIGN(Tokens tokens, read_tokens(path, options));
  if (tokens.begins.size() < 2) return error("{}: has no line", printable(path));
  int64_t longest = 0;
  size_t longest_line = 0;
  for (size_t line = 0; line + 1 < tokens.begins.size(); ++line) {
    const int64_t count = tokens.begins[line + 1] - tokens.begins[line];
    if (count > longest) longest_line = line;
    longest = std::max(longest, count);
  }
  if (options.length > 0 && longest > options.length && !options.truncate)
    return error("{}: line {} has {} tokens, more than the {} of a sample; longer lines can be truncated", printable(path),
                 longest_line + 1, longest, options.length);
  const int64_t length = options.length > 0 ? options.length : longest;
  return DataSetPtr(std::make_shared<TokenLines>(std::move(tokens), length, options.pad));
}

Result<DataSetPtr> open_token_stream(const std::string& path, const TokenOptions& options) {
  SV_ASSIGN(Tokens tokens, read_tokens(path, options));
  Result<DataSetPtr> set = make_stream(std::move(tokens.values), options.length);
  if (!set.ok()) return std::move(set).error().in(printable(path));
  return set;
}

Result<DataSetPtr> make_token_stream(const Tensor& tokens, const TokenOptions& options) {
  SV_TRY(check_options(options));
  if (tokens.dims().size() != 1 || !is_integer(tokens.type()))
    return error("a stream of tokens is an array of integers of rank 1, not {}[{}]", name_of(tokens.type()),
                 to_string(tokens.dims()));
  const size_t size = size_of(tokens.type());
  const bool is_signed =
      tokens.type() == DType::i8 || tokens.type() == DType::i16 || tokens.type() == DType::i32 || tokens.type() == DType::i64;
  std::vector<int32_t> values(static_cast<size_t>(tokens.count()));
  for (size_t i = 0; i < values.size(); ++i) {
    uint64_t raw = 0;  // little endian: the low bytes
    std::memcpy(&raw, tokens.raw() + i * size, size);
    const int shift = static_cast<int>(64 - 8 * size);
    const int64_t token =
        is_signed ? static_cast<int64_t>(raw << shift) >> shift : static_cast<int64_t>(std::min<uint64_t>(raw, INT64_MAX));
    Status known = check_token(token, options);
    if (!known.ok()) return std::move(known).error().in(fmt::format("element {}", i));
    values[i] = static_cast<int32_t>(token);
  }
  return make_stream(std::move(values), options.length);
}

}  // namespace svengine
