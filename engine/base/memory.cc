#include "engine/base/memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace svengine {

std::shared_ptr<std::byte> allocate_aligned(size_t bytes) {
  if (bytes > (size_t{1} << 50)) return nullptr;
  const size_t rounded = static_cast<size_t>(round_up(static_cast<int64_t>(bytes ? bytes : 1), kCacheLine));
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(kCacheLine, rounded));
  return memory ? std::shared_ptr<std::byte>(memory, std::free) : nullptr;
}

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string& path) {
  // O_NONBLOCK: opening a FIFO must not wait for a writer.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return error("cannot open '{}': {}", path, std::strerror(errno));
  auto mapped = map(file, path);
  ::close(file);
  return mapped;
}

Result<std::shared_ptr<const MappedFile>> MappedFile::map(int file, const std::string& path) {
  struct stat status {};
  if (fstat(file, &status) != 0) return error("cannot read the state of '{}': {}", path, std::strerror(errno));
  if (!S_ISREG(status.st_mode))
    return error("'{}' is {}, not a regular file", path, S_ISDIR(status.st_mode) ? "a directory" : "a device or pipe");
  std::shared_ptr<MappedFile> mapped(new MappedFile);
  const auto size = static_cast<size_t>(status.st_size);
  if (size > 0) {
    void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (data == MAP_FAILED) return error("cannot map '{}': {}", path, std::strerror(errno));
    mapped->data_ = static_cast<const std::byte*>(data);
    mapped->size_ = size;
  }
  return std::shared_ptr<const MappedFile>(std::move(mapped));
}

MappedFile::~MappedFile() {
  if (data_) munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace svengine
