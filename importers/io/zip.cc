#include "importers/io/zip.h"

#include <zlib.h>

#include <cstring>
#include <set>
#include <string_view>

#include "importers/io/inflate.h"
#include "importers/io/names.h"

namespace svengine {
namespace {

using Bytes = std::span<const std::byte>;

constexpr uint32_t kLocalHeader = 0x04034b50, kCentralHeader = 0x02014b50, kEnd = 0x06054b50, kEnd64 = 0x06064b50, kLocator64 = 0x07064b50;
constexpr size_t kLocalSize = 30, kCentralSize = 46, kEndSize = 22, kEnd64Size = 56, kLocatorSize = 20;
constexpr size_t kLongestComment = 65535;
constexpr size_t kMostEntries = 1 << 20;
constexpr uint32_t kIn64 = 0xffffffff;  // the value is in the ZIP64 record instead

/// A little-endian number at `at`, which must lie inside.
template <class T>
T number_at(Bytes bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

struct Directory {
  uint64_t offset = 0, size = 0, entries = 0;
};

Result<Directory> find_directory64(Bytes archive, size_t end) {
  if (end < kLocatorSize || number_at<uint32_t>(archive, end - kLocatorSize) != kLocator64)
    return error("its ZIP64 end record is missing");
  const auto at = number_at<uint64_t>(archive, end - kLocatorSize + 8);
  if (archive.size() < kEnd64Size || at > archive.size() - kEnd64Size || number_at<uint32_t>(archive, at) != kEnd64)
    return error("its ZIP64 end record is not where it should be");
  return Directory{number_at<uint64_t>(archive, at + 48), number_at<uint64_t>(archive, at + 40),
                   number_at<uint64_t>(archive, at + 32)};
}

Result<Directory> find_directory(Bytes archive) {
  if (archive.size() < kEndSize) return error("is not a ZIP archive, or cut off");
  const size_t last = archive.size() - kEndSize;
  for (size_t back = 0; back <= std::min(last, kLongestComment); ++back) {
    const size_t at = last - back;
    if (number_at<uint32_t>(archive, at) != kEnd || number_at<uint16_t>(archive, at + 20) != back) continue;
    const Directory found{number_at<uint32_t>(archive, at + 16), number_at<uint32_t>(archive, at + 12),
                          number_at<uint16_t>(archive, at + 10)};
    if (found.offset != kIn64 && found.size != kIn64 && found.entries != 0xffff) return found;
    return find_directory64(archive, at);
  }
  return error("is not a ZIP archive, or cut off: it has no end record");
}

/// Sizes and offset that did not fit 32 bits are, in this order, in extra field 1.
Status read_extra64(Bytes extra, ZipEntry& entry) {
  uint64_t* const wide[] = {&entry.size, &entry.packed_size, &entry.header_offset};
  for (size_t at = 0; at + 4 <= extra.size();) {
    const auto id = number_at<uint16_t>(extra, at), size = number_at<uint16_t>(extra, at + 2);
    at += 4;
    if (size > extra.size() - at) break;
    if (id == 1) {
      size_t used = 0;
      for (uint64_t* value : wide) {
        if (*value != kIn64) continue;
        if (used + 8 > size) return error("entry '{}' has a damaged ZIP64 field", printable(entry.name));
        *value = number_at<uint64_t>(extra, at + used);
        used += 8;
      }
      return {};
    }
    at += size;
  }
  return {};
}

}  // namespace

Result<std::vector<ZipEntry>> read_zip_directory(Bytes archive) {
  SV_ASSIGN(const Directory directory, find_directory(archive));
  if (directory.entries > kMostEntries) return error("claims {} entries; at most {} are read", directory.entries, kMostEntries);
  if (directory.offset > archive.size() || directory.size > archive.size() - directory.offset)
    return error("its directory is not inside the file");
  const Bytes bytes = archive.subspan(directory.offset, directory.size);
  std::vector<ZipEntry> entries;
  std::set<std::string> names;
  uint64_t packed_total = 0;
  for (size_t at = 0, i = 0; i < directory.entries; ++i) {
    if (bytes.size() - at < kCentralSize || number_at<uint32_t>(bytes, at) != kCentralHeader)
      return error("its directory is damaged");
    const size_t name_size = number_at<uint16_t>(bytes, at + 28), extra_size = number_at<uint16_t>(bytes, at + 30);
    const size_t comment_size = number_at<uint16_t>(bytes, at + 32);
    if (bytes.size() - at - kCentralSize < name_size + extra_size + comment_size) return error("its directory is damaged");
    ZipEntry entry;
    entry.flags = number_at<uint16_t>(bytes, at + 8);
    entry.method = number_at<uint16_t>(bytes, at + 10);
    entry.crc = number_at<uint32_t>(bytes, at + 16);
    entry.packed_size = number_at<uint32_t>(bytes, at + 20);
    entry.size = number_at<uint32_t>(bytes, at + 24);
    entry.header_offset = number_at<uint32_t>(bytes, at + 42);
    at += kCentralSize;
    entry.name.assign(reinterpret_cast<const char*>(bytes.data() + at), name_size);
    SV_TRY(read_extra64(bytes.subspan(at + name_size, extra_size), entry));
    at += name_size + extra_size + comment_size;
    if (!names.insert(entry.name).second) return error("has two entries '{}'", printable(entry.name));
    // Entries that share their bytes could unpack to more than any ratio allows.
    if (entry.packed_size > archive.size() - packed_total) return error("its entries are larger than the archive: they overlap");
    packed_total += entry.packed_size;
    entries.push_back(std::move(entry));
  }
  return entries;
}

Status check_zip_entry(const ZipEntry& entry) {
  constexpr uint16_t kEncrypted = 1;
  if (entry.flags & kEncrypted) return error("entry '{}' is encrypted", printable(entry.name));
  if (entry.method != 0 && entry.method != 8)
    return error("entry '{}' is compressed with method {}; supported are stored and deflated", printable(entry.name),
                 entry.method);
  if (entry.method == 0 && entry.size != entry.packed_size)
    return error("entry '{}' is stored with two different sizes", printable(entry.name));
  if (entry.size / kMostInflation > entry.packed_size)
    return error("entry '{}' claims {} bytes from {}, which no compression reaches", printable(entry.name), entry.size,
                 entry.packed_size);
  return {};
}

Result<Bytes> find_zip_data(Bytes archive, const ZipEntry& entry) {
  if (archive.size() < kLocalSize || entry.header_offset > archive.size() - kLocalSize ||
      number_at<uint32_t>(archive, entry.header_offset) != kLocalHeader)
    return error("entry '{}' is not where the directory says", printable(entry.name));
  const size_t begin = entry.header_offset + kLocalSize + number_at<uint16_t>(archive, entry.header_offset + 26) +
                       number_at<uint16_t>(archive, entry.header_offset + 28);
  if (begin > archive.size() || entry.packed_size > archive.size() - begin)
    return error("entry '{}' is cut off", printable(entry.name));
  return archive.subspan(begin, entry.packed_size);
}

Status unpack_zip_entry(Bytes archive, const ZipEntry& entry, std::span<std::byte> out) {
  SV_TRY(check_zip_entry(entry));
  SV_ASSIGN(const Bytes data, find_zip_data(archive, entry));
  if (entry.method == 0) {
    if (!out.empty()) std::memcpy(out.data(), data.data(), out.size());
  } else {
    Status status = inflate_exactly(Deflated::raw, data, out);
    if (!status.ok()) return std::move(status).error().in(fmt::format("entry '{}'", printable(entry.name)));
  }
  const uLong crc = crc32_z(0, reinterpret_cast<const Bytef*>(out.data()), out.size());
  if (crc != entry.crc) return error("entry '{}' is damaged: its checksum is wrong", printable(entry.name));
  return {};
}

}  // namespace svengine
