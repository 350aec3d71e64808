#include "engine/plan/packed_file.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "engine/base/file.h"
#include "engine/base/round.h"

namespace svengine {
namespace {

constexpr uint64_t kMagic = 0x31304b4341505653;  // "SVPACK01" where the low byte comes first; other machines see another number

struct Header {
  uint64_t magic, file_bytes, layouts;
  Hash128 key;
  Hash128 checksum;  // of header, with zero here, and index
};

struct Record {
  Hash128 key;
  uint64_t offset, bytes;
  Hash128 checksum;
};

uint64_t aligned(uint64_t offset) { return round_up(offset, kCacheLine); }

/// Of the header and the index behind it.
Hash128 checksum_of(Header header, std::span<const std::byte> index) {
  header.checksum = {};
  std::vector<std::byte> all(sizeof header + index.size());
  std::memcpy(all.data(), &header, sizeof header);
  if (!index.empty()) std::memcpy(all.data() + sizeof header, index.data(), index.size());
  return hash_of(all);
}

}  // namespace

Result<std::shared_ptr<const PackedFile>> PackedFile::open(const std::string& path, const Hash128& key) {
  auto file = std::make_shared<PackedFile>();
  SV_ASSIGN(file->mapping_, MappedFile::open(path));
  Status status = file->read_index(key);
  if (!status.ok()) return std::move(status).error().in(path);
  return std::shared_ptr<const PackedFile>(std::move(file));
}

Status PackedFile::read_index(const Hash128& key) {
  const std::span<const std::byte> all = mapping_->bytes();
  Header header;
  if (all.size() < sizeof header) return error("is cut off");
  std::memcpy(&header, all.data(), sizeof header);
  if (header.magic != kMagic || header.key != key) return error("holds no packed weights for this model and program");
  if (header.file_bytes != all.size() || header.layouts > (all.size() - sizeof header) / sizeof(Record)) return error("is cut off");
  const auto index = all.subspan(sizeof header, header.layouts * sizeof(Record));
  if (checksum_of(header, index) != header.checksum) return error("is damaged");
  for (size_t i = 0; i < header.layouts; ++i) {
    Record r;
    std::memcpy(&r, index.data() + i * sizeof r, sizeof r);
    if (r.offset % kCacheLine != 0 || r.offset > all.size() || r.bytes > all.size() - r.offset) return error("is damaged");
    layouts_[r.key] = {r.key, all.subspan(r.offset, r.bytes), r.checksum};
  }
  return {};
}

const PackedLayout* PackedFile::find(const Hash128& key) const {
  const auto it = layouts_.find(key);
  return it == layouts_.end() ? nullptr : &it->second;
}

Status write_packed_file(int file, const Hash128& key, std::span<const PackedLayout> layouts) {
  std::vector<Record> index;
  uint64_t end = sizeof(Header) + layouts.size() * sizeof(Record);
  for (const PackedLayout& f : layouts) {
    index.push_back({f.key, aligned(end), f.bytes.size(), f.checksum});
    end = index.back().offset + f.bytes.size();
  }
  rlimit most{};  // going beyond it would end the program by a signal
  if (getrlimit(RLIMIT_FSIZE, &most) == 0 && end > most.rlim_cur) return error("{}", std::strerror(EFBIG));
  Header header{kMagic, end, layouts.size(), key, {}};
  const auto records = std::as_bytes(std::span(index));
  header.checksum = checksum_of(header, records);
  SV_TRY(write_all(file, std::as_bytes(std::span(&header, 1))));
  SV_TRY(write_all(file, records));
  static constexpr std::byte kPadding[kCacheLine] = {};
  uint64_t at = sizeof header + records.size();
  for (size_t i = 0; i < layouts.size(); ++i) {
    SV_TRY(write_all(file, std::span(kPadding).first(index[i].offset - at)));
    SV_TRY(write_all(file, layouts[i].bytes));
    at = index[i].offset + layouts[i].bytes.size();
  }
  return {};
}

}  // namespace svengine
