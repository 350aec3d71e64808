// Ends of the world while a checkpoint is saved: every system call failing, the process killed, the power cut, the disk full.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <catch2/catch.hpp>
#include <csignal>

#include "engine/base/random.h"
#include "runtime/checkpoint/names.h"
#include "runtime/checkpoint/checkpoint_test_util.h"

namespace checkpoint_crash_test {
using namespace svengine;
using namespace svengine::tests;
using Catch::Matchers::Contains;

namespace {

enum class PowerCut { none, loses_names, loses_first_name };

/// Two generations are there; the third is saved on a failing file system. Returns whether that call was reached.
bool save_with_failure(int fails_at, bool dead, PowerCut cut) {
  CAPTURE(fails_at, dead, cut);
  const RunDirectory dir;
  {
    const auto to = writer(dir.path(), {.keep = 2});
    must(to->save(checkpoint_of(1)));
    must(to->save(checkpoint_of(2)));
  }
  FailingFileSystem system(0, dead);
  auto to = writer(dir.path(), {.keep = 2, .system = &system});
  system = FailingFileSystem(fails_at, dead);
  const Result<SavedCheckpoint> saved = to->save(checkpoint_of(3));
  const bool reached = system.calls() >= fails_at;
  to.reset();
  if (cut != PowerCut::none) system.lose_power(cut == PowerCut::loses_first_name);

  const LoadedCheckpoint loaded = newest(dir.path());
  REQUIRE((loaded.generation == 2 || loaded.generation == 3));
  if (saved.ok()) REQUIRE(loaded.generation == 3);
  if (!saved.ok()) REQUIRE_THAT(saved.error().message(), Contains("checkpoint 3 is not saved: ") && Contains("No space left"));
  REQUIRE(same(loaded.content, checkpoint_of(loaded.generation)));
  REQUIRE(loaded.notes.empty());

  // The next run clears up and goes on.
  const auto again = writer(dir.path(), {.keep = 2});
  const int64_t next = must(again->save(checkpoint_of(4))).generation;
  REQUIRE(next > loaded.generation);
  REQUIRE(same(newest(dir.path()).content, checkpoint_of(4)));
  size_t files = 0;
  for (const CheckpointFile& f : must(list_checkpoint_files(dir.path()))) {
    REQUIRE_FALSE(f.temporary);
    ++files;
  }
  REQUIRE(files == 4);  // two generations, nothing else
  return reached;
}

/// Runs something in a process of its own, and gives its exit code, or -signal.
template <class Body>
int in_child(const Body& body) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) _exit(body());
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace

TEST_CASE("every system call may fail, once or for good, with and without a power cut") {
  for (bool dead : {false, true})
    for (PowerCut cut : {PowerCut::none, PowerCut::loses_names, PowerCut::loses_first_name}) {
      int call = 1;
      while (save_with_failure(call, dead, cut)) ++call;
      CHECK(call > 12);
    }
}

TEST_CASE("the file system of these tests can fail where nothing guards") {
  // A save that does not sync loses its data to a power cut: the model of one is no empty gesture.
  const RunDirectory dir;
  std::filesystem::create_directory(dir.path());
  FailingFileSystem system(0, false);
  const std::string path = dir.path() + "/x";
  const int file = must(system.create(path));
  REQUIRE(system.write(file, path, std::as_bytes(std::span("lost", 4))).ok());
  REQUIRE(system.close(file, path).ok());
  system.lose_power(false);
  CHECK(content_of(path).empty());
}

TEST_CASE("a full disk fails the save and harms nothing; with room again it succeeds") {
  const RunDirectory dir;
  must(writer(dir.path())->save(checkpoint_of(1, 10)));
  // A limit on the size of files stands for the full disk: write(2) takes what fits and then fails.
  for (rlim_t room : {0, 1, 4000, 4096, 39999, 40008 + 1}) {
    const int code = in_child([&] {
      signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{room, RLIM_INFINITY};
      const auto to = CheckpointWriter::open(dir.path());
      if (!to.ok() || setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
      return (*to)->save(checkpoint_of(2, 10000)).ok() ? 1 : 0;
    });
    CHECK(code == (room > 40008 ? 1 : 0));
    const LoadedCheckpoint loaded = newest(dir.path());
    CHECK(loaded.generation == (room > 40008 ? 2 : 1));
    CHECK(loaded.notes.empty());
  }
  CHECK(same(newest(dir.path()).content, checkpoint_of(2, 10000)));
}

TEST_CASE("a writer that is killed at any moment leaves complete generations, and no lock") {
  const RunDirectory dir;
  const RandomStream random(1);
  int64_t before = 0;
  for (uint64_t round = 0; round < 40; ++round) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      const auto to = CheckpointWriter::open(dir.path(), {.keep = 2});
      if (!to.ok()) _exit(1);
      for (int64_t step = before + 1;; ++step) {
        const Result<SavedCheckpoint> saved = (*to)->save(checkpoint_of(step, 50000));
        if (!saved.ok()) _exit(2);
      }
    }
    usleep(static_cast<useconds_t>(1000 + random.below(30000, round)));
    REQUIRE(kill(child, SIGKILL) == 0);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
    const std::optional<LoadedCheckpoint> loaded = must(load_newest_checkpoint(dir.path()));
    if (!loaded) continue;  // killed before the very first
    REQUIRE(loaded->notes.empty());
    const int64_t step = must(loaded->content.metadata.integer("step"));
    REQUIRE(step >= before);
    REQUIRE(same(loaded->content, checkpoint_of(step, 50000)));
    before = step;
  }
  CHECK(before > 3);
}

TEST_CASE("a reader beside a writer that removes what it reads always gets one") {
  const RunDirectory dir;
  must(writer(dir.path(), {.keep = 1})->save(checkpoint_of(1, 1000)));
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const auto to = CheckpointWriter::open(dir.path(), {.keep = 1});
    if (!to.ok()) _exit(1);
    for (int64_t step = 2;; ++step)
      if (!(*to)->save(checkpoint_of(step, 1000)).ok()) _exit(2);
  }
  for (int i = 0; i < 200; ++i) {
    const LoadedCheckpoint loaded = newest(dir.path());
    REQUIRE(same(loaded.content, checkpoint_of(must(loaded.content.metadata.integer("step")), 1000)));
  }
  REQUIRE(kill(child, SIGKILL) == 0);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
}
}  // namespace checkpoint_crash_test
