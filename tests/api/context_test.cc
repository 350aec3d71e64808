// Contexts in a program that has threads, a floating-point mode and settings of its own.
#include <svengine/svengine.h>

#include <fenv.h>
#include <malloc.h>
#include <omp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <new>
#include <thread>
#include <vector>

#include "tests/api/small_network.h"
#include "tests/support/temporary_directory.h"

using namespace svengine;
using svengine::tests::save_small_network;
using svengine::tests::TemporaryDirectory;

namespace {

std::atomic<int64_t> allocations{0};

}  // namespace

void* operator new(size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(bytes ? bytes : 1);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace {

Network small_network(const TemporaryDirectory& folder) {
  Network network = Network::load(save_small_network(folder.path()));
  if (!network) FAIL(network.error());
  return network;
}

std::vector<float> input_of(int caller) {
  std::vector<float> x(12);
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i) + static_cast<float>(caller));
  return x;
}

std::vector<float> run(Context& context, const std::vector<float>& x) {
  std::vector<MutableTensorView> y;
  if (!context.run({view({3, 4}, x.data())}, y)) return {};
  return {y[0].as<float>(), y[0].as<float>() + 9};
}

/// What a program may ask its system about itself.
struct CallerState {
  int rounding, flags;
  struct sigaction fpe, segv, usr;
  int threads, levels, dynamic, nested;

  CallerState() {
    rounding = fegetround(), flags = fetestexcept(FE_ALL_EXCEPT);
    sigaction(SIGFPE, nullptr, &fpe);
    sigaction(SIGSEGV, nullptr, &segv);
    sigaction(SIGUSR1, nullptr, &usr);
    threads = omp_get_max_threads(), levels = omp_get_max_active_levels(), dynamic = omp_get_dynamic(), nested = omp_get_level();
  }
  bool same(const CallerState& other) const {
    return rounding == other.rounding && flags == other.flags && fpe.sa_handler == other.fpe.sa_handler &&
           segv.sa_handler == other.segv.sa_handler && usr.sa_handler == other.usr.sa_handler && threads == other.threads &&
           levels == other.levels && dynamic == other.dynamic && nested == other.nested;
  }
};

}  // namespace

TEST_CASE("threads share a network, and every one gets its own results") {
  const TemporaryDirectory folder;
  const Network network = small_network(folder);
  constexpr int kThreads = 8, kCalls = 200;
  std::vector<std::vector<float>> want;
  Context alone = network.context();
  for (int t = 0; t < kThreads; ++t) want.push_back(run(alone, input_of(t)));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      Context context = network.context();
      for (int i = 0; i < kCalls; ++i) wrong += run(context, input_of(t)) != want[static_cast<size_t>(t)];
    });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
}

TEST_CASE("inside the caller's parallel region a context of one thread runs") {
  const TemporaryDirectory folder;
  const Network network = small_network(folder);
  Context outside = network.context();
  const std::vector<float> want = run(outside, input_of(0));
  int wrong = 0;
#pragma omp parallel num_threads(3) reduction(+ : wrong)
  {
    Context context = network.context();
    wrong += run(context, input_of(0)) != want;
  }
  CHECK(wrong == 0);
}

TEST_CASE("a team gives the bits of one thread") {
  const TemporaryDirectory folder;
  const Network network = small_network(folder);
  Context one = network.context(), team = network.context({3, {}, true});
  REQUIRE(team);
  CHECK(run(one, input_of(1)) == run(team, input_of(1)));
}

TEST_CASE("results may lie where inputs do") {
  const TemporaryDirectory folder;
  const Network network = small_network(folder);
  Context context = network.context();
  const std::vector<float> x = input_of(3), want = run(context, x);
  for (size_t shift : {0, 1, 2, 3}) {
    std::vector<float> both(12);
    std::copy(x.begin(), x.end(), both.begin());
    std::vector<MutableTensorView> y{{ElementType::float32, {3, 3}, both.data() + shift}};
    REQUIRE(context.run({view({3, 4}, both.data())}, y));
    CHECK(std::vector<float>(both.begin() + static_cast<int64_t>(shift), both.begin() + static_cast<int64_t>(shift) + 9) == want);
  }
}

TEST_CASE("memory of a call long ago is the program's place when it is the program's now") {
  const TemporaryDirectory folder;
  const Network network = small_network(folder);
  Context context = network.context();
  std::vector<MutableTensorView> filled;
  const std::vector<float> x = input_of(1), want = run(context, x);
  std::vector<float> many(4 * 1000, 0.5f);
  REQUIRE(context.run({view({3, 4}, x.data())}, filled));
  void* then = filled[0].data;
  filled.clear();
  REQUIRE(context.run({view({1000, 4}, many.data())}, filled));  // other shapes: that memory is given back
  // Whatever malloc gives for it, the address of the first call among them, is a place like any other.
  std::vector<float*> blocks;
  bool met = false;
  for (int i = 0; i < 64; ++i) {
    blocks.push_back(static_cast<float*>(std::aligned_alloc(64, 64)));
    met = met || blocks.back() == then;
    std::vector<MutableTensorView> place{{ElementType::float32, {3, 3}, blocks.back()}};
    REQUIRE(context.run({view({3, 4}, x.data())}, place));
    CHECK(std::vector<float>(blocks.back(), blocks.back() + 9) == want);
  }
  INFO("the address came again: " << met);
  for (float* block : blocks) std::free(block);
}

TEST_CASE("calls with the shapes of the last one allocate nothing") {
  const TemporaryDirectory folder;
  const Network network = small_network(folder);
  Context context = network.context();
  const std::vector<float> x = input_of(0);
  const int64_t backwards[2] = {-4, 1};
  const std::vector<TensorView> dense = {view({3, 4}, x.data())};
  std::vector<TensorView> turned = dense;
  turned[0].data = x.data() + 8;
  turned[0].strides.assign(backwards, backwards + 2);
  std::vector<MutableTensorView> own, placed;
  std::vector<float> y(9);
  placed.push_back({ElementType::float32, {3, 3}, y.data()});
  const auto call_all = [&] { return context.run(dense, own) && context.run(dense, placed) && context.run(turned, own); };
  for (int i = 0; i < 3; ++i) REQUIRE(call_all());
  const int64_t before = allocations;
  const size_t in_use = mallinfo2().uordblks;
  bool all = true;
  for (int i = 0; i < 100; ++i) all = call_all() && all;
  const int64_t after = allocations;
  const size_t still = mallinfo2().uordblks;
  CHECK(all);
  CHECK(after - before == 0);
  CHECK(still == in_use);
}

TEST_CASE("the caller's modes, flags, threads and signals are as before") {
  const TemporaryDirectory folder;
  const std::string path = save_small_network(folder.path());
  const std::vector<float> x = input_of(0), u(9, 1.0f), nan_input(12, NAN);
  omp_set_num_threads(2);
  fesetround(FE_DOWNWARD);
  feclearexcept(FE_ALL_EXCEPT);
  feraiseexcept(FE_OVERFLOW);
  const CallerState before;
  std::vector<float> got;
  std::string changed;
  const auto look = [&](const char* after) {
    if (!before.same(CallerState())) changed += after;
  };
  {
    Network network = Network::load(path);
    look(" load");
    Context context = network.context({2, {}, true});
    look(" context");
    got = run(context, x);
    look(" run");
    run(context, nan_input);
    std::vector<MutableTensorView> y, dx;
    context.vjp({view({3, 4}, x.data())}, {view({3, 3}, u.data())}, y, dx);
    look(" vjp");
  }
  fesetround(FE_TONEAREST);
  feclearexcept(FE_ALL_EXCEPT);
  CHECK(changed == "");
  Network network = Network::load(path);
  Context context = network.context();
  CHECK(run(context, x) == got);  // whatever the caller rounds like
}

#if defined(__x86_64__)
TEST_CASE("a caller that traps invalid operations may give NaN") {
  const TemporaryDirectory folder;
  const std::string path = save_small_network(folder.path());
  feclearexcept(FE_ALL_EXCEPT);
  feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
  std::vector<float> x(12, NAN);
  x[5] = INFINITY;
  bool nan = false;
  {
    Network network = Network::load(path);
    Context context = network.context();
    const std::vector<float> y = run(context, x);
    nan = y.size() == 9 && y[0] != y[0];
  }
  const int trapped = fegetexcept();
  fedisableexcept(FE_ALL_EXCEPT);
  CHECK(nan);
  CHECK(trapped == (FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW));
}
#endif

TEST_CASE("a forked process runs with one thread, and is told why it has no team") {
  const TemporaryDirectory folder;
  const Network network = small_network(folder);
  Context one = network.context(), team = network.context({2, {}, true});
  const std::vector<float> want = run(one, input_of(0));
  REQUIRE(run(team, input_of(0)) == want);
  const pid_t child = fork();
  if (child == 0) {
    int code = 0;
    if (run(one, input_of(0)) != want) code = 1;
    if (!run(team, input_of(0)).empty() || team.error().find("forked") == std::string::npos) code = 2;
    Context fresh = network.context();
    if (run(fresh, input_of(0)) != want) code = 3;
    _exit(code);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(run(team, input_of(0)) == want);
}

TEST_CASE("a context outlives its network, and says what was wrong with one that is none") {
  const TemporaryDirectory folder;
  Context context = [&] { return small_network(folder).context(); }();
  CHECK(run(context, input_of(0)).size() == 9);
  const Context none = Network::load(folder.path() + "/none.onnx").context();
  CHECK(!none);
  CHECK(none.error() == "the network is not loaded");
  std::vector<MutableTensorView> y;
  const std::vector<float> x = input_of(0);
  CHECK(!context.run({view({4, 3}, x.data())}, y));
  CHECK(context.error().find("dimension 1 is 3, not 4") != std::string::npos);
  CHECK(run(context, x).size() == 9);
}
