#include "runtime/arena_memory.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "engine/base/memory.h"

namespace svengine {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

}  // namespace

std::string_view name_of(PageKind kind) {
  switch (kind) {
    case PageKind::explicit_huge: return "explicit huge pages (2 MiB)";
    case PageKind::transparent_huge: return "transparent huge pages (2 MiB)";
    case PageKind::base: break;
  }
  return "base pages";
}

Result<ArenaMemory> ArenaMemory::map(size_t bytes) {
  ArenaMemory arena;
  const bool large = bytes >= kHugePage;
  bytes = static_cast<size_t>(round_up(static_cast<int64_t>(bytes ? bytes : 1), static_cast<int64_t>(large ? kHugePage : 4096)));
  constexpr int kProtection = PROT_READ | PROT_WRITE, kFlags = MAP_PRIVATE | MAP_ANONYMOUS;
  if (large) {
    void* p = mmap(nullptr, bytes, kProtection, kFlags | MAP_HUGETLB, -1, 0);
    if (p != MAP_FAILED) {
      arena.data_ = static_cast<std::byte*>(p);
      arena.bytes_ = bytes;
      arena.kind_ = PageKind::explicit_huge;
      return arena;
    }
  }
  void* p = mmap(nullptr, bytes, kProtection, kFlags, -1, 0);
  if (p == MAP_FAILED) return error("no memory for an arena of {} bytes: {}", bytes, std::strerror(errno));
  arena.data_ = static_cast<std::byte*>(p);
  arena.bytes_ = bytes;
  if (large && madvise(p, bytes, MADV_HUGEPAGE) == 0) arena.kind_ = PageKind::transparent_huge;
  return arena;
}

ArenaMemory::~ArenaMemory() {
  if (data_) munmap(data_, bytes_);
}

ArenaMemory::ArenaMemory(ArenaMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)), kind_(other.kind_) {}

ArenaMemory& ArenaMemory::operator=(ArenaMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(kind_, other.kind_);
  return *this;
}

}  // namespace svengine
