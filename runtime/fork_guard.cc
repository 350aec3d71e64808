#include "runtime/fork_guard.h"

#include <pthread.h>

#include <atomic>

namespace svengine {
namespace {

std::atomic<bool> lost{false};

}  // namespace

void note_team_start() {
  static const int registered = pthread_atfork(nullptr, nullptr, [] { lost.store(true); });
  (void)registered;  // without memory for it a fork is as dangerous as for any OpenMP program
}

bool lost_threads_by_fork() { return lost.load(std::memory_order_relaxed); }

}  // namespace svengine
