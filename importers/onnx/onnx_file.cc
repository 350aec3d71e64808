#include "importers/onnx/onnx_file.h"

#include <filesystem>
#include <new>
#include <span>
#include <utility>

#include "importers/io/names.h"
#include "importers/onnx/parse_model.h"

namespace svengine::onnx {
namespace {

// Sizes that a place in the file cannot have stand for new tensors; the offset is the number.
constexpr uint64_t kAdded = UINT64_MAX, kLate = UINT64_MAX - 1;

onnx_proto::TensorProto placeholder_of(const std::string& name, uint64_t number, uint64_t kind) {
  const uint64_t numbers[] = {number, kind};
  onnx_proto::TensorProto out;
  if (!name.empty()) out.set_name(name);
  out.set_raw_data(numbers, sizeof numbers);
  return out;
}

template <class T>
const T* find_added(const onnx_proto::TensorProto& placeholder, const std::vector<T>& tensors, uint64_t kind) {
  if (placeholder.has_data_type()) return nullptr;
  const Result<TensorPlace> place = place_from(placeholder.raw_data());
  return place.ok() && place->size == kind && place->offset < tensors.size() ? &tensors[place->offset] : nullptr;
}

Result<Tensor> made_whole(const LateTensor& late) {
  SV_ASSIGN(MutableTensor out, Tensor::allocate(late.type, late.dims));
  size_t at = 0;
  SV_TRY(late.make([&](Bytes part) -> Status {
    if (part.size() > out.byte_size() - at) return error("has more than its {} bytes", out.byte_size());
    std::memcpy(out.raw() + at, part.data(), part.size());
    at += part.size();
    return {};
  }));
  if (at != out.byte_size()) return error("has {} of its {} bytes", at, out.byte_size());
  return Tensor(std::move(out));
}

}  // namespace

Result<OnnxFile> OnnxFile::open(const std::string& path) {
  Result<std::shared_ptr<const MappedFile>> file = MappedFile::open(path);
  if (!file.ok()) return std::move(file).error();
  Result<OnnxFile> out = parse((*file)->bytes(), *file, path);
  if (out.ok()) out->external_ = std::make_unique<ExternalFiles>(std::filesystem::path(path).parent_path().string());
  return out;
}

Result<OnnxFile> OnnxFile::parse(Bytes bytes, std::shared_ptr<const void> owner, const std::string& name, const std::string& external_folder) {
  try {
    Result<onnx_proto::ModelProto> model = parse_model(bytes, Keep::everything);
    if (!model.ok()) return std::move(model).error().in(printable(name));
    OnnxFile out;
    out.path_ = name;
    out.bytes_ = bytes;
    out.owner_ = std::move(owner);
    if (!external_folder.empty()) out.external_ = std::make_unique<ExternalFiles>(external_folder);
    out.model_ = std::move(*model);
    return out;
  } catch (const std::bad_alloc&) {
    return error("{}: not enough memory for the structure of the model", printable(name));
  }
}

OnnxFile OnnxFile::of(onnx_proto::ModelProto model) {
  OnnxFile out;
  out.model_ = std::move(model);
  return out;
}

Result<Bytes> OnnxFile::message(const onnx_proto::TensorProto& placeholder) const {
  if (placeholder.has_data_type()) return error("tensor '{}' is complete in itself", printable(placeholder.name()));
  SV_ASSIGN(const TensorPlace place, place_from(placeholder.raw_data()));
  if (place.offset > bytes_.size() || place.size > bytes_.size() - place.offset)
    return error("tensor '{}' is not in the file", printable(placeholder.name()));
  return bytes_.subspan(place.offset, place.size);
}

Result<TensorRecord> OnnxFile::record(const onnx_proto::TensorProto& placeholder) const {
  SV_ASSIGN(const Bytes bytes, message(placeholder));
  return scan_tensor(bytes, static_cast<size_t>(bytes.data() - bytes_.data()));
}

Result<Tensor> OnnxFile::tensor(const onnx_proto::TensorProto& placeholder) const {
  if (const Tensor* tensor = added(placeholder)) return *tensor;
  if (const LateTensor* made = late(placeholder)) return made_whole(*made);
  if (!placeholder.has_data_type()) return source().read(placeholder);
  const auto complete = std::make_shared<const std::string>(placeholder.SerializeAsString());
  SV_ASSIGN(const TensorRecord record, scan_tensor(std::as_bytes(std::span(*complete))));
  return decode_tensor(record, complete, external_.get());
}

onnx_proto::TensorProto OnnxFile::add(const std::string& name, Tensor tensor) {
  added_.push_back(std::move(tensor));
  return placeholder_of(name, added_.size() - 1, kAdded);
}

onnx_proto::TensorProto OnnxFile::add(const std::string& name, LateTensor tensor) {
  late_.push_back(std::move(tensor));
  return placeholder_of(name, late_.size() - 1, kLate);
}

const Tensor* OnnxFile::added(const onnx_proto::TensorProto& placeholder) const { return find_added(placeholder, added_, kAdded); }

const LateTensor* OnnxFile::late(const onnx_proto::TensorProto& placeholder) const { return find_added(placeholder, late_, kLate); }

}  // namespace svengine::onnx
