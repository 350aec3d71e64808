// Which file a mapping shows, and the file as the system tells it from others.
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

struct stat;

namespace svengine {

/// Two files that exist at once on one machine differ in device or inode; on file systems that keep it exactly, every change of a
/// file's content changes `changed_*`, which no program can set.
struct FileIdentity {
  uint64_t device = 0, inode = 0, size = 0;
  int64_t modified_s = 0, modified_ns = 0, changed_s = 0, changed_ns = 0;
  auto operator<=>(const FileIdentity&) const = default;
};
FileIdentity identity_of(const struct stat& status);

struct MappedFileInfo {
  std::string path;       // as it was opened
  FileIdentity identity;  // when it was mapped
  std::span<const std::byte> bytes;
};
/// What `owner` is when it is a MappedFile (memory.h), however it is cast; else null. Lives as long as the owner.
const MappedFileInfo* mapped_file(const std::shared_ptr<const void>& owner);

}  // namespace svengine
