// Writes a file that is there completely or not at all.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/status.h"

namespace svengine {

/// Writes go to a new file beside `path`, which takes its name in finish(); before that, and after any failure, what was at
/// `path` is untouched (it may be mapped right now: a model that is exported over itself). Without finish() the new file is
/// removed. Refuses to replace what is not a regular file. Not thread-safe.
class FileWriter {
 public:
  static Result<FileWriter> create(const std::string& path);
  FileWriter(FileWriter&& other) noexcept;
  FileWriter& operator=(FileWriter&&) = delete;
  ~FileWriter();

  Status write(std::span<const std::byte> bytes);
  Status write(std::string_view text) { return write(std::as_bytes(std::span(text))); }
  Status finish();

 private:
  FileWriter(int file, std::string path, std::string temporary)
      : file_(file), path_(std::move(path)), temporary_(std::move(temporary)) {}

  int file_;
  std::string path_, temporary_;
};

}  // namespace svengine
