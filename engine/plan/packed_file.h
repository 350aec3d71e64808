// Packed layouts of one model's constants in a file: made by one start of a program, mapped by later ones.
//
//   header   what the file is, for which key, its size, and the hash of all this and of the index
//   index    for every layout: key, place, size, hash
//   layouts    each at a multiple of kCacheLine, as the kernels read them
//
// Nothing in the file is believed before its hash has been seen to be right: header and index in open(), a layout by whoever
// uses it (WeightStore). A file that is cut off, changed or of another build is an error here or a layout that is packed anew.
#pragma once
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/file_identity.h"
#include "engine/base/hash.h"
#include "engine/base/memory.h"

namespace svengine {

struct PackedLayout {
  Hash128 key;  // of everything that decides the bytes: WeightStore makes it
  std::span<const std::byte> bytes;
  Hash128 checksum;  // HashWork's
};

class PackedFile {
 public:
  /// Fails unless the file has been written completely for `key`.
  static Result<std::shared_ptr<const PackedFile>> open(const std::string& path, const Hash128& key);

  /// Null when there is none. Its bytes are mapped, read-only and private; they may have been damaged: see PackedLayout::checksum.
  const PackedLayout* find(const Hash128& key) const;
  const std::map<Hash128, PackedLayout>& layouts() const { return layouts_; }
  const std::shared_ptr<const MappedFile>& mapping() const { return mapping_; }

 private:
  Status read_index(const Hash128& key);
  std::shared_ptr<const MappedFile> mapping_;
  std::map<Hash128, PackedLayout> layouts_;
};

/// Writes a whole file at the descriptor's position, which is its start. Errors give the system's reason.
Status write_packed_file(int file, const Hash128& key, std::span<const PackedLayout> layouts);

}  // namespace svengine
