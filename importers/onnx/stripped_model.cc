#include "importers/onnx/stripped_model.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>

namespace svengine::onnx {
namespace {

// What an object of protobuf's costs, rounded up: see sizeof(AttributeProto), std::string and the pointer to it.
constexpr size_t kMessageCost = 320;
constexpr size_t kTextCost = 64;
constexpr int kMostDepth = 16;         // of bodies in bodies: four messages each, of the 64 that protobuf is let descend
constexpr size_t kByteCost = 24;  // of small messages inside a message that is copied whole (dimensions: 2 bytes make 48)

/// Field numbers of onnx.proto, by message.
namespace model_field {
constexpr uint32_t graph = 7, opset_import = 8, metadata = 14, training_info = 20, functions = 25;
}
namespace graph_field {
constexpr uint32_t node = 1, name = 2, initializer = 5, doc = 10, input = 11, output = 12, value_info = 13, sparse_initializer = 15;
}
namespace node_field {
constexpr uint32_t input = 1, output = 2, name = 3, op_type = 4, attribute = 5, domain = 7, overload = 8;
}
namespace attribute_field {
constexpr uint32_t name = 1, f = 2, i = 3, s = 4, t = 5, g = 6, floats = 7, ints = 8, strings = 9, tensors = 10, graphs = 11, tp = 14,
                   type_protos = 15, type = 20, ref_attr_name = 21, sparse_tensor = 22, sparse_tensors = 23;
}
namespace tensor_field {
constexpr uint32_t name = 8, raw_data = 9;
}
namespace sparse_field {
constexpr uint32_t values = 1, indices = 2, dims = 3;
}
namespace training_field {
constexpr uint32_t initialization = 1, algorithm = 2;
}
namespace function_field {
constexpr uint32_t name = 1, input = 4, output = 5, attribute = 6, node = 7, opset_import = 9, domain = 10, attribute_proto = 11, overload = 13;
}

void append_field(std::string& out, uint32_t number, std::string_view payload) {
  append_field_head(out, number, payload.size());
  out += payload;
}

class Scanner {
 public:
  Scanner(Bytes model, size_t max_cost, Keep keep) : file_(model), max_cost_(max_cost), keep_(keep) {}

  Result<std::string> model();

 private:
  size_t offset_of(Bytes bytes) const { return static_cast<size_t>(bytes.data() - file_.data()); }
  Status charge(size_t cost);
  Status copy(const Field& field, size_t cost, std::string& out);
  /// Calls visit(field, out) for every field of a nested message and appends what it wrote, as that message, to `out`.
  template <class Visit>
  Status nested(const Field& message, std::string& out, Visit&& visit);

  Status model_part(const Field& field, std::string& out);
  Status graph_part(const Field& field, std::string& out);
  Status node_part(const Field& field, std::string& out);
  Status attribute_part(const Field& field, std::string& out);
  Status function_part(const Field& field, std::string& out);
  Status training_info(const Field& message, std::string& out);
  Status body(const Field& message, std::string& out);
  Status tensor(const Field& message, std::string& out);
  Status sparse_tensor(const Field& message, std::string& out);
  /// An empty message: that there was one is all that counts.
  Status mark(const Field& message, std::string& out);
  /// What the importer does not take.
  Status other(const Field& field, std::string& out);
  Status kept_list(const Field& field, std::string& out);

  Bytes file_;
  size_t max_cost_;
  Keep keep_;
  size_t cost_ = 0;
  int depth_ = 0;  // of bodies
};

Status Scanner::charge(size_t cost) {
  cost_ += cost;
  if (cost_ > max_cost_)
    return unimplemented("the structure of the model (without its weights) needs more than {} MiB of memory", max_cost_ >> 20);
  return {};
}

/// `cost` is what protobuf makes of the field; never less than the field itself, whose key and number may be ten bytes each.
Status Scanner::copy(const Field& field, size_t cost, std::string& out) {
  SV_TRY(charge(std::max(cost, field.whole.size())));
  out += text_of(field.whole);
  return {};
}

template <class Visit>
Status Scanner::nested(const Field& message, std::string& out, Visit&& visit) {
  const size_t at = offset_of(message.payload);
  if (message.wire != Wire::length) return error("byte {}: field {} should be a message", at, message.number);
  SV_TRY(charge(kMessageCost));
  std::string content;
  WireReader reader(message.payload, at);
  for (Field field; reader.next(field);) SV_TRY(visit(field, content));
  SV_TRY(reader.status());
  append_field(out, message.number, content);
  return {};
}

Status Scanner::mark(const Field& message, std::string& out) {
  SV_TRY(charge(kMessageCost));
  append_field(out, message.number, {});
  return {};
}

Status Scanner::other(const Field& field, std::string& out) {
  return keep_ == Keep::everything ? copy(field, kMessageCost + kByteCost * field.payload.size(), out) : Status();
}

/// The lists that attributes may have and the importer does not take.
Status Scanner::kept_list(const Field& field, std::string& out) {
  switch (field.number) {
    case attribute_field::tensors: return tensor(field, out);
    case attribute_field::graphs: return body(field, out);
    case attribute_field::sparse_tensors: return sparse_tensor(field, out);
    default: return other(field, out);
  }
}

Status Scanner::tensor(const Field& message, std::string& out) {
  std::string place(2 * sizeof(uint64_t), '\0');
  const uint64_t numbers[] = {offset_of(message.payload), message.payload.size()};
  std::memcpy(place.data(), numbers, sizeof numbers);
  return nested(message, out, [&](const Field& field, std::string& content) -> Status {
    // The place goes in with the first field; a tensor without any has no type and is refused all the same.
    if (content.empty()) append_field(content, tensor_field::raw_data, place);
    if (field.number == tensor_field::name) return copy(field, kTextCost + field.payload.size(), content);
    return {};
  });
}

Status Scanner::sparse_tensor(const Field& message, std::string& out) {
  return nested(message, out, [this](const Field& field, std::string& content) -> Status {
    if (field.number == sparse_field::values || field.number == sparse_field::indices) return tensor(field, content);
    return field.number == sparse_field::dims ? copy(field, 8 * field.payload.size(), content) : other(field, content);
  });
}

Status Scanner::attribute_part(const Field& field, std::string& out) {
  switch (field.number) {
    case attribute_field::name: case attribute_field::ref_attr_name: case attribute_field::s: case attribute_field::strings:
      return copy(field, kTextCost + field.payload.size(), out);
    case attribute_field::f: case attribute_field::i: case attribute_field::type: return copy(field, 8, out);
    case attribute_field::floats: return copy(field, field.payload.size(), out);
    case attribute_field::ints: return copy(field, 8 * field.payload.size(), out);
    case attribute_field::t: return tensor(field, out);
    case attribute_field::sparse_tensor: return sparse_tensor(field, out);
    case attribute_field::g: return body(field, out);
    case attribute_field::tp: return copy(field, kMessageCost + kByteCost * field.payload.size(), out);
    case attribute_field::tensors: case attribute_field::graphs:
    case attribute_field::type_protos: case attribute_field::sparse_tensors:
      return keep_ == Keep::everything ? kept_list(field, out) : mark(field, out);
    default: return other(field, out);
  }
}

Status Scanner::node_part(const Field& field, std::string& out) {
  switch (field.number) {
    case node_field::input: case node_field::output: case node_field::name: case node_field::op_type: case node_field::domain:
    case node_field::overload:
      return copy(field, kTextCost + field.payload.size(), out);
    case node_field::attribute:
      return nested(field, out, [this](const Field& f, std::string& content) { return attribute_part(f, content); });
    default: return other(field, out);
  }
}

Status Scanner::body(const Field& message, std::string& out) {
  if (depth_ >= kMostDepth) return unimplemented("byte {}: bodies are nested more than {} deep", offset_of(message.payload), kMostDepth);
  ++depth_;
  SV_TRY(nested(message, out, [this](const Field& f, std::string& content) { return graph_part(f, content); }));
  --depth_;
  return {};
}

Status Scanner::function_part(const Field& field, std::string& out) {
  switch (field.number) {
    case function_field::name: case function_field::domain: case function_field::overload: case function_field::input:
    case function_field::output: case function_field::attribute:
      return copy(field, kTextCost + field.payload.size(), out);
    case function_field::opset_import: return copy(field, kMessageCost + kByteCost * field.payload.size(), out);
    case function_field::node:
      return nested(field, out, [this](const Field& f, std::string& content) { return node_part(f, content); });
    case function_field::attribute_proto:
      return nested(field, out, [this](const Field& f, std::string& content) { return attribute_part(f, content); });
    default: return other(field, out);
  }
}

Status Scanner::graph_part(const Field& field, std::string& out) {
  switch (field.number) {
    case graph_field::name: case graph_field::doc: return copy(field, kTextCost + field.payload.size(), out);
    case graph_field::input: case graph_field::output: case graph_field::value_info:
      return copy(field, kMessageCost + kByteCost * field.payload.size(), out);
    case graph_field::node:
      return nested(field, out, [this](const Field& f, std::string& content) { return node_part(f, content); });
    case graph_field::initializer: return tensor(field, out);
    case graph_field::sparse_initializer: return sparse_tensor(field, out);
    default: return other(field, out);
  }
}

Status Scanner::training_info(const Field& message, std::string& out) {
  if (keep_ != Keep::everything) return mark(message, out);
  return nested(message, out, [this](const Field& field, std::string& content) {
    const bool graph = field.number == training_field::initialization || field.number == training_field::algorithm;
    return graph ? body(field, content) : other(field, content);
  });
}

Status Scanner::model_part(const Field& field, std::string& out) {
  switch (field.number) {
    case 1: case 2: case 3: case 4: case 5: case 6:  // version, producer, doc
      return copy(field, kTextCost + field.payload.size(), out);
    case model_field::opset_import: case model_field::metadata:
      return copy(field, kMessageCost + kByteCost * field.payload.size(), out);
    case model_field::graph:
      return nested(field, out, [this](const Field& f, std::string& content) { return graph_part(f, content); });
    case model_field::training_info: return training_info(field, out);
    case model_field::functions:
      return nested(field, out, [this](const Field& f, std::string& content) { return function_part(f, content); });
    default: return other(field, out);
  }
}

Result<std::string> Scanner::model() {
  std::string out;
  WireReader reader(file_);
  for (Field field; reader.next(field);) SV_TRY(model_part(field, out));
  SV_TRY(reader.status());
  return out;
}

}  // namespace

Result<std::string> make_stripped_model(Bytes model, size_t max_cost, Keep keep) { return Scanner(model, max_cost, keep).model(); }

Result<TensorPlace> place_from(const std::string& raw_data) {
  uint64_t numbers[2];
  if (raw_data.size() != sizeof numbers) return error("a tensor has neither type nor data");
  std::memcpy(numbers, raw_data.data(), sizeof numbers);
  return TensorPlace{numbers[0], numbers[1]};
}

}  // namespace svengine::onnx
