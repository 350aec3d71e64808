#include "importers/onnx/tensor_file.h"

#include <algorithm>

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
  if (holds_other_values(*record)) return unimplemented("holds a sequence or an optional; only tensors are supported");
  if (record->data_type == 0) return error("is no ONNX tensor: it has no element type");
  SV_TRY(check_name("tensor", record->name));
  SV_ASSIGN(Tensor tensor, onnx::decode_tensor(*record, file, nullptr));
  return TensorFile{std::string(record->name), std::move(tensor)};
}

constexpr int kMostNesting = 8;

/// SequenceProto, OptionalProto and MapProto have their values in the same fields; maps their keys besides.
namespace items_field {
constexpr uint32_t name = 1, kind = 2, map_keys = 3, map_string_keys = 4, map_values = 5, tensor = 3, sparse = 4, sequence = 5, map = 6, optional = 7;
}

/// A TensorProto, which has numbers for its dimensions where these have a name, and data in fields that these have not.
bool is_of_a_tensor(const onnx::Field& field) {
  return field.number > items_field::optional || (field.number == items_field::name && field.wire != onnx::Wire::length);
}

Result<Tensor> read_map(onnx::Bytes message, size_t offset, const std::shared_ptr<const MappedFile>& file, int depth);

/// A SequenceProto or OptionalProto.
Result<Tensor> read_items(onnx::Bytes message, size_t offset, DType kind, const std::shared_ptr<const MappedFile>& file, int depth) {
  if (depth == kMostNesting) return error("is nested more than {} deep", kMostNesting);
  std::vector<Tensor> items;
  onnx::WireReader reader(message, offset);
  for (onnx::Field field; reader.next(field);) {
    if (is_of_a_tensor(field)) return error("is no {}: a tensor, it seems", name_of(kind));
    if (field.wire != onnx::Wire::length) continue;
    const size_t at = offset + static_cast<size_t>(field.payload.data() - message.data());
    Result<Tensor> item = Tensor();
    switch (field.number) {
      case items_field::tensor: {
        SV_ASSIGN(const onnx::TensorRecord record, onnx::scan_tensor(field.payload, at));
        item = onnx::decode_tensor(record, file, nullptr);
        break;
      }
      case items_field::sequence: item = read_items(field.payload, at, DType::sequence, file, depth + 1); break;
      case items_field::map: item = read_map(field.payload, at, file, depth + 1); break;
      case items_field::optional: item = read_items(field.payload, at, DType::optional, file, depth + 1); break;
      case items_field::sparse: return unimplemented("holds a sparse tensor, which is not supported in a {}", name_of(kind));
      default: continue;
    }
    if (!item.ok()) return item;
    items.push_back(std::move(item).value());
  }
  SV_TRY(reader.status());
  if (kind == DType::optional && items.size() > 1) return error("an optional holds {} values", items.size());
  return Tensor::of_items(kind, std::move(items));
}

/// Scalars of one type as a tensor of rank 1, which is how a map has numbers and strings; anything else stays a sequence.
Result<Tensor> joined_scalars(const Tensor& sequence) {
  const std::vector<Tensor>& items = sequence.items();
  for (const Tensor& item : items)
    if (is_container(item.type()) || !item.dims().empty() || item.type() != items[0].type()) return sequence;
  if (items.empty()) return sequence;
  const auto count = static_cast<int64_t>(items.size());
  if (items[0].type() == DType::string) {
    std::vector<std::string> texts;
    for (const Tensor& item : items) texts.push_back(item.strings()[0]);
    return Tensor::of_strings({count}, std::move(texts));
  }
  SV_ASSIGN(MutableTensor out, Tensor::allocate(items[0].type(), {count}));
  std::byte* to = out.raw();
  for (const Tensor& item : items) to = std::copy_n(item.raw(), item.byte_size(), to);
  return out;
}

/// The other way round.
std::vector<Tensor> scalars_of(const Tensor& row) {
  std::vector<Tensor> out;
  for (int64_t i = 0; i < row.count(); ++i) {
    if (row.type() == DType::string) {
      out.push_back(Tensor::of_strings({}, {row.strings()[static_cast<size_t>(i)]}));
      continue;
    }
    const size_t size = size_of(row.type());
    out.push_back(Tensor::wrap(row.type(), {}, row.raw() + static_cast<size_t>(i) * size, row.owner()));
  }
  return out;
}

/// Keys and values.
Result<Tensor> read_map(onnx::Bytes message, size_t offset, const std::shared_ptr<const MappedFile>& file, int depth) {
  std::vector<int64_t> keys;
  std::vector<std::string> string_keys;
  Tensor values = Tensor::of_items(DType::sequence, {});
  onnx::WireReader reader(message, offset);
  for (onnx::Field field; reader.next(field);) {
    if (is_of_a_tensor(field)) return error("is no map: a tensor, it seems");
    if (field.number == items_field::map_keys && field.wire == onnx::Wire::varint) keys.push_back(static_cast<int64_t>(field.value));
    if (field.wire != onnx::Wire::length) continue;
    uint64_t key = 0;
    if (field.number == items_field::map_keys)
      for (size_t at = 0; at < field.payload.size() && onnx::read_varint(field.payload, at, key);) keys.push_back(static_cast<int64_t>(key));
    if (field.number == items_field::map_string_keys) string_keys.emplace_back(onnx::text_of(field.payload));
    if (field.number == items_field::map_values) {
      SV_ASSIGN(values, read_items(field.payload, offset + static_cast<size_t>(field.payload.data() - message.data()), DType::sequence, file, depth));
    }
  }
  SV_TRY(reader.status());
  if (!keys.empty() && !string_keys.empty())
    return error("a map has {} integers and {} texts as keys, needs keys of one kind", keys.size(), string_keys.size());
  SV_ASSIGN(values, joined_scalars(values));
  const auto count = static_cast<int64_t>(keys.size() + string_keys.size());
  Tensor list =
      string_keys.empty() ? Tensor::of<int64_t>({count}, std::span<const int64_t>(keys)) : Tensor::of_strings({count}, std::move(string_keys));
  const int64_t there = values.type() == DType::sequence ? static_cast<int64_t>(values.items().size()) : values.count();
  if (list.count() != there) return error("is a map of {} keys and {} values", count, there);
  return Tensor::of_items(DType::map, {std::move(list), std::move(values)});
}

void append_block(std::string& out, uint32_t field, std::string_view bytes) {
  onnx::append_field_head(out, field, bytes.size());
  out += bytes;
}

void append_number(std::string& out, uint32_t field, uint64_t value) {
  onnx::append_varint(out, uint64_t{field} << 3);
  onnx::append_varint(out, value);
}

/// What a SequenceProto or OptionalProto calls the kind of its items (their DataType), and the field that has them.
struct ItemKind {
  uint64_t number;
  uint32_t field;
};
ItemKind kind_of(const Tensor& item) {
  switch (item.type()) {
    case DType::sequence: return {3, items_field::sequence};
    case DType::map: return {4, items_field::map};
    case DType::optional: return {5, items_field::optional};
    default: return {1, items_field::tensor};
  }
}

std::string items_bytes(const std::vector<Tensor>& items, std::string out) {
  append_number(out, items_field::kind, items.empty() ? 1 : kind_of(items[0]).number);
  for (const Tensor& item : items) append_block(out, kind_of(item).field, value_proto_bytes(item, {}));
  return out;
}

std::string map_bytes(const Tensor& keys, const Tensor& values, std::string out) {
  append_number(out, items_field::kind, static_cast<uint64_t>(keys.type()));
  if (keys.type() == DType::string) {
    for (const std::string& key : keys.strings()) append_block(out, items_field::map_string_keys, key);
  } else {
    for (const int64_t key : keys.data<int64_t>()) append_number(out, items_field::map_keys, static_cast<uint64_t>(key));
  }
  const bool many = values.type() == DType::sequence;
  append_block(out, items_field::map_values, items_bytes(many ? values.items() : scalars_of(values), {}));
  return out;
}

}  // namespace

std::string value_proto_bytes(const Tensor& value, const std::string& name) {
  if (!is_container(value.type())) {
    std::string packed, out = onnx::export_tensor_header(value, name).SerializeAsString();
    const std::span<const std::byte> data = onnx::raw_data_of(value, packed);
    out += onnx::raw_data_head(value);
    return out.append(reinterpret_cast<const char*>(data.data()), data.size());
  }
  std::string head;
  if (!name.empty()) append_block(head, items_field::name, name);
  return value.type() == DType::map ? map_bytes(value.items()[0], value.items()[1], std::move(head)) : items_bytes(value.items(), std::move(head));
}

Status save_value_proto(const Tensor& value, const std::string& name, const std::string& path) {
  if (!is_container(value.type())) return save_tensor_proto(value, name, path);
  SV_ASSIGN(AtomicFile file, AtomicFile::create(path));
  SV_TRY(file.write(value_proto_bytes(value, name)));
  return file.finish();
}

Result<Tensor> load_value_proto(const std::string& path, DType kind) {
  if (!is_container(kind)) {
    SV_ASSIGN(TensorFile file, load_tensor_proto(path));
    return std::move(file.tensor);
  }
  SV_ASSIGN(const auto file, MappedFile::open(path));
  Result<Tensor> value = kind == DType::map ? read_map(file->bytes(), 0, file, 0) : read_items(file->bytes(), 0, kind, file, 0);
  if (!value.ok()) return std::move(value).error().in(printable(path));
  return value;
}

Result<TensorFile> load_tensor_proto(const std::string& path) {
  SV_ASSIGN(const auto file, MappedFile::open(path));
  Result<TensorFile> tensor = parse(file);
  if (!tensor.ok()) return std::move(tensor).error().in(printable(path));
  return tensor;
}

Status save_tensor_proto(const Tensor& tensor, const std::string& name, const std::string& path) {
  SV_ASSIGN(AtomicFile file, AtomicFile::create(path));
  SV_TRY(file.write(onnx::export_tensor_header(tensor, name).SerializeAsString()));
  std::string packed;
  const std::span<const std::byte> data = onnx::raw_data_of(tensor, packed);
  SV_TRY(file.write(onnx::raw_data_head(tensor)));
  SV_TRY(file.write(data));
  return file.finish();
}

}  // namespace svengine
