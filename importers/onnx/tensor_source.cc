#include "importers/onnx/tensor_source.h"

#include "importers/onnx/skeleton.h"

namespace svengine::onnx {

Result<Tensor> TensorSource::read(const onnx_proto::TensorProto& skeleton) const {
  SV_ASSIGN(const TensorPlace place, place_from(skeleton.raw_data()));
  SV_ASSIGN(const TensorRecord record, scan_tensor(file_.subspan(place.offset, place.size), place.offset));
  return decode_tensor(record, owner_, external_);
}

}  // namespace svengine::onnx
