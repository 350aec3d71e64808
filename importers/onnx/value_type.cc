#include "importers/onnx/value_type.h"

#include "importers/io/names.h"
#include "importers/onnx/tensor_proto.h"

namespace svengine::onnx {
namespace {

Result<Dim> declared_dim(const onnx_proto::TensorShapeProto::Dimension& dim) {
  if (dim.has_dim_value()) {
    if (dim.dim_value() < 0)
      return error("dimension {} is negative; a dimension of unknown size has a name (dim_param) or nothing", dim.dim_value());
    return Dim(dim.dim_value());
  }
  if (dim.dim_param().empty()) return Dim();
  SV_TRY(check_name("dimension", dim.dim_param()));
  return Dim(dim.dim_param());
}

Result<Shape> declared_shape(const onnx_proto::TensorShapeProto& shape) {
  std::vector<Dim> dims;
  Dims smallest;
  for (const auto& d : shape.dim()) {
    SV_ASSIGN(Dim dim, declared_dim(d));
    smallest.push_back(dim.is_static() ? dim.value() : 1);
    dims.push_back(std::move(dim));
  }
  SV_TRY(check_dims(smallest));
  return Shape(std::move(dims));
}

/// What a sequence or optional holds, or a map's values are.
Result<Type> holding(DType kind, const onnx_proto::TypeProto& element) {
  Type out;
  out.dtype = kind;
  out.shape = Shape(std::vector<Dim>{});
  SV_ASSIGN(Type held, read_type(element));
  out.element = std::make_shared<const Type>(std::move(held));
  return out;
}

}  // namespace

Result<Type> read_type(const onnx_proto::TypeProto& type) {
  using onnx_proto::TypeProto;
  Type out;
  switch (type.value_case()) {
    case TypeProto::VALUE_NOT_SET: return out;
    case TypeProto::kTensorType: break;
    case TypeProto::kSequenceType: return holding(DType::sequence, type.sequence_type().elem_type());
    case TypeProto::kOptionalType: return holding(DType::optional, type.optional_type().elem_type());
    case TypeProto::kMapType: {
      SV_ASSIGN(out, holding(DType::map, type.map_type().value_type()));
      SV_ASSIGN(out.key, dtype_from_onnx(type.map_type().key_type()));
      return out;
    }
    case TypeProto::kSparseTensorType: return unimplemented("is a sparse tensor; only dense ones are supported");
  }
  SV_ASSIGN(out.dtype, dtype_from_onnx(type.tensor_type().elem_type()));
  if (type.tensor_type().has_shape()) {
    SV_ASSIGN(out.shape, declared_shape(type.tensor_type().shape()));
  }
  return out;
}

Result<Type> declared_type(const onnx_proto::ValueInfoProto& info) { return read_type(info.type()); }

Status check_agrees(const Type& declared, const Type& actual) {
  const auto differs = [&] { return error("is declared as {}, but is {}", to_string(declared), to_string(actual)); };
  if (declared.dtype != DType::undefined && actual.dtype != DType::undefined && declared.dtype != actual.dtype) return differs();
  if (declared.element && actual.element && !check_agrees(*declared.element, *actual.element).ok()) return differs();
  if (!declared.shape.has_rank() || !actual.shape.has_rank()) return {};
  if (declared.shape.rank() != actual.shape.rank()) return differs();
  for (size_t i = 0; i < declared.shape.dims().size(); ++i) {
    const Dim& a = declared.shape[i];
    const Dim& b = actual.shape[i];
    if (a.is_static() && b.is_static() && a.value() != b.value()) return differs();
  }
  return {};
}

void refine(Type& type, const Type& declared) {
  if (!check_agrees(declared, type).ok()) return;
  if (type.dtype == DType::undefined) type.dtype = declared.dtype;
  if (!type.element) type.element = declared.element, type.key = declared.key;
  if (!declared.shape.has_rank()) return;
  if (!type.shape.has_rank()) {
    type.shape = declared.shape;
    return;
  }
  for (size_t i = 0; i < type.shape.dims().size(); ++i) {
    const Dim& dim = type.shape[i];
    if (!dim.is_static() && !dim.is_symbolic()) type.shape.set(i, declared.shape[i]);
  }
}

}  // namespace svengine::onnx
