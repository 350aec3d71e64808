#include "engine/base/limits.h"

#include <atomic>
#include <chrono>
#include <cstdint>

namespace svengine {
namespace {

std::atomic<size_t> most_memory{0}, used_memory{0};
std::atomic<size_t> used_before{0};  // when the limit was set, which leaves that aside
std::atomic<int64_t> deadline{0};    // of the steady clock, in nanoseconds; 0: none
std::atomic<double> time_limit{0};

int64_t now() { return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double mib(size_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

}  // namespace

void set_memory_limit(size_t bytes) {
  used_before = used_memory.load();
  most_memory = bytes ? used_before + bytes : 0;
}
size_t memory_in_use() { return used_memory; }

bool take_memory(size_t bytes) {
  const size_t before = used_memory.fetch_add(bytes), most = most_memory;
  if (most == 0 || (before <= most && bytes <= most - before)) return true;
  used_memory -= bytes;
  return false;
}

void count_memory(size_t bytes) { used_memory += bytes; }
void give_back_memory(size_t bytes) { used_memory -= bytes; }

std::string memory_limit_text(size_t bytes) {
  const size_t most = most_memory, used = used_memory;
  if (most == 0 || (used <= most && bytes <= most - used)) return {};
  return fmt::format(": {:.1f} MiB are over the limit of {:.1f} MiB, of which {:.1f} MiB are in use", mib(bytes), mib(most - used_before),
                     mib(used > used_before ? used - used_before : 0));
}

void set_time_limit(double seconds) {
  time_limit = seconds;
  deadline = seconds > 0 ? now() + static_cast<int64_t>(seconds * 1e9) : 0;
}

Status check_time_limit() {
  const int64_t end = deadline;
  if (end == 0 || now() < end) return {};
  return error("the time limit of {:g} s is over", time_limit.load());
}

}  // namespace svengine
