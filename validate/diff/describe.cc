#include "validate/diff/describe.h"

#include "importers/io/names.h"
#include "validate/compare/element.h"

namespace svengine::validate {
namespace {

using onnx_proto::AttributeProto, onnx_proto::TypeProto;

constexpr int kMostListed = 12;

template <class List, class Text>
std::string list_text(const List& list, const Text& text) {
  std::string out = "[";
  int i = 0;
  for (const auto& item : list) {
    if (i == kMostListed) return out + fmt::format(", ... {} in all]", list.size());
    out += (i++ ? ", " : "") + text(item);
  }
  return out + ']';
}

std::string quoted(const std::string& text) { return '"' + printable(text) + '"'; }

std::string tensor_text(const onnx_proto::TensorProto& proto, const TensorReader& tensors) {
  const Result<StoredTensor> stored = tensors.read(proto);
  if (!stored.ok()) return "a tensor that cannot be read";
  if (!stored->tensor.defined() || stored->tensor.count() > kMostListed) return stored->type;
  std::string out = stored->type + " [";
  for (int64_t i = 0; i < stored->tensor.count(); ++i) out += (i ? ", " : "") + element_text(stored->tensor, i);
  return out + ']';
}

std::string element_type(int32_t number) {
  const Result<DType> type = onnx::dtype_from_onnx(number);
  return type.ok() ? std::string(name_of(*type)) : fmt::format("type {}", number);
}

template <class TensorType>
std::string tensor_type_text(const TensorType& tensor) {
  std::string out = element_type(tensor.elem_type());
  if (!tensor.has_shape()) return out + "[?]";
  out += '[';
  for (int i = 0; i < tensor.shape().dim_size(); ++i) {
    const auto& dim = tensor.shape().dim(i);
    out += i ? "x" : "";
    out += dim.has_dim_value() ? std::to_string(dim.dim_value()) : dim.dim_param().empty() ? "?" : printable(dim.dim_param());
  }
  return out + ']';
}

}  // namespace

std::string type_text(const TypeProto& type) {
  switch (type.value_case()) {
    case TypeProto::kTensorType: return tensor_type_text(type.tensor_type());
    case TypeProto::kSparseTensorType: return "sparse " + tensor_type_text(type.sparse_tensor_type());
    case TypeProto::kSequenceType: return "sequence of " + type_text(type.sequence_type().elem_type());
    case TypeProto::kOptionalType: return "optional " + type_text(type.optional_type().elem_type());
    case TypeProto::kMapType:
      return fmt::format("map of {} to {}", element_type(type.map_type().key_type()), type_text(type.map_type().value_type()));
    case TypeProto::VALUE_NOT_SET: break;
  }
  return {};
}

std::string attribute_text(const AttributeProto& attribute, const TensorReader& tensors) {
  if (!attribute.ref_attr_name().empty()) return fmt::format("-> '{}'", printable(attribute.ref_attr_name()));
  switch (attribute.type()) {
    case AttributeProto::FLOAT: return fmt::format("{}", attribute.f());
    case AttributeProto::INT: return std::to_string(attribute.i());
    case AttributeProto::STRING: return quoted(attribute.s());
    case AttributeProto::TENSOR: return tensor_text(attribute.t(), tensors);
    case AttributeProto::GRAPH: return fmt::format("graph of {} nodes", attribute.g().node_size());
    case AttributeProto::SPARSE_TENSOR:
      return fmt::format("sparse [{}]", to_string(Dims(attribute.sparse_tensor().dims().begin(), attribute.sparse_tensor().dims().end())));
    case AttributeProto::TYPE_PROTO: return type_text(attribute.tp());
    case AttributeProto::FLOATS: return list_text(attribute.floats(), [](float f) { return fmt::format("{}", f); });
    case AttributeProto::INTS: return list_text(attribute.ints(), [](int64_t i) { return std::to_string(i); });
    case AttributeProto::STRINGS: return list_text(attribute.strings(), quoted);
    case AttributeProto::TENSORS: return list_text(attribute.tensors(), [&](const auto& t) { return tensor_text(t, tensors); });
    case AttributeProto::GRAPHS:
      return list_text(attribute.graphs(), [](const auto& g) { return fmt::format("graph of {} nodes", g.node_size()); });
    case AttributeProto::TYPE_PROTOS: return list_text(attribute.type_protos(), [](const auto& t) { return type_text(t); });
    default: return attribute.has_g() ? "graph" : attribute.has_t() ? "tensor" : "of no type";
  }
}

}  // namespace svengine::validate
