// ONNX's TensorProto, read straight from its bytes, so that weights never pass through protobuf's objects: what is already
// laid out as the engine needs it (raw_data, packed float_data and double_data, external files) is used where it lies.
#pragma once
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/tensor.h"
#include "importers/onnx/external_data.h"
#include "importers/onnx/wire.h"

namespace svengine::onnx {

/// A TensorProto without its data. Views point into the message's bytes.
struct TensorRecord {
  std::string_view name;
  int64_t data_type = 0;
  Dims dims;
  bool external = false;
  std::vector<std::pair<std::string_view, std::string_view>> external_data;
  bool has_raw = false;
  Bytes raw;             // raw_data, the last one if there are several, as protobuf has it
  uint32_t typed = 0;    // bit f: data field f (4 float, 5 int32, 6 string, 7 int64, 10 double, 11 uint64) is there
  bool segmented = false;
  Bytes message;
  size_t offset = 0;     // of the message in its file
};

/// Reads everything but the data. `offset`: where the message begins in its file, for messages.
Result<TensorRecord> scan_tensor(Bytes message, size_t offset = 0);

/// The tensor itself. Data in place is kept alive by `owner`; tensors of at most kCopyUpTo bytes, which are what shape
/// inference reads, and those stored otherwise are copied to aligned memory. `external` may be null: no external data then.
/// Elements of 2 and 4 bits get a byte each. Fails on types the engine has not, and when the data do not fit the shape. Memory is
/// allocated only after the file has been found to hold that many elements.
inline constexpr size_t kCopyUpTo = 4096;
Result<Tensor> decode_tensor(const TensorRecord& record, const std::shared_ptr<const void>& owner, ExternalFiles* external);

/// The engine's type for a TensorProto.DataType, or an error that names the one it is.
Result<DType> dtype_from_onnx(int64_t data_type);

}  // namespace svengine::onnx
