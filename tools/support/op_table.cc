#include "tools/support/op_table.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "engine/graph/builder.h"
#include "engine/ops/registry.h"
#include "engine/ops/samples.h"

namespace svengine::tool {
namespace {

constexpr DTypeSet kAllTypes = kDenseTypes | DTypeSet{DType::string};

/// Is the sample's node taken when input 0, and what has its type, is of another one? Values that are not of that type stay.
bool takes(const OpDef& op, const Sample& sample, DType type) {
  Graph graph;
  std::vector<Value*> inputs;
  const DType replaced = sample.inputs[0].dtype;
  for (const SampleInput& input : sample.inputs) {
    const bool given = input.value.defined();
    const DType own = given ? input.value.type() : input.dtype;
    const bool changes = &input == &sample.inputs[0] || own == replaced;
    if (given && (!changes || own == type)) inputs.push_back(graph.add_constant("c", input.value));
    else if (own == DType::undefined) inputs.push_back(nullptr);
    else inputs.push_back(graph.add_input("x", {changes ? type : own, Shape::of(given ? input.value.dims() : input.dims), 0}));
  }
  Attributes attributes;
  for (const auto& [name, value] : sample.attributes) attributes.set(name, value);
  Node* node = graph.add_node(op, "n", std::move(inputs), static_cast<size_t>(sample.outputs), std::move(attributes));
  return infer_types(*node).ok();
}

DTypeSet types_of(const OpDef& op) {
  for (const TypeParameter& parameter : op.types)
    if (parameter.inputs.has(0)) return parameter.types;
  DTypeSet out;
  for (const Sample& sample : samples_of(op)) {
    if (sample.inputs.empty() || is_handle(sample.inputs[0].dtype)) continue;
    for (int t = 1; t < 32; ++t) {
      const auto type = static_cast<DType>(t);
      if (kAllTypes.has(type) && !out.has(type) && takes(op, sample, type)) out = out | DTypeSet{type};
    }
  }
  return out;
}

struct Group {
  const char* name;
  DTypeSet types;
};
constexpr Group kGroups[] = {
    {"float", {DType::f32, DType::f64, DType::f16, DType::bf16}},
    {"int", {DType::i8, DType::i16, DType::i32, DType::i64}},
    {"uint", {DType::u8, DType::u16, DType::u32, DType::u64}},
    {"float8", {DType::f8e4m3fn, DType::f8e4m3fnuz, DType::f8e5m2, DType::f8e5m2fnuz}},
    {"int4", {DType::u4, DType::i4, DType::u2, DType::i2}},
};

}  // namespace

std::vector<OpRow> op_table() {
  std::vector<OpRow> rows;
  for (const OpDef& op : all_ops().all()) {
    if (std::string_view(op.domain) == kInternalDomain) continue;
    rows.push_back({*op.domain ? op.domain : "ai.onnx", op.name, &op, op.since, op.until, types_of(op), op.gradient != nullptr});
  }
  return rows;
}

std::vector<std::string> names_of(DTypeSet types) {
  std::vector<std::string> out;
  for (int t = 1; t < 32; ++t)
    if (types.has(static_cast<DType>(t))) out.emplace_back(name_of(static_cast<DType>(t)));
  return out;
}

std::string types_text(DTypeSet types) {
  std::vector<std::string> parts;
  if ((types & kDenseTypes) == kDenseTypes) {
    parts.emplace_back("all");
    types = types - kDenseTypes;
  }
  for (const Group& group : kGroups) {
    if ((types & group.types) != group.types) continue;
    parts.emplace_back(group.name);
    types = types - group.types;
  }
  for (std::string& name : names_of(types)) parts.push_back(std::move(name));
  return fmt::format("{}", fmt::join(parts, " "));
}

std::string op_document(const std::vector<OpRow>& rows) {
  std::string out =
      "# Operators\n\n"
      "Written by `svengine ops --document`; not to be changed by hand. Opsets are those whose forms are known, types those of the first input: "
      "`float` is\n"
      "float32, float64, float16 and bfloat16, `int` and `uint` are integers of 8 to 64 bits, `float8` the four formats, `int4` integers of 4 and 2 "
      "bits,\n"
      "`all` all of these, bool, float4 and the scales. Where there is a gradient, networks with the operator can be trained; operators that are "
      "made\n"
      "of others, as most of com.microsoft and those of ai.svengine are, have the gradients of those.\n";
  std::string domain;
  for (const OpRow& row : rows) {
    if (row.domain != domain) out += fmt::format("\n## {}\n\n| operator | opsets | types | gradient |\n|---|---|---|---|\n", row.domain);
    domain = row.domain;
    out += fmt::format("| {} | {} to {} | {} | {} |\n", row.name, row.since, row.until, types_text(row.types), row.gradient ? "yes" : "");
  }
  return out;
}

}  // namespace svengine::tool
