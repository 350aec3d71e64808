#include "runtime/arena_memory.h"

#include <numa.h>
#include <numaif.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "engine/base/limits.h"
#include "engine/base/memory.h"

namespace svengine {
namespace {

constexpr size_t kHugePage = size_t{2} << 20, kBasePage = 4096;

PageSource& the_system() {
  static PageSource source;
  return source;
}

/// The number in a file of one; `missing` where there is none.
int64_t number_in(const std::string& path, int64_t missing = 0) {
  std::ifstream file(path);
  int64_t number = 0;
  return file >> number ? number : missing;
}

/// Where cpuset and memory policy let this thread take memory from. The caller frees it.
bitmask* usable_nodes() {
  // Not numa_get_membind(): libnuma's static archive has it under versioned names alone, which a static program cannot call.
  int policy = MPOL_DEFAULT;
  bitmask* nodes = numa_allocate_nodemask();
  if (get_mempolicy(&policy, nodes->maskp, nodes->size + 1, nullptr, 0) == 0 && policy == MPOL_BIND) return nodes;
  numa_free_nodemask(nodes);
  return numa_get_mems_allowed();
}

/// Huge pages that will be there when they are touched; null: none.
void* map_explicit(size_t bytes, PageSource& source) {
  void* memory = source.map(bytes, true);
  if (memory == MAP_FAILED) return nullptr;
  if (source.reservation_holds() || source.populate(memory, bytes)) return memory;
  source.unmap(memory, bytes);
  return nullptr;
}

}  // namespace

std::string_view name_of(PageKind kind) {
  switch (kind) {
    case PageKind::explicit_huge:
      return "explicit huge pages (2 MiB)";
    case PageKind::transparent_huge:
      return "transparent huge pages (2 MiB)";
    case PageKind::base:
      break;
  }
  return "base pages";
}

void* PageSource::map(size_t bytes, bool explicit_huge) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (explicit_huge ? MAP_HUGETLB : 0);
  return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
}

void PageSource::unmap(void* memory, size_t bytes) { munmap(memory, bytes); }
bool PageSource::ask_for_huge(void* memory, size_t bytes) { return madvise(memory, bytes, MADV_HUGEPAGE) == 0; }

bool PageSource::reservation_holds() {
  if (numa_available() < 0) return true;  // one node
  const std::unique_ptr<bitmask, void (*)(bitmask*)> nodes(usable_nodes(), numa_bitmask_free);
  int64_t free = 0;
  bool all = true;
  for (int node = 0; node <= numa_max_node(); ++node) {
    if (!numa_bitmask_isbitset(numa_nodes_ptr, static_cast<unsigned>(node))) continue;
    if (numa_bitmask_isbitset(nodes.get(), static_cast<unsigned>(node)))
      free += number_in(fmt::format("/sys/devices/system/node/node{}/hugepages/hugepages-2048kB/free_hugepages", node));
    else
      all = false;
  }
  return all || free >= number_in("/sys/kernel/mm/hugepages/hugepages-2048kB/resv_hugepages", INT64_MAX);
}

bool PageSource::populate(void* memory, size_t bytes) {
  constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE; glibc's headers know it only from 2.35 on
  return madvise(memory, bytes, kPopulateWrite) == 0;
}

Result<ArenaMemory> ArenaMemory::map(size_t bytes) { return map(bytes, the_system()); }

Result<ArenaMemory> ArenaMemory::map(size_t bytes, PageSource& source) {
  if (bytes > (size_t{1} << 50)) return error("no memory for an arena of {} bytes", bytes);
  ArenaMemory arena;
  const bool large = bytes >= kHugePage;
  arena.source_ = &source;
  arena.bytes_ = round_up(bytes ? bytes : 1, large ? kHugePage : kBasePage);
  if (!take_memory(arena.bytes_)) return error("no memory for an arena of {} bytes{}", bytes, memory_limit_text(arena.bytes_));
  if (large) {
    if (void* memory = map_explicit(arena.bytes_, source)) {
      arena.data_ = static_cast<std::byte*>(memory);
      arena.kind_ = PageKind::explicit_huge;
      return arena;
    }
  }
  void* memory = source.map(arena.bytes_, false);
  if (memory == MAP_FAILED) {
    const int reason = errno;
    give_back_memory(arena.bytes_);
    return error("no memory for an arena of {} bytes: {}", bytes, std::strerror(reason));
  }
  arena.data_ = static_cast<std::byte*>(memory);
  if (large && source.ask_for_huge(memory, arena.bytes_)) arena.kind_ = PageKind::transparent_huge;
  return arena;
}

ArenaMemory::~ArenaMemory() {
  if (!data_) return;
  source_->unmap(data_, bytes_);
  give_back_memory(bytes_);
}

ArenaMemory::ArenaMemory(ArenaMemory&& other) noexcept
    : source_(other.source_),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      kind_(other.kind_) {}

ArenaMemory& ArenaMemory::operator=(ArenaMemory&& other) noexcept {
  std::swap(source_, other.source_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(kind_, other.kind_);
  return *this;
}

Result<std::shared_ptr<const ArenaMemory>> SharedArena::at_least(size_t bytes) {
  const std::shared_ptr<const ArenaMemory> last = last_.lock();
  if (last && last->bytes() >= bytes) return last;
  kept_ = nullptr;
  SV_ASSIGN(ArenaMemory memory, ArenaMemory::map(last ? std::max(bytes, last->bytes() + last->bytes() / 4) : bytes));
  auto fresh = std::make_shared<const ArenaMemory>(std::move(memory));
  last_ = fresh;
  if (keeps_) kept_ = fresh;
  return std::shared_ptr<const ArenaMemory>(std::move(fresh));
}

}  // namespace svengine
