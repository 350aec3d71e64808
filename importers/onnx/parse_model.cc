#include "importers/onnx/parse_model.h"

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>

namespace svengine::onnx {
namespace {

/// The forms of text that the package onnx writes: its own (.onnxtxt), protobuf's (.textproto), and JSON.
bool is_onnx_text(std::string_view text) {
  const auto has = [&](std::string_view word) { return text.find(word) != std::string_view::npos; };
  return text.starts_with("ir_version") || ((text.starts_with("<") || text.starts_with("{")) && (has("ir_version") || has("opset_import")));
}

/// What a file that is no model looks like, where that can be told.
const char* other_kind(Bytes bytes) {
  const std::string_view text = text_of(bytes.first(std::min<size_t>(bytes.size(), 64)));
  if (text.starts_with("\x1f\x8b")) return "a gzip file; unpack it first";
  if (text.starts_with("PK\x03\x04")) return "a zip file (a PyTorch checkpoint is one too), not an ONNX model";
  if (text.starts_with("version https://git-lfs")) return "a Git LFS pointer, not the model itself: fetch it with git lfs pull";
  if (text.substr(0, 8).ends_with("ORTM")) return "a model in ONNX Runtime's own format (.ort); give the .onnx file that it was made of";
  if (is_onnx_text(text)) return "a model as text; save it in the binary form, as onnx.save(onnx.load(\"m.onnxtxt\"), \"m.onnx\") does";
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
