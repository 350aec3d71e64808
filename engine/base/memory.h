// Aligned memory and mapped files.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "engine/base/round.h"
#include "engine/base/status.h"

namespace svengine {

/// A64FX's cache line; no machine here has a longer one.
inline constexpr size_t kCacheLine = 256;

/// `bytes` of memory aligned to kCacheLine, uninitialised; null when the system has none (or bytes is absurd). From 2 MiB on
/// aligned to that, and on huge pages where the system grants them to those who ask.
std::shared_ptr<std::byte> allocate_aligned(size_t bytes);

/// A file mapped read-only and privately. The pages come from the page cache and can be given back at any time.
class MappedFile {
 public:
  /// Refuses what is not a regular file. The mapping lives as long as the object.
  static Result<std::shared_ptr<const MappedFile>> open(const std::string& path);
  /// The same from an open file descriptor, which stays the caller's; `path` is for messages.
  static Result<std::shared_ptr<const MappedFile>> map(int file, const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  MappedFile() = default;
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

/// Gives physical memory back to the system when `owner` is a mapped file: the whole pages within `bytes`, a part of that file.
/// They stay readable; reading takes them from the page cache again. Does nothing for other owners.
void release_pages(const std::shared_ptr<const void>& owner, std::span<const std::byte> bytes);

}  // namespace svengine
