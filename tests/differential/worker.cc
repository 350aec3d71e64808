#include "tests/differential/worker.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "engine/graph/text.h"
#include "tests/differential/converted.h"
#include "tests/differential/damage.h"
#include "tests/differential/other_shapes.h"
#include "tests/differential/written.h"

namespace svengine::differential {
namespace {

constexpr size_t kMostText = size_t{1} << 20;
constexpr int64_t kMostPrinted = 40;  // elements

/// Memory of parent and child.
struct Shared {
  uint64_t next, computed;
  bool failed, finished;
  size_t nodes, outputs;
  char doing[2048];
  char text[kMostText];
  char graph[kMostText];
};

template <size_t N>
void put(char (&to)[N], const std::string& text) {
  const size_t count = std::min(text.size(), N - 1);
  memcpy(to, text.data(), count);
  to[count] = 0;
}

class SharedMemory {
 public:
  SharedMemory() {
    void* p = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
      perror("differential: mmap");
      std::exit(2);
    }
    shared_ = static_cast<Shared*>(p);
  }
  ~SharedMemory() { munmap(shared_, sizeof(Shared)); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  Shared* operator->() const { return shared_; }
  Shared& operator*() const { return *shared_; }

 private:
  Shared* shared_;
};

/// Runs `body` in a child; how the child ended, when it was by a signal or an exit code.
template <class Body>
std::string in_child(const Body& body) {
  fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) {
    perror("differential: fork");
    std::exit(2);
  }
  if (child == 0) {
    body();
    _exit(0);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status))
    return WTERMSIG(status) == SIGALRM ? "took too long" : fmt::format("killed by signal {}", strsignal(WTERMSIG(status)));
  if (WEXITSTATUS(status) != 0) return fmt::format("ended with exit code {}", WEXITSTATUS(status));
  return {};
}

/// What a child found, or, should it have been ended, how and at what.
std::string text_of(const Shared& shared, const std::string& ended) {
  return ended.empty() ? std::string(shared.text) : fmt::format("{}, at: {}\n", ended, shared.doing);
}

/// Where a long input holds what is not ordinary, which its digest does not tell.
std::string special_text(const Tensor& t) {
  std::string text;
  if (t.type() != DType::f32 || t.count() <= kMostPrinted) return text;
  int64_t at = 0;
  for (const float x : t.data<float>()) {
    if (!std::isfinite(x) || (x == 0 && std::signbit(x))) text += fmt::format(" [{}] = {}", at, x);
    ++at;
  }
  return text;
}

std::string inputs_text(const RandomGraph& random) {
  std::string text;
  for (size_t i = 0; i < random.inputs.size(); ++i) {
    Graph one;
    one.add_output(one.add_constant(random.graph.inputs()[i]->name(), random.inputs[i]));
    const std::string printed = print_graph(one, {.most_elements = kMostPrinted});
    for (size_t at = printed.find("const "); at != std::string::npos; at = printed.find("const ", at + 1))
      text += "# " + printed.substr(at, printed.find('\n', at) - at) + special_text(random.inputs[i]) + "\n";
  }
  return text;
}

std::string found_in(RandomGraph& random, const WorkerOptions& options, uint64_t seed, const Progress& progress) {
  const CheckOptions how{options.kernels, seed};
  if (options.check == Check::other_shapes) return check_other_shapes(random, how, progress);
  if (options.check == Check::written) return write_to_folder(random, how, options.folder);
  if (options.check == Check::converted) return check_converted(random, how, progress);
  return check(random, how, progress);
}

/// Checks one graph; false when it could not be made.
bool check_seed(const WorkerOptions& options, uint64_t seed, const Part* part, bool with_text, Shared& shared) {
  std::string made;  // should making the graph end the child, what it had come to is all there is to print
  const Progress progress = [&](const std::string& what) {
    put(shared.doing, what);
    if (with_text && shared.nodes == 0) put(shared.graph, made += "# made: " + what + "\n");
  };
  put(shared.doing, "making the graph");
  Result<RandomGraph> whole = random_graph(seed, *options.kernels[0], progress);
  if (!whole.ok()) return false;
  shared.nodes = whole->graph.nodes().size();
  shared.outputs = whole->graph.outputs().size();
  RandomGraph random = part ? part_of(*whole, *part) : std::move(*whole);
  if (options.check == Check::damaged && !damage(random, seed, *options.kernels[0])) return true;
  if (with_text) put(shared.graph, print_graph(random.graph, {.most_elements = kMostPrinted}) + inputs_text(random));
  if (random.graph.outputs().empty()) return false;
  const std::string found = found_in(random, options, seed, progress);
  if (!found.empty()) {
    shared.failed = true;
    put(shared.text, found);
  }
  return true;
}

}  // namespace

double monotonic_seconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

BatchResult run_batch(const WorkerOptions& options, uint64_t first, uint64_t end, double until) {
  const SharedMemory shared;
  shared->next = first;
  const std::string ended = in_child([&] {
    while (shared->next < end && !shared->failed && monotonic_seconds() < until) {
      const uint64_t seed = shared->next++;
      alarm(static_cast<unsigned>(options.seconds));
      if (check_seed(options, seed, nullptr, false, *shared)) ++shared->computed;
    }
  });
  return {shared->next, shared->computed, shared->failed || !ended.empty(), text_of(*shared, ended)};
}

Outcome run_one(const WorkerOptions& options, uint64_t seed, const Part* part, bool with_text) {
  const SharedMemory shared;
  const std::string ended = in_child([&] {
    alarm(static_cast<unsigned>(options.seconds));
    check_seed(options, seed, part, with_text, *shared);
  });
  return {shared->failed || !ended.empty(), text_of(*shared, ended), shared->nodes, shared->outputs, shared->graph};
}

}  // namespace svengine::differential
