#include "importers/onnx/tensor_file.h"

#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "importers/io/names.h"
#include "importers/onnx/export_node.h"
#include "importers/onnx/tensor_proto.h"

namespace svengine {
namespace {

/// SequenceProto and OptionalProto hold their content in field 3, where a TensorProto has the segment nobody writes.
bool holds_other_values(const onnx::TensorRecord& record) {
  return record.segmented && !record.has_raw && !record.typed && !record.external;
}

Result<TensorFile> parse(const std::shared_ptr<const MappedFile>& file) {
  if (file->bytes().empty()) return error("is empty");
  Result<onnx::TensorRecord> record = onnx::scan_tensor(file->bytes());
  if (!record.ok()) return std::move(record).error().in("is no ONNX tensor, or only a part of one");
  if (holds_other_values(*record)) return error("holds a sequence or an optional; only tensors are supported");
  if (record->data_type == 0) return error("is no ONNX tensor: it has no element type");
  SV_TRY(check_name("tensor", record->name));
  SV_ASSIGN(Tensor tensor, onnx::decode_tensor(*record, file, nullptr));
  return TensorFile{std::string(record->name), std::move(tensor)};
}

}  // namespace

Result<TensorFile> load_tensor_proto(const std::string& path) {
  SV_ASSIGN(const auto file, MappedFile::open(path));
  Result<TensorFile> tensor = parse(file);
  if (!tensor.ok()) return std::move(tensor).error().in(printable(path));
  return tensor;
}

Status save_tensor_proto(const Tensor& tensor, const std::string& name, const std::string& path) {
  SV_ASSIGN(AtomicFile file, AtomicFile::create(path));
  SV_TRY(file.write(onnx::export_tensor_header(tensor, name).SerializeAsString()));
  SV_TRY(file.write(onnx::raw_data_head(tensor.byte_size())));
  SV_TRY(file.write({tensor.raw(), tensor.byte_size()}));
  return file.finish();
}

}  // namespace svengine
