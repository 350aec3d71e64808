#include "importers/onnx/tensor_source.h"

#include "importers/onnx/stripped_model.h"

namespace svengine::onnx {

Result<Tensor> TensorSource::read(const onnx_proto::TensorProto& stripped_model) const {
  SV_ASSIGN(const TensorPlace place, place_from(stripped_model.raw_data()));
  SV_ASSIGN(const TensorRecord record, scan_tensor(file_.subspan(place.offset, place.size), place.offset));
  return decode_tensor(record, owner_, external_);
}

}  // namespace svengine::onnx
