#include "importers/onnx/read_attributes.h"

#include "importers/io/names.h"
#include "importers/onnx/value_type.h"

namespace svengine::onnx {
namespace {

using onnx_proto::AttributeProto;

template <class To, class From>
std::vector<To> to_vector(const From& from) {
  return std::vector<To>(from.begin(), from.end());
}

/// The types whose content is there. An empty list leaves no trace in the file, so it is not among them.
std::vector<AttributeProto::AttributeType> contents(const AttributeProto& a) {
  std::vector<AttributeProto::AttributeType> out;
  if (a.has_f()) out.push_back(AttributeProto::FLOAT);
  if (a.has_i()) out.push_back(AttributeProto::INT);
  if (a.has_s()) out.push_back(AttributeProto::STRING);
  if (a.has_t()) out.push_back(AttributeProto::TENSOR);
  if (a.has_sparse_tensor()) out.push_back(AttributeProto::SPARSE_TENSOR);
  if (a.has_tp()) out.push_back(AttributeProto::TYPE_PROTO);
  if (a.floats_size()) out.push_back(AttributeProto::FLOATS);
  if (a.ints_size()) out.push_back(AttributeProto::INTS);
  if (a.strings_size()) out.push_back(AttributeProto::STRINGS);
  return out;
}

const char* name_of(AttributeProto::AttributeType type) {
  switch (type) {
    case AttributeProto::FLOAT: return "FLOAT";
    case AttributeProto::INT: return "INT";
    case AttributeProto::STRING: return "STRING";
    case AttributeProto::TENSOR: return "TENSOR";
    case AttributeProto::SPARSE_TENSOR: return "SPARSE_TENSOR";
    case AttributeProto::FLOATS: return "FLOATS";
    case AttributeProto::INTS: return "INTS";
    case AttributeProto::STRINGS: return "STRINGS";
    case AttributeProto::TYPE_PROTO: return "TYPE_PROTO";
    default: return "none";
  }
}

/// The declared type, or, where none is declared, that of the only content.
Result<AttributeProto::AttributeType> type_of(const AttributeProto& a) {
  const std::vector<AttributeProto::AttributeType> there = contents(a);
  if (there.size() > 1) return error("holds two values, {} and {}", name_of(there[0]), name_of(there[1]));
  const bool declared = a.has_type() && a.type() != AttributeProto::UNDEFINED;
  if (!declared) {
    if (there.empty()) return error("has neither a type nor a value");
    return there[0];
  }
  // Writers in proto3 leave out a number that is 0 and a text that is empty: not there, but not another type either.
  if (!there.empty() && there[0] != a.type())
    return error("is declared as {}, but holds {}", name_of(a.type()), name_of(there[0]));
  return a.type();
}

/// A value of the type: a tensor without elements, or a sequence or optional of one such.
Result<Tensor> example_of(const Type& type) {
  switch (type.dtype) {
    case DType::undefined: return error("says no type");
    case DType::map: return unimplemented("is a map; supported are tensors, sequences and optionals");
    case DType::sequence: case DType::optional: {
      SV_ASSIGN(Tensor element, example_of(type.element ? *type.element : Type{}));
      return Tensor::of_items(type.dtype, {std::move(element)});
    }
    default: {
      SV_ASSIGN(MutableTensor none, Tensor::allocate(type.dtype, {0}));
      return Tensor(std::move(none));
    }
  }
}

Result<Attribute> read_value(const AttributeProto& a, const TensorSource& tensors) {
  SV_ASSIGN(const AttributeProto::AttributeType type, type_of(a));
  switch (type) {
    case AttributeProto::FLOAT: return Attribute(a.f());
    case AttributeProto::INT: return Attribute(static_cast<int64_t>(a.i()));
    case AttributeProto::STRING: return Attribute(a.s());
    case AttributeProto::FLOATS: return Attribute(to_vector<float>(a.floats()));
    case AttributeProto::INTS: return Attribute(to_vector<int64_t>(a.ints()));
    case AttributeProto::STRINGS: return Attribute(to_vector<std::string>(a.strings()));
    case AttributeProto::TENSOR: {
      if (!a.has_t()) return error("is declared as TENSOR, but holds none");
      SV_ASSIGN(Tensor tensor, tensors.read(a.t()));
      return Attribute(std::move(tensor));
    }
    case AttributeProto::SPARSE_TENSOR: {  // dense from here on
      if (!a.has_sparse_tensor()) return error("is declared as SPARSE_TENSOR, but holds none");
      SV_ASSIGN(Tensor tensor, tensors.read(a.sparse_tensor()));
      return Attribute(std::move(tensor));
    }
    case AttributeProto::TYPE_PROTO: {
      if (!a.has_tp()) return error("is declared as TYPE_PROTO, but holds none");
      SV_ASSIGN(const Type type, read_type(a.tp()));
      SV_ASSIGN(Tensor example, example_of(type));
      return Attribute(std::move(example));
    }
    default: return unimplemented("is of a type that is not supported");
  }
}

}  // namespace

Result<Attributes> read_attributes(const onnx_proto::NodeProto& node, const TensorSource& tensors, const Call* call) {
  Attributes out;
  for (const AttributeProto& a : node.attribute()) {
    if (a.name().empty()) return error("an attribute has no name");
    SV_TRY(check_name("attribute", a.name()));
    if (out.has(a.name())) return error("attribute '{}' is given twice", a.name());
    if (!a.ref_attr_name().empty() && !call)
      return error("attribute '{}' refers to an attribute of a function, but this is none", a.name());
    const AttributeProto* given = resolved(a, call);
    if (!given || given->has_g()) continue;  // the operator's default counts; a body is made with its node
    Result<Attribute> value = read_value(*given, tensors);
    if (!value.ok()) return std::move(value).error().in(fmt::format("attribute '{}'", a.name()));
    out.set(a.name(), std::move(value).value());
  }
  return out;
}

}  // namespace svengine::onnx
