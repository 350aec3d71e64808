#include "validate/compare/element.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>

namespace element_test {
using namespace svengine;
using namespace svengine::validate;

TEST_CASE("elements of any type, unaligned too, and their places") {
  alignas(8) const unsigned char bytes[] = {0, 0x00, 0x3c, 0x00, 0xfc};
  const Tensor half = Tensor::wrap(DType::f16, {2}, bytes + 1, nullptr);
  CHECK(element_as_double(half, 0) == 1);
  CHECK(element_text(half, 1) == "-inf");
  CHECK(element_text(Tensor::of<int64_t>({1}, {INT64_MIN}), 0) == "-9223372036854775808");
  CHECK(index_text({2, 3, 4}, 23) == "[1, 2, 3]");
  CHECK(index_text({}, 0) == "[]");
  const Statistics s = statistics_of(Tensor::of<float>({4}, {1, 3, HUGE_VALF, -NAN}));
  CHECK((s.min == 1 && s.max == 3 && s.mean == 2 && s.nans == 1 && s.infinities == 1));
}
}  // namespace element_test
