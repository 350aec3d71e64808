#include "importers/onnx/tensor_source.h"

#include "importers/onnx/stripped_model.h"

namespace svengine::onnx {
namespace {

/// The flat places of the values: given as such, or as one index for every dimension.
Result<std::vector<int64_t>> flat_places(const Tensor& indices, const Dims& dims, int64_t count) {
  const auto rank = static_cast<int64_t>(dims.size());
  const bool flat = indices.dims() == Dims{count};
  if (indices.type() != DType::i64 || (!flat && indices.dims() != Dims{count, rank}))
    return error("indices are {}[{}]; {} values of a tensor of rank {} need int64[{}] or int64[{}x{}]", name_of(indices.type()),
                 to_string(indices.dims()), count, rank, count, count, rank);
  const std::vector<int64_t> given = indices.as_int64s();
  if (flat) return given;
  std::vector<int64_t> places(static_cast<size_t>(count), 0);
  for (size_t i = 0; i < places.size(); ++i) {
    for (size_t d = 0; d < dims.size(); ++d) {
      const int64_t index = given[i * dims.size() + d];
      if (index < 0 || index >= dims[d]) return error("index {} is outside dimension {} of size {}", index, d, dims[d]);
      places[i] = places[i] * dims[d] + index;
    }
  }
  return places;
}

Result<Tensor> make_dense(const Tensor& values, const std::vector<int64_t>& places, const Dims& dims) {
  const int64_t count = element_count(dims);
  for (const int64_t place : places)
    if (place < 0 || place >= count) return error("index {} is outside a tensor of {} elements", place, count);
  if (values.type() == DType::string) {
    std::vector<std::string> out(static_cast<size_t>(count));
    for (size_t i = 0; i < places.size(); ++i) out[static_cast<size_t>(places[i])] = values.strings()[i];
    return Tensor::of_strings(dims, std::move(out));
  }
  SV_ASSIGN(MutableTensor out, Tensor::allocate(values.type(), dims));
  const size_t size = size_of(values.type());
  std::memset(out.raw(), 0, out.byte_size());
  for (size_t i = 0; i < places.size(); ++i) std::memcpy(out.raw() + static_cast<size_t>(places[i]) * size, values.raw() + i * size, size);
  return out;
}

}  // namespace

Result<Tensor> TensorSource::read(const onnx_proto::TensorProto& stripped_model) const {
  SV_ASSIGN(const TensorPlace place, place_from(stripped_model.raw_data()));
  SV_ASSIGN(const TensorRecord record, scan_tensor(file_.subspan(place.offset, place.size), place.offset));
  return decode_tensor(record, owner_, external_);
}

Result<Tensor> TensorSource::read(const onnx_proto::SparseTensorProto& stripped_model) const {
  SV_ASSIGN(const Tensor values, read(stripped_model.values()));
  const Dims dims(stripped_model.dims().begin(), stripped_model.dims().end());
  SV_TRY(check_dims(dims));
  if (values.dims().size() != 1) return error("the values of a sparse tensor have shape {}, need rank 1", to_string(values.dims()));
  const size_t each = values.type() == DType::string ? sizeof(std::string) : size_of(values.type());
  if (static_cast<size_t>(element_count(dims)) > kMostDenseBytes / each)
    return unimplemented("a sparse tensor of shape {} has more than {} MiB when it is made dense", to_string(dims), kMostDenseBytes >> 20);
  std::vector<int64_t> places;
  if (values.count() > 0) {
    SV_ASSIGN(const Tensor indices, read(stripped_model.indices()));
    SV_ASSIGN(places, flat_places(indices, dims, values.count()));
  }
  return make_dense(values, places, dims);
}

}  // namespace svengine::onnx
