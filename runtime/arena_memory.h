// Memory for arenas: mapped by itself, in huge pages where the system grants them, never touched before the threads do so.
#pragma once
#include <cstddef>
#include <memory>
#include <string>

#include "engine/base/status.h"

namespace svengine {

enum class PageKind { base, transparent_huge, explicit_huge };
std::string_view name_of(PageKind kind);

/// A private anonymous mapping. Explicit huge pages (hugetlbfs, Fugaku's XOS_MMM_L_HPAGE_TYPE=hugetlbfs) are tried first, then
/// madvise(MADV_HUGEPAGE), then base pages; kind() says what was asked for and granted. The pages belong to the NUMA node
/// of the thread that first writes them.
class ArenaMemory {
 public:
  ArenaMemory() = default;
  static Result<ArenaMemory> map(size_t bytes);
  ~ArenaMemory();
  ArenaMemory(ArenaMemory&& other) noexcept;
  ArenaMemory& operator=(ArenaMemory&& other) noexcept;

  std::byte* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  PageKind kind() const { return kind_; }

 private:
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
  PageKind kind_ = PageKind::base;
};

}  // namespace svengine
