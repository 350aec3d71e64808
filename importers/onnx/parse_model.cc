#include "importers/onnx/parse_model.h"

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>

namespace svengine::onnx {
namespace {

/// What a file that is no model looks like, where that can be told.
const char* other_kind(Bytes bytes) {
  const std::string_view text = text_of(bytes.first(std::min<size_t>(bytes.size(), 64)));
  if (text.starts_with("\x1f\x8b")) return "a gzip file; unpack it first";
  if (text.starts_with("PK\x03\x04")) return "a zip file (a PyTorch checkpoint is one too), not an ONNX model";
  if (text.starts_with("version https://git-lfs")) return "a Git LFS pointer, not the model itself: fetch it with git lfs pull";
  if (text.starts_with("<")) return "a page of HTML or XML, not an ONNX model";
  if (text.starts_with("\x89HDF")) return "an HDF5 file, not an ONNX model";
  return nullptr;
}

}  // namespace

Result<onnx_proto::ModelProto> parse_model(Bytes bytes, Keep keep) {
  if (bytes.empty()) return error("is empty");
  if (const char* kind = other_kind(bytes)) return error("is {}", kind);
  Result<std::string> stripped_model = make_stripped_model(bytes, kMaxCost, keep);
  if (!stripped_model.ok()) return std::move(stripped_model).error().in("is no ONNX model, or only a part of one");
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(stripped_model->data()),
                                                static_cast<int>(stripped_model->size()));
  stream.SetRecursionLimit(64);
  onnx_proto::ModelProto model;
  if (!model.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage())
    return error("is no ONNX model: protobuf cannot parse its structure");
  return model;
}

}  // namespace svengine::onnx
