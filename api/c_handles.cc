#include "api/c_handles.h"

#include <atomic>
#include <mutex>
#include <new>

namespace svengine {
namespace {

constexpr uint64_t kPlaceBits = 24, kUsedBits = 24, kChunk = 1024, kChunks = (uint64_t{1} << kPlaceBits) / kChunk;

struct Place {
  std::atomic<uint64_t> handle{0};  // of the living object; 0: none
  std::atomic<void*> object{nullptr};
  uint64_t used = 0;
  uint64_t next_free = 0;  // a place's number + 1
};

/// Chunks stay where they are: who reads needs no lock.
struct Table {
  std::atomic<Place*> chunks[kChunks]{};
  std::mutex mutex;  // of all below
  uint64_t places = 0, first_free = 0;

  Place* place(uint64_t number) const {
    Place* chunk = number / kChunk < kChunks ? chunks[number / kChunk].load(std::memory_order_acquire) : nullptr;
    return chunk ? chunk + number % kChunk : nullptr;
  }
};

/// Never destroyed: a host program's own static objects may hold handles to the very end.
Table& table() {
  static Table& the_table = *new Table;
  return the_table;
}

uint64_t number_of(const void* handle) { return reinterpret_cast<uint64_t>(handle); }
HandleKind kind_of(uint64_t handle) { return static_cast<HandleKind>(handle & 0xff); }
uint64_t place_of(uint64_t handle) { return (handle >> 8) & ((uint64_t{1} << kPlaceBits) - 1); }

}  // namespace

void* make_handle(HandleKind kind, void* object) noexcept try {
  Table& t = table();
  const std::lock_guard lock(t.mutex);
  uint64_t number = t.first_free ? t.first_free - 1 : t.places;
  if (number == t.places) {
    if (number / kChunk >= kChunks) return nullptr;
    if (number % kChunk == 0) {
      Place* chunk = new (std::nothrow) Place[kChunk];
      if (!chunk) return nullptr;
      t.chunks[number / kChunk].store(chunk, std::memory_order_release);
    }
    ++t.places;
  }
  Place& place = *t.place(number);
  if (t.first_free) t.first_free = place.next_free;
  place.used = (place.used + 1) & ((uint64_t{1} << kUsedBits) - 1);
  const uint64_t handle = place.used << (8 + kPlaceBits) | number << 8 | static_cast<uint64_t>(kind);
  place.object.store(object, std::memory_order_relaxed);
  place.handle.store(handle, std::memory_order_release);
  return reinterpret_cast<void*>(handle);
} catch (...) {
  return nullptr;
}

void* object_of(HandleKind kind, const void* handle) noexcept {
  const uint64_t number = number_of(handle);
  if (kind_of(number) != kind) return nullptr;
  const Place* place = table().place(place_of(number));
  if (!place || place->handle.load(std::memory_order_acquire) != number) return nullptr;
  return place->object.load(std::memory_order_relaxed);
}

void* release_handle(HandleKind kind, const void* handle) noexcept try {
  const uint64_t number = number_of(handle);
  Table& t = table();
  const std::lock_guard lock(t.mutex);
  void* object = object_of(kind, handle);
  if (!object) return nullptr;
  Place& place = *t.place(place_of(number));
  place.handle.store(0, std::memory_order_release);
  place.next_free = t.first_free;
  t.first_free = place_of(number) + 1;
  return object;
} catch (...) {
  return nullptr;
}

}  // namespace svengine
