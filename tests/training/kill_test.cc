// A training - network, autodiff, dropout, batch norm, optimiser, groups of batches, loader, schedule, checkpoints - is killed at random
// moments SVENGINE_KILLS times and resumed; every run that comes to its end has the weights, statistics and states of the undisturbed
// run, bit by bit. The processes that train are children of this one, which itself never starts a thread.
#include <sys/wait.h>
#include <unistd.h>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>

#include "engine/graph/layers/layer.h"
#include "engine/ops/registry.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/dataset/loader.h"
#include "runtime/dataset/tensors.h"
#include "runtime/schedule.h"
#include "runtime/train/trainer.h"
#include "tests/support/temporary_directory.h"

namespace kill_test {
using namespace svengine;
using svengine::tests::TemporaryDirectory;

namespace {

constexpr int64_t kSamples = 83, kBatch = 8, kClasses = 5, kBatches = SVENGINE_KILL_BATCHES, kSaveEvery = 5;
constexpr double kRate = 0.02;

template <class T>
T must(Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.error().message());
  return std::move(result).value();
}

void must(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.error().message());
}

Graph network() {
  using namespace layers;
  Graph graph;
  Builder b(graph, all_ops());
  Value* x = b.input("image", DType::f32, {Dim(std::string("N")), 3, 6, 6});
  const Layer net = sequential({conv2d(3, 6, 3, {.padding = 1}), batch_norm(6), activation("relu"), dropout(0.2), max_pool2d(2), flatten(),
                                linear(54, kClasses)});
  b.output(apply_one(net, Scope(b, RandomStream(1)), {x}), "scores");
  must(b.status());
  return graph;
}

std::unique_ptr<Loader> loader() {
  MutableTensor images = must(Tensor::allocate(DType::u8, {kSamples, 3, 6, 6})),
                labels = must(Tensor::allocate(DType::i64, {kSamples}));
  const RandomStream random(3);
  for (size_t i = 0; i < images.byte_size(); ++i) images.data<uint8_t>()[i] = static_cast<uint8_t>(random.below(256, i));
  for (size_t i = 0; i < kSamples; ++i) labels.data<int64_t>()[i] = static_cast<int64_t>(i % kClasses);
  LoaderOptions options;
  options.order = {.batch = kBatch, .shuffle = true, .seed = 11, .drop_last = false};
  options.image = ImageTransformOptions{.pad = 1, .random_crop = true, .random_flip = true, .mean = {0.5f}, .std = {0.25f}};
  return must(Loader::create(must(make_tensor_data_set({{"image", images}, {"label", labels}}, kClasses)), options));
}

Checkpoint state_of(const Trainer& trainer, const Loader& data) {
  Checkpoint out;
  out.tensors = trainer.state();
  out.model = "the network of this test";
  out.metadata.set("steps", trainer.position().steps);
  out.metadata.set("batches", trainer.position().batches);
  out.metadata.set("pending", trainer.position().pending);
  out.metadata.set("epoch", data.position().epoch);
  out.metadata.set("batch", data.position().batch);
  return out;
}

void train(const std::string& directory) {
  TrainerOptions options;
  options.step.optimizer = must(OptimizerOptions::parse("adamw:weight_decay=0.1"));
  options.step.accumulate = 3;
  options.session.topology = must(parse_topology("1x2"));
  const auto trainer = must(Trainer::create(network(), options));
  const std::unique_ptr<Loader> data = loader();
  const Schedule schedule = must(Schedule::parse("cosine:steps=100000,warmup_steps=20"));
  const auto writer = must(CheckpointWriter::open(directory, {.keep = 2}));
  if (const auto loaded = must(load_newest_checkpoint(directory, state_of(*trainer, *data).model))) {
    const auto fact = [&](const char* name) { return must(loaded->content.metadata.integer(name)); };
    must(trainer->restore(loaded->content.tensors, {fact("steps"), fact("batches"), fact("pending")}));
    must(data->seek({fact("epoch"), fact("batch")}));
  }
  while (trainer->position().batches < kBatches) {
    const Batch batch = must(data->next());
    const double rate = schedule.rate(kRate, trainer->steps(), 4);
    must(trainer->step({batch.tensors[0]}, batch.tensors[1], rate));
    if (batch.last_of_epoch) must(trainer->end_group(rate));
    if (const int64_t done = trainer->position().batches; done % kSaveEvery == 0 || done == kBatches)
      must(writer->save(state_of(*trainer, *data)));
  }
}

/// Trains in a process of its own.
pid_t start(const std::string& directory) {
  const pid_t child = fork();
  if (child != 0) return child;
  try {
    train(directory);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    _exit(1);
  }
  _exit(0);
}

/// Whether it was killed; a failure of its own fails the test.
bool was_killed(pid_t child) {
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  REQUIRE((killed || (WIFEXITED(status) && WEXITSTATUS(status) == 0)));
  return killed;
}

std::vector<CheckpointTensor> end_of(const std::string& directory) {
  auto loaded = must(load_newest_checkpoint(directory, "the network of this test"));
  REQUIRE(loaded);
  REQUIRE(must(loaded->content.metadata.integer("batches")) == kBatches);
  return loaded->content.tensors;
}

}  // namespace

TEST_CASE("killed at random moments and resumed, a training ends in the bits of the undisturbed one") {
  const TemporaryDirectory root(TemporaryDirectory::Place::memory);
  const auto begin = std::chrono::steady_clock::now();
  REQUIRE_FALSE(was_killed(start(root.path() + "/undisturbed")));
  const double usual = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const std::vector<CheckpointTensor> want = end_of(root.path() + "/undisturbed");
  REQUIRE(want.size() > 12);  // weights, statistics, sums and states

  const RandomStream random(5);
  uint64_t lives = 0;
  int kills = 0, ends = 0;
  // Lives are so short that nearly all kills come before the first end. A run that is at its end makes room for a fresh one.
  for (; kills < SVENGINE_KILLS || ends == 0; ++lives) {
    const std::string directory = root.path() + "/run" + std::to_string(ends);
    const pid_t child = start(directory);
    REQUIRE(child > 0);
    if (kills < SVENGINE_KILLS) {
      usleep(static_cast<useconds_t>(2e6 * usual / SVENGINE_KILLS * static_cast<double>(random.uniform(lives))));
      kill(child, SIGKILL);
    }
    if (was_killed(child)) {
      ++kills;
      continue;
    }
    ++ends;
    const std::vector<CheckpointTensor> got = end_of(directory);
    REQUIRE(got.size() == want.size());
    for (size_t i = 0; i < want.size(); ++i) {
      INFO(want[i].name);
      REQUIRE(got[i].name == want[i].name);
      REQUIRE(std::memcmp(got[i].tensor.raw(), want[i].tensor.raw(), want[i].tensor.byte_size()) == 0);
    }
  }
  CHECK(kills == SVENGINE_KILLS);
}
}  // namespace kill_test
