// Killed at random moments and resumed, a run ends in the same bits as an undisturbed one. The network here is a stand-in, one
// vector that takes up every batch in an order-dependent way; data set, loader, schedule, random numbers and checkpoints are
// real.
#include <sys/wait.h>
#include <unistd.h>
#include <catch2/catch.hpp>
#include <csignal>

#include "engine/base/initializer.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/dataset/loader.h"
#include "runtime/dataset/tensors.h"
#include "runtime/schedule.h"
#include "tests/support/must.h"
#include "tests/support/temporary_directory.h"

namespace resume_test {
using namespace svengine;
using namespace svengine::tests;
using svengine::tests::TemporaryDirectory;

namespace {

constexpr int kKills = 50;
constexpr int64_t kSamples = 83, kBatch = 8, kSteps = 5000, kPixels = 3 * 6 * 6;

DataSetPtr samples() {
  MutableTensor images = Tensor::allocate(DType::u8, {kSamples, 3, 6, 6}).value(),
                labels = Tensor::allocate(DType::i64, {kSamples}).value();
  const RandomStream random(3);
  for (size_t i = 0; i < images.byte_size(); ++i) images.data<uint8_t>()[i] = static_cast<uint8_t>(random.below(256, i));
  for (size_t i = 0; i < kSamples; ++i) labels.data<int64_t>()[i] = static_cast<int64_t>(i % 10);
  return must(make_tensor_data_set({{"image", images}, {"label", labels}}, 10));
}

struct Run {
  std::unique_ptr<Loader> loader;
  Schedule schedule;
  MutableTensor weight;
  int64_t step = 0;
};

Run fresh() {
  LoaderOptions options;
  options.order = {.batch = kBatch, .shuffle = true, .seed = 11, .drop_last = false};
  options.image = ImageTransformOptions{.pad = 1, .random_crop = true, .random_flip = true, .mean = {0.5f}, .std = {0.25f}};
  options.threads = 2;
  Run run{must(Loader::create(samples(), options)), must(Schedule::parse("cosine:steps=5000,warmup_steps=200")),
          Tensor::allocate(DType::f32, {kPixels}).value()};
  REQUIRE(initialize(Initializer::normal(0, 1), RandomStream(1).at("weight"), run.weight).ok());
  return run;
}

void advance(Run& run) {
  const Batch batch = must(run.loader->next());
  const auto rate = static_cast<float>(run.schedule.rate(0.1, run.step, run.loader->batches_per_epoch()));
  const std::span<float> weight = run.weight.data<float>();
  const std::span<const float> images = batch.tensors[0].data<float>();
  for (size_t row = 0; row < batch.samples.size(); ++row)
    for (size_t i = 0; i < weight.size(); ++i)
      weight[i] += rate * (images[row * weight.size() + i] - weight[(i + 1) % weight.size()] * 0.1f +
                           static_cast<float>(batch.samples[row]) * 0.001f);
  ++run.step;
}

Checkpoint state_of(const Run& run) {
  Checkpoint out;
  out.tensors.push_back({"weight", run.weight});
  out.model = model_identity("stand-in", out.tensors);
  out.metadata.set("step", run.step);
  out.metadata.set("epoch", run.loader->position().epoch);
  out.metadata.set("batch", run.loader->position().batch);
  out.metadata.set("data", run.loader->describe());
  out.metadata.set("schedule", run.schedule.text());
  return out;
}

Run resumed(const std::string& directory) {
  Run run = fresh();
  std::optional<LoadedCheckpoint> loaded = must(load_newest_checkpoint(directory, state_of(run).model));
  if (!loaded) return run;
  const CheckpointMetadata& metadata = loaded->content.metadata;
  REQUIRE(must(metadata.text("data")) == run.loader->describe());
  REQUIRE(must(metadata.text("schedule")) == run.schedule.text());
  run.step = must(metadata.integer("step"));
  REQUIRE(run.loader->seek({must(metadata.integer("epoch")), must(metadata.integer("batch"))}).ok());
  run.weight = must(loaded->content.tensors.at(0).tensor.aligned_copy());
  return run;
}

/// Trains to the end, saving every few steps; for a process of its own, which may end at any moment.
int train(const std::string& directory) {
  const auto writer = CheckpointWriter::open(directory, {.keep = 2});
  if (!writer.ok()) return 1;
  Run run = resumed(directory);
  while (run.step < kSteps) {
    advance(run);
    if (run.step % 7 == 0 || run.step == kSteps)
      if (!(*writer)->save(state_of(run)).ok()) return 2;
    usleep(300);  // stands for the work of a step; 5000 of them last longer than all the lives that are cut short
  }
  return 0;
}

}  // namespace

TEST_CASE("killed at random moments and resumed, the weights are bitwise those of the undisturbed run") {
  const TemporaryDirectory root(TemporaryDirectory::Place::memory);
  const std::string checkpoints = root.path() + "/run";
  Run undisturbed = fresh();
  while (undisturbed.step < kSteps) advance(undisturbed);
  const LoaderPosition end = undisturbed.loader->position();
  undisturbed.loader.reset();  // its threads must not live when this process forks

  const RandomStream random(5);
  int kills = 0;
  for (uint64_t attempt = 0;; ++attempt) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) _exit(train(checkpoints));
    if (kills < kKills) {  // then it may end in peace
      usleep(static_cast<useconds_t>(3000 + random.below(25000, attempt)));
      kill(child, SIGKILL);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    if (WIFSIGNALED(status)) {
      ++kills;
      continue;
    }
    REQUIRE(WEXITSTATUS(status) == 0);
    break;
  }
  const Run run = resumed(checkpoints);
  CHECK(run.step == kSteps);
  CHECK(std::memcmp(run.weight.raw(), undisturbed.weight.raw(), run.weight.byte_size()) == 0);
  CHECK(run.loader->position() == end);
  CHECK(kills == kKills);
}
}  // namespace resume_test
