// No call of the API lets an exception out, whichever of its allocations fails.
#include <svengine/nn.hpp>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <new>
#include <utility>

#include "tests/support/temporary_directory.h"

namespace nn = svengine::nn;
using svengine::ElementType;

namespace {

constexpr int64_t kOff = -1;
thread_local int64_t allocations_left = kOff;
thread_local bool refused = false;

void* allocate(size_t bytes, size_t alignment) {
  if (allocations_left == 0) {
    refused = true;
    throw std::bad_alloc();
  }
  if (allocations_left > 0) --allocations_left;
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment, bytes ? bytes : 1) != 0) throw std::bad_alloc();
  return memory;
}

/// Calls f() with memory for 0, 1, 2, .. allocations, every one failing after that, until it needs no more; check(n, f()) each
/// time.
template <class F, class Check>
int64_t with_less_memory(const F& f, const Check& check) {
  constexpr int64_t kMost = 1'000'000;
  for (int64_t n = 0; n < kMost; n += 1 + n / 200) {  // every one of the first 200, then fewer
    refused = false;
    allocations_left = n;
    auto result = f();
    allocations_left = kOff;
    const bool enough = !refused;
    check(enough, result);
    if (enough) return n;
  }
  FAIL("there is no end to it");
  return 0;
}

}  // namespace

void* operator new(size_t bytes) { return allocate(bytes, alignof(std::max_align_t)); }
void* operator new(size_t bytes, std::align_val_t alignment) { return allocate(bytes, static_cast<size_t>(alignment)); }
// The standard library's own would call malloc under the sanitizers, whose memory is not free()'s.
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return allocate(bytes, alignof(std::max_align_t));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }

TEST_CASE("layers") {
  static_assert(noexcept(nn::Linear(1, 2))&& noexcept(nn::ReLU())&& noexcept(nn::LSTM(1, 2)));
  const std::vector<nn::Layer> inner{nn::Linear(4, 8), nn::GELU(), nn::LayerNorm({8}), nn::TransformerEncoderLayer(8, 2)};
  const auto check = [](bool enough, const nn::Layer& layer) {
    nn::Net net;
    const nn::Var y = net.apply(layer, net.input("x", ElementType::float32, {-1, 3, 4}));
    INFO(net.error());
    CHECK(static_cast<bool>(net) == enough);
    if (!enough) CHECK(net.error().find("could not be made: out of memory") != std::string::npos);
    CHECK(y.name().empty() != enough);
  };
  CHECK(with_less_memory([&] { return nn::Sequential(inner); }, check) > 0);
  const nn::Layer square = nn::Linear(4, 4);
  CHECK(with_less_memory([&] { return nn::Residual(square); }, check) > 0);
  nn::Net net;
  CHECK(net.apply(nn::Layer(nullptr), net.input("x", ElementType::float32, {1})).name().empty());
  CHECK(net.error().find("could not be made") != std::string::npos);
}

TEST_CASE("nets and gradients") {
  const nn::Layer layer = nn::Sequential({nn::Linear(2, 3), nn::Tanh()});
  const std::vector<int64_t> shape{2, 2};
  const std::vector<float> values{1, 2, 3, 4};
  const std::string name = "x";
  const auto build = [&] {
    nn::Net net;
    const nn::Var x = net.variable(shape, values, name);
    const nn::Var y = sum(-net.apply(layer, x) * 2 + 1);
    return std::make_pair(net, y);
  };
  const auto check = [](bool enough, const std::pair<nn::Net, nn::Var>& made) {
    CHECK(static_cast<bool>(made.first) == enough);
    if (!enough) CHECK(made.first.error() == "out of memory");
  };
  CHECK(with_less_memory(build, check) > 100);
  const auto gradient = [&] {
    const int64_t allocations = std::exchange(allocations_left, kOff);
    const auto made = build();  // anew: a net keeps its first failure
    allocations_left = allocations;
    return made.second.backward();
  };
  CHECK(with_less_memory(gradient, [](bool enough, bool done) { CHECK(done == enough); }) > 100);
}

TEST_CASE("a network is loaded and run") {
  const svengine::tests::TemporaryDirectory folder(svengine::tests::TemporaryDirectory::Place::memory);
  nn::Net net;
  net.output(net.apply(nn::Sequential({nn::Conv2d(1, 4, 3), nn::ReLU(), nn::Flatten(), nn::Linear(16, 3)}),
                       net.input("x", ElementType::float32, {-1, 1, 4, 4})),
             "y");
  const std::string path = folder.path() + "/net.onnx";
  REQUIRE(net.save(path));
  svengine::NetworkOptions options;
  options.threads = 1;
  const std::vector<float> image(16, 0.5f);
  const std::vector<svengine::TensorView> inputs{svengine::view({1, 1, 4, 4}, image.data())};
  const auto load = [&] { return svengine::Network::load(path, options); };
  CHECK(with_less_memory(load, [](bool enough, const svengine::Network& network) {
          CHECK(static_cast<bool>(network) == enough);
          if (!enough) CHECK(network.error().find("memory") != std::string::npos);
        }) > 100);
  svengine::Network network = load();
  std::vector<svengine::TensorView> outputs;
  CHECK(with_less_memory([&] { return network.run(inputs, outputs); },
                         [&](bool enough, bool ran) {
                           CHECK(ran == enough);
                           CHECK(outputs.empty() != ran);
                           if (!ran) CHECK(network.error().find("memory") != std::string::npos);
                         }) > 50);
}
