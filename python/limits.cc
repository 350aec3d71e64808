#include "python/limits.h"

#include "engine/base/limits.h"
#include "engine/ops/registry.h"

namespace svengine::python {
namespace {

std::mutex one_at_a_time;

}  // namespace

Status Limits::check() const {
  if (memory && *memory < 1) return error("memory_limit={}: a number of bytes from 1 is wanted", *memory);
  if (seconds && !(*seconds > 0)) return error("time_limit={}: a number of seconds above 0 is wanted", *seconds);
  return {};
}

Limits Limits::or_else(const Limits& others) const {
  return {memory ? memory : others.memory, seconds ? seconds : others.seconds};
}

LimitGuard::LimitGuard(const Limits& limits) {
  if (!limits.memory && !limits.seconds) return;
  lock_ = std::unique_lock(one_at_a_time);
  (void)all_ops();  // the module's own tables are not the network's
  set_memory_limit(static_cast<size_t>(limits.memory.value_or(0)));
  set_time_limit(limits.seconds.value_or(0));
}

LimitGuard::~LimitGuard() {
  if (!lock_) return;
  set_memory_limit(0);
  set_time_limit(0);
}

}  // namespace svengine::python
