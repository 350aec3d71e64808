// Which content a file had, so that an unchanged file need not be read to know its content again.
//
// A table in one small file, looked up by the file's identity: device, inode, size, times of the last change, all to the
// nanosecond. That is as good as reading the file only where the identity cannot stay while the content changes, and a wrong answer
// would be wrong weights, so an identity is remembered only when all of this holds; else the content is read each time:
//
//   - The file system is ext4, XFS or Btrfs, whose kernel code stamps every change with a time that no program can set. Images
//     (squashfs) carry times somebody chose; network and parallel file systems differ in what they promise.
//   - That time (ctime) has nanoseconds: whole seconds come from images whose times were cut, or from coarse clocks.
//   - It was more than 2 s ago when the content was read, so that no later change can get the same time (ticks are 10 ms at most).
//   - The file was flushed before the content was read, so that a program that has it mapped for writing takes a page fault, and
//     thereby changes the time, before it can write again.
//   - The identity was the same after the reading as before.
//   - It is the same machine since the same start: device and inode numbers mean nothing elsewhere. Jobs on many nodes may put
//     different files of one size under one inode number within one tick of the clock.
#pragma once
#include <optional>
#include <string>

#include "engine/base/file_identity.h"
#include "engine/base/hash.h"

namespace svengine {

class FileHashCache {
 public:
  /// The table is the file `path`; it need not exist.
  explicit FileHashCache(std::string path);

  /// The content of the file of this identity, when it was remembered on this machine since it was started.
  std::optional<Hash128> content_of(const FileIdentity& identity) const;

  /// The steps of learning it. Before reading: whether the mapped file is one whose identity may be trusted.
  static bool settle(const MappedFileInfo& file);
  /// After reading, of a file that is settled: remembers, unless it has changed meanwhile. Losing the table costs a reading, so
  /// there are no errors.
  void remember(const MappedFileInfo& file, const Hash128& content) const;

 private:
  std::string path_;
  Hash128 machine_;  // since its start; zero: unknown, nothing is remembered
};

}  // namespace svengine
