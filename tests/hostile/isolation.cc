#include "tests/hostile/isolation.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <new>

/// AddressSanitizer asks for this; without it nothing calls it. What is too large is refused, as the system does.
extern "C" const char* __asan_default_options() {
  return "allocator_may_return_null=1:max_allocation_size_mb=1024:detect_leaks=0";
}

namespace svengine::tests {
namespace {

/// What parent and child share.
struct Progress {
  int64_t at;        // the case that runs
  int64_t findings;  // of cases that ended by themselves
  struct {
    int64_t index;
    char what[400];
  } finding[64];
};

/// Far from other memory: what a wild write of a case hits first must not be the report of it.
class SharedProgress {
 public:
  SharedProgress() {
    memory_ = mmap(nullptr, 2 * kGuard + kPage, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory_ != MAP_FAILED && mprotect(static_cast<std::byte*>(memory_) + kGuard, kPage, PROT_READ | PROT_WRITE) == 0)
      progress_ = new (static_cast<std::byte*>(memory_) + kGuard) Progress();
  }
  ~SharedProgress() {
    if (memory_ != MAP_FAILED) munmap(memory_, 2 * kGuard + kPage);
  }
  SharedProgress(const SharedProgress&) = delete;
  SharedProgress& operator=(const SharedProgress&) = delete;
  Progress* get() const { return progress_; }

 private:
  static constexpr size_t kGuard = size_t{1} << 30, kPage = size_t{1} << 16;
  static_assert(sizeof(Progress) <= kPage);
  void* memory_;
  Progress* progress_ = nullptr;
};

void limit_memory(int64_t beyond) {
  int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const auto most = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE) + beyond);
  const rlimit limit{most, most};
  setrlimit(RLIMIT_AS, &limit);
}

[[noreturn]] void run_child(int64_t count, const Limits& limits, int errors, Progress& progress,
                            const std::function<std::string(int64_t)>& run) {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM}) std::signal(signal, SIG_DFL);
  dup2(errors, STDERR_FILENO);
  limit_memory(limits.memory_bytes);
  const itimerval time{{0, 0}, {limits.cpu_seconds, 0}};
  for (; progress.at < count; ++progress.at) {
    setitimer(ITIMER_PROF, &time, nullptr);
    const std::string wrong = run(progress.at);
    if (wrong.empty()) continue;
    auto& finding = progress.finding[progress.findings++];
    finding.index = progress.at;
    std::snprintf(finding.what, sizeof finding.what, "%s", wrong.c_str());
    if (progress.findings >= limits.most_findings) _exit(0);
  }
  _exit(0);
}

/// From where a sanitizer or the library begins to say what happened.
std::string end_of(int status, std::FILE* errors) {
  char text[4000] = {};
  std::rewind(errors);
  const size_t read = std::fread(text, 1, sizeof text - 1, errors);
  std::string said(text, read);
  for (const char* begin : {"ERROR: AddressSanitizer", "runtime error", "terminate called"})
    if (const size_t at = said.find(begin); at != std::string::npos) {
      const size_t line = said.rfind('\n', at);
      said = said.substr(line == std::string::npos ? 0 : line + 1);
      break;
    }
  said = said.substr(0, 900);
  if (WIFSIGNALED(status)) return fmt::format("ended by signal {} ({}) {}", WTERMSIG(status), strsignal(WTERMSIG(status)), said);
  return fmt::format("ended with status {} {}", WEXITSTATUS(status), said);
}

}  // namespace

std::vector<Finding> run_isolated(int64_t count, const Limits& limits, const std::function<std::string(int64_t)>& run) {
  std::vector<Finding> findings;
  const SharedProgress shared;
  if (!shared.get()) return {{0, "no memory for the test itself"}};
  Progress& progress = *shared.get();
  while (progress.at < count && static_cast<int>(findings.size()) < limits.most_findings) {
    std::FILE* errors = std::tmpfile();
    progress.findings = 0;
    const pid_t child = fork();
    if (child == 0) run_child(count, limits, fileno(errors), progress, run);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) status = -1;
    for (int64_t i = 0; i < progress.findings; ++i) findings.push_back({progress.finding[i].index, progress.finding[i].what});
    const bool done = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!done) findings.push_back({progress.at++, end_of(status, errors)});
    std::fclose(errors);
    if (done) break;
  }
  return findings;
}

}  // namespace svengine::tests
