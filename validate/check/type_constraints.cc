#include "validate/check/type_constraints.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "importers/io/names.h"

namespace svengine::validate {
namespace {

std::string types_text(const std::vector<std::string_view>& types) {
  constexpr size_t kMostShown = 12;
  std::vector<std::string_view> plain = types;
  const size_t shown = std::min(plain.size(), kMostShown);
  const std::string more = shown < plain.size() ? fmt::format(" and {} more", plain.size() - shown) : "";
  plain.resize(shown);
  return fmt::format("{}{}", fmt::join(plain, ", "), more);
}

/// What is wrong with an input or output of that type; empty: nothing, or its type is not known.
std::string broken_value(const Schemas& schemas, const Schema& schema, const SchemaValue& want, int i, const std::string& name,
                         const std::string& type, bool output) {
  if (type.empty() || schemas.allows(want, type)) return {};
  return fmt::format("{} {} ({}) '{}' is {}, {} of opset {} {} {}", output ? "output" : "input", i, want.name, printable(name, 60), type, schema.name,
                     schema.since, output ? "gives" : "takes", want.set < 0 ? std::string(want.type) : types_text(schemas.types(want.set)));
}

}  // namespace

std::string schema_type(const Type& type) {
  const auto inner = [&] { return type.element ? schema_type(*type.element) : std::string(); };
  const auto wrapped = [](const char* what, const std::string& held) {
    return held.empty() ? std::string() : fmt::format("{}({})", what, held);
  };
  switch (type.dtype) {
    case DType::undefined:
      return {};
    case DType::sequence:
      return wrapped("seq", inner());
    case DType::optional:
      return wrapped("opt", inner());
    case DType::map:
      return {};  // their values' types are written in two ways; operators tell by themselves
    default:
      return std::string(name_of(type.dtype));
  }
}

std::string broken_constraint(const Schemas& schemas, const Schema& schema, const onnx_proto::NodeProto& node, const TypeOf& type_of) {
  struct Bound {
    std::string_view parameter;
    std::string type;
    int input;
  };
  std::vector<Bound> bound;
  for (int i = 0; i < node.input_size(); ++i) {
    const SchemaValue* want = value_at(schema.inputs, static_cast<size_t>(i));
    if (node.input(i).empty() || !want) continue;
    const std::string type = type_of(node.input(i));
    if (std::string problem = broken_value(schemas, schema, *want, i, node.input(i), type, false); !problem.empty()) return problem;
    if (type.empty() || want->set < 0 || !want->one_type) continue;
    const auto known = std::find_if(bound.begin(), bound.end(), [&](const Bound& b) { return b.parameter == want->type; });
    if (known == bound.end())
      bound.push_back({want->type, type, i});
    else if (known->type != type)
      return fmt::format("inputs {} and {} must be of one type ({}), but are {} and {}", known->input, i, want->type, known->type, type);
  }
  return {};
}

std::string broken_output(const Schemas& schemas, const Schema& schema, const onnx_proto::NodeProto& node, const TypeOf& type_of) {
  for (int i = 0; i < node.output_size(); ++i) {
    const SchemaValue* want = value_at(schema.outputs, static_cast<size_t>(i));
    if (node.output(i).empty() || !want) continue;
    std::string problem = broken_value(schemas, schema, *want, i, node.output(i), type_of(node.output(i)), true);
    if (!problem.empty()) return problem;
  }
  return {};
}

}  // namespace svengine::validate
