#include "engine/base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include <array>
#include <csignal>
#include <thread>

#include "tests/support/temporary_directory.h"

namespace file_test {
using namespace svengine;
using svengine::tests::content_of;
using svengine::tests::TemporaryDirectory;

namespace {

size_t files_in(const std::string& folder) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()));
}

bool is_open(int file) { return fcntl(file, F_GETFD) != -1; }

}  // namespace

TEST_CASE("descriptors are closed once, by their last owner") {
  int number = -1;
  {
    UniqueFd first(::open("/dev/null", O_RDONLY));
    REQUIRE(first);
    number = first.get();
    UniqueFd second = std::move(first);
    CHECK_FALSE(first);  // NOLINT: what a move leaves is what is asked
    UniqueFd third;
    third = std::move(second);
    CHECK(third.get() == number);
    CHECK(is_open(number));
  }
  CHECK_FALSE(is_open(number));
  UniqueFd kept(::open("/dev/null", O_RDONLY));
  const int own = kept.release();
  CHECK_FALSE(kept);
  CHECK(is_open(own));
  ::close(own);
}

TEST_CASE("writes and reads are whole, through pipes that take a part at a time, and signals") {
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  struct sigaction action {}, before {};
  action.sa_handler = [](int) {};  // without SA_RESTART: calls are interrupted
  REQUIRE(sigaction(SIGUSR2, &action, &before) == 0);
  const pthread_t writer = pthread_self();
  std::vector<std::byte> sent(1 << 20), got(sent.size() + 1);
  for (size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<std::byte>(i * 7 + i / 256);
  Result<size_t> read = size_t{0};
  std::thread reader([&, in = UniqueFd(ends[0])] {
    for (int i = 0; i < 20; ++i) {
      usleep(1000);
      pthread_kill(writer, SIGUSR2);
    }
    read = read_full(in.get(), got);
  });
  {
    const UniqueFd out(ends[1]);
    CHECK(write_all(out.get(), sent).ok());
  }
  reader.join();
  sigaction(SIGUSR2, &before, nullptr);
  REQUIRE(read.ok());
  CHECK(*read == sent.size());  // one more was asked for
  got.pop_back();
  CHECK(got == sent);
  CHECK(write_all(-1, "x").error().message() == "Bad file descriptor");
  CHECK_FALSE(read_full(-1, got).ok());
}

TEST_CASE("a file is replaced completely or not at all") {
  const TemporaryDirectory folder;
  const std::string path = folder.write("file", "before");
  {
    Result<AtomicFile> file = AtomicFile::create(path);
    REQUIRE(file.ok());
    REQUIRE(file->write("aft").ok());
    CHECK(content_of(path) == "before");
  }
  CHECK(content_of(path) == "before");  // without finish()
  CHECK(files_in(folder.path()) == 1);
  Result<AtomicFile> first = AtomicFile::create(path), second = AtomicFile::create(path);
  REQUIRE((first.ok() && second.ok()));
  REQUIRE((first->write("first").ok() && second->write("second").ok()));
  REQUIRE(second->finish().ok());
  CHECK(content_of(path) == "second");
  REQUIRE(first->finish().ok());
  CHECK(content_of(path) == "first");
  CHECK(files_in(folder.path()) == 1);
  CHECK_FALSE(AtomicFile::create("/dev/null").ok());
  CHECK_FALSE(AtomicFile::create(folder.path() + "/no/file").ok());
  Result<AtomicFile> late = AtomicFile::create(path);
  REQUIRE(late.ok());
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  CHECK_FALSE(late->finish().ok());
  CHECK(files_in(folder.path()) == 1);
}
}  // namespace file_test
