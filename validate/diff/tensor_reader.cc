#include "validate/diff/tensor_reader.h"

#include "importers/io/names.h"

namespace svengine::validate {
namespace {

/// Strings with their lengths, so that other cuts have other hashes.
uint64_t hash_of_strings(std::span<const std::string> strings) {
  Hash64 hash;
  for (const std::string& text : strings) {
    const uint64_t size = text.size();
    hash.update(std::as_bytes(std::span(&size, 1)));
    hash.update(text);
  }
  return hash.value();
}

/// Types that the engine has not by their number.
std::string type_of_record(const onnx::TensorRecord& record) {
  const Result<DType> type = onnx::dtype_from_onnx(record.data_type);
  return fmt::format("{}[{}]", type.ok() ? std::string(name_of(*type)) : fmt::format("type {}", record.data_type), to_string(record.dims));
}

}  // namespace

onnx::Bytes bytes_of(const StoredTensor& stored) {
  if (!stored.tensor.defined() || is_handle(stored.tensor.type())) return stored.raw;
  return {stored.tensor.raw(), stored.tensor.byte_size()};
}

Result<StoredTensor> TensorReader::read(const onnx_proto::TensorProto& proto) const {
  const std::string what = fmt::format("tensor '{}'", printable(proto.name()));
  Result<onnx::TensorRecord> record = file_.record(proto);
  if (!record.ok()) return std::move(record).error().in(what);
  StoredTensor out;
  out.type = type_of_record(*record);
  out.dims = record->dims;
  if (!onnx::dtype_from_onnx(record->data_type).ok() && record->has_raw && !record->external) {
    out.raw = record->raw;
    return out;
  }
  Result<Tensor> tensor = file_.tensor(proto);
  if (!tensor.ok()) return std::move(tensor).error().in(what);
  out.tensor = std::move(tensor).value();
  return out;
}

Result<std::string> TensorReader::type(const onnx_proto::TensorProto& proto) const {
  Result<onnx::TensorRecord> record = file_.record(proto);
  if (!record.ok()) return std::move(record).error().in(fmt::format("tensor '{}'", printable(proto.name())));
  return type_of_record(*record);
}

Result<uint64_t> TensorReader::shape_hash(const onnx_proto::TensorProto& proto) const {
  SV_ASSIGN(const std::string text, type(proto));
  return hash64(text);
}

Result<uint64_t> TensorReader::content_hash(const onnx_proto::TensorProto& proto) {
  if (const auto known = contents_.find(&proto); known != contents_.end()) return known->second;
  SV_ASSIGN(const StoredTensor stored, read(proto));
  const bool strings = stored.tensor.defined() && stored.tensor.type() == DType::string;
  HashWork work;  // gives mapped pages back piece by piece
  work.add(bytes_of(stored), stored.tensor.owner());
  work.run(0, 1);
  const uint64_t hash = hash64(stored.type, strings ? hash_of_strings(stored.tensor.strings()) : work.result(0).low);
  contents_.emplace(&proto, hash);
  return hash;
}

}  // namespace svengine::validate
