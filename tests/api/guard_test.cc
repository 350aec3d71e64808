#include "api/guard.h"

#include <catch2/catch.hpp>

#include <stdexcept>

#include "api/convert.h"

namespace guard_test {
using namespace svengine;

namespace {

template <class Exception>
std::string said_of(const Exception& thrown) {
  LastError problem{"before", true};
  CHECK(guarded(problem, 7, [&]() -> int { throw thrown; }) == 7);
  CHECK_FALSE(problem.unimplemented);
  return problem.message;
}

}  // namespace

TEST_CASE("what is thrown is said as what it is") {
  CHECK(said_of(std::bad_alloc()) == "out of memory");
  CHECK(said_of(std::runtime_error("no such thread")) == "unexpected failure: no such thread");
  CHECK(said_of(std::length_error("vector")) == "unexpected failure: vector");
  CHECK(said_of(3) == "failure");
  LastError problem{"before"};
  CHECK(guarded(problem, 7, [] { return 8; }) == 8);
  CHECK(problem.message == "before");
}

TEST_CASE("element types of the API are the engine's") {
  for (int number = -1; number <= 32; ++number) {
    const auto api = static_cast<ElementType>(number);
    const DType type = to_dtype(api);
    INFO(number);
    if (type == DType::undefined) {
      CHECK(to_element_type(static_cast<DType>(number)) == ElementType::unknown);
      continue;
    }
    CHECK(static_cast<int>(type) == number);  // ONNX's numbers, as svengine.hpp says
    CHECK(to_element_type(type) == api);
    CHECK(size_of(type) > 0);
  }
  CHECK(to_dtype(ElementType::bfloat16) == DType::bf16);
  CHECK(to_element_type(DType::string) == ElementType::unknown);
}
}  // namespace guard_test
