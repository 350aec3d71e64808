// Attributes: each once, of one value, of a type that the operator wants.
#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "importers/io/names.h"
#include "validate/check/context.h"

namespace svengine::validate {
namespace {

using onnx_proto::AttributeProto;
using onnx_proto::NodeProto;

std::string type_name(int type) {
  static constexpr const char* kNames[] = {"no type",        "FLOAT",      "INT",        "STRING",  "TENSOR", "GRAPH",
                                           "FLOATS",         "INTS",       "STRINGS",    "TENSORS", "GRAPHS", "SPARSE_TENSOR",
                                           "SPARSE_TENSORS", "TYPE_PROTO", "TYPE_PROTOS"};
  return type >= 0 && type < static_cast<int>(std::size(kNames)) ? kNames[type] : std::to_string(type);
}

/// The types whose value is there; an empty list leaves no trace in the file.
std::vector<int> contents(const AttributeProto& a) {
  std::vector<int> out;
  const auto note = [&](bool there, int type) {
    if (there) out.push_back(type);
  };
  note(a.has_f(), AttributeProto::FLOAT), note(a.has_i(), AttributeProto::INT), note(a.has_s(), AttributeProto::STRING);
  note(a.has_t(), AttributeProto::TENSOR), note(a.has_g(), AttributeProto::GRAPH), note(a.floats_size(), AttributeProto::FLOATS);
  note(a.ints_size(), AttributeProto::INTS), note(a.strings_size(), AttributeProto::STRINGS),
      note(a.tensors_size(), AttributeProto::TENSORS);
  note(a.graphs_size(), AttributeProto::GRAPHS), note(a.has_sparse_tensor(), AttributeProto::SPARSE_TENSOR);
  note(a.sparse_tensors_size(), AttributeProto::SPARSE_TENSORS), note(a.has_tp(), AttributeProto::TYPE_PROTO);
  note(a.type_protos_size(), AttributeProto::TYPE_PROTOS);
  return out;
}

/// Where nothing is there, a number is 0 and a list empty; these have no such default.
bool must_hold(int type) {
  return type == AttributeProto::TENSOR || type == AttributeProto::GRAPH || type == AttributeProto::SPARSE_TENSOR ||
         type == AttributeProto::TYPE_PROTO;
}

class AttributeRules {
 public:
  AttributeRules(Context& context, const Body& body) : c_(context), body_(body) {
    if (!body.function) return;
    for (const std::string& name : body.function->attribute()) parameters_.insert(name);
    for (const auto& a : body.function->attribute_proto()) parameters_.insert(a.name());
  }

  void check(int index) {
    const NodeProto& node = body_.nodes->Get(index);
    std::unordered_set<std::string_view> names;
    for (const AttributeProto& a : node.attribute()) {
      if (a.name().empty())
        c_.add("attribute-name", body_, index, "an attribute has no name");
      else if (!names.insert(a.name()).second)
        c_.add("attribute-twice", body_, index, fmt::format("attribute '{}' is there twice", shown(a)));
      check_content(index, a);
      check_reference(index, a);
    }
    if (const Schema* schema = c_.schema_of(body_, node)) check_schema(index, node, *schema, names), check_perm(index, node, *schema);
  }

 private:
  static std::string shown(const AttributeProto& a) { return printable(a.name(), 60); }

  void check_content(int index, const AttributeProto& a) {
    const std::vector<int> there = contents(a);
    if (!a.has_type() || a.type() == AttributeProto::UNDEFINED) {
      if (c_.model().ir_version() >= 2 || there.empty())
        c_.add("attribute-content", body_, index, fmt::format("attribute '{}' has no type", shown(a)));
      return;
    }
    if (there.size() > 1)
      c_.add("attribute-content", body_, index,
             fmt::format("attribute '{}' holds two values, {} and {}", shown(a), type_name(there[0]), type_name(there[1])));
    else if (there.size() == 1 && there[0] != a.type())
      c_.add("attribute-content", body_, index,
             fmt::format("attribute '{}' is declared as {}, but holds {}", shown(a), type_name(a.type()), type_name(there[0])));
    else if (there.empty() && must_hold(a.type()) && a.ref_attr_name().empty())
      c_.add("attribute-content", body_, index,
             fmt::format("attribute '{}' is declared as {}, but holds none", shown(a), type_name(a.type())));
  }

  void check_reference(int index, const AttributeProto& a) {
    if (a.ref_attr_name().empty()) return;
    const std::string to = printable(a.ref_attr_name(), 60);
    if (!body_.function)
      c_.add("attribute-reference", body_, index,
             fmt::format("attribute '{}' refers to '{}' of a function, but this is none", shown(a), to));
    else if (!contents(a).empty())
      c_.add("attribute-reference", body_, index,
             fmt::format("attribute '{}' refers to '{}' of the function and has a value too", shown(a), to));
    else if (!parameters_.count(a.ref_attr_name()))
      c_.add("attribute-reference", body_, index,
             fmt::format("attribute '{}' refers to '{}', which the function does not declare", shown(a), to));
  }

  void check_schema(int index, const NodeProto& node, const Schema& schema, const std::unordered_set<std::string_view>& names) {
    for (const AttributeProto& a : node.attribute()) {
      const auto def =
          std::find_if(schema.attributes.begin(), schema.attributes.end(), [&](const SchemaAttribute& d) { return d.name == a.name(); });
      if (def == schema.attributes.end()) {
        // Names with two underscores in front are somebody's own.
        if (schema.any_attribute || a.name().starts_with("__") || a.name().empty()) continue;
        c_.add("attribute-unknown", body_, index, fmt::format("{} of opset {} has no attribute '{}'", schema.name, schema.since, shown(a)));
      } else if (a.has_type() && a.type() != def->type) {
        c_.add("attribute-type", body_, index,
               fmt::format("attribute '{}' is {}, {} wants {}", shown(a), type_name(a.type()), schema.name, type_name(def->type)));
      }
    }
    for (const SchemaAttribute& def : schema.attributes)
      if (def.required && !names.count(def.name))
        c_.add("attribute-missing", body_, index, fmt::format("{} of opset {} needs attribute '{}'", schema.name, schema.since, def.name));
  }

  void check_perm(int index, const NodeProto& node, const Schema& schema) {
    if (schema.name != "Transpose" || !schema.domain.empty()) return;
    for (const AttributeProto& a : node.attribute()) {
      const auto negative = std::find_if(a.ints().begin(), a.ints().end(), [](int64_t axis) { return axis < 0; });
      if (a.name() == "perm" && negative != a.ints().end()) c_.add("perm-negative", body_, index, fmt::format("perm has {}", *negative));
    }
  }

  Context& c_;
  const Body& body_;
  std::unordered_set<std::string_view> parameters_;  // of the function
};

}  // namespace

void check_attributes(Context& c) {
  for (const Body& body : c.bodies) {
    AttributeRules rules(c, body);
    for (int i = 0; i < body.nodes->size(); ++i) rules.check(i);
  }
}

}  // namespace svengine::validate
