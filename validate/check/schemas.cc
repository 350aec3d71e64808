#include "validate/check/schemas.h"

#include <algorithm>
#include <charconv>
#include <climits>
#include <tuple>

#include "engine/graph/op_def.h"

namespace svengine::validate {
namespace {

constexpr std::string_view kOnnx =
#include "validate/check/onnx_schemas.txt"
    ;
constexpr std::string_view kMicrosoft =
#include "validate/check/microsoft_schemas.txt"
    ;

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  if (text.empty()) return out;
  for (size_t at = 0;;) {
    const size_t end = text.find(separator, at);
    out.push_back(text.substr(at, end == std::string_view::npos ? end : end - at));
    if (end == std::string_view::npos) return out;
    at = end + 1;
  }
}

int schema_number(std::string_view text) {
  int value = INT_MAX;  // "many"
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// NAME:TYPE, with ?, * or + behind it.
SchemaValue value_of(std::string_view text, const std::vector<std::pair<std::string_view, int>>& parameters) {
  SchemaValue out;
  const size_t colon = text.find(':');
  out.name = text.substr(0, colon);
  out.type = text.substr(colon + 1);
  const char mark = out.type.back();
  if (mark == '?') out.presence = Presence::optional;
  if (mark == '*' || mark == '+') out.presence = Presence::variadic, out.one_type = mark == '*';
  if (out.presence != Presence::single) out.type.remove_suffix(1);
  for (const auto& [name, set] : parameters)
    if (name == out.type) out.set = set;
  return out;
}

/// The numbers of AttributeProto.AttributeType.
int attribute_type(std::string_view kind) {
  constexpr std::string_view kSingle = "fistg", kOthers = "py";
  const bool list = kind.size() == 2;
  if (const size_t at = kSingle.find(kind[0]); at != std::string_view::npos) return static_cast<int>(at) + (list ? 6 : 1);
  return kind[0] == kOthers[0] ? (list ? 12 : 11) : (list ? 14 : 13);
}

SchemaAttribute attribute_of(std::string_view text) {
  SchemaAttribute out;
  const size_t colon = text.find(':');
  out.name = text.substr(0, colon);
  std::string_view kind = text.substr(colon + 1);
  out.required = kind.back() == '!';
  if (out.required) kind.remove_suffix(1);
  out.type = attribute_type(kind);
  return out;
}

auto key_of(const Schema& s) { return std::tuple(s.domain, s.name, s.since); }

}  // namespace

const Schemas& Schemas::get() {
  static const Schemas schemas;
  return schemas;
}

Schemas::Schemas() {
  for (const std::string_view text : {kOnnx, kMicrosoft}) {
    const int first_set = static_cast<int>(sets_.size());
    for (const std::string_view line : parts_of(text, '\n')) add_line(line, first_set);
  }
  std::sort(schemas_.begin(), schemas_.end(), [](const Schema& a, const Schema& b) { return key_of(a) < key_of(b); });
  for (const Schema& s : schemas_) {
    if (newest_.empty() || newest_.back().first != s.domain) newest_.emplace_back(s.domain, 0);
    newest_.back().second = std::max(newest_.back().second, s.since);
  }
}

void Schemas::add_line(std::string_view line, int first_set) {
  const std::vector<std::string_view> fields = parts_of(line, '|');
  if (fields.size() == 3 && fields[0] == "types") sets_.push_back(parts_of(fields[2], ' '));
  if (fields.size() != 11 || fields[0] != "op") return;
  Schema s;
  s.domain = fields[1], s.name = fields[2], s.since = schema_number(fields[3]);
  s.deprecated = fields[4] == "d", s.any_attribute = fields[4] == "u";
  const std::vector<std::string_view> ins = parts_of(fields[5], ','), outs = parts_of(fields[6], ',');
  s.least_inputs = schema_number(ins[0]), s.most_inputs = schema_number(ins[1]);
  s.least_outputs = schema_number(outs[0]), s.most_outputs = schema_number(outs[1]);
  for (size_t i = 2; i < outs.size(); ++i) s.refused_outputs.push_back(schema_number(outs[i]));
  std::vector<std::pair<std::string_view, int>> parameters;
  for (const std::string_view p : parts_of(fields[9], ' '))
    parameters.emplace_back(p.substr(0, p.find('=')), first_set + schema_number(p.substr(p.find('=') + 1)));
  for (const std::string_view v : parts_of(fields[7], ' ')) s.inputs.push_back(value_of(v, parameters));
  for (const std::string_view v : parts_of(fields[8], ' ')) s.outputs.push_back(value_of(v, parameters));
  for (const std::string_view a : parts_of(fields[10], ' ')) s.attributes.push_back(attribute_of(a));
  schemas_.push_back(std::move(s));
}

const Schema* Schemas::find(std::string_view domain, std::string_view name, int64_t opset) const {
  const std::tuple<std::string_view, std::string_view, int> wanted(canonical_domain(domain), name,
                                                                   static_cast<int>(std::clamp<int64_t>(opset, 0, INT_MAX)));
  const auto after =
      std::upper_bound(schemas_.begin(), schemas_.end(), wanted, [](const auto& k, const Schema& s) { return k < key_of(s); });
  if (after == schemas_.begin()) return nullptr;
  const Schema& s = *(after - 1);
  return s.name == name && s.domain == canonical_domain(domain) ? &s : nullptr;
}

const Schema* Schemas::first(std::string_view domain, std::string_view name) const {
  const std::tuple<std::string_view, std::string_view, int> wanted(canonical_domain(domain), name, 0);
  const auto at = std::lower_bound(schemas_.begin(), schemas_.end(), wanted, [](const Schema& s, const auto& k) { return key_of(s) < k; });
  return at != schemas_.end() && at->name == name && at->domain == canonical_domain(domain) ? &*at : nullptr;
}

bool Schemas::has_whole_domain(std::string_view domain) const { return domain != kMicrosoftDomain && newest(domain) > 0; }

int Schemas::newest(std::string_view domain) const {
  for (const auto& [name, newest] : newest_)
    if (name == canonical_domain(domain)) return newest;
  return 0;
}

bool Schemas::allows(const SchemaValue& value, std::string_view type) const {
  if (value.set < 0) return type == value.type;
  const std::vector<std::string_view>& all = types(value.set);
  return std::find(all.begin(), all.end(), type) != all.end();
}

}  // namespace svengine::validate
