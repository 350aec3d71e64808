// nn::Trainer::fit(): whole runs by the installed headers: evaluation, ends before the end, resuming in the same bits, mistakes.
#include <svengine/nn.hpp>

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <stdexcept>

#include "tests/support/temporary_directory.h"

namespace fit_test {
namespace nn = svengine::nn;
using svengine::ElementType;
using svengine::tests::TemporaryDirectory;

namespace {

constexpr int64_t kBatches = 7, kRows = 16;

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

/// Points in the plane, others in every batch of every epoch; the label says whether the signs of x and y agree.
class Points {
 public:
  nn::BatchSource source() {
    return {kBatches,
            [this](int64_t epoch, int64_t batch, nn::Batch& out, std::string&) {
              for (size_t i = 0; i < kRows; ++i) {
                const auto n = static_cast<float>(static_cast<size_t>(epoch * kBatches + batch) * kRows + i);
                x_[2 * i] = std::sin(1.7f * n), x_[2 * i + 1] = std::cos(2.9f * n + 1);
                labels_[i] = x_[2 * i] * x_[2 * i + 1] > 0;
              }
              ++given;
              out = {{svengine::view({kRows, 2}, x_.data())}, svengine::view({kRows}, labels_.data())};
              return true;
            },
            "points"};
  }
  int64_t given = 0;

 private:
  std::vector<float> x_ = std::vector<float>(2 * kRows);
  std::vector<int64_t> labels_ = std::vector<int64_t>(kRows);
};

nn::Trainer trainer(int64_t accumulate = 1) {
  nn::Net net(3);
  const nn::Var x = net.input("x", ElementType::float32, {-1, 2});
  net.output(net.apply(nn::Sequential({nn::Linear(2, 16), nn::Tanh(), nn::Dropout(0.1), nn::Linear(16, 2)}), x), "scores");
  nn::TrainerOptions options;
  options.optimizer = "adamw";
  options.accumulate = accumulate;
  options.runtime.threads = 2;
  return nn::Trainer::create(net, options);
}

std::vector<float> weights(const nn::Trainer& trainer) {
  std::vector<float> out;
  for (const char* name : {"0.weight", "0.bias", "3.weight", "3.bias"}) {
    const svengine::TensorView view = trainer.weight(name);
    int64_t count = 1;
    for (int64_t d : view.shape) count *= d;
    out.insert(out.end(), view.as<float>(), view.as<float>() + count);
  }
  return out;
}

nn::FitOptions options_for(int64_t epochs) {
  nn::FitOptions options;
  options.epochs = epochs;
  options.rate = 0.02;
  options.schedule = "cosine:epochs=6,warmup=1";
  return options;
}

}  // namespace

TEST_CASE("epochs are trained, evaluated and told") {
  Points points, others;
  nn::Trainer t = trainer();
  REQUIRE(static_cast<bool>(t));
  nn::FitOptions options = options_for(6);
  options.held_out = others.source();
  int64_t steps = 0, told = 0;
  options.progress = [&](const nn::Progress& p) {
    CHECK(p.batch == steps++ % kBatches + 1);
    CHECK(p.batches == kBatches);
  };
  options.epoch = [&](const nn::EpochReport& epoch) { CHECK(epoch.epoch == ++told); };
  nn::FitReport report;
  REQUIRE(t.fit(points.source(), options, &report));
  CHECK(report.finished);
  CHECK(report.steps == 6 * kBatches);
  CHECK(steps == 6 * kBatches);
  REQUIRE(report.epochs.size() == 6);
  CHECK(report.epochs.back().training.counted == kBatches * kRows);
  CHECK(report.epochs.back().training.loss < report.epochs.front().training.loss);
  REQUIRE(report.epochs.back().held_out);
  CHECK(report.epochs.back().held_out->counted == kBatches * kRows);
  CHECK(points.given == 6 * kBatches);
  CHECK(others.given == 6 * kBatches);
}

TEST_CASE("a run that is stopped anywhere goes on in the same bits") {
  const int64_t accumulate = GENERATE(1, 3);
  Points points;
  nn::Trainer whole = trainer(accumulate);
  nn::FitReport all;
  REQUIRE(whole.fit(points.source(), options_for(4), &all));
  for (int64_t stop_after : {0, 1, 6, 7, 9, 20}) {
    const TemporaryDirectory folder(TemporaryDirectory::Place::memory);
    nn::FitOptions options = options_for(4);
    options.checkpoint = folder.path() + "/checkpoints";
    options.log_dir = folder.path() + "/logs";
    options.log_every = 1;
    int64_t steps = 0;
    options.progress = [&](const nn::Progress&) { ++steps; };
    options.stop = [&] { return steps == stop_after; };
    nn::Trainer first = trainer(accumulate);
    nn::FitReport report;
    REQUIRE(first.fit(points.source(), options, &report));
    CHECK_FALSE(report.finished);
    CHECK_FALSE(report.out_of_time);
    CHECK_FALSE(first.fit(points.source(), options));
    CHECK(has(first.error(), "holds checkpoints already"));

    nn::Trainer second = trainer(accumulate);
    options.resume = true;
    options.stop = nullptr;
    std::string notes;
    options.note = [&](const std::string& note) { notes += note; };
    INFO(stop_after);
    REQUIRE(second.fit(points.source(), options, &report));
    const std::string place =
        "(epoch " + std::to_string(stop_after / kBatches + 1) + ", batch " + std::to_string(stop_after % kBatches);
    CHECK(has(notes, "resumed from checkpoint"));
    CHECK(has(notes, place.c_str()));
    CHECK(report.finished);
    CHECK(report.steps == all.steps);
    CHECK(weights(second) == weights(whole));
    CHECK(report.epochs.back().training.loss == all.epochs.back().training.loss);
    CHECK(std::filesystem::exists(options.log_dir + "/training.csv"));

    options.rate = 0.5;
    CHECK_FALSE(trainer(accumulate).fit(points.source(), options));
    nn::Trainer other = trainer(accumulate);
    CHECK_FALSE(other.fit(points.source(), options));
    CHECK(has(other.error(), "has rate 0.02, this one 0.5"));
  }
}

TEST_CASE("time that is over ends a run") {
  Points points;
  nn::Trainer t = trainer();
  nn::FitOptions options = options_for(1'000'000);
  options.max_seconds = 1.5;
  nn::FitReport report;
  REQUIRE(t.fit(points.source(), options, &report));
  CHECK(report.out_of_time);
  CHECK_FALSE(report.finished);
}

TEST_CASE("what is wrong with a run is said") {
  Points points;
  nn::Trainer t = trainer();
  const auto problem = [&](nn::BatchSource source, const nn::FitOptions& options) {
    CHECK_FALSE(t.fit(source, options));
    return t.error();
  };
  const auto with = [](const auto& change) {
    nn::FitOptions options = options_for(1);
    change(options);
    return options;
  };
  CHECK(has(problem({}, options_for(1)), "no function gives the batches"));
  CHECK(has(problem({0, points.source().get, ""}, options_for(1)), "an epoch of 0 batches"));
  CHECK(has(problem(points.source(), with([](auto& o) { o.schedule = "stairs"; })), "stairs"));
  CHECK(has(problem(points.source(), with([](auto& o) { o.resume = true; })), "folder for checkpoints"));
  CHECK(has(problem(points.source(), with([](auto& o) { o.max_seconds = -1; })), "a limit of -1 seconds"));
  CHECK(has(problem(points.source(), with([](auto& o) { o.log_every = 0; })), "a log every 0 steps"));
  CHECK(has(problem(points.source(), with([](auto& o) { o.checkpoint = "/dev/null/c"; })), "cannot make the directory"));
  nn::BatchSource broken = points.source();
  broken.get = [&](int64_t, int64_t batch, nn::Batch& out, std::string& why) {
    why = "the tape is torn";
    return batch < 2 && points.source().get(0, batch, out, why);
  };
  CHECK(has(problem(broken, options_for(1)), "no batch 2 of epoch 0: the tape is torn"));
  broken.get = [](int64_t, int64_t, nn::Batch&, std::string&) -> bool { throw std::runtime_error("thrown by the source"); };
  CHECK(has(problem(broken, options_for(1)), "thrown by the source"));
  broken.get = [](int64_t, int64_t, nn::Batch&, std::string&) { return true; };  // no tensors
  CHECK(has(problem(broken, options_for(1)), "the target"));
  CHECK(has(problem(points.source(), with([](auto& o) { o.stop = []() -> bool { throw 3; }; })), "failure"));
  CHECK(t.fit(points.source(), options_for(1)));
  nn::Trainer none = nn::Trainer::load("/no/such.onnx");
  CHECK_FALSE(none.fit(points.source(), options_for(1)));
}
}  // namespace fit_test
