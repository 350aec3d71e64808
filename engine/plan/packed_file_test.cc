#include "engine/plan/packed_file.h"

#include <catch2/catch.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

namespace packed_file_test {
using namespace svengine;

namespace {

const Hash128 kKey{1, 2};

Hash128 checksum(std::span<const std::byte> bytes) {
  HashWork work;
  work.add(bytes);
  work.run(0, 1);
  return work.result(0);
}

struct Layouts {
  std::vector<std::vector<std::byte>> content;
  std::vector<PackedLayout> layouts;
  Layouts() {
    for (size_t size : {size_t{700}, size_t{256}, size_t{0}, size_t{1}}) {
      content.emplace_back(size, static_cast<std::byte>(size + 3));
      layouts.push_back({{9, content.size()}, content.back(), checksum(content.back())});
    }
  }
};

std::string path() { return fmt::format("{}/svengine_packed_{}", std::filesystem::temp_directory_path().string(), getpid()); }

void put(const std::string& bytes) {
  std::filesystem::remove(path());  // ext4 flushes a file that is cut to nothing and written again
  std::ofstream file(path(), std::ios::binary);
  file << bytes;
}

std::string get() {
  std::ifstream file(path(), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string written() {
  const Layouts layouts;
  const int file = open(path().c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  REQUIRE(write_packed_file(file, kKey, layouts.layouts).ok());
  close(file);
  return get();
}

/// How many layouts of the file at path() come out as they went in; -1: the file is refused. Fails on a layout that is another one and
/// looks good.
int good_forms() {
  const auto file = PackedFile::open(path(), kKey);
  if (!file.ok()) return -1;
  const Layouts layouts;
  int good = 0;
  for (size_t i = 0; i < layouts.layouts.size(); ++i) {
    const PackedLayout* found = (*file)->find(layouts.layouts[i].key);
    if (!found || checksum(found->bytes) != found->checksum) continue;
    CHECK(std::equal(found->bytes.begin(), found->bytes.end(), layouts.content[i].begin(), layouts.content[i].end()));
    CHECK(reinterpret_cast<uintptr_t>(found->bytes.data()) % kCacheLine == 0);
    ++good;
  }
  return good;
}

}  // namespace

TEST_CASE("layouts come back from the file") {
  written();
  CHECK(good_forms() == 4);
  const auto file = PackedFile::open(path(), kKey);
  REQUIRE(file.ok());
  CHECK((*file)->find({9, 5}) == nullptr);
  CHECK((*file)->layouts().size() == 4);
  const auto other = PackedFile::open(path(), {1, 3});
  REQUIRE_FALSE(other.ok());
  CHECK(other.error().message().find("no packed weights for this model and program") != std::string::npos);
  std::filesystem::remove(path());
  CHECK_FALSE(PackedFile::open(path(), kKey).ok());
}

TEST_CASE("a file that is cut off anywhere is refused") {
  const std::string whole = written();
  for (size_t size = 0; size < whole.size(); ++size) {
    put(whole.substr(0, size));
    CHECK(good_forms() == -1);
  }
  put(whole + 'x');
  CHECK(good_forms() == -1);
  std::filesystem::remove(path());
}

TEST_CASE("a flipped bit is found, wherever it is") {
  const std::string whole = written();
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << at % 8));
    put(flipped);
    const int good = good_forms();  // 4: the byte fills a gap
    CHECK((good == -1 || good == 3 || good == 4));
  }
  std::filesystem::remove(path());
}

TEST_CASE("whatever is in a file, no layout of it looks good that was not written") {
  const std::string whole = written();
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    std::string damaged = whole;
    for (int n = 0; n < 20; ++n) damaged[random() % damaged.size()] = static_cast<char>(random());
    put(damaged);
    CHECK(good_forms() <= 4);
  }
  std::filesystem::remove(path());
}
}  // namespace packed_file_test
