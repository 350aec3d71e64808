#include "runtime/arena_memory.h"

#include <sys/mman.h>

#include <catch2/catch.hpp>

#include <cstdint>
#include <cstring>

namespace arena_memory_test {
using namespace svengine;

namespace {

constexpr size_t kLarge = size_t{5} << 20;

/// A machine with huge pages, some of which lie on nodes that may be out of reach. Huge pages are base pages here.
class Machine final : public PageSource {
 public:
  bool reserves = true;  // mmap finds enough of them, counting all nodes
  bool holds = true;     // those that this process may use are certainly enough
  bool in_reach = true;  // they are, when they are taken
  int mapped = 0, populated = 0;

  void* map(size_t bytes, bool explicit_huge) override {
    if (explicit_huge && !reserves) return MAP_FAILED;
    ++mapped;
    return PageSource::map(bytes, false);
  }
  void unmap(void* memory, size_t bytes) override {
    --mapped;
    PageSource::unmap(memory, bytes);
  }
  bool ask_for_huge(void*, size_t) override { return true; }
  bool reservation_holds() override { return holds; }
  bool populate(void*, size_t) override {
    ++populated;
    return in_reach;
  }
};

PageKind kind_on(Machine& machine, size_t bytes = kLarge) {
  Result<ArenaMemory> arena = ArenaMemory::map(bytes, machine);
  REQUIRE(arena.ok());
  CHECK(machine.mapped == 1);
  CHECK(arena->bytes() >= bytes);
  return arena->kind();
}

}  // namespace

TEST_CASE("huge pages are left to first touch where the reservation holds") {
  Machine machine;
  CHECK(kind_on(machine) == PageKind::explicit_huge);
  CHECK(machine.populated == 0);
  CHECK(kind_on(machine, 4096) == PageKind::base);
  CHECK(machine.mapped == 0);
}

TEST_CASE("huge pages reserved on nodes out of reach are not taken") {
  Machine machine;
  machine.holds = false;
  CHECK(kind_on(machine) == PageKind::explicit_huge);
  CHECK(machine.populated == 1);
  machine.in_reach = false;  // touching them would be SIGBUS
  CHECK(kind_on(machine) == PageKind::transparent_huge);
  CHECK(machine.mapped == 0);
  machine.reserves = false;
  CHECK(kind_on(machine) == PageKind::transparent_huge);
}

TEST_CASE("plans that take turns share an arena, which grows by a quarter at least and goes with its last user") {
  SharedArena shared;
  auto first = shared.at_least(kLarge).value();
  CHECK(shared.at_least(kLarge / 2).value() == first);
  CHECK(shared.at_least(0).value() == first);
  const auto second = shared.at_least(first->bytes() + 1).value();
  CHECK(second != first);
  CHECK(second->bytes() >= first->bytes() + first->bytes() / 4);
  CHECK(shared.at_least(kLarge).value() == second);
  const std::weak_ptr<const ArenaMemory> watched = first;
  first.reset();
  CHECK(watched.expired());
}

TEST_CASE("what this machine gives can be written, and moves with its owner") {
  for (size_t bytes : {size_t{0}, size_t{1}, size_t{4097}, kLarge}) {
    Result<ArenaMemory> arena = ArenaMemory::map(bytes);
    REQUIRE(arena.ok());
    std::memset(arena->data(), 1, arena->bytes());
    ArenaMemory moved = std::move(arena).value();
    CHECK(moved.data()[moved.bytes() - 1] == std::byte{1});
  }
  CHECK_FALSE(ArenaMemory::map(SIZE_MAX).ok());
  CHECK_FALSE(ArenaMemory::map(SIZE_MAX / 2).ok());
}
}  // namespace arena_memory_test
