#include "runtime/output_memory.h"

#include <catch2/catch.hpp>
#include <optional>
#include <thread>
#include <vector>

#include "engine/base/limits.h"

namespace output_memory_test {
using namespace svengine;

namespace {

constexpr int64_t kLarge = 1 << 18;  // floats: 1 MiB

MutableTensor of(OutputMemory& memory, DType type, Dims dims) {
  Result<MutableTensor> t = memory.allocate(type, dims);
  REQUIRE(t.ok());
  REQUIRE(t->dims() == dims);
  REQUIRE(t->type() == type);
  return std::move(t).value();
}

}  // namespace

TEST_CASE("memory of outputs is used again once nobody has it, and by one output at a time") {
  OutputMemory memory;
  std::optional<MutableTensor> a = of(memory, DType::f32, {kLarge});
  const std::byte* const first = a->raw();
  const Tensor other = of(memory, DType::f32, {kLarge});
  CHECK(other.raw() != first);
  Tensor view = a->reshaped({2, kLarge / 2});
  a.reset();
  CHECK(of(memory, DType::f32, {kLarge}).raw() != first);  // a view still has it
  std::thread([last = std::move(view)]() mutable { last = Tensor(); }).join();
  const Tensor again = of(memory, DType::i32, {kLarge / 2, 2});  // as many bytes
  const Tensor more = of(memory, DType::f32, {kLarge});
  CHECK((again.raw() == first || more.raw() == first));
  CHECK(again.raw() != more.raw());
}

TEST_CASE("memory of outputs of a size that nobody asks for any more goes back to the system") {
  OutputMemory memory;
  const size_t before = memory_in_use();
  of(memory, DType::f32, {kLarge});
  CHECK(memory_in_use() >= before + 4 * kLarge);
  std::vector<Tensor> others;
  for (int i = 0; i < 4; ++i) others.push_back(of(memory, DType::f32, {kLarge / 2}));
  CHECK(memory_in_use() < before + 4 * (3 * kLarge));
  of(memory, DType::f32, {8});  // malloc's own business
}

TEST_CASE("memory of an output is used again beside outputs that their callers keep") {
  OutputMemory memory;
  std::vector<Tensor> kept;
  std::optional<MutableTensor> dropped = of(memory, DType::f32, {kLarge});
  const std::byte* const first = dropped->raw();
  for (int run = 0; run < 10; ++run) {
    dropped.reset();
    kept.push_back(of(memory, DType::f32, {kLarge / 2}));
    dropped = of(memory, DType::f32, {kLarge});
    CHECK(dropped->raw() == first);
  }
}

TEST_CASE("memory of outputs goes back to the system when asked to") {
  OutputMemory memory;
  const size_t before = memory_in_use();
  const Tensor kept = of(memory, DType::f32, {kLarge});
  of(memory, DType::f32, {kLarge});
  memory.release();
  CHECK(memory_in_use() == before + 4 * kLarge);
}

TEST_CASE("outputs outlive the memory they came from") {
  const size_t before = memory_in_use();
  auto memory = std::make_unique<OutputMemory>();
  MutableTensor kept = of(*memory, DType::f32, {kLarge});
  of(*memory, DType::f32, {kLarge});
  memory.reset();
  CHECK(memory_in_use() == before + 4 * kLarge);
  kept.data<float>()[kLarge - 1] = 1;
  kept = MutableTensor();
  CHECK(memory_in_use() == before);
}

TEST_CASE("memory of outputs refuses what cannot be") {
  OutputMemory memory;
  CHECK(!memory.allocate(DType::f32, {-1}).ok());
  CHECK(!memory.allocate(DType::f32, {int64_t{1} << 62}).ok());
  CHECK(!memory.allocate(DType::f32, {int64_t{1} << 31, int64_t{1} << 31}).ok());
  set_memory_limit(1 << 20);
  CHECK(!memory.allocate(DType::f32, {kLarge * 2}).ok());
  set_memory_limit(0);
}
}  // namespace output_memory_test
