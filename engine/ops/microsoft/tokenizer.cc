// com.microsoft's Tokenizer: strings cut into tokens, along a new last dimension: into characters (one empty separator, or the tokenexp ".",
// which then means line breaks, too), at what separators match, one separator after the other, or into what `tokenexp` matches.
// Expressions are RE2's. Tokens of fewer than mincharnum characters are left out; with mark, a row's tokens are between U+0002 and U+0003;
// rows are filled with pad_value. Without any token the last dimension is 0.
#include <re2/re2.h>

#include <algorithm>
#include <memory>

#include "engine/graph/attribute_tables.h"
#include "engine/graph/evaluate_context.h"
#include "engine/ops/host_tensor.h"
#include "engine/ops/infer_util.h"

namespace svengine::ops {
namespace {

using Tokens = std::vector<std::string>;
constexpr int64_t kTokenPatternMemory = int64_t{8} << 20;  // bytes of a compiled expression: beyond, it is refused

Result<std::unique_ptr<RE2>> token_pattern(const std::string& text) {
  RE2::Options options(RE2::Quiet);
  options.set_max_mem(kTokenPatternMemory);
  options.set_longest_match(true);
  auto pattern = std::make_unique<RE2>(text, options);
  if (!pattern->ok()) return error("'{}' is not RE2's syntax: {}", text, pattern->error());
  return pattern;
}

/// Separators, or null where there are none.
const std::vector<std::string>* token_separators(const Attributes& attributes) {
  const auto* separators = attributes.get<std::vector<std::string>>("separators");
  return separators && !separators->empty() ? separators : nullptr;
}

bool is_by_character(const Attributes& attributes) {
  const auto* separators = token_separators(attributes);
  return separators ? separators->size() == 1 && separators->front().empty() : attributes.get_string("tokenexp") == ".";
}

/// Bytes of the character that begins so; a byte that begins none is one.
size_t character_bytes(unsigned char first) { return first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1; }

int64_t characters_of(std::string_view s) {
  return std::count_if(s.begin(), s.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
}

/// What cuts a string into tokens.
struct Tokenizing {
  bool by_character;
  bool patterns_separate;  // else the one pattern matches tokens
  int64_t least_characters;
  std::vector<std::unique_ptr<RE2>> patterns = {};
};

Result<Tokenizing> tokenizing(const Attributes& a) {
  const auto* separators = token_separators(a);
  if ((separators != nullptr) == a.has("tokenexp")) return error("needs either separators or tokenexp");
  Tokenizing how{is_by_character(a), separators != nullptr, a.get_int("mincharnum")};
  if (how.least_characters < 1) return error("mincharnum is {}, needs 1 or more", how.least_characters);
  if (how.by_character && how.least_characters > 1) return error("mincharnum is {}, but tokens are single characters", how.least_characters);
  if (how.by_character) return how;
  for (const std::string& text : separators ? *separators : std::vector<std::string>{a.get_string("tokenexp")}) {
    if (text.empty()) return separators ? error("separators hold an empty one besides others") : error("tokenexp is empty");
    SV_ASSIGN(auto pattern, token_pattern(text));
    how.patterns.push_back(std::move(pattern));
  }
  return how;
}

Status infer_tokenizer(InferContext& c) {
  SV_TRY(require_dtype(c, 0, DTypeSet{DType::string}));
  SV_TRY(table_of<tokenizing>(c.attributes()));
  const Shape& x = c.shape(0);
  if (!x.has_rank()) return c.set(0, DType::string, Shape()), Status{};
  if (x.rank() != 1 && x.rank() != 2) return error("X {} must be of rank 1 or 2", to_string(x));
  std::vector<Dim> dims = x.dims();
  dims.emplace_back();
  c.set(0, DType::string, Shape(std::move(dims)));
  return {};
}

Tokens characters_in(const std::string& s) {
  Tokens out;
  for (size_t at = 0; at < s.size();) {
    const size_t bytes = std::min(character_bytes(static_cast<unsigned char>(s[at])), s.size() - at);
    out.push_back(s.substr(at, bytes));
    at += bytes;
  }
  return out;
}

/// Calls visit(first, last) for every match that is not empty.
template <class Visit>
void for_each_match(const RE2& pattern, const std::string& s, Visit visit) {
  const re2::StringPiece all(s);
  for (size_t at = 0; at < s.size();) {
    re2::StringPiece match;
    if (!pattern.Match(all, at, s.size(), RE2::UNANCHORED, &match, 1)) return;
    const auto first = static_cast<size_t>(match.data() - s.data());
    at = first + std::max<size_t>(match.size(), 1);
    if (!match.empty()) visit(first, first + match.size());
  }
}

/// Pieces between matches of each separator in turn.
Tokens pieces_of(const std::string& s, const std::vector<std::unique_ptr<RE2>>& separators) {
  Tokens pieces{s};
  for (const auto& separator : separators) {
    Tokens next;
    for (const std::string& piece : pieces) {
      size_t from = 0;
      for_each_match(*separator, piece, [&](size_t first, size_t last) {
        next.push_back(piece.substr(from, first - from));
        from = last;
      });
      next.push_back(piece.substr(from));
    }
    pieces = std::move(next);
  }
  return pieces;
}

Tokens matches_in(const std::string& s, const RE2& pattern) {
  Tokens out;
  for_each_match(pattern, s, [&](size_t first, size_t last) { out.push_back(s.substr(first, last - first)); });
  return out;
}

Tokens tokens_of(const std::string& s, const Tokenizing& how) {
  Tokens tokens = how.by_character ? characters_in(s) : how.patterns_separate ? pieces_of(s, how.patterns) : matches_in(s, *how.patterns[0]);
  std::erase_if(tokens, [&](const std::string& t) { return characters_of(t) < how.least_characters; });
  return tokens;
}

Status evaluate_tokenizer(EvaluateContext& c) {
  SV_ASSIGN(const auto how, table_of<tokenizing>(c.attributes()));
  std::vector<Tokens> rows;
  for (const std::string& s : c.input(0).strings()) rows.push_back(tokens_of(s, *how));
  const bool mark = c.attributes().get_int("mark") != 0;
  size_t most = 0;
  for (const Tokens& row : rows) most = std::max(most, row.size());
  const size_t width = most == 0 ? 0 : most + (mark ? 2 : 0);
  Dims dims = c.input(0).dims();
  dims.push_back(static_cast<int64_t>(width));
  SV_TRY(check_room_for_strings(dims));
  std::vector<std::string> out;
  for (const Tokens& row : width > 0 ? rows : std::vector<Tokens>()) {
    const size_t end = out.size() + width;
    if (mark) out.emplace_back("\x02");
    out.insert(out.end(), row.begin(), row.end());
    if (mark) out.emplace_back("\x03");
    out.resize(end, c.attributes().get_string("pad_value"));
  }
  c.set(0, Tensor::of_strings(std::move(dims), std::move(out)));
  return {};
}

}  // namespace

OpDef define_tokenizer() {
  return {
      .name = "Tokenizer",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "X",
      .attributes = {{"mark", AttributeKind::kInt, true},
                     {"mincharnum", AttributeKind::kInt, true},
                     {"pad_value", AttributeKind::kString, true},
                     {"separators", AttributeKind::kStrings},
                     {"tokenexp", AttributeKind::kString}},
      .infer = infer_tokenizer,
      .evaluate = evaluate_tokenizer,
      .samples = R"((string[2]{"a bb,ccc", "d"}) {mark = 1, mincharnum = 1, pad_value = "#", separators = [" ", ","]})"
                 R"((string[2]{"a bb,ccc", "d"}) {mark = 1, mincharnum = 1, pad_value = "#", separators = [""]})"
                 R"((string[2]{"a bb,ccc", "d"}) {mark = 1, mincharnum = 1, pad_value = "#", tokenexp = "[a-c]+"})",
  };
}

}  // namespace svengine::ops
