// Reads (and, for streaming, writes) protobuf's wire format, field by field, from bytes that nobody has checked.
//
// A message is a sequence of fields; each is a key (field number << 3 | wire type, as a varint) and a payload:
//
//   wire type 0: a varint              1: 8 bytes    2: a varint length and that many bytes (string, message, packed list)
//                                      5: 4 bytes    3, 4: groups, which ONNX does not use: refused
//
// The reader never looks outside its bytes, allocates only for an error, and takes time linear in the bytes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/status.h"

namespace svengine::onnx {

using Bytes = std::span<const std::byte>;

enum class Wire : uint8_t { varint = 0, fixed64 = 1, length = 2, fixed32 = 5 };

struct Field {
  uint32_t number = 0;
  Wire wire = Wire::varint;
  uint64_t value = 0;  // varint: its value
  Bytes payload;       // what follows the key (and the length)
  Bytes whole;         // key included
};

class WireReader {
 public:
  /// `offset`: where `bytes` begin in the file, for messages.
  explicit WireReader(Bytes bytes, size_t offset = 0) : bytes_(bytes), offset_(offset) {}

  /// The next field; false at the end and after an error: see status().
  bool next(Field& field);
  const Status& status() const { return status_; }

 private:
  bool fail(Error error);

  Bytes bytes_;
  size_t at_ = 0;
  size_t offset_;
  Status status_;
};

/// Reads a varint at `at` and moves past it; false (and `at` anywhere) when it is cut off or longer than 64 bits.
bool read_varint(Bytes bytes, size_t& at, uint64_t& value);

/// Writing: a varint at the end of `out`, and the key and length of a field with `size` bytes to follow.
void append_varint(std::string& out, uint64_t value);
void append_field_head(std::string& out, uint32_t number, size_t size);

inline std::string_view text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

}  // namespace svengine::onnx
