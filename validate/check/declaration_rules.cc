// Types as the file declares them: there where they must be, and of kinds that exist.
#include <unordered_set>

#include "importers/io/names.h"
#include "importers/onnx/value_type.h"
#include "validate/check/context.h"

namespace svengine::validate {
namespace {

using onnx_proto::TypeProto;
using onnx_proto::ValueInfoProto;

constexpr int kNewestElement = 28;  // float6e3m2

bool is_key(int type) {
  constexpr int kString = 8;
  return (type >= 2 && type <= 7) || type == 12 || type == 13 || type == kString;
}

class DeclarationRules {
 public:
  DeclarationRules(Context& context, const Body& body) : c_(context), body_(body) {}

  void run() {
    std::unordered_set<std::string_view> values;
    for (const auto& node : *body_.nodes)
      for (const std::string& name : node.output()) values.insert(name);
    const onnx_proto::GraphProto& graph = *body_.graph;
    for (const auto& info : graph.input()) must_be("input", info), check("input", info), values.insert(info.name());
    for (const auto& info : graph.output()) must_be("output", info), check("output", info);
    for (const auto& tensor : graph.initializer()) values.insert(tensor.name());
    for (const auto& tensor : graph.sparse_initializer()) values.insert(tensor.values().name());
    std::unordered_set<std::string_view> declared;
    for (const auto& info : graph.value_info()) {
      check("value", info);
      if (!declared.insert(info.name()).second)
        c_.found.add("declared-twice", c_.where(body_), fmt::format("value {} is declared twice", quoted(info)));
      if (!values.count(info.name())) c_.found.add("declared-nothing", c_.where(body_), fmt::format("there is no value {}", quoted(info)));
    }
  }

 private:
  static std::string quoted(const ValueInfoProto& info) { return fmt::format("'{}'", printable(info.name(), 60)); }

  /// What only inputs and outputs of the graph must have; those of bodies and functions follow from their nodes.
  void must_be(const char* what, const ValueInfoProto& info) {
    if (body_.parent >= 0) return;
    const char* missing = nullptr;
    const TypeProto& type = info.type();
    switch (type.value_case()) {
      case TypeProto::VALUE_NOT_SET:
        missing = "type";
        break;
      case TypeProto::kTensorType:
        if (!type.tensor_type().has_elem_type())
          missing = "element type";
        else if (!type.tensor_type().has_shape())
          missing = "shape";
        break;
      case TypeProto::kSparseTensorType:
        if (!type.sparse_tensor_type().has_elem_type())
          missing = "element type";
        else if (!type.sparse_tensor_type().has_shape())
          missing = "shape";
        break;
      case TypeProto::kSequenceType:
        missing = type.sequence_type().has_elem_type() ? nullptr : "element type";
        break;
      case TypeProto::kOptionalType:
        missing = type.optional_type().has_elem_type() ? nullptr : "element type";
        break;
      case TypeProto::kMapType:
        missing = type.map_type().has_key_type() && type.map_type().has_value_type() ? nullptr : "key or value type";
        break;
    }
    if (missing) c_.found.add("type-missing", c_.where(body_), fmt::format("{} {} has no {}", what, quoted(info), missing));
  }

  void check(const char* what, const ValueInfoProto& info) {
    const std::string name = fmt::format("{} {}", what, quoted(info));
    if (!check_type(name, info.type())) return;
    if (const Result<Type> type = onnx::declared_type(info); !type.ok() && info.type().value_case() != TypeProto::VALUE_NOT_SET)
      c_.found.add("engine-type", c_.where(body_), fmt::format("{}: {}", name, type.error().message()));
  }

  /// False: there is a finding. Types are nested at most as deep as the parser allows.
  bool check_type(const std::string& name, const TypeProto& type) {
    switch (type.value_case()) {
      case TypeProto::kTensorType:
        return check_tensor(name, type.tensor_type().elem_type(), type.tensor_type().has_elem_type(), type.tensor_type().shape());
      case TypeProto::kSparseTensorType:
        return check_tensor(name, type.sparse_tensor_type().elem_type(), type.sparse_tensor_type().has_elem_type(),
                            type.sparse_tensor_type().shape());
      case TypeProto::kSequenceType:
        return check_type(name, type.sequence_type().elem_type());
      case TypeProto::kOptionalType:
        return check_type(name, type.optional_type().elem_type());
      case TypeProto::kMapType:
        if (!is_key(type.map_type().key_type())) {
          c_.found.add("type-unknown", c_.where(body_),
                       fmt::format("{}: keys of a map are integers or strings, not of type {}", name, type.map_type().key_type()));
          return false;
        }
        return check_type(name, type.map_type().value_type());
      default:
        return true;
    }
  }

  bool check_tensor(const std::string& name, int element, bool has_element, const onnx_proto::TensorShapeProto& shape) {
    if (!has_element && body_.parent < 0) return false;  // said already of inputs and outputs
    if (element < 0 || element > kNewestElement || (element == 0 && has_element)) {
      c_.found.add("type-unknown", c_.where(body_), fmt::format("{}: element type {} is none of ONNX's", name, element));
      return false;
    }
    for (const auto& dim : shape.dim()) {
      if (!dim.has_dim_value() || dim.dim_value() >= 0) continue;
      c_.found.add("dimension-negative", c_.where(body_),
                   fmt::format("{}: dimension {}; one of unknown size has a name (dim_param) or nothing", name, dim.dim_value()));
      return false;
    }
    return true;
  }

  Context& c_;
  const Body& body_;
};

}  // namespace

void check_declarations(Context& c) {
  for (const Body& body : c.bodies)
    if (body.graph) DeclarationRules(c, body).run();
}

}  // namespace svengine::validate
