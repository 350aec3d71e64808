// Reads ZIP archives in memory: what their central directory lists, stored or deflated. Nothing is ever written to disk, so
// entry names are only names.
//
//   [local header, data] [local header, data] .. [central directory: name, sizes, offset, ..] [end record: where that begins]
//
// ZIP64 (sizes and offsets of 4 GiB and more) is understood; encryption, other compressions and archives in parts are refused.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/base/status.h"

namespace svengine {

struct ZipEntry {
  std::string name;
  uint16_t method = 0;  // 0 stored, 8 deflated
  uint16_t flags = 0;
  uint32_t crc = 0;
  uint64_t packed_size = 0;
  uint64_t size = 0;
  uint64_t header_offset = 0;
};

/// The entries in the order of the directory. Refuses two of one name.
Result<std::vector<ZipEntry>> read_zip_directory(std::span<const std::byte> archive);

/// The entry's bytes in the archive, packed or not.
Result<std::span<const std::byte>> find_zip_data(std::span<const std::byte> archive, const ZipEntry& entry);

/// Unpacks an entry to `out`, which has entry.size bytes, and checks its CRC.
Status unpack_zip_entry(std::span<const std::byte> archive, const ZipEntry& entry, std::span<std::byte> out);

/// Refuses entries that are encrypted, compressed otherwise, or claim a size that no compression reaches (see kMostInflation).
Status check_zip_entry(const ZipEntry& entry);

}  // namespace svengine
