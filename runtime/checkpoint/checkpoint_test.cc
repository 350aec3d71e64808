// Checkpoints saved, kept, damaged and refused; checkpoint_crash_test.cc has the ends of the world.
#include "runtime/checkpoint/checkpoint.h"

#include <sys/wait.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include "runtime/checkpoint/manifest.h"
#include "runtime/checkpoint/checkpoint_test_util.h"

namespace checkpoint_test {
using namespace svengine;
using namespace svengine::tests;
using Catch::Matchers::Contains;

namespace {

template <class T>
std::string problem(const Result<T>& result) {
  REQUIRE_FALSE(result.ok());
  return result.error().message();
}

std::string file(const std::string& directory, int generation, const char* part) {
  return fmt::format("{}/checkpoint-{:08}.{}", directory, generation, part);
}

}  // namespace

TEST_CASE("what is saved comes back, bit by bit") {
  const RunDirectory dir;
  CHECK_FALSE(must(load_newest_checkpoint(dir.path())));
  const auto to = writer(dir.path());
  CHECK_FALSE(must(load_newest_checkpoint(dir.path())));
  CHECK(must(to->save(checkpoint_of(7))).generation == 1);
  CHECK(must(to->save(checkpoint_of(8))).generation == 2);
  const LoadedCheckpoint loaded = newest(dir.path(), "tiny net, 3 tensors");
  CHECK(loaded.generation == 2);
  CHECK(loaded.notes.empty());
  CHECK(same(loaded.content, checkpoint_of(8)));
  CHECK(same(must(load_checkpoint(dir.path(), 1)).content, checkpoint_of(7)));
  const CheckpointMetadata& metadata = loaded.content.metadata;
  CHECK(metadata.integer("step").value() == 8);
  CHECK(metadata.number("rate").value() == 0.1 * 8);
  CHECK(metadata.unsigned_integer("seed").value() == 0xffffffffffffffff);
  CHECK(metadata.text("a name with\nodd bytes %20").value() == "and a \x01 value, ö");
  CHECK_THAT(problem(metadata.integer("rate")), Contains("'rate' is '0.8', not an integer"));
  CHECK_THAT(problem(metadata.integer("epoch")), Contains("does not hold 'epoch'"));
}

TEST_CASE("the newest generations are kept, and numbers never come twice") {
  const RunDirectory dir;
  for (int round = 0; round < 3; ++round) {  // as a run that is resumed twice
    const auto to = writer(dir.path(), {.keep = 2});
    for (int i = 1; i <= 4; ++i) CHECK(must(to->save(checkpoint_of(i))).generation == 4 * round + i);
    CHECK(must(checkpoint_generations(dir.path())) == std::vector<int64_t>{4 * round + 3, 4 * round + 4});
  }
  CHECK_FALSE(std::filesystem::exists(file(dir.path(), 1, "data")));
  CHECK(newest(dir.path()).generation == 12);
}

TEST_CASE("a checkpoint that is cut at any byte is passed over for the one before") {
  const RunDirectory dir;
  const auto to = writer(dir.path());
  must(to->save(checkpoint_of(1)));
  must(to->save(checkpoint_of(2)));
  for (const char* part : {"data", "manifest"}) {
    const std::string path = file(dir.path(), 2, part), whole = content_of(path);
    for (size_t cut = 0; cut < whole.size(); ++cut) {
      overwrite(path, whole.substr(0, cut));
      const LoadedCheckpoint loaded = newest(dir.path());
      REQUIRE(loaded.generation == 1);
      REQUIRE(same(loaded.content, checkpoint_of(1)));
      REQUIRE(loaded.notes.size() == 1);
      REQUIRE_THAT(loaded.notes[0], Contains("checkpoint 2 in '"));
    }
    overwrite(path, whole + "x");
    CHECK(newest(dir.path()).generation == 1);
    overwrite(path, whole);
    CHECK(newest(dir.path()).generation == 2);
  }
}

TEST_CASE("a flipped bit anywhere is found") {
  const RunDirectory dir;
  const auto to = writer(dir.path());
  must(to->save(checkpoint_of(1)));
  must(to->save(checkpoint_of(2)));
  for (const char* part : {"data", "manifest"}) {
    const std::string path = file(dir.path(), 2, part), whole = content_of(path);
    for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
      std::string damaged = whole;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
      overwrite(path, damaged);
      const Result<std::optional<LoadedCheckpoint>> loaded = load_newest_checkpoint(dir.path());
      // Only a version that is now a later one is refused at once.
      if (loaded.ok())
        REQUIRE((*loaded)->generation == 1);
      else
        REQUIRE_THAT(loaded.error().message(), Contains("of a later svengine"));
    }
    overwrite(path, whole);
  }
  CHECK(newest(dir.path()).generation == 2);
}

TEST_CASE("when no generation is complete, all are named") {
  const RunDirectory dir;
  const auto to = writer(dir.path());
  must(to->save(checkpoint_of(1)));
  must(to->save(checkpoint_of(2)));
  overwrite(file(dir.path(), 2, "data"), "short");
  std::filesystem::remove(file(dir.path(), 1, "data"));
  const std::string all = problem(load_newest_checkpoint(dir.path()));
  CHECK_THAT(all, Contains("no checkpoint in") && Contains("has 5 bytes, its manifest says 28") && Contains("No such file"));
  CHECK_THAT(problem(load_checkpoint(dir.path(), 3)), Contains("checkpoint 3 in"));
}

TEST_CASE("a checkpoint of another model is refused with both named") {
  const RunDirectory dir;
  must(writer(dir.path())->save(checkpoint_of(1)));
  CHECK_THAT(problem(load_newest_checkpoint(dir.path(), "big net")),
             Contains("is of the model 'tiny net, 3 tensors', not of 'big net'"));
  const std::vector<CheckpointTensor> tensors = checkpoint_of(1).tensors;
  std::vector<CheckpointTensor> turned(tensors.rbegin(), tensors.rend()), renamed = tensors, reshaped = tensors;
  renamed[0].name = "conv2";
  reshaped[0].tensor = reshaped[0].tensor.reshaped({5, 1});
  CHECK(model_identity("net", tensors) == model_identity("net", checkpoint_of(9).tensors));
  CHECK(model_identity("net", tensors) == model_identity("net", turned));
  CHECK(model_identity("net", tensors) != model_identity("other", tensors));
  CHECK(model_identity("net", tensors) != model_identity("net", renamed));
  CHECK(model_identity("net", tensors) != model_identity("net", reshaped));
}

TEST_CASE("manifests that lie are refused before memory is taken") {
  const Manifest good{"m", {}, {{"a", DType::f32, {2}, 0, 8, 0}, {"b", DType::u8, {3}, 8, 3, 0}}, 11};
  REQUIRE(parse_manifest(write_manifest(good)).ok());
  const auto refused = [&](const auto& change) {
    Manifest manifest = good;
    change(manifest);
    return !parse_manifest(write_manifest(manifest)).ok();
  };
  CHECK(refused([](Manifest& m) { m.tensors[0].dims = {int64_t{1} << 60}; }));
  CHECK(refused([](Manifest& m) { m.tensors[0].dims = {int64_t{1} << 40}; }));  // bytes do not agree
  CHECK(refused([](Manifest& m) { m.tensors[0].dims = {-2}; }));
  CHECK(refused([](Manifest& m) { m.tensors[1].offset = 0; }));
  CHECK(refused([](Manifest& m) { m.tensors[1].name = "a"; }));
  CHECK(refused([](Manifest& m) { m.tensors[0].type = DType::string; }));
  CHECK(refused([](Manifest& m) { m.data_bytes = 12; }));
  bool too_new = false;
  CHECK_THAT(problem(parse_manifest("svengine checkpoint 2\nwhatever", &too_new)),
             Contains("has format 2, of a later svengine; this one reads 1"));
  CHECK(too_new);
  for (const char* text :
       {"", "\n", "svengine checkpoint 1", "svengine checkpoint 0\n", "hello\n", "svengine checkpoint 1\nmodel m\ndata 0\n"})
    CHECK_FALSE(parse_manifest(text).ok());
}

TEST_CASE("a later format is no damage: it is not passed over") {
  const RunDirectory dir;
  const auto to = writer(dir.path());
  must(to->save(checkpoint_of(1)));
  overwrite(file(dir.path(), 2, "manifest"), "svengine checkpoint 99\n");
  CHECK_THAT(problem(load_newest_checkpoint(dir.path())), Contains("has format 99"));
}

TEST_CASE("a second writer is refused, until the first is gone") {
  const RunDirectory dir;
  auto first = writer(dir.path());
  CHECK_THAT(problem(CheckpointWriter::open(dir.path())),
             Contains(fmt::format("process {} on ", getpid())) && Contains("writes checkpoints to"));
  CHECK(CheckpointWriter::open(dir.path(), {.lock = false}).ok());
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) _exit(CheckpointWriter::open(dir.path()).ok() ? 1 : 0);
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  first.reset();
  CHECK(CheckpointWriter::open(dir.path()).ok());
}

TEST_CASE("what cannot be saved is refused") {
  const RunDirectory dir;
  const auto to = writer(dir.path());
  Checkpoint twice = checkpoint_of(1), unnamed = twice, untyped = twice;
  twice.tensors.push_back(twice.tensors[0]);
  unnamed.tensors[0].name = "";
  untyped.tensors[0].tensor = Tensor();
  CHECK_THAT(problem(to->save(twice)), Contains("two tensors 'conv 1/weight'"));
  CHECK_THAT(problem(to->save(unnamed)), Contains("needs a name"));
  CHECK_THAT(problem(to->save(untyped)), Contains("has type undefined"));
  CHECK_THAT(problem(CheckpointWriter::open(dir.path(), {.keep = 0})), Contains("at least 1"));
  CHECK_THAT(problem(CheckpointWriter::open("/dev/null/run")), Contains("cannot make the directory"));
  CHECK_THAT(problem(CheckpointWriter::open(dir.path() + "/a/b")), Contains("cannot make the directory"));
  CHECK_THAT(problem(CheckpointWriter::open(file(dir.path(), 1, "lock") + "x/y")), Contains("No such file"));
  CHECK_THAT(problem(load_newest_checkpoint("/dev/null")), Contains("cannot list"));
}
}  // namespace checkpoint_test
