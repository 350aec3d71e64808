#include "engine/base/memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "engine/base/file.h"
#include "engine/base/file_identity.h"
#include "engine/base/limits.h"

namespace svengine {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

/// Marks shared pointers to mapped files, however they are cast, and says what they are.
struct DeleteMappedFile {
  MappedFileInfo info;
  void operator()(const MappedFile* file) const { delete file; }
};

constexpr size_t kMostBytes = size_t{1} << 50;

size_t counted_bytes(size_t bytes) { return round_up(bytes ? bytes : 1, kCacheLine); }

/// Of whole cache lines that have been counted; gives them back where the system has none.
std::shared_ptr<std::byte> allocate_counted(size_t bytes) {
  const size_t alignment = bytes >= kHugePage ? kHugePage : kCacheLine;
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment, bytes) != 0) {
    give_back_memory(bytes);
    return nullptr;
  }
  // Whole huge pages only: what follows the last one may belong to others.
  if (alignment == kHugePage) madvise(memory, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
  return std::shared_ptr<std::byte>(static_cast<std::byte*>(memory), [bytes](std::byte* data) {
    std::free(data);
    give_back_memory(bytes);
  });
}

}  // namespace

std::shared_ptr<std::byte> allocate_aligned(size_t bytes) {
  if (bytes > kMostBytes) return nullptr;
  const size_t rounded = counted_bytes(bytes);
  return take_memory(rounded) ? allocate_counted(rounded) : nullptr;
}

std::shared_ptr<std::byte> allocate_beyond_limit(size_t bytes) {
  if (bytes > kMostBytes) return nullptr;
  const size_t rounded = counted_bytes(bytes);
  count_memory(rounded);
  return allocate_counted(rounded);
}

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string& path) {
  // O_NONBLOCK: opening a FIFO must not wait for a writer.
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return error("cannot open '{}': {}", path, std::strerror(errno));
  return map(file.get(), path);
}

Result<std::shared_ptr<const MappedFile>> MappedFile::map(int file, const std::string& path) {
  struct stat status {};
  if (fstat(file, &status) != 0) return error("cannot read the state of '{}': {}", path, std::strerror(errno));
  if (!S_ISREG(status.st_mode))
    return error("'{}' is {}, not a regular file", path, S_ISDIR(status.st_mode) ? "a directory" : "a device or pipe");
  std::shared_ptr<MappedFile> mapped(new MappedFile, DeleteMappedFile{{path, identity_of(status), {}}});
  const auto size = static_cast<size_t>(status.st_size);
  if (size > 0) {
    void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (data == MAP_FAILED) return error("cannot map '{}': {}", path, std::strerror(errno));
    mapped->data_ = static_cast<const std::byte*>(data);
    mapped->size_ = size;
    std::get_deleter<DeleteMappedFile>(mapped)->info.bytes = mapped->bytes();
  }
  return std::shared_ptr<const MappedFile>(std::move(mapped));
}

MappedFile::~MappedFile() {
  if (data_) munmap(const_cast<std::byte*>(data_), size_);
}

FileIdentity identity_of(const struct stat& status) {
  return {status.st_dev,         status.st_ino,          static_cast<uint64_t>(status.st_size),
          status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec};
}

const MappedFileInfo* mapped_file(const std::shared_ptr<const void>& owner) {
  const DeleteMappedFile* deleter = std::get_deleter<DeleteMappedFile>(owner);
  return deleter ? &deleter->info : nullptr;
}

void release_pages(const std::shared_ptr<const void>& owner, std::span<const std::byte> bytes) {
  if (!std::get_deleter<DeleteMappedFile>(owner)) return;
  static const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(bytes.data());
  const uintptr_t first = round_up(begin, page), last = (begin + bytes.size()) / page * page;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

}  // namespace svengine
