// Files of a test: a directory that goes with it, and what is in a file.
#pragma once
#include <stdlib.h>
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace svengine::tests {

/// A directory of its own, removed at the end.
class TemporaryDirectory {
 public:
  enum class Place {
    disk,
    memory,  // where that is possible: a sync of a busy disk takes a tenth of a second
  };
  explicit TemporaryDirectory(Place place = Place::disk) {
    path_ = "/dev/shm/svengine_test_XXXXXX";
    if (place == Place::memory && mkdtemp(path_.data())) return;
    path_ = (std::filesystem::temp_directory_path() / "svengine_test_XXXXXX").string();
    REQUIRE(mkdtemp(path_.data()));
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }

  /// Writes a file below it, with its folders, and gives its path.
  std::string write(const std::string& name, const std::string& content) const {
    const std::filesystem::path file = std::filesystem::path(path_) / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << content;
    return file.string();
  }

 private:
  std::string path_;
};

/// All bytes of a file.
inline std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace svengine::tests
