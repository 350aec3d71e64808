// What of a model's structure goes to protobuf, and the bound on it.
#include <catch2/catch.hpp>

#include "importers/onnx/stripped_model.h"

namespace skeleton_test {
using namespace svengine;
using namespace svengine::onnx;

namespace {

std::string message(uint32_t number, const std::string& content) {
  std::string out;
  append_field_head(out, number, content.size());
  return out + content;
}

Result<std::string> stripped_model(const std::string& model, size_t max_cost) {
  return make_stripped_model(Bytes(reinterpret_cast<const std::byte*>(model.data()), model.size()), max_cost);
}

}  // namespace

TEST_CASE("keys and numbers of ten bytes are charged as what they are") {
  // Field 3 (i) of an attribute; protobuf allows a key of up to ten bytes, and all of them are copied.
  const std::string key = "\x98\x80\x80\x80\x80\x80\x80\x80\x80" + std::string(1, '\0');
  const std::string number = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
  std::string attribute;
  constexpr size_t kFields = 10000;
  for (size_t i = 0; i < kFields; ++i) attribute += key + number;
  const std::string model = message(7, message(1, message(5, attribute)));
  const auto all = stripped_model(model, size_t{1} << 20);
  REQUIRE(all.ok());
  CHECK(all->size() >= 20 * kFields);
  CHECK_FALSE(stripped_model(model, 20 * kFields).ok());  // what is copied is charged at least
  for (size_t most : {size_t{100000}, size_t{150000}, size_t{199999}}) CHECK_FALSE(stripped_model(model, most).ok());
}
}  // namespace skeleton_test
