#include "fuzz/support.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace svengine::fuzz {
namespace {

struct ScratchFolder {
  std::string path = "/dev/shm/svengine_fuzz_XXXXXX";
  ScratchFolder() {
    if (mkdtemp(path.data())) return;
    path = (std::filesystem::temp_directory_path() / "svengine_fuzz_XXXXXX").string();
    if (!mkdtemp(path.data())) finding("no folder for scratch files");
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

volatile std::byte sink;

}  // namespace

void finding(const std::string& what) {
  std::fprintf(stderr, "FINDING: %s\n", what.c_str());
  std::abort();
}

void read_all(const Tensor& tensor) {
  if (is_handle(tensor.type())) return;
  std::byte all{};
  for (const std::byte b : std::span(tensor.raw(), tensor.byte_size())) all ^= b;
  sink = all;
}

MemoryFile::MemoryFile(Bytes content) : file_(memfd_create("fuzz", MFD_CLOEXEC)), path_(fmt::format("/proc/self/fd/{}", file_)) {
  if (file_ < 0 || write(file_, content.data(), content.size()) != static_cast<ssize_t>(content.size())) finding("no file in memory");
}

MemoryFile::~MemoryFile() { close(file_); }

const std::string& scratch_folder() {
  static const ScratchFolder folder;
  return folder.path;
}

std::string write_scratch(const std::string& name, Bytes content) {
  std::string path = scratch_folder() + '/' + name;
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
  return path;
}

}  // namespace svengine::fuzz
