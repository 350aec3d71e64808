#include "engine/plan/arena.h"

#include <algorithm>
#include <map>

#include "engine/base/memory.h"

namespace svengine {
namespace {

bool alive_together(const Slot& a, const Slot& b) { return a.first_step <= b.last_step && b.first_step <= a.last_step; }

/// The lowest offset where `slot` fits between the placed slots it overlaps in time; `placed` is sorted by offset.
int64_t lowest_offset(const Slot& slot, const std::vector<const Slot*>& placed) {
  int64_t offset = 0;
  for (const Slot* other : placed) {
    if (!alive_together(slot, *other)) continue;
    if (other->offset >= offset + slot.bytes) break;
    offset = std::max(offset, other->offset + other->bytes);
  }
  return offset;
}

}  // namespace

int64_t assign_arena_offsets(std::vector<Slot>& slots) {
  std::vector<Slot*> order;
  for (Slot& s : slots)
    if (s.kind == SlotKind::arena) {
      s.bytes = round_up(std::max<int64_t>(s.bytes, 1), kCacheLine);
      order.push_back(&s);
    }
  std::stable_sort(order.begin(), order.end(), [](const Slot* a, const Slot* b) { return a->bytes > b->bytes; });
  std::vector<const Slot*> placed;
  int64_t total = 0;
  for (Slot* s : order) {
    s->offset = lowest_offset(*s, placed);
    total = std::max(total, s->offset + s->bytes);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), s,
                                   [](const Slot* a, const Slot* b) { return a->offset < b->offset; }), s);
  }
  return total;
}

FullestStep fullest_step(const std::vector<Slot>& slots) {
  std::map<int32_t, int64_t> change;
  for (const Slot& s : slots)
    if (s.kind == SlotKind::arena) {
      change[s.first_step] += s.bytes;
      change[s.last_step + 1] -= s.bytes;
    }
  FullestStep most;
  int64_t live = 0;
  for (const auto& [step, delta] : change)
    if (live += delta; live > most.bytes) most = {step, live};
  return most;
}

}  // namespace svengine
