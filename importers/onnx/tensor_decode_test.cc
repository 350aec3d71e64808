#include "importers/onnx/tensor_proto.h"

#include "importers/onnx/import_test_util.h"

namespace tensor_decode_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

Result<Tensor> decode_text(const std::string& text) {
  const auto owner = std::make_shared<std::string>(text);
  SV_ASSIGN(const onnx::TensorRecord record, onnx::scan_tensor(std::as_bytes(std::span(owner->data(), owner->size()))));
  return onnx::decode_tensor(record, owner, nullptr);
}

Result<Tensor> decode_proto(const TensorProto& proto) { return decode_text(proto.SerializeAsString()); }

TensorProto header(int type, const std::vector<int64_t>& dims) {
  TensorProto proto;
  proto.set_name("w");
  proto.set_data_type(type);
  for (int64_t d : dims) proto.add_dims(d);
  return proto;
}

std::string problem(const TensorProto& proto) {
  const Result<Tensor> tensor = decode_proto(proto);
  REQUIRE_FALSE(tensor.ok());
  return tensor.error().message();
}

}  // namespace

TEST_CASE("raw data of every element type are taken as they are") {
  struct Case {
    int type;
    size_t size;
  };
  for (const Case c : {Case{1, 4}, {2, 1}, {3, 1}, {4, 2}, {5, 2}, {6, 4}, {7, 8}, {9, 1}, {10, 2}, {11, 8}, {12, 4},
                       {13, 8}, {16, 2}, {17, 1}, {18, 1}, {19, 1}, {20, 1}, {24, 1}}) {
    TensorProto proto = header(c.type, {2, 3});
    std::string raw;
    for (size_t i = 0; i < 6 * c.size; ++i) raw += static_cast<char>(i % 2);
    proto.set_raw_data(raw);
    const Result<Tensor> tensor = decode_proto(proto);
    REQUIRE(tensor.ok());
    CHECK(static_cast<int>(tensor->type()) == c.type);
    CHECK(tensor->dims() == Dims{2, 3});
    CHECK(std::memcmp(tensor->raw(), raw.data(), raw.size()) == 0);
  }
}

TEST_CASE("large raw data stay in place, small ones are aligned copies") {
  const auto at_distance = [](size_t count) {
    TensorProto proto = header(1, {static_cast<int64_t>(count)});
    proto.set_raw_data(std::string(count * 4, 'a'));
    const auto owner = std::make_shared<std::string>(proto.SerializeAsString());
    const auto record = onnx::scan_tensor(std::as_bytes(std::span(owner->data(), owner->size())));
    const Tensor tensor = onnx::decode_tensor(*record, owner, nullptr).value();
    return reinterpret_cast<const char*>(tensor.raw()) >= owner->data() &&
           reinterpret_cast<const char*>(tensor.raw()) < owner->data() + owner->size();
  };
  CHECK(at_distance(onnx::kCopyUpTo / 4 + 1));
  CHECK_FALSE(at_distance(onnx::kCopyUpTo / 4));
}

TEST_CASE("typed fields are decoded, packed or not") {
  TensorProto floats = header(1, {2, 2});
  for (float v : {1.5f, -2.0f, 0.0f, 3.25f}) floats.add_float_data(v);
  CHECK(values_of<float>(decode_proto(floats).value()) == std::vector<float>{1.5f, -2.0f, 0.0f, 3.25f});

  TensorProto longs = header(7, {3});
  for (int64_t v : {INT64_MIN, int64_t{-1}, INT64_MAX}) longs.add_int64_data(v);
  CHECK(values_of<int64_t>(decode_proto(longs).value()) == std::vector<int64_t>{INT64_MIN, -1, INT64_MAX});

  TensorProto halves = header(10, {2});
  halves.add_int32_data(0x3c00);
  halves.add_int32_data(0xfbff);
  CHECK(values_of<uint16_t>(decode_proto(halves).value()) == std::vector<uint16_t>{0x3c00, 0xfbff});

  TensorProto bytes = header(3, {2});
  bytes.add_int32_data(-128);
  bytes.add_int32_data(127);
  CHECK(values_of<int8_t>(decode_proto(bytes).value()) == std::vector<int8_t>{-128, 127});

  TensorProto unsigneds = header(12, {1});
  unsigneds.add_uint64_data(UINT32_MAX);
  CHECK(values_of<uint32_t>(decode_proto(unsigneds).value()) == std::vector<uint32_t>{UINT32_MAX});

  // dims {2}, float, float_data unpacked: two fields of 4 bytes.
  const Result<Tensor> unpacked = decode_text(std::string("\x08\x02\x10\x01\x25\0\0\x80\x3f\x25\0\0\0\x40", 14));
  REQUIRE(unpacked.ok());
  CHECK(values_of<float>(*unpacked) == std::vector<float>{1, 2});
}

TEST_CASE("elements of 4 and 2 bits get a byte each, from raw and typed data") {
  TensorProto int4 = header(22, {5});
  int4.set_raw_data(std::string("\x8f\x70\x03", 3));
  CHECK(values_of<int8_t>(decode_proto(int4).value()) == std::vector<int8_t>{-1, -8, 0, 7, 3});
  TensorProto uint2 = header(25, {3, 2});
  uint2.add_int32_data(0xe4);
  uint2.add_int32_data(0x09);
  CHECK(values_of<uint8_t>(decode_proto(uint2).value()) == std::vector<uint8_t>{0, 1, 2, 3, 1, 2});
  TensorProto int2 = header(26, {2});
  int2.add_int32_data(0xe);
  CHECK(values_of<int8_t>(decode_proto(int2).value()) == std::vector<int8_t>{-2, -1});
  TensorProto few = header(21, {5});
  few.set_raw_data("ab");
  CHECK(problem(few) == "tensor 'w': raw_data has 2 bytes, a uint4 tensor of shape 5 needs 3");
  TensorProto many = header(23, {2});
  many.add_int32_data(1);
  many.add_int32_data(1);
  CHECK(problem(many) == "tensor 'w': int32_data has 2 elements, a float4_e2m1 tensor of shape 2 needs 1, a byte of packed ones in each");
}

TEST_CASE("strings are read from string_data alone") {
  TensorProto proto = header(8, {2});
  proto.add_string_data("a");
  CHECK(problem(proto) == "tensor 'w': string_data has 1 elements, a string tensor of shape 2 needs 2");
  proto.add_string_data(std::string("b\0c", 3));
  const Tensor strings = decode_proto(proto).value();
  CHECK(strings.strings()[1] == std::string("b\0c", 3));
  proto.add_string_data("d");
  CHECK(problem(proto) == "tensor 'w': string_data has more than 2 elements, those of a tensor of shape 2");
  TensorProto raw = header(8, {1});
  raw.set_raw_data("a");
  CHECK(problem(raw) == "tensor 'w': strings are kept in string_data, not in raw or external data");
}

TEST_CASE("scalars and empty tensors need no data fields of other sizes") {
  TensorProto scalar = header(1, {});
  scalar.add_float_data(7);
  CHECK(values_of<float>(decode_proto(scalar).value()) == std::vector<float>{7});
  const Result<Tensor> empty = decode_proto(header(7, {0, 4}));
  REQUIRE(empty.ok());
  CHECK(empty->count() == 0);
}

TEST_CASE("bool bytes other than 0 become 1") {
  TensorProto proto = header(9, {4});
  proto.set_raw_data(std::string("\0\1\2\xff", 4));
  CHECK(values_of<uint8_t>(decode_proto(proto).value()) == std::vector<uint8_t>{0, 1, 1, 1});
}

TEST_CASE("data that do not fit the shape are refused with both sizes") {
  TensorProto raw = header(1, {2, 3});
  raw.set_raw_data(std::string(20, 'a'));
  CHECK(problem(raw) == "tensor 'w': raw_data has 20 bytes, a float32 tensor of shape 2x3 needs 24");
  TensorProto typed = header(1, {2, 3});
  typed.add_float_data(1);
  CHECK(problem(typed) == "tensor 'w': float_data has 1 elements, a float32 tensor of shape 2x3 needs 6");
  CHECK(problem(header(1, {1})) == "tensor 'w': float_data has 0 elements, a float32 tensor of shape 1 needs 1");
  TensorProto both = raw;
  both.add_float_data(1);
  CHECK(problem(both) == "tensor 'w': has data in two fields, raw_data and float_data");
  TensorProto zero = header(1, {0});
  zero.add_float_data(1);
  CHECK(problem(zero) == "tensor 'w': float_data has 1 elements, a float32 tensor of shape 0 needs 0");
  TensorProto wrong = header(1, {1});
  wrong.add_int32_data(1);
  CHECK(problem(wrong) == "tensor 'w': a float32 tensor keeps its data in raw_data or float_data, not in int32_data");
}

TEST_CASE("impossible shapes are refused before memory is taken") {
  CHECK(problem(header(1, {-1})).find("negative dimension") != std::string::npos);
  CHECK(problem(header(1, {INT64_MAX})).find("more than 2^48") != std::string::npos);
  CHECK(problem(header(1, {int64_t{1} << 32, int64_t{1} << 32})).find("more than 2^48") != std::string::npos);
  CHECK(problem(header(1, {0, INT64_MAX})).find("more than 2^48") != std::string::npos);
  CHECK(problem(header(1, std::vector<int64_t>(10000, 1))).find("more than 32 dimensions") != std::string::npos);
  CHECK(problem(header(1, {int64_t{1} << 40})).find("has 0 elements") != std::string::npos);
}

TEST_CASE("element types that the engine has not are named") {
  CHECK(problem(header(0, {})) == "tensor 'w': element type 0 is not one of ONNX's");
  CHECK(problem(header(9999, {})) == "tensor 'w': element type 9999 is not one of ONNX's");
  CHECK(problem(header(-1, {})) == "tensor 'w': element type -1 is not one of ONNX's");
  CHECK(problem(header(14, {})) == "tensor 'w': element type complex64 is not supported");
  CHECK(problem(header(27, {})) == "tensor 'w': element type float6e2m3 is not supported");
}

TEST_CASE("numbers that do not fit their type are refused") {
  TensorProto byte = header(2, {1});
  byte.add_int32_data(256);
  CHECK(problem(byte) == "tensor 'w': int32_data has 256, which is no uint8");
  TensorProto boolean = header(9, {1});
  boolean.add_int32_data(2);
  CHECK(problem(boolean) == "tensor 'w': int32_data has 2, which is no bool");
}
}  // namespace tensor_decode_test
