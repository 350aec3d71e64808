#include "engine/base/limits.h"

#include <catch2/catch.hpp>

#include <thread>

#include "engine/base/tensor.h"

namespace limits_test {
using namespace svengine;
using Catch::Matchers::Contains;

namespace {

constexpr size_t kMiB = size_t{1} << 20;

/// No limit, whatever happens.
struct Unlimited {
  ~Unlimited() {
    set_memory_limit(0);
    set_time_limit(0);
  }
};

}  // namespace

TEST_CASE("memory that is taken and given back is counted") {
  const size_t before = memory_in_use();
  {
    const Result<MutableTensor> tensor = Tensor::allocate(DType::f32, {1000});
    REQUIRE(tensor.ok());
    const Tensor copy = *tensor;
    CHECK(memory_in_use() >= before + 4000);
    CHECK(memory_in_use() < before + 5000);
  }
  CHECK(memory_in_use() == before);
}

TEST_CASE("a tensor over the memory limit is refused, one within it is not") {
  const Unlimited end;
  set_memory_limit(8 * kMiB);
  const Result<MutableTensor> first = Tensor::allocate(DType::u8, {6 * kMiB});
  REQUIRE(first.ok());
  const Result<MutableTensor> second = Tensor::allocate(DType::u8, {6 * kMiB});
  REQUIRE_FALSE(second.ok());
  CHECK_THAT(second.error().message(), Contains("6.0 MiB are over the limit of 8.0 MiB, of which 6.0 MiB are in use"));
  CHECK(Tensor::allocate(DType::u8, {1 * kMiB}).ok());
  CHECK(Tensor::scalar(1.0f).defined());
}

TEST_CASE("scalars are there when the limit is reached") {
  const Unlimited end;
  set_memory_limit(1);
  CHECK_FALSE(Tensor::allocate(DType::u8, {1}).ok());
  CHECK(Tensor::scalar<int64_t>(7).data<int64_t>()[0] == 7);
}

TEST_CASE("the time limit is over when its time has passed") {
  const Unlimited end;
  CHECK(check_time_limit().ok());
  set_time_limit(1000);
  CHECK(check_time_limit().ok());
  set_time_limit(0.001);
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  REQUIRE_FALSE(check_time_limit().ok());
  CHECK_THAT(check_time_limit().error().message(), Contains("0.001 s"));
}
}  // namespace limits_test
