// StringNormalizer: takes stop words out of a list of strings and changes the case of the others. Without case sensitivity, words
// are compared in lower case. Nothing left gives one empty string.
//
// Upper and lower case are Unicode's, one character for one, as the C library has them for its locale C.UTF-8: attribute `locale`
// would make results depend on what is installed, and is not looked at. Bytes that are no UTF-8 stay as they are.
#include <locale.h>
#include <clocale>
#include <cwctype>
#include <memory>
#include <unordered_set>

#include "engine/ops/text/text_common.h"

namespace svengine::ops {
namespace {

enum class CaseChange { none, lower, upper };

class CaseTable {
 public:
  CaseTable() : locale_(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {}
  ~CaseTable() {
    if (locale_) freelocale(locale_);
  }
  CaseTable(const CaseTable&) = delete;
  CaseTable& operator=(const CaseTable&) = delete;

  Result<std::string> change(std::string_view text, CaseChange how) const {
    if (how == CaseChange::none) return std::string(text);
    std::string out;
    out.reserve(text.size());
    for (size_t i = 0; i < text.size();) {
      const auto lead = static_cast<unsigned char>(text[i]);
      if (lead < 0x80) {
        out += ascii(text[i++], how);
        continue;
      }
      uint32_t code = 0;
      const size_t length = decode(text.substr(i), code);
      if (length == 0) {
        out += text[i++];
        continue;
      }
      if (!locale_)
        return error("the case of characters beyond ASCII needs the C library's locale C.UTF-8, which this system lacks");
      const wint_t c = static_cast<wint_t>(code);
      append(out, static_cast<uint32_t>(how == CaseChange::lower ? towlower_l(c, locale_) : towupper_l(c, locale_)));
      i += length;
    }
    return out;
  }

 private:
  static char ascii(char c, CaseChange how) {
    if (how == CaseChange::lower && c >= 'A' && c <= 'Z') return static_cast<char>(c + 32);
    if (how == CaseChange::upper && c >= 'a' && c <= 'z') return static_cast<char>(c - 32);
    return c;
  }
  /// The bytes of the first character, which is beyond ASCII; 0 where it is none.
  static size_t decode(std::string_view text, uint32_t& code) {
    const auto lead = static_cast<unsigned char>(text[0]);
    const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
    if (length == 0 || lead > 0xf4 || text.size() < length) return 0;
    code = lead & (0x7fu >> length);
    for (size_t i = 1; i < length; ++i) {
      const auto byte = static_cast<unsigned char>(text[i]);
      if ((byte & 0xc0) != 0x80) return 0;
      code = code << 6 | (byte & 0x3fu);
    }
    return length;
  }
  static void append(std::string& out, uint32_t code) {
    const auto tail = [&](int shift) { out += static_cast<char>(0x80 | (code >> shift & 0x3f)); };
    if (code < 0x80) {
      out += static_cast<char>(code);
    } else if (code < 0x800) {
      out += static_cast<char>(0xc0 | code >> 6);
      tail(0);
    } else if (code < 0x10000) {
      out += static_cast<char>(0xe0 | code >> 12);
      tail(6);
      tail(0);
    } else {
      out += static_cast<char>(0xf0 | code >> 18);
      tail(12);
      tail(6);
      tail(0);
    }
  }

  locale_t locale_;
};

Result<CaseChange> case_change(const Attributes& attributes) {
  const std::string how = attributes.get_string("case_change_action", "NONE");
  if (how == "NONE") return CaseChange::none;
  if (how == "LOWER") return CaseChange::lower;
  if (how == "UPPER") return CaseChange::upper;
  return error("case_change_action is '{}', needs LOWER, UPPER or NONE", how);
}

struct Normalizing {
  std::unique_ptr<const CaseTable> cases = std::make_unique<const CaseTable>();
  CaseChange change = CaseChange::none, before_comparison = CaseChange::none;
  std::unordered_set<std::string> stop_words = {};  // changed as they are compared
};

Result<Normalizing> normalizing(const Attributes& a) {
  Normalizing how;
  SV_ASSIGN(how.change, case_change(a));
  if (a.get_int("is_case_sensitive") == 0) how.before_comparison = CaseChange::lower;
  if (const auto* given = a.get<std::vector<std::string>>("stopwords"))
    for (const std::string& word : *given) {
      SV_ASSIGN(std::string key, how.cases->change(word, how.before_comparison));
      how.stop_words.insert(std::move(key));
    }
  return how;
}

Status infer_string_normalizer(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kStringType));
  SV_TRY(table_of<normalizing>(c.attributes()));
  const Shape& x = c.shape(0);
  if (!x.has_rank()) {
    c.set(0, DType::string, Shape());
    return {};
  }
  if (x.rank() != 1 && x.rank() != 2) return error("X is {}: needs a list, or one row", svengine::to_string(x));
  if (x.rank() == 2 && known_different(x[0], 1)) return error("X is {}: needs a list, or one row", svengine::to_string(x));
  c.set(0, DType::string, x.rank() == 1 ? Shape{Dim()} : Shape{Dim(1), Dim()});
  return {};
}

Status evaluate_string_normalizer(EvaluateContext& c) {
  const Tensor& x = c.input(0);
  if (x.dims().size() == 2 && x.dims()[0] != 1) return error("X is {}: needs a list, or one row", svengine::to_string(x.dims()));
  SV_ASSIGN(const auto how, table_of<normalizing>(c.attributes()));
  std::vector<std::string> kept;
  for (const std::string& word : x.strings()) {
    if (!how->stop_words.empty()) {
      SV_ASSIGN(const std::string key, how->cases->change(word, how->before_comparison));
      if (how->stop_words.count(key)) continue;
    }
    SV_ASSIGN(std::string changed, how->cases->change(word, how->change));
    kept.push_back(std::move(changed));
  }
  if (kept.empty()) kept.emplace_back();
  const auto count = static_cast<int64_t>(kept.size());
  c.set(0, Tensor::of_strings(x.dims().size() == 1 ? Dims{count} : Dims{1, count}, std::move(kept)));
  return {};
}

}  // namespace

OpDef define_string_normalizer() {
  return {
      .name = "StringNormalizer",
      .since = 10,
      .inputs = "X",
      .attributes = {{"case_change_action", AttributeKind::kString, false, "NONE"},
                     {"is_case_sensitive", AttributeKind::kInt, false, 0},
                     {"locale", AttributeKind::kString},
                     {"stopwords", AttributeKind::kStrings}},
      .infer = infer_string_normalizer,
      .evaluate = evaluate_string_normalizer,
  };
}

}  // namespace svengine::ops
