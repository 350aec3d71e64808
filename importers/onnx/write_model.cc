#include "importers/onnx/write_model.h"

#include <filesystem>
#include <new>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/file.h"
#include "importers/io/names.h"
#include "importers/onnx/export_node.h"

namespace svengine::onnx {
namespace {

/// Messages on the way from a model to its tensors.
enum class Kind : uint8_t { other, model, graph, node, attribute, function, training, sparse, tensor, initializer };

/// What a field of such a message is: numbers of onnx.proto.
Kind child_of(Kind kind, uint32_t field) {
  switch (kind) {
    case Kind::model: return field == 7 ? Kind::graph : field == 20 ? Kind::training : field == 25 ? Kind::function : Kind::other;
    case Kind::graph: return field == 1 ? Kind::node : field == 5 ? Kind::initializer : field == 15 ? Kind::sparse : Kind::other;
    case Kind::node: return field == 5 ? Kind::attribute : Kind::other;
    case Kind::function: return field == 7 ? Kind::node : field == 11 ? Kind::attribute : Kind::other;
    case Kind::training: return field == 1 || field == 2 ? Kind::graph : Kind::other;
    case Kind::sparse: return field == 1 || field == 2 ? Kind::tensor : Kind::other;
    case Kind::attribute:
      switch (field) {
        case 5: case 10: return Kind::tensor;
        case 6: case 11: return Kind::graph;
        case 22: case 23: return Kind::sparse;
        default: return Kind::other;
      }
    default: return Kind::other;
  }
}
constexpr uint32_t kName = 8;

/// Data of a tensor, and what keeps them: the tensor, bytes packed for the file, or nothing, where they are made as they are written.
struct Data {
  Bytes bytes = {};
  Tensor tensor = {};
  std::unique_ptr<std::string> packed = {};
  const LateTensor* late = nullptr;

  size_t size() const { return late ? late->byte_size() : bytes.size(); }

  Status write(AtomicFile& file) const {
    if (!late) return file.write(bytes);
    size_t made = 0;
    SV_TRY(late->make([&](Bytes part) {
      made += part.size();
      return file.write(part);
    }));
    if (made != size()) return error("a tensor of {} bytes was made with {}", size(), made);
    return {};
  }
};

// Fewer are copied, so that they cost no write of their own.
constexpr size_t kFewBytes = 4096;

/// Bytes to be written one after the other: texts of our own, and data that stay where they are until then.
class Pieces {
 public:
  void add(std::string_view text) { tail_ += text, size_ += text.size(); }
  void add(Data data) {
    if (!data.late && data.size() < kFewBytes) return add(text_of(data.bytes));
    size_ += data.size();
    pieces_.push_back({std::exchange(tail_, {}), std::move(data)});
  }
  void add(Pieces other) {
    size_ += other.size_;
    for (auto& [text, data] : other.pieces_) pieces_.push_back({std::exchange(tail_, {}) + text, std::move(data)});
    tail_ += other.tail_;
  }
  size_t size() const { return size_; }

  Status write(AtomicFile& file) const {
    for (const auto& [text, data] : pieces_) {
      SV_TRY(file.write(text));
      SV_TRY(data.write(file));
    }
    return file.write(tail_);
  }

 private:
  std::vector<std::pair<std::string, Data>> pieces_;
  std::string tail_;
  size_t size_ = 0;
};

class Writer {
 public:
  Writer(const OnnxFile& file, const std::string& path, const WriteOptions& options) : file_(file), path_(path), options_(options) {}

  Status run();

 private:
  Status message(Kind kind, Bytes bytes, Pieces& out);
  Status tensor(Kind kind, Bytes placeholder, Pieces& out);
  /// As it stands in the file, but for the name.
  void copy(Bytes original, const std::string& name, Pieces& out);
  Status embed(Tensor value, const std::string& name, Pieces& out);
  void externalise(Tensor value, const std::string& name, Pieces& out);
  /// `header` is all of the tensor but its data.
  void externalise(onnx_proto::TensorProto header, Data data, Pieces& out);
  void late(Kind kind, const LateTensor& value, const std::string& name, Pieces& out);
  Status write_data();

  const OnnxFile& file_;
  const std::string& path_;
  const WriteOptions& options_;
  std::vector<std::pair<size_t, Data>> external_;  // offset in the data file
  size_t external_size_ = 0;
};

Data data_of(Tensor value) {
  Data out;
  out.packed = std::make_unique<std::string>();
  out.bytes = raw_data_of(value, *out.packed);
  out.tensor = std::move(value);
  return out;
}

Status Writer::message(Kind kind, Bytes bytes, Pieces& out) {
  WireReader reader(bytes);
  for (Field field; reader.next(field);) {
    const Kind child = field.wire == Wire::length ? child_of(kind, field.number) : Kind::other;
    if (child == Kind::other) {
      out.add(text_of(field.whole));
      continue;
    }
    Pieces inner;
    if (child == Kind::tensor || child == Kind::initializer) SV_TRY(tensor(child, field.payload, inner));
    else SV_TRY(message(child, field.payload, inner));
    std::string head;
    append_field_head(head, field.number, inner.size());
    out.add(head);
    out.add(std::move(inner));
  }
  return reader.status();
}

Status Writer::tensor(Kind kind, Bytes bytes, Pieces& out) {
  onnx_proto::TensorProto placeholder;
  if (!placeholder.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return error("a tensor's placeholder is damaged");
  const std::string& name = placeholder.name();
  if (const LateTensor* made = file_.late(placeholder)) return late(kind, *made, name, out), Status();
  const auto named = [&](Error problem) { return std::move(problem).in(fmt::format("tensor '{}'", printable(name))); };
  bool is_external = false;
  std::optional<Bytes> original;
  if (placeholder.has_data_type()) {
    original = bytes;
  } else if (!file_.added(placeholder)) {
    Result<TensorRecord> record = file_.record(placeholder);
    if (!record.ok()) return named(std::move(record).error());
    is_external = record->external;
    if (!is_external) original = record->message;
  }
  const bool wanted = options_.data == WriteOptions::Data::external ||
                      (options_.data == WriteOptions::Data::as_is && is_external);
  if (original && !(wanted && kind == Kind::initializer)) return copy(*original, name, out), Status();
  Result<Tensor> value = file_.tensor(placeholder);
  if (!value.ok()) return named(std::move(value).error());
  const bool fits = value->type() != DType::string && (is_external || (kind == Kind::initializer && value->byte_size() >= options_.external_from));
  if (wanted && fits) return externalise(std::move(*value), name, out), Status();
  if (original) return copy(*original, name, out), Status();
  return embed(std::move(*value), name, out);
}

void Writer::copy(Bytes original, const std::string& name, Pieces& out) {
  std::string_view old;
  size_t names = 0;
  WireReader reader(original);
  for (Field field; reader.next(field);)
    if (field.number == kName) old = text_of(field.payload), ++names;
  if (names == 0 ? name.empty() : names == 1 && old == name) return out.add(Data{original});
  std::string head;
  if (!name.empty()) append_field_head(head, kName, name.size());
  out.add(head + name);
  WireReader again(original);
  for (Field field; again.next(field);)
    if (field.number != kName) out.add(Data{field.whole});
}

Status Writer::embed(Tensor value, const std::string& name, Pieces& out) {
  out.add(export_tensor_header(value, name).SerializeAsString());
  if (value.type() == DType::string) return {};
  out.add(raw_data_head(value));
  out.add(data_of(std::move(value)));
  return {};
}

void Writer::late(Kind kind, const LateTensor& value, const std::string& name, Pieces& out) {
  onnx_proto::TensorProto header = export_tensor_header(value.type, value.dims, name);
  Data data{.late = &value};
  if (options_.data == WriteOptions::Data::external && kind == Kind::initializer && data.size() >= options_.external_from)
    return externalise(std::move(header), std::move(data), out);
  out.add(header.SerializeAsString());
  out.add(raw_data_head(data.size()));
  out.add(std::move(data));
}

void Writer::externalise(Tensor value, const std::string& name, Pieces& out) {
  onnx_proto::TensorProto header = export_tensor_header(value, name);
  externalise(std::move(header), data_of(std::move(value)), out);
}

void Writer::externalise(onnx_proto::TensorProto proto, Data data, Pieces& out) {
  // Readers map the file: large tensors begin a page, small ones a cache line.
  const size_t alignment = data.size() >= (size_t{1} << 20) ? 4096 : 64;
  external_size_ = (external_size_ + alignment - 1) / alignment * alignment;
  const auto entry = [&](const char* key, const std::string& text) {
    onnx_proto::StringStringEntryProto& to = *proto.add_external_data();
    to.set_key(key);
    to.set_value(text);
  };
  entry("location", std::filesystem::path(path_).filename().string() + ".data");
  entry("offset", std::to_string(external_size_));
  entry("length", std::to_string(data.size()));
  proto.set_data_location(onnx_proto::TensorProto::EXTERNAL);
  out.add(proto.SerializeAsString());
  const size_t offset = std::exchange(external_size_, external_size_ + data.size());
  external_.emplace_back(offset, std::move(data));
}

Status Writer::write_data() {
  if (external_.empty()) return {};
  SV_ASSIGN(AtomicFile data, AtomicFile::create(path_ + ".data"));
  size_t at = 0;
  for (const auto& [offset, part] : external_) {
    SV_TRY(data.write(std::string(offset - at, '\0')));
    SV_TRY(part.write(data));
    at = offset + part.size();
  }
  return data.finish();
}

Status Writer::run() {
  const std::string structure = file_.model().SerializeAsString();
  Pieces pieces;
  SV_TRY(message(Kind::model, std::as_bytes(std::span(structure)), pieces));
  if (pieces.size() >= options_.most_model_bytes)
    return error("the model would have {} bytes, more than readers of ONNX files can take ({}); let its data lie in a file beside it", pieces.size(),
                 options_.most_model_bytes);
  SV_TRY(write_data());
  SV_ASSIGN(AtomicFile file, AtomicFile::create(path_));
  SV_TRY(pieces.write(file));
  return file.finish();
}

}  // namespace

Status write_model(const OnnxFile& file, const std::string& path, const WriteOptions& options) {
  try {
    Status status = Writer(file, path, options).run();
    if (!status.ok()) return std::move(status).error().in(fmt::format("write {}", printable(path)));
    return {};
  } catch (const std::bad_alloc&) {
    return error("write {}: not enough memory", printable(path));
  }
}

}  // namespace svengine::onnx
