#include "validate/inputs/random_inputs.h"

#include <catch2/catch.hpp>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <vector>

#include "engine/base/dtype_set.h"
#include "engine/base/narrow_float.h"

namespace random_inputs_test {
using namespace svengine;
using namespace svengine::validate;

namespace {

std::vector<uint8_t> bytes_of(const Tensor& t) {
  const auto* begin = static_cast<const uint8_t*>(static_cast<const void*>(t.raw()));
  return {begin, begin + t.byte_size()};
}

std::vector<DType> dense_types() {
  std::vector<DType> out;
  for (int64_t number = 1; number < 32; ++number)
    if (const auto type = dtype_from_number(number); type && kDenseTypes.has(*type)) out.push_back(*type);
  return out;
}

}  // namespace

TEST_CASE("every type of dense tensors has random values, the same for one seed") {
  for (const DType type : dense_types()) {
    INFO(name_of(type));
    const auto drawn = [&](uint64_t seed) { return bytes_of(random_input("x", type, {500}, seed, 0, {}).value()); };
    CHECK(drawn(1) == drawn(1));
    const bool zeros = is_integer(type) ? size_of(type) > 1 : type == DType::boolean;
    CHECK((drawn(1) != drawn(2)) == !zeros);
    if (!zeros) continue;
    for (const uint8_t byte : drawn(1)) CHECK(byte == 0);
  }
  for (const DType type : {DType::string, DType::sequence, DType::optional, DType::map}) {
    const auto none = random_input("words", type, {3}, 1, 0, {});
    REQUIRE_FALSE(none.ok());
    CHECK_THAT(none.error().message(), Catch::Matchers::Contains("'words' must be given"));
  }
}

TEST_CASE("random values are numbers of their type") {
  for (const DType type : dense_types()) {
    INFO(name_of(type));
    const std::vector<uint8_t> bytes = bytes_of(random_input("x", type, {20000}, 3, 0, {}).value());
    if (is_byte_float(type)) {
      CHECK(std::all_of(bytes.begin(), bytes.end(), [&](uint8_t byte) { return std::abs(byte_float_values(type)[byte]) <= 0.5f; }));
    } else if (packed_bits(type) < 8) {
      CHECK(std::all_of(bytes.begin(), bytes.end(), [&](uint8_t byte) { return byte == unpacked(type, byte); }));
      CHECK(std::set<uint8_t>(bytes.begin(), bytes.end()).size() == size_t{1} << packed_bits(type));
    } else if (type == DType::u8 || type == DType::i8) {
      CHECK(std::set<uint8_t>(bytes.begin(), bytes.end()).size() == 256);
    }
  }
}

TEST_CASE("indices are below their bound in every integer type, masks are ones") {
  for (const DType type : {DType::i8, DType::u8, DType::i16, DType::u16, DType::i32, DType::u32, DType::i64, DType::u64}) {
    INFO(name_of(type));
    const auto elements = [&](const char* name) {
      const Tensor t = random_input(name, type, {300}, 5, 1, {{"ids", 7}}).value();
      const std::vector<uint8_t> bytes = bytes_of(t);
      std::set<int64_t> out;
      for (size_t i = 0; i < bytes.size(); i += size_of(type)) {
        int64_t value = 0;
        std::memcpy(&value, &bytes[i], size_of(type));  // none is negative
        out.insert(value);
      }
      return out;
    };
    CHECK(elements("ids") == std::set<int64_t>{0, 1, 2, 3, 4, 5, 6});
    CHECK(elements("Attention_Mask") == std::set<int64_t>{1});
  }
}
}  // namespace random_inputs_test
