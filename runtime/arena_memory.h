// Memory for arenas: mapped by itself, in huge pages where the system grants them, never touched before the threads do so.
#pragma once
#include <cstddef>
#include <memory>
#include <string>

#include "engine/base/status.h"

namespace svengine {

enum class PageKind { base, transparent_huge, explicit_huge };
std::string_view name_of(PageKind kind);

/// What the system says to an arena's wishes; tests give answers of their own.
class PageSource {
 public:
  virtual ~PageSource() = default;
  /// mmap: private, anonymous, readable and writable; MAP_FAILED, errno set.
  virtual void* map(size_t bytes, bool explicit_huge);
  virtual void unmap(void* memory, size_t bytes);
  /// madvise(MADV_HUGEPAGE); false: refused.
  virtual bool ask_for_huge(void* memory, size_t bytes);
  /// Whether the huge pages just reserved are there for this process. Linux counts those of all nodes together, so they are sure
  /// to be only for who may use every node; for others where their own nodes have as many free as anybody has reserved.
  virtual bool reservation_holds();
  /// madvise(MADV_POPULATE_WRITE): makes all pages be there now. False: they cannot, or the system (before Linux 5.14) does not
  /// know how.
  virtual bool populate(void* memory, size_t bytes);
};

/// A private anonymous mapping. Explicit huge pages (hugetlbfs, Fugaku's XOS_MMM_L_HPAGE_TYPE=hugetlbfs) are tried first, then
/// madvise(MADV_HUGEPAGE), then base pages; kind() says what was asked for and granted. The pages belong to the NUMA node
/// of the thread that first writes them. Only where a cpuset or numactl keeps the process from some nodes, and its own may have
/// too few, explicit huge pages are taken at once, by the calling thread: touching one that is not there is SIGBUS.
class ArenaMemory {
 public:
  ArenaMemory() = default;
  static Result<ArenaMemory> map(size_t bytes);
  /// The same of another source, which must outlive the arena.
  static Result<ArenaMemory> map(size_t bytes, PageSource& source);
  ~ArenaMemory();
  ArenaMemory(ArenaMemory&& other) noexcept;
  ArenaMemory& operator=(ArenaMemory&& other) noexcept;

  std::byte* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  PageKind kind() const { return kind_; }

 private:
  PageSource* source_ = nullptr;
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
  PageKind kind_ = PageKind::base;
};

/// An arena for plans of which no two run at the same time, and nothing of which is needed between runs: they use the same pages, which are
/// then there already. It lives as long as one of its users does. Not thread-safe.
class SharedArena {
 public:
  SharedArena() = default;
  /// `keeps`: also while it has no user.
  explicit SharedArena(bool keeps) : keeps_(keeps) {}
  /// What was given last, when that is large enough; else a new one, larger by a quarter at least, so that slowly growing needs map few.
  Result<std::shared_ptr<const ArenaMemory>> at_least(size_t bytes);

 private:
  bool keeps_ = false;
  std::weak_ptr<const ArenaMemory> last_;
  std::shared_ptr<const ArenaMemory> kept_;
};

}  // namespace svengine
