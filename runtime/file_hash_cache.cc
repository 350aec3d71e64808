#include "runtime/file_hash_cache.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <ctime>

#include "engine/base/file.h"

namespace svengine {
namespace {

// The table: kSlots records, each at the slot that its identity's hash names; a newer one replaces what is there. A record is
// written in one piece and carries its own hash, so that any number of programs may read and write at once, without locks.
struct Record {
  uint64_t magic;
  Hash128 machine;
  FileIdentity identity;
  Hash128 content;
  Hash128 checksum;  // of all before
};

constexpr uint64_t kMagic = 0x31304e4545535653;  // "SVSEEN01"
constexpr uint64_t kSlots = 1024;
constexpr off_t kSlotBytes = 128;
static_assert(sizeof(Record) <= kSlotBytes && sizeof(Record) == 8 + 16 + 7 * 8 + 16 + 16, "no padding, which would be hashed");

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

Hash128 checksum_of(const Record& r) { return hash_of(bytes_of(r).first(sizeof r - sizeof r.checksum)); }

off_t place_of(const Hash128& machine, const FileIdentity& identity) {
  return static_cast<off_t>((hash_of(bytes_of(identity)).low ^ machine.low) % kSlots) * kSlotBytes;
}

/// Changes with every start of the system.
Hash128 this_machine() {
  const UniqueFd file(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  std::array<std::byte, 64> text{};
  const Result<size_t> n = read_full(file.get(), text);
  return n.ok() && *n >= 36 ? hash_of(std::span(text).first(*n)) : Hash128{};
}

bool stamps_every_change(int file) {
  struct statfs status {};
  if (fstatfs(file, &status) != 0) return false;
  constexpr unsigned long kExt = 0xEF53, kXfs = 0x58465342, kBtrfs = 0x9123683E;  // statfs(2)
  const auto type = static_cast<unsigned long>(status.f_type) & 0xffffffff;
  return type == kExt || type == kXfs || type == kBtrfs;
}

bool still_is(const FileIdentity& identity, int file) {
  struct stat status {};
  return fstat(file, &status) == 0 && identity_of(status) == identity;
}

}  // namespace

FileHashCache::FileHashCache(std::string path) : path_(std::move(path)), machine_(this_machine()) {}

std::optional<Hash128> FileHashCache::content_of(const FileIdentity& identity) const {
  const UniqueFd table(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (machine_ == Hash128{} || table.get() < 0) return std::nullopt;
  Record r;
  if (pread(table.get(), &r, sizeof r, place_of(machine_, identity)) != sizeof r) return std::nullopt;
  if (r.magic != kMagic || r.machine != machine_ || r.identity != identity || r.checksum != checksum_of(r)) return std::nullopt;
  return r.content;
}

bool FileHashCache::settle(const MappedFileInfo& mapped) {
  const UniqueFd file(::open(mapped.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0 || !still_is(mapped.identity, file.get())) return false;  // the name is another file's by now
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  constexpr int64_t kSettled = 2;  // seconds
  if (mapped.identity.changed_ns == 0 || mapped.identity.changed_s + kSettled >= now.tv_sec) return false;
  return stamps_every_change(file.get()) && fsync(file.get()) == 0 && still_is(mapped.identity, file.get());
}

void FileHashCache::remember(const MappedFileInfo& mapped, const Hash128& content) const {
  const UniqueFd file(::open(mapped.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  rlimit most{};
  getrlimit(RLIMIT_FSIZE, &most);
  const bool fits = most.rlim_cur >= kSlots * kSlotBytes;  // going beyond it would end the program by a signal
  if (!fits || machine_ == Hash128{} || file.get() < 0 || !still_is(mapped.identity, file.get())) return;
  const UniqueFd table(::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666));
  Record r{kMagic, machine_, mapped.identity, content, {}};
  r.checksum = checksum_of(r);
  if (table.get() < 0 || pwrite(table.get(), &r, sizeof r, place_of(machine_, mapped.identity)) != sizeof r) return;
}

}  // namespace svengine
