#include "engine/plan/arena.h"

#include <catch2/catch.hpp>
#include <random>

namespace arena_test {
using namespace svengine;

namespace {

Slot slot(int64_t bytes, int first, int last) {
  Slot s;
  s.bytes = bytes;
  s.first_step = first;
  s.last_step = last;
  return s;
}

void check_disjoint(const std::vector<Slot>& slots, int64_t total) {
  for (size_t i = 0; i < slots.size(); ++i) {
    CHECK(slots[i].offset % kCacheLine == 0);
    CHECK(slots[i].offset + slots[i].bytes <= total);
    for (size_t j = 0; j < i; ++j) {
      const Slot &a = slots[i], &b = slots[j];
      if (a.first_step > b.last_step || b.first_step > a.last_step) continue;
      CHECK((a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset));
    }
  }
}

}  // namespace

TEST_CASE("a chain needs the two largest neighbours") {
  std::vector<Slot> slots{slot(1024, 0, 1), slot(2048, 1, 2), slot(1024, 2, 3), slot(512, 3, 4)};
  const int64_t total = assign_arena_offsets(slots);
  CHECK(total == 3072);
  check_disjoint(slots, total);
}

TEST_CASE("constants and outputs take no arena") {
  std::vector<Slot> slots{slot(1024, 0, 9), slot(1024, 0, 9)};
  slots[1].kind = SlotKind::output;
  CHECK(assign_arena_offsets(slots) == 1024);
}

TEST_CASE("random lifetimes never overlap and stay near the lower bound") {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    std::vector<Slot> slots;
    for (int i = 0; i < 80; ++i) {
      const int first = static_cast<int>(random() % 60);
      slots.push_back(slot(static_cast<int64_t>(random() % 9000), first, first + static_cast<int>(random() % 6)));
    }
    const int64_t total = assign_arena_offsets(slots);
    check_disjoint(slots, total);
    CHECK(total <= arena_lower_bound(slots) * 3 / 2);
  }
}
}  // namespace arena_test
