#include "importers/onnx/wire.h"

#include <catch2/catch.hpp>

#include <vector>

namespace wire_test {
using namespace svengine;
using namespace svengine::onnx;

namespace {

Bytes bytes_of(const std::string& text) { return std::as_bytes(std::span(text.data(), text.size())); }

/// Field numbers read, and the error if there was one.
std::pair<std::vector<uint32_t>, std::string> read_all(const std::string& text) {
  WireReader reader(bytes_of(text));
  std::vector<uint32_t> numbers;
  for (Field field; reader.next(field);) numbers.push_back(field.number);
  return {numbers, reader.status().ok() ? "" : reader.status().error().message()};
}

using Numbers = std::vector<uint32_t>;

}  // namespace

TEST_CASE("fields of every wire type are read with their payload and their whole") {
  const std::string text = std::string("\x08\x96\x01", 3) + std::string("\x12\x03" "abc") + std::string("\x1d\1\2\3\4", 5) +
                           std::string("\x21\1\2\3\4\5\6\7\x08", 9);
  WireReader reader(bytes_of(text));
  Field f;
  REQUIRE(reader.next(f));
  CHECK((f.number == 1 && f.wire == Wire::varint && f.value == 150 && f.whole.size() == 3));
  REQUIRE(reader.next(f));
  CHECK((f.number == 2 && f.wire == Wire::length && text_of(f.payload) == "abc"));
  CHECK(text_of(f.whole) == "\x12\x03" "abc");
  REQUIRE(reader.next(f));
  CHECK((f.number == 3 && f.wire == Wire::fixed32 && f.payload.size() == 4));
  REQUIRE(reader.next(f));
  CHECK((f.number == 4 && f.wire == Wire::fixed64 && f.payload.size() == 8));
  CHECK_FALSE(reader.next(f));
  CHECK(reader.status().ok());
}

TEST_CASE("varints have at most 64 bits") {
  const std::string most("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10);
  size_t at = 0;
  uint64_t value = 0;
  CHECK(read_varint(bytes_of(most), at, value));
  CHECK(value == UINT64_MAX);
  CHECK(at == 10);
  at = 0;
  CHECK_FALSE(read_varint(bytes_of("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"), at, value));
  at = 0;
  CHECK_FALSE(read_varint(bytes_of("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"), at, value));
  at = 0;
  CHECK_FALSE(read_varint(bytes_of("\x80"), at, value));
  at = 0;
  CHECK_FALSE(read_varint(bytes_of(""), at, value));
}

TEST_CASE("appended varints and heads read back") {
  for (uint64_t value : {uint64_t{0}, uint64_t{127}, uint64_t{128}, uint64_t{300}, UINT64_MAX}) {
    std::string text;
    append_varint(text, value);
    size_t at = 0;
    uint64_t back = 1;
    REQUIRE(read_varint(bytes_of(text), at, back));
    CHECK(back == value);
    CHECK(at == text.size());
  }
  std::string text;
  append_field_head(text, 9, 2);
  CHECK(read_all(text + "ab").first == Numbers{9});
}

TEST_CASE("damaged fields end the reading with an error that says where") {
  CHECK(read_all("\x12\x05" "abc").second == "byte 0: field 2 claims 5 bytes where 3 are left");
  CHECK(read_all(std::string("\x08\x01\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 13)).second ==
        "byte 2: field 2 claims 18446744073709551615 bytes where 0 are left");
  CHECK(read_all(std::string("\0\0", 2)).second == "byte 0: field number 0 does not exist in protobuf");
  CHECK(read_all("\x0b").second == "byte 0: field 1 has wire type 3, which ONNX does not use");
  CHECK(read_all("\x0c").second == "byte 0: field 1 has wire type 4, which ONNX does not use");
  CHECK(read_all("\x0f").second == "byte 0: field 1 has wire type 7, which ONNX does not use");
  CHECK(read_all("\x08\x80").second == "byte 0: the number in field 1 is cut off or too long");
  CHECK(read_all("\x12\x80").second == "byte 0: the length of field 2 is cut off or too long");
  CHECK(read_all("\x1d\1\2\3").second == "byte 0: field 3 claims 4 bytes where 3 are left");
  CHECK(read_all("\xff\xff\xff\xff\xff\xff\x01\x01").second == "byte 0: not a field of a protobuf message");
  CHECK(read_all("\x08\x01\x80").first == Numbers{1});
}
}  // namespace wire_test
