// The operators' attributes against those of ONNX's and ONNX Runtime's schemas, as recorded by backend/record_attributes.py.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "engine/ops/registry.h"
#include "tests/recorded.h"
#include "validate/check/schemas.h"

namespace attributes_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

struct Recorded {
  std::string domain, op, name, kind, value;  // "required", or the default
};

std::vector<Recorded> recorded() {
  std::vector<Recorded> out;
  for (const std::vector<std::string>& f : recorded_fields(SVENGINE_ATTRIBUTES)) {
    REQUIRE((f.size() == 4 || f.size() == 5));  // without a default nothing follows the last bar
    out.push_back({f[0], f[1], f[2], f[3], f.size() == 5 ? f[4] : ""});
  }
  return out;
}

std::string value_of(const AttributeDef& a) {
  if (a.required) return "required";
  if (const auto* number = a.default_value.get<int64_t>()) return fmt::format("{}", *number);
  if (const auto* number = a.default_value.get<float>()) return fmt::format("{:.9g}", *number);
  if (const auto* words = a.default_value.get<const char*>()) return fmt::format("\"{}\"", *words);
  return "";
}

/// Where the definition says something else than the schema.
bool is_known(const Recorded& r) {
  if (r.name == "kernel_shape") return r.op.ends_with("Pool");  // `infer` asks for it, as it does for those of convolutions
  // The specification's words have the default.
  return r.value.empty() && (r.domain == kMicrosoftDomain || (r.op == "SequenceEmpty" && r.name == "dtype"));
}

bool has_schema_attribute(const OpDef& op, std::string_view name) {
  for (int opset = 1; opset <= op.until; ++opset)
    if (const validate::Schema* schema = validate::Schemas::get().find(op.domain, op.name, opset))
      for (const validate::SchemaAttribute& a : schema->attributes)
        if (a.name == name) return true;
  return false;
}

}  // namespace

TEST_CASE("operators have the attributes and defaults that ONNX's schemas say") {
  int compared = 0;
  for (const Recorded& r : recorded()) {
    INFO(r.domain << " " << r.op << ", " << r.name);
    const OpDef* op = all_ops().find(r.domain, r.op);
    if (!op && r.domain == kMicrosoftDomain) continue;  // OPERATORS.md names those that are here
    REQUIRE(op);
    const auto a = std::find_if(op->attributes.begin(), op->attributes.end(), [&](const AttributeDef& def) { return def.name == r.name; });
    CHECK(a != op->attributes.end());
    if (a == op->attributes.end()) continue;
    CHECK(name_of(a->kind) == r.kind);
    if (!is_known(r)) CHECK(value_of(*a) == r.value);
    ++compared;
  }
  CHECK(compared >= 470);  // so many were there when this was written
}

TEST_CASE("what no opset of ONNX has is internal") {
  for (const OpDef& op : all_ops().all()) {
    if (!validate::Schemas::get().first(op.domain, op.name)) continue;
    for (const AttributeDef& a : op.attributes) {
      INFO(op.name << ", " << a.name);
      const bool own = a.name == std::string_view("label_smoothing");  // what programs that train may ask of losses
      CHECK(a.internal == (!own && !has_schema_attribute(op, a.name)));
    }
  }
}

TEST_CASE("defaults of attributes are of the attribute's kind") {
  for (const OpDef& op : all_ops().all())
    for (const AttributeDef& a : op.attributes) {
      INFO(op.name << ", " << a.name);
      if (a.default_value.is_none()) continue;
      CHECK_FALSE(a.required);
      CHECK((a.default_value.get<int64_t>() != nullptr) == (a.kind == AttributeKind::kInt));
      CHECK((a.default_value.get<float>() != nullptr) == (a.kind == AttributeKind::kFloat));
      CHECK((a.default_value.get<const char*>() != nullptr) == (a.kind == AttributeKind::kString));
    }
}
}  // namespace attributes_test
