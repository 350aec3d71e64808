// Aligned memory and mapped files.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "engine/base/status.h"

namespace svengine {

/// A64FX's cache line; no machine here has a longer one.
inline constexpr size_t kCacheLine = 256;

inline constexpr int64_t round_up(int64_t value, int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

/// `bytes` of memory aligned to kCacheLine, uninitialised; null when the system has none (or bytes is absurd).
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

}  // namespace svengine
