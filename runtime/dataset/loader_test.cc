#include "runtime/dataset/loader.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>

#include "engine/base/hash.h"
#include "runtime/dataset/dataset_test_util.h"

namespace loader_test {
using namespace svengine;
using namespace svengine::tests;
using Catch::Matchers::Contains;

namespace {

/// Sample i: an image uint8 [2, 3, 4] of values i, i+1, .., and label i. Those in `bad` cannot be read.
class Counting final : public DataSet {
 public:
  explicit Counting(int64_t size, std::set<int64_t> bad = {})
      : DataSet(size, {{"image", DType::u8, {2, 3, 4}}, {"label", DType::i64, {}}}, size), bad_(std::move(bad)) {}

 private:
  Status read_sample(int64_t index, std::span<std::byte* const> destination) const override {
    for (int64_t i = 0; i < 24; ++i) destination[0][i] = static_cast<std::byte>(index + i);
    if (bad_.contains(index)) return error("file{}.png: is damaged", index);
    std::memcpy(destination[1], &index, sizeof index);
    return {};
  }
  std::set<int64_t> bad_;
};

/// Throws at its sample 3, as a data set of somebody else may, or one whose memory is out.
template <class Exception>
class Throwing final : public DataSet {
 public:
  explicit Throwing(Exception thrown) : DataSet(12, {{"x", DType::u8, {}}}), thrown_(std::move(thrown)) {}

 private:
  Status read_sample(int64_t index, std::span<std::byte* const> destination) const override {
    if (index == 3) throw thrown_;
    *destination[0] = static_cast<std::byte>(index);
    return {};
  }
  Exception thrown_;
};

DataSetPtr counting(int64_t size, std::set<int64_t> bad = {}) { return std::make_shared<Counting>(size, std::move(bad)); }

LoaderOptions shuffled(int64_t batch, int threads = 1) {
  LoaderOptions options;
  options.order = {.batch = batch, .shuffle = true, .seed = 5, .drop_last = false};
  options.threads = threads;
  return options;
}

LoaderOptions augmented(int64_t batch, int threads) {
  LoaderOptions options = shuffled(batch, threads);
  options.image = ImageTransformOptions{
      .field = "image", .pad = 1, .crop_height = 3, .crop_width = 3, .random_crop = true, .random_flip = true};
  return options;
}

uint64_t hash_of(const Batch& batch) {
  Hash64 hash;
  for (const Tensor& t : batch.tensors) {
    hash.update(to_string(t.dims()));
    hash.update({t.raw(), t.byte_size()});
  }
  return hash.value();
}

std::vector<uint64_t> hashes(Loader& loader, size_t batches) {
  std::vector<uint64_t> out;
  for (size_t i = 0; i < batches; ++i) out.push_back(hash_of(must(loader.next())));
  return out;
}

std::vector<int64_t> labels(const Batch& batch) {
  const std::span<const int64_t> values = batch.tensors[1].data<int64_t>();
  return {values.begin(), values.end()};
}

}  // namespace

TEST_CASE("every sample comes once an epoch, in another order each epoch") {
  const auto loader = must(Loader::create(counting(23), shuffled(5)));
  CHECK(loader->batches_per_epoch() == 5);
  CHECK(loader->samples_per_epoch() == 23);
  std::set<std::vector<int64_t>> orders;
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    std::vector<int64_t> order;
    for (int64_t b = 0; b < 5; ++b) {
      CHECK(loader->position() == LoaderPosition{epoch, b});
      const Batch batch = must(loader->next());
      CHECK(batch.position == LoaderPosition{epoch, b});
      CHECK(batch.rows() == (b < 4 ? 5 : 3));  // the last one is smaller
      CHECK(batch.tensors[0].dims() == Dims{batch.rows(), 2, 3, 4});
      CHECK(batch.last_of_epoch == (b == 4));
      CHECK(labels(batch) == batch.samples);
      for (size_t row = 0; row < batch.samples.size(); ++row)
        REQUIRE(batch.tensors[0].data<uint8_t>()[row * 24 + 23] == static_cast<uint8_t>(batch.samples[row] + 23));
      order.insert(order.end(), batch.samples.begin(), batch.samples.end());
    }
    orders.insert(order);
    std::ranges::sort(order);
    for (int64_t i = 0; i < 23; ++i) REQUIRE(order[static_cast<size_t>(i)] == i);
  }
  CHECK(orders.size() == 3);
}

TEST_CASE("without shuffling samples come in order; the last batch can be dropped") {
  LoaderOptions options;
  options.order = {.batch = 4, .drop_last = true};
  const auto loader = must(Loader::create(counting(10), options));
  CHECK(loader->samples_per_epoch() == 8);
  CHECK(labels(must(loader->next())) == std::vector<int64_t>{0, 1, 2, 3});
  CHECK(labels(must(loader->next())) == std::vector<int64_t>{4, 5, 6, 7});
  CHECK(labels(must(loader->next())) == std::vector<int64_t>{0, 1, 2, 3});
}

TEST_CASE("batches are the same for any number of threads and batches ahead") {
  const auto alone = must(Loader::create(counting(50), augmented(7, 0)));
  const std::vector<uint64_t> expected = hashes(*alone, 30);
  CHECK(std::set(expected.begin(), expected.end()).size() == 30);
  for (int threads : {1, 2, 5})
    for (int prefetch : {1, 2, 9}) {
      LoaderOptions options = augmented(7, threads);
      options.prefetch = prefetch;
      CHECK(hashes(*must(Loader::create(counting(50), options)), 30) == expected);
    }
}

TEST_CASE("a loader that starts at a saved position goes on as if it had never stopped") {
  const auto whole = must(Loader::create(counting(20), augmented(6, 2)));
  const std::vector<uint64_t> expected = hashes(*whole, 16);
  for (size_t stop = 0; stop < 12; ++stop) {
    const auto first = must(Loader::create(counting(20), augmented(6, 2)));
    hashes(*first, stop);
    const LoaderPosition saved = first->position();
    const auto second = must(Loader::create(counting(20), augmented(6, 1), saved));
    CHECK(hashes(*second, 4) == std::vector(expected.begin() + static_cast<std::ptrdiff_t>(stop),
                                            expected.begin() + static_cast<std::ptrdiff_t>(stop) + 4));
    REQUIRE(second->seek(saved).ok());  // and back, with batches loaded ahead
    CHECK(hash_of(must(second->next())) == expected[stop]);
  }
  for (LoaderPosition bad : {LoaderPosition{0, 4}, LoaderPosition{-1, 0}, LoaderPosition{0, -1}}) {
    CHECK_THAT(problem(Loader::create(counting(20), augmented(6, 1), bad)), Contains("an epoch of this data set has 4 batches"));
    CHECK_FALSE(whole->seek(bad).ok());
  }
}

TEST_CASE("memory is used again only when nobody holds the batch") {
  const auto loader = must(Loader::create(counting(64), shuffled(4, 2)));
  std::vector<Batch> held;
  std::vector<uint64_t> before;
  std::set<const std::byte*> places;
  for (int i = 0; i < 12; ++i) {
    held.push_back(must(loader->next()));
    before.push_back(hash_of(held.back()));
    places.insert(held.back().tensors[0].raw());
  }
  CHECK(places.size() == 12);
  for (size_t i = 0; i < held.size(); ++i) CHECK(hash_of(held[i]) == before[i]);
  held.clear();
  places.clear();
  for (int i = 0; i < 50; ++i) places.insert(must(loader->next()).tensors[0].raw());
  CHECK(places.size() <= 8);
}

TEST_CASE("what was let go of is gone, in whatever thread that was") {
  auto loader = must(Loader::create(counting(64), shuffled(4, 2)));
  Batch first = must(loader->next());
  const std::weak_ptr<const void> memory = first.tensors[0].owner();
  std::thread([batch = std::exchange(first, Batch())] { CHECK(batch.rows() == 4); }).join();
  // The loader may write there now: nobody can get hold of it again.
  CHECK(memory.expired());
  Batch last = must(loader->next());
  const uint64_t before = hash_of(last);
  loader.reset();
  CHECK(hash_of(last) == before);  // a batch outlives its loader
}

TEST_CASE("a sample that cannot be read stops the loader, is left out, or replaced") {
  const std::set<int64_t> bad{3, 11};
  LoaderOptions options;
  options.order.batch = 6;
  SECTION("stop") {
    const auto loader = must(Loader::create(counting(12, bad), options));
    CHECK_THAT(problem(loader->next()), Contains("sample 3: file3.png: is damaged"));
    CHECK_THAT(problem(loader->next()), Contains("file3.png"));
    CHECK(loader->position() == LoaderPosition{0, 0});
    REQUIRE(loader->seek({0, 1}).ok());
    CHECK_THAT(problem(loader->next()), Contains("file11.png"));
  }
  SECTION("leave out") {
    options.bad = BadSamples::leave_out;
    const auto loader = must(Loader::create(counting(12, bad), options));
    const Batch first = must(loader->next()), second = must(loader->next());
    CHECK(labels(first) == std::vector<int64_t>{0, 1, 2, 4, 5});
    CHECK(first.tensors[0].dims() == Dims{5, 2, 3, 4});
    CHECK(first.tensors[0].data<uint8_t>()[3 * 24] == 4);
    CHECK(first.skipped == 1);
    CHECK(first.problems == std::vector<std::string>{"sample 3: file3.png: is damaged"});
    CHECK(labels(second) == std::vector<int64_t>{6, 7, 8, 9, 10});
    CHECK(must(loader->next()).position == LoaderPosition{1, 0});
  }
  SECTION("replace, the same for any number of threads") {
    options.bad = BadSamples::replace;
    options.threads = 0;
    const auto loader = must(Loader::create(counting(12, bad), options));
    const Batch first = must(loader->next());
    CHECK(first.rows() == 6);
    CHECK(first.skipped >= 1);
    CHECK(labels(first) == first.samples);
    CHECK_FALSE(bad.contains(first.samples[3]));
    options.threads = 3;
    CHECK(hash_of(must(must(Loader::create(counting(12, bad), options))->next())) == hash_of(first));
  }
  SECTION("nothing can be read") {
    for (BadSamples how : {BadSamples::leave_out, BadSamples::replace}) {
      options.bad = how;
      const auto loader = must(Loader::create(counting(3, {0, 1, 2}), options));
      CHECK_THAT(problem(loader->next()), Contains("file0.png") && (Contains("none of the 3 samples") || Contains("64 others")));
    }
  }
}

TEST_CASE("a data set that throws is one that cannot be read") {
  const auto check = [](const DataSetPtr& set, const char* message) {
    for (int threads : {0, 1, 3}) {
      LoaderOptions options;
      options.order.batch = 6;
      options.threads = threads;
      const auto stopped = must(Loader::create(set, options));
      CHECK_THAT(problem(stopped->next()), Contains("sample 3: cannot be read") && Contains(message));
      CHECK_THAT(problem(stopped->next()), Contains("sample 3"));
      REQUIRE(stopped->seek({0, 1}).ok());
      CHECK(must(stopped->next()).samples == std::vector<int64_t>{6, 7, 8, 9, 10, 11});
      options.bad = BadSamples::leave_out;
      CHECK(must(must(Loader::create(set, options))->next()).samples == std::vector<int64_t>{0, 1, 2, 4, 5});
    }
  };
  check(std::make_shared<Throwing<std::runtime_error>>(std::runtime_error("the disk is on fire")), "on fire");
  check(std::make_shared<Throwing<std::bad_alloc>>(std::bad_alloc()), "bad_alloc");
  check(std::make_shared<Throwing<int>>(7), "unknown type");
}

TEST_CASE("loaders end in the middle of their work") {
  for (int i = 0; i < 20; ++i) {
    const auto loader = must(Loader::create(counting(1000), augmented(100, 3)));
    for (int n = 0; n < i % 3; ++n) must(loader->next());
    if (i % 2) REQUIRE(loader->seek({1, 2}).ok());
  }
}

TEST_CASE("options that cannot be are refused") {
  const auto refused = [](const auto& change) {
    LoaderOptions options = augmented(4, 1);
    change(options);
    return problem(Loader::create(counting(10), options));
  };
  CHECK_THAT(refused([](LoaderOptions& o) { o.order.batch = 0; }), Contains("a batch of 0 samples"));
  CHECK_THAT(refused([](LoaderOptions& o) { o.order.batch = (int64_t{1} << 31) + 1; }), Contains("1 to 2147483648 are possible"));
  CHECK_THAT(refused([](LoaderOptions& o) { o.order = {.batch = 11, .drop_last = true}; }),
             Contains("do not fill one batch of 11"));
  CHECK_THAT(refused([](LoaderOptions& o) { o.threads = -1; }), Contains("-1 loading threads"));
  CHECK_THAT(refused([](LoaderOptions& o) { o.prefetch = 0; }), Contains("0 batches ahead"));
  CHECK_THAT(refused([](LoaderOptions& o) { o.image->field = "picture"; }), Contains("no field 'picture'"));
  CHECK_THAT(refused([](LoaderOptions& o) { o.image->field = "label"; }), Contains("images are uint8 or float32"));
  CHECK_THAT(refused([](LoaderOptions& o) { o.image->crop_width = 7; }),
             Contains("7x3 pixels cannot be cropped from an image of 4x3 with 1 pixels"));
  CHECK_THAT(refused([](LoaderOptions& o) { o.image->mean = {1, 2, 3}; }), Contains("3 means are given, needs 1 or 2"));
  CHECK_THAT(refused([](LoaderOptions& o) { o.image->std = {0}; }), Contains("above 0"));
  CHECK_THAT(refused([](LoaderOptions& o) { o.image->pad = -1; }), Contains("padding of -1"));
}

TEST_CASE("what a loader delivers is told apart by its description") {
  const auto described = [](const auto& change) {
    LoaderOptions options = augmented(4, 1);
    change(options);
    return must(Loader::create(counting(10), options))->describe();
  };
  std::set<std::string> all{described([](LoaderOptions&) {}),
                            described([](LoaderOptions& o) { o.order.batch = 5; }),
                            described([](LoaderOptions& o) { o.order.seed = 6; }),
                            described([](LoaderOptions& o) { o.order.shuffle = false; }),
                            described([](LoaderOptions& o) { o.image->random_flip = false; }),
                            described([](LoaderOptions& o) { o.image->mean = {0.5f}; }),
                            described([](LoaderOptions& o) { o.image.reset(); })};
  CHECK(all.size() == 7);
  CHECK(described([](LoaderOptions& o) { o.threads = 3; }) == described([](LoaderOptions& o) { o.bad = BadSamples::leave_out; }));
}
}  // namespace loader_test
